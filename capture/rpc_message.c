/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capture/rpc_message.h"

/* Offsets of the machine name's length and bytes in an authsys_parms, RFC 5531
 * appendix A: the stamp in front of it changes from call to call. */
#define AUTH_SYS_STAMP 4
#define AUTH_SYS_NAME 8
/* RFC 5531 appendix A: machinename<255>, gids<16>. */
#define AUTH_SYS_NAME_MAX 255
#define AUTH_SYS_GIDS_MAX 16
/* Linux and FreeBSD servers accept more groups than the RFC names. */
#define AUTH_SYS_GIDS_SEEN 64

#define HASH_A UINT64_C(0xd6e8feb86659fd93)
#define HASH_B UINT64_C(0x9fb21c651e98df25)
#define HASH_STEP UINT64_C(0x9e3779b97f4a7c15)

__extension__ typedef unsigned __int128 wide;

/* Both halves of the product, so that each bit of it counts. */
static inline uint64_t
fold(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A sum of products, each with a key of its own, so that none waits for the
 * one before it. */
uint64_t
rpc_hash(const void *data, uint32_t length, uint64_t seed)
{
    const uint8_t *p = data;
    uint64_t h = seed ^ (length * HASH_STEP);
    uint64_t key = HASH_A;
    uint64_t words[2];

    for (; length >= 16; length -= 16, p += 16) {
        memcpy(words, p, 16);
        h += fold(words[0] ^ key, words[1] ^ key ^ HASH_B);
        key += HASH_STEP;
    }
    words[0] = 0;
    words[1] = 0;
    memcpy(words, p, length);
    h += fold(words[0] ^ key, words[1] ^ key ^ HASH_B);
    h = fold(h ^ HASH_A, HASH_B);
    h ^= h >> 32;
    return h != 0 ? h : 1;
}

/* RFC 5531 appendix A: authsys_parms. */
static void
read_auth_sys(struct xdrc *c, struct rpc_credential *cred)
{
    uint32_t gids;

    xdrc_skip(c, AUTH_SYS_STAMP);
    cred->machine_name = (const char *)xdrc_opaque(c, AUTH_SYS_NAME_MAX,
                                                   &cred->machine_name_length);
    cred->uid = xdrc_u32(c);
    cred->gid = xdrc_u32(c);
    gids = xdrc_skip_array(c, 4);
    if (gids > AUTH_SYS_GIDS_SEEN) {
        xdrc_fail(c, XDRC_LIMIT);
    }
}

/* RFC 2203 section 5: rpc_gss_cred_t. Returns the hash of what stays equal
 * from call to call: the context handle and the service. */
static uint64_t
read_auth_gss(struct xdrc *c, struct rpc_credential *cred)
{
    const uint8_t *handle;
    uint32_t length;

    (void)xdrc_u32(c); /* version */
    cred->gss_procedure = xdrc_u32(c);
    (void)xdrc_u32(c); /* sequence number */
    cred->gss_service = xdrc_u32(c);
    handle = xdrc_opaque(c, SUNRPC_AUTH_BODY_MAX, &length);
    if (handle == NULL) {
        return 0;
    }
    return rpc_hash(handle, length, cred->gss_service);
}

static bool
remembered(const struct rpc_credential_memo *memo, uint32_t flavor,
           const uint8_t *body, uint32_t length)
{
    return memo != NULL && memo->length == length && length > AUTH_SYS_STAMP &&
           memo->credential.flavor == flavor &&
           memcmp(memo->body + AUTH_SYS_STAMP, body + AUTH_SYS_STAMP,
                  length - AUTH_SYS_STAMP) == 0;
}

static void
remember(struct rpc_credential_memo *memo, const uint8_t *body, uint32_t length,
         const struct rpc_credential *cred)
{
    memo->length = length;
    memo->credential = *cred;
    memcpy(memo->body, body, length);
}

/* The inside of a credential's body: a failure here is this field's alone. */
static void
read_credential_body(const uint8_t *body, uint32_t length,
                     struct rpc_credential *cred)
{
    struct rpc_piece piece;
    struct xdrc c;

    uint64_t hash = 0;

    xdrc_init_flat(&c, &piece, body, length);
    if (cred->flavor == SUNRPC_AUTH_SYS) {
        read_auth_sys(&c, cred);
        if (length > AUTH_SYS_STAMP) {
            hash = rpc_hash(body + AUTH_SYS_STAMP, length - AUTH_SYS_STAMP,
                            cred->flavor);
        }
    } else if (cred->flavor == SUNRPC_AUTH_GSS) {
        hash = read_auth_gss(&c, cred);
    }
    cred->hash = hash != 0 ? hash : rpc_hash(body, length, cred->flavor);
}

/* RFC 5531 section 8.2: opaque_auth as credential. */
static void
read_credential(struct xdrc *c, struct rpc_credential_memo *memo,
                struct rpc_credential *cred)
{
    uint32_t flavor = xdrc_u32(c);
    uint32_t length;
    const uint8_t *body = xdrc_opaque(c, SUNRPC_AUTH_BODY_MAX, &length);

    if (body != NULL && flavor == SUNRPC_AUTH_SYS &&
        remembered(memo, flavor, body, length)) {
        *cred = memo->credential;
        cred->machine_name = (const char *)body + AUTH_SYS_NAME;
        return;
    }
    memset(cred, 0, sizeof(*cred));
    cred->flavor = flavor;
    if (body == NULL) {
        return;
    }
    read_credential_body(body, length, cred);
    if (memo != NULL && flavor == SUNRPC_AUTH_SYS &&
        cred->machine_name != NULL) {
        remember(memo, body, length, cred);
    }
}

enum xdrc_status
rpc_call_head_read(struct xdrc *c, struct rpc_credential_memo *memo,
                   struct rpc_call_head *head)
{
    uint32_t rpc_version = xdrc_u32(c);

    if (xdrc_ok(c) && rpc_version != 2) {
        xdrc_fail(c, XDRC_BAD);
    }
    head->program = xdrc_u32(c);
    head->version = xdrc_u32(c);
    head->procedure = xdrc_u32(c);
    head->numbers_known = xdrc_ok(c);
    read_credential(c, memo, &head->credential);
    (void)xdrc_u32(c); /* verifier: its flavor says nothing new */
    if (xdrc_skip_opaque(c) > SUNRPC_AUTH_BODY_MAX) {
        xdrc_fail(c, XDRC_BAD);
    }
    return c->status;
}

/* RFC 9289 section 4.1: AUTH_NONE whose body is "STARTTLS". */
static bool
read_verifier(struct xdrc *c)
{
    uint32_t flavor = xdrc_u32(c);
    uint32_t length = xdrc_u32(c);

    if (length > SUNRPC_AUTH_BODY_MAX) {
        xdrc_fail(c, XDRC_BAD);
        return false;
    }
    if (flavor == SUNRPC_AUTH_NONE && length == 8) {
        const uint8_t *body = xdrc_raw(c, 8);

        return body != NULL && memcmp(body, "STARTTLS", 8) == 0;
    }
    xdrc_skip(c, length);
    xdrc_skip(c, xdrc_fill(length));
    return false;
}

static void
read_denial(struct xdrc *c, struct rpc_reply_head *head)
{
    head->accept_stat = xdrc_u32(c);
    head->detail_low = xdrc_u32(c);
    if (head->accept_stat == SUNRPC_REJECT_MISMATCH) {
        head->detail_high = xdrc_u32(c);
    } else if (head->accept_stat != SUNRPC_REJECT_AUTH) {
        xdrc_fail(c, XDRC_BAD);
    }
    head->stat_known = xdrc_ok(c);
}

enum xdrc_status
rpc_reply_head_read(struct xdrc *c, struct rpc_reply_head *head)
{
    head->starttls = false;
    head->stat_known = false;
    head->accept_stat = 0;
    head->detail_low = 0;
    head->detail_high = 0;
    head->reply_stat = xdrc_u32(c);
    if (head->reply_stat == SUNRPC_MSG_DENIED) {
        read_denial(c, head);
        return c->status;
    }
    if (head->reply_stat != SUNRPC_MSG_ACCEPTED) {
        xdrc_fail(c, XDRC_BAD);
    }
    head->starttls = read_verifier(c);
    head->accept_stat = xdrc_u32(c);
    head->stat_known = xdrc_ok(c);
    if (head->accept_stat == SUNRPC_ACCEPT_PROG_MISMATCH) {
        head->detail_low = xdrc_u32(c);
        head->detail_high = xdrc_u32(c);
    }
    return c->status;
}

void
rpc_integrity_enter(struct xdrc *c, uint32_t *outer)
{
    uint32_t length = xdrc_u32(c);

    *outer = xdrc_narrow(c, length);
    (void)xdrc_u32(c); /* sequence number */
}
