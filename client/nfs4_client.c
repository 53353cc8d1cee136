/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * COMPOUNDs of LOOKUP, GETFH and GETATTR: RFC 7530 section 16, RFC 8881
 * section 18.
 *
 * Theory of operation. Minor version 0 needs no state at all for these
 * operations, so it is tried first. A server that refuses it
 * (NFS4ERR_MINOR_VERS_MISMATCH) gets a 4.1 session with one slot, made by
 * EXCHANGE_ID and CREATE_SESSION; every COMPOUND then begins with SEQUENCE. A
 * session that the server has forgotten is made anew, once per call.
 *
 * Arguments are written with libtirpc's primitives into a buffer, operation by
 * operation, and handed over as they are; results are read in place, in the
 * order of the operations, into one structure with a member for each.
 */
#define _GNU_SOURCE /* what rpc/rpc.h expects */
#include "client/nfs_client.h"

#include "client/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NFS4_COMPOUND 1
#define ARGUMENT_ROOM 16384
#define MAX_NAME 255
#define DELAY_TRIES 20

/* RFC 8881 section 18: operation numbers. */
enum {
    OP4_GETATTR = 9,
    OP4_GETFH = 10,
    OP4_LOOKUP = 15,
    OP4_PUTFH = 22,
    OP4_PUTROOTFH = 24,
    OP4_EXCHANGE_ID = 42,
    OP4_CREATE_SESSION = 43,
    OP4_DESTROY_SESSION = 44,
    OP4_SEQUENCE = 53,
    OP4_DESTROY_CLIENTID = 57,
};

/* RFC 8881 section 15.1. */
enum {
    ERR4_DELAY = 10008,
    ERR4_MINOR_VERS_MISMATCH = 10021,
    ERR4_STALE_CLIENTID = 10022,
    ERR4_BADSESSION = 10052,
    ERR4_BADSLOT = 10053,
    ERR4_CONN_NOT_BOUND = 10055,
    ERR4_SEQ_MISORDERED = 10063,
    ERR4_DEADSESSION = 10078,
};

/* RFC 8881 section 5.8: attributes asked for, and only those. */
#define ATTR4_CHANGE 3
#define ATTR4_TIME_ACCESS 47
#define ATTR4_TIME_METADATA 52
#define ATTR4_TIME_MODIFY 53

struct compound {
    char bytes[ARGUMENT_ROOM];
    XDR xdr;
    bool overflow;
    uint32_t count;
    u_int count_position;
};

struct compound_result {
    uint32_t status;
    uint32_t failed_operation; /* 0: none, or the COMPOUND itself */
    struct nfs_handle_bytes handle;
    struct run_attr attr;
    uint64_t client_id;
    uint32_t create_sequence;
    char session_id[16];
};

/* --- arguments ------------------------------------------------------------ */

static void
put_word(struct compound *compound, uint32_t word)
{
    if (!xdr_uint32_t(&compound->xdr, &word))
        compound->overflow = true;
}

static void
put_long(struct compound *compound, uint64_t number)
{
    if (!xdr_uint64_t(&compound->xdr, &number))
        compound->overflow = true;
}

static void
put_fixed(struct compound *compound, const char *bytes, size_t length)
{
    /* libtirpc only reads it when encoding. */
    if (!xdr_opaque(&compound->xdr, (char *)(uintptr_t)bytes, (u_int)length))
        compound->overflow = true;
}

static void
put_opaque(struct compound *compound, const char *bytes, size_t length)
{
    put_word(compound, (uint32_t)length);
    if (length > 0)
        put_fixed(compound, bytes, length);
}

static void
put_operation(struct compound *compound, uint32_t number)
{
    put_word(compound, number);
    compound->count++;
}

/* tag, minorversion, argarray; with a session, SEQUENCE on slot 0. */
static void
begin(struct compound *compound, const struct nfs_probe *probe)
{
    memset(compound, 0, sizeof(*compound));
    xdrmem_create(&compound->xdr, compound->bytes, ARGUMENT_ROOM, XDR_ENCODE);
    put_opaque(compound, "nfs-atime-test", 14);
    put_word(compound, probe->minor_version);
    compound->count_position = xdr_getpos(&compound->xdr);
    put_word(compound, 0);
    if (probe->minor_version > 0 && probe->session.open) {
        put_operation(compound, OP4_SEQUENCE);
        put_fixed(compound, probe->session.id, sizeof(probe->session.id));
        put_word(compound, probe->session.sequence);
        put_word(compound, 0); /* slot */
        put_word(compound, 0); /* highest slot */
        put_word(compound, 0); /* cachethis */
    }
}

static bool_t
xdr_compound(XDR *xdr, struct compound *compound)
{
    u_int length = xdr_getpos(&compound->xdr);

    return xdr_opaque(xdr, compound->bytes, length);
}

/* --- results -------------------------------------------------------------- */

static bool
skip_opaque(XDR *xdr, uint32_t limit)
{
    char bytes[4], *none;
    uint32_t length;

    (void)none;
    if (!xdr_uint32_t(xdr, &length) || length > limit)
        return false;
    for (uint32_t done = 0; done < length; done += 4)
        if (!xdr_opaque(xdr, bytes, length - done < 4 ? length - done : 4))
            return false;
    return true;
}

static bool
get_time4(XDR *xdr, int64_t *time_ns)
{
    uint64_t seconds;
    uint32_t nanoseconds;
    int64_t value;

    if (!xdr_uint64_t(xdr, &seconds) || !xdr_uint32_t(xdr, &nanoseconds))
        return false;
    if (!__builtin_mul_overflow((int64_t)seconds, (int64_t)1000000000,
                                &value) &&
        !__builtin_add_overflow(value, (int64_t)nanoseconds, &value))
        *time_ns = value;
    return true;
}

static bool
get_attr4(XDR *xdr, struct run_attr *attr)
{
    uint32_t words, word, bits[2] = {0, 0}, length;

    run_attr_unknown(attr);
    if (!xdr_uint32_t(xdr, &words) || words > 16)
        return false;
    for (uint32_t i = 0; i < words; i++) {
        if (!xdr_uint32_t(xdr, &word))
            return false;
        if (i < 2)
            bits[i] = word;
    }
    if (!xdr_uint32_t(xdr, &length))
        return false;
    /* In the order of their numbers; nothing else was asked for. */
    if ((bits[0] & 1u << ATTR4_CHANGE) != 0) {
        if (!xdr_uint64_t(xdr, &attr->change))
            return false;
        attr->change_known = true;
    }
    if ((bits[1] & 1u << (ATTR4_TIME_ACCESS - 32)) != 0 &&
        !get_time4(xdr, &attr->atime_ns))
        return false;
    if ((bits[1] & 1u << (ATTR4_TIME_METADATA - 32)) != 0 &&
        !get_time4(xdr, &attr->ctime_ns))
        return false;
    return (bits[1] & 1u << (ATTR4_TIME_MODIFY - 32)) == 0 ||
           get_time4(xdr, &attr->mtime_ns);
}

static bool
get_handle4(XDR *xdr, struct nfs_handle_bytes *handle)
{
    char *bytes = handle->bytes;
    u_int length = 0;

    if (!xdr_bytes(xdr, &bytes, &length, NFS_FILE_HANDLE_MAX))
        return false;
    handle->length = length;
    return true;
}

/* EXCHANGE_ID4resok up to what is needed, the rest stepped over: flags,
 * SP4_NONE, server owner, scope, implementation. */
static bool
get_exchange_id(XDR *xdr, struct compound_result *result)
{
    uint32_t flags, how, count, word;
    uint64_t number;

    if (!xdr_uint64_t(xdr, &result->client_id) ||
        !xdr_uint32_t(xdr, &result->create_sequence) ||
        !xdr_uint32_t(xdr, &flags) || !xdr_uint32_t(xdr, &how) || how != 0)
        return false;
    if (!xdr_uint64_t(xdr, &number) || !skip_opaque(xdr, 1024) ||
        !skip_opaque(xdr, 1024) || !xdr_uint32_t(xdr, &count) || count > 1)
        return false;
    if (count == 0)
        return true;
    return skip_opaque(xdr, 4096) && skip_opaque(xdr, 4096) &&
           xdr_uint64_t(xdr, &number) && xdr_uint32_t(xdr, &word);
}

static bool
get_channel(XDR *xdr)
{
    uint32_t word, count;

    for (int i = 0; i < 6; i++)
        if (!xdr_uint32_t(xdr, &word))
            return false;
    if (!xdr_uint32_t(xdr, &count) || count > 1)
        return false;
    return count == 0 || xdr_uint32_t(xdr, &word);
}

static bool
get_create_session(XDR *xdr, struct compound_result *result)
{
    uint32_t word;

    return xdr_opaque(xdr, result->session_id, sizeof(result->session_id)) &&
           xdr_uint32_t(xdr, &word) && xdr_uint32_t(xdr, &word) &&
           get_channel(xdr) && get_channel(xdr);
}

static bool
get_sequence(XDR *xdr)
{
    char id[16];
    uint32_t word;

    if (!xdr_opaque(xdr, id, sizeof(id)))
        return false;
    for (int i = 0; i < 5; i++)
        if (!xdr_uint32_t(xdr, &word))
            return false;
    return true;
}

static bool
get_operation(XDR *xdr, uint32_t number, struct compound_result *result)
{
    switch (number) {
    case OP4_GETATTR:
        return get_attr4(xdr, &result->attr);
    case OP4_GETFH:
        return get_handle4(xdr, &result->handle);
    case OP4_EXCHANGE_ID:
        return get_exchange_id(xdr, result);
    case OP4_CREATE_SESSION:
        return get_create_session(xdr, result);
    case OP4_SEQUENCE:
        return get_sequence(xdr);
    default:
        return true; /* the others that are sent give a status alone */
    }
}

static bool_t
xdr_compound_result(XDR *xdr, struct compound_result *result)
{
    uint32_t count, number, status;

    if (!xdr_uint32_t(xdr, &result->status) || !skip_opaque(xdr, 1024) ||
        !xdr_uint32_t(xdr, &count))
        return FALSE;
    for (uint32_t i = 0; i < count; i++) {
        if (!xdr_uint32_t(xdr, &number) || !xdr_uint32_t(xdr, &status))
            return FALSE;
        if (status != 0) {
            result->failed_operation = number;
            return TRUE; /* RFC 8881 section 2.3: nothing after it */
        }
        if (!get_operation(xdr, number, result))
            return FALSE;
    }
    return TRUE;
}

/* --- calls ---------------------------------------------------------------- */

/* Ends the arguments and calls. @return 0 when an answer came, whatever its
 * status. */
static int
send_compound(struct nfs_probe *probe, struct compound *compound,
              struct compound_result *result, char *error, size_t error_size)
{
    u_int end = xdr_getpos(&compound->xdr);

    xdr_setpos(&compound->xdr, compound->count_position);
    put_word(compound, compound->count);
    xdr_setpos(&compound->xdr, end);
    if (compound->overflow)
        return set_error(error, error_size, "COMPOUND: path too long");
    memset(result, 0, sizeof(*result));
    return nfs_call(probe, NFS4_COMPOUND, (xdrproc_t)xdr_compound, compound,
                    (xdrproc_t)xdr_compound_result, result, error,
                    error_size);
}

static int
refused(const struct compound_result *result, const char *what, char *error,
        size_t error_size)
{
    return set_error(error, error_size, "%s: %s", what,
                     nfs_status_text(4, result->status));
}

static int
exchange_id(struct nfs_probe *probe, struct compound *compound,
            struct compound_result *result, char *error, size_t error_size)
{
    char owner[64], verifier[8];
    int64_t now = realtime_ns();

    memcpy(verifier, &now, sizeof(verifier));
    snprintf(owner, sizeof(owner), "nfs-atime-test %ld %lld", (long)getpid(),
             (long long)now);
    begin(compound, probe);
    put_operation(compound, OP4_EXCHANGE_ID);
    put_fixed(compound, verifier, sizeof(verifier));
    put_opaque(compound, owner, strlen(owner));
    put_word(compound, 0); /* flags */
    put_word(compound, 0); /* SP4_NONE */
    put_word(compound, 0); /* no implementation id */
    if (send_compound(probe, compound, result, error, error_size) != 0)
        return -1;
    return result->status == 0
               ? 0
               : refused(result, "EXCHANGE_ID", error, error_size);
}

static void
put_channel(struct compound *compound)
{
    put_word(compound, 0);     /* header padding */
    put_word(compound, 65536); /* request */
    put_word(compound, 65536); /* response */
    put_word(compound, 4096);  /* cached response */
    put_word(compound, 64);    /* operations */
    put_word(compound, 1);     /* slots */
    put_word(compound, 0);     /* no RDMA */
}

/* RFC 8881 sections 18.35 and 18.36. */
static int
open_session(struct nfs_probe *probe, char *error, size_t error_size)
{
    struct compound *compound = need_memory(1, sizeof(*compound));
    struct compound_result result;
    int status;

    probe->session.open = false;
    status = exchange_id(probe, compound, &result, error, error_size);
    if (status == 0) {
        probe->session.client_id = result.client_id;
        begin(compound, probe);
        put_operation(compound, OP4_CREATE_SESSION);
        put_long(compound, result.client_id);
        put_word(compound, result.create_sequence);
        put_word(compound, 0); /* flags */
        put_channel(compound);
        put_channel(compound);
        put_word(compound, 0x40000000); /* callback program, unused */
        put_word(compound, 1);          /* one callback security: */
        put_word(compound, 0);          /* AUTH_NONE */
        status = send_compound(probe, compound, &result, error, error_size);
        if (status == 0 && result.status != 0)
            status = refused(&result, "CREATE_SESSION", error, error_size);
    }
    if (status == 0) {
        memcpy(probe->session.id, result.session_id, 16);
        probe->session.sequence = 1;
        probe->session.open = true;
    }
    free(compound);
    return status;
}

static bool
session_lost(uint32_t status)
{
    return status == ERR4_BADSESSION || status == ERR4_BADSLOT ||
           status == ERR4_DEADSESSION || status == ERR4_SEQ_MISORDERED ||
           status == ERR4_CONN_NOT_BOUND || status == ERR4_STALE_CLIENTID;
}

/*
 * Calls what `fill` writes until there is an answer that is not "later", "not
 * this minor version" or "which session?".
 */
static int
call_compound(struct nfs_probe *probe,
              void (*fill)(struct compound *, const void *),
              const void *context, struct compound_result *result,
              char *error, size_t error_size)
{
    struct compound *compound = need_memory(1, sizeof(*compound));
    int status = 0, sessions = 0;

    for (int attempt = 0; attempt < DELAY_TRIES; attempt++) {
        if (probe->minor_version > 0 && !probe->session.open &&
            (sessions++ > 1 ||
             open_session(probe, error, error_size) != 0)) {
            status = -1;
            break;
        }
        begin(compound, probe);
        fill(compound, context);
        status = send_compound(probe, compound, result, error, error_size);
        if (status != 0)
            break;
        if (probe->session.open && result->failed_operation != OP4_SEQUENCE)
            probe->session.sequence++;
        if (result->status == ERR4_MINOR_VERS_MISMATCH &&
            probe->minor_version == 0)
            probe->minor_version = 1;
        else if (probe->minor_version > 0 && session_lost(result->status))
            probe->session.open = false;
        else if (result->status == ERR4_DELAY)
            sleep_ns(100000000);
        else
            break;
    }
    free(compound);
    return status;
}

struct two_paths {
    const char *first, *second;
};

static void
fill_lookup(struct compound *compound, const void *context)
{
    const struct two_paths *paths = context;
    const char *halves[2] = {paths->first, paths->second};

    put_operation(compound, OP4_PUTROOTFH);
    for (int i = 0; i < 2; i++) {
        const char *name;
        size_t length;

        while (next_component(&halves[i], &name, &length)) {
            put_operation(compound, OP4_LOOKUP);
            put_opaque(compound, name, length);
        }
    }
    put_operation(compound, OP4_GETFH);
}

int
nfs4_find(struct nfs_probe *probe, const char *export_path, const char *rest,
          char *error, size_t error_size)
{
    struct two_paths paths = {export_path, rest};
    struct compound_result result;

    if (call_compound(probe, fill_lookup, &paths, &result, error,
                      error_size) != 0)
        return -1;
    if (result.status != 0)
        return set_error(error, error_size, "LOOKUP %s%s: %s", export_path,
                         rest, nfs_status_text(4, result.status));
    probe->handle = result.handle;
    return 0;
}

static void
fill_getattr(struct compound *compound, const void *context)
{
    const struct nfs_handle_bytes *handle = context;

    put_operation(compound, OP4_PUTFH);
    put_opaque(compound, handle->bytes, handle->length);
    put_operation(compound, OP4_GETATTR);
    put_word(compound, 2);
    put_word(compound, 1u << ATTR4_CHANGE);
    put_word(compound, 1u << (ATTR4_TIME_ACCESS - 32) |
                           1u << (ATTR4_TIME_METADATA - 32) |
                           1u << (ATTR4_TIME_MODIFY - 32));
}

int
nfs4_getattr(struct nfs_probe *probe, struct run_attr *attr, char *error,
             size_t error_size)
{
    struct compound_result result;

    if (call_compound(probe, fill_getattr, &probe->handle, &result, error,
                      error_size) != 0)
        return -1;
    if (result.status != 0)
        return set_error(error, error_size, "GETATTR: %s",
                         nfs_status_text(4, result.status));
    *attr = result.attr;
    return 0;
}

static void
put_destroy(struct compound *compound, const struct nfs_probe *probe,
            uint32_t operation)
{
    put_operation(compound, operation);
    if (operation == OP4_DESTROY_SESSION)
        put_fixed(compound, probe->session.id, sizeof(probe->session.id));
    else
        put_long(compound, probe->session.client_id);
}

void
nfs4_leave(struct nfs_probe *probe)
{
    static const uint32_t last[] = {OP4_DESTROY_SESSION, OP4_DESTROY_CLIENTID};
    struct compound *compound;
    struct compound_result result;

    if (!probe->session.open)
        return;
    /* Without SEQUENCE, each in a COMPOUND of its own, RFC 8881 18.37.3. */
    probe->session.open = false;
    compound = need_memory(1, sizeof(*compound));
    for (size_t i = 0; i < 2; i++) {
        begin(compound, probe);
        put_destroy(compound, probe, last[i]);
        if (send_compound(probe, compound, &result, NULL, 0) != 0)
            break;
    }
    free(compound);
}
