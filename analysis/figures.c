/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures.h"

#include "analysis/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct group_figures *
figures_group(const struct figures *figures, size_t filesystem,
              enum run_method method)
{
    size_t i;

    for (i = 0; i < figures->group_count; i++)
        if (figures->groups[i].filesystem == filesystem &&
            figures->groups[i].method == method)
            return &figures->groups[i];
    return NULL;
}

double
group_per_exec(const struct group_figures *group, const char *name, bool calls)
{
    const struct run_counts *counts =
        calls ? &group->calls : &group->operations;

    return group->execs == 0 ? 0.0
                             : (double)run_counts_get(counts, name) /
                                   (double)group->execs;
}

static bool
append_line(char ***lines, size_t *count, const char *line)
{
    char **grown = realloc(*lines, (*count + 1) * sizeof(*grown));

    if (grown == NULL)
        return false;
    *lines = grown;
    grown[*count] = strdup(line);
    if (grown[*count] == NULL)
        return false;
    (*count)++;
    return true;
}

void
figures_add_finding(struct figures *figures, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    append_line(&figures->findings, &figures->finding_count, line);
}

static void
counts_merge(struct run_counts *into, const struct run_counts *from)
{
    size_t i;

    for (i = 0; i < from->length; i++)
        run_counts_add(into, from->items[i].name, from->items[i].count);
}

static void
note_moved(struct moved_cells *moved, int64_t before, int64_t after)
{
    if (before == RUN_UNKNOWN_NS || after == RUN_UNKNOWN_NS)
        return;
    moved->known++;
    moved->moved += before != after;
}

bool
operation_is_scaffolding(const char *name)
{
    static const char *const names[] = {
        "SEQUENCE", "PUTFH", "PUTROOTFH", "GETFH", "SAVEFH", "RESTOREFH",
    };
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool
is_listed(const char *name, const char *const *names, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

size_t
figures_columns(const struct figures *figures, const char **names, size_t most)
{
    static const char *const common[] = {"SETATTR", "ACCESS", "GETATTR",
                                         "READ",    "LOOKUP", "OPEN",
                                         "CLOSE"};
    const size_t always = 2;
    size_t count = 0, i, j;

    for (i = 0; i < sizeof common / sizeof common[0] && count < most; i++) {
        bool occurs = i < always;

        for (j = 0; j < figures->group_count && !occurs; j++)
            occurs = run_counts_get(&figures->groups[j].operations,
                                    common[i]) > 0;
        if (occurs)
            names[count++] = common[i];
    }
    for (i = 0; i < figures->group_count; i++) {
        const struct run_counts *counts = &figures->groups[i].operations;

        for (j = 0; j < counts->length && count < most; j++)
            if (counts->items[j].count > 0 &&
                !operation_is_scaffolding(counts->items[j].name) &&
                !is_listed(counts->items[j].name, names, count))
                names[count++] = counts->items[j].name;
    }
    return count;
}

double
group_others_per_exec(const struct group_figures *group,
                      const char *const *names, size_t count)
{
    uint64_t others = 0;
    size_t i;

    for (i = 0; i < group->operations.length; i++)
        if (!operation_is_scaffolding(group->operations.items[i].name) &&
            !is_listed(group->operations.items[i].name, names, count))
            others += group->operations.items[i].count;
    return group->execs == 0 ? 0.0 : (double)others / (double)group->execs;
}

static void
add_times(struct group_figures *group, const struct run_cell *cell)
{
    const size_t n = cell->exec_count;
    const double each = 1.0 / (double)n / 1000.0;
    double to_exec = 0, to_exit = 0, to_end = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        const struct run_exec *exec = &cell->execs[i];
        const int64_t known = exec->exec_ns != RUN_UNKNOWN_NS ? exec->exec_ns
                                                              : exec->start_ns;

        to_exec += (double)(known - exec->start_ns);
        to_exit += (double)(exec->exit_ns - known);
        to_end += (double)(exec->end_ns - exec->exit_ns);
    }
    group->exec_us += to_exec * each;
    group->exit_us += to_exit * each;
    group->method_us += to_end * each;
    group->us_per_exec[group->cells++] =
        (double)(cell->execs[n - 1].end_ns - cell->execs[0].start_ns) * each;
    if (cell->user_ns != RUN_UNKNOWN_NS)
        group->user_us += (double)cell->user_ns * each;
    if (cell->system_ns != RUN_UNKNOWN_NS)
        group->system_us += (double)cell->system_ns * each;
}

static void
add_counts(struct figures *figures, struct group_figures *group, size_t index)
{
    const struct run_cell *cell = &figures->run->cells[index];
    const struct cell_traffic *traffic = &figures->traffic->cells[index];
    const struct run_filesystem *filesystem =
        &figures->run->filesystems[cell->filesystem];
    char text[512], line[640];

    if (!figures->traffic->any_capture || !filesystem->wire_shows_all) {
        counts_merge(&group->calls, &cell->mountstats);
        counts_merge(&group->operations, &cell->mountstats);
        return;
    }
    counts_merge(&group->calls, &traffic->calls);
    counts_merge(&group->operations, &traffic->operations);
    counts_merge(&group->errors, &traffic->errors);
    group->rpcs += traffic->rpcs;
    group->retransmissions += traffic->retransmissions;
    group->background += traffic->background;
    group->read_bytes += traffic->read_bytes;
    group->unanswered += traffic->unanswered;
    group->empty_setattrs += traffic->empty_setattrs;
    group->cells_lossy += traffic->lossy;
    if (!cell->mountstats_known || cell->mountstats_reset)
        return;
    group->cells_compared++;
    if (mountstats_agree(figures->run, cell, traffic, text, sizeof text)) {
        group->cells_agree++;
        return;
    }
    snprintf(line, sizeof line, "%s %s, repetition %u: %s", filesystem->label,
             run_method_name(cell->method), cell->repetition + 1, text);
    append_line(&figures->disagreements, &figures->disagreement_count, line);
}

static void
add_cell(struct figures *figures, struct group_figures *group, size_t index)
{
    const struct run_cell *cell = &figures->run->cells[index];

    add_times(group, cell);
    group->execs += cell->exec_count;
    counts_merge(&group->method_errors, &cell->method_errors);
    counts_merge(&group->exec_errors, &cell->exec_errors);
    note_moved(&group->server, cell->server_before.atime_ns,
               cell->server_after.atime_ns);
    note_moved(&group->client, cell->client_before.atime_ns,
               cell->client_after.atime_ns);
    note_moved(&group->exported, cell->export_before.atime_ns,
               cell->export_after.atime_ns);
    note_moved(&group->server_ctime, cell->server_before.ctime_ns,
               cell->server_after.ctime_ns);
    note_moved(&group->server_mtime, cell->server_before.mtime_ns,
               cell->server_after.mtime_ns);
    if (cell->server_before.change_known && cell->server_after.change_known) {
        group->server_change.known++;
        group->server_change.moved +=
            cell->server_before.change != cell->server_after.change;
    }
    if (figures->run->filesystems[group->filesystem].kind == FILESYSTEM_NFS)
        add_counts(figures, group, index);
}

static int
compute_group(struct figures *figures, size_t filesystem,
              enum run_method method)
{
    const struct run *run = figures->run;
    struct group_figures *group = &figures->groups[figures->group_count];
    bool any = false;
    size_t i;

    memset(group, 0, sizeof *group);
    group->filesystem = filesystem;
    group->method = method;
    group->us_per_exec = calloc(run->cell_count + 1, sizeof(double));
    if (group->us_per_exec == NULL)
        return -1;
    for (i = 0; i < run->cell_count; i++) {
        if (run->cells[i].filesystem != filesystem ||
            run->cells[i].method != method)
            continue;
        any = true;
        if (cell_is_finished(&run->cells[i]))
            add_cell(figures, group, i);
    }
    if (!any) {
        free(group->us_per_exec);
        return 0;
    }
    if (group->cells > 0) {
        const double each = 1.0 / group->cells;

        group->exec_us *= each;
        group->exit_us *= each;
        group->method_us *= each;
        group->user_us *= each;
        group->system_us *= each;
    }
    group->sample = stat_summarise(group->us_per_exec, group->cells);
    group->mean = stat_mean(&group->sample, figures->confidence);
    figures->cells_compared += group->cells_compared;
    figures->cells_agree += group->cells_agree;
    figures->group_count++;
    return 0;
}

static void
compute_differences(struct figures *figures)
{
    size_t i;

    for (i = 0; i < figures->group_count; i++) {
        struct group_figures *group = &figures->groups[i];
        const struct group_figures *none =
            figures_group(figures, group->filesystem, METHOD_NONE);

        if (none != NULL && none != group)
            group->over_none = stat_welch(&none->sample, &group->sample,
                                          figures->confidence);
    }
}

/* --- reasons ---------------------------------------------------------------- */

static void
account(struct figures *figures, struct group_figures *group)
{
    const struct run_filesystem *filesystem =
        &figures->run->filesystems[group->filesystem];
    const struct atime_ends ends = {
        .server_known = group->server.known,
        .server_moved = group->server.moved,
        .client_known = group->client.known,
        .client_moved = group->client.moved,
        .method_failed = group->method_errors.length > 0,
    };

    group->atime = &figures->histories[group->filesystem].groups[group->method];
    group->verdict = atime_verdict(group->atime, &ends);
    if (group->method != METHOD_NOEXEC)
        setattr_account(&group->wait, ping_median_us(filesystem),
                        figures->wire_null_us[group->filesystem],
                        &group->setattr);
}

static int
compute_waiting(struct figures *figures, size_t filesystem)
{
    const struct rpc_wait *waits[METHOD_COUNT + 1] = {NULL};
    struct group_figures *none = NULL;
    size_t i, count = 0;
    int result = 0;

    for (i = 0; i < figures->group_count; i++) {
        struct group_figures *group = &figures->groups[i];

        if (group->filesystem != filesystem)
            continue;
        if (rpc_wait_compute(figures->run, figures->traffic, filesystem,
                             group->method, figures->confidence,
                             &group->wait) != 0 ||
            signatures_compute(figures->run, figures->traffic, filesystem,
                               group->method, figures->confidence,
                               &group->signatures) != 0)
            return -1;
        group->reasons_known = true;
        if (group->method == METHOD_NONE)
            none = group;
        if (group->method != METHOD_NOEXEC)
            waits[count++] = &group->wait;
    }
    if (rpc_work_compute(waits, figures->confidence,
                         &figures->works[filesystem]) != 0)
        return -1;
    for (i = 0; i < figures->group_count; i++) {
        struct group_figures *group = &figures->groups[i];

        if (group->filesystem != filesystem)
            continue;
        if (none != NULL && group != none)
            result |= rpc_wait_compare(&none->wait,
                                       &figures->works[filesystem],
                                       &group->wait, figures->confidence);
        account(figures, group);
    }
    return result;
}

static int
compute_reasons(struct figures *figures)
{
    const struct run *run = figures->run;
    size_t i;

    figures->correlations =
        calloc(run->filesystem_count + 1, sizeof(*figures->correlations));
    figures->histories =
        calloc(run->filesystem_count + 1, sizeof(*figures->histories));
    figures->works =
        calloc(run->filesystem_count + 1, sizeof(*figures->works));
    figures->wire_null_us =
        calloc(run->filesystem_count + 1, sizeof(*figures->wire_null_us));
    if (figures->wire_null_us == NULL || figures->works == NULL || figures->correlations == NULL || figures->histories == NULL)
        return -1;
    for (i = 0; i < run->filesystem_count; i++) {
        if (run->filesystems[i].kind != FILESYSTEM_NFS ||
            !run->filesystems[i].wire_shows_all ||
            !figures->traffic->any_capture)
            continue;
        figures->wire_null_us[i] =
            wire_null_calls(run, figures->traffic, i).median;
        if (correlation_compute(run, figures->traffic, i, figures->confidence,
                                &figures->correlations[i]) != 0 ||
            atime_history_compute(run, figures->traffic, i,
                                  &figures->histories[i]) != 0 ||
            compute_waiting(figures, i) != 0)
            return -1;
    }
    return 0;
}

int
figures_compute(const struct run *run, const struct run_traffic *traffic,
                double confidence, struct figures *figures)
{
    size_t i;
    unsigned method;

    memset(figures, 0, sizeof *figures);
    figures->run = run;
    figures->traffic = traffic;
    figures->confidence = confidence > 0 ? confidence : STAT_CONFIDENCE;
    figures->groups = calloc(run->filesystem_count * METHOD_COUNT + 1,
                             sizeof(*figures->groups));
    if (figures->groups == NULL)
        return -1;
    for (i = 0; i < run->cell_count; i++)
        figures->cells_done += cell_is_finished(&run->cells[i]);
    figures->cells_planned = (unsigned)run->cell_count;
    for (i = 0; i < run->filesystem_count; i++)
        for (method = 0; method < METHOD_COUNT; method++)
            if (compute_group(figures, i, (enum run_method)method) != 0)
                return -1;
    compute_differences(figures);
    if (compute_reasons(figures) != 0)
        return -1;
    figures->counts_complete = run_traffic_nothing_lost(run, traffic);
    figures->from_mountstats = !traffic->any_capture;
    findings_compute(figures);
    return 0;
}

void
figures_free(struct figures *figures)
{
    size_t i;

    for (i = 0; i < figures->group_count; i++) {
        struct group_figures *group = &figures->groups[i];

        free(group->us_per_exec);
        run_counts_release(&group->calls);
        run_counts_release(&group->operations);
        run_counts_release(&group->errors);
        run_counts_release(&group->method_errors);
        run_counts_release(&group->exec_errors);
        rpc_wait_free(&group->wait);
    }
    for (i = 0; figures->run != NULL && i < figures->run->filesystem_count;
         i++) {
        if (figures->correlations != NULL)
            correlation_free(&figures->correlations[i]);
        if (figures->works != NULL)
            rpc_work_free(&figures->works[i]);
        if (figures->histories != NULL)
            atime_history_free(&figures->histories[i]);
    }
    free(figures->correlations);
    free(figures->histories);
    free(figures->works);
    free(figures->wire_null_us);
    free(figures->groups);
    for (i = 0; i < figures->disagreement_count; i++)
        free(figures->disagreements[i]);
    free(figures->disagreements);
    for (i = 0; i < figures->finding_count; i++)
        free(figures->findings[i]);
    free(figures->findings);
    memset(figures, 0, sizeof *figures);
}
