/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report_json_parts.h"

#include <math.h>

static json_t *
real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static void
set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *
summary_value(const struct stat_summary *summary)
{
    if (summary->n == 0)
        return json_null();
    return json_pack("{s:I, s:f, s:f, s:f, s:f}", "n", (json_int_t)summary->n,
                     "min", summary->min, "mean", summary->mean, "median",
                     summary->median, "max", summary->max);
}

static json_t *
sequence_value(const char *text, uint64_t execs, double rpcs,
               const struct stat_estimate *us)
{
    return json_pack("{s:s, s:I, s:f, s:o}", "sequence", text, "execs",
                     (json_int_t)execs, "rpcs", rpcs, "us",
                     report_json_estimate(us));
}

static json_t *
sequences_value(const struct signatures *all)
{
    json_t *object = json_object(), *rows = json_array();
    size_t i;

    for (i = 0; i < all->row_count; i++)
        json_array_append_new(
            rows, sequence_value(all->rows[i].text, all->rows[i].execs,
                                 all->rows[i].rpcs, &all->rows[i].us));
    set(object, "execs", integer(all->execs));
    set(object, "distinct", integer(all->distinct));
    set(object, "rows", rows);
    set(object, "others",
        all->others.execs == 0
            ? json_null()
            : sequence_value(all->others.text, all->others.execs,
                             all->others.rpcs, &all->others.us));
    set(object, "first_of_cell",
        sequence_value(all->first.text, all->first.execs, all->first.rpcs,
                       &all->first.us));
    set(object, "last_of_cell",
        sequence_value(all->last.text, all->last.execs, all->last.rpcs,
                       &all->last.us));
    return object;
}

static json_t *
waiting_value(const struct rpc_wait *wait)
{
    json_t *object = json_object(), *procedures = json_array();
    size_t i;

    for (i = 0; i < wait->procedure_count; i++) {
        const struct wait_procedure *one = &wait->procedures[i];

        json_array_append_new(
            procedures,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:f, s:o}", "name",
                      one->name, "calls", (json_int_t)one->calls, "blocking",
                      (json_int_t)one->blocking, "overlapped",
                      (json_int_t)one->overlapped, "unanswered",
                      (json_int_t)one->unanswered, "waited_us",
                      report_json_estimate(&one->wait), "overlapped_us",
                      one->overlapped_us, "latency_us",
                      summary_value(&one->latency)));
    }
    set(object, "wall_us", report_json_estimate(&wait->wall));
    set(object, "waited_us", report_json_estimate(&wait->waits));
    set(object, "own_us", report_json_estimate(&wait->own));
    set(object, "method_own_us", report_json_estimate(&wait->method_own));
    set(object, "overlapped_us", real(wait->overlapped));
    set(object, "round_trips", report_json_estimate(&wait->round_trips));
    set(object, "us_per_us_waited",
        report_json_estimate(&wait->per_us_waited));
    set(object, "procedures", procedures);
    return object;
}

static json_t *
explained_value(const struct rpc_wait *wait)
{
    json_t *object = json_object(), *parts = json_array();
    size_t i;

    for (i = 0; i < wait->part_count; i++)
        json_array_append_new(
            parts, json_pack("{s:s, s:f, s:f, s:o}", "name",
                             wait->parts[i].name, "calls", wait->parts[i].rpcs,
                             "latency_us", wait->parts[i].latency, "us",
                             report_json_estimate(
                                 &wait->parts[i].us.absolute)));
    set(object, "measured_us",
        report_json_estimate(&wait->measured.absolute));
    set(object, "waiting", parts);
    set(object, "client_work_us",
        wait->work_known ? real(wait->work_us) : json_null());
    set(object, "method_call_us",
        report_json_estimate(&wait->method_part.absolute));
    set(object, "explained_us", real(wait->explained));
    set(object, "rest_us", real(wait->rest));
    return object;
}

static json_t *
setattr_value(const struct setattr_account *account)
{
    static const struct {
        unsigned reason;
        const char *name;
    } reasons[] = {
        {SETATTR_COALESCED, "coalesced"},
        {SETATTR_OVERLAPPED, "overlapped"},
        {SETATTR_CHEAPER, "cheaper than NULL"},
        {SETATTR_REPLACES, "saves other RPCs"},
        {SETATTR_WAITED, "none of these"},
    };
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if ((account->reasons & reasons[i].reason) != 0)
            json_array_append_new(list, json_string(reasons[i].name));
    return json_pack("{s:o, s:f, s:o, s:b, s:f, s:f, s:f, s:f}", "reasons",
                     list, "overhead_us", account->overhead_us, "ping_us",
                     account->ping_us > 0 ? json_real(account->ping_us)
                                          : json_null(),
                     "below_ping", account->below_ping, "per_exec",
                     account->per_exec, "blocking_share",
                     account->blocking_share, "latency_us",
                     account->latency_us, "saved_us", account->saved_us);
}

static json_t *
atime_value(const struct group_figures *group)
{
    const struct atime_group *atime = group->atime;
    json_t *object = json_object();

    set(object, "verdict", json_string(atime_verdict_name(group->verdict)));
    set(object, "replies", integer(atime->observations));
    set(object, "execs", integer(atime->execs));
    set(object, "execs_set", integer(atime->set_execs));
    set(object, "execs_moved", integer(atime->moved_execs));
    set(object, "moved_by_setattr", integer(atime->by_setattr));
    set(object, "moved_by_read", integer(atime->by_read));
    set(object, "moved_by_other", integer(atime->by_other));
    set(object, "set_to_server_time", integer(atime->set_server));
    set(object, "set_to_client_time", integer(atime->set_client));
    set(object, "set_by_delegation", integer(atime->set_delegated));
    set(object, "client_time_exact", integer(atime->client_exact));
    set(object, "client_time_truncated", integer(atime->client_truncated));
    set(object, "client_time_replaced", integer(atime->client_replaced));
    set(object, "refused", integer(atime->refused));
    set(object, "refused_status",
        atime->refused > 0 ? json_string(atime->refused_status) : json_null());
    set(object, "moves_with_ctime", integer(atime->with_ctime));
    set(object, "moves_ctime_known", integer(atime->ctime_known));
    set(object, "moves_with_change", integer(atime->with_change));
    set(object, "moves_change_known", integer(atime->change_known));
    set(object, "resolution_ns",
        atime->resolution_ns > 0 ? json_integer(atime->resolution_ns)
                                 : json_null());
    set(object, "step_ns", atime->step_ns > 0 ? json_integer(atime->step_ns)
                                              : json_null());
    set(object, "execs_reread", integer(atime->reread_execs));
    set(object, "execs_reread_after_ctime", integer(atime->reread_after));
    set(object, "access_calls", integer(atime->access_calls));
    set(object, "access_redundant", integer(atime->access_redundant));
    return object;
}

void
report_json_group_reasons(json_t *object, const struct group_figures *group)
{
    const bool known = group->reasons_known;

    set(object, "sequences",
        known ? sequences_value(&group->signatures) : json_null());
    set(object, "waiting", known ? waiting_value(&group->wait) : json_null());
    set(object, "explained",
        group->wait.compared ? explained_value(&group->wait) : json_null());
    set(object, "setattr_cost",
        group->setattr.reasons != 0 ? setattr_value(&group->setattr)
                                    : json_null());
    set(object, "atime",
        group->atime != NULL ? atime_value(group) : json_null());
}

static json_t *
coefficient(const struct stat_correlation *correlation)
{
    return correlation->known ? real(correlation->r) : json_null();
}

static json_t *
term_value(const struct stat_regression *regression, size_t term)
{
    static const char *const states[] = {
        [STAT_TERM_ESTIMATED] = "estimated",
        [STAT_TERM_ABSENT] = "absent",
        [STAT_TERM_CONSTANT] = "constant",
        [STAT_TERM_TOGETHER] = "together",
    };
    const struct stat_term *one;

    if (!regression->known || term >= regression->terms)
        return json_null();
    one = &regression->term[term];
    return json_pack("{s:s, s:o, s:o}", "state", states[one->state], "us",
                     one->state == STAT_TERM_ESTIMATED
                         ? report_json_estimate(&one->slope)
                         : json_null(),
                     "group",
                     one->group == STAT_NO_GROUP ? json_null()
                                                 : integer(one->group));
}

static json_t *
regression_value(const struct stat_regression *regression,
                 const char *const *names)
{
    json_t *groups;
    size_t i, j;

    if (!regression->known)
        return json_null();
    groups = json_array();
    for (i = 0; i < regression->group_count; i++) {
        const struct stat_group *one = &regression->group[i];
        json_t *members = json_array();

        for (j = 0; j < regression->terms; j++)
            if (regression->term[j].group == i)
                json_array_append_new(members, json_string(names[j]));
        json_array_append_new(
            groups, json_pack("{s:o, s:s, s:o}", "members", members, "leader",
                              names[one->leader], "joint_us",
                              report_json_estimate(&one->joint)));
    }
    return json_pack("{s:I, s:o, s:o, s:o}", "rows",
                     (json_int_t)regression->rows, "intercept_us",
                     report_json_estimate(&regression->intercept), "r_squared",
                     regression->has_r2 ? real(regression->r2) : json_null(),
                     "together", groups);
}

static json_t *
work_value(const struct rpc_work *work)
{
    json_t *object = json_object();
    size_t i;

    for (i = 0; i < work->count; i++)
        set(object, work->names[i], term_value(&work->fit, i));
    return object;
}

json_t *
report_json_correlations(const struct figures *figures)
{
    json_t *list = json_array();
    size_t i, j;

    for (i = 0; i < figures->run->filesystem_count; i++) {
        const struct correlation *all = &figures->correlations[i];
        const struct run_filesystem *of = &figures->run->filesystems[i];
        const char *names[CORRELATION_TERMS];
        json_t *object, *terms;

        if (all->term_count == 0)
            continue;
        object = json_object();
        terms = json_array();
        for (j = 0; j < all->term_count; j++) {
            const struct correlation_term *term = &all->terms[j];

            names[j] = term->name;
            json_array_append_new(
                terms,
                json_pack("{s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                          "name", term->name, "per_exec", term->per_exec,
                          "pearson", coefficient(&term->pearson), "spearman",
                          coefficient(&term->spearman), "cell_pearson",
                          coefficient(&term->cell_pearson), "cell_spearman",
                          coefficient(&term->cell_spearman), "over_execs",
                          term_value(&all->execs, j), "over_cells",
                          term_value(&all->cells, j), "latency_us",
                          summary_value(&term->latency)));
        }
        set(object, "filesystem",
            of->label != NULL ? json_string(of->label) : json_null());
        set(object, "ping_us", ping_median_us(of) > 0
                                   ? json_real(ping_median_us(of))
                                   : json_null());
        set(object, "wire_null_us", figures->wire_null_us[i] > 0
                                        ? json_real(figures->wire_null_us[i])
                                        : json_null());
        set(object, "terms", terms);
        set(object, "execs", regression_value(&all->execs, names));
        set(object, "cells", regression_value(&all->cells, names));
        set(object, "client_work_us", work_value(&figures->works[i]));
        json_array_append_new(list, object);
    }
    return list;
}
