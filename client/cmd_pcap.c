/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/commands.h"

#include "analysis/capture_html.h"
#include "analysis/capture_report.h"
#include "client/pcap_options.h"
#include "client/progress.h"
#include "client/sandbox.h"
#include "client/util.h"

#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define PROGRESS_FROM_NS INT64_C(500000000) /* a short file shows none */
#define PROGRESS_EVERY_NS INT64_C(200000000)

/* What the transactions go into; NULL: not asked for. */
struct pcap_reading {
    const struct pcap_arguments *arguments;
    struct rpc_counts *counts;
    struct capture_course *course;
    struct file_names *names;
    struct group_counts *groups;
    struct transaction_rows *rows;
    int64_t started_ns, shown_ns;
};

static int
failed(const char *why)
{
    fprintf(stderr, "nfs-atime-test pcap: %s\n", why);
    return 1;
}

static int
not_written(void)
{
    return failed("the report could not be written: no room, or the reader "
                  "went away");
}

/* --- while it reads ------------------------------------------------------------- */

static void
take_transaction(void *context, const struct rpc_transaction *tx)
{
    const struct pcap_reading *reading = context;

    rpc_counts_transaction(reading->counts, tx);
    if (reading->course != NULL)
        capture_course_transaction(reading->course, tx);
    if (reading->names != NULL)
        file_names_learn(reading->names, tx);
    if (reading->groups != NULL)
        group_counts_transaction(reading->groups, tx);
    if (reading->rows != NULL)
        transaction_rows_write(reading->rows, tx);
}

static void
take_late(void *context, const struct rpc_late *late)
{
    const struct pcap_reading *reading = context;

    rpc_counts_late(reading->counts, late);
}

static void
show_progress(void *context, uint64_t bytes, uint64_t total)
{
    struct pcap_reading *reading = context;
    const int64_t now = monotonic_ns();
    const double seconds = (double)(now - reading->started_ns) * 1e-9;
    const double done = (double)bytes * 1e-6, all = (double)total * 1e-6;
    double left;

    if (now - reading->started_ns < PROGRESS_FROM_NS ||
        now - reading->shown_ns < PROGRESS_EVERY_NS)
        return;
    reading->shown_ns = now;
    if (bytes == 0 || total < bytes) {
        progress_show("%.0f MB, %.0f MB/s", done, done / seconds);
        return;
    }
    left = (all - done) / done * seconds;
    progress_show("%.0f of %.0f MB (%.0f %%), %.0f MB/s, %.0f s left", done,
                  all, done / all * 100, done / seconds, left + 0.5);
}

static void
enter_sandbox(const struct pcap_arguments *arguments, bool all_open)
{
    const bool programs = arguments->format == REPORT_HTML; /* gnuplot */
    char why[256];

    /* Its seed comes from a file that is out of reach afterwards. */
    json_object_seed(0);
    if (sandbox_enter(all_open ? SANDBOX_FILES_OPEN : SANDBOX_FILES_READ,
                      programs, why, sizeof why) != SANDBOX_FULL &&
        arguments->verbose)
        fprintf(stderr, "nfs-atime-test pcap: note: %s\n", why);
}

static void
ready(void *context, bool all_open)
{
    const struct pcap_reading *reading = context;

    enter_sandbox(reading->arguments, all_open);
}

/* --- what comes out -------------------------------------------------------------- */

static unsigned
terminal_width(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO) ||
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

static int
print_report(struct pcap_reading *reading, const struct capture_result *result)
{
    const struct pcap_arguments *arguments = reading->arguments;
    const struct capture_report report = {
        .counts = reading->counts,
        .result = result,
        .filter = arguments->filter,
        .groups = reading->groups,
        .names = reading->names,
        .most_groups = arguments->top,
    };
    int status = 0;

    if (reading->rows != NULL) {
        status = transaction_rows_end(reading->rows);
        reading->rows = NULL;
        capture_report_nothing(&report, stderr);
        capture_report_losses(&report, stderr);
    } else if (arguments->format == REPORT_HTML) {
        capture_report_html(&report, reading->course, stdout);
    } else if (arguments->format == REPORT_JSON) {
        status = capture_report_json(&report, stdout);
        capture_report_nothing(&report, stderr);
    } else {
        capture_report_text(&report, terminal_width(), stdout);
    }
    return status == 0 && fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}

static int
read_and_print(struct pcap_reading *reading)
{
    const struct pcap_arguments *arguments = reading->arguments;
    const struct rpc_transaction_sink sink = {reading, take_transaction,
                                              take_late};
    struct capture_options options;
    struct capture_result result;
    enum capture_status status;
    char error[1024];
    int code;

    capture_options_default(&options);
    if (reading->names != NULL || reading->course != NULL)
        options.depth = RPC_DEPTH_FULL;
    options.filter = arguments->filter;
    options.packet_limit = arguments->packet_limit;
    options.ports = arguments->ports;
    options.port_count = arguments->port_count;
    options.threads = arguments->threads;
    if (arguments->max_pending != 0)
        options.max_pending = arguments->max_pending;
    if (arguments->max_connections != 0)
        options.max_connections = arguments->max_connections;
    if (arguments->max_reorder_bytes != 0)
        options.max_reorder_bytes = arguments->max_reorder_bytes;
    options.progress = show_progress;
    options.progress_context = reading;
    options.ready = ready;
    options.ready_context = reading;
    status = capture_read(arguments->paths, arguments->path_count, &options,
                          &sink, &result, error, sizeof error);
    progress_clear();
    if (status == CAPTURE_FAILED)
        code = failed(error);
    else if (print_report(reading, &result) != 0)
        code = not_written();
    else
        code = status == CAPTURE_INCOMPLETE ? 4 : 0;
    capture_result_free(&result);
    return code;
}

/* Makes what the arguments ask for. */
static bool
prepare(struct pcap_reading *reading)
{
    const struct pcap_arguments *arguments = reading->arguments;
    const bool rows = arguments->output == PCAP_ROWS;
    const bool html = !rows && arguments->format == REPORT_HTML;
    const bool files = arguments->grouped && arguments->by == GROUP_BY_FILE;

    reading->counts =
        rpc_counts_new((int64_t)(arguments->access_cache_s * 1e9));
    reading->course = html ? capture_course_new() : NULL;
    reading->names = rows || files ? file_names_new() : NULL;
    reading->groups =
        arguments->grouped
            ? group_counts_new(arguments->by, arguments->interval_ns)
            : NULL;
    if (rows) {
        /* Like any filter whose reader has seen enough. */
        signal(SIGPIPE, SIG_DFL);
        reading->rows =
            transaction_rows_new(arguments->rows, reading->names, stdout);
    }
    return reading->counts != NULL && (!html || reading->course != NULL) &&
           ((!rows && !files) || reading->names != NULL) &&
           (!arguments->grouped || reading->groups != NULL) &&
           (!rows || reading->rows != NULL);
}

static int
count_captures(const struct pcap_arguments *arguments)
{
    struct pcap_reading reading = {.arguments = arguments};
    /* Rows and progress on one terminal would be in each other's way. */
    const bool quiet = arguments->quiet || (arguments->output == PCAP_ROWS &&
                                            isatty(STDOUT_FILENO));
    int code;

    reading.started_ns = monotonic_ns();
    progress_start(quiet ? PROGRESS_QUIET : PROGRESS_NORMAL);
    code = prepare(&reading) ? read_and_print(&reading)
                             : failed("out of memory");
    if (reading.rows != NULL)
        transaction_rows_end(reading.rows);
    group_counts_free(reading.groups);
    file_names_free(reading.names);
    rpc_counts_free(reading.counts);
    capture_course_free(reading.course);
    return code;
}

/* The report of a stored run, from captures taken elsewhere. */
static int
report_of_run(const struct pcap_arguments *arguments)
{
    const struct report_options options = {
        .confidence = 95.0,
        .captures = arguments->paths,
        .capture_count = arguments->path_count,
    };
    char error[1024];
    int code;

    enter_sandbox(arguments, false);
    code = report_run(arguments->run, arguments->format, &options, stdout,
                      error, sizeof error);
    if (code == 1)
        return failed(error);
    return fflush(stdout) == 0 && !ferror(stdout) ? code : not_written();
}

int
cmd_pcap(int argc, char **argv)
{
    struct pcap_arguments arguments;
    int code = pcap_options_read(&arguments, argc, argv);

    if (code < 0)
        code = arguments.output == PCAP_RUN ? report_of_run(&arguments)
                                            : count_captures(&arguments);
    pcap_options_free(&arguments);
    return code;
}
