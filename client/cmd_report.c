/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/commands.h"

#include "analysis/report.h"
#include "analysis/rtt_slope.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_FORMAT = 256,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"confidence", required_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static void
usage(FILE *out)
{
    fputs("usage: nfs-atime-test report [options] RUN...\n"
          "\n"
          "Makes the report of a stored run again, from its run.json and its "
          "captures.\n"
          "RUN is the run's directory or the run.json in it. Runs with "
          "different\nround-trip times: at the end, how many round trips an "
          "exec waits for.\n"
          "\n"
          "      --format FORMAT    text (default), time, json, csv, markdown or html\n"
          "  -c, --confidence PC    confidence of the intervals, per cent (95)\n"
          "  -o, --output FILE      write there instead of standard output\n"
          "      --help, --version\n"
          "\n"
          "Exit status: 0 done; 1 failed; 2 wrong usage; 4 done, but the run is\n"
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

int
cmd_report(int argc, char **argv)
{
    struct rtt_runs rtt = {0};
    struct report_options options = {.confidence = 95.0, .rtt = &rtt};
    enum report_format format = REPORT_TEXT;
    const char *output = NULL;
    FILE *out = stdout;
    char error[1024], *end;
    int option, worst = 0;

    optind = 1;
    while ((option = getopt_long(argc, argv, "c:o:", long_options, NULL)) !=
           -1) {
        switch (option) {
        case OPTION_FORMAT:
            format = report_format_by_name(optarg);
            if (format == REPORT_FORMAT_COUNT)
                return wrong_usage("no such format", optarg);
            break;
        case 'c':
            options.confidence = strtod(optarg, &end);
            if (*end != '\0' || end == optarg ||
                !(options.confidence >= 50 && options.confidence < 100))
                return wrong_usage("not a confidence from 50 to below 100",
                                   optarg);
            break;
        case 'o':
            output = optarg;
            break;
        case OPTION_HELP:
            usage(stdout);
            return 0;
        case OPTION_VERSION:
            printf("nfs-atime-test %s\n", NAT_VERSION);
            return 0;
        default:
            return wrong_usage("unknown option or missing value", NULL);
        }
    }
    if (optind == argc)
        return wrong_usage("no run is named", NULL);
    if (output != NULL && (out = fopen(output, "we")) == NULL) {
        perror(output);
        return 1;
    }
    for (; optind < argc; optind++) {
        const int status = report_run(argv[optind], format, &options, out,
                                      error, sizeof error);

        if (status == 1)
            fprintf(stderr, "nfs-atime-test report: %s\n", error);
        if (worst != 1 && status != 0)
            worst = status;
    }
    if (report_rtt(&rtt, format, options.confidence, out) != 0) {
        fputs("nfs-atime-test report: out of memory\n", stderr);
        worst = 1;
    }
    rtt_runs_free(&rtt);
    if (output != NULL && fclose(out) != 0) {
        perror(output);
        worst = 1;
    }
    return worst;
}
