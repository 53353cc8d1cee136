/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/findings.h"
#include "analysis/html_page.h"
#include "analysis/report_html_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MOST_COLUMNS 8

static void
heads(const struct figures *figures, const struct group_figures *group,
      FILE *out)
{
    html_row_begin(out);
    html_row_head(out, figures->run->filesystems[group->filesystem].label);
    html_cell(out, run_method_name(group->method));
}

static void
value(FILE *out, bool known, const char *format, double number)
{
    char text[64];

    snprintf(text, sizeof text, format, number);
    html_number(out, "%s", known ? text : "-");
}

static void
h3(FILE *out, const char *text)
{
    fprintf(out, "<h3>%s</h3>\n", text);
}

/* A heading whose tables are shown on demand. */
static void
fold_begin(FILE *out, const char *text)
{
    fprintf(out, "<details><summary><h3>%s</h3></summary>\n", text);
}

static void
fold_end(FILE *out)
{
    fputs("</details>\n", out);
}

/* --- times ---------------------------------------------------------------- */

static void
over_none(const struct group_figures *group, FILE *out)
{
    const struct stat_difference *over = &group->over_none;
    const bool proven =
        over->verdict == STAT_LESS || over->verdict == STAT_MORE;

    if (over->verdict == STAT_NONE_PROVEN) {
        fputs("<td colspan=\"3\">none proven</td>", out);
        return;
    }
    value(out, proven && over->absolute.has_value, "%+.1f",
          over->absolute.value);
    value(out, proven && over->absolute.has_half, "± %.1f",
          over->absolute.half_width);
    value(out, proven && over->percent.has_value, "%+.1f %%",
          over->percent.value);
}

static void
time_table(const struct figures *figures, FILE *out)
{
    char caption[160];
    size_t i;

    snprintf(caption, sizeof caption, "µs per exec, with %.4g %% intervals "
             "over the repetitions", figures->confidence);
    h3(out, "Times");
    html_table_begin(out, caption,
                     "<File system|<Method|mean|±|over none|±|%|user|system|"
                     "until exec'd|until exited|until marked|cells|execs");
    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];
        const bool any = group->cells > 0;

        heads(figures, group, out);
        value(out, group->mean.has_value, "%.1f", group->mean.value);
        value(out, group->mean.has_half, "± %.1f", group->mean.half_width);
        over_none(group, out);
        value(out, any, "%.1f", group->user_us);
        value(out, any, "%.1f", group->system_us);
        value(out, any, "%.1f", group->exec_us);
        value(out, any, "%.1f", group->exit_us);
        value(out, any, "%.1f", group->method_us);
        html_number(out, "%u", group->cells);
        html_number(out, "%" PRIu64, group->execs);
        html_row_end(out);
    }
    html_table_end(out);
}

/* --- counts --------------------------------------------------------------- */

/* 0 only when it is exactly none. */
static void
per_exec(FILE *out, double count, bool at_least)
{
    if (count > 0 && count < 0.0005)
        html_number(out, "< 0.001");
    else if (count == 0 && !at_least)
        html_number(out, "0");
    else
        html_number(out, "%s%.3f", at_least ? "≥ " : "", count);
}

static void
moved_cell(const struct moved_cells *moved, FILE *out)
{
    char text[64];

    html_cell(out, moved->known > 0 ? moved_text(moved, text, sizeof text)
                                    : "-");
}

static void
count_row(const struct figures *figures, const struct group_figures *group,
          const char *const *names, size_t columns, FILE *out)
{
    const bool nfs = figures->run->filesystems[group->filesystem].kind ==
                     FILESYSTEM_NFS;
    const bool lossy = group->cells_lossy > 0;
    char text[96];
    size_t i;

    heads(figures, group, out);
    if (!nfs || group->execs == 0) {
        for (i = 0; i < columns + 2; i++)
            html_number(out, "-");
    } else {
        per_exec(out, (double)group->rpcs / (double)group->execs, lossy);
        for (i = 0; i < columns; i++)
            per_exec(out, group_per_exec(group, names[i], false), lossy);
        per_exec(out, group_others_per_exec(group, names, columns), lossy);
    }
    html_cell(out, group->server.known > 0
                       ? atime_on_server_text(group, text, sizeof text)
                       : "-");
    moved_cell(&group->client, out);
    if (group->cells_compared > 0)
        html_number(out, "%u/%u", group->cells_agree,
                    group->cells_compared);
    else
        html_number(out, "-");
    html_row_end(out);
}

static void
count_table(const struct figures *figures, FILE *out)
{
    const char *names[MOST_COLUMNS];
    const size_t columns = figures_columns(figures, names, MOST_COLUMNS);
    char head[512];
    size_t i, used;

    used = (size_t)snprintf(head, sizeof head, "<File system|<Method|RPCs");
    for (i = 0; i < columns && used < sizeof head; i++)
        used += (size_t)snprintf(head + used, sizeof head - used, "|%s",
                                 names[i]);
    if (used < sizeof head)
        snprintf(head + used, sizeof head - used, "|others|<atime on the "
                 "server|<at the client|kernel");
    h3(out, "RPCs");
    html_table_begin(out, "per exec; in NFSv4 RPCs are COMPOUNDs and the "
                     "other columns operations inside them; kernel: cells in "
                     "which its mountstats agree", head);
    for (i = 0; i < figures->group_count; i++)
        count_row(figures, &figures->groups[i], names, columns, out);
    html_table_end(out);
}

static void
errors_table(const struct figures *figures, FILE *out)
{
    bool any = false;
    size_t i, j, k;

    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];
        const struct {
            const char *what;
            const struct run_counts *counts;
        } kinds[] = {
            {"reply", &group->errors},
            {"method", &group->method_errors},
            {"exec", &group->exec_errors},
        };

        for (k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            for (j = 0; j < kinds[k].counts->length; j++) {
                if (!any) {
                    h3(out, "Errors");
                    html_table_begin(out, NULL, "<File system|<Method|<Of "
                                     "what|<Error|times|per exec");
                }
                any = true;
                heads(figures, group, out);
                html_cell(out, kinds[k].what);
                html_cell(out, kinds[k].counts->items[j].name);
                html_number(out, "%" PRIu64, kinds[k].counts->items[j].count);
                value(out, group->execs > 0, "%.3f",
                      (double)kinds[k].counts->items[j].count /
                          (double)group->execs);
                html_row_end(out);
            }
    }
    if (any)
        html_table_end(out);
}

/* --- reasons -------------------------------------------------------------- */

static bool
any_reasons(const struct figures *figures)
{
    size_t i;

    for (i = 0; i < figures->group_count; i++)
        if (figures->groups[i].reasons_known &&
            figures->groups[i].wait.execs > 0)
            return true;
    return false;
}

static void
wait_table(const struct figures *figures, FILE *out)
{
    size_t i, j;

    fold_begin(out, "Waiting");
    html_table_begin(out, "µs per exec that it cannot go on because an RPC is "
                     "outstanding, and of which procedure",
                     "<File system|<Method|<Procedure|waited|±|calls waited "
                     "for|overlapped|latency, mean|overlapped, µs");
    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];
        const struct rpc_wait *wait = &group->wait;
        const double each = wait->execs > 0 ? 1.0 / (double)wait->execs : 0;

        if (!group->reasons_known || wait->execs == 0)
            continue;
        for (j = 0; j < wait->procedure_count; j++) {
            const struct wait_procedure *row = &wait->procedures[j];

            heads(figures, group, out);
            html_cell(out, row->name);
            value(out, row->wait.has_value, "%.1f", row->wait.value);
            value(out, row->wait.has_half, "± %.1f", row->wait.half_width);
            value(out, true, "%.3f", (double)row->blocking * each);
            value(out, true, "%.3f", (double)row->overlapped * each);
            value(out, row->latency.n > 0, "%.1f", row->latency.mean);
            value(out, true, "%.1f", row->overlapped_us);
            html_row_end(out);
        }
    }
    html_table_end(out);
    fold_end(out);
}

/* One part of a difference. */
static void
explain_row(const struct figures *figures, const struct group_figures *group,
            const char *by, const double *rpcs,
            const struct stat_estimate *us, FILE *out)
{
    heads(figures, group, out);
    html_number(out, "%s", "");
    html_cell(out, by);
    value(out, rpcs != NULL, "%+.3f", rpcs != NULL ? *rpcs : 0);
    value(out, us->has_value, "%+.1f", us->value);
    value(out, us->has_half, "± %.1f", us->half_width);
    html_row_end(out);
}

static void
explain_group(const struct figures *figures, const struct group_figures *group,
              FILE *out)
{
    const struct rpc_wait *wait = &group->wait;
    const struct stat_estimate work = {true, false, wait->work_us, 0};
    const struct stat_estimate rest = {true, false, wait->rest, 0};
    size_t j;

    heads(figures, group, out);
    value(out, wait->measured.absolute.has_value, "%+.1f",
          wait->measured.absolute.value);
    html_cell(out, "");
    fputs("<td></td><td></td><td></td>", out);
    html_row_end(out);
    for (j = 0; j < wait->part_count; j++) {
        char by[64];

        snprintf(by, sizeof by, "waiting for %s", wait->parts[j].name);
        explain_row(figures, group, by, &wait->parts[j].rpcs,
                    &wait->parts[j].us.absolute, out);
    }
    if (wait->work_known && fabs(wait->work_us) >= 0.05)
        explain_row(figures, group, "the client's own work for RPCs", NULL,
                    &work, out);
    explain_row(figures, group, "the method's call itself", NULL,
                &wait->method_part.absolute, out);
    explain_row(figures, group, "not explained", NULL, &rest, out);
}

static void
explain_table(const struct figures *figures, FILE *out)
{
    size_t i;

    fold_begin(out, "Where the difference goes");
    html_table_begin(out, "µs per exec more than none, split",
                     "<File system|<Method|measured|<By|RPCs|µs|±");
    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];

        if (group->reasons_known && group->wait.compared &&
            group->method != METHOD_NOEXEC)
            explain_group(figures, group, out);
    }
    html_table_end(out);
    fold_end(out);
}

static void
signature_table(const struct figures *figures, FILE *out)
{
    size_t i, j;

    fold_begin(out, "Sequences");
    html_table_begin(out, "the RPCs of an exec in order; the most common "
                     "first",
                     "<File system|<Method|execs|%|RPCs|µs|±|<Sequence");
    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];
        const struct signatures *all = &group->signatures;

        for (j = 0; group->reasons_known && j < all->row_count; j++) {
            const struct signature_row *row = &all->rows[j];

            heads(figures, group, out);
            html_number(out, "%" PRIu64, row->execs);
            value(out, all->execs > 0, "%.1f",
                  100.0 * (double)row->execs / (double)all->execs);
            value(out, true, "%.3g", row->rpcs);
            value(out, row->us.has_value, "%.1f", row->us.value);
            value(out, row->us.has_half, "± %.1f", row->us.half_width);
            html_long_cell(out, row->text);
            html_row_end(out);
        }
    }
    html_table_end(out);
    fold_end(out);
}

static void
correlation_row(const struct correlation *correlation, size_t index,
                const char *label, FILE *out)
{
    const struct correlation_term *name = &correlation->terms[index];
    const struct stat_regression *fit = &correlation->cells;
    const struct stat_term *term =
        fit->known && index < fit->terms ? &fit->term[index] : NULL;
    char text[256] = "";

    html_row_begin(out);
    html_row_head(out, label);
    html_cell(out, name->name);
    value(out, true, "%.3f", name->per_exec);
    value(out, name->pearson.known, "%+.3f", name->pearson.r);
    value(out, name->cell_pearson.known, "%+.3f", name->cell_pearson.r);
    value(out, term != NULL && term->slope.has_value, "%+.1f",
          term != NULL ? term->slope.value : 0);
    value(out, term != NULL && term->slope.has_half, "± %.1f",
          term != NULL ? term->slope.half_width : 0);
    if (term != NULL && term->state == STAT_TERM_TOGETHER &&
        term->group != STAT_NO_GROUP) {
        const struct stat_group *group = &fit->group[term->group];
        char names[160];

        if (group->joint.has_value)
            snprintf(text, sizeof text, "not to be told apart: %s, together "
                     "%+.1f µs",
                     correlation_group_names(correlation, fit, term->group,
                                             names, sizeof names),
                     group->joint.value);
        else
            snprintf(text, sizeof text, "not to be told apart: %s",
                     correlation_group_names(correlation, fit, term->group,
                                             names, sizeof names));
    } else if (term != NULL && term->state == STAT_TERM_CONSTANT) {
        snprintf(text, sizeof text, "the same in every cell");
    }
    html_cell(out, text);
    html_row_end(out);
}

static void
correlation_table(const struct figures *figures, FILE *out)
{
    size_t i, j;
    bool any = false;

    for (i = 0; i < figures->run->filesystem_count; i++) {
        const struct correlation *correlation = &figures->correlations[i];

        for (j = 0; j < correlation->term_count; j++) {
            if (!any) {
                fold_begin(out, "Time against counts");
                html_table_begin(out, "r: Pearson's correlation with the "
                                 "time; µs per call: regression over cells, "
                                 "all procedures at once",
                                 "<File system|<Call|per exec|r over execs|r "
                                 "over cells|µs per call|±|<Remark");
            }
            any = true;
            correlation_row(correlation, j,
                            figures->run->filesystems[i].label, out);
        }
    }
    if (any) {
        html_table_end(out);
        fold_end(out);
    }
}

/* --- cells ---------------------------------------------------------------- */

static void
failed_cells(const struct figures *figures, FILE *out)
{
    bool any = false;
    size_t i;

    for (i = 0; i < figures->run->cell_count; i++) {
        const struct run_cell *cell = &figures->run->cells[i];

        if (cell->state != CELL_FAILED)
            continue;
        if (!any) {
            h3(out, "Cells that failed");
            html_table_begin(out, NULL,
                             "<File system|<Method|repetition|<Why");
        }
        any = true;
        html_row_begin(out);
        html_row_head(out, figures->run->filesystems[cell->filesystem].label);
        html_cell(out, run_method_name(cell->method));
        html_number(out, "%u", cell->repetition + 1);
        html_cell(out, cell->error);
        html_row_end(out);
    }
    if (any)
        html_table_end(out);
}

static void
disagreements(const struct figures *figures, FILE *out)
{
    size_t i;

    if (figures->disagreement_count == 0)
        return;
    h3(out, "Where the wire and the kernel's mountstats differ");
    fputs("<ul>\n", out);
    for (i = 0; i < figures->disagreement_count; i++) {
        fputs("<li>", out);
        html_text(out, figures->disagreements[i]);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

void
html_run_tables(const struct figures *figures, FILE *out)
{
    time_table(figures, out);
    count_table(figures, out);
    errors_table(figures, out);
    if (any_reasons(figures)) {
        explain_table(figures, out);
        wait_table(figures, out);
        signature_table(figures, out);
    }
    if (figures->correlations != NULL)
        correlation_table(figures, out);
    failed_cells(figures, out);
    disagreements(figures, out);
}
