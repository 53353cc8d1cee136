/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* strsep */
#include "client/mount_stats.h"

#include "client/util.h"

#include <stdlib.h>
#include <string.h>

#define MOUNTSTATS "/proc/self/mountstats"
#define OPERATION_FIELDS 8

/* Writes path as the kernel does in /proc: blanks, tabs, newlines and
 * backslashes as three octal digits. */
static char *
escape(const char *path)
{
    char *text = need_memory(strlen(path) * 4 + 1, 1), *out = text;

    for (; *path != '\0'; path++) {
        if (strchr(" \t\n\\", *path) != NULL)
            out += sprintf(out, "\\%03o", (unsigned char)*path);
        else
            *out++ = *path;
    }
    *out = '\0';
    return text;
}

/* "device D mounted on P with fstype T [statvers=V]": is it NFS on point? */
static bool
device_matches(const char *line, const char *escaped_point)
{
    const char *on = strstr(line, " mounted on ");
    size_t length = strlen(escaped_point);

    if (on == NULL)
        return false;
    on += strlen(" mounted on ");
    return strncmp(on, escaped_point, length) == 0 &&
           strncmp(on + length, " with fstype nfs", 16) == 0;
}

/* "\t     GETATTR: 1 1 0 44 24 0 0 0 [0 ...]" */
static bool
parse_operation(const char *line, struct mount_stats *stats)
{
    uint64_t numbers[OPERATION_FIELDS];
    const char *colon, *at;
    char name[64], *end;

    line += strspn(line, " \t");
    colon = strchr(line, ':');
    if (colon == NULL || colon == line ||
        (size_t)(colon - line) >= sizeof(name))
        return false;
    memcpy(name, line, (size_t)(colon - line));
    name[colon - line] = '\0';
    at = colon + 1;
    for (int i = 0; i < OPERATION_FIELDS; i++) {
        /* Times can be negative: strtoll's sign is lost on purpose. */
        numbers[i] = strtoull(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    run_counts_add(&stats->operations, name, numbers[0]);
    run_counts_add(&stats->sent, name, numbers[3]);
    run_counts_add(&stats->received, name, numbers[4]);
    stats->transmissions += numbers[1];
    return true;
}

void
mount_stats_parse(const char *text, const char *mount_point,
                  struct mount_stats *stats)
{
    char *copy = copy_text(text), *rest = copy, *line;
    char *point = escape(mount_point);
    bool inside = false, operations = false;

    memset(stats, 0, sizeof(*stats));
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (strncmp(line, "device ", 7) == 0) {
            inside = device_matches(line, point);
            operations = false;
            if (inside)
                mount_stats_free(stats); /* mounted over an earlier one */
        } else if (inside && strstr(line, "per-op statistics") != NULL) {
            operations = true;
        } else if (operations && parse_operation(line, stats)) {
            stats->known = true;
        }
    }
    free(point);
    free(copy);
}

void
mount_stats_read(const char *mount_point, struct mount_stats *stats)
{
    char *text = read_text_file(MOUNTSTATS, NULL);

    memset(stats, 0, sizeof(*stats));
    if (text != NULL)
        mount_stats_parse(text, mount_point, stats);
    free(text);
}

void
mount_stats_free(struct mount_stats *stats)
{
    struct run_counts *lists[] = {&stats->operations, &stats->sent,
                                  &stats->received};

    for (size_t j = 0; j < sizeof(lists) / sizeof(lists[0]); j++) {
        for (size_t i = 0; i < lists[j]->length; i++)
            free(lists[j]->items[i].name);
        free(lists[j]->items);
    }
    memset(stats, 0, sizeof(*stats));
}

static uint64_t
count_of(const struct run_counts *counts, const char *name)
{
    for (size_t i = 0; i < counts->length; i++)
        if (strcmp(counts->items[i].name, name) == 0)
            return counts->items[i].count;
    return 0;
}

static void
subtract(const struct run_counts *before, const struct run_counts *after,
         struct run_counts *difference)
{
    for (size_t i = 0; i < after->length; i++) {
        const struct run_count *new = &after->items[i];
        uint64_t old = count_of(before, new->name);

        if (new->count > old)
            run_counts_add(difference, new->name, new->count - old);
    }
}

void
mount_stats_difference(const struct mount_stats *before,
                       const struct mount_stats *after,
                       struct run_counts *difference, bool *reset)
{
    *reset = false;
    for (size_t i = 0; i < before->operations.length; i++) {
        const struct run_count *old = &before->operations.items[i];

        if (count_of(&after->operations, old->name) < old->count)
            *reset = true;
    }
    if (*reset)
        return;
    subtract(&before->operations, &after->operations, difference);
}

void
mount_stats_bytes(const struct mount_stats *before,
                  const struct mount_stats *after, struct run_counts *sent,
                  struct run_counts *received)
{
    subtract(&before->sent, &after->sent, sent);
    subtract(&before->received, &after->received, received);
}
