/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/bench_html.h"

#include "analysis/bench_parts.h"
#include "analysis/html_page.h"
#include "analysis/report_html_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {"warm", "cold"};

static const char *
label_of(const struct bench_figures *figures, size_t filesystem)
{
    return figures->run->filesystems[filesystem].label;
}

static bool
is_nfs(const struct bench_figures *figures, size_t filesystem)
{
    return figures->run->filesystems[filesystem].kind == FILESYSTEM_NFS;
}

static double
per_operation(const struct bench_group *group, uint64_t count)
{
    return group->operations > 0 ? (double)count / (double)group->operations
                                 : 0.0;
}

/* --- sentences ------------------------------------------------------------ */

static void
say_end(FILE *out)
{
    fputs("</li>\n", out);
}

/* "nfs3: ", for the begin of a sentence. */
static void
say_begin(const struct bench_figures *figures, size_t filesystem, FILE *out)
{
    fputs("<li>", out);
    html_text(out, label_of(figures, filesystem));
}

/* A difference in units of `ns`, or that there is none. */
static void
say_difference(const struct bench_figures *figures,
               const struct stat_difference *over, double ns, int digits,
               const char *unit, FILE *out)
{
    if (over->verdict == STAT_UNTESTABLE) {
        fputs("the difference cannot be told from so few runs", out);
        return;
    }
    if (over->verdict == STAT_NONE_PROVEN)
        fprintf(out, "no difference is proven at %.4g %% (",
                figures->confidence);
    fprintf(out, "%+.*f %s ± %.*f", digits, over->absolute.value / ns, unit,
            digits, over->absolute.half_width / ns);
    if (over->percent.has_value)
        fprintf(out, ", %+.1f %%", over->percent.value);
    if (over->verdict == STAT_NONE_PROVEN)
        fputc(')', out);
}

static void
say_self_exec(const struct bench_figures *figures,
              const struct bench_group *group, FILE *out)
{
    const struct bench_group *first =
        bench_group_find(figures, 0, group->variant);
    struct stat_difference over;

    say_begin(figures, group->filesystem, out);
    fprintf(out, ": %.2f µs per exec", group->mean.value * 1e-3);
    if (group->mean.has_half)
        fprintf(out, " ± %.2f", group->mean.half_width * 1e-3);
    fprintf(out, " (%zu run%s)", group->cells, group->cells == 1 ? "" : "s");
    if (group->counted)
        fprintf(out, " and %s%.3f RPCs", group->lossy ? "at least " : "",
                per_operation(group, group->rpcs));
    if (first != NULL && first != group && first->cells > 0) {
        fputs("; against ", out);
        html_text(out, label_of(figures, 0));
        fputs(": ", out);
        over = stat_welch(&first->sample, &group->sample,
                          figures->confidence);
        say_difference(figures, &over, 1e3, 2, "µs", out);
    }
    fputc('.', out);
    say_end(out);
}

static void
say_race(const struct bench_figures *figures, const struct bench_group *group,
         FILE *out)
{
    size_t i, wrong = 0;

    say_begin(figures, group->filesystem, out);
    fprintf(out, ": %" PRIu64 " execs in %.1f s while threads read /proc/PID; ",
            group->operations,
            group->mean.value * (double)group->operations * 1e-9);
    for (i = 0; i < group->observations.length; i++) {
        const struct run_count *seen = &group->observations.items[i];

        if (bench_is_expected(seen->name))
            continue;
        fputs(wrong++ == 0 ? "wrong: " : ", ", out);
        html_text(out, seen->name);
        fprintf(out, " (%" PRIu64 ")", seen->count);
    }
    fputs(wrong > 0 ? "."
                    : "nothing went wrong: what was read was whole, or empty "
                      "between two programs.", out);
    say_end(out);
}

/* Whether the intervals of two medians overlap; not known without them. */
static bool
overlap(const struct bench_group *a, const struct bench_group *b)
{
    return a->median.known && b->median.known &&
           a->median.low <= b->median.high && b->median.low <= a->median.high;
}

static void
say_time(double ns, FILE *out)
{
    if (ns < 1e5)
        fprintf(out, ", %.0f ns", ns);
    else
        fprintf(out, ", %.1f µs", ns * 1e-3);
}

/* "4 bytes are quickest by pread, 21 ns (not told apart from read), slowest
 * by malloc+read, 125 ns". */
static bool
say_size(const struct bench_figures *figures, size_t filesystem,
         const char *state, unsigned long size, const char *before, FILE *out)
{
    const struct bench_group *groups[BENCH_HEADER_METHODS];
    size_t i, best = BENCH_HEADER_METHODS, worst = BENCH_HEADER_METHODS;
    const char *comma = " (not told apart from ";

    for (i = 0; i < BENCH_HEADER_METHODS; i++) {
        groups[i] = bench_header_group(figures, filesystem,
                                       bench_header_methods[i], size, state);
        if (groups[i] == NULL || groups[i]->cells == 0)
            continue;
        if (best == BENCH_HEADER_METHODS ||
            groups[i]->sample.median < groups[best]->sample.median)
            best = i;
        if (worst == BENCH_HEADER_METHODS ||
            groups[i]->sample.median > groups[worst]->sample.median)
            worst = i;
    }
    if (best == BENCH_HEADER_METHODS || best == worst)
        return false;
    fprintf(out, "%s%lu byte%s quickest by %s", before, size,
            size == 1 ? " is" : "s are", bench_header_methods[best]);
    say_time(groups[best]->sample.median, out);
    for (i = 0; i < BENCH_HEADER_METHODS; i++)
        if (i != best && groups[i] != NULL && groups[i]->cells > 0 &&
            overlap(groups[best], groups[i])) {
            fprintf(out, "%s%s", comma, bench_header_methods[i]);
            comma = ", ";
        }
    if (*comma == ',')
        fputc(')', out);
    fprintf(out, ", slowest by %s", bench_header_methods[worst]);
    say_time(groups[worst]->sample.median, out);
    return true;
}

static void
say_header(const struct bench_figures *figures, size_t filesystem,
           const char *state, FILE *out)
{
    unsigned long sizes[BENCH_HEADER_SIZES];
    const size_t count = bench_header_sizes(figures, sizes);
    char *text = NULL;
    size_t length = 0;
    FILE *words = count > 0 ? open_memstream(&text, &length) : NULL;
    bool said;

    if (words == NULL)
        return;
    said = say_size(figures, filesystem, state, sizes[0], ": ", words);
    if (count > 1)
        said |= say_size(figures, filesystem, state, sizes[count - 1],
                         said ? "; " : ": ", words);
    fclose(words);
    if (said) {
        say_begin(figures, filesystem, out);
        fprintf(out, ", %s%s.", bench_header_state(state), text);
        say_end(out);
    }
    free(text);
}

static void
say_prefault(const struct bench_figures *figures, size_t filesystem, FILE *out)
{
    const struct bench_group *groups[2];
    struct stat_difference over;
    size_t i;

    for (i = 0; i < 2; i++)
        groups[i] = bench_group_find(figures, filesystem,
                                     bench_prefault_variants[i]);
    if (groups[0] == NULL || groups[1] == NULL || groups[0]->cells == 0 ||
        groups[1]->cells == 0)
        return;
    over = stat_welch(&groups[0]->sample, &groups[1]->sample,
                      figures->confidence);
    say_begin(figures, filesystem, out);
    fprintf(out, ": %.4g s to write %" PRIu64 " bytes out of a mapped file, "
            "%.4g s when its pages were touched first, touching included: ",
            groups[0]->mean.value * 1e-9, figures->run->bench_bytes,
            groups[1]->mean.value * 1e-9);
    say_difference(figures, &over, 1e9, 4, "s", out);
    for (i = 0; i < 2; i++)
        if (groups[i]->counted)
            fprintf(out, "; %s %s%.4g WRITEs and %.0f bytes sent",
                    groups[i]->variant, groups[i]->lossy ? "at least " : "",
                    per_operation(groups[i],
                                  run_counts_get(&groups[i]->counts,
                                                 "WRITE")),
                    per_operation(groups[i], groups[i]->sent));
    fputc('.', out);
    say_end(out);
}

static void
findings(const struct bench_figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    size_t i, s;

    html_heading(out, "findings", "Findings");
    if (figures->cells_done == 0) {
        fputs("<p>None: too little was measured.</p>\n", out);
        return;
    }
    fputs("<ol class=\"findings\">\n", out);
    if (strcmp(run->bench, "header") == 0) {
        for (i = 0; i < run->filesystem_count; i++)
            for (s = 0; s < 2; s++)
                say_header(figures, i, states[s], out);
    } else if (strcmp(run->bench, "prefault") == 0) {
        for (i = 0; i < run->filesystem_count; i++)
            say_prefault(figures, i, out);
    } else {
        for (i = 0; i < figures->group_count; i++)
            if (figures->groups[i].cells == 0)
                continue;
            else if (bench_is_race(run))
                say_race(figures, &figures->groups[i], out);
            else
                say_self_exec(figures, &figures->groups[i], out);
    }
    fputs("</ol>\n", out);
}

/* --- tables --------------------------------------------------------------- */

/* In units of `ns`. */
static void
sample_cells(const struct bench_group *group, double ns, int digits, FILE *out)
{
    const struct stat_summary *sample = &group->sample;
    const bool any = sample->n > 0;

    html_number(out, "%zu", group->cells);
    html_known(out, group->mean.has_value, digits, group->mean.value / ns, "");
    html_known(out, group->mean.has_half, digits, group->mean.half_width / ns,
               "± ");
    html_known(out, sample->has_stddev, digits, sample->stddev / ns, "");
    html_known(out, any, digits, sample->min / ns, "");
    html_known(out, any, digits, sample->median / ns, "");
    html_known(out, any, digits, sample->max / ns, "");
}

static void
count_number(FILE *out, const struct bench_group *group, uint64_t count)
{
    const double each = per_operation(group, count);

    if (count == 0 && !group->lossy)
        html_number(out, "0");
    else if (count > 0 && each < 0.0005)
        html_number(out, "<0.001");
    else
        html_number(out, "%s%.3f", group->lossy ? "≥ " : "", each);
}

static void
rpc_row(const struct bench_figures *figures, const struct bench_group *group,
        const char *const *names, size_t columns, FILE *out)
{
    size_t i;

    html_row_begin(out);
    html_row_head(out, label_of(figures, group->filesystem));
    html_cell(out, group->variant);
    if (group->counted) {
        count_number(out, group, group->rpcs);
        for (i = 0; i < columns; i++)
            count_number(out, group, run_counts_get(&group->counts, names[i]));
        count_number(out, group, bench_others(group, names, columns));
        html_number(out, "%.0f", per_operation(group, group->sent));
        html_number(out, "%.0f", per_operation(group, group->received));
        html_cell(out, group->from_wire ? "wire" : "mountstats");
    } else {
        for (i = 0; i < columns + 4; i++)
            html_number(out, "-");
        html_cell(out, "nobody: no capture and no mountstats");
    }
    html_row_end(out);
}

static void
rpc_table(const struct bench_figures *figures, const char *unit, FILE *out)
{
    const char *names[BENCH_MOST_COLUMNS];
    const size_t columns = bench_columns(figures, names);
    char caption[64], heads[512] = "<File system|<What|RPCs";
    size_t i, used = strlen(heads);

    if (!run_has_nfs(figures->run))
        return;
    for (i = 0; i < columns; i++)
        used += (size_t)snprintf(heads + used, sizeof heads - used, "|%.40s",
                                 names[i]);
    snprintf(heads + used, sizeof heads - used,
             "|others|bytes sent|bytes received|<Counted by");
    snprintf(caption, sizeof caption, "per %s", unit);
    fputs("<h3>RPCs</h3>\n", out);
    html_table_begin(out, caption, heads);
    for (i = 0; i < figures->group_count; i++)
        if (is_nfs(figures, figures->groups[i].filesystem))
            rpc_row(figures, &figures->groups[i], names, columns, out);
    html_table_end(out);
}

static void
run_row(const struct bench_figures *figures, const struct run_cell *cell,
        FILE *out)
{
    static const char *const words[] = {
        [CELL_DONE] = "done", [CELL_INTERRUPTED] = "interrupted",
        [CELL_FAILED] = "failed", [CELL_PENDING] = "pending"};
    uint64_t execs;
    double ns;

    if (cell->series_count == 0 || cell->series[0].length == 0)
        return;
    ns = bench_cell_ns(cell, &execs);
    html_row_begin(out);
    html_row_head(out, label_of(figures, cell->filesystem));
    html_number(out, "%u", cell->repetition + 1);
    html_number(out, "%" PRIu64, execs);
    html_number(out, "%.3f", ns * (double)execs * 1e-9);
    html_number(out, "%.2f", ns * 1e-3);
    html_cell(out, words[cell->state]);
    html_row_end(out);
}

static void
self_exec_tables(const struct bench_figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    size_t i, j;
    unsigned r;

    fputs("<h3>Times</h3>\n", out);
    html_table_begin(out, "µs per exec, over the runs",
                     "<File system|runs|mean|±|deviation|smallest|median|"
                     "largest");
    for (i = 0; i < figures->group_count; i++) {
        html_row_begin(out);
        html_row_head(out, label_of(figures, figures->groups[i].filesystem));
        sample_cells(&figures->groups[i], 1e3, 2, out);
        html_row_end(out);
    }
    html_table_end(out);
    fputs("<h3>Runs</h3>\n", out);
    html_table_begin(out, NULL, "<File system|run|execs|seconds|µs per exec|"
                     "<State");
    for (i = 0; i < run->filesystem_count; i++)
        for (r = 0; r < run->repetitions; r++)
            for (j = 0; j < run->cell_count; j++)
                if (run->cells[j].filesystem == i &&
                    run->cells[j].repetition == r)
                    run_row(figures, &run->cells[j], out);
    html_table_end(out);
    rpc_table(figures, "exec", out);
}

static void
race_tables(const struct bench_figures *figures, FILE *out)
{
    size_t i, j;

    html_table_begin(out, "what the readers of /proc/PID saw",
                     "<File system|<What|count|<Verdict");
    for (i = 0; i < figures->group_count; i++) {
        const struct bench_group *group = &figures->groups[i];

        for (j = 0; j < group->observations.length; j++) {
            const struct run_count *seen = &group->observations.items[j];

            html_row_begin(out);
            html_row_head(out, label_of(figures, group->filesystem));
            html_cell(out, seen->name);
            html_number(out, "%" PRIu64, seen->count);
            html_cell(out, bench_is_expected(seen->name) ? "expected"
                                                         : "wrong");
            html_row_end(out);
        }
    }
    html_table_end(out);
}

/* A row per size, a column per way. */
static void
header_table(const struct bench_figures *figures, size_t filesystem,
             const char *state, enum bench_header_figure what,
             const char *caption, FILE *out)
{
    unsigned long sizes[BENCH_HEADER_SIZES];
    const size_t count = bench_header_sizes(figures, sizes);
    char heads[128] = "<Bytes", text[48];
    size_t i, j, used = strlen(heads);

    for (j = 0; j < BENCH_HEADER_METHODS; j++)
        used += (size_t)snprintf(heads + used, sizeof heads - used, "|%s",
                                 bench_header_methods[j]);
    html_table_begin(out, caption, heads);
    for (i = 0; i < count; i++) {
        html_row_begin(out);
        snprintf(text, sizeof text, "%lu", sizes[i]);
        html_row_head(out, text);
        for (j = 0; j < BENCH_HEADER_METHODS; j++)
            html_number(out, "%s",
                        bench_header_text(figures, filesystem,
                                          bench_header_methods[j], sizes[i],
                                          state, what, text, sizeof text));
        html_row_end(out);
    }
    html_table_end(out);
}

/* Accesses that were to be cold and found a page in the cache. */
static void
still_cached(const struct bench_figures *figures, size_t filesystem, FILE *out)
{
    uint64_t cold, cached;

    bench_still_cached(figures, filesystem, &cold, &cached);
    if (cached > 0)
        fprintf(out, "<p class=\"note\">Not cold: %" PRIu64 " of %" PRIu64
                " accesses found a page that the kernel had kept.</p>\n",
                cached, cold);
}

static void
header_tables(const struct bench_figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    char caption[160];
    size_t i, s;

    snprintf(caption, sizeof caption, "ns per access: the median of %u runs "
             "and, from 6 on, its %.4g %% interval", run->repetitions,
             figures->confidence);
    for (i = 0; i < run->filesystem_count; i++)
        for (s = 0; s < 2; s++) {
            fputs("<h3>", out);
            html_text(out, label_of(figures, i));
            fprintf(out, ", %s</h3>\n", bench_header_state(states[s]));
            header_table(figures, i, states[s], BENCH_HEADER_TIME, caption,
                         out);
            if (s == 1)
                still_cached(figures, i, out);
            if (!is_nfs(figures, i))
                continue;
            header_table(figures, i, states[s], BENCH_HEADER_READS,
                         "READs per access", out);
            if (s == 1)
                header_table(figures, i, states[s], BENCH_HEADER_BYTES,
                             "bytes received per access", out);
        }
}

static void
prefault_tables(const struct bench_figures *figures, FILE *out)
{
    size_t i, j;

    fputs("<h3>Times</h3>\n", out);
    html_table_begin(out, "seconds to write the file, over the runs; touching, "
                     "write(2) and close(2) are parts of the mean",
                     "<File system|<Pages|runs|mean|±|deviation|smallest|"
                     "median|largest|touching|write|close");
    for (i = 0; i < figures->group_count; i++) {
        const struct bench_group *group = &figures->groups[i];

        html_row_begin(out);
        html_row_head(out, label_of(figures, group->filesystem));
        html_cell(out, group->variant);
        sample_cells(group, 1e9, 6, out);
        for (j = 0; j < BENCH_PREFAULT_PARTS; j++)
            html_known(out, group->cells > 0, 6,
                       bench_part_mean(figures, group, bench_prefault_parts[j]),
                       "");
        html_row_end(out);
    }
    html_table_end(out);
    rpc_table(figures, "file", out);
}

static void
failed_cells(const struct bench_figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    size_t i;

    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];

        if (cell->error == NULL)
            continue;
        fputs("<p class=\"note\">", out);
        html_text(out, label_of(figures, cell->filesystem));
        fputc(' ', out);
        html_text(out, cell->variant);
        fprintf(out, ", run %u failed: ", cell->repetition + 1);
        html_text(out, cell->error);
        fputs("</p>\n", out);
    }
}

static void
tables(const struct bench_figures *figures, FILE *out)
{
    const char *bench = figures->run->bench;

    html_heading(out, "tables", "Tables");
    if (strcmp(bench, "header") == 0)
        header_tables(figures, out);
    else if (strcmp(bench, "prefault") == 0)
        prefault_tables(figures, out);
    else if (bench_is_race(figures->run))
        race_tables(figures, out);
    else
        self_exec_tables(figures, out);
    failed_cells(figures, out);
}

void
bench_html(const struct bench_figures *figures, FILE *out)
{
    const struct figures shell = bench_shell(figures);
    char title[320];

    snprintf(title, sizeof title, "nfs-atime-test: bench %s, run %.200s",
             figures->run->bench,
             figures->run->id != NULL ? figures->run->id : "?");
    html_begin(out, title);
    html_contents(out);
    html_reservations(&shell, out);
    findings(figures, out);
    html_setting(&shell, out);
    html_heading(out, "pictures", "Pictures");
    bench_picture(figures, out);
    tables(figures, out);
    html_losses(&shell, out);
    html_again(figures->run, out);
    html_end(out);
}
