/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's own count of RPCs per mount: /proc/self/mountstats. A port to
 * another system supplies mount_stats_read().
 *
 * Each per-op line has a name and at least eight numbers (nine with statvers
 * 1.1, more one day); the first is how many were done. Names are taken as
 * they come. Counts for NFSv4 are of the client's kinds of COMPOUND.
 */
#ifndef NAT_CLIENT_MOUNT_STATS_H
#define NAT_CLIENT_MOUNT_STATS_H

#include "analysis/run_file.h"

#include <stdbool.h>
#include <stddef.h>

struct mount_stats {
    bool known;       /* false: no such device, or it has no per-op lines */
    struct run_counts operations;
    struct run_counts sent, received; /* bytes of RPC records */
    uint64_t transmissions; /* of all operations, retransmissions counted */
};

/* Finds the last NFS device on that mount point. Absent: known is false. */
void mount_stats_parse(const char *text, const char *mount_point,
                       struct mount_stats *stats);
void mount_stats_read(const char *mount_point, struct mount_stats *stats);
void mount_stats_free(struct mount_stats *stats);

/* after - before, zeros left out. *reset: some counter went down, and then
 * nothing is put into difference. */
void mount_stats_difference(const struct mount_stats *before,
                            const struct mount_stats *after,
                            struct run_counts *difference, bool *reset);

/* The same of the bytes, when no counter went down. */
void mount_stats_bytes(const struct mount_stats *before,
                       const struct mount_stats *after,
                       struct run_counts *sent, struct run_counts *received);

#endif
