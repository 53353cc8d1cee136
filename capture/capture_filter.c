/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* the BSD types that pcap.h uses */
#include "capture/capture_filter.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINKS 16

struct program {
    uint32_t link_type;
    bool usable;
    struct bpf_program code;
};

struct capture_filter {
    char *expression;
    unsigned count;
    struct program programs[MAX_LINKS];
};

/* DLT_ number of a LINKTYPE_ number, where the two differ. */
static int
data_link(uint32_t link_type)
{
    return link_type == 101 ? DLT_RAW : (int)link_type;
}

static struct program *
compile(struct capture_filter *filter, uint32_t link_type, char *error,
        size_t error_size)
{
    if (filter->count == MAX_LINKS) {
        return NULL;
    }
    struct program *program = &filter->programs[filter->count];
    pcap_t *dead = pcap_open_dead(data_link(link_type), 262144);
    if (dead == NULL) {
        return NULL;
    }
    program->link_type = link_type;
    program->usable = pcap_compile(dead, &program->code, filter->expression, 1,
                                   PCAP_NETMASK_UNKNOWN) == 0;
    if (!program->usable && error != NULL) {
        snprintf(error, error_size, "filter \"%s\": %s; see pcap-filter(7)",
                 filter->expression, pcap_geterr(dead));
    }
    pcap_close(dead);
    filter->count++;
    return program;
}

struct capture_filter *
capture_filter_new(const char *expression, char *error, size_t error_size)
{
    struct capture_filter *filter = calloc(1, sizeof *filter);
    if (filter != NULL) {
        filter->expression = strdup(expression);
    }
    if (filter == NULL || filter->expression == NULL) {
        snprintf(error, error_size, "filter: no memory");
        free(filter);
        return NULL;
    }
    struct program *program = compile(filter, 1, error, error_size);
    if (program == NULL || !program->usable) {
        capture_filter_free(filter);
        return NULL;
    }
    return filter;
}

void
capture_filter_free(struct capture_filter *filter)
{
    if (filter == NULL) {
        return;
    }
    for (unsigned i = 0; i < filter->count; i++) {
        if (filter->programs[i].usable) {
            pcap_freecode(&filter->programs[i].code);
        }
    }
    free(filter->expression);
    free(filter);
}

bool
capture_filter_match(struct capture_filter *filter, const struct packet *packet)
{
    struct program *program = NULL;
    for (unsigned i = 0; i < filter->count; i++) {
        if (filter->programs[i].link_type == packet->link_type) {
            program = &filter->programs[i];
        }
    }
    if (program == NULL) {
        program = compile(filter, packet->link_type, NULL, 0);
    }
    if (program == NULL || !program->usable) {
        return false;
    }
    struct pcap_pkthdr header = {
        .caplen = packet->captured,
        .len = packet->length,
    };
    return pcap_offline_filter(&program->code, &header, packet->data) != 0;
}
