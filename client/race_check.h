/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is what /proc says of a process whole? See proc(5).
 */
#ifndef NAT_CLIENT_RACE_CHECK_H
#define NAT_CLIENT_RACE_CHECK_H

#include <sys/types.h>

enum race_finding {
    RACE_WHOLE,
    RACE_EMPTY,      /* nothing: the process had no map just then */
    RACE_NO_MEMORY,  /* status without its memory lines, statm all zero: the
                        same */
    RACE_MALFORMED,  /* a line of no known form, a field missing */
    RACE_DISORDER,   /* maps: areas that overlap, descend or end before they
                        begin */
    RACE_OTHER_PROCESS, /* status names another process */
    RACE_RESIDENT_ABOVE_SIZE, /* more is resident than there is */
    RACE_FINDING_COUNT
};

const char *race_finding_name(enum race_finding finding);

/* The file's whole text, which is taken apart. */
enum race_finding race_check_maps(char *text, pid_t pid);
enum race_finding race_check_status(char *text, pid_t pid);
enum race_finding race_check_statm(char *text, pid_t pid);

#endif
