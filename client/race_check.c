/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* strsep */
#include "client/race_check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATM_FIELDS 7

static const char *const finding_names[] = {
    [RACE_WHOLE] = "whole",
    [RACE_EMPTY] = "empty",
    [RACE_NO_MEMORY] = "no memory lines",
    [RACE_MALFORMED] = "malformed",
    [RACE_DISORDER] = "areas in disorder",
    [RACE_OTHER_PROCESS] = "of another process",
    [RACE_RESIDENT_ABOVE_SIZE] = "resident above size",
};
_Static_assert(sizeof(finding_names) / sizeof(finding_names[0]) ==
                   RACE_FINDING_COUNT,
               "each finding has a name");

const char *
race_finding_name(enum race_finding finding)
{
    return finding_names[finding];
}

/* "555555554000-555555558000 r--p 00000000 fe:00 1234   /bin/cat" */
enum race_finding
race_check_maps(char *text, pid_t pid)
{
    uint64_t start, end, last = 0;
    char *line, permissions[8];

    (void)pid;
    if (*text == '\0')
        return RACE_EMPTY;
    while ((line = strsep(&text, "\n")) != NULL) {
        if (*line == '\0' && text == NULL)
            break; /* behind the last line */
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &end,
                   permissions) != 3 ||
            strlen(permissions) != 4)
            return RACE_MALFORMED;
        if (start >= end || start < last)
            return RACE_DISORDER;
        last = end;
    }
    return RACE_WHOLE;
}

/* The number behind "\nNAME:", or -1. */
static int64_t
status_number(const char *text, const char *name)
{
    const size_t length = strlen(name);

    for (; text != NULL; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strncmp(text, name, length) == 0 && text[length] == ':')
            return strtoll(text + length + 1, NULL, 10);
    }
    return -1;
}

enum race_finding
race_check_status(char *text, pid_t pid)
{
    int64_t size, resident;

    if (*text == '\0')
        return RACE_EMPTY;
    if (strncmp(text, "Name:", 5) != 0 || status_number(text, "Pid") < 0 ||
        status_number(text, "Threads") < 0)
        return RACE_MALFORMED;
    if (status_number(text, "Pid") != pid)
        return RACE_OTHER_PROCESS;
    size = status_number(text, "VmSize");
    resident = status_number(text, "VmRSS");
    if (size < 0 && resident < 0)
        return RACE_NO_MEMORY;
    if (size < 0 || resident < 0)
        return RACE_MALFORMED;
    return resident > size ? RACE_RESIDENT_ABOVE_SIZE : RACE_WHOLE;
}

enum race_finding
race_check_statm(char *text, pid_t pid)
{
    uint64_t numbers[STATM_FIELDS];
    char *end, *at = text;
    bool any = false;

    (void)pid;
    if (*text == '\0')
        return RACE_EMPTY;
    for (int i = 0; i < STATM_FIELDS; i++) {
        numbers[i] = strtoull(at, &end, 10);
        if (end == at)
            return RACE_MALFORMED;
        any = any || numbers[i] != 0;
        at = end;
    }
    if (strcmp(at, "\n") != 0)
        return RACE_MALFORMED;
    if (!any)
        return RACE_NO_MEMORY;
    return numbers[1] > numbers[0] ? RACE_RESIDENT_ABOVE_SIZE : RACE_WHOLE;
}
