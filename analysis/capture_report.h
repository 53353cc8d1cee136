/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counts of a capture as text and as JSON (schema
 * nfs-atime-test.capture/1, docs/capture.schema.json). */
#ifndef NAT_ANALYSIS_CAPTURE_REPORT_H
#define NAT_ANALYSIS_CAPTURE_REPORT_H

#include "analysis/group_counts.h"
#include "analysis/rpc_counts.h"
#include "capture/capture.h"

#include <stdio.h>

struct capture_report {
    struct rpc_counts *counts;
    const struct capture_result *result;
    const char *filter; /* as given, or NULL */
    struct group_counts *groups; /* or NULL */
    const struct file_names *names; /* of the groups' files, or NULL */
    size_t most_groups; /* printed as text; 0: 20 */
};

/* A loss by name; the same names in every output. */
struct named_loss {
    const char *key;  /* JSON: "gap_bytes" */
    const char *text; /* "bytes missing in TCP streams" */
    uint64_t count;
    bool changes_counts; /* a count may be too small because of it */
};

/* Fills at most `most` entries and returns how many there are: all, zeros
 * included. */
size_t capture_losses(const struct capture_result *result,
                      struct named_loss *losses, size_t most);

/* @param width columns of the terminal, or 0 when it is none */
void capture_report_text(const struct capture_report *report, unsigned width,
                         FILE *out);
/* 0, or -1 when out of memory. */
int capture_report_json(const struct capture_report *report, FILE *out);

/* The sentence that says where reading stopped, and why; false when it went to
 * the inputs' end. */
bool capture_limit_text(const struct capture_result *result, char *text,
                        size_t size);

/* Why no RPC was found, as sentences on out; nothing when some were. */
void capture_report_nothing(const struct capture_report *report, FILE *out);

/* What of the inputs was not read, the limit, and the losses that are not 0; nothing
 * when there is neither. For outputs that have no place for them. */
void capture_report_losses(const struct capture_report *report, FILE *out);

#endif
