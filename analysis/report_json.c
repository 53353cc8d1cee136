/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schema nfs-atime-test.report/1, docs/report.schema.json. What is not known
 * is null. */
#include "analysis/report.h"
#include "analysis/report_json_parts.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *
text_value(const char *text)
{
    json_t *value = text != NULL ? json_string(text) : NULL;

    return value != NULL ? value : json_null();
}

static json_t *
real_value(bool known, double value)
{
    return known && isfinite(value) ? json_real(value) : json_null();
}

json_t *
report_json_estimate(const struct stat_estimate *estimate)
{
    return json_pack("{s:o, s:o}", "value",
                     real_value(estimate->has_value, estimate->value),
                     "half_width",
                     real_value(estimate->has_half, estimate->half_width));
}

static json_t *
counts_value(const struct run_counts *counts)
{
    json_t *object = json_object();
    size_t i;

    for (i = 0; i < counts->length; i++)
        json_object_set_new(object, counts->items[i].name,
                            json_integer((json_int_t)counts->items[i].count));
    return object;
}

static json_t *
moved_value(const struct moved_cells *moved)
{
    if (moved->known == 0)
        return json_null();
    return json_pack("{s:i, s:i}", "cells", (int)moved->known, "moved",
                     (int)moved->moved);
}

static json_t *
group_value(const struct figures *figures, const struct group_figures *group)
{
    json_t *object = json_object(), *sample = json_array();
    const struct stat_difference *over = &group->over_none;
    size_t i;

    for (i = 0; i < group->cells; i++)
        json_array_append_new(sample, json_real(group->us_per_exec[i]));
    json_object_set_new(
        object, "filesystem",
        text_value(figures->run->filesystems[group->filesystem].label));
    json_object_set_new(object, "method",
                        json_string(run_method_name(group->method)));
    json_object_set_new(object, "cells", json_integer(group->cells));
    json_object_set_new(object, "execs", json_integer((json_int_t)group->execs));
    json_object_set_new(object, "us_per_exec", report_json_estimate(&group->mean));
    json_object_set_new(object, "us_per_exec_stddev",
                        real_value(group->sample.has_stddev,
                                   group->sample.stddev));
    json_object_set_new(object, "us_per_exec_by_repetition", sample);
    json_object_set_new(object, "over_none_us",
                        report_json_estimate(&over->absolute));
    json_object_set_new(object, "over_none_percent",
                        report_json_estimate(&over->percent));
    json_object_set_new(object, "over_none_verdict",
                        group->method == METHOD_NONE
                            ? json_null()
                            : json_string(stat_verdict_name(over->verdict)));
    json_object_set_new(object, "user_us",
                        real_value(group->cells > 0, group->user_us));
    json_object_set_new(object, "system_us",
                        real_value(group->cells > 0, group->system_us));
    json_object_set_new(object, "until_exec_us",
                        real_value(group->cells > 0, group->exec_us));
    json_object_set_new(object, "until_exit_us",
                        real_value(group->cells > 0, group->exit_us));
    json_object_set_new(object, "method_us",
                        real_value(group->cells > 0, group->method_us));
    json_object_set_new(object, "rpcs", json_integer((json_int_t)group->rpcs));
    json_object_set_new(object, "calls", counts_value(&group->calls));
    json_object_set_new(object, "operations",
                        counts_value(&group->operations));
    json_object_set_new(object, "nfs_errors", counts_value(&group->errors));
    json_object_set_new(object, "method_errors",
                        counts_value(&group->method_errors));
    json_object_set_new(object, "exec_errors",
                        counts_value(&group->exec_errors));
    json_object_set_new(object, "retransmissions",
                        json_integer((json_int_t)group->retransmissions));
    json_object_set_new(object, "unanswered",
                        json_integer((json_int_t)group->unanswered));
    json_object_set_new(object, "background",
                        json_integer((json_int_t)group->background));
    json_object_set_new(object, "read_bytes",
                        json_integer((json_int_t)group->read_bytes));
    json_object_set_new(object, "empty_setattrs",
                        json_integer((json_int_t)group->empty_setattrs));
    json_object_set_new(object, "inconclusive_cells",
                        json_integer(group->cells_lossy));
    json_object_set_new(object, "mountstats_compared",
                        json_integer(group->cells_compared));
    json_object_set_new(object, "mountstats_agree",
                        json_integer(group->cells_agree));
    json_object_set_new(object, "server_atime", moved_value(&group->server));
    json_object_set_new(object, "client_atime", moved_value(&group->client));
    json_object_set_new(object, "export_atime", moved_value(&group->exported));
    json_object_set_new(object, "server_ctime",
                        moved_value(&group->server_ctime));
    json_object_set_new(object, "server_change",
                        moved_value(&group->server_change));
    report_json_group_reasons(object, group);
    return object;
}

static json_t *
losses_value(const struct run_traffic *traffic)
{
    const struct packet_losses *packets = &traffic->packet_losses;
    const struct rpc_losses *rpc = &traffic->rpc_losses;
    const struct {
        const char *key;
        uint64_t count;
    } losses[] = {
        {"truncated_packets", packets->truncated_packets},
        {"capture_duplicates", packets->capture_duplicates},
        {"gap_bytes", packets->gap_bytes},
        {"malformed_records", packets->malformed_records},
        {"incomplete_datagrams", packets->incomplete_datagrams},
        {"tls_bytes", packets->tls_bytes},
        {"retransmissions", rpc->retransmissions},
        {"duplicate_replies", rpc->duplicate_replies},
        {"orphan_replies", rpc->orphan_replies},
        {"unanswered_calls", rpc->unanswered_calls},
        {"partly_decoded", rpc->partly_decoded},
        {"unattributed_compounds", rpc->unattributed_compounds},
        {"encrypted_calls", rpc->encrypted_calls},
    };
    json_t *object = json_object();
    size_t i;

    for (i = 0; i < sizeof losses / sizeof losses[0]; i++)
        json_object_set_new(object, losses[i].key,
                            json_integer((json_int_t)losses[i].count));
    return object;
}

static json_t *
filesystem_value(const struct run_filesystem *filesystem)
{
    json_t *ping = json_array();
    size_t i;

    for (i = 0; i < filesystem->ping_count; i++)
        json_array_append_new(ping, json_integer(filesystem->ping_ns[i]));
    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:b, s:o, s:o}",
        "label", text_value(filesystem->label), "kind",
        filesystem->kind == FILESYSTEM_NFS ? "nfs" : "local", "device",
        text_value(filesystem->device), "type", text_value(filesystem->type),
        "options", text_value(filesystem->options), "version",
        text_value(filesystem->version), "transport",
        text_value(filesystem->transport), "port", (int)filesystem->port,
        "security", text_value(filesystem->security), "wire_shows_all",
        filesystem->wire_shows_all, "export_note",
        text_value(filesystem->export_note), "ping_ns", ping);
}

/* The clock of a capture from elsewhere against the client's. */
static json_t *
capture_clock_value(const struct run_traffic *traffic)
{
    if (!traffic->clock_from_markers)
        return json_null();
    return json_pack("{s:o, s:f, s:f, s:I}", "ahead_ns",
                     traffic->clock_ahead_ns != RUN_UNKNOWN_NS
                         ? json_integer(traffic->clock_ahead_ns)
                         : json_null(),
                     "drift_ppm", traffic->clock_drift * 1e6, "residual_ns",
                     traffic->clock_residual_ns, "markers",
                     (json_int_t)traffic->markers_found);
}

int
report_json(const struct figures *figures, FILE *out)
{
    static const char *const states[] = {"running", "complete", "interrupted",
                                         "failed"};
    const struct run *run = figures->run;
    const struct run_traffic *traffic = figures->traffic;
    json_t *filesystems = json_array(), *groups = json_array(),
           *findings = json_array(), *differ = json_array(), *root;
    int result;
    size_t i;

    for (i = 0; i < run->filesystem_count; i++)
        json_array_append_new(filesystems,
                              filesystem_value(&run->filesystems[i]));
    for (i = 0; i < figures->group_count; i++)
        json_array_append_new(groups,
                              group_value(figures, &figures->groups[i]));
    for (i = 0; i < figures->finding_count; i++)
        json_array_append_new(findings, text_value(figures->findings[i]));
    for (i = 0; i < figures->disagreement_count; i++)
        json_array_append_new(differ, text_value(figures->disagreements[i]));
    root = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:i, s:i, s:b, s:f, s:o, s:o, "
        "s:o, s:o, s:o, s:i, s:i, s:o}",
        "schema", "nfs-atime-test.report/1", "run", text_value(run->id),
        "tool_version", text_value(run->tool_version), "kernel",
        text_value(run->kernel), "clock", text_value(run->clock), "state",
        states[run->state], "state_reason", text_value(run->state_reason),
        "cells_planned", (int)figures->cells_planned, "cells_done",
        (int)figures->cells_done, "counts_complete", figures->counts_complete,
        "confidence", figures->confidence, "filesystems", filesystems,
        "groups", groups, "findings", findings, "mountstats_differences",
        differ, "losses", losses_value(traffic), "background_calls",
        (int)traffic->background_calls, "own_calls", (int)traffic->own_calls,
        "correlation", report_json_correlations(figures));
    if (root == NULL)
        return -1;
    json_object_set_new(root, "capture_clock", capture_clock_value(traffic));
    result = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fputc('\n', out);
    json_decref(root);
    return result;
}
