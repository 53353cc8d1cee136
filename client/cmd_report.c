/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/commands.h"

#include "analysis/report.h"
#include "analysis/rtt_slope.h"
#include "client/expect_options.h"
#include "client/util.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_FORMAT = 256,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"confidence", required_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'},
    EXPECT_LONG_OPTIONS,
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static void
usage(FILE *out)
{
    fputs("Usage: nfs-atime-test report [options] RUN...\n"
          "Makes the report of a stored run again, from its run.json and its "
          "captures.\n"
          "RUN is the run's directory or the run.json in it. Runs with "
          "different\nround-trip times: at the end, how many round trips an "
          "exec waits for.\n"
          "\n"
          "  --format FORMAT      text (default), time, json, csv, markdown "
          "or html\n"
          "  -c, --confidence PC  confidence of the intervals, per cent (95)\n"
          "  -o, --output FILE    write there instead of standard output\n"
          "  --expect EXPR        such as 'nfs3 none SETATTR/exec == 0' or\n"
          "                       'nfs4.2 setattr time < 1.5 * none'; "
          "repeatable\n"
          "  --baseline RUN       expect no cell to be slower than there ...\n"
          "  --tolerance PC       ... by more than that many per cent (0)\n"
          "  --expect-format F    tap or junit, in place of the report\n"
          "  -h, --help, --version; more: man nfs-atime-test-report\n"
          "\n"
          "Exit status: 0 done; 1 failed; 2 wrong usage; 3 an --expect does "
          "not\nhold or is not to be decided; 4 done, but the run is "
          "incomplete.\n", out);
}

static int
wrong_usage(const char *what, const char *value)
{
    fprintf(stderr, "nfs-atime-test report: %s%s%s; see nfs-atime-test report "
            "--help\n", what, value != NULL ? ": " : "",
            value != NULL ? value : "");
    return 2;
}

struct report_arguments {
    struct report_options options;
    enum report_format format;
    const char *output;
    struct expect_request expect;
};

/* @return -1 to go on, or an exit status. */
static int
read_option(struct report_arguments *arguments, int option, const char *text)
{
    char error[512], *end;

    switch (option) {
    case OPTION_FORMAT:
        arguments->format = report_format_by_name(text);
        return arguments->format == REPORT_FORMAT_COUNT
                   ? wrong_usage("not text, time, json, csv, markdown or "
                                 "html", text)
                   : -1;
    case 'c':
        arguments->options.confidence = strtod(text, &end);
        return *end != '\0' || end == text ||
                       !(arguments->options.confidence >= 50 &&
                         arguments->options.confidence < 100)
                   ? wrong_usage("not a confidence from 50 to below 100", text)
                   : -1;
    case 'o':
        arguments->output = text;
        return -1;
    case 'h':
        usage(stdout);
        return 0;
    case OPTION_VERSION:
        printf("nfs-atime-test %s\n", NAT_VERSION);
        return 0;
    default:
        break;
    }
    return expect_option(&arguments->expect, option, text, error,
                         sizeof error) == 0
               ? -1
               : wrong_usage(error, NULL);
}

/* The command to give instead, ready to be run. */
static int
several_on_a_page(const struct report_arguments *arguments, char **runs)
{
    fputs("nfs-atime-test report: a page shows one run; for these side by "
          "side: nfs-atime-test compare --format html", stderr);
    for (; *runs != NULL; runs++)
        fprintf(stderr, " %s", *runs);
    fprintf(stderr, " > %s\n", arguments->output != NULL ? arguments->output
                                                         : "compare.html");
    return 2;
}

static int
read_arguments(struct report_arguments *arguments, int argc, char **argv)
{
    int option, status = -1;
    char error[512];

    optind = 1;
    opterr = 0;
    while (status < 0 && (option = getopt_long(argc, argv, ":c:o:h",
                                               long_options, NULL)) != -1)
        status = option == '?' || option == ':'
                     ? wrong_usage(option_problem(option, argv, long_options,
                                                  error, sizeof error), NULL)
                     : read_option(arguments, option, optarg);
    if (status >= 0)
        return status;
    if (optind == argc)
        return wrong_usage("no run is named", NULL);
    if (arguments->format == REPORT_HTML && argc - optind > 1)
        return several_on_a_page(arguments, argv + optind);
    if (expect_options_check(&arguments->expect, error, sizeof error) != 0)
        return wrong_usage(error, NULL);
    expect_options_apply(&arguments->expect, arguments->output != NULL,
                         &arguments->options);
    if (arguments->options.expect != NULL && argc - optind > 1)
        return wrong_usage("--expect and --baseline judge one run at a time",
                           NULL);
    return -1;
}

/* @return the worst of the runs' statuses. */
static int
report_runs(const struct report_arguments *arguments, char **runs, FILE *out)
{
    char error[1024];
    int worst = 0;

    for (; *runs != NULL; runs++) {
        const int status = report_run(*runs, arguments->format,
                                      &arguments->options, out, error,
                                      sizeof error);

        if (status == 1)
            fprintf(stderr, "nfs-atime-test report: %s\n", error);
        else
            expect_options_print(&arguments->expect, *runs);
        if (worst != 1 && status != 0)
            worst = status;
    }
    if (report_rtt(arguments->options.rtt, arguments->format,
                   arguments->options.confidence, out) != 0) {
        fputs("nfs-atime-test report: out of memory\n", stderr);
        worst = 1;
    }
    return worst;
}

int
cmd_report(int argc, char **argv)
{
    struct rtt_runs rtt = {0};
    struct report_arguments arguments = {
        .options = {.confidence = 95.0, .rtt = &rtt},
        .format = REPORT_TEXT,
    };
    int status = read_arguments(&arguments, argc, argv);
    FILE *out = stdout;

    if (status < 0 && arguments.output != NULL &&
        (out = fopen(arguments.output, "we")) == NULL) {
        perror(arguments.output);
        status = 1;
    }
    if (status < 0) {
        status = report_runs(&arguments, argv + optind, out);
        if (out != stdout && fclose(out) != 0) {
            perror(arguments.output);
            status = 1;
        }
    }
    rtt_runs_free(&rtt);
    expect_options_free(&arguments.expect);
    return status;
}
