/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * A COMPOUND (RFC 8881 section 16.2) is a list of operations without lengths:
 * to reach one, all before it have to be read. When the layout of one is not
 * known or its bytes are missing, those before it stand, and the rest is
 * taken from the reply, which repeats the number of each operation that was
 * carried out; the reply may be readable where the call is not.
 *
 * Which file an operation works on is known when the transaction is complete:
 * LOOKUP, OPEN and CREATE change the current file handle to one that only a
 * GETFH after them tells. nfs4_resolve_handles() goes through the operations
 * with the current and the saved file handle as numbers of `places`, and
 * fills in what became known of each place.
 */
#include "capture/nfs4_op.h"

/* Operations kept of one COMPOUND. Servers allow fewer than a hundred. */
#define OPERATIONS_KEPT 1024

typedef void
read_operation(struct rpc_decode *, struct rpc_operation *);

/* --- calls --------------------------------------------------------------- */

static bool
make_room(struct rpc_decode *d, uint32_t room)
{
    struct rpc_meaning *m = d->meaning;
    struct rpc_operation *more;

    if (room <= m->operation_room) {
        return true;
    }
    more = rpc_store_alloc(d->pool, &m->store, room * sizeof(*more));
    if (more == NULL) {
        return false;
    }
    if (m->operation_count > 0) {
        memcpy(more, m->operations, m->operation_count * sizeof(*more));
    }
    m->operations = more;
    m->operation_room = room;
    return true;
}

static struct rpc_operation *
append(struct rpc_decode *d, uint32_t number, unsigned flags)
{
    struct rpc_meaning *m = d->meaning;
    struct rpc_operation *op;

    if (m->operation_count == m->operation_room &&
        (m->operation_count >= OPERATIONS_KEPT ||
         !make_room(d, m->operation_count + 1))) {
        xdrc_fail(&d->x, XDRC_LIMIT);
        return NULL;
    }
    op = &m->operations[m->operation_count++];
    op->number = number;
    op->status = 0;
    op->flags = flags;
    op->detail = NULL;
    return op;
}

/* May the current file handle be another one after it? RFC 8881 section
 * 16.2.3.1.1. */
static bool
leaves_file(uint32_t number)
{
    const uint64_t changes =
        UINT64_C(1) << OP4_CREATE | UINT64_C(1) << OP4_LOOKUP |
        UINT64_C(1) << OP4_LOOKUPP | UINT64_C(1) << OP4_OPEN |
        UINT64_C(1) << OP4_OPENATTR | UINT64_C(1) << OP4_PUTFH |
        UINT64_C(1) << OP4_PUTPUBFH | UINT64_C(1) << OP4_PUTROOTFH |
        UINT64_C(1) << OP4_RESTOREFH | UINT64_C(1) << OP4_SECINFO |
        UINT64_C(1) << OP4_SECINFO_NO_NAME;

    return number < 64 && (changes >> number & 1) != 0;
}

static void
read_call(struct rpc_decode *d, bool callback, read_operation *read)
{
    struct rpc_meaning *m = d->meaning;
    struct xdrc *x = &d->x;
    uint32_t count, holds;

    xdrc_skip_opaque(x); /* tag */
    m->minor_version = xdrc_u32(x);
    if (callback) {
        xdrc_skip(x, 4); /* callback_ident */
    }
    count = xdrc_u32(x);
    if (!xdrc_ok(x)) {
        return;
    }
    holds = xdrc_left(x) / 4;
    m->operations_announced = count < holds ? count : holds;
    if (!make_room(d, m->operations_announced < OPERATIONS_KEPT
                          ? m->operations_announced
                          : OPERATIONS_KEPT)) {
        xdrc_fail(x, XDRC_LIMIT);
        return;
    }
    d->current = NULL;
    for (uint32_t i = 0; i < m->operations_announced; i++) {
        uint32_t number = xdrc_u32(x);
        struct rpc_operation *op;

        if (!xdrc_ok(x)) {
            break;
        }
        op = append(d, number, RPC_OP_IN_CALL);
        if (op == NULL) {
            break;
        }
        if (!d->full && i + 1 == count && !nfs4_always_detailed(number) &&
            number != OP4_SETCLIENTID && number != OP4_CREATE_SESSION &&
            number <= OP4_REMOVEXATTR) {
            return;
        }
        if (number != OP4_OPEN && leaves_file(number)) {
            d->current = NULL; /* OPEN does so itself */
        }
        read(d, op);
        if (!xdrc_ok(x)) {
            break;
        }
    }
    if (xdrc_ok(x) && count > holds) {
        xdrc_fail(x, XDRC_BAD);
    }
    d->to_end = true;
}

/* The procedures of version 4: NULL and COMPOUND, RFC 8881 section 16. */
static bool
is_null(struct rpc_decode *d, uint32_t procedure, unsigned flags)
{
    if (procedure == 1) {
        return false;
    }
    rpc_decode_single(d, procedure)->flags |= flags;
    if (procedure != 0) {
        xdrc_fail(&d->x, XDRC_UNSUPPORTED);
    }
    d->to_end = true;
    return true;
}

void
nfs4_call(struct rpc_decode *d, uint32_t procedure)
{
    if (!is_null(d, procedure, RPC_OP_IN_CALL)) {
        read_call(d, false, nfs4_read_arguments);
    }
}

void
nfs4_callback_call(struct rpc_decode *d, uint32_t procedure)
{
    if (!is_null(d, procedure, RPC_OP_IN_CALL)) {
        read_call(d, true, nfs4_read_callback_arguments);
    }
}

/* --- replies ------------------------------------------------------------- */

/* The operation that result number i belongs to. NULL, with the cursor
 * failed, when the reply contradicts the call. */
static struct rpc_operation *
operation_of_result(struct rpc_decode *d, uint32_t i, uint32_t number)
{
    struct rpc_meaning *m = d->meaning;
    struct rpc_operation *op;

    if (i >= m->operation_count) {
        op = append(d, number, 0);
        m->from_reply |= op != NULL;
        return op;
    }
    op = &m->operations[i];
    if (op->number != number && number != OP4_ILLEGAL) {
        xdrc_fail(&d->x, XDRC_BAD);
        return NULL;
    }
    return op;
}

static void
read_reply(struct rpc_decode *d, read_operation *read)
{
    struct rpc_meaning *m = d->meaning;
    struct xdrc *x = &d->x;
    uint32_t status = xdrc_u32(x);
    uint32_t count;

    if (!xdrc_ok(x)) {
        return;
    }
    m->status = status;
    m->status_known = true;
    xdrc_skip_opaque(x); /* tag */
    count = xdrc_count(x, 8);
    d->current = NULL;
    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        uint32_t number = xdrc_u32(x);
        uint32_t result = xdrc_u32(x);
        struct rpc_operation *op;

        if (!xdrc_ok(x)) {
            break;
        }
        op = operation_of_result(d, i, number);
        if (op == NULL) {
            break;
        }
        op->status = result;
        op->flags |= RPC_OP_IN_REPLY;
        if (!d->full && i + 1 == count && !nfs4_always_detailed(number)) {
            return;
        }
        if (leaves_file(number)) {
            d->current = NULL;
        }
        read(d, op);
    }
    d->to_end = true;
}

void
nfs4_reply(struct rpc_decode *d, uint32_t procedure)
{
    if (!is_null(d, procedure, RPC_OP_IN_REPLY)) {
        read_reply(d, nfs4_read_results);
    }
}

void
nfs4_callback_reply(struct rpc_decode *d, uint32_t procedure)
{
    if (!is_null(d, procedure, RPC_OP_IN_REPLY)) {
        read_reply(d, nfs4_read_callback_results);
    }
}

/* --- which file ---------------------------------------------------------- */

#define NOWHERE 0

struct walk {
    uint16_t current, saved, places;
    uint16_t before[OPERATIONS_KEPT]; /* place an operation works on */
    uint16_t aside[OPERATIONS_KEPT];  /* saved place at that point */
    uint16_t behind[OPERATIONS_KEPT]; /* place it leads to */
    const struct nfs_handle *handle[OPERATIONS_KEPT + 1];
};

/* A failed operation leads nowhere; one without result may have worked. */
static bool
worked(const struct rpc_operation *op)
{
    return (op->flags & RPC_OP_IN_REPLY) == 0 || op->status == 0;
}

static uint16_t
new_place(struct walk *w, const struct nfs_handle *handle)
{
    w->places++;
    w->handle[w->places] = handle;
    return w->places;
}

/* RFC 8881 section 18.16: OPEN by file handle stays where it is. */
static bool
opens_in_directory(const struct rpc_operation *op)
{
    return op->detail != NULL && op->detail->name_length > 0;
}

static void
step(struct walk *w, const struct rpc_operation *op)
{
    switch (op->number) {
    case OP4_PUTFH:
        w->current =
            new_place(w, op->detail != NULL && op->detail->handle.hash != 0
                             ? &op->detail->handle
                             : NULL);
        break;
    case OP4_OPEN:
        if (opens_in_directory(op)) {
            w->current = new_place(w, NULL);
        }
        break;
    case OP4_PUTPUBFH:
    case OP4_PUTROOTFH:
    case OP4_LOOKUP:
    case OP4_LOOKUPP:
    case OP4_CREATE:
    case OP4_OPENATTR:
        w->current = new_place(w, NULL);
        break;
    case OP4_GETFH:
        if (op->detail != NULL && op->detail->result_handle.hash != 0) {
            w->handle[w->current] = &op->detail->result_handle;
        }
        break;
    case OP4_SAVEFH:
        w->saved = w->current;
        break;
    case OP4_RESTOREFH:
        w->current = w->saved;
        break;
    case OP4_SECINFO:
    case OP4_SECINFO_NO_NAME: /* consume it: section 2.6.3.1.1.8 */
        w->current = new_place(w, NULL);
        break;
    default:
        break;
    }
}

static void
fill_in(const struct walk *w, struct rpc_operation *op, uint32_t i)
{
    struct nfs_detail *n = (struct nfs_detail *)(uintptr_t)op->detail;
    const struct nfs_handle *before = w->handle[w->before[i]];
    const struct nfs_handle *behind = w->handle[w->behind[i]];
    const struct nfs_handle *aside = w->handle[w->aside[i]];

    if (n == NULL || op->number == OP4_PUTFH) {
        return;
    }
    if (op->number == OP4_RENAME) { /* section 18.26: from saved to current */
        const struct nfs_handle *swap = before;

        before = aside;
        aside = swap;
    }
    if ((op->number == OP4_RENAME || op->number == OP4_LINK) &&
        aside != NULL && aside != &n->result_handle) {
        nfs_handle_copy(&n->result_handle, aside);
    }
    if (before != NULL && before != &n->handle) {
        nfs_handle_copy(&n->handle, before);
    }
    if (w->before[i] != w->behind[i] && behind != NULL &&
        behind != &n->result_handle) {
        nfs_handle_copy(&n->result_handle, behind);
    }
}

void
nfs4_resolve_handles(struct rpc_meaning *m)
{
    struct walk w;

    w.current = NOWHERE;
    w.saved = NOWHERE;
    w.places = 0;
    w.handle[NOWHERE] = NULL;
    for (uint32_t i = 0; i < m->operation_count; i++) {
        const struct rpc_operation *op = &m->operations[i];

        w.before[i] = w.current;
        w.aside[i] = w.saved;
        if (worked(op)) {
            step(&w, op);
        }
        w.behind[i] = w.current;
    }
    w.handle[NOWHERE] = NULL; /* a GETFH of nothing */
    for (uint32_t i = 0; i < m->operation_count; i++) {
        fill_in(&w, &m->operations[i], i);
    }
}
