/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run is expected to show, and whether it does: the gate of a lab.
 *
 *   expectation = file-system method quantity operator value
 *   quantity    = "time" | NAME "/exec" | "RPCs/exec"
 *   operator    = "<" | "<=" | "==" | "!=" | ">=" | ">"
 *   value       = number [ "ns" | "us" | "ms" | "s" ]
 *               | [ number "*" ] method
 *
 * such as "nfs3 none SETATTR/exec == 0" or "nfs4.2 setattr time < 1.5 * none".
 * A method as value is that of the same file system, the same quantity. Time
 * is the mean of an exec, a bare number of it µs; it is measured, so only an
 * interval on the right side of the value proves it, and == and != do not
 * exist for it. A count is exact, unless something was lost.
 */
#ifndef NAT_ANALYSIS_EXPECT_H
#define NAT_ANALYSIS_EXPECT_H

#include "analysis/figures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum expect_verdict {
    EXPECT_NOT_JUDGED,
    EXPECT_HOLDS,
    EXPECT_FAILS,
    EXPECT_INCONCLUSIVE, /* neither is proven: as bad as FAILS for a gate */
};

enum expect_operator {
    EXPECT_LESS,
    EXPECT_AT_MOST,
    EXPECT_EQUAL,
    EXPECT_UNEQUAL,
    EXPECT_AT_LEAST,
    EXPECT_MORE,
    EXPECT_OPERATOR_COUNT
};

struct expectation {
    char *text;       /* as given, or made up for a baseline's cell */
    char *filesystem; /* label */
    enum run_method method;
    char *name;       /* of an operation, "RPCs", or NULL: time */
    enum expect_operator operation;
    double number;    /* µs for time; times that method's when there is one */
    enum run_method other; /* METHOD_COUNT: number alone */
    enum expect_verdict verdict;
    char reason[320];
};

struct expectations {
    struct expectation *items;
    size_t length;
    char *baseline;   /* path of a run, or NULL */
    double tolerance; /* per cent */
};

enum expect_format { EXPECT_LINES, EXPECT_TAP, EXPECT_JUNIT,
                     EXPECT_FORMAT_COUNT };

/* @return 0, or -1 with one line in error: not of the form above. */
int expect_add(struct expectations *expectations, const char *text,
               char *error, size_t error_size);

/*
 * Judges all of them; with a baseline, also every cell of the run against the
 * same one there: it fails when a slowdown of more than the tolerance is
 * proven (Welch's t, Holm's procedure over all cells).
 * @return 0, or -1 with one line in error: the baseline cannot be read, or
 *         memory is short.
 */
int expect_judge(struct expectations *expectations,
                 const struct figures *figures, char *error,
                 size_t error_size);

bool expect_all_hold(const struct expectations *expectations);

/* EXPECT_FORMAT_COUNT when there is no such name. */
enum expect_format expect_format_by_name(const char *name);

/* EXPECT_LINES: one line for each that does not hold. TAP version 13, JUnit
 * XML: all of them. `run` names the run. */
void expect_write(const struct expectations *expectations,
                  enum expect_format format, const char *run, FILE *out);

void expect_free(struct expectations *expectations);

/* For expect_judge(): the baseline's part. */
int expect_judge_baseline(struct expectations *expectations,
                          const struct figures *figures, char *error,
                          size_t error_size);

/* A new one at the end, all zero but its text; NULL when out of memory. */
struct expectation *expect_append(struct expectations *expectations,
                                  const char *text);

#endif
