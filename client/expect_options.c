/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/expect_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
expect_option(struct expect_request *request, int code, const char *text,
              char *error, size_t error_size)
{
    char *end;

    switch (code) {
    case OPTION_EXPECT:
        return expect_add(&request->expect, text, error, error_size);
    case OPTION_EXPECT_FORMAT:
        request->format = expect_format_by_name(text);
        request->has_format = true;
        if (request->format == EXPECT_FORMAT_COUNT) {
            snprintf(error, error_size, "--expect-format %s: not text, tap or "
                     "junit", text);
            return -1;
        }
        return 0;
    case OPTION_BASELINE:
        free(request->expect.baseline);
        request->expect.baseline = strdup(text);
        if (request->expect.baseline == NULL) {
            snprintf(error, error_size, "out of memory");
            return -1;
        }
        return 0;
    case OPTION_TOLERANCE:
        request->expect.tolerance = strtod(text, &end);
        request->has_tolerance = true;
        if (end == text || (*end != '\0' && strcmp(end, "%") != 0) ||
            !(request->expect.tolerance >= 0 &&
              request->expect.tolerance <= 1e6)) {
            snprintf(error, error_size, "--tolerance %s: not a per cent from "
                     "0 to 1000000", text);
            return -1;
        }
        return 0;
    default:
        return 1;
    }
}

static bool
asked(const struct expect_request *request)
{
    return request->expect.length > 0 || request->expect.baseline != NULL;
}

int
expect_options_check(const struct expect_request *request, char *error,
                     size_t error_size)
{
    if (request->has_tolerance && request->expect.baseline == NULL)
        snprintf(error, error_size, "--tolerance belongs to --baseline RUN");
    else if (request->has_format && !asked(request))
        snprintf(error, error_size, "--expect-format without --expect or "
                 "--baseline");
    else
        return 0;
    return -1;
}

void
expect_options_apply(struct expect_request *request, bool report_in_file,
                     struct report_options *options)
{
    if (!asked(request))
        return;
    options->expect = &request->expect;
    options->judge_only = request->format != EXPECT_LINES && !report_in_file;
}

void
expect_options_print(const struct expect_request *request, const char *run)
{
    if (asked(request))
        expect_write(&request->expect, request->format, run,
                     request->format == EXPECT_LINES ? stderr : stdout);
}

int
expect_options_copy(const struct expect_request *from,
                    struct expect_request *to)
{
    char error[512];
    size_t i;

    *to = *from;
    to->expect.items = NULL;
    to->expect.length = 0;
    to->expect.baseline = NULL;
    if (from->expect.baseline != NULL)
        to->expect.baseline = strdup(from->expect.baseline);
    for (i = 0; i < from->expect.length; i++)
        if (expect_add(&to->expect, from->expect.items[i].text, error,
                       sizeof error) != 0)
            return -1;
    return from->expect.baseline != NULL && to->expect.baseline == NULL ? -1
                                                                        : 0;
}

void
expect_options_free(struct expect_request *request)
{
    expect_free(&request->expect);
}
