/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation. One TCP connection to the mount's server and port,
 * from a reserved port when root, because exports are "secure" by default.
 * The library keeps a credential per CLIENT, so a marker is a NULL call with
 * another AUTH_SYS credential for its duration. Every local end that was ever
 * used is remembered: analysis keeps those calls apart from the execs'.
 */
#define _GNU_SOURCE /* SOCK_CLOEXEC and what rpc/rpc.h expects */
#include "client/nfs_client.h"

#include "capture/rpc_transaction.h"
#include "client/interfaces.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MACHINE_NAME "nfs-atime-test"
#define RESERVED_FIRST 665
#define RESERVED_LAST 1023
#define MAX_GROUPS 16 /* RFC 5531 appendix A */

static const struct timeval patience = {.tv_sec = NFS_PROBE_SECONDS};

void
run_attr_unknown(struct run_attr *attr)
{
    memset(attr, 0, sizeof(*attr));
    attr->atime_ns = attr->mtime_ns = attr->ctime_ns = RUN_UNKNOWN_NS;
}

const char *
nfs_status_text(unsigned version, uint32_t status)
{
    static char text[32];
    const char *name = nfs_status_name(version, status);

    if (name != NULL)
        return name;
    snprintf(text, sizeof(text), "status %u", status);
    return text;
}

bool
next_component(const char **path, const char **name, size_t *length)
{
    const char *at = *path + strspn(*path, "/");

    *name = at;
    *length = strcspn(at, "/");
    *path = at + *length;
    return *length > 0;
}

/* --- connections ---------------------------------------------------------- */

/* A port below 1024, if we may; else whichever the kernel gives. */
static void
bind_reserved(int fd, sa_family_t family)
{
    const unsigned span = RESERVED_LAST - RESERVED_FIRST + 1;
    unsigned start = (unsigned)(monotonic_ns() / 1000) % span;
    struct sockaddr_storage local = {.ss_family = family};
    socklen_t length = family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);

    if (geteuid() != 0)
        return;
    for (unsigned i = 0; i < span; i++) {
        in_port_t port =
            htons((uint16_t)(RESERVED_FIRST + (start + i) % span));

        if (family == AF_INET6)
            ((struct sockaddr_in6 *)&local)->sin6_port = port;
        else
            ((struct sockaddr_in *)&local)->sin_port = port;
        if (bind(fd, (struct sockaddr *)&local, length) == 0 ||
            errno != EADDRINUSE)
            return;
    }
}

/* @return 0 or errno. */
static int
connect_within(int fd, const struct sockaddr *address, socklen_t length)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int flags = fcntl(fd, F_GETFL), status = 0, ready;
    socklen_t status_length = sizeof(status);

    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    if (connect(fd, address, length) != 0) {
        if (errno != EINPROGRESS)
            return errno;
        do
            ready = poll(&wait, 1, NFS_PROBE_SECONDS * 1000);
        while (ready < 0 && errno == EINTR);
        if (ready == 0)
            return ETIMEDOUT;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &status, &status_length) != 0)
            return errno;
    }
    fcntl(fd, F_SETFL, flags);
    return status;
}

static void
note_own_port(struct nfs_probe *probe, int fd)
{
    struct sockaddr_storage local;
    socklen_t length = sizeof(local);
    char text[128];

    if (getsockname(fd, (struct sockaddr *)&local, &length) != 0)
        return;
    address_format((struct sockaddr *)&local, text, sizeof(text));
    run_counts_add(&probe->own_ports, text, 1);
}

CLIENT *
nfs_connect(struct nfs_probe *probe, const char *address, unsigned port,
            uint32_t program, uint32_t version, char *error,
            size_t error_size)
{
    struct sockaddr_storage server;
    struct netbuf to = {.buf = &server};
    socklen_t length;
    CLIENT *client;
    int fd, status, on = 1;

    if (address_parse(address, port, &server, &length) != 0) {
        set_error(error, error_size, "%s is not a network address", address);
        return NULL;
    }
    fd = socket(server.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        set_error(error, error_size, "socket: %s", strerror(errno));
        return NULL;
    }
    bind_reserved(fd, server.ss_family);
    status = connect_within(fd, (struct sockaddr *)&server, length);
    if (status != 0) {
        close(fd);
        set_error(error, error_size, "%s port %u: %s", address, port,
                  status == ETIMEDOUT ? "does not answer"
                                      : strerror(status));
        return NULL;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    to.len = to.maxlen = length;
    client = clnt_vc_create(fd, &to, program, version, 0, 0);
    if (client == NULL) {
        close(fd);
        set_error(error, error_size, "%s port %u: %s", address, port,
                  clnt_spcreateerror("rpc"));
        return NULL;
    }
    clnt_control(client, CLSET_FD_CLOSE, NULL);
    note_own_port(probe, fd);
    return client;
}

void
nfs_disconnect(CLIENT *client)
{
    if (client == NULL)
        return;
    client->cl_auth = authnone_create(); /* ours is destroyed elsewhere */
    clnt_destroy(client);
}

static AUTH *
sys_credential(const char *machine_name)
{
    gid_t groups[MAX_GROUPS];
    int count = getgroups(MAX_GROUPS, groups);
    char name[256];

    snprintf(name, sizeof(name), "%s", machine_name);
    return authunix_create(name, geteuid(), getegid(), count > 0 ? count : 0,
                           groups);
}

/* (Re)connects to the NFS service. */
static int
connect_nfs(struct nfs_probe *probe, char *error, size_t error_size)
{
    nfs_disconnect(probe->client);
    probe->client = nfs_connect(probe, probe->address, probe->port,
                                NFS_PROGRAM, probe->version, error,
                                error_size);
    if (probe->client == NULL)
        return -1;
    probe->client->cl_auth = probe->auth;
    return 0;
}

int
nfs_call(struct nfs_probe *probe, uint32_t procedure, xdrproc_t encode,
         void *arguments, xdrproc_t decode, void *results, char *error,
         size_t error_size)
{
    enum clnt_stat status = RPC_CANTSEND;

    for (int attempt = 0; attempt < 2; attempt++) {
        if (probe->client == NULL &&
            connect_nfs(probe, error, error_size) != 0)
            return -1;
        status = clnt_call(probe->client, procedure, encode, arguments,
                           decode, results, patience);
        if (status == RPC_SUCCESS)
            return 0;
        if (status != RPC_CANTSEND && status != RPC_CANTRECV)
            break;
        nfs_disconnect(probe->client);
        probe->client = NULL;
    }
    if (status == RPC_TIMEDOUT) {
        /* A late reply must not answer the next call. */
        nfs_disconnect(probe->client);
        probe->client = NULL;
    }
    return set_error(error, error_size, "%s port %u: NFSv%u call failed: %s",
                     probe->address, probe->port, probe->version,
                     clnt_sperrno(status));
}

/* --- what nfs_probe.h offers ---------------------------------------------- */

static bool_t
xdr_nothing(XDR *xdr, ...)
{
    (void)xdr;
    return TRUE;
}

static int
null_call(struct nfs_probe *probe, char *error, size_t error_size)
{
    return nfs_call(probe, 0, (xdrproc_t)xdr_nothing, NULL,
                    (xdrproc_t)xdr_nothing, NULL, error, error_size);
}

int
nfs_probe_open(struct nfs_probe **out, const struct nfs_probe_options *options,
               char *error, size_t error_size)
{
    struct nfs_probe *probe = need_memory(1, sizeof(*probe));

    probe->address = copy_text(options->address);
    probe->mount_address = copy_text(options->mount_address != NULL
                                         ? options->mount_address
                                         : options->address);
    probe->port = options->port;
    probe->version = options->version;
    probe->mount_port = options->mount_port;
    probe->auth = sys_credential(MACHINE_NAME);
    if (probe->auth == NULL)
        set_error(error, error_size, "no AUTH_SYS credential can be made");
    if (probe->auth == NULL || null_call(probe, error, error_size) != 0) {
        nfs_probe_close(probe);
        return -1;
    }
    *out = probe;
    return 0;
}

int64_t
nfs_probe_ping(struct nfs_probe *probe, char *error, size_t error_size)
{
    int64_t start = monotonic_ns();

    if (null_call(probe, error, error_size) != 0)
        return -1;
    return monotonic_ns() - start;
}

int
nfs_probe_marker(struct nfs_probe *probe, const char *nonce,
                 struct run_marker *marker, char *error, size_t error_size)
{
    AUTH *named = sys_credential(nonce), *usual = probe->auth;
    struct run_clock_pair sent;
    int result;

    free(marker->nonce);
    marker->nonce = copy_text(nonce);
    marker->seen = false;
    if (named == NULL)
        return set_error(error, error_size, "no credential for a marker");
    if (probe->client == NULL && connect_nfs(probe, error, error_size) != 0) {
        auth_destroy(named);
        sent = clock_pair();
        marker->sent_realtime_ns = sent.realtime_ns;
        marker->sent_monotonic_ns = sent.monotonic_ns;
        marker->back_monotonic_ns = RUN_UNKNOWN_NS;
        return -1;
    }
    probe->auth = probe->client->cl_auth = named;
    sent = clock_pair();
    result = null_call(probe, error, error_size);
    marker->sent_realtime_ns = sent.realtime_ns;
    marker->sent_monotonic_ns = sent.monotonic_ns;
    marker->back_monotonic_ns = result == 0 ? monotonic_ns() : RUN_UNKNOWN_NS;
    probe->auth = usual;
    if (probe->client != NULL)
        probe->client->cl_auth = usual;
    auth_destroy(named);
    return result;
}

int
nfs_probe_find(struct nfs_probe *probe, const char *export_path,
               const char *rest, char *error, size_t error_size)
{
    int result = probe->version == 3
                     ? nfs3_find(probe, export_path, rest, error, error_size)
                     : nfs4_find(probe, export_path, rest, error, error_size);

    probe->found = result == 0;
    probe->handle_hex[0] = '\0';
    for (uint32_t i = 0; probe->found && i < probe->handle.length; i++)
        sprintf(probe->handle_hex + 2 * i, "%02x",
                (unsigned char)probe->handle.bytes[i]);
    return result;
}

int
nfs_probe_getattr(struct nfs_probe *probe, struct run_attr *attr, char *error,
                  size_t error_size)
{
    run_attr_unknown(attr);
    if (!probe->found)
        return set_error(error, error_size, "the file was not found before");
    return probe->version == 3 ? nfs3_getattr(probe, attr, error, error_size)
                               : nfs4_getattr(probe, attr, error, error_size);
}

const char *
nfs_probe_handle(const struct nfs_probe *probe)
{
    return probe->found ? probe->handle_hex : NULL;
}

unsigned
nfs_probe_minor_version(const struct nfs_probe *probe)
{
    return probe->minor_version;
}

void
nfs_probe_own_ports(const struct nfs_probe *probe, struct run_counts *ports)
{
    for (size_t i = 0; i < probe->own_ports.length; i++)
        run_counts_add(ports, probe->own_ports.items[i].name,
                       probe->own_ports.items[i].count);
}

void
nfs_probe_close(struct nfs_probe *probe)
{
    if (probe == NULL)
        return;
    if (probe->client != NULL)
        nfs4_leave(probe);
    nfs_disconnect(probe->client);
    if (probe->auth != NULL)
        auth_destroy(probe->auth);
    for (size_t i = 0; i < probe->own_ports.length; i++)
        free(probe->own_ports.items[i].name);
    free(probe->own_ports.items);
    free(probe->address);
    free(probe->mount_address);
    free(probe);
}
