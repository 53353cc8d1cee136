/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MNT, LOOKUP and GETATTR: RFC 1813 sections 3.3.1, 3.3.3 and appendix I. */
#define _GNU_SOURCE /* what rpc/rpc.h expects */
#include "client/nfs_client.h"

#include "capture/rpc_transaction.h"
#include "client/util.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NFS3_HANDLE_MAX 64
#define NFS3_MAX_NAME 255
#define MOUNT_PATH_MAX 1024 /* MNTPATHLEN */
#define NFS3_GETATTR 1
#define NFS3_LOOKUP 3
#define NFS3_JUKEBOX 10008
#define MOUNT3_MNT 1
#define MOUNT3_ACCES 13
#define PORTMAP_GETPORT 3
#define JUKEBOX_TRIES 20

static const struct timeval patience = {.tv_sec = NFS_PROBE_SECONDS};

static bool_t
xdr_handle3(XDR *xdr, struct nfs_handle_bytes *handle)
{
    char *bytes = handle->bytes;
    u_int length = handle->length;

    if (!xdr_bytes(xdr, &bytes, &length, NFS3_HANDLE_MAX))
        return FALSE;
    handle->length = length;
    return TRUE;
}

static bool_t
xdr_time3(XDR *xdr, int64_t *time_ns)
{
    uint32_t seconds = 0, nanoseconds = 0;

    if (!xdr_uint32_t(xdr, &seconds) || !xdr_uint32_t(xdr, &nanoseconds))
        return FALSE;
    *time_ns = (int64_t)seconds * 1000000000 + nanoseconds;
    return TRUE;
}

/* fattr3, section 2.6: type mode nlink uid gid size used rdev fsid fileid and
 * the three times. */
static bool_t
xdr_attr3(XDR *xdr, struct run_attr *attr)
{
    uint32_t words[5], device[2];
    uint64_t size, used, fsid, fileid;

    for (int i = 0; i < 5; i++)
        if (!xdr_uint32_t(xdr, &words[i]))
            return FALSE;
    if (!xdr_uint64_t(xdr, &size) || !xdr_uint64_t(xdr, &used) ||
        !xdr_uint32_t(xdr, &device[0]) || !xdr_uint32_t(xdr, &device[1]) ||
        !xdr_uint64_t(xdr, &fsid) || !xdr_uint64_t(xdr, &fileid))
        return FALSE;
    return xdr_time3(xdr, &attr->atime_ns) &&
           xdr_time3(xdr, &attr->mtime_ns) && xdr_time3(xdr, &attr->ctime_ns);
}

struct getattr3_result {
    uint32_t status;
    struct run_attr attr;
};

static bool_t
xdr_getattr3_result(XDR *xdr, struct getattr3_result *result)
{
    if (!xdr_uint32_t(xdr, &result->status))
        return FALSE;
    return result->status != 0 || xdr_attr3(xdr, &result->attr);
}

struct lookup3_arguments {
    struct nfs_handle_bytes *directory;
    char name[NFS3_MAX_NAME + 1];
};

static bool_t
xdr_lookup3_arguments(XDR *xdr, struct lookup3_arguments *arguments)
{
    char *name = arguments->name;

    return xdr_handle3(xdr, arguments->directory) &&
           xdr_string(xdr, &name, NFS3_MAX_NAME);
}

struct handle3_result {
    uint32_t status;
    struct nfs_handle_bytes handle;
};

/* Attributes behind the handle are left unread. */
static bool_t
xdr_handle3_result(XDR *xdr, struct handle3_result *result)
{
    if (!xdr_uint32_t(xdr, &result->status))
        return FALSE;
    return result->status != 0 || xdr_handle3(xdr, &result->handle);
}

static bool_t
xdr_path(XDR *xdr, char **path)
{
    return xdr_string(xdr, path, MOUNT_PATH_MAX);
}

struct getport_arguments {
    uint32_t program, version, protocol, port;
};

static bool_t
xdr_getport_arguments(XDR *xdr, struct getport_arguments *arguments)
{
    return xdr_uint32_t(xdr, &arguments->program) &&
           xdr_uint32_t(xdr, &arguments->version) &&
           xdr_uint32_t(xdr, &arguments->protocol) &&
           xdr_uint32_t(xdr, &arguments->port);
}

/* RFC 1833 section 3: the port of mountd. 0 with error. */
static unsigned
ask_portmap(struct nfs_probe *probe, char *error, size_t error_size)
{
    struct getport_arguments arguments = {MOUNT_PROGRAM, 3, IPPROTO_TCP, 0};
    uint32_t port = 0;
    enum clnt_stat status;
    CLIENT *client = nfs_connect(probe, probe->mount_address, 111,
                                 PORTMAP_PROGRAM, 2, error, error_size);

    if (client == NULL)
        return 0;
    status = clnt_call(client, PORTMAP_GETPORT,
                       (xdrproc_t)xdr_getport_arguments, (void *)&arguments,
                       (xdrproc_t)xdr_uint32_t, (void *)&port, patience);
    nfs_disconnect(client);
    if (status != RPC_SUCCESS)
        set_error(error, error_size, "%s: rpcbind: %s", probe->mount_address,
                  clnt_sperrno(status));
    else if (port == 0 || port > 65535)
        set_error(error, error_size, "%s: no MOUNT service over TCP",
                  probe->mount_address);
    else
        return port;
    return 0;
}

static int
mount_export(struct nfs_probe *probe, const char *path, char *error,
             size_t error_size)
{
    unsigned port = probe->mount_port != 0
                        ? probe->mount_port
                        : ask_portmap(probe, error, error_size);
    struct handle3_result result = {0};
    char *text = copy_text(path);
    enum clnt_stat status;
    CLIENT *client;

    client = port == 0 ? NULL
                       : nfs_connect(probe, probe->mount_address, port,
                                     MOUNT_PROGRAM, 3, error, error_size);
    if (client == NULL) {
        free(text);
        return -1;
    }
    client->cl_auth = probe->auth;
    status = clnt_call(client, MOUNT3_MNT, (xdrproc_t)xdr_path,
                       (void *)&text, (xdrproc_t)xdr_handle3_result,
                       (void *)&result, patience);
    nfs_disconnect(client);
    free(text);
    if (status != RPC_SUCCESS)
        return set_error(error, error_size, "MNT %s: %s", path,
                         clnt_sperrno(status));
    if (result.status != 0) {
        const char *name = mount_status_name(3, result.status);

        return set_error(error, error_size, "MNT %s: %s%s", path,
                         name != NULL ? name : "refused",
                         result.status == MOUNT3_ACCES && geteuid() != 0
                             ? " (mountd may want a caller that is root)"
                             : "");
    }
    probe->mount_port = port;
    probe->handle = result.handle;
    return 0;
}

static int
lookup(struct nfs_probe *probe, const char *name, size_t length, char *error,
       size_t error_size)
{
    struct lookup3_arguments arguments = {.directory = &probe->handle};
    struct handle3_result result = {0};

    if (length > NFS3_MAX_NAME)
        return set_error(error, error_size, "LOOKUP: name too long");
    memcpy(arguments.name, name, length);
    if (nfs_call(probe, NFS3_LOOKUP, (xdrproc_t)xdr_lookup3_arguments,
                 &arguments, (xdrproc_t)xdr_handle3_result, &result, error,
                 error_size) != 0)
        return -1;
    if (result.status != 0)
        return set_error(error, error_size, "LOOKUP %s: %s", arguments.name,
                         nfs_status_text(3, result.status));
    probe->handle = result.handle;
    return 0;
}

int
nfs3_find(struct nfs_probe *probe, const char *export_path, const char *rest,
          char *error, size_t error_size)
{
    const char *name;
    size_t length;

    if (mount_export(probe, export_path, error, error_size) != 0)
        return -1;
    while (next_component(&rest, &name, &length))
        if (lookup(probe, name, length, error, error_size) != 0)
            return -1;
    return 0;
}

int
nfs3_getattr(struct nfs_probe *probe, struct run_attr *attr, char *error,
             size_t error_size)
{
    struct getattr3_result result;

    for (int i = 0; i < JUKEBOX_TRIES; i++) {
        memset(&result, 0, sizeof(result));
        if (nfs_call(probe, NFS3_GETATTR, (xdrproc_t)xdr_handle3,
                     &probe->handle, (xdrproc_t)xdr_getattr3_result, &result,
                     error, error_size) != 0)
            return -1;
        if (result.status != NFS3_JUKEBOX)
            break;
        sleep_ns(100000000);
    }
    if (result.status != 0)
        return set_error(error, error_size, "GETATTR: %s",
                         nfs_status_text(3, result.status));
    *attr = result.attr;
    return 0;
}
