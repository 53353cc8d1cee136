/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between nfs_probe.c and the two protocol versions. Private to them.
 */
#ifndef NAT_CLIENT_NFS_CLIENT_H
#define NAT_CLIENT_NFS_CLIENT_H

#include "client/nfs_probe.h"

#include <rpc/rpc.h>
#include <stdbool.h>
#include <stdint.h>

#define NFS_FILE_HANDLE_MAX 128 /* NFS4_FHSIZE; NFS3_FHSIZE is 64 */
#define NFS_PROGRAM 100003
#define MOUNT_PROGRAM 100005
#define PORTMAP_PROGRAM 100000

struct nfs_handle_bytes {
    uint32_t length;
    char bytes[NFS_FILE_HANDLE_MAX];
};

/* NFSv4.1 session, RFC 8881 section 2.10; one slot. */
struct nfs4_session {
    bool open;
    char id[16];
    uint64_t client_id;
    uint32_t sequence;
};

struct nfs_probe {
    CLIENT *client;
    AUTH *auth; /* of ordinary calls */
    char *address, *mount_address;
    unsigned port, version, mount_port;
    struct run_counts own_ports;
    bool found;
    struct nfs_handle_bytes handle;
    char handle_hex[2 * NFS_FILE_HANDLE_MAX + 1];
    unsigned minor_version;
    struct nfs4_session session;
};

/* A connection to a program of the server; NULL with error. Its local end is
 * noted in probe->own_ports. */
CLIENT *nfs_connect(struct nfs_probe *probe, const char *address,
                    unsigned port, uint32_t program, uint32_t version,
                    char *error, size_t error_size);
void nfs_disconnect(CLIENT *client);

/*
 * One call on probe->client, with one new connection when it was lost.
 * @return 0 or -1 with error.
 */
int nfs_call(struct nfs_probe *probe, uint32_t procedure, xdrproc_t encode,
             void *arguments, xdrproc_t decode, void *results, char *error,
             size_t error_size);

/* The next component of a path ("/a//b" gives "a", "b"); false at its end.
 * *path is moved behind it. */
bool next_component(const char **path, const char **name, size_t *length);

int nfs3_find(struct nfs_probe *probe, const char *export_path,
              const char *rest, char *error, size_t error_size);
int nfs3_getattr(struct nfs_probe *probe, struct run_attr *attr, char *error,
                 size_t error_size);
int nfs4_find(struct nfs_probe *probe, const char *export_path,
              const char *rest, char *error, size_t error_size);
int nfs4_getattr(struct nfs_probe *probe, struct run_attr *attr, char *error,
                 size_t error_size);
/* Gives session and client id back to the server. */
void nfs4_leave(struct nfs_probe *probe);

/* "NFS3ERR_NOENT" or "status 12345": static. */
const char *nfs_status_text(unsigned version, uint32_t status);

#endif
