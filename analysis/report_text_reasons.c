/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/escape.h"
#include "analysis/report_text_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_US 0.05    /* smaller parts are not named */
#define LEAST_CALLS 0.0005

static const char *
label_of(const struct figures *figures, const struct group_figures *group,
         char *label, size_t size)
{
    return escape_string(ESCAPE_TERMINAL,
                         figures->run->filesystems[group->filesystem].label,
                         label, size);
}

/* A file system's name once, its methods below one another. */
struct rows {
    size_t filesystem;
    bool any;
};

static void
begin_row(const struct figures *figures, const struct group_figures *group,
          struct rows *rows, FILE *out)
{
    const bool again = rows->any && rows->filesystem == group->filesystem;
    char label[64];

    fprintf(out, "%-9.9s %-11s",
            again ? "" : label_of(figures, group, label, sizeof label),
            run_method_name(group->method));
    rows->any = true;
    rows->filesystem = group->filesystem;
}

/* noexec has reasons only where it made RPCs. */
static bool
worth_a_row(const struct group_figures *group)
{
    return group->reasons_known && group->wait.execs > 0 &&
           (group->method != METHOD_NOEXEC || group->rpcs > 0);
}

static bool
any_worth(const struct figures *figures)
{
    size_t i;

    for (i = 0; i < figures->group_count; i++)
        if (worth_a_row(&figures->groups[i]))
            return true;
    return false;
}

static void
interval(FILE *out, const struct stat_estimate *estimate)
{
    char text[24] = "";

    if (estimate->has_half)
        snprintf(text, sizeof text, "+-%.1f", estimate->half_width);
    if (estimate->has_value)
        fprintf(out, "%11.1f %-8s", estimate->value, text);
    else
        fprintf(out, "%11s %-8s", "-", "");
}

/* --- sequences --------------------------------------------------------- */

static void
edge_row(const struct signature_edge *edge, const char *which, FILE *out)
{
    char same[48] = "";

    if (edge->execs == 0)
        return;
    fprintf(out, "%10s%-11s%9" PRIu64 "%9s%9.3f", "", which, edge->execs, "",
            edge->rpcs);
    interval(out, &edge->us);
    if (edge->same < edge->execs)
        snprintf(same, sizeof same, " (%" PRIu64 " of them)", edge->same);
    fprintf(out, "  %.48s%s\n", edge->text, same);
}

static void
sequence_rows(const struct figures *figures, const struct group_figures *group,
              struct rows *rows, FILE *out)
{
    const struct signatures *all = &group->signatures;
    size_t i;

    for (i = 0; i <= all->row_count; i++) {
        const struct signature_row *row =
            i < all->row_count ? &all->rows[i] : &all->others;

        if (row->execs == 0)
            continue;
        if (i == 0)
            begin_row(figures, group, rows, out);
        else
            fprintf(out, "%21s", "");
        fprintf(out, "%9" PRIu64 "%7.1f %%%9.3f", row->execs,
                100.0 * (double)row->execs / (double)all->execs, row->rpcs);
        interval(out, &row->us);
        fprintf(out, "  %.48s\n", row->text);
    }
    edge_row(&all->first, "first", out);
    edge_row(&all->last, "last", out);
}

static void
sequences(const struct figures *figures, FILE *out)
{
    struct rows rows = {0};
    size_t i;

    fprintf(out, "\nExecs by the sequence of their RPCs; first, last: of each "
            "cell, which are in the rows above them, too\n%-21s%9s%9s%9s%11s "
            "%-8s  %s\n", "", "execs", "share", "RPCs", "us", "", "sequence");
    for (i = 0; i < figures->group_count; i++)
        if (worth_a_row(&figures->groups[i]))
            sequence_rows(figures, &figures->groups[i], &rows, out);
}

/* --- waiting ----------------------------------------------------------- */

static int
by_wait(const void *left, const void *right)
{
    const double a = (*(const struct wait_procedure *const *)left)->wait.value;
    const double b = (*(const struct wait_procedure *const *)right)->wait.value;

    return a > b ? -1 : a < b;
}

/* As many names as the line has room for. */
static void
waiting_procedures(const struct rpc_wait *wait, FILE *out)
{
    const struct wait_procedure *sorted[WAIT_PROCEDURES];
    const size_t room = 43, for_others = 15;
    double others = 0;
    size_t i, used = 0;

    for (i = 0; i < wait->procedure_count; i++)
        sorted[i] = &wait->procedures[i];
    qsort(sorted, wait->procedure_count, sizeof(*sorted), by_wait);
    fputs("  ", out);
    for (i = 0; i < wait->procedure_count; i++) {
        const bool last = i + 1 == wait->procedure_count ||
                          sorted[i + 1]->wait.value < LEAST_US;
        char text[48];
        const size_t length = (size_t)snprintf(
            text, sizeof text, "%s%s %.1f", used > 0 ? ", " : "",
            sorted[i]->name, sorted[i]->wait.value);

        if (others > 0 || sorted[i]->wait.value < LEAST_US ||
            used + length > (last ? room : room - for_others)) {
            others += sorted[i]->wait.value;
            continue;
        }
        fputs(text, out);
        used += length;
    }
    if (others >= LEAST_US)
        fprintf(out, "%sothers %.1f", used > 0 ? ", " : "", others);
    fputc('\n', out);
}

/* Where a good part of a round trip passes on this machine before the call,
 * or after the reply, comes by the capture (a queue, a virtual link), waiting
 * is longer than the wire shows. */
static void
hidden_waiting(const struct figures *figures, FILE *out)
{
    const double share = 0.3, least_us = 50.0;
    size_t i;

    for (i = 0; i < figures->run->filesystem_count; i++) {
        const double ping = ping_median_us(&figures->run->filesystems[i]);
        const double wire = figures->wire_null_us[i];
        char text[256], label[64];

        if (wire <= 0 || ping - wire < least_us || ping - wire < share * ping)
            continue;
        snprintf(text, sizeof text,
                 "%s: a NULL call takes %.1f us at the program and %.1f us on "
                 "the wire: %.1f us of each round trip pass on this machine "
                 "outside the capture's sight and are counted as own time",
                 escape_string(ESCAPE_TERMINAL,
                               figures->run->filesystems[i].label, label,
                               sizeof label), ping, wire, ping - wire);
        report_text_wrapped(out, "note", text);
    }
}

static void
waiting(const struct figures *figures, FILE *out)
{
    struct rows rows = {0};
    size_t i;

    fprintf(out, "\nWaiting   us per exec; trips are the RPCs that an exec "
            "waited for, one after the other; overlap is not waited for\n"
            "%-21s%9s%9s%9s%9s%9s%8s  %s\n", "", "wall", "waited", "share",
            "own", "overlap", "trips", "waited for");
    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];
        const struct rpc_wait *wait = &group->wait;

        if (!worth_a_row(group))
            continue;
        begin_row(figures, group, &rows, out);
        fprintf(out, "%9.1f%9.1f%7.1f %%%9.1f%9.1f%8.3f",
                wait->wall.value, wait->waits.value,
                wait->wall.value > 0
                    ? 100.0 * wait->waits.value / wait->wall.value
                    : 0.0,
                wait->own.value, wait->overlapped, wait->round_trips.value);
        waiting_procedures(wait, out);
    }
    hidden_waiting(figures, out);
}

/* --- what explains the difference -------------------------------------- */

static void __attribute__((format(printf, 3, 4)))
add(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static void
explained_line(const struct group_figures *group, FILE *out)
{
    const struct rpc_wait *wait = &group->wait;
    const double measured = wait->measured.absolute.value;
    char text[1024] = "", head[16];
    size_t i, said = 0;
    double others = 0;

    for (i = 0; i < wait->part_count; i++) {
        const struct wait_part *part = &wait->parts[i];
        const double us = part->us.absolute.value;

        if (fabs(us) < LEAST_US) {
            others += us;
            continue;
        }
        add(text, sizeof text, "%s%s %+.1f", said++ > 0 ? ", " : "",
            part->name, us);
        if (fabs(part->rpcs) >= LEAST_CALLS)
            add(text, sizeof text, " (%+.3f x %.1f)", part->rpcs,
                part->latency);
    }
    if (wait->work_known && fabs(wait->work_us) >= LEAST_US)
        add(text, sizeof text, "%sclient's work for RPCs %+.1f",
            said++ > 0 ? ", " : "", wait->work_us);
    add(text, sizeof text, "%smethod's own call %+.1f, rest %+.1f",
        said > 0 ? ", " : "", wait->method_part.absolute.value,
        wait->rest + others);
    if (wait->measured.verdict == STAT_LESS ||
        wait->measured.verdict == STAT_MORE)
        add(text, sizeof text, " (%.1f %%)",
            100.0 * fabs((wait->rest + others) / measured));
    snprintf(head, sizeof head, "%+.1f", measured);
    fprintf(out, "%10s%-11s%9s = ", "", run_method_name(group->method), head);
    report_text_wrapped(out, NULL, text);
}

static void
explained(const struct figures *figures, FILE *out)
{
    size_t i, last = SIZE_MAX;

    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];
        char label[64];

        if (!worth_a_row(group) || !group->wait.compared ||
            group->method == METHOD_NOEXEC)
            continue;
        if (last == SIZE_MAX)
            fputs("\nExplained: us over none = waiting by procedure (calls x "
                  "us each), the client's own work for other RPCs\n"
                  "          during the exec (by regression over execs), the "
                  "method's own call while nothing is outstanding, the rest\n",
                  out);
        if (last != group->filesystem)
            fprintf(out, "%s\n", label_of(figures, group, label,
                                          sizeof label));
        last = group->filesystem;
        explained_line(group, out);
    }
}

/* --- correlation ------------------------------------------------------- */

static void
coefficient(FILE *out, const struct stat_correlation *correlation)
{
    if (correlation->known)
        fprintf(out, "%9.3f", correlation->r);
    else
        fprintf(out, "%9s", "-");
}

static void
slope_cell(FILE *out, const struct stat_regression *regression, size_t term)
{
    static const char *const states[] = {
        [STAT_TERM_ESTIMATED] = "",
        [STAT_TERM_ABSENT] = "never",
        [STAT_TERM_CONSTANT] = "constant",
        [STAT_TERM_TOGETHER] = "together",
    };
    const struct stat_term *one;

    if (!regression->known || term >= regression->terms) {
        fprintf(out, "%20s", "-");
        return;
    }
    one = &regression->term[term];
    if (one->state == STAT_TERM_ESTIMATED)
        interval(out, &one->slope);
    else
        fprintf(out, "%20s", states[one->state]);
}

static void
group_lines(const struct correlation *correlation,
            const struct stat_regression *regression, const char *over,
            FILE *out)
{
    char names[256], text[512];
    size_t i;

    for (i = 0; regression->known && i < regression->group_count; i++) {
        const struct stat_group *group = &regression->group[i];

        correlation_group_names(correlation, regression, i, names,
                                sizeof names);
        snprintf(text, sizeof text,
                 "over %s, %s cannot be told apart: they change together",
                 over, names);
        if (group->joint.has_value && group->leader < correlation->term_count)
            add(text, sizeof text, "; one %s with all that comes with it: "
                "%.1f us", correlation->terms[group->leader].name,
                group->joint.value);
        if (group->joint.has_value && group->joint.has_half)
            add(text, sizeof text, " (+-%.1f)", group->joint.half_width);
        fprintf(out, "%10s", "");
        report_text_wrapped(out, NULL, text);
    }
}

static void
correlation_of(const struct figures *figures, size_t filesystem, FILE *out)
{
    const struct correlation *all = &figures->correlations[filesystem];
    const struct run_filesystem *of = &figures->run->filesystems[filesystem];
    char label[64];
    size_t i;

    if (all->term_count == 0)
        return;
    fprintf(out, "%-9.9s per exec  Pearson Spearman  us per call: over %zu "
            "execs     over %zu cells   wire: mean   median   calls\n",
            escape_string(ESCAPE_TERMINAL, of->label, label, sizeof label),
            all->execs.rows, all->cells.rows);
    for (i = 0; i < all->term_count; i++) {
        const struct correlation_term *term = &all->terms[i];

        fprintf(out, " %-9.9s%8.3f", term->name, term->per_exec);
        coefficient(out, &term->pearson);
        coefficient(out, &term->spearman);
        fputs("     ", out);
        slope_cell(out, &all->execs, i);
        slope_cell(out, &all->cells, i);
        if (term->latency.n > 0)
            fprintf(out, "%12.1f%9.1f%8zu", term->latency.mean,
                    term->latency.median, term->latency.n);
        fputc('\n', out);
    }
    fprintf(out, " intercept%31s", "");
    if (all->execs.known)
        interval(out, &all->execs.intercept);
    else
        fprintf(out, "%20s", "-");
    if (all->cells.known)
        interval(out, &all->cells.intercept);
    else
        fprintf(out, "%20s", "-");
    if (figures->wire_null_us[filesystem] > 0)
        fprintf(out, "%12s%9.1f  NULL", "",
                figures->wire_null_us[filesystem]);
    fputc('\n', out);
    if (all->execs.known && all->execs.has_r2) {
        fprintf(out, " R squared%31s%11.4f", "", all->execs.r2);
        if (all->cells.known && all->cells.has_r2)
            fprintf(out, "%20.4f", all->cells.r2);
        fputc('\n', out);
    }
    group_lines(all, &all->execs, "execs", out);
    group_lines(all, &all->cells, "cells", out);
}

static void
correlations(const struct figures *figures, FILE *out)
{
    size_t i;

    fputs("\nTime against counts, all methods but noexec: what one call more "
          "costs an exec, with all that comes with it\n", out);
    for (i = 0; i < figures->run->filesystem_count; i++)
        correlation_of(figures, i, out);
}

/* --- the atime in the replies ------------------------------------------ */

static void
of_text(uint64_t some, uint64_t all, char *text, size_t size)
{
    if (all == 0)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%" PRIu64 "/%" PRIu64, some, all);
}

static void
resolution_text(const struct atime_group *group, char *text, size_t size)
{
    switch (group->resolution_ns) {
    case 0:
        snprintf(text, size, "-");
        return;
    case 1:
        snprintf(text, size, "ns");
        break;
    case 100:
        snprintf(text, size, "100 ns");
        break;
    case 1000:
        snprintf(text, size, "us");
        break;
    case 1000000:
        snprintf(text, size, "ms");
        break;
    default:
        snprintf(text, size, "s");
        break;
    }
    if (group->step_ns > 0)
        add(text, size, ", %.3g ms ticks", (double)group->step_ns * 1e-6);
}

static void
atime_row(const struct figures *figures, const struct group_figures *group,
          struct rows *rows, FILE *out)
{
    const struct atime_group *atime = group->atime;
    char set[48], moved[48], ctime[48], resolution[48];

    of_text(atime->set_execs, atime->execs, set, sizeof set);
    of_text(atime->moved_execs, atime->execs, moved, sizeof moved);
    if (atime->change_known > 0)
        of_text(atime->with_change, atime->change_known, ctime, sizeof ctime);
    else
        of_text(atime->with_ctime, atime->ctime_known, ctime, sizeof ctime);
    resolution_text(atime, resolution, sizeof resolution);
    begin_row(figures, group, rows, out);
    fprintf(out, "%11s%11s%9" PRIu64 "%7" PRIu64 "%7" PRIu64
            "%9s  %-14s  %s\n", atime->set_execs > 0 ? set : "-", moved,
            atime->by_setattr, atime->by_read, atime->by_other, ctime,
            resolution, atime_verdict_name(group->verdict));
    if (atime->refused > 0)
        fprintf(out, "%21srefused %" PRIu64 " times: %s\n", "", atime->refused,
                atime->refused_status);
    if (atime->set_client > 0)
        fprintf(out, "%21sto a time that the client chose: kept exactly %"
                PRIu64 ", cut off %" PRIu64 ", replaced %" PRIu64 " times\n",
                "", atime->client_exact, atime->client_truncated,
                atime->client_replaced);
}

static void
atimes(const struct figures *figures, FILE *out)
{
    struct rows rows = {0};
    size_t i;

    fprintf(out, "\nThe program's atime in the server's replies: execs that "
            "set it, execs that gave it another value, and by what\n%-21s"
            "%11s%11s%9s%7s%7s%9s  %-14s  %s\n", "", "set", "moved",
            "SETATTR", "READ", "other", "+ ctime", "resolution", "verdict");
    for (i = 0; i < figures->group_count; i++)
        if (worth_a_row(&figures->groups[i]) &&
            figures->groups[i].atime != NULL)
            atime_row(figures, &figures->groups[i], &rows, out);
}

void
report_text_reasons(const struct figures *figures, FILE *out)
{
    if (!any_worth(figures))
        return;
    sequences(figures, out);
    waiting(figures, out);
    explained(figures, out);
    correlations(figures, out);
    atimes(figures, out);
}
