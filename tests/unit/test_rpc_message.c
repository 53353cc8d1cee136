/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call and reply headers. libtirpc writes them, as an encoder that knows
 * nothing of the decoder.
 */
#include "capture/rpc_message.h"
#include "tests/unit/rpc_support.h"

#include <rpc/rpc.h>
#include <string.h>

static struct xdrc_scratch scratch;

static void
over(struct xdrc *x, struct rpc_piece *piece, const struct message *m,
     uint32_t captured, uint32_t length)
{
    struct rpc_record record = {0};

    *piece = (struct rpc_piece){0, captured, guarded(m->bytes, captured)};
    record.pieces = piece;
    record.piece_count = 1;
    record.length = length;
    scratch.used = 0;
    xdrc_init(x, &record, &scratch);
    xdrc_skip(x, 8); /* xid, msg_type */
}

/* AUTH_SYS with as many groups as asked, written by libtirpc. */
static void
tirpc_call(struct message *m, const char *machine, uid_t uid, gid_t gid,
           int groups)
{
    char body[512];
    gid_t gids[16];
    struct authunix_parms parms;
    struct rpc_msg call;
    XDR xdr;

    for (int i = 0; i < 16; i++) {
        gids[i] = (gid_t)(200 + i);
    }
    memset(&parms, 0, sizeof(parms));
    parms.aup_time = 0x01020304;
    parms.aup_machname = (char *)(uintptr_t)machine;
    parms.aup_uid = uid;
    parms.aup_gid = gid;
    parms.aup_len = (u_int)groups;
    parms.aup_gids = gids;
    xdrmem_create(&xdr, body, sizeof(body), XDR_ENCODE);
    assert_true(xdr_authunix_parms(&xdr, &parms));

    memset(&call, 0, sizeof(call));
    call.rm_xid = 0xfeedbeef;
    call.rm_direction = CALL;
    call.rm_call.cb_rpcvers = RPC_MSG_VERSION;
    call.rm_call.cb_prog = 100003;
    call.rm_call.cb_vers = 3;
    call.rm_call.cb_proc = 4;
    call.rm_call.cb_cred.oa_flavor = AUTH_SYS;
    call.rm_call.cb_cred.oa_base = body;
    call.rm_call.cb_cred.oa_length = XDR_GETPOS(&xdr);
    call.rm_call.cb_verf = _null_auth;
    m->length = 0;
    xdrmem_create(&xdr, (char *)m->bytes, sizeof(m->bytes), XDR_ENCODE);
    assert_true(xdr_callmsg(&xdr, &call));
    m->length = XDR_GETPOS(&xdr);
}

static void
call_of_another_encoder(void **state)
{
    static const char *const machines[] = {"", "a", "host", "a-long.example"};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct message m = {.length = 0};
        struct rpc_call_head head;
        struct rpc_piece piece;
        struct xdrc x;

        tirpc_call(&m, machines[i], 1000 + i, 50 + i, (int)i * 5);
        over(&x, &piece, &m, m.length, m.length);
        assert_int_equal(rpc_call_head_read(&x, NULL, &head), XDRC_OK);
        assert_int_equal(xdrc_left(&x), 0);
        assert_int_equal(head.program, 100003);
        assert_int_equal(head.version, 3);
        assert_int_equal(head.procedure, 4);
        assert_int_equal(head.credential.flavor, 1);
        assert_int_equal(head.credential.uid, 1000 + i);
        assert_int_equal(head.credential.gid, 50 + i);
        assert_int_equal(head.credential.machine_name_length,
                         strlen(machines[i]));
        assert_memory_equal(head.credential.machine_name, machines[i],
                            strlen(machines[i]));
    }
}

/* The same user has one hash whatever the stamp says; another group, another
 * one. A remembered credential gives what a fresh one gives. */
static void
credential_hash_is_of_the_user(void **state)
{
    struct rpc_credential_memo memo = {0};
    struct message m = {.length = 0};
    struct rpc_call_head a, b, c;
    struct rpc_piece piece;
    struct xdrc x;

    (void)state;
    tirpc_call(&m, "host", 7, 8, 3);
    over(&x, &piece, &m, m.length, m.length);
    rpc_call_head_read(&x, &memo, &a);
    m.bytes[32] ^= 0xff; /* the stamp's first byte */
    over(&x, &piece, &m, m.length, m.length);
    rpc_call_head_read(&x, &memo, &b);
    assert_true(a.credential.hash == b.credential.hash);
    assert_int_equal(b.credential.uid, 7);
    assert_memory_equal(b.credential.machine_name, "host", 4);
    m.bytes[m.length - 9] ^= 1; /* the last group */
    over(&x, &piece, &m, m.length, m.length);
    rpc_call_head_read(&x, &memo, &c);
    assert_true(a.credential.hash != c.credential.hash);
}

/* Cut by the capture: SHORT, and the numbers stand when they were there. Cut
 * in itself: BAD. */
static void
every_prefix_of_a_call(void **state)
{
    struct message m = {.length = 0};

    (void)state;
    tirpc_call(&m, "machine", 1, 2, 4);
    for (uint32_t n = 8; n < m.length; n++) {
        struct rpc_call_head head;
        struct rpc_piece piece;
        struct xdrc x;

        over(&x, &piece, &m, n, m.length);
        assert_int_equal(rpc_call_head_read(&x, NULL, &head), XDRC_SHORT);
        assert_int_equal(head.numbers_known, n >= 24);
        over(&x, &piece, &m, n, n);
        assert_int_equal(rpc_call_head_read(&x, NULL, &head), XDRC_BAD);
    }
}

static void
tirpc_reply(struct message *m, struct rpc_msg *reply)
{
    XDR xdr;

    reply->rm_xid = 1;
    reply->rm_direction = REPLY;
    m->length = 0;
    xdrmem_create(&xdr, (char *)m->bytes, sizeof(m->bytes), XDR_ENCODE);
    assert_true(xdr_replymsg(&xdr, reply));
    m->length = XDR_GETPOS(&xdr);
}

static bool_t
nothing(XDR *xdr, void *unused)
{
    (void)xdr;
    (void)unused;
    return TRUE;
}

static void
read_reply(const struct message *m, struct rpc_reply_head *head)
{
    struct rpc_piece piece;
    struct xdrc x;

    for (uint32_t n = 8; n < m->length; n++) {
        over(&x, &piece, m, n, m->length);
        assert_int_equal(rpc_reply_head_read(&x, head), XDRC_SHORT);
    }
    over(&x, &piece, m, m->length, m->length);
    assert_int_equal(rpc_reply_head_read(&x, head), XDRC_OK);
    assert_int_equal(xdrc_left(&x), 0);
}

static void
replies_of_another_encoder(void **state)
{
    struct message m = {.length = 0};
    struct rpc_reply_head head;
    struct rpc_msg reply;

    (void)state;
    memset(&reply, 0, sizeof(reply));
    reply.rm_reply.rp_stat = MSG_ACCEPTED;
    reply.acpted_rply.ar_verf = _null_auth;
    reply.acpted_rply.ar_stat = SUCCESS;
    reply.acpted_rply.ar_results.proc = (xdrproc_t)nothing;
    tirpc_reply(&m, &reply);
    read_reply(&m, &head);
    assert_int_equal(head.accept_stat, 0);

    reply.acpted_rply.ar_stat = PROG_MISMATCH;
    reply.acpted_rply.ar_vers.low = 3;
    reply.acpted_rply.ar_vers.high = 4;
    tirpc_reply(&m, &reply);
    read_reply(&m, &head);
    assert_int_equal(head.accept_stat, 2);
    assert_int_equal(head.detail_low, 3);
    assert_int_equal(head.detail_high, 4);

    memset(&reply, 0, sizeof(reply));
    reply.rm_reply.rp_stat = MSG_DENIED;
    reply.rjcted_rply.rj_stat = AUTH_ERROR;
    reply.rjcted_rply.rj_why = AUTH_TOOWEAK;
    tirpc_reply(&m, &reply);
    read_reply(&m, &head);
    assert_int_equal(head.reply_stat, 1);
    assert_int_equal(head.accept_stat, 1);
    assert_int_equal(head.detail_low, AUTH_TOOWEAK);
}

/* RFC 2203 section 5: version, procedure, sequence, service, handle. */
static void
gss_credentials(void **state)
{
    struct message m = {.length = 0};
    struct rpc_call_head head, again;
    struct rpc_piece piece;
    struct xdrc x;

    (void)state;
    for (unsigned sequence = 5; sequence < 7; sequence++) {
        put_call_head(&m, 1, 100003, 3, 1);
        put32(&m, 6);
        put32(&m, 20 + 8);
        put32(&m, 1);
        put32(&m, 0);
        put32(&m, sequence);
        put32(&m, 3);
        put_opaque(&m, "context1", 8);
        put32(&m, 6);
        put_opaque(&m, "checksum", 8);
        over(&x, &piece, &m, m.length, m.length);
        assert_int_equal(rpc_call_head_read(&x, NULL, &head), XDRC_OK);
        assert_int_equal(head.credential.gss_procedure, 0);
        assert_int_equal(head.credential.gss_service, 3);
        assert_int_equal(xdrc_left(&x), 0);
        if (sequence == 5) {
            again = head;
        }
    }
    assert_true(head.credential.hash == again.credential.hash);
}

/* RFC 5531 section 8.2: a body has at most 400 bytes; section 9: rpcvers 2. */
static void
impossible_headers(void **state)
{
    struct message m = {.length = 0};
    struct rpc_call_head head;
    struct rpc_piece piece;
    struct xdrc x;

    (void)state;
    for (uint32_t size = 400; size <= 404; size += 4) {
        put_call_head(&m, 1, 100003, 3, 1);
        put32(&m, 99);
        put32(&m, size);
        put_pattern(&m, size, 0);
        put32(&m, 0);
        put32(&m, 0);
        over(&x, &piece, &m, m.length, m.length);
        assert_int_equal(rpc_call_head_read(&x, NULL, &head),
                         size == 400 ? XDRC_OK : XDRC_BAD);
        assert_true(head.numbers_known);
    }
    m.bytes[11] = 3; /* rpcvers */
    over(&x, &piece, &m, m.length, m.length);
    assert_int_equal(rpc_call_head_read(&x, NULL, &head), XDRC_BAD);
    assert_false(head.numbers_known);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_of_another_encoder),
        cmocka_unit_test(credential_hash_is_of_the_user),
        cmocka_unit_test(every_prefix_of_a_call),
        cmocka_unit_test(replies_of_another_encoder),
        cmocka_unit_test(gss_credentials),
        cmocka_unit_test(impossible_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
