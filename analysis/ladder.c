/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * The typical exec of a group is, of those with the most common sequence of
 * RPCs, the one whose time is the median (the lower of two). It is drawn as a
 * ladder: the client's line at the left with what it did, the server's at the
 * right, microseconds downwards, one scale for all ladders of a file system.
 * The capture is at the client's end: when a call arrived at the server is
 * not known, so both arrows of a pair meet half way in time.
 *
 * Texts stand beside the lines at the time they belong to; when they would
 * touch, the later one moves down and a thin line leads back to its place.
 */
#include "analysis/html_page.h"
#include "analysis/run_plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 310.0
#define CLIENT_X 100.0
#define SERVER_X 188.0
#define HEIGHT 400.0 /* of the longest exec of a file system */
#define TOP 26.0
#define LINE_HEIGHT 15.0
#define MOST_RPCS 40 /* drawn; more are counted */

struct typical {
    const struct run_cell *cell;
    size_t cell_index, exec;
    uint64_t same, execs; /* with that sequence; all */
    size_t rpc_count;
    const struct window_rpc *rpcs[MOST_RPCS];
    int64_t end_ns; /* the exec's, or its last reply's */
};

struct candidate {
    size_t cell, exec;
    uint64_t sequence;
    int64_t wall;
};

/* FNV-1a over the pointers' text would need the text; names are few and
 * constant, so their bytes are taken. */
static uint64_t
add_name(uint64_t hash, const char *name)
{
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (hash ^ 0xff) * UINT64_C(1099511628211);
}

static int
by_sequence(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return a->wall < b->wall ? -1 : a->wall > b->wall;
}

static void
add_candidates(const struct figures *figures, size_t index,
               struct candidate *list, size_t *n)
{
    const struct run_cell *cell = &figures->run->cells[index];
    const size_t base = *n;
    const struct window_rpc *rpc;
    size_t i, position = 0;

    for (i = 0; i < cell->exec_count; i++) {
        struct candidate *candidate = &list[(*n)++];

        candidate->cell = index;
        candidate->exec = i;
        candidate->sequence = UINT64_C(14695981039346656037);
        candidate->wall = exec_wall_ns(&cell->execs[i]);
    }
    while (index < figures->traffic->cell_count &&
           (rpc = cell_next_rpc(figures->traffic, index, &position)) != NULL)
        if (rpc->owner == OWNER_EXEC && rpc->exec < cell->exec_count)
            list[base + rpc->exec].sequence =
                add_name(list[base + rpc->exec].sequence,
                         window_rpc_name(rpc));
}

/* The median of the largest set of equal sequences. */
static const struct candidate *
choose(struct candidate *list, size_t n, uint64_t *same)
{
    size_t i, first = 0, best = 0, most = 0;

    qsort(list, n, sizeof(*list), by_sequence);
    for (i = 1; i <= n; i++) {
        if (i < n && list[i].sequence == list[first].sequence)
            continue;
        if (i - first > most) {
            most = i - first;
            best = first;
        }
        first = i;
    }
    *same = most;
    return &list[best + (most - 1) / 2];
}

static void
take_rpcs(const struct figures *figures, struct typical *typical)
{
    const struct window_rpc *rpc;
    size_t position = 0;

    if (typical->cell_index >= figures->traffic->cell_count)
        return;
    while ((rpc = cell_next_rpc(figures->traffic, typical->cell_index,
                                &position)) != NULL) {
        if (rpc->owner != OWNER_EXEC || rpc->exec != typical->exec)
            continue;
        if (typical->rpc_count < MOST_RPCS)
            typical->rpcs[typical->rpc_count] = rpc;
        typical->rpc_count++;
        if (rpc->answered && rpc->reply_ns > typical->end_ns)
            typical->end_ns = rpc->reply_ns;
    }
}

/* @return 1 when there is one, 0 when not, -1 when out of memory. */
static int
find_typical(const struct figures *figures, const struct group_figures *group,
             struct typical *typical)
{
    const struct run *run = figures->run;
    const struct candidate *chosen;
    struct candidate *list;
    size_t i, n = 0;

    memset(typical, 0, sizeof *typical);
    if (group->execs == 0)
        return 0;
    list = malloc((size_t)group->execs * sizeof(*list));
    if (list == NULL)
        return -1;
    for (i = 0; i < run->cell_count; i++)
        if (run->cells[i].filesystem == group->filesystem &&
            run->cells[i].method == group->method &&
            cell_is_finished(&run->cells[i]) &&
            n + run->cells[i].exec_count <= group->execs)
            add_candidates(figures, i, list, &n);
    if (n == 0) {
        free(list);
        return 0;
    }
    chosen = choose(list, n, &typical->same);
    typical->execs = n;
    typical->cell_index = chosen->cell;
    typical->cell = &run->cells[chosen->cell];
    typical->exec = chosen->exec;
    typical->end_ns = typical->cell->execs[chosen->exec].end_ns;
    free(list);
    take_rpcs(figures, typical);
    return 1;
}

/* --- drawing -------------------------------------------------------------- */

struct canvas {
    FILE *out;
    int64_t start_ns;
    double scale;               /* pixels per ns */
    double left_free, right_free; /* where the next text may begin */
    double bottom;
};

static double
y_of(const struct canvas *canvas, int64_t when_ns)
{
    return TOP + (double)(when_ns - canvas->start_ns) * canvas->scale;
}

/* Where a text for the height y goes on a side. */
static double
place(double *next_free, double y)
{
    const double at = fmax(y, *next_free);

    *next_free = at + LINE_HEIGHT;
    return at;
}

/* A mark on the client's line, with its time. */
static void
event(struct canvas *canvas, int64_t when_ns, const char *what)
{
    const double y = y_of(canvas, when_ns);
    const double at = place(&canvas->left_free, y);

    fprintf(canvas->out, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\" "
            "fill=\"none\" stroke=\"var(--soft)\" stroke-width=\".7\"/>"
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" "
            "fill=\"currentColor\">%s <tspan fill=\"var(--soft)\">%.0f</tspan>"
            "</text>\n", CLIENT_X - 3, y, CLIENT_X - 7, y, CLIENT_X - 12, at,
            CLIENT_X - 14, at + 4, what,
            (double)(when_ns - canvas->start_ns) * 1e-3);
    canvas->bottom = fmax(canvas->bottom, at);
}

static void
phase(struct canvas *canvas, int64_t from_ns, int64_t to_ns, const char *colour)
{
    const double from = y_of(canvas, from_ns), to = y_of(canvas, to_ns);

    if (to > from)
        fprintf(canvas->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"5\" "
                "height=\"%.1f\" fill=\"var(--%s)\"/>\n", CLIENT_X - 2.5,
                from, to - from, colour);
}

static void
arrow(struct canvas *canvas, double x0, double y0, double x1, double y1,
      unsigned colour)
{
    const double length = hypot(x1 - x0, y1 - y0);
    const double ux = (x1 - x0) / length, uy = (y1 - y0) / length;

    fprintf(canvas->out, "<path d=\"M%.1f %.1fL%.1f %.1f\" fill=\"none\" "
            "stroke=\"var(--c%u)\" stroke-width=\"1.4\"/>"
            "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\" "
            "fill=\"var(--c%u)\"/>\n", x0, y0, x1, y1, colour, x1, y1,
            x1 - 7 * ux - 3 * uy, y1 - 7 * uy + 3 * ux, x1 - 7 * ux + 3 * uy,
            y1 - 7 * uy - 3 * ux, colour);
}

static void
pair(struct canvas *canvas, const struct window_rpc *rpc)
{
    const char *name = window_rpc_name(rpc);
    const unsigned colour = procedure_colour(name);
    const double call = y_of(canvas, rpc->call_ns);
    const double reply =
        rpc->answered ? y_of(canvas, rpc->reply_ns) : call + 12;
    const double middle = (call + reply) / 2;
    const double at = place(&canvas->right_free, middle);

    arrow(canvas, CLIENT_X + 3, call, SERVER_X - 2, middle, colour);
    if (rpc->answered)
        arrow(canvas, SERVER_X - 2, middle, CLIENT_X + 3, reply, colour);
    fprintf(canvas->out, "<path d=\"M%.1f %.1fL%.1f %.1f\" fill=\"none\" "
            "stroke=\"var(--soft)\" stroke-width=\".7\"/>"
            "<text x=\"%.1f\" y=\"%.1f\" fill=\"currentColor\">", SERVER_X + 3,
            middle, SERVER_X + 11, at, SERVER_X + 13, at + 4);
    html_text(canvas->out, name);
    if (rpc->answered)
        fprintf(canvas->out, " <tspan fill=\"var(--soft)\">%.0f</tspan>",
                (double)(rpc->reply_ns - rpc->call_ns) * 1e-3);
    else
        fputs(" <tspan fill=\"var(--soft)\">no reply</tspan>", canvas->out);
    if (rpc->answered && rpc->status_known && rpc->status != 0)
        fputs(" <tspan fill=\"var(--c2)\">refused</tspan>", canvas->out);
    fputs("</text>\n", canvas->out);
    canvas->bottom = fmax(canvas->bottom, fmax(at, reply));
}

static void
draw_lines(struct canvas *canvas, const struct typical *typical, bool nfs)
{
    const double end = y_of(canvas, typical->end_ns) + 8;

    fprintf(canvas->out, "<text x=\"%.1f\" y=\"12\" text-anchor=\"middle\" "
            "fill=\"var(--soft)\">client</text>"
            "<path d=\"M%.1f %.1fV%.1f\" stroke=\"var(--line)\" "
            "stroke-width=\"1.5\"/>\n", CLIENT_X, CLIENT_X, TOP - 6, end);
    if (nfs)
        fprintf(canvas->out, "<text x=\"%.1f\" y=\"12\" "
                "text-anchor=\"middle\" fill=\"var(--soft)\">server</text>"
                "<path d=\"M%.1f %.1fV%.1f\" stroke=\"var(--line)\" "
                "stroke-width=\"1.5\"/>\n", SERVER_X, SERVER_X, TOP - 6, end);
}

static void
draw(struct canvas *canvas, const struct typical *typical, bool nfs,
     enum run_method method)
{
    const struct run_exec *exec = &typical->cell->execs[typical->exec];
    const bool executed = exec->exec_ns != RUN_UNKNOWN_NS;
    const int64_t exec_ns = executed ? exec->exec_ns : exec->start_ns;
    size_t i;

    draw_lines(canvas, typical, nfs);
    phase(canvas, exec->start_ns, exec_ns, "soft");
    phase(canvas, exec_ns, exec->exit_ns, "line");
    phase(canvas, exec->exit_ns, exec->end_ns, "soft");
    for (i = 0; i < typical->rpc_count && i < MOST_RPCS; i++)
        pair(canvas, typical->rpcs[i]);
    event(canvas, exec->start_ns, "start");
    if (executed)
        event(canvas, exec->exec_ns, "exec'd");
    event(canvas, exec->exit_ns, "exited");
    if (method != METHOD_NOEXEC && method != METHOD_NONE)
        event(canvas, exec->end_ns, "marked");
}

static void
ladder(FILE *out, const struct typical *typical, bool nfs,
       enum run_method method, double scale)
{
    struct canvas canvas = {NULL, 0, scale, TOP, TOP, 0};
    char *text = NULL;
    size_t length = 0;

    canvas.start_ns = typical->cell->execs[typical->exec].start_ns;
    canvas.out = open_memstream(&text, &length);
    if (canvas.out == NULL)
        return;
    draw(&canvas, typical, nfs, method);
    fclose(canvas.out);
    fprintf(out, "<svg role=\"img\" aria-label=\"A typical exec with its "
            "RPCs\" viewBox=\"0 0 %.0f %.0f\" font-size=\"12\">\n", WIDTH,
            fmax(canvas.bottom, y_of(&canvas, typical->end_ns)) + 14);
    fwrite(text, 1, length, out);
    fputs("</svg>\n", out);
    free(text);
}

/* All ladders of a file system. */
static int
ladders_of(struct run_plots *plots, size_t filesystem)
{
    const struct figures *figures = plots->figures;
    const struct run_filesystem *where = &figures->run->filesystems[filesystem];
    const bool nfs = where->kind == FILESYSTEM_NFS;
    struct typical typical[METHOD_COUNT];
    int found[METHOD_COUNT] = {0};
    int64_t longest = 1;
    unsigned method;

    for (method = 0; method < METHOD_COUNT; method++) {
        const struct group_figures *group =
            figures_group(figures, filesystem, (enum run_method)method);
        const struct run_exec *exec;

        if (group == NULL)
            continue;
        found[method] = find_typical(figures, group, &typical[method]);
        if (found[method] < 0)
            return -1;
        if (found[method] == 0)
            continue;
        exec = &typical[method].cell->execs[typical[method].exec];
        if (typical[method].end_ns - exec->start_ns > longest)
            longest = typical[method].end_ns - exec->start_ns;
    }
    for (method = 0; method < METHOD_COUNT; method++) {
        char heading[320];

        if (!found[method])
            continue;
        snprintf(heading, sizeof heading, "%s %s", where->label,
                 run_method_name((enum run_method)method));
        panel_begin(plots->out, heading);
        ladder(plots->out, &typical[method], nfs, (enum run_method)method,
               HEIGHT / (double)longest);
        if (nfs)
            fprintf(plots->out, "<p class=\"sub\">%llu of %llu execs have this "
                    "sequence%s</p>\n",
                    (unsigned long long)typical[method].same,
                    (unsigned long long)typical[method].execs,
                    typical[method].rpc_count > MOST_RPCS
                        ? "; only its first 40 RPCs are drawn"
                        : "");
        panel_end(plots->out, &plots->plotter, true);
    }
    return 0;
}

int
run_plot_ladders(struct run_plots *plots)
{
    const struct run *run = plots->figures->run;
    size_t i;

    if (!plots->figures->traffic->any_capture ||
        plots->figures->cells_done == 0)
        return 0;
    figure_begin(plots->out, "figure-5");
    for (i = 0; i < run->filesystem_count; i++) {
        if (run->filesystems[i].kind != FILESYSTEM_NFS)
            continue;
        fputs("<div class=\"ladders\">\n", plots->out);
        if (ladders_of(plots, i) != 0)
            return -1;
        fputs("</div>\n", plots->out);
    }
    figure_caption(plots->out, 5, "The typical exec");
    fputs("Time goes down, in µs from the start; within a file system all "
          "ladders have one scale. Each RPC is a pair of arrows with its "
          "latency beside it. A pair between two marks at the left is waited "
          "for; one that outlives the last mark is not. The capture is taken "
          "at the client, so the moment at the server is not known and the "
          "arrows meet half way.", plots->out);
    figure_end(plots->out);
    return 0;
}
