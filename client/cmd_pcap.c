/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/commands.h"

#include "analysis/capture_html.h"
#include "analysis/capture_report.h"
#include "client/progress.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define MOST_PORTS 64

struct pcap_arguments {
    const char *filter, *format;
    uint16_t ports[MOST_PORTS];
    size_t port_count;
    unsigned threads;
    double access_cache_s;
    bool quiet;
};

enum {
    OPTION_PORT = 256,
    OPTION_FORMAT,
    OPTION_THREADS,
    OPTION_ACCESS_CACHE,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"filter", required_argument, NULL, 'f'},
    {"port", required_argument, NULL, OPTION_PORT},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"access-cache", required_argument, NULL, OPTION_ACCESS_CACHE},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static void
usage(FILE *out)
{
    fputs("usage: nfs-atime-test pcap [options] FILE...\n"
          "\n"
          "Counts the RPCs in captures (pcap, pcapng; gzip, zstd; - is "
          "standard input).\n"
          "Several files are one capture, in the order given.\n"
          "\n"
          "  -f, --filter EXPR      take only packets that match (pcap-filter(7))\n"
          "      --port N           N is a server port too (2049, 20049 and 111 are)\n"
          "      --format FORMAT    text (default), json or html\n"
          "      --access-cache S   an equal ACCESS within S seconds is redundant (3)\n"
          "      --threads N        1: no helper thread; 0: as many as help (default)\n"
          "  -q, --quiet            no progress\n"
          "      --help, --version\n"
          "\n"
          "Exit status: 0 done; 1 failed; 2 wrong usage; 4 done, but a capture\n"
          "was cut short or could not be read to its end.\n", out);
}

static int
wrong_usage(const char *what, const char *value)
{
    fprintf(stderr, "nfs-atime-test pcap: %s%s%s; see nfs-atime-test pcap "
            "--help\n", what, value != NULL ? ": " : "",
            value != NULL ? value : "");
    return 2;
}

static bool
parse_unsigned(const char *text, unsigned long most, unsigned long *out)
{
    char *end;

    errno = 0;
    *out = strtoul(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-' &&
           *out <= most;
}

/* @return -1 to go on, or an exit status. */
static int
parse_arguments(int argc, char **argv, struct pcap_arguments *arguments)
{
    unsigned long number;
    int option;
    char *end;

    optind = 1;
    while ((option = getopt_long(argc, argv, "f:q", long_options, NULL)) !=
           -1) {
        switch (option) {
        case 'f':
            arguments->filter = optarg;
            break;
        case OPTION_PORT:
            if (!parse_unsigned(optarg, 65535, &number) || number == 0)
                return wrong_usage("not a port", optarg);
            if (arguments->port_count == MOST_PORTS)
                return wrong_usage("more than 64 ports", NULL);
            arguments->ports[arguments->port_count++] = (uint16_t)number;
            break;
        case OPTION_FORMAT:
            arguments->format = optarg;
            if (strcmp(optarg, "text") != 0 && strcmp(optarg, "json") != 0 &&
                strcmp(optarg, "html") != 0)
                return wrong_usage("no such format", optarg);
            break;
        case OPTION_THREADS:
            if (!parse_unsigned(optarg, 64, &number))
                return wrong_usage("not a number of threads", optarg);
            arguments->threads = (unsigned)number;
            break;
        case OPTION_ACCESS_CACHE:
            arguments->access_cache_s = strtod(optarg, &end);
            if (*end != '\0' || end == optarg ||
                !(arguments->access_cache_s >= 0 &&
                  arguments->access_cache_s <= 1e9))
                return wrong_usage("not a number of seconds", optarg);
            break;
        case 'q':
            arguments->quiet = true;
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
    return optind == argc ? wrong_usage("no capture file is named", NULL) : -1;
}

static unsigned
terminal_width(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO) ||
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

/* What a capture's transactions are counted in. */
struct pcap_counts {
    struct rpc_counts *counts;
    struct capture_course *course; /* NULL: not asked for */
};

static void
count_transaction(void *context, const struct rpc_transaction *tx)
{
    const struct pcap_counts *into = context;

    rpc_counts_transaction(into->counts, tx);
    if (into->course != NULL)
        capture_course_transaction(into->course, tx);
}

static void
count_late(void *context, const struct rpc_late *late)
{
    const struct pcap_counts *into = context;

    rpc_counts_late(into->counts, late);
}

static int
print_report(const struct pcap_arguments *arguments,
             const struct pcap_counts *counted,
             const struct capture_result *result)
{
    const struct capture_report report = {counted->counts, result,
                                          arguments->filter};

    if (counted->course != NULL) {
        capture_report_html(&report, counted->course, stdout);
        return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
    }
    if (strcmp(arguments->format, "json") == 0) {
        if (capture_report_json(&report, stdout) != 0)
            return -1;
        capture_report_nothing(&report, stderr);
    } else {
        capture_report_text(&report, terminal_width(), stdout);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}

int
cmd_pcap(int argc, char **argv)
{
    struct pcap_arguments arguments = {.format = "text", .access_cache_s = 3};
    struct capture_options options;
    struct capture_result result;
    struct rpc_transaction_sink sink;
    struct pcap_counts counted = {NULL, NULL};
    bool html;
    enum capture_status status;
    char error[1024];
    int code = parse_arguments(argc, argv, &arguments);

    if (code >= 0)
        return code;
    html = strcmp(arguments.format, "html") == 0;
    counted.counts =
        rpc_counts_new((int64_t)(arguments.access_cache_s * 1e9));
    counted.course = html ? capture_course_new() : NULL;
    if (counted.counts == NULL || (html && counted.course == NULL)) {
        fputs("nfs-atime-test pcap: out of memory\n", stderr);
        return 1;
    }
    sink.context = &counted;
    sink.transaction = count_transaction;
    sink.late = count_late;
    capture_options_default(&options);
    options.depth = html ? RPC_DEPTH_FULL : options.depth;
    options.filter = arguments.filter;
    options.ports = arguments.ports;
    options.port_count = arguments.port_count;
    options.threads = arguments.threads;
    status = capture_read((const char *const *)argv + optind,
                          (size_t)(argc - optind), &options, &sink, &result,
                          error, sizeof error);
    if (status == CAPTURE_FAILED) {
        fprintf(stderr, "nfs-atime-test pcap: %s\n", error);
        code = 1;
    } else if (print_report(&arguments, &counted, &result) != 0) {
        fputs("nfs-atime-test pcap: the report could not be written: no room, "
              "or the reader went away\n", stderr);
        code = 1;
    } else {
        code = status == CAPTURE_INCOMPLETE ? 4 : 0;
    }
    capture_result_free(&result);
    rpc_counts_free(counted.counts);
    capture_course_free(counted.course);
    return code;
}
