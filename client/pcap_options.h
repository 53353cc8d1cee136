/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of `pcap`. */
#ifndef NAT_CLIENT_PCAP_OPTIONS_H
#define NAT_CLIENT_PCAP_OPTIONS_H

#include "analysis/group_counts.h"
#include "analysis/report.h"
#include "analysis/transaction_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCAP_MOST_PORTS 64

enum pcap_output {
    PCAP_REPORT, /* counts, as `format` says */
    PCAP_ROWS,   /* --transactions, as `rows` says */
    PCAP_RUN,    /* --run: the report of that run */
};

struct pcap_arguments {
    const char **paths;
    size_t path_count;
    enum pcap_output output;
    enum report_format format; /* PCAP_REPORT: text, json or html */
    enum rows_format rows;
    const char *run;
    bool grouped; /* --by */
    enum group_by by;
    int64_t interval_ns;
    size_t top;         /* groups printed as text */
    const char *filter;
    size_t packet_limit; /* 0: none */
    uint16_t ports[PCAP_MOST_PORTS];
    size_t port_count;
    unsigned threads;
    double access_cache_s;
    size_t max_pending, max_connections, max_reorder_bytes; /* 0: default */
    bool quiet, verbose;
};

/* @return -1 to go on, or the exit status. Give the arguments to
 * pcap_options_free() in every case. */
int pcap_options_read(struct pcap_arguments *arguments, int argc, char **argv);
void pcap_options_free(struct pcap_arguments *arguments);

#endif
