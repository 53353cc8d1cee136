/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report for a terminal or a mail: at most 120 columns, ASCII where the
 * run's own names are ASCII. */
#include "analysis/clock_steps.h"
#include "analysis/escape.h"
#include "analysis/findings.h"
#include "analysis/report.h"
#include "analysis/report_text_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 118
#define INDENT 10
#define CONTINUED 33 /* behind a row's label and figure */
#define MOST_COLUMNS 6
#define MOST_LOSSY_CELLS 10

/* Up to the next blank; a word too long for any line, such as a mount's
 * options, up to its last comma that fits. */
static size_t
word_length(const char *text, size_t most)
{
    const size_t word = strcspn(text, " ");
    size_t part = most;

    if (word <= most)
        return word;
    while (part > 1 && text[part - 1] != ',')
        part--;
    return part > 1 ? part : most;
}

void
report_text_wrapped(FILE *out, const char *head, const char *text)
{
    const size_t indent = head != NULL ? INDENT : CONTINUED;
    size_t column = indent;

    if (head != NULL)
        fprintf(out, "%-*s ", INDENT - 1, head);
    if (head != NULL && strlen(head) >= INDENT)
        fprintf(out, "\n%*s", INDENT, "");
    while (*text != '\0') {
        const size_t blanks = strspn(text, " ");
        const size_t word = word_length(text + blanks, WIDTH - indent);

        if (column > indent && column + blanks + word > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fprintf(out, "%*s", (int)blanks, "");
            column += blanks;
        }
        fprintf(out, "%.*s", (int)word, text + blanks);
        column += word;
        text += blanks + word;
    }
    fputc('\n', out);
}

static void __attribute__((format(printf, 3, 4)))
line(FILE *out, const char *head, const char *format, ...)
{
    char text[2048], safe_head[64];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report_text_wrapped(out, escape_string(ESCAPE_TERMINAL, head, safe_head,
                               sizeof safe_head), text);
}

static int
compare_ns(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

static void
ping_text(const struct run_filesystem *filesystem, char *text, size_t size)
{
    int64_t sorted[64];
    const size_t n =
        filesystem->ping_count < 64 ? filesystem->ping_count : 64;

    text[0] = '\0';
    if (n == 0)
        return;
    memcpy(sorted, filesystem->ping_ns, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), compare_ns);
    snprintf(text, size, "   ping %.0f us (min %.0f, n %zu)",
             (double)(n % 2 == 1 ? sorted[n / 2]
                                 : (sorted[n / 2 - 1] + sorted[n / 2]) / 2) /
                 1000.0,
             (double)sorted[0] / 1000.0, n);
}

static void
filesystem_line(const struct run_filesystem *filesystem, FILE *out)
{
    char device[512], options[1024], note[256], ping[96];

    escape_string(ESCAPE_TERMINAL, filesystem->device, device, sizeof device);
    escape_string(ESCAPE_TERMINAL, filesystem->options, options,
                  sizeof options);
    escape_string(ESCAPE_TERMINAL, filesystem->export_note, note, sizeof note);
    if (filesystem->kind == FILESYSTEM_LOCAL) {
        line(out, filesystem->label, "%s   %s   %s", device,
             filesystem->type != NULL ? filesystem->type : "?", options);
        return;
    }
    ping_text(filesystem, ping, sizeof ping);
    line(out, filesystem->label, "%s   NFSv%s %s %u   %s%s%s%s", device,
         filesystem->version != NULL ? filesystem->version : "?",
         filesystem->transport != NULL ? filesystem->transport : "?",
         filesystem->port, options,
         filesystem->export_note != NULL ? "   export " : "",
         filesystem->export_note != NULL ? note : "", ping);
    if (!filesystem->wire_shows_all)
        line(out, "", "the wire does not show its RPCs (%s): counts are the "
             "kernel's mountstats",
             filesystem->why_not != NULL ? filesystem->why_not : "?");
}

/* Every loss by name; "nothing lost" only when there is none. */
static void
losses_text(const struct run_traffic *traffic, char *text, size_t size)
{
    const struct packet_losses *packets = &traffic->packet_losses;
    const struct rpc_losses *rpc = &traffic->rpc_losses;
    const struct {
        uint64_t count;
        const char *what;
    } losses[] = {
        {packets->truncated_packets, "truncated packets"},
        {packets->capture_duplicates, "capture duplicates"},
        {packets->gap_bytes, "gap bytes"},
        {packets->resync_bytes, "bytes passed over"},
        {packets->malformed_records, "malformed records"},
        {packets->incomplete_datagrams, "incomplete datagrams"},
        {packets->reorder_overflows, "reorder overflows"},
        {packets->tls_bytes, "bytes of TLS"},
        {rpc->retransmissions, "retransmissions"},
        {rpc->duplicate_replies, "duplicate replies"},
        {rpc->orphan_replies, "orphan replies"},
        {rpc->unanswered_calls, "unanswered calls"},
        {rpc->malformed_calls, "malformed calls"},
        {rpc->malformed_replies, "malformed replies"},
        {rpc->partly_decoded, "partly decoded"},
        {rpc->unattributed_compounds, "unattributed COMPOUNDs"},
        {rpc->encrypted_calls, "encrypted calls"},
        {rpc->pending_overflows, "outstanding calls given up"},
    };
    size_t i, used = 0;

    text[0] = '\0';
    for (i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        if (losses[i].count == 0 || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s",
                                 used > 0 ? ", " : "", losses[i].count,
                                 losses[i].what);
    }
    if (used == 0)
        snprintf(text, size, "nothing lost");
}

/* "3 more by the interface, ", or nothing. */
static const char *
interface_drops(const struct run_capture *capture, char *text, size_t size)
{
    if (capture->interface_dropped == 0)
        return "";
    snprintf(text, size, "%" PRIu64 " more by the interface, ",
             capture->interface_dropped);
    return text;
}

static void
capture_lines(const struct figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    const struct run_traffic *traffic = figures->traffic;
    char losses[768], interface[64], more[64], agree[160] = "";
    size_t i;

    if (!traffic->any_capture) {
        line(out, "capture", "%s",
             run_has_nfs(run) ? "none: the counts are the kernel's mountstats"
                              : "none: the run has no NFS file system");
        return;
    }
    losses_text(traffic, losses, sizeof losses);
    if (figures->cells_compared > 0)
        snprintf(agree, sizeof agree,
                 "; the wire and mountstats agree in %u of %u cells",
                 figures->cells_agree, figures->cells_compared);
    if (traffic->clock_from_markers)
        line(out, "capture", "from elsewhere: %" PRIu64 " packets, %s%s",
             traffic->packets, losses, agree);
    for (i = 0; i < run->capture_count && !traffic->clock_from_markers; i++) {
        const struct run_capture *capture = &run->captures[i];

        line(out, i == 0 ? "capture" : "",
             "%s: %" PRIu64 " packets, %" PRIu64 " dropped, %s%s%s",
             escape_string(ESCAPE_TERMINAL, capture->interface, interface,
                           sizeof interface),
             run->capture_count == 1 ? traffic->packets : capture->received,
             capture->dropped, interface_drops(capture, more, sizeof more),
             i == 0 ? losses : "", i == 0 ? agree : "");
        if (capture->warning != NULL)
            line(out, "", "%s", capture->warning);
    }
    if (traffic->clock_from_markers)
        line(out, "", "joined by %" PRIu64 " markers: its clock is ahead by "
             "%.6f s and runs %+.3f ppm fast; no marker is farther than "
             "%.1f us from that line", traffic->markers_found,
             (double)(traffic->clock_ahead_ns != RUN_UNKNOWN_NS
                          ? traffic->clock_ahead_ns
                          : traffic->clock_offset_ns) * 1e-9,
             traffic->clock_drift * 1e6, traffic->clock_residual_ns * 1e-3);
    if (traffic->warning != NULL)
        line(out, "", "%s", traffic->warning);
}

/* "nfs3 setattr, repetition 2" */
static const char *
cell_name(const struct run *run, const struct run_cell *cell, char *text,
          size_t size)
{
    char label[128];

    snprintf(text, size, "%s %s, repetition %u",
             escape_string(ESCAPE_TERMINAL,
                           run->filesystems[cell->filesystem].label, label,
                           sizeof label),
             cell->variant != NULL ? cell->variant
                                   : run_method_name(cell->method),
             cell->repetition + 1);
    return text;
}

/* What the exec loop was to do. */
static void
plan_line(const struct run *run, unsigned methods, FILE *out)
{
    char program[256];

    line(out, "plan",
         "%zu file system%s x %u method%s x %u repetition%s x %u execs, "
         "interleaved (seed %" PRIu64 "); program %s, %" PRIu64 " bytes; %s%s%s",
         run->filesystem_count, run->filesystem_count == 1 ? "" : "s", methods,
         methods == 1 ? "" : "s", run->repetitions,
         run->repetitions == 1 ? "" : "s", run->execs, run->seed,
         escape_string(ESCAPE_TERMINAL, run->program, program, sizeof program),
         run->program_bytes, run->spawn != NULL ? run->spawn : "?",
         run->as_user != NULL ? "; as " : "",
         run->as_user != NULL ? run->as_user : "");
}

void
report_text_heading(const struct figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    bool methods[METHOD_COUNT] = {false};
    char id[128], clock[128];
    unsigned used = 0;
    size_t i;

    for (i = 0; i < run->cell_count; i++)
        methods[run->cells[i].method] = true;
    for (i = 0; i < METHOD_COUNT; i++)
        used += methods[i];
    fprintf(out, "nfs-atime-test %s    run %s    Linux %s\n",
            run->tool_version != NULL ? run->tool_version : "?",
            escape_string(ESCAPE_TERMINAL, run->id, id, sizeof id),
            run->kernel != NULL ? run->kernel : "?");
    line(out, "clock", "%s%s",
         escape_string(ESCAPE_TERMINAL, run->clock, clock, sizeof clock),
         run->realtime_stepped ? "; the wall clock was set during the run"
                               : "");
    for (i = 0; i < run->cell_count; i++)
        if (run->realtime_stepped && cell_clock_stepped(&run->cells[i]))
            line(out, "", "set within %s: latencies in there are in doubt, "
                 "counts are not",
                 cell_name(run, &run->cells[i], id, sizeof id));
    for (i = 0; i < run->filesystem_count; i++)
        filesystem_line(&run->filesystems[i], out);
    capture_lines(figures, out);
    if (run->bench == NULL)
        plan_line(run, used, out);
    if (run->state != RUN_COMPLETE)
        line(out, "state", "not complete (%s): %u of %u cells are done",
             run->state_reason != NULL ? run->state_reason : "still running",
             figures->cells_done, figures->cells_planned);
    for (i = 0; i < run->warning_count; i++) {
        char warning[1024];

        line(out, i == 0 ? "warning" : "", "%s",
             escape_string(ESCAPE_TERMINAL, run->warnings[i], warning,
                           sizeof warning));
    }
}

static void
estimate_cell(FILE *out, int width, bool known, double value, const char *form)
{
    char text[32] = "-";

    if (known)
        snprintf(text, sizeof text, form, value);
    fprintf(out, "%*s", width, text);
}

static void
row_label(const struct figures *figures, size_t index, FILE *out)
{
    const struct group_figures *group = &figures->groups[index];
    const bool first =
        index == 0 ||
        figures->groups[index - 1].filesystem != group->filesystem;
    char label[64];

    escape_string(ESCAPE_TERMINAL,
                  figures->run->filesystems[group->filesystem].label, label,
                  sizeof label);
    fprintf(out, "%-9.9s %-11s", first ? label : "",
            run_method_name(group->method));
}

static void
time_row(const struct figures *figures, size_t index, FILE *out)
{
    const struct group_figures *group = &figures->groups[index];
    const struct stat_difference *over = &group->over_none;
    const bool proven =
        over->verdict == STAT_LESS || over->verdict == STAT_MORE;

    row_label(figures, index, out);
    estimate_cell(out, 10, group->mean.has_value, group->mean.value, "%.1f");
    estimate_cell(out, 8, group->mean.has_half, group->mean.half_width,
                  "+-%.1f");
    if (over->verdict == STAT_NONE_PROVEN) {
        fprintf(out, "%29s", "none proven");
    } else {
        estimate_cell(out, 11, over->absolute.has_value && proven,
                      over->absolute.value, "%+.1f");
        estimate_cell(out, 8, over->absolute.has_half && proven,
                      over->absolute.half_width, "+-%.1f");
        estimate_cell(out, 10, over->percent.has_value && proven,
                      over->percent.value, "%+.1f %%");
    }
    estimate_cell(out, 10, group->cells > 0, group->user_us, "%.1f");
    estimate_cell(out, 9, group->cells > 0, group->system_us, "%.1f");
    estimate_cell(out, 10, group->cells > 0, group->exec_us, "%.1f");
    estimate_cell(out, 9, group->cells > 0, group->exit_us, "%.1f");
    estimate_cell(out, 9, group->cells > 0, group->method_us, "%.1f");
    fputc('\n', out);
}

static void
time_table(const struct figures *figures, FILE *out)
{
    char title[64];
    size_t i;

    snprintf(title, sizeof title, "Time      us per exec (+- at %.4g %%)",
             figures->confidence);
    fprintf(out, "\n%-43s%-46s%s\n", title, "over none",
            "of the mean, until");
    fprintf(out, "%-21s%10s%8s%11s%8s%10s%10s%9s%10s%9s%9s\n", "", "mean", "",
            "us", "", "%", "user", "system", "exec'd", "exited", "marked");
    for (i = 0; i < figures->group_count; i++)
        time_row(figures, i, out);
}

/* 1.000, 0 when it is exactly none, and never 0.000 for something. */
static void
count_cell(FILE *out, double per_exec, bool at_least)
{
    char text[32];

    if (per_exec == 0.0 && !at_least)
        snprintf(text, sizeof text, "0");
    else if (per_exec > 0.0 && per_exec < 0.0005)
        snprintf(text, sizeof text, "<0.001");
    else
        snprintf(text, sizeof text, "%s%.3f", at_least ? ">=" : "", per_exec);
    fprintf(out, "%9s", text);
}

/* By the replies of the capture where there are any: execs; else by the
 * server's word before and after each cell. What the client's stat says is
 * named where it says otherwise. */
static void
atime_cell(const struct group_figures *group, bool nfs, char *text,
           size_t size)
{
    const struct moved_cells *server = nfs ? &group->server : &group->client;
    size_t used;

    if (nfs)
        atime_on_server_text(group, text, size);
    else
        moved_text(server, text, size);
    used = strlen(text);
    if (nfs && server->known > 0 && group->client.known > 0 &&
        (server->moved > 0) != (group->client.moved > 0))
        snprintf(text + used, size - used, "; client: %s",
                 group->client.moved > 0 ? "yes" : "no");
}

static void
count_row(const struct figures *figures, size_t index,
          const char *const *names, size_t columns, FILE *out)
{
    const struct group_figures *group = &figures->groups[index];
    const bool nfs = figures->run->filesystems[group->filesystem].kind ==
                     FILESYSTEM_NFS;
    const bool at_least = group->cells_lossy > 0;
    char text[96];
    size_t i;

    row_label(figures, index, out);
    if (!nfs || group->execs == 0) {
        for (i = 0; i < columns + 2; i++)
            fprintf(out, "%9s", "-");
    } else {
        count_cell(out, (double)group->rpcs / (double)group->execs, at_least);
        for (i = 0; i < columns; i++)
            count_cell(out, group_per_exec(group, names[i], false), at_least);
        count_cell(out, group_others_per_exec(group, names, columns),
                   at_least);
    }
    atime_cell(group, nfs, text, sizeof text);
    fprintf(out, "  %s\n", text);
}

/* Which cells they are. */
static void
lossy_cells(const struct figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    size_t i, count = 0;

    for (i = 0; i < run->cell_count; i++) {
        const uint64_t dropped =
            run->cells[i].drops.known ? run->cells[i].drops.kernel : 0;
        char name[256];

        if (!figures->traffic->cells[i].lossy || count++ >= MOST_LOSSY_CELLS)
            continue;
        fprintf(out, "   %s: ", cell_name(run, &run->cells[i], name,
                                          sizeof name));
        if (dropped > 0)
            fprintf(out, "the kernel dropped %" PRIu64 " packets\n", dropped);
        else
            fputs("something is missing in the capture, and the kernel's count "
                  "does not say that it was not from here\n", out);
    }
    if (count > MOST_LOSSY_CELLS)
        fprintf(out, "   and %zu more\n", count - MOST_LOSSY_CELLS);
}

static void
count_table(const struct figures *figures, FILE *out)
{
    const char *names[MOST_COLUMNS];
    const size_t columns = figures_columns(figures, names, MOST_COLUMNS);
    bool v4 = false, lossy = false;
    size_t i;

    for (i = 0; i < figures->run->filesystem_count; i++) {
        const struct run_filesystem *filesystem = &figures->run->filesystems[i];

        v4 = v4 || (filesystem->version != NULL &&
                    filesystem->version[0] == '4');
    }
    for (i = 0; i < figures->group_count; i++)
        lossy = lossy || figures->groups[i].cells_lossy > 0;
    fprintf(out, "\nRPCs      per exec%s\n",
            run_has_nfs(figures->run) ? "" : " (no NFS file system in this run)");
    fprintf(out, "%-21s%9s", "", "RPCs");
    for (i = 0; i < columns; i++)
        fprintf(out, "%9.8s", names[i]);
    fprintf(out, "%9s  %s\n", "others", "atime on the server");
    for (i = 0; i < figures->group_count; i++)
        count_row(figures, i, names, columns, out);
    if (v4)
        fputs("NFSv4: RPCs are COMPOUNDs, the other columns operations inside "
              "them (SEQUENCE, PUTFH and the like not shown).\n", out);
    if (lossy)
        fputs(">= packets were lost in some of these cells: inconclusive, the "
              "count is what was seen.\n", out);
    if (lossy)
        lossy_cells(figures, out);
}

static void
failed_cells(const struct figures *figures, FILE *out)
{
    size_t i;

    for (i = 0; i < figures->run->cell_count; i++) {
        const struct run_cell *cell = &figures->run->cells[i];
        char error[512];

        if (cell->state == CELL_FAILED)
            line(out, "failed", "%s %s, repetition %u: %s",
                 figures->run->filesystems[cell->filesystem].label,
                 run_method_name(cell->method), cell->repetition + 1,
                 escape_string(ESCAPE_TERMINAL, cell->error, error,
                               sizeof error));
    }
    for (i = 0; i < figures->disagreement_count; i++)
        line(out, i == 0 ? "differ" : "", "%s", figures->disagreements[i]);
}

/* What the mounts do by themselves: the idle phase before the cells. */
static void
idle_text(const struct run_traffic *traffic, char *text, size_t size)
{
    uint64_t calls = 0;
    size_t i;

    text[0] = '\0';
    if (!traffic->any_capture || traffic->idle_ns <= 0)
        return;
    for (i = 0; i < traffic->idle.length; i++)
        calls += traffic->idle.items[i].count;
    snprintf(text, size, ", in the idle phase %.2f/s (%.1f s)",
             (double)calls / ((double)traffic->idle_ns * 1e-9),
             (double)traffic->idle_ns * 1e-9);
}

void
report_text_closing(const struct figures *figures, FILE *out)
{
    const struct run_traffic *traffic = figures->traffic;
    char losses[768], idle[256];

    losses_text(traffic, losses, sizeof losses);
    idle_text(traffic, idle, sizeof idle);
    fprintf(out, "\nLost: %s.    Background: %" PRIu64 " RPCs%s.    Own: %"
            PRIu64 " RPCs.\nAgain: nfs-atime-test report %s\n",
            traffic->any_capture ? losses
            : run_has_nfs(figures->run) ? "not known without a capture"
                                        : "no RPCs, nothing lost",
            traffic->background_calls, idle, traffic->own_calls,
            figures->run->directory != NULL ? figures->run->directory
                                            : "DIRECTORY");
}

static void
finding_lines(const struct figures *figures, FILE *out)
{
    char number[32];
    size_t i;

    fputs("\nFindings\n", out);
    for (i = 0; i < figures->finding_count; i++) {
        snprintf(number, sizeof number, "%7zu", i + 1);
        report_text_wrapped(out, number, figures->findings[i]);
    }
    if (figures->finding_count == 0)
        fputs("  none: too little was measured\n", out);
}

/* What was measured and what it means; then how that is known. */
void
report_text(const struct figures *figures, FILE *out)
{
    report_text_heading(figures, out);
    time_table(figures, out);
    count_table(figures, out);
    failed_cells(figures, out);
    finding_lines(figures, out);
    report_text_reasons(figures, out);
    report_text_closing(figures, out);
}
