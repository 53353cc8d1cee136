/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/commands.h"

#include "analysis/columns.h"
#include "analysis/compare.h"
#include "analysis/compare_html.h"
#include "analysis/raw_runs.h"
#include "analysis/sample_table.h"
#include "client/util.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_FORMAT = 256, OPTION_TIME, OPTION_EXECS, OPTION_EXPECT,
       OPTION_VERSION };

static const struct option long_options[] = {
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"time", no_argument, NULL, OPTION_TIME},
    {"execs", required_argument, NULL, OPTION_EXECS},
    {"expect", required_argument, NULL, OPTION_EXPECT},
    {"confidence", required_argument, NULL, 'c'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

enum kind { KIND_COLUMN, KIND_RUN, KIND_TIME };

struct request {
    struct sample_style style;
    bool json, html, time, expect_none;
    unsigned column;
    const char *delimiters;
    uint64_t execs; /* 0: as the file says */
    char **paths;
    size_t count;
};

static void
usage(FILE *out)
{
    fputs(
        "Usage: nfs-atime-test compare [options] RUN RUN...\n"
        "       nfs-atime-test compare [options] FILE...\n"
        "       nfs-atime-test compare [options] --time FILE...\n"
        "Compares everything with the first: runs cell by cell, times and "
        "RPCs; or\n"
        "plain columns of numbers, one value a line, as ministat does ('-' or "
        "nothing\n"
        "is standard input, '#' begins a comment); or raw runs as time(1) "
        "prints them\n"
        "(--time, or a name that ends in .time; one such file is enough).\n"
        "\n"
        "  -c, --confidence PC  per cent (95)\n"
        "  -C COLUMN            which column, from 1 (1)\n"
        "  -d DELIMITERS        characters between columns (space and tab)\n"
        "  -w WIDTH             of the plot, 8 to 1000 (74, or the "
        "terminal's)\n"
        "  -s                   a line for each bar of the plot\n"
        "  -A                   no plot\n"
        "  -n                   table only: no plot, no comparison\n"
        "  --execs N            execs in each of the raw runs\n"
        "  --expect none        status 3 when a difference is proven\n"
        "  --format FORMAT      text (default), json or, of runs, html\n"
        "  -h, --help, --version; more: man nfs-atime-test-compare\n"
        "\n"
        "Exit status: 0 done; 1 failed; 2 wrong usage; 3 --expect did not "
        "hold; 4 done,\n"
        "but a run is incomplete.\n",
        out);
}

static int
wrong_usage(const char *what, const char *value)
{
    fprintf(stderr,
            "nfs-atime-test compare: %s%s%s; see nfs-atime-test compare "
            "--help\n",
            what, value ? ": " : "", value ? value : "");
    return 2;
}

static int
failed(const char *error)
{
    fprintf(stderr, "nfs-atime-test compare: %s\n", error);
    return 1;
}

static bool
whole_number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    unsigned long long n;
    char *end;

    errno = 0;
    n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n < least || n > most)
        return false;
    *value = n;
    return true;
}

/* ---- plain columns ---- */

static int
read_column(const struct request *request, const char *path,
            struct column *column, char *error, size_t error_size)
{
    bool standard_input = !strcmp(path, "-");
    FILE *in = standard_input ? stdin : fopen(path, "re");
    int status;

    if (!in) {
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
        return -1;
    }
    status = column_read(in, standard_input ? "<stdin>" : path,
                         request->column, request->delimiters, column, error,
                         error_size);
    if (!standard_input)
        fclose(in);
    return status;
}

static int
print_columns(const struct request *request, const struct sample *samples)
{
    const struct sample_style *style = &request->style;

    if (request->json && samples_json(samples, request->count,
                                      style->confidence, style->t, stdout))
        return failed("cannot write the result");
    if (!request->json)
        samples_print(samples, request->count, style, stdout);
    for (size_t i = 1; request->expect_none && i < request->count; i++) {
        struct stat_difference d =
            stat_student(&samples[0].summary, &samples[i].summary,
                         style->confidence, style->t);
        if (d.verdict != STAT_NONE_PROVEN)
            return 3;
    }
    return 0;
}

static int
compare_columns(struct request *request)
{
    struct column columns[SAMPLES_MAX] = {{0}};
    struct sample samples[SAMPLES_MAX] = {{0}};
    char error[512];
    int status = 0;

    request->style.upper_median = true;
    request->style.t = STAT_T_MINISTAT;
    if (request->style.confidence == 99.5)
        fputs("nfs-atime-test compare: note: as in ministat, 99.5 takes the t "
              "that belongs to 99.8\n",
              stderr);
    for (size_t i = 0; i < request->count && status == 0; i++) {
        const char *path = request->paths[i];

        if (read_column(request, path, &columns[i], error, sizeof error)) {
            status = failed(error);
            break;
        }
        samples[i].name = strcmp(path, "-") ? path : "<stdin>";
        samples[i].values = columns[i].values;
        samples[i].length = columns[i].length;
        samples[i].summary = stat_summarise(columns[i].values,
                                            columns[i].length);
        if (samples[i].summary.n == 0)
            status = failed("out of memory");
    }
    if (status == 0)
        status = print_columns(request, samples);
    for (size_t i = 0; i < request->count; i++)
        column_free(&columns[i]);
    return status;
}

/* ---- runs, and raw runs ---- */

static int
read_raw(const struct request *request, const char *path,
         struct raw_runs *runs, char *error, size_t error_size)
{
    bool standard_input = !strcmp(path, "-");
    FILE *in = standard_input ? stdin : fopen(path, "re");
    int status;

    *runs = (struct raw_runs){0};
    if (!in) {
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
        return -1;
    }
    status = raw_runs_read(in, standard_input ? "<stdin>" : path, runs, error,
                           error_size);
    if (!standard_input)
        fclose(in);
    if (status == 0 && request->execs)
        runs->execs = request->execs;
    if (status == 0 && runs->execs == 0) {
        snprintf(error, error_size,
                 "%s: how many execs is a run? give --execs N, or a line "
                 "\"execs N\" in the file",
                 path);
        return -1;
    }
    return status;
}

static int
read_set(const struct request *request, const char *path,
         struct compare_set *set, char *error, size_t error_size)
{
    struct raw_runs runs;
    int status;

    if (!request->time)
        return compare_set_read(path, set, error, error_size);
    *set = (struct compare_set){0};
    status = read_raw(request, path, &runs, error, error_size);
    if (status == 0 && compare_set_from_raw(&runs, path, set)) {
        snprintf(error, error_size, "%s: out of memory", path);
        status = -1;
    }
    raw_runs_free(&runs);
    return status;
}

static int
print_sets(const struct request *request, const struct compare_set *sets)
{
    struct comparison results[SAMPLES_MAX] = {{0}};
    size_t n = request->count - 1, proven = 0;
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++) {
        if (compare_sets(&sets[0], &sets[i + 1], request->style.confidence,
                         &results[i]))
            status = failed("out of memory");
        else if (results[i].row_count == 0)
            status = failed("the runs have no file system and method in "
                            "common");
        proven += results[i].proven;
    }
    if (status == 0 && request->json &&
        comparisons_json(results, n, stdout))
        status = failed("cannot write the result");
    if (status == 0 && request->html &&
        comparisons_html(results, sets, request->count, !request->time,
                         stdout))
        status = failed("out of memory");
    for (size_t i = 0; i < n && status == 0 && !request->json &&
                       !request->html; i++) {
        if (i > 0)
            fputc('\n', stdout);
        comparison_text(&results[i], &request->style, stdout);
    }
    for (size_t i = 0; i < n; i++)
        comparison_free(&results[i]);
    if (status == 0 && request->expect_none && proven > 0)
        return 3;
    return status;
}

static int
compare_runs(struct request *request)
{
    struct compare_set sets[SAMPLES_MAX] = {{0}};
    bool incomplete = false;
    char error[1024];
    int status = 0;

    for (size_t i = 0; i < request->count && status == 0; i++) {
        if (read_set(request, request->paths[i], &sets[i], error,
                     sizeof error))
            status = failed(error);
        incomplete |= sets[i].incomplete;
    }
    if (status == 0)
        status = print_sets(request, sets);
    for (size_t i = 0; i < request->count; i++)
        compare_set_free(&sets[i]);
    return status == 0 && incomplete ? 4 : status;
}

static int
analyse_raw(const struct request *request)
{
    struct raw_runs runs;
    char error[512];
    int status = 0;

    if (request->json || request->html || request->expect_none)
        return wrong_usage("one file of raw runs gives text only", NULL);
    if (read_raw(request, request->paths[0], &runs, error, sizeof error))
        status = failed(error);
    else
        raw_runs_print(&runs, request->style.confidence, stdout);
    raw_runs_free(&runs);
    return status;
}

/* ---- command line ---- */

/* Only a regular file can be looked into without taking from it. */
static enum kind
kind_of(const char *path)
{
    size_t length = strlen(path);
    struct stat st;
    FILE *in;
    int c;

    if (length > 5 && !strcmp(path + length - 5, ".time"))
        return KIND_TIME;
    if (!strcmp(path, "-") || stat(path, &st))
        return KIND_COLUMN;
    if (S_ISDIR(st.st_mode))
        return KIND_RUN;
    if (!S_ISREG(st.st_mode) || !(in = fopen(path, "re")))
        return KIND_COLUMN;
    do
        c = getc(in);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r');
    fclose(in);
    return c == '{' ? KIND_RUN : KIND_COLUMN;
}

static int
dispatch(struct request *request)
{
    static char dash[] = "-";
    static char *standard_input[] = {dash, NULL};
    enum kind kind;
    size_t stdins = 0;

    if (request->count == 0) {
        request->paths = standard_input;
        request->count = 1;
    }
    if (request->count > SAMPLES_MAX)
        return wrong_usage("more than 6 to compare", NULL);
    kind = request->time ? KIND_TIME : kind_of(request->paths[0]);
    for (size_t i = 0; i < request->count; i++) {
        stdins += !strcmp(request->paths[i], "-");
        if (!request->time && kind_of(request->paths[i]) != kind)
            return wrong_usage("runs, raw runs and columns do not mix",
                               request->paths[i]);
    }
    if (stdins > 1)
        return wrong_usage("standard input can be read once", NULL);
    if (kind == KIND_COLUMN && request->html)
        return wrong_usage("columns give text or json", NULL);
    if (kind == KIND_COLUMN)
        return compare_columns(request);
    request->time = kind == KIND_TIME;
    if (request->count == 1)
        return kind == KIND_TIME
                   ? analyse_raw(request)
                   : wrong_usage("one run is nothing to compare with",
                                 request->paths[0]);
    return compare_runs(request);
}

static unsigned
terminal_width(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
        size.ws_col < PLOT_WIDTH_LEAST + 2)
        return PLOT_WIDTH;
    return size.ws_col - 2u;
}

/* @return 0, or the exit status. */
static int
take_option(struct request *request, int option)
{
    uint64_t n;

    switch (option) {
    case 'A':
        request->style.no_plot = true;
        return 0;
    case 'n':
        request->style.no_comparison = true;
        return 0;
    case 's':
        request->style.separate_bars = true;
        return 0;
    case 'C':
        if (!whole_number(optarg, 1, 1000000, &n))
            return wrong_usage("not a column from 1", optarg);
        request->column = (unsigned)n;
        return 0;
    case 'd':
        if (!*optarg)
            return wrong_usage("no delimiter given", NULL);
        request->delimiters = optarg;
        return 0;
    case 'w':
        if (!whole_number(optarg, PLOT_WIDTH_LEAST, PLOT_WIDTH_MOST, &n))
            return wrong_usage("not a width from 8 to 1000", optarg);
        request->style.width = (unsigned)n;
        return 0;
    case 'c':
        if (!decimal_parse(optarg, &request->style.confidence) ||
            !(request->style.confidence >= 50.0 &&
              request->style.confidence < 100.0))
            return wrong_usage("not a confidence from 50 to below 100",
                               optarg);
        return 0;
    case OPTION_EXECS:
        if (!whole_number(optarg, 1, 1000000000000ULL, &request->execs))
            return wrong_usage("not a number of execs from 1", optarg);
        return 0;
    case OPTION_TIME:
        request->time = true;
        return 0;
    case OPTION_EXPECT:
        if (strcmp(optarg, "none"))
            return wrong_usage("only none can be expected", optarg);
        request->expect_none = true;
        return 0;
    case OPTION_FORMAT:
        request->json = !strcmp(optarg, "json");
        request->html = !strcmp(optarg, "html");
        if (!request->json && !request->html && strcmp(optarg, "text"))
            return wrong_usage("not text, json or html", optarg);
        return 0;
    default:
        return wrong_usage("no such option", NULL);
    }
}

int
cmd_compare(int argc, char **argv)
{
    struct request request = {
        .style = {.confidence = STAT_CONFIDENCE, .t = STAT_T_EXACT},
        .column = 1,
        .delimiters = COLUMN_DELIMITERS,
    };
    int option, status;
    char problem[256];

    request.style.width = terminal_width();
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":AnsC:c:d:w:h", long_options,
                                 NULL)) != -1) {
        if (option == '?' || option == ':')
            return wrong_usage(option_problem(option, argv, long_options,
                                              problem, sizeof problem),
                               NULL);
        if (option == 'h') {
            usage(stdout);
            return 0;
        }
        if (option == OPTION_VERSION) {
            printf("nfs-atime-test %s\n", NAT_VERSION);
            return 0;
        }
        status = take_option(&request, option);
        if (status)
            return status;
    }
    request.paths = argv + optind;
    request.count = (size_t)(argc - optind);
    status = dispatch(&request);
    if (fflush(stdout) || ferror(stdout))
        return failed("cannot write the result");
    return status;
}
