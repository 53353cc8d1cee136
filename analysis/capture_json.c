/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/capture_report.h"
#include "analysis/group_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#define INTEGER(value) json_integer((json_int_t)(value))

static json_t *
wire_text(const char *text)
{
    json_t *value = text != NULL ? json_string(text) : NULL;
    char safe[512];
    size_t i;

    if (value != NULL || text == NULL)
        return value != NULL ? value : json_null();
    for (i = 0; text[i] != '\0' && i < sizeof safe - 1; i++)
        safe[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    safe[i] = '\0';
    return json_string(safe);
}

static json_t *
number_or_name(const char *name, uint32_t number)
{
    char text[32];

    if (name != NULL)
        return json_string(name);
    snprintf(text, sizeof text, "%" PRIu32, number);
    return json_string(text);
}

static json_t *
errors_value(const struct error_counts *errors, uint32_t program,
             uint32_t version)
{
    json_t *object = json_object();
    unsigned i;

    for (i = 0; i < errors->rows; i++) {
        const uint32_t status = errors->row[i].status;
        const char *name = program == SUNRPC_MOUNT
                               ? mount_status_name(version, status)
                               : nfs_status_name(version, status);
        char text[32];

        snprintf(text, sizeof text, "%" PRIu32, status);
        json_object_set_new(object, name != NULL ? name : text,
                            INTEGER(errors->row[i].count));
    }
    if (errors->other_errors > 0)
        json_object_set_new(object, "others", INTEGER(errors->other_errors));
    return object;
}

static json_t *
latency_value(const struct histogram *latency)
{
    if (latency == NULL || latency->count == 0)
        return json_null();
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I}", "min", (json_int_t)latency->min,
        "mean", (json_int_t)(histogram_mean(latency) + 0.5), "median",
        (json_int_t)histogram_quantile(latency, 0.5), "p95",
        (json_int_t)histogram_quantile(latency, 0.95), "p99",
        (json_int_t)histogram_quantile(latency, 0.99), "max",
        (json_int_t)latency->max);
}

static json_t *
procedure_value(const struct procedure_counts *row)
{
    json_t *object = json_object();
    const char *program = rpc_program_name(row->program);
    const char *name =
        row->by_main
            ? nfs4_operation_name(row->number, row->callback)
            : rpc_procedure_name(row->program, row->version, row->number);

    json_object_set_new(object, "program", INTEGER(row->program));
    json_object_set_new(object, "program_name",
                        row->callback ? json_string("NFS_CB")
                        : program != NULL ? json_string(program)
                                          : json_null());
    json_object_set_new(object, "version", INTEGER(row->version));
    json_object_set_new(object, row->by_main ? "main_operation" : "number",
                        INTEGER(row->number));
    json_object_set_new(object, "name", number_or_name(name, row->number));
    json_object_set_new(object, "callback", json_boolean(row->callback));
    json_object_set_new(object, "calls", INTEGER(row->calls));
    json_object_set_new(object, "replies", INTEGER(row->replies));
    json_object_set_new(object, "retransmissions",
                        INTEGER(row->retransmissions));
    json_object_set_new(object, "duplicate_replies",
                        INTEGER(row->duplicate_replies));
    json_object_set_new(object, "unanswered", INTEGER(row->unanswered));
    json_object_set_new(object, "rpc_errors", INTEGER(row->rpc_errors));
    json_object_set_new(object, "call_bytes", INTEGER(row->call_bytes));
    json_object_set_new(object, "reply_bytes", INTEGER(row->reply_bytes));
    json_object_set_new(
        object, "errors",
        errors_value(&row->errors, row->program,
                     row->callback ? 4 : row->version));
    json_object_set_new(object, "latency_ns", latency_value(row->last));
    json_object_set_new(object, "latency_first_byte_ns",
                        latency_value(row->first));
    return object;
}

static json_t *
operation_value(const struct operation_counts *row)
{
    return json_pack(
        "{s:i, s:I, s:I, s:o, s:b, s:I, s:I, s:o}", "version", 4,
        "minor_version", (json_int_t)row->minor_version, "number",
        (json_int_t)row->number, "name",
        number_or_name(nfs4_operation_name(row->number, row->callback),
                       row->number), "callback", row->callback, "calls",
        (json_int_t)row->calls, "replies", (json_int_t)row->replies, "errors",
        errors_value(&row->errors, SUNRPC_NFS, 4));
}

static json_t *
setattr_value(const struct setattr_counts *row)
{
    static const char *const how[] = {
        [NFS_TIME_KEEP] = "none",
        [NFS_TIME_SERVER] = "server",
        [NFS_TIME_CLIENT] = "client",
    };

    return json_pack(
        "{s:I, s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:I, s:I}",
        "version", (json_int_t)row->version, "atime",
        how[row->what.atime_how], "mtime", how[row->what.mtime_how], "size",
        row->what.size, "mode", row->what.mode, "owner", row->what.owner,
        "group", row->what.group, "other", row->what.other, "delegated_times",
        row->what.delegated_times, "empty", row->what.empty, "calls",
        (json_int_t)row->calls, "errors", (json_int_t)row->errors);
}

static json_t *
access_value(const struct rpc_counts *counts, const struct access_counts *row)
{
    char requested[160], granted[160];

    return json_pack(
        "{s:s, s:o, s:I, s:o}", "requested",
        nfs_access_names(row->requested, requested, sizeof requested),
        "granted",
        row->answered ? json_string(nfs_access_names(row->granted, granted,
                                                     sizeof granted))
                      : json_null(), "calls", (json_int_t)row->calls,
        "redundant",
        rpc_counts_handles_known(counts) ? INTEGER(row->redundant)
                                         : json_null());
}

static json_t *
inputs_value(const struct capture_result *result)
{
    json_t *inputs = json_array();
    size_t i;

    for (i = 0; i < result->input_count; i++) {
        const struct capture_input *input = &result->inputs[i];

        json_array_append_new(
            inputs, json_pack("{s:o, s:I, s:I, s:b, s:o}", "path",
                              wire_text(input->path), "packets",
                              (json_int_t)input->packets, "bytes",
                              (json_int_t)input->bytes, "complete",
                              input->complete, "warning",
                              wire_text(input->warning)));
    }
    return inputs;
}

static json_t *
losses_value(const struct capture_result *result)
{
    struct named_loss losses[64];
    const size_t count = capture_losses(result, losses, 64);
    json_t *object = json_object();
    size_t i;

    for (i = 0; i < count; i++)
        json_object_set_new(object, losses[i].key, INTEGER(losses[i].count));
    return object;
}

static json_t *
markers_value(const struct rpc_counts *counts)
{
    json_t *markers = json_array();
    size_t n, i;
    const struct marker_seen *seen = rpc_counts_markers(counts, &n);

    for (i = 0; i < n; i++)
        json_array_append_new(markers,
                              json_pack("{s:o, s:I}", "text",
                                        wire_text(seen[i].text), "time_ns",
                                        (json_int_t)seen[i].when_ns));
    return markers;
}

int
capture_report_json(const struct capture_report *report, FILE *out)
{
    json_t *root = json_object(), *procedures = json_array(),
           *compounds = json_array(), *list;
    const struct capture_result *result = report->result;
    size_t n, i;
    const struct procedure_counts *const *rows =
        rpc_counts_procedures(report->counts, &n);
    const struct operation_counts *operations;
    const struct setattr_counts *setattrs;
    const struct access_counts *accesses;
    int status;

    json_object_set_new(root, "schema",
                        json_string("nfs-atime-test.capture/1"));
    json_object_set_new(root, "inputs", inputs_value(result));
    json_object_set_new(root, "packets", INTEGER(result->packets.packets));
    json_object_set_new(root, "limit_reached",
                        json_boolean(result->limit_reached));
    json_object_set_new(root, "first_ns",
                        result->packets.packets > 0 ? INTEGER(result->first_ns)
                                                    : json_null());
    json_object_set_new(root, "last_ns",
                        result->packets.packets > 0 ? INTEGER(result->last_ns)
                                                    : json_null());
    for (i = 0; i < n; i++)
        json_array_append_new(rows[i]->by_main ? compounds : procedures,
                              procedure_value(rows[i]));
    json_object_set_new(root, "procedures", procedures);
    json_object_set_new(root, "compounds", compounds);
    list = json_array();
    operations = rpc_counts_operations(report->counts, &n);
    for (i = 0; i < n; i++)
        json_array_append_new(list, operation_value(&operations[i]));
    json_object_set_new(root, "operations", list);
    list = json_array();
    setattrs = rpc_counts_setattrs(report->counts, &n);
    for (i = 0; i < n; i++)
        json_array_append_new(list, setattr_value(&setattrs[i]));
    json_object_set_new(root, "setattr", list);
    list = json_array();
    accesses = rpc_counts_accesses(report->counts, &n);
    for (i = 0; i < n; i++)
        json_array_append_new(list, access_value(report->counts,
                                                 &accesses[i]));
    json_object_set_new(root, "access", list);
    json_object_set_new(root, "markers", markers_value(report->counts));
    json_object_set_new(root, "unlisted",
                        INTEGER(rpc_counts_unlisted(report->counts)));
    if (report->groups != NULL)
        json_object_set_new(root, "groups",
                            group_report_json(report->groups, report->names));
    json_object_set_new(root, "losses", losses_value(result));
    status = json_dumpf(root, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(root);
    return status;
}
