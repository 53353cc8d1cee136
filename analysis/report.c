/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report.h"

#include "analysis/expect.h"
#include "analysis/bench_figures.h"
#include "analysis/rtt_slope.h"

#include <stdlib.h>
#include <string.h>

static const char *const format_names[] = {
    [REPORT_TEXT] = "text",         [REPORT_TIME] = "time",
    [REPORT_JSON] = "json",         [REPORT_CSV] = "csv",
    [REPORT_MARKDOWN] = "markdown", [REPORT_HTML] = "html",
};
_Static_assert(sizeof format_names / sizeof format_names[0] ==
                   REPORT_FORMAT_COUNT,
               "a name per format");

enum report_format
report_format_by_name(const char *name)
{
    unsigned i;

    for (i = 0; i < REPORT_FORMAT_COUNT; i++)
        if (strcmp(name, format_names[i]) == 0)
            return (enum report_format)i;
    return REPORT_FORMAT_COUNT;
}

static int
write_format(const struct figures *figures, enum report_format format,
             FILE *out)
{
    switch (format) {
    case REPORT_TEXT:
        report_text(figures, out);
        return 0;
    case REPORT_TIME:
        report_time(figures->run, out);
        return 0;
    case REPORT_CSV:
        report_csv(figures, out);
        return 0;
    case REPORT_JSON:
        return report_json(figures, out);
    case REPORT_MARKDOWN:
        report_markdown(figures, out);
        return 0;
    case REPORT_HTML:
        return report_html(figures, out);
    case REPORT_FORMAT_COUNT:
        break;
    }
    return -1;
}

static bool
incomplete(const struct figures *figures)
{
    return figures->run->state != RUN_COMPLETE ||
           figures->cells_done < figures->cells_planned ||
           !figures->counts_complete;
}

/* The status with what was expected taken into account. */
static int
judge(struct expectations *expect, const struct figures *figures, int status,
      char *error, size_t error_size)
{
    if (expect_judge(expect, figures, error, error_size) != 0)
        return -1;
    return expect_all_hold(expect) ? status : 3;
}

/* @return as report_run(), or -1 with one line in error. */
static int
report_measured(const char *path, const struct run *run,
                const struct run_traffic *traffic, enum report_format format,
                const struct report_options *options, FILE *out, char *error,
                size_t error_size)
{
    struct figures figures;
    int result;

    memset(&figures, 0, sizeof figures);
    if (figures_compute(run, traffic, options->confidence, &figures) != 0 ||
        (!options->judge_only && write_format(&figures, format, out) != 0) ||
        (options->rtt != NULL && rtt_runs_add(options->rtt, &figures) != 0)) {
        snprintf(error, error_size, "%s: the report could not be made: "
                 "out of memory or out of room", path);
        result = -1;
    } else {
        result = incomplete(&figures) ? 4 : 0;
        if (options->expect != NULL)
            result = judge(options->expect, &figures, result, error,
                           error_size);
    }
    figures_free(&figures);
    return result;
}

static int
no_expectation(const char *path, char *error, size_t error_size)
{
    snprintf(error, error_size, "%s: a bench, and --expect is for runs of the "
             "test; see nfs-atime-test compare --expect none", path);
    return -1;
}

int
report_run(const char *path, enum report_format format,
           const struct report_options *options, FILE *out, char *error,
           size_t error_size)
{
    struct run_traffic traffic;
    struct run run;
    int result;

    if (run_read(path, &run, error, error_size) != 0)
        return 1;
    result = run_traffic_read(&run, options->captures, options->capture_count,
                              &traffic, error, error_size);
    if (result >= 0 && run.bench != NULL && options->expect != NULL)
        result = no_expectation(path, error, error_size);
    else if (result >= 0 && run.bench != NULL)
        result = bench_report(&run, &traffic, options->confidence, format, out,
                              error, error_size);
    else if (result >= 0)
        result = report_measured(path, &run, &traffic, format, options, out,
                                 error, error_size);
    run_traffic_free(&traffic);
    run_free(&run);
    if (result >= 0 && (fflush(out) != 0 || ferror(out))) {
        snprintf(error, error_size, "the report could not be written: no "
                 "room, or the reader went away");
        return 1;
    }
    return result < 0 ? 1 : result;
}

int
report_rtt(const struct rtt_runs *runs, enum report_format format,
           double confidence, FILE *out)
{
    struct rtt_slope *slopes;
    int count = rtt_slopes(runs, confidence, &slopes);

    if (count < 0)
        return -1;
    if (count > 0 && format == REPORT_TEXT)
        rtt_slopes_text(slopes, (size_t)count, confidence, out);
    if (count > 0 && format == REPORT_JSON)
        count = rtt_slopes_json(slopes, (size_t)count, out);
    free(slopes);
    return count < 0 ? -1 : 0;
}
