/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/group_report.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define LONGEST_NAME 4096
#define WIDE 110    /* columns from which all figures are shown */
#define NO_TERMINAL 118
#define INTEGER(value) json_integer((json_int_t)(value))

/* --- text ------------------------------------------------------------------------- */

static const char *
time_text(bool known, int64_t ns, char *text, size_t size)
{
    const double value = (double)ns;

    if (!known)
        snprintf(text, size, "-");
    else if (ns < 1000)
        snprintf(text, size, "%" PRId64 " ns", ns);
    else if (value < 1e6)
        snprintf(text, size, "%.*f us", value < 1e5 ? 1 : 0, value / 1e3);
    else if (value < 1e9)
        snprintf(text, size, "%.*f ms", value < 1e8 ? 2 : 0, value / 1e6);
    else
        snprintf(text, size, "%.2f s", value / 1e9);
    return text;
}

static const char *
size_text(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes / 1e3;
    unsigned unit = 0;

    while (value >= 999.5 && unit < 5) {
        value /= 1e3;
        unit++;
    }
    if (bytes < 1000)
        snprintf(text, size, "%" PRIu64 " B", bytes);
    else
        snprintf(text, size, "%.*f %s", value < 99.95 ? 1 : 0, value,
                 units[unit]);
    return text;
}

static unsigned
columns_of(const char *text)
{
    unsigned columns = 0;

    for (; *text != '\0'; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

/* Writes the text into exactly that many columns; what is cut is its front,
 * since a path says most at its end. */
static void
fitted(const char *text, unsigned columns, FILE *out)
{
    unsigned has = columns_of(text);

    if (has > columns) {
        fputs("...", out);
        for (has -= columns - 3; has > 0; has--)
            do
                text++;
            while (((unsigned char)*text & 0xc0) == 0x80);
        has = columns;
    }
    fprintf(out, "%s%*s", text, (int)(columns - has), "");
}

/* NFS calls of more than one version in it? */
static bool
several_versions(const struct group *group)
{
    uint32_t version = 0;
    size_t i;

    for (i = 0; i < group->kinds; i++) {
        if (group->by_kind[i].program != SUNRPC_NFS)
            continue;
        if (version != 0 && group->by_kind[i].version != version)
            return true;
        version = group->by_kind[i].version;
    }
    return false;
}

static void
kinds_line(const struct group *group, unsigned width, FILE *out)
{
    const bool versions = several_versions(group);
    unsigned at = 2;
    size_t i;

    if (group->kinds == 0)
        return;
    fputs("  ", out);
    for (i = 0; i < group->kinds; i++) {
        const struct group_calls *calls = &group->by_kind[i];
        const char *separator = i > 0 ? ", " : "";
        char name[64], version[16] = "", text[128];

        if (versions && calls->program == SUNRPC_NFS)
            snprintf(version, sizeof version, "v%" PRIu32 " ",
                     calls->version);
        snprintf(text, sizeof text, "%s%s%s %" PRIu64, separator, version,
                 group_calls_name(calls, name, sizeof name), calls->calls);
        if (at + strlen(text) + 14 > width && i > 0) {
            fprintf(out, ", %zu more", group->kinds - i);
            break;
        }
        fputs(text, out);
        at += (unsigned)strlen(text);
    }
    fputc('\n', out);
}

static void
group_line(const char *name, const struct group *group, unsigned width,
           FILE *out)
{
    const bool wide = width >= WIDE, known = group->latencies > 0;
    char text[32];

    fitted(name, wide ? width - 83 : width - 55, out);
    fprintf(out, " %9" PRIu64 " %7" PRIu64, group->calls, group->errors);
    if (wide) {
        fprintf(out, " %8" PRIu64 " %9" PRIu64, group->retransmissions,
                group->unanswered);
        fprintf(out, " %8s", time_text(known, (int64_t)group->mean_ns, text,
                                       sizeof text));
    }
    fprintf(out, " %8s", time_text(known, group_quantile(group, 0.5), text,
                                   sizeof text));
    fprintf(out, " %8s", time_text(known, group_quantile(group, 0.99), text,
                                   sizeof text));
    fprintf(out, " %8s", time_text(known, group->max_ns, text, sizeof text));
    fprintf(out, " %8s\n", size_text(group->call_bytes + group->reply_bytes,
                                     text, sizeof text));
    kinds_line(group, width, out);
}

static void
heading(enum group_by by, unsigned width, FILE *out)
{
    const bool wide = width >= WIDE;
    char title[32];

    snprintf(title, sizeof title, "By %s", group_by_name(by));
    fputc('\n', out);
    fitted(title, wide ? width - 83 : width - 55, out);
    fprintf(out, " %9s %7s", "calls", "errors");
    if (wide)
        fprintf(out, " %8s %9s %8s", "resent", "no reply", "mean");
    fprintf(out, " %8s %8s %8s %8s\n", "median", "p99", "max", "bytes");
}

void
group_report_text(struct group_counts *groups, const struct file_names *names,
                  unsigned width, size_t most, FILE *out)
{
    const struct group *rest;
    struct group others = {.min_ns = INT64_MAX};
    uint64_t rest_groups;
    size_t count, i;
    const struct group *const *rows =
        group_counts_rows(groups, &count, &rest, &rest_groups);
    const int64_t first = count > 0 ? (int64_t)rows[0]->key[0] : 0;
    char name[LONGEST_NAME];
    bool partial = false;

    if (count == 0)
        return;
    width = width == 0 ? NO_TERMINAL : width < 72 ? 72 : width;
    heading(group_counts_by(groups), width, out);
    for (i = 0; i < count && i < most; i++) {
        group_name(groups, rows[i], names, first, ESCAPE_TERMINAL, name,
                   sizeof name - 2);
        if (rows[i]->partial)
            strcat(name, " *");
        partial = partial || rows[i]->partial;
        group_line(name, rows[i], width, out);
    }
    for (; i < count; i++) {
        group_add(&others, rows[i]);
        rest_groups++;
    }
    if (rest != NULL)
        group_add(&others, rest);
    if (others.calls > 0) {
        group_sort_kinds(&others);
        snprintf(name, sizeof name, "others (%" PRIu64 "%s)", rest_groups,
                 rest != NULL ? " or more" : "");
        group_line(name, &others, width, out);
    }
    if (partial)
        fputs("* some of its calls may be among the others: more groups than "
              "are kept.\n", out);
    group_release(&others);
}

/* --- JSON -------------------------------------------------------------------------- */

static json_t *
calls_value(const struct group_calls *calls)
{
    char name[64];

    return json_pack("{s:I, s:I, s:I, s:b, s:b, s:s, s:I, s:I}", "program",
                     (json_int_t)calls->program, "version",
                     (json_int_t)calls->version, "number",
                     (json_int_t)calls->number, "main_operation",
                     calls->main_operation, "callback", calls->callback,
                     "name", group_calls_name(calls, name, sizeof name),
                     "calls", (json_int_t)calls->calls, "errors",
                     (json_int_t)calls->errors);
}

static json_t *
latency_value(const struct group *group)
{
    if (group->latencies == 0)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "count",
                     (json_int_t)group->latencies, "min",
                     (json_int_t)group->min_ns, "mean",
                     (json_int_t)(group->mean_ns + 0.5), "median",
                     (json_int_t)group_quantile(group, 0.5), "p99",
                     (json_int_t)group_quantile(group, 0.99), "max",
                     (json_int_t)group->max_ns);
}

static json_t *
group_value(const char *name, const struct group *group)
{
    json_t *calls = json_array();
    size_t i;

    for (i = 0; i < group->kinds; i++)
        json_array_append_new(calls, calls_value(&group->by_kind[i]));
    return json_pack(
        "{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I}",
        "name", name, "partial", group->partial, "calls",
        (json_int_t)group->calls, "replies", (json_int_t)group->replies,
        "retransmissions", (json_int_t)group->retransmissions, "unanswered",
        (json_int_t)group->unanswered, "errors", (json_int_t)group->errors,
        "call_bytes", (json_int_t)group->call_bytes, "reply_bytes",
        (json_int_t)group->reply_bytes, "latency_ns", latency_value(group),
        "by_call", calls, "unlisted", (json_int_t)group->unlisted);
}

/* What the name does not say. */
static void
add_key(const struct group_counts *groups, const struct group *group,
        json_t *value)
{
    const enum group_by by = group_counts_by(groups);
    char text[20];

    if (by == GROUP_BY_FILE && group->key[0] != 0) {
        snprintf(text, sizeof text, "h%016" PRIx64, group->key[0]);
        json_object_set_new(value, "file", json_string(text));
    } else if (by == GROUP_BY_INTERVAL) {
        json_object_set_new(value, "start_ns",
                            INTEGER((int64_t)group->key[0] *
                                    group_counts_interval(groups)));
    }
}

json_t *
group_report_json(struct group_counts *groups, const struct file_names *names)
{
    const struct group *rest;
    uint64_t rest_groups;
    size_t count, i;
    const struct group *const *rows =
        group_counts_rows(groups, &count, &rest, &rest_groups);
    const int64_t first = count > 0 ? (int64_t)rows[0]->key[0] : 0;
    const enum group_by by = group_counts_by(groups);
    json_t *list = json_array();
    char name[LONGEST_NAME];

    for (i = 0; i < count; i++) {
        json_t *value = group_value(
            group_name(groups, rows[i], names, first, ESCAPE_TERMINAL, name,
                       sizeof name), rows[i]);

        add_key(groups, rows[i], value);
        json_array_append_new(list, value);
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:I}", "by", group_by_name(by),
                     "interval_ns",
                     by == GROUP_BY_INTERVAL
                         ? INTEGER(group_counts_interval(groups))
                         : json_null(), "rows", list, "others",
                     rest != NULL ? group_value("others", rest) : json_null(),
                     "others_groups", (json_int_t)rest_groups);
}
