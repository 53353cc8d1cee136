/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --expect and its relatives, which the test and report have in common.
 */
#ifndef NAT_CLIENT_EXPECT_OPTIONS_H
#define NAT_CLIENT_EXPECT_OPTIONS_H

#include "analysis/expect.h"
#include "analysis/report.h"

#include <stdbool.h>
#include <stddef.h>

#define EXIT_EXPECT 3

struct expect_request {
    struct expectations expect;
    enum expect_format format;
    bool has_format, has_tolerance;
};

enum expect_option_code { /* beside a command's own codes */
    OPTION_EXPECT = 1024,
    OPTION_EXPECT_FORMAT,
    OPTION_BASELINE,
    OPTION_TOLERANCE,
};

#define EXPECT_LONG_OPTIONS                                                    \
    {"expect", required_argument, NULL, OPTION_EXPECT},                        \
        {"expect-format", required_argument, NULL, OPTION_EXPECT_FORMAT},      \
        {"baseline", required_argument, NULL, OPTION_BASELINE},                \
        {"tolerance", required_argument, NULL, OPTION_TOLERANCE}

/* Takes one of the four. @return 0; -1 with one line in error: wrong usage;
 * 1 when the code is none of them. */
int expect_option(struct expect_request *request, int code, const char *text,
                  char *error, size_t error_size);

/* After the last option. @return 0, or -1 with one line in error. */
int expect_options_check(const struct expect_request *request, char *error,
                         size_t error_size);

/* Lets report_run() judge. With TAP or JUnit asked for and no file for the
 * report, these take the report's place on standard output. */
void expect_options_apply(struct expect_request *request, bool report_in_file,
                          struct report_options *options);

/* After report_run(): lines on standard error, TAP and JUnit on standard
 * output. */
void expect_options_print(const struct expect_request *request,
                          const char *run);

/* The same request, not judged yet. @return 0, or -1 when out of memory. */
int expect_options_copy(const struct expect_request *from,
                        struct expect_request *to);

void expect_options_free(struct expect_request *request);

#endif
