/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * Each plain structure of a run has one table of fields (JSON key, kind,
 * offset); writing and reading walk the same table, so that the two cannot
 * drift apart. What a table cannot say (lists, references by label, the
 * columns of exec records) is written out below it.
 *
 * Reading trusts nothing: every value's type and range is looked at, and an
 * error names the place as a path such as cells[3].method. A key that is
 * absent leaves the field unknown unless the table says it is needed; a key
 * that is not known is passed over, so that later versions can add some.
 */
#include "analysis/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum field_kind {
    FIELD_STRING,   /* char *, null when NULL */
    FIELD_NS,       /* int64_t, null when RUN_UNKNOWN_NS */
    FIELD_INT64,    /* int64_t */
    FIELD_UINT64,   /* uint64_t, up to INT64_MAX in the file */
    FIELD_HEX64,    /* uint64_t as "0x...": may need all 64 bits */
    FIELD_UNSIGNED, /* unsigned */
    FIELD_BOOL,
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    bool needed;
};

#define FIELD(type, kind, member) {#member, kind, offsetof(type, member), false}
#define NEEDED(type, kind, member) {#member, kind, offsetof(type, member), true}
/* Any two times of a file can be subtracted without overflow. */
#define TIME_LOW (-(INT64_C(1) << 61))
#define TIME_HIGH (INT64_C(1) << 62)

/* Times a number of times: no overflow. */
#define OPERATIONS_MOST (UINT64_C(1) << 38)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct field run_fields[] = {
    NEEDED(struct run, FIELD_STRING, id),
    FIELD(struct run, FIELD_STRING, tool_version),
    FIELD(struct run, FIELD_STRING, kernel),
    FIELD(struct run, FIELD_STRING, hostname),
    FIELD(struct run, FIELD_STRING, clock),
    FIELD(struct run, FIELD_INT64, clock_resolution_ns),
    FIELD(struct run, FIELD_STRING, state_reason),
    FIELD(struct run, FIELD_STRING, bench),
    FIELD(struct run, FIELD_UINT64, bench_bytes),
    FIELD(struct run, FIELD_UINT64, seed),
    NEEDED(struct run, FIELD_UNSIGNED, execs),
    NEEDED(struct run, FIELD_UNSIGNED, repetitions),
    FIELD(struct run, FIELD_STRING, spawn),
    FIELD(struct run, FIELD_STRING, program),
    FIELD(struct run, FIELD_UINT64, program_bytes),
    FIELD(struct run, FIELD_STRING, as_user),
    FIELD(struct run, FIELD_INT64, warmup_execs),
    FIELD(struct run, FIELD_BOOL, realtime_stepped),
};

static const struct field filesystem_fields[] = {
    NEEDED(struct run_filesystem, FIELD_STRING, label),
    FIELD(struct run_filesystem, FIELD_STRING, mount_point),
    FIELD(struct run_filesystem, FIELD_STRING, device),
    FIELD(struct run_filesystem, FIELD_STRING, type),
    FIELD(struct run_filesystem, FIELD_STRING, options),
    FIELD(struct run_filesystem, FIELD_STRING, directory),
    FIELD(struct run_filesystem, FIELD_STRING, program_path),
    FIELD(struct run_filesystem, FIELD_STRING, server_address),
    FIELD(struct run_filesystem, FIELD_STRING, server_path),
    FIELD(struct run_filesystem, FIELD_STRING, version),
    FIELD(struct run_filesystem, FIELD_STRING, transport),
    FIELD(struct run_filesystem, FIELD_UNSIGNED, port),
    FIELD(struct run_filesystem, FIELD_UNSIGNED, nconnect),
    FIELD(struct run_filesystem, FIELD_STRING, security),
    FIELD(struct run_filesystem, FIELD_BOOL, same_host),
    FIELD(struct run_filesystem, FIELD_BOOL, wire_shows_all),
    FIELD(struct run_filesystem, FIELD_STRING, why_not),
    FIELD(struct run_filesystem, FIELD_STRING, export_note),
    FIELD(struct run_filesystem, FIELD_STRING, handle_hex),
    FIELD(struct run_filesystem, FIELD_STRING, capture),
    FIELD(struct run_filesystem, FIELD_STRING, interface),
    FIELD(struct run_filesystem, FIELD_NS, idle_start_realtime_ns),
    FIELD(struct run_filesystem, FIELD_NS, idle_end_realtime_ns),
};

static const struct field capture_fields[] = {
    NEEDED(struct run_capture, FIELD_STRING, path),
    FIELD(struct run_capture, FIELD_STRING, interface),
    FIELD(struct run_capture, FIELD_STRING, filter),
    FIELD(struct run_capture, FIELD_UNSIGNED, snaplen),
    FIELD(struct run_capture, FIELD_BOOL, stats_known),
    FIELD(struct run_capture, FIELD_UINT64, received),
    FIELD(struct run_capture, FIELD_UINT64, dropped),
    FIELD(struct run_capture, FIELD_UINT64, interface_dropped),
    FIELD(struct run_capture, FIELD_BOOL, complete),
    FIELD(struct run_capture, FIELD_STRING, warning),
};

static const struct field cell_fields[] = {
    NEEDED(struct run_cell, FIELD_UNSIGNED, repetition),
    FIELD(struct run_cell, FIELD_STRING, variant),
    FIELD(struct run_cell, FIELD_STRING, error),
    FIELD(struct run_cell, FIELD_NS, user_ns),
    FIELD(struct run_cell, FIELD_NS, system_ns),
    FIELD(struct run_cell, FIELD_UINT64, minor_faults),
    FIELD(struct run_cell, FIELD_UINT64, major_faults),
    FIELD(struct run_cell, FIELD_BOOL, mountstats_known),
    FIELD(struct run_cell, FIELD_BOOL, mountstats_reset),
};

static const struct field series_fields[] = {
    NEEDED(struct run_series, FIELD_STRING, name),
    NEEDED(struct run_series, FIELD_UINT64, operations),
};

static const struct field attr_fields[] = {
    FIELD(struct run_attr, FIELD_NS, atime_ns),
    FIELD(struct run_attr, FIELD_NS, mtime_ns),
    FIELD(struct run_attr, FIELD_NS, ctime_ns),
    FIELD(struct run_attr, FIELD_BOOL, change_known),
    FIELD(struct run_attr, FIELD_HEX64, change),
};

static const struct field clock_fields[] = {
    FIELD(struct run_clock_pair, FIELD_NS, realtime_ns),
    FIELD(struct run_clock_pair, FIELD_NS, monotonic_ns),
};

static const struct field marker_fields[] = {
    FIELD(struct run_marker, FIELD_STRING, nonce),
    FIELD(struct run_marker, FIELD_NS, sent_realtime_ns),
    FIELD(struct run_marker, FIELD_NS, sent_monotonic_ns),
    FIELD(struct run_marker, FIELD_NS, back_monotonic_ns),
    FIELD(struct run_marker, FIELD_BOOL, seen),
};

static const struct field drops_fields[] = {
    FIELD(struct run_drops, FIELD_BOOL, known),
    FIELD(struct run_drops, FIELD_UINT64, received),
    FIELD(struct run_drops, FIELD_UINT64, kernel),
    FIELD(struct run_drops, FIELD_UINT64, interface),
};

/* The structures inside a cell that have a table of their own. */
static const struct {
    const char *key;
    size_t offset;
    const struct field *fields;
    size_t field_count;
} cell_parts[] = {
#define PART(member, table)                                                    \
    {#member, offsetof(struct run_cell, member), table, COUNT_OF(table)}
    PART(clock_before, clock_fields),
    PART(clock_after, clock_fields),
    PART(open_marker, marker_fields),
    PART(close_marker, marker_fields),
    PART(server_before, attr_fields),
    PART(server_after, attr_fields),
    PART(client_before, attr_fields),
    PART(client_after, attr_fields),
    PART(export_before, attr_fields),
    PART(export_after, attr_fields),
    PART(drops, drops_fields),
#undef PART
};

static const struct {
    const char *key;
    size_t offset;
} cell_counts[] = {
    {"mountstats", offsetof(struct run_cell, mountstats)},
    {"method_errors", offsetof(struct run_cell, method_errors)},
    {"exec_errors", offsetof(struct run_cell, exec_errors)},
    {"mountstats_sent", offsetof(struct run_cell, mountstats_sent)},
    {"mountstats_received", offsetof(struct run_cell, mountstats_received)},
    {"observations", offsetof(struct run_cell, observations)},
};

/* The columns of a cell's exec records. */
static const struct {
    const char *key;
    enum field_kind kind; /* FIELD_NS, or FIELD_INT64 for an int */
    size_t offset;
} exec_columns[] = {
    {"start_ns", FIELD_NS, offsetof(struct run_exec, start_ns)},
    {"exec_ns", FIELD_NS, offsetof(struct run_exec, exec_ns)},
    {"exit_ns", FIELD_NS, offsetof(struct run_exec, exit_ns)},
    {"end_ns", FIELD_NS, offsetof(struct run_exec, end_ns)},
    {"exec_errno", FIELD_INT64, offsetof(struct run_exec, exec_errno)},
    {"wait_status", FIELD_INT64, offsetof(struct run_exec, wait_status)},
    {"method_errno", FIELD_INT64, offsetof(struct run_exec, method_errno)},
};

static const char *const state_names[] = {
    [RUN_RUNNING] = "running",
    [RUN_COMPLETE] = "complete",
    [RUN_INTERRUPTED] = "interrupted",
    [RUN_FAILED] = "failed",
};

static const char *const cell_state_names[] = {
    [CELL_DONE] = "done",
    [CELL_INTERRUPTED] = "interrupted",
    [CELL_FAILED] = "failed",
    [CELL_PENDING] = "pending",
};

static const char *const kind_names[] = {
    [FILESYSTEM_LOCAL] = "local",
    [FILESYSTEM_NFS] = "nfs",
};

static const char *const method_names[] = {
    [METHOD_NOEXEC] = "noexec",
    [METHOD_NONE] = "none",
    [METHOD_SETATTR] = "setattr",
    [METHOD_READ] = "read",
    [METHOD_OPEN_READ] = "open-read",
    [METHOD_DIRECT_READ] = "direct-read",
};
_Static_assert(COUNT_OF(method_names) == METHOD_COUNT, "a name per method");

const char *
run_method_name(enum run_method method)
{
    return method < METHOD_COUNT ? method_names[method] : "?";
}

bool
run_has_nfs(const struct run *run)
{
    size_t i;

    for (i = 0; i < run->filesystem_count; i++)
        if (run->filesystems[i].kind == FILESYSTEM_NFS)
            return true;
    return false;
}

enum run_method
run_method_by_name(const char *name)
{
    unsigned i;

    for (i = 0; i < METHOD_COUNT; i++)
        if (strcmp(name, method_names[i]) == 0)
            return (enum run_method)i;
    return METHOD_COUNT;
}

void
run_counts_add(struct run_counts *counts, const char *name, uint64_t count)
{
    struct run_count *items;
    size_t i;

    for (i = 0; i < counts->length; i++) {
        if (strcmp(counts->items[i].name, name) == 0) {
            counts->items[i].count += count;
            return;
        }
    }
    items = realloc(counts->items, (counts->length + 1) * sizeof(*items));
    if (items == NULL)
        return;
    counts->items = items;
    items[counts->length].name = strdup(name);
    items[counts->length].count = count;
    if (items[counts->length].name != NULL)
        counts->length++;
}

struct run_series *
run_cell_add_series(struct run_cell *cell, const char *name,
                    uint64_t operations)
{
    struct run_series *series = realloc(
        cell->series, (cell->series_count + 1) * sizeof(*series));

    if (series == NULL)
        return NULL;
    cell->series = series;
    series += cell->series_count;
    memset(series, 0, sizeof *series);
    series->name = strdup(name);
    series->operations = operations;
    if (series->name == NULL)
        return NULL;
    cell->series_count++;
    return series;
}

int
run_series_add(struct run_series *series, int64_t ns)
{
    int64_t *grown = realloc(series->ns, (series->length + 1) * sizeof(*grown));

    if (grown == NULL)
        return -1;
    series->ns = grown;
    grown[series->length++] = ns;
    return 0;
}

/* --- writing ------------------------------------------------------------- */

/* Text from the system may not be UTF-8: bytes that are not are shown as
 * '?', since JSON has no place for them. */
static json_t *
text_to_json(const char *text)
{
    json_t *value;
    char *clean, *c;

    if (text == NULL)
        return json_null();
    value = json_string(text);
    if (value != NULL)
        return value;
    clean = strdup(text);
    if (clean == NULL)
        return json_null();
    for (c = clean; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = json_string(clean);
    free(clean);
    return value;
}

static json_t *
ns_to_json(int64_t ns)
{
    return ns == RUN_UNKNOWN_NS ? json_null() : json_integer(ns);
}

static json_t *
field_to_json(const struct field *field, const void *base)
{
    const char *at = (const char *)base + field->offset;
    char hex[32];

    switch (field->kind) {
    case FIELD_STRING:
        return text_to_json(*(char *const *)(const void *)at);
    case FIELD_NS:
        return ns_to_json(*(const int64_t *)(const void *)at);
    case FIELD_INT64:
        return json_integer(*(const int64_t *)(const void *)at);
    case FIELD_UINT64:
        return json_integer((json_int_t)(*(const uint64_t *)(const void *)at &
                                         INT64_MAX));
    case FIELD_HEX64:
        snprintf(hex, sizeof hex, "0x%" PRIx64,
                 *(const uint64_t *)(const void *)at);
        return json_string(hex);
    case FIELD_UNSIGNED:
        return json_integer(*(const unsigned *)(const void *)at);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)(const void *)at);
    }
    return json_null();
}

static json_t *
struct_to_json(const struct field *fields, size_t count, const void *base)
{
    json_t *object = json_object();
    size_t i;

    for (i = 0; i < count; i++)
        json_object_set_new(object, fields[i].key,
                            field_to_json(&fields[i], base));
    return object;
}

static json_t *
counts_to_json(const struct run_count *items, size_t length)
{
    json_t *object = json_object();
    size_t i;

    for (i = 0; i < length; i++)
        json_object_set_new(object, items[i].name,
                            json_integer((json_int_t)items[i].count));
    return object;
}

static json_t *
execs_to_json(const struct run_cell *cell)
{
    json_t *object = json_object();
    size_t column, i;

    for (column = 0; column < COUNT_OF(exec_columns); column++) {
        json_t *array = json_array();

        for (i = 0; i < cell->exec_count; i++) {
            const char *at = (const char *)&cell->execs[i] +
                             exec_columns[column].offset;

            if (exec_columns[column].kind == FIELD_NS)
                json_array_append_new(
                    array, ns_to_json(*(const int64_t *)(const void *)at));
            else
                json_array_append_new(
                    array, json_integer(*(const int *)(const void *)at));
        }
        json_object_set_new(object, exec_columns[column].key, array);
    }
    return object;
}

static json_t *
series_to_json(const struct run_cell *cell)
{
    json_t *list = json_array();
    size_t i, j;

    for (i = 0; i < cell->series_count; i++) {
        const struct run_series *series = &cell->series[i];
        json_t *object = struct_to_json(series_fields, COUNT_OF(series_fields),
                                        series);
        json_t *ns = json_array();

        for (j = 0; j < series->length; j++)
            json_array_append_new(ns, json_integer(series->ns[j]));
        json_object_set_new(object, "ns", ns);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *
cell_to_json(const struct run *run, const struct run_cell *cell)
{
    json_t *object = struct_to_json(cell_fields, COUNT_OF(cell_fields), cell);
    size_t i;

    json_object_set_new(object, "filesystem",
                        text_to_json(run->filesystems[cell->filesystem].label));
    json_object_set_new(object, "method",
                        json_string(run_method_name(cell->method)));
    json_object_set_new(object, "state",
                        json_string(cell_state_names[cell->state]));
    for (i = 0; i < COUNT_OF(cell_parts); i++)
        json_object_set_new(
            object, cell_parts[i].key,
            struct_to_json(cell_parts[i].fields, cell_parts[i].field_count,
                           (const char *)cell + cell_parts[i].offset));
    for (i = 0; i < COUNT_OF(cell_counts); i++) {
        const struct run_counts *counts =
            (const void *)((const char *)cell + cell_counts[i].offset);

        json_object_set_new(object, cell_counts[i].key,
                            counts_to_json(counts->items, counts->length));
    }
    json_object_set_new(object, "execs", execs_to_json(cell));
    if (cell->series_count > 0)
        json_object_set_new(object, "series", series_to_json(cell));
    return object;
}

static json_t *
filesystem_to_json(const struct run_filesystem *filesystem)
{
    json_t *object = struct_to_json(filesystem_fields,
                                    COUNT_OF(filesystem_fields), filesystem);
    json_t *ping = json_array(), *own = json_array();
    size_t i;

    json_object_set_new(object, "kind",
                        json_string(kind_names[filesystem->kind]));
    for (i = 0; i < filesystem->ping_count; i++)
        json_array_append_new(ping, json_integer(filesystem->ping_ns[i]));
    json_object_set_new(object, "ping_ns", ping);
    for (i = 0; i < filesystem->own_port_count; i++)
        json_array_append_new(own,
                              text_to_json(filesystem->own_ports[i].name));
    json_object_set_new(object, "own_ports", own);
    return object;
}

static json_t *
run_to_json(const struct run *run)
{
    json_t *object = json_object();
    json_t *list;
    size_t i;

    json_object_set_new(object, "schema", json_string(RUN_SCHEMA));
    json_object_set_new(object, "state", json_string(state_names[run->state]));
    list = struct_to_json(run_fields, COUNT_OF(run_fields), run);
    json_object_update(object, list);
    json_decref(list);

    list = json_array();
    for (i = 0; i < run->filesystem_count; i++)
        json_array_append_new(list, filesystem_to_json(&run->filesystems[i]));
    json_object_set_new(object, "filesystems", list);

    list = json_array();
    for (i = 0; i < run->capture_count; i++)
        json_array_append_new(list, struct_to_json(capture_fields,
                                                   COUNT_OF(capture_fields),
                                                   &run->captures[i]));
    json_object_set_new(object, "captures", list);

    list = json_array();
    for (i = 0; i < run->warning_count; i++)
        json_array_append_new(list, text_to_json(run->warnings[i]));
    json_object_set_new(object, "warnings", list);

    list = json_array();
    for (i = 0; i < run->cell_count; i++)
        json_array_append_new(list, cell_to_json(run, &run->cells[i]));
    json_object_set_new(object, "cells", list);
    return object;
}

static int __attribute__((format(printf, 3, 4)))
fail(char *error, size_t error_size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error, error_size, format, arguments);
    va_end(arguments);
    return -1;
}

/* Writes all of it to a new file and makes it durable. */
static int
write_json_file(json_t *root, const char *path)
{
    FILE *file = fopen(path, "we");
    int saved;

    if (file == NULL)
        return -1;
    if (json_dumpf(root, file, JSON_COMPACT) == 0 &&
        fputc('\n', file) != EOF && fflush(file) == 0 &&
        fsync(fileno(file)) == 0) {
        return fclose(file);
    }
    saved = errno;
    fclose(file);
    errno = saved;
    return -1;
}

int
run_write(const struct run *run, const char *directory, char *error,
          size_t error_size)
{
    char path[4096], temporary[4104];
    json_t *root;
    int result;

    snprintf(path, sizeof path, "%s/run.json", directory);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    root = run_to_json(run);
    errno = ENOMEM;
    result = root == NULL ? -1 : write_json_file(root, temporary);
    if (result == 0)
        result = rename(temporary, path);
    if (result != 0) {
        fail(error, error_size,
             "%s: cannot be written: %s; make room or choose another place "
             "with -o", path, strerror(errno));
        unlink(temporary);
    }
    json_decref(root);
    return result == 0 ? 0 : -1;
}

/* --- reading ------------------------------------------------------------- */

struct reader {
    const char *name; /* of the file */
    char *error;
    size_t error_size;
};

static int
wrong(const struct reader *reader, const char *place, const char *key,
      const char *what)
{
    return fail(reader->error, reader->error_size,
                "%s: %s%s%s: %s; the file is damaged or not a run of this "
                "program", reader->name, place, *place != '\0' ? "." : "", key,
                what);
}

static int
integer_in(const struct reader *reader, const char *place, const char *key,
           const json_t *value, json_int_t low, json_int_t high,
           json_int_t *out)
{
    *out = 0;
    if (!json_is_integer(value))
        return wrong(reader, place, key, "not an integer");
    *out = json_integer_value(value);
    if (*out < low || *out > high)
        return wrong(reader, place, key, "out of range");
    return 0;
}

static int
field_from_json(const struct reader *reader, const char *place,
                const struct field *field, const json_t *value, void *base)
{
    char *at = (char *)base + field->offset;
    json_int_t number;
    char *end;

    if (value == NULL || json_is_null(value)) {
        if (field->needed)
            return wrong(reader, place, field->key, "missing");
        if (field->kind == FIELD_NS)
            *(int64_t *)(void *)at = RUN_UNKNOWN_NS;
        return 0;
    }
    switch (field->kind) {
    case FIELD_STRING:
        if (!json_is_string(value))
            return wrong(reader, place, field->key, "not a string");
        *(char **)(void *)at = strdup(json_string_value(value));
        return 0;
    case FIELD_NS:
    case FIELD_INT64:
        if (integer_in(reader, place, field->key, value, TIME_LOW, TIME_HIGH,
                       &number) != 0)
            return -1;
        *(int64_t *)(void *)at = number;
        return 0;
    case FIELD_UINT64:
        if (integer_in(reader, place, field->key, value, 0, INT64_MAX,
                       &number) != 0)
            return -1;
        *(uint64_t *)(void *)at = (uint64_t)number;
        return 0;
    case FIELD_HEX64:
        if (!json_is_string(value) || *json_string_value(value) == '\0')
            return wrong(reader, place, field->key, "not a number in a string");
        errno = 0;
        *(uint64_t *)(void *)at = strtoull(json_string_value(value), &end, 16);
        if (*end != '\0' || errno != 0)
            return wrong(reader, place, field->key, "not a hexadecimal number");
        return 0;
    case FIELD_UNSIGNED:
        if (integer_in(reader, place, field->key, value, 0, UINT32_MAX,
                       &number) != 0)
            return -1;
        *(unsigned *)(void *)at = (unsigned)number;
        return 0;
    case FIELD_BOOL:
        if (!json_is_boolean(value))
            return wrong(reader, place, field->key, "neither true nor false");
        *(bool *)(void *)at = json_is_true(value);
        return 0;
    }
    return 0;
}

static int
struct_from_json(const struct reader *reader, const char *place,
                 const struct field *fields, size_t count, const json_t *object,
                 void *base)
{
    size_t i;

    if (object != NULL && !json_is_object(object))
        return wrong(reader, place, "", "not an object");
    for (i = 0; i < count; i++)
        if (field_from_json(reader, place, &fields[i],
                            json_object_get(object, fields[i].key),
                            base) != 0)
            return -1;
    return 0;
}

static int
name_from_json(const struct reader *reader, const char *place, const char *key,
               const json_t *object, const char *const *names, size_t count,
               unsigned *out)
{
    const char *text = json_string_value(json_object_get(object, key));
    unsigned i;

    *out = 0;
    for (i = 0; text != NULL && i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return 0;
        }
    }
    return wrong(reader, place, key,
                 text == NULL ? "missing" : "a name that is not known");
}

static int
counts_from_json(const struct reader *reader, const char *place,
                 const char *key, json_t *object, struct run_counts *counts)
{
    const char *name;
    json_t *value;

    if (object == NULL || json_is_null(object))
        return 0;
    if (!json_is_object(object))
        return wrong(reader, place, key, "not an object");
    counts->items = calloc(json_object_size(object) + 1,
                           sizeof(*counts->items));
    if (counts->items == NULL)
        return wrong(reader, place, key, "out of memory");
    json_object_foreach(object, name, value) {
        json_int_t number;

        if (integer_in(reader, place, name, value, 0, INT64_MAX, &number) != 0)
            return -1;
        counts->items[counts->length].name = strdup(name);
        counts->items[counts->length++].count = (uint64_t)number;
    }
    return 0;
}

static int
execs_from_json(const struct reader *reader, const char *place,
                const json_t *object, struct run_cell *cell)
{
    const size_t n = json_array_size(json_object_get(object, "start_ns"));
    size_t column, i;

    if (object == NULL || json_is_null(object))
        return 0;
    cell->execs = calloc(n + 1, sizeof(*cell->execs));
    if (cell->execs == NULL)
        return wrong(reader, place, "execs", "out of memory");
    for (column = 0; column < COUNT_OF(exec_columns); column++) {
        const char *key = exec_columns[column].key;
        const json_t *array = json_object_get(object, key);

        if (json_array_size(array) != n)
            return wrong(reader, place, key,
                         "not as long as the other columns of execs");
        for (i = 0; i < n; i++) {
            char *at = (char *)&cell->execs[i] + exec_columns[column].offset;
            const json_t *value = json_array_get(array, i);
            const bool ns = exec_columns[column].kind == FIELD_NS;
            json_int_t number;

            if (ns && json_is_null(value)) {
                *(int64_t *)(void *)at = RUN_UNKNOWN_NS;
                continue;
            }
            if (integer_in(reader, place, key, value, ns ? 0 : INT32_MIN,
                           ns ? TIME_HIGH : INT32_MAX, &number) != 0)
                return -1;
            if (ns)
                *(int64_t *)(void *)at = number;
            else
                *(int *)(void *)at = (int)number;
        }
    }
    cell->exec_count = n;
    return 0;
}

static int
series_from_json(const struct reader *reader, const char *cell_place,
                 const json_t *list, struct run_cell *cell)
{
    char place[96];
    size_t i, j;

    if (list == NULL || json_is_null(list))
        return 0;
    if (!json_is_array(list))
        return wrong(reader, cell_place, "series", "not a list");
    cell->series = calloc(json_array_size(list) + 1, sizeof(*cell->series));
    if (cell->series == NULL)
        return wrong(reader, cell_place, "series", "out of memory");
    for (i = 0; i < json_array_size(list); i++) {
        struct run_series *series = &cell->series[i];
        const json_t *object = json_array_get(list, i);
        const json_t *ns = json_object_get(object, "ns");

        snprintf(place, sizeof place, "%s.series[%zu]", cell_place, i);
        cell->series_count = i + 1;
        if (struct_from_json(reader, place, series_fields,
                             COUNT_OF(series_fields), object, series) != 0)
            return -1;
        if (series->operations == 0 || series->operations > OPERATIONS_MOST)
            return wrong(reader, place, "operations", "out of range");
        if (!json_is_array(ns) || json_array_size(ns) == 0)
            return wrong(reader, place, "ns", "not a list of times");
        series->ns = calloc(json_array_size(ns), sizeof(*series->ns));
        if (series->ns == NULL)
            return wrong(reader, place, "ns", "out of memory");
        for (j = 0; j < json_array_size(ns); j++) {
            json_int_t number;

            if (integer_in(reader, place, "ns", json_array_get(ns, j), 0,
                           TIME_HIGH, &number) != 0)
                return -1;
            series->ns[series->length++] = number;
        }
    }
    return 0;
}

static int
cell_from_json(const struct reader *reader, const char *place,
               const json_t *object, const struct run *run,
               struct run_cell *cell)
{
    const char *label = json_string_value(json_object_get(object,
                                                          "filesystem"));
    unsigned number, i;

    if (struct_from_json(reader, place, cell_fields, COUNT_OF(cell_fields),
                         object, cell) != 0)
        return -1;
    for (i = 0; i < run->filesystem_count; i++)
        if (label != NULL && strcmp(label, run->filesystems[i].label) == 0)
            break;
    if (i == run->filesystem_count)
        return wrong(reader, place, "filesystem",
                     "not the label of one of the file systems");
    cell->filesystem = i;
    if (name_from_json(reader, place, "method", object, method_names,
                       METHOD_COUNT, &number) != 0)
        return -1;
    cell->method = (enum run_method)number;
    if (name_from_json(reader, place, "state", object, cell_state_names,
                       COUNT_OF(cell_state_names), &number) != 0)
        return -1;
    cell->state = (enum cell_state)number;
    for (i = 0; i < COUNT_OF(cell_parts); i++)
        if (struct_from_json(reader, place, cell_parts[i].fields,
                             cell_parts[i].field_count,
                             json_object_get(object, cell_parts[i].key),
                             (char *)cell + cell_parts[i].offset) != 0)
            return -1;
    for (i = 0; i < COUNT_OF(cell_counts); i++)
        if (counts_from_json(reader, place, cell_counts[i].key,
                             json_object_get(object, cell_counts[i].key),
                             (void *)((char *)cell + cell_counts[i].offset))
            != 0)
            return -1;
    if (series_from_json(reader, place, json_object_get(object, "series"),
                         cell) != 0)
        return -1;
    return execs_from_json(reader, place, json_object_get(object, "execs"),
                           cell);
}

static int
filesystem_from_json(const struct reader *reader, const char *place,
                     const json_t *object, struct run_filesystem *filesystem)
{
    const json_t *ping = json_object_get(object, "ping_ns");
    const json_t *own = json_object_get(object, "own_ports");
    unsigned kind;
    size_t i;

    if (struct_from_json(reader, place, filesystem_fields,
                         COUNT_OF(filesystem_fields), object, filesystem) != 0)
        return -1;
    if (name_from_json(reader, place, "kind", object, kind_names,
                       COUNT_OF(kind_names), &kind) != 0)
        return -1;
    filesystem->kind = (enum filesystem_kind)kind;
    filesystem->ping_ns = calloc(json_array_size(ping) + 1, sizeof(int64_t));
    filesystem->own_ports = calloc(json_array_size(own) + 1,
                                   sizeof(*filesystem->own_ports));
    if (filesystem->ping_ns == NULL || filesystem->own_ports == NULL)
        return wrong(reader, place, "", "out of memory");
    for (i = 0; i < json_array_size(ping); i++) {
        json_int_t number;

        if (integer_in(reader, place, "ping_ns", json_array_get(ping, i), 0,
                       INT64_MAX, &number) != 0)
            return -1;
        filesystem->ping_ns[filesystem->ping_count++] = number;
    }
    for (i = 0; i < json_array_size(own); i++) {
        const char *text = json_string_value(json_array_get(own, i));

        if (text == NULL)
            return wrong(reader, place, "own_ports", "not a string");
        filesystem->own_ports[filesystem->own_port_count++].name =
            strdup(text);
    }
    return 0;
}

/* One of the run's lists: allocates zeroed elements before reading them. */
static int
list_of(const struct reader *reader, const json_t *root, const char *key,
        size_t element, void **out, const json_t **list, size_t *length)
{
    *list = json_object_get(root, key);
    *length = json_array_size(*list);
    if (*list != NULL && !json_is_array(*list))
        return wrong(reader, "", key, "not a list");
    *out = calloc(*length + 1, element);
    return *out == NULL ? wrong(reader, "", key, "out of memory") : 0;
}

static int
lists_from_json(const struct reader *reader, const json_t *root,
                struct run *run)
{
    const json_t *list;
    char place[64];
    size_t n, i;

    if (list_of(reader, root, "filesystems", sizeof(*run->filesystems),
                (void **)&run->filesystems, &list, &n) != 0)
        return -1;
    for (i = 0; i < n; i++) {
        snprintf(place, sizeof place, "filesystems[%zu]", i);
        run->filesystem_count = i + 1;
        if (filesystem_from_json(reader, place, json_array_get(list, i),
                                 &run->filesystems[i]) != 0)
            return -1;
    }
    if (list_of(reader, root, "captures", sizeof(*run->captures),
                (void **)&run->captures, &list, &n) != 0)
        return -1;
    for (i = 0; i < n; i++) {
        snprintf(place, sizeof place, "captures[%zu]", i);
        run->capture_count = i + 1;
        if (struct_from_json(reader, place, capture_fields,
                             COUNT_OF(capture_fields), json_array_get(list, i),
                             &run->captures[i]) != 0)
            return -1;
    }
    if (list_of(reader, root, "warnings", sizeof(*run->warnings),
                (void **)&run->warnings, &list, &n) != 0)
        return -1;
    for (i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        if (text == NULL)
            return wrong(reader, "", "warnings", "not a string");
        run->warnings[run->warning_count++] = strdup(text);
    }
    if (list_of(reader, root, "cells", sizeof(*run->cells),
                (void **)&run->cells, &list, &n) != 0)
        return -1;
    for (i = 0; i < n; i++) {
        snprintf(place, sizeof place, "cells[%zu]", i);
        run->cell_count = i + 1;
        if (cell_from_json(reader, place, json_array_get(list, i), run,
                           &run->cells[i]) != 0)
            return -1;
        if ((run->bench != NULL) != (run->cells[i].variant != NULL))
            return wrong(reader, place, "variant",
                         run->bench != NULL
                             ? "missing, and the run is a bench"
                             : "not of this run, which is no bench");
    }
    return 0;
}

static int
run_from_json(const struct reader *reader, const json_t *root, struct run *run)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    unsigned state;

    if (schema == NULL || strcmp(schema, RUN_SCHEMA) != 0)
        return fail(reader->error, reader->error_size,
                    "%s: not a run of nfs-atime-test: its \"schema\" is not "
                    "\"%s\"", reader->name, RUN_SCHEMA);
    if (struct_from_json(reader, "", run_fields, COUNT_OF(run_fields), root,
                         run) != 0 ||
        name_from_json(reader, "", "state", root, state_names,
                       COUNT_OF(state_names), &state) != 0)
        return -1;
    run->state = (enum run_state)state;
    return lists_from_json(reader, root, run);
}

/* Takes over root (NULL: it could not be parsed, see problem). */
static int
run_from_root(json_t *root, const json_error_t *problem, const char *name,
              struct run *run, char *error, size_t error_size)
{
    const struct reader reader = {name, error, error_size};
    int result;

    memset(run, 0, sizeof *run);
    if (root == NULL)
        return fail(error, error_size,
                    "%s: line %d, column %d: not JSON: %s", name,
                    problem->line, problem->column, problem->text);
    result = run_from_json(&reader, root, run);
    json_decref(root);
    if (result != 0)
        run_free(run);
    return result;
}

int
run_parse(const char *text, size_t length, const char *name, struct run *run,
          char *error, size_t error_size)
{
    json_error_t problem;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);

    return run_from_root(root, &problem, name, run, error, error_size);
}

int
run_read(const char *path, struct run *run, char *error, size_t error_size)
{
    json_error_t problem;
    struct stat status;
    char file[4096];
    char *slash;
    json_t *root;

    memset(run, 0, sizeof *run);
    snprintf(file, sizeof file, "%s", path);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        snprintf(file, sizeof file, "%s/run.json", path);
    if (stat(file, &status) != 0)
        return fail(error, error_size,
                    "%s: %s; give the directory of a run, or its run.json",
                    file, strerror(errno));
    root = json_load_file(file, JSON_REJECT_DUPLICATES, &problem);
    if (run_from_root(root, &problem, file, run, error, error_size) != 0)
        return -1;
    slash = strrchr(file, '/');
    if (slash != NULL)
        *slash = '\0';
    run->directory = strdup(slash == NULL ? "." : *file == '\0' ? "/" : file);
    return 0;
}

/* --- freeing ------------------------------------------------------------- */

static void
strings_free(const struct field *fields, size_t count, void *base)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (fields[i].kind == FIELD_STRING)
            free(*(char **)(void *)((char *)base + fields[i].offset));
}

static void
counts_free(struct run_counts *counts)
{
    size_t i;

    for (i = 0; i < counts->length; i++)
        free(counts->items[i].name);
    free(counts->items);
}

static void
cell_free(struct run_cell *cell)
{
    size_t i;

    strings_free(cell_fields, COUNT_OF(cell_fields), cell);
    for (i = 0; i < COUNT_OF(cell_parts); i++)
        strings_free(cell_parts[i].fields, cell_parts[i].field_count,
                     (char *)cell + cell_parts[i].offset);
    for (i = 0; i < COUNT_OF(cell_counts); i++)
        counts_free((void *)((char *)cell + cell_counts[i].offset));
    for (i = 0; i < cell->series_count; i++) {
        strings_free(series_fields, COUNT_OF(series_fields), &cell->series[i]);
        free(cell->series[i].ns);
    }
    free(cell->series);
    free(cell->execs);
}

static void
filesystem_free(struct run_filesystem *filesystem)
{
    size_t i;

    strings_free(filesystem_fields, COUNT_OF(filesystem_fields), filesystem);
    for (i = 0; i < filesystem->own_port_count; i++)
        free(filesystem->own_ports[i].name);
    free(filesystem->own_ports);
    free(filesystem->ping_ns);
}

void
run_free(struct run *run)
{
    size_t i;

    for (i = 0; i < run->cell_count; i++)
        cell_free(&run->cells[i]);
    for (i = 0; i < run->filesystem_count; i++)
        filesystem_free(&run->filesystems[i]);
    for (i = 0; i < run->capture_count; i++)
        strings_free(capture_fields, COUNT_OF(capture_fields),
                     &run->captures[i]);
    for (i = 0; i < run->warning_count; i++)
        free(run->warnings[i]);
    strings_free(run_fields, COUNT_OF(run_fields), run);
    free(run->directory);
    free(run->cells);
    free(run->filesystems);
    free(run->captures);
    free(run->warnings);
    memset(run, 0, sizeof *run);
}
