/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An NFS client of our own, on a connection of its own, that asks the server
 * what the kernel's client would answer from its caches: NULL calls (ping and
 * markers), and the program file's attributes.
 *
 * The only users of libtirpc are this file and nfs3_client.c, nfs4_client.c.
 * The calling process must ignore SIGPIPE. Calls give up after
 * NFS_PROBE_SECONDS; a connection that was lost is made once more.
 */
#ifndef NAT_CLIENT_NFS_PROBE_H
#define NAT_CLIENT_NFS_PROBE_H

#include "analysis/run_file.h"

#include <stdbool.h>
#include <stddef.h>

#define NFS_PROBE_SECONDS 5

struct nfs_probe;

struct nfs_probe_options {
    const char *address;    /* numeric */
    unsigned port;
    unsigned version;       /* 3 or 4 */
    unsigned mount_port;    /* NFSv3: of mountd; 0: ask rpcbind */
    const char *mount_address; /* NFSv3: NULL is address */
};

/* Connects and makes one NULL call.
 * @return 0, or -1 with one line in error: not answering, refused ... */
int nfs_probe_open(struct nfs_probe **probe,
                   const struct nfs_probe_options *options, char *error,
                   size_t error_size);

/* One NULL call. @return its round trip in ns, or -1 with error. */
int64_t nfs_probe_ping(struct nfs_probe *probe, char *error,
                       size_t error_size);

/* A NULL call whose AUTH_SYS machine name is nonce; fills marker but for
 * seen. @return 0, or -1 with error (and back_monotonic_ns unknown). */
int nfs_probe_marker(struct nfs_probe *probe, const char *nonce,
                     struct run_marker *marker, char *error,
                     size_t error_size);

/*
 * Finds a file: NFSv3 by MNT of export_path, then LOOKUP of each component of
 * rest; NFSv4 by LOOKUP of export_path and rest from the root.
 * RFC 1813 section 3.3.3 and appendix I, RFC 8881 section 18.13.
 * @return 0, or -1 with one line in error.
 */
int nfs_probe_find(struct nfs_probe *probe, const char *export_path,
                   const char *rest, char *error, size_t error_size);

/* GETATTR of the file found, uncached. @return 0, or -1 with error and attr
 * all unknown. */
int nfs_probe_getattr(struct nfs_probe *probe, struct run_attr *attr,
                      char *error, size_t error_size);

/* Hexadecimal, or NULL before nfs_probe_find(). */
const char *nfs_probe_handle(const struct nfs_probe *probe);
/* NFSv4: 0, or 1 when the server wanted a session. */
unsigned nfs_probe_minor_version(const struct nfs_probe *probe);

/* Adds the local ends of every connection made so far to ports (name:
 * "10.77.0.1:901"; count: how many connections had it). */
void nfs_probe_own_ports(const struct nfs_probe *probe,
                         struct run_counts *ports);

void nfs_probe_close(struct nfs_probe *probe);

/* Sets all to unknown. */
void run_attr_unknown(struct run_attr *attr);

#endif
