/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel says of the mount a directory lies on.
 *
 * A port to another system supplies mount_table_read() (every mounted file
 * system with its options as text) and mount_describe_nfs(); Linux takes them
 * from /proc/self/mountinfo, proc(5).
 */
#ifndef NAT_CLIENT_NFS_MOUNT_H
#define NAT_CLIENT_NFS_MOUNT_H

#include "analysis/run_file.h"

#include <stdbool.h>
#include <stddef.h>

struct mount_entry {
    unsigned major, minor;
    char *root;        /* what of the file system is mounted: "/" */
    char *mount_point;
    char *type;        /* "nfs", "nfs4", "ext4" */
    char *device;      /* "10.77.0.2:/srv" */
    char *options;     /* of the mount, then of the file system */
};

struct mount_table {
    struct mount_entry *items;
    size_t length;
};

/* From the text of mountinfo. Lines that are no mountinfo are an error.
 * @return 0, or -1 with one line in error. */
int mount_table_parse(const char *text, struct mount_table *table,
                      char *error, size_t error_size);
int mount_table_read(struct mount_table *table, char *error,
                     size_t error_size);
void mount_table_free(struct mount_table *table);

/*
 * The mount on which path (absolute, without "." and "..") lies: the longest
 * mount point that is a prefix of it, the last one mounted if several are
 * equal. NULL when the table is empty.
 */
const struct mount_entry *mount_table_find(const struct mount_table *table,
                                           const char *path);

bool mount_is_nfs(const struct mount_entry *entry);

/* Looks for "name" or "name=value" among comma-separated options.
 * @return whether it is there; value ("" without one) into value. */
bool mount_option(const char *options, const char *name, char *value,
                  size_t size);

/*
 * Fills kind, mount_point, device, type, options and, for NFS, server and
 * protocol; wire_shows_all and why_not (RDMA, TLS, LOCALIO).
 */
void mount_describe(const struct mount_entry *entry,
                    struct run_filesystem *filesystem);
/* Frees what mount_describe() filled. */
void mount_forget(struct run_filesystem *filesystem);

/* Which of noatime, relatime, strictatime, nodiratime stand in the options of
 * an NFS mount: they have no effect there (nfs(5)). NULL when none; else one
 * of them, static. */
const char *mount_idle_atime_option(const char *options);

#endif
