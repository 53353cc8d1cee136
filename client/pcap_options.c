/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/pcap_options.h"

#include "client/util.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_PORT = 256,
    OPTION_FORMAT,
    OPTION_TRANSACTIONS,
    OPTION_BY,
    OPTION_TOP,
    OPTION_RUN,
    OPTION_THREADS,
    OPTION_ACCESS_CACHE,
    OPTION_MAX_PENDING,
    OPTION_MAX_CONNECTIONS,
    OPTION_MAX_REORDER,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"count", required_argument, NULL, 'c'},
    {"read", required_argument, NULL, 'r'},
    {"filter", required_argument, NULL, 'f'},
    {"port", required_argument, NULL, OPTION_PORT},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"transactions", optional_argument, NULL, OPTION_TRANSACTIONS},
    {"by", required_argument, NULL, OPTION_BY},
    {"top", required_argument, NULL, OPTION_TOP},
    {"run", required_argument, NULL, OPTION_RUN},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"access-cache", required_argument, NULL, OPTION_ACCESS_CACHE},
    {"max-pending", required_argument, NULL, OPTION_MAX_PENDING},
    {"max-connections", required_argument, NULL, OPTION_MAX_CONNECTIONS},
    {"max-reorder", required_argument, NULL, OPTION_MAX_REORDER},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static void
usage(FILE *out)
{
    fputs("Usage: nfs-atime-test pcap [options] FILE...\n"
          "Counts the RPCs in captures: pcap, pcapng, snoop; gzip, zstd; - is standard\n"
          "input. Several files are one capture, in the order given.\n"
          "\n"
          "  --format FORMAT    text (default), json or html\n"
          "  --by WHAT          groups, too: client, server, file, uid, or an interval\n"
          "                     of time such as 10s, 500ms, 1m\n"
          "  --top N            print the N groups with most calls (20)\n"
          "  --transactions[=tsv|jsonl]  one row per RPC in place of the report\n"
          "  --run RUN          the report of that run from these captures, joined by\n"
          "                     their markers (--format as for report)\n"
          "  -c, --count N      stop after N packets, of all files together, that\n"
          "                     passed the filter\n"
          "  -f, --filter EXPR  take only packets that match (pcap-filter(7))\n"
          "  --port N           N is a server port too (2049, 20049, 111 are)\n"
          "  --access-cache S   an equal ACCESS within S seconds is redundant (3)\n"
          "  -q, --quiet        no progress\n"
          "  -h, --help, --version; more: man nfs-atime-test-pcap\n"
          "\n"
          "Exit status: 0 done; 1 failed; 2 wrong usage; 4 done, but a capture was cut\n"
          "short or could not be read to its end.\n", out);
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

static bool
parse_seconds(const char *text, double *seconds)
{
    char *end;

    *seconds = strtod(text, &end);
    return *end == '\0' && end != text && *seconds >= 0 && *seconds <= 1e9;
}

/* "500ms", "10s", "1m", "10": nanoseconds above 0, or -1. */
static int64_t
parse_interval(const char *text)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3},
                 {"m", 60e9}, {"h", 3600e9}};
    char *end;
    const double number = strtod(text, &end);
    size_t i;

    if (end == text || !(number > 0 && number <= 1e9))
        return -1;
    for (i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].unit) == 0 && number * units[i].ns >= 1000 &&
            number * units[i].ns < 1e18)
            return (int64_t)(number * units[i].ns + 0.5);
    return -1;
}

static int
read_by(struct pcap_arguments *arguments, const char *text)
{
    enum group_by by;

    arguments->grouped = true;
    for (by = GROUP_BY_CLIENT; by < GROUP_BY_INTERVAL; by++) {
        if (strcmp(text, group_by_name(by)) == 0) {
            arguments->by = by;
            return -1;
        }
    }
    arguments->by = GROUP_BY_INTERVAL;
    arguments->interval_ns = parse_interval(text);
    return arguments->interval_ns > 0
               ? -1
               : wrong_usage("neither client, server, file, uid nor an "
                             "interval from 1us on", text);
}

static int
read_rows(struct pcap_arguments *arguments, const char *text)
{
    arguments->output = PCAP_ROWS;
    if (text == NULL || strcmp(text, "tsv") == 0)
        arguments->rows = ROWS_TSV;
    else if (strcmp(text, "jsonl") == 0)
        arguments->rows = ROWS_JSONL;
    else
        return wrong_usage("rows are tsv or jsonl, not", text);
    return -1;
}

/* Options that are a number from 1 on. */
static int
read_number(struct pcap_arguments *arguments, int option, const char *text)
{
    const unsigned long most = option == OPTION_PORT          ? 65535
                               : option == OPTION_MAX_REORDER ? 65536
                               : option == 'c'                ? UINT32_MAX
                                                              : 16777216;
    unsigned long number;

    if (!parse_unsigned(text, most, &number) || number == 0) {
        char what[64];

        snprintf(what, sizeof what, "not a number from 1 to %lu", most);
        return wrong_usage(what, text);
    }
    switch (option) {
    case OPTION_PORT:
        if (arguments->port_count == PCAP_MOST_PORTS)
            return wrong_usage("more than 64 ports", NULL);
        arguments->ports[arguments->port_count++] = (uint16_t)number;
        break;
    case 'c':
        arguments->packet_limit = number;
        break;
    case OPTION_TOP:
        arguments->top = number;
        break;
    case OPTION_MAX_PENDING:
        arguments->max_pending = number;
        break;
    case OPTION_MAX_CONNECTIONS:
        arguments->max_connections = number;
        break;
    default:
        arguments->max_reorder_bytes = (size_t)number << 20;
    }
    return -1;
}

static int
read_option(struct pcap_arguments *arguments, int option, const char *text)
{
    unsigned long number;

    switch (option) {
    case 'r':
        arguments->paths[arguments->path_count++] = text;
        return -1;
    case 'f':
        arguments->filter = text;
        return -1;
    case 'q':
        arguments->quiet = true;
        return -1;
    case 'v':
        arguments->verbose = true;
        return -1;
    case 'n': /* names are never looked up */
        return -1;
    case OPTION_FORMAT:
        arguments->format = report_format_by_name(text);
        return arguments->format == REPORT_FORMAT_COUNT
                   ? wrong_usage("not text, json or html", text)
                   : -1;
    case OPTION_TRANSACTIONS:
        return read_rows(arguments, text);
    case OPTION_BY:
        return read_by(arguments, text);
    case OPTION_RUN:
        arguments->output = PCAP_RUN;
        arguments->run = text;
        return -1;
    case OPTION_THREADS:
        if (!parse_unsigned(text, 64, &number))
            return wrong_usage("not a number of threads", text);
        arguments->threads = (unsigned)number;
        return -1;
    case OPTION_ACCESS_CACHE:
        return parse_seconds(text, &arguments->access_cache_s)
                   ? -1
                   : wrong_usage("not a number of seconds", text);
    case 'c':
    case OPTION_PORT:
    case OPTION_TOP:
    case OPTION_MAX_PENDING:
    case OPTION_MAX_CONNECTIONS:
    case OPTION_MAX_REORDER:
        return read_number(arguments, option, text);
    case 'h':
        usage(stdout);
        return 0;
    case OPTION_VERSION:
        printf("nfs-atime-test %s\n", NAT_VERSION);
        return 0;
    default:
        return wrong_usage("no such option", NULL);
    }
}

/* What does not go together. */
static int
check(const struct pcap_arguments *arguments)
{
    const bool report = arguments->output == PCAP_REPORT;

    if (arguments->path_count == 0)
        return wrong_usage("no capture file is named", NULL);
    if (arguments->run != NULL && arguments->output == PCAP_ROWS)
        return wrong_usage("--run and --transactions exclude each other",
                           NULL);
    if (arguments->grouped &&
        (!report || arguments->format == REPORT_HTML))
        return wrong_usage("--by goes with --format text and json", NULL);
    if (arguments->run != NULL &&
        (arguments->filter != NULL || arguments->port_count > 0 ||
         arguments->packet_limit > 0))
        return wrong_usage("--run takes the ports from the run, and all "
                           "packets: no --filter, --port and --count", NULL);
    if (report && arguments->format != REPORT_TEXT &&
        arguments->format != REPORT_JSON && arguments->format != REPORT_HTML)
        return wrong_usage("a capture alone is reported as text, json or "
                           "html", NULL);
    return -1;
}

int
pcap_options_read(struct pcap_arguments *arguments, int argc, char **argv)
{
    int option, status = -1;
    char problem[256];

    memset(arguments, 0, sizeof *arguments);
    arguments->access_cache_s = 3;
    arguments->format = REPORT_TEXT;
    arguments->paths = calloc((size_t)argc, sizeof(*arguments->paths));
    if (arguments->paths == NULL) {
        fputs("nfs-atime-test pcap: out of memory\n", stderr);
        return 1;
    }
    optind = 1;
    opterr = 0;
    while (status < 0 && (option = getopt_long(argc, argv, ":c:r:f:qvnh",
                                               long_options, NULL)) != -1)
        status = option == '?' || option == ':'
                     ? wrong_usage(option_problem(option, argv, long_options,
                                                  problem, sizeof problem),
                                   NULL)
                     : read_option(arguments, option, optarg);
    if (status >= 0)
        return status;
    while (optind < argc)
        arguments->paths[arguments->path_count++] = argv[optind++];
    return check(arguments);
}

void
pcap_options_free(struct pcap_arguments *arguments)
{
    free(arguments->paths);
}
