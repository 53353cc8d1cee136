/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * A call becomes a `struct pending`, which carries the transaction that will
 * be handed out. It is found again in an open-addressing table by (addresses
 * of sender and receiver, xid); its own connection and direction are compared
 * after that. The ports are left out of the table's key on purpose: a client
 * that reconnects sends its outstanding calls again from another port, and
 * the one look-up finds both kinds of predecessor.
 *
 *   call,  nothing found                  -> new pending
 *   call,  same connection, same call     -> retransmission
 *   call,  same connection, other call    -> xid reused: the old one is
 *                                            unanswered, a new pending
 *   call,  other connection, same call    -> retransmission, pending moves
 *   call,  same call just completed       -> late retransmission
 *   reply, pending found                  -> transaction handed out
 *   reply, just completed                 -> duplicate reply
 *   reply, nothing found                  -> held for HOLD_NS, then orphan
 *
 * "The same call" is program, version, procedure, length and a hash over the
 * credential and the first ARGUMENTS_HASHED bytes of the arguments.
 *
 * Pending calls stand in a list in order of their last transmission, which is
 * the order in which they time out; and in a list of their connection.
 * Completed calls leave a note in a set-associative table, whose sets are
 * chosen so that consecutive xids fall into different ones.
 *
 * Bounds: options.max_pending calls and STORE_LIMIT bytes of what they hold,
 * HELD replies, at most DONE_SETS x DONE_WAYS notes.
 */
#include "capture/rpc_match.h"

#include "capture/rpc_decode.h"
#include "capture/rpc_message.h"
#include "capture/rpc_store.h"
#include "capture/xdr_cursor.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PENDING_DEFAULT 65536
#define PENDING_CHUNK 256
#define STORE_LIMIT ((size_t)16 << 20)
#define TABLE_START 1024 /* slots; a power of two */
#define ARGUMENTS_HASHED 128

#define DONE_SETS 2048 /* a power of two; fewer if few calls may wait */
#define DONE_SETS_LEAST 64
#define DONE_WAYS 4
/* How long after its reply a call may come again and still be the same. */
#define DONE_NS (INT64_C(300) * 1000000000)

#define HELD 128
#define HELD_BYTES 2048
#define HELD_PIECES 4
#define HOLD_NS INT64_C(1000000000)

/* RFC 5531 section 8.3: transient programs. */
#define TRANSIENT_FIRST UINT32_C(0x40000000)
#define TRANSIENT_LAST UINT32_C(0x5fffffff)
#define LEARNED_PROGRAMS 16

#define NFS_PORT 2049

/* What is known of one direction of a connection. */
struct side {
    uint32_t peers; /* hash of (sender's address, receiver's address) */
    bool gap_seen;
    uint64_t gap_serial; /* next serial when the last gap was reported */
    int64_t gap_ns;
    struct rpc_credential_memo *memo;
};

struct match_connection {
    const struct rpc_connection *live; /* NULL once it ended */
    struct rpc_connection copy;
    uint64_t serial;
    uint32_t references; /* pending calls and held replies */
    int server_side;     /* who answered NFS: 0, 1; -1 not known */
    struct side sides[2];
    struct match_connection *next, *previous; /* all of them */
};

struct pending {
    struct rpc_transaction tx;
    struct rpc_meaning meaning;
    struct match_connection *connection;
    struct pending *older, *newer; /* by last transmission; free list */
    int64_t sent_ns;               /* last transmission */
    uint32_t index;
    uint32_t peers;
    uint32_t arguments;      /* hash */
    uint32_t argument_bytes; /* that went into it */
    bool moved;              /* seen on more than one connection */
    char machine_name[256];
};

struct slot {
    uint32_t xid;
    uint32_t pending; /* index + 1; 0: empty */
};

/* A completed call. */
struct done {
    uint64_t serial; /* of the transaction; 0: empty */
    uint64_t connection;
    int64_t when_ns;
    uint32_t xid, peers;
    uint32_t program, version, procedure;
    uint32_t arguments, argument_bytes, call_bytes;
    unsigned client;
};

/* A reply that came before its call, or whose call was never captured. */
struct held {
    uint64_t serial;
    struct match_connection *connection;
    struct rpc_record record; /* pieces point below */
    struct rpc_piece pieces[HELD_PIECES];
    uint8_t bytes[HELD_BYTES];
};

struct rpc_match {
    struct rpc_transaction_sink sink;
    bool full;
    size_t max_pending;
    int64_t timeout_ns;
    struct rpc_losses losses;
    uint64_t next_serial;

    struct slot *table;
    uint32_t table_mask;
    unsigned table_shift;
    uint32_t seed;
    size_t pending_count;
    struct pending **chunks;
    size_t chunk_count;
    struct pending *unused;
    struct pending *oldest, *newest;
    struct rpc_store_pool pool;

    struct done *done;
    uint32_t done_sets;

    struct held *held[HELD]; /* a ring, oldest first */
    unsigned held_first, held_count;

    struct match_connection *connections;
    struct rpc_decode decode;
    struct xdrc_scratch scratch;

    uint32_t learned[LEARNED_PROGRAMS]; /* callback programs, 0: none */
    unsigned learned_next;

    void *hook_context;
    void (*hook_port)(void *, uint16_t);
    void (*hook_tls)(void *, struct rpc_connection *);
};

/* --- connections --------------------------------------------------------- */

static uint32_t
hash_peers(const struct rpc_connection *c, unsigned sender)
{
    const struct rpc_endpoint *from = &c->ends[sender];
    const struct rpc_endpoint *to = &c->ends[1 - sender];
    uint64_t h = from->family + 16u * (unsigned)c->transport;

    h = rpc_hash(from->address, from->family == 4 ? 4 : 16, h);
    h = rpc_hash(to->address, to->family == 4 ? 4 : 16, h);
    return (uint32_t)(h ^ h >> 32);
}

static struct match_connection *
connection_new(struct rpc_match *m, struct rpc_connection *live)
{
    struct match_connection *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        return NULL;
    }
    c->live = live;
    c->copy = *live;
    c->copy.match = NULL;
    c->serial = live->serial;
    c->server_side = -1;
    c->sides[0].peers = hash_peers(live, 0);
    c->sides[1].peers = hash_peers(live, 1);
    c->next = m->connections;
    if (c->next != NULL) {
        c->next->previous = c;
    }
    m->connections = c;
    live->match = c;
    return c;
}

static void
connection_free(struct rpc_match *m, struct match_connection *c)
{
    if (c->previous != NULL) {
        c->previous->next = c->next;
    } else {
        m->connections = c->next;
    }
    if (c->next != NULL) {
        c->next->previous = c->previous;
    }
    free(c->sides[0].memo);
    free(c->sides[1].memo);
    free(c);
}

static void
connection_release(struct rpc_match *m, struct match_connection *c)
{
    c->references--;
    if (c->references == 0 && c->live == NULL) {
        connection_free(m, c);
    }
}

static const struct rpc_connection *
connection_public(const struct match_connection *c)
{
    return c->live != NULL ? c->live : &c->copy;
}

/* --- the table of pending calls ------------------------------------------ */

static inline uint32_t
slot_of(const struct rpc_match *m, uint32_t peers, uint32_t xid)
{
    uint64_t key = ((uint64_t)(peers ^ m->seed) << 32 | xid) *
                   UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)((key ^ key << 29) >> m->table_shift);
}

static inline struct pending *
pending_at(const struct rpc_match *m, uint32_t index)
{
    return &m->chunks[index / PENDING_CHUNK][index % PENDING_CHUNK];
}

static void
table_put(struct rpc_match *m, uint32_t peers, uint32_t xid, uint32_t index)
{
    uint32_t i = slot_of(m, peers, xid);

    while (m->table[i].pending != 0) {
        i = (i + 1) & m->table_mask;
    }
    m->table[i].xid = xid;
    m->table[i].pending = index + 1;
}

static bool
table_resize(struct rpc_match *m, uint32_t slots)
{
    struct slot *old = m->table;
    uint32_t old_slots = old != NULL ? m->table_mask + 1 : 0;
    struct slot *table = calloc(slots, sizeof(*table));

    if (table == NULL) {
        return false;
    }
    m->table = table;
    m->table_mask = slots - 1;
    m->table_shift = 64 - (unsigned)__builtin_ctz(slots);
    for (uint32_t i = 0; i < old_slots; i++) {
        if (old[i].pending != 0) {
            const struct pending *p = pending_at(m, old[i].pending - 1);

            table_put(m, p->peers, p->tx.xid, p->index);
        }
    }
    free(old);
    return true;
}

/* Linear probing without tombstones: what follows in the run moves up. */
static void
table_remove(struct rpc_match *m, const struct pending *p)
{
    uint32_t i = slot_of(m, p->peers, p->tx.xid);
    uint32_t hole;

    while (m->table[i].pending != p->index + 1) {
        i = (i + 1) & m->table_mask;
    }
    hole = i;
    for (;;) {
        const struct pending *q;
        uint32_t home;

        i = (i + 1) & m->table_mask;
        if (m->table[i].pending == 0) {
            break;
        }
        q = pending_at(m, m->table[i].pending - 1);
        home = slot_of(m, q->peers, q->tx.xid);
        if (((i - home) & m->table_mask) >= ((i - hole) & m->table_mask)) {
            m->table[hole] = m->table[i];
            hole = i;
        }
    }
    m->table[hole].pending = 0;
}

/* --- lists and memory ---------------------------------------------------- */

static void
list_append(struct rpc_match *m, struct pending *p)
{
    p->newer = NULL;
    p->older = m->newest;
    if (m->newest != NULL) {
        m->newest->newer = p;
    } else {
        m->oldest = p;
    }
    m->newest = p;
}

static void
list_remove(struct rpc_match *m, struct pending *p)
{
    if (p->older != NULL) {
        p->older->newer = p->newer;
    } else {
        m->oldest = p->newer;
    }
    if (p->newer != NULL) {
        p->newer->older = p->older;
    } else {
        m->newest = p->older;
    }
}

static bool
add_chunk(struct rpc_match *m)
{
    struct pending **chunks =
        realloc(m->chunks, (m->chunk_count + 1) * sizeof(struct pending *));
    struct pending *chunk;

    if (chunks == NULL) {
        return false;
    }
    m->chunks = chunks;
    chunk = calloc(PENDING_CHUNK, sizeof(*chunk));
    if (chunk == NULL) {
        return false;
    }
    for (unsigned i = PENDING_CHUNK; i-- > 0;) {
        chunk[i].index = (uint32_t)(m->chunk_count * PENDING_CHUNK + i);
        chunk[i].newer = m->unused;
        m->unused = &chunk[i];
    }
    m->chunks[m->chunk_count++] = chunk;
    return true;
}

/* Takes the call out of everything and gives back what it holds. */
static void
pending_drop(struct rpc_match *m, struct pending *p)
{
    table_remove(m, p);
    list_remove(m, p);
    rpc_store_release(&m->pool, &p->meaning.store);
    connection_release(m, p->connection);
    m->pending_count--;
    p->newer = m->unused;
    m->unused = p;
}

/* --- handing out --------------------------------------------------------- */

static bool
is_compound(const struct rpc_transaction *tx)
{
    if (tx->procedure != 1) {
        return false;
    }
    return (tx->program == SUNRPC_NFS && tx->version == 4) ||
           ((tx->flags & RPC_TX_CALLBACK) != 0 && tx->program != SUNRPC_NFS);
}

static void
hand_out(struct rpc_match *m, struct pending *p)
{
    struct rpc_transaction *tx = &p->tx;
    const struct rpc_meaning *meaning = &p->meaning;

    if (m->full && tx->program == SUNRPC_NFS && is_compound(tx)) {
        nfs4_resolve_handles(&p->meaning);
    }
    tx->connection = connection_public(p->connection);
    tx->minor_version = meaning->minor_version;
    tx->status = meaning->status;
    tx->status_known = meaning->status_known;
    tx->operations_announced = meaning->operations_announced;
    tx->operation_count = meaning->operation_count;
    tx->operations = meaning->operations;
    if (meaning->from_reply) {
        tx->flags |= RPC_TX_OPS_FROM_REPLY;
    }
    if (is_compound(tx) &&
        ((tx->flags & RPC_TX_ENCRYPTED) != 0 ||
         meaning->operation_count < meaning->operations_announced ||
         ((tx->flags & (RPC_TX_CALL_PARTLY | RPC_TX_CALL_MALFORMED)) != 0 &&
          meaning->operation_count == 0))) {
        m->losses.unattributed_compounds++;
    }
    if (m->sink.transaction != NULL) {
        m->sink.transaction(m->sink.context, tx);
    }
}

static void
give_up(struct rpc_match *m, struct pending *p)
{
    const struct side *replies = &p->connection->sides[1 - p->tx.client];

    p->tx.outcome = RPC_UNANSWERED;
    if (replies->gap_seen && replies->gap_serial > p->tx.serial) {
        p->tx.flags |= RPC_TX_NEAR_GAP;
    }
    m->losses.unanswered_calls++;
    hand_out(m, p);
    pending_drop(m, p);
}

static void
late(struct rpc_match *m, const struct done *d, enum rpc_late_kind kind,
     const struct rpc_record *record)
{
    struct rpc_late l;

    if (m->sink.late == NULL) {
        return;
    }
    l.kind = kind;
    l.serial = d->serial;
    l.program = d->program;
    l.version = d->version;
    l.procedure = d->procedure;
    l.when_ns = record->first_ns;
    l.connection = record->connection;
    m->sink.late(m->sink.context, &l);
}

/* --- completed calls ----------------------------------------------------- */

/* Consecutive xids, counted up in either byte order, fall into consecutive
 * sets. */
static inline struct done *
done_set(const struct rpc_match *m, uint32_t peers, uint32_t xid)
{
    uint32_t folded = xid ^ xid >> 24 ^ (xid >> 8 & 0xff00);

    return &m->done[(size_t)((folded + peers) & (m->done_sets - 1)) *
                    DONE_WAYS];
}

static void
done_add(struct rpc_match *m, const struct pending *p, int64_t when_ns)
{
    struct done *set = done_set(m, p->peers, p->tx.xid);
    struct done *d = &set[0];

    for (unsigned i = 1; i < DONE_WAYS; i++) {
        if (set[i].serial == 0 ||
            (d->serial != 0 && set[i].serial < d->serial)) {
            d = &set[i];
        }
    }
    d->serial = p->tx.serial;
    d->connection = p->connection->serial;
    d->when_ns = when_ns;
    d->xid = p->tx.xid;
    d->peers = p->peers;
    d->program = p->tx.program;
    d->version = p->tx.version;
    d->procedure = p->tx.procedure;
    d->arguments = p->arguments;
    d->argument_bytes = p->argument_bytes;
    d->call_bytes = p->tx.call_bytes;
    d->client = p->tx.client;
}

/* The newest note of this xid between these peers, or NULL. */
static struct done *
done_find(struct rpc_match *m, const struct match_connection *c,
          unsigned client, uint32_t xid, int64_t now, bool same_connection)
{
    struct done *set = done_set(m, c->sides[client].peers, xid);
    struct done *found = NULL;

    for (unsigned i = 0; i < DONE_WAYS; i++) {
        struct done *d = &set[i];

        if (d->serial != 0 && d->xid == xid &&
            d->peers == c->sides[client].peers &&
            (d->connection == c->serial ? d->client == client
                                        : !same_connection) &&
            now - d->when_ns <= DONE_NS &&
            (found == NULL || found->serial < d->serial)) {
            found = d;
        }
    }
    return found;
}

/* --- bodies -------------------------------------------------------------- */

static bool
is_callback_program(const struct rpc_match *m, uint32_t program)
{
    if (program >= TRANSIENT_FIRST && program <= TRANSIENT_LAST) {
        return true;
    }
    for (unsigned i = 0; i < LEARNED_PROGRAMS; i++) {
        if (m->learned[i] != 0 && m->learned[i] == program) {
            return true;
        }
    }
    return false;
}

static void
learn_program(struct rpc_match *m, uint32_t program)
{
    if (program != 0 && rpc_program_name(program) == NULL &&
        !is_callback_program(m, program)) {
        m->learned[m->learned_next++ % LEARNED_PROGRAMS] = program;
    }
}

static void
decode_nfs(struct rpc_decode *d, const struct rpc_transaction *tx, bool reply)
{
    switch (tx->version) {
    case 2:
        (reply ? nfs2_reply : nfs2_call)(d, tx->procedure);
        break;
    case 3:
        (reply ? nfs3_reply : nfs3_call)(d, tx->procedure);
        break;
    case 4:
        (reply ? nfs4_reply : nfs4_call)(d, tx->procedure);
        break;
    default:
        rpc_decode_single(d, tx->procedure);
        xdrc_fail(&d->x, XDRC_UNSUPPORTED);
    }
}

static void
decode_other(struct rpc_decode *d, const struct rpc_transaction *tx, bool reply)
{
    struct rpc_operation *op;

    switch (tx->program) {
    case SUNRPC_MOUNT:
        (reply ? mount_reply : mount_call)(d, tx->version, tx->procedure);
        return;
    case SUNRPC_NLM:
        (reply ? nlm_reply : nlm_call)(d, tx->version, tx->procedure);
        return;
    case SUNRPC_NSM:
        (reply ? nsm_reply : nsm_call)(d, tx->procedure);
        return;
    case SUNRPC_NFSACL:
        (reply ? nfsacl_reply : nfsacl_call)(d, tx->version, tx->procedure);
        return;
    case SUNRPC_PORTMAP:
        (reply ? portmap_reply : portmap_call)(d, tx->version, tx->procedure);
        return;
    default:
        break;
    }
    if ((tx->flags & RPC_TX_CALLBACK) != 0) {
        (reply ? nfs4_callback_reply : nfs4_callback_call)(d, tx->procedure);
        return;
    }
    op = rpc_decode_single(d, tx->procedure);
    op->flags |= reply ? RPC_OP_IN_REPLY : RPC_OP_IN_CALL;
}

/* Reads arguments or results. Returns the flags that say how it went. */
static unsigned
decode_body(struct rpc_match *m, struct pending *p, bool reply)
{
    struct rpc_decode *d = &m->decode;
    const struct rpc_transaction *tx = &p->tx;

    d->meaning = &p->meaning;
    d->full = m->full;
    d->keep = !reply;
    d->to_end = false;
    d->inner = XDRC_OK;
    d->port_count = 0;
    d->callback_program = 0;
    if (tx->program == SUNRPC_NFS) {
        decode_nfs(d, tx, reply);
    } else {
        decode_other(d, tx, reply);
    }
    switch (xdrc_ok(&d->x) ? d->inner : d->x.status) {
    case XDRC_OK:
        if (d->to_end) {
            m->losses.trailing_bytes += xdrc_left(&d->x);
        }
        return 0;
    case XDRC_BAD:
        if (reply) {
            m->losses.malformed_replies++;
            return RPC_TX_REPLY_MALFORMED;
        }
        m->losses.malformed_calls++;
        return RPC_TX_CALL_MALFORMED;
    default:
        m->losses.partly_decoded++;
        return reply ? RPC_TX_REPLY_PARTLY : RPC_TX_CALL_PARTLY;
    }
}

/* Under RPCSEC_GSS integrity the body sits in a wrapper (RFC 2203 section
 * 5.3.2.2). */
static bool
has_wrapper(const struct rpc_credential *c)
{
    return c->flavor == SUNRPC_AUTH_GSS &&
           c->gss_procedure == SUNRPC_GSS_DATA &&
           c->gss_service == SUNRPC_GSS_INTEGRITY;
}

static bool
body_hidden(const struct rpc_transaction *tx)
{
    return (tx->flags & (RPC_TX_GSS_CONTROL | RPC_TX_ENCRYPTED)) != 0;
}

/* --- replies ------------------------------------------------------------- */

static struct pending *
find_call_of(struct rpc_match *m, const struct match_connection *c,
             unsigned client, uint32_t xid)
{
    uint32_t peers = c->sides[client].peers;
    uint32_t i = slot_of(m, peers, xid);
    struct pending *moved = NULL;

    for (; m->table[i].pending != 0; i = (i + 1) & m->table_mask) {
        struct pending *p;

        if (m->table[i].xid != xid) {
            continue;
        }
        p = pending_at(m, m->table[i].pending - 1);
        if (p->connection == c && p->tx.client == client) {
            return p;
        }
        if (p->moved && p->peers == peers) {
            moved = p;
        }
    }
    return moved;
}

static void
complete(struct rpc_match *m, struct pending *p,
         const struct rpc_record *record, const struct rpc_reply_head *head)
{
    struct rpc_transaction *tx = &p->tx;
    struct xdrc *x = &m->decode.x;

    m->decode.port_count = 0;
    tx->outcome = RPC_REPLIED;
    tx->reply_first_ns = record->first_ns;
    tx->reply_last_ns = record->last_ns;
    tx->reply_bytes = record->length;
    tx->reply_stat = head->reply_stat;
    tx->accept_stat = head->accept_stat;
    if (record->first_ns < tx->call_first_ns) {
        tx->flags |= RPC_TX_REPLY_FIRST;
        m->losses.negative_latencies++;
    }
    if (!xdrc_ok(x)) {
        if (x->status == XDRC_BAD) {
            tx->flags |= RPC_TX_REPLY_MALFORMED;
            m->losses.malformed_replies++;
        } else {
            tx->flags |= RPC_TX_REPLY_PARTLY;
            m->losses.partly_decoded++;
        }
    } else if (head->reply_stat == SUNRPC_MSG_ACCEPTED &&
               head->accept_stat == SUNRPC_ACCEPT_SUCCESS && !body_hidden(tx)) {
        if (has_wrapper(&tx->credential)) {
            uint32_t outer;

            rpc_integrity_enter(x, &outer);
        }
        tx->flags |= decode_body(m, p, true);
    }
    hand_out(m, p);
    if (tx->program == SUNRPC_PORTMAP && m->hook_port != NULL) {
        for (unsigned i = 0; i < m->decode.port_count; i++) {
            m->hook_port(m->hook_context, m->decode.ports[i]);
        }
    }
    if ((tx->flags & RPC_TX_TLS_PROBE) != 0 && head->starttls &&
        m->hook_tls != NULL && p->connection->live != NULL) {
        m->hook_tls(m->hook_context, record->connection);
    }
    done_add(m, p, record->last_ns);
    pending_drop(m, p);
}

/* Hands out the oldest held reply as an orphan. */
static void
release_held(struct rpc_match *m)
{
    struct held *h = m->held[m->held_first % HELD];
    struct rpc_transaction tx;
    struct rpc_reply_head head;
    const struct side *calls;

    m->held_first++;
    m->held_count--;
    if (h->connection == NULL) {
        return; /* its call came after all */
    }
    calls = &h->connection->sides[1 - h->record.direction];
    xdrc_init(&m->decode.x, &h->record, &m->scratch);
    memset(&tx, 0, sizeof(tx));
    tx.xid = xdrc_u32(&m->decode.x);
    (void)xdrc_u32(&m->decode.x);
    (void)rpc_reply_head_read(&m->decode.x, &head);
    tx.serial = h->serial;
    tx.connection = connection_public(h->connection);
    tx.client = 1 - h->record.direction;
    tx.outcome = RPC_ORPHAN_REPLY;
    tx.reply_first_ns = h->record.first_ns;
    tx.reply_last_ns = h->record.last_ns;
    tx.reply_bytes = h->record.length;
    tx.reply_stat = head.reply_stat;
    tx.accept_stat = head.accept_stat;
    if (calls->gap_seen && tx.reply_first_ns >= calls->gap_ns &&
        (m->timeout_ns <= 0 ||
         tx.reply_first_ns - calls->gap_ns <= m->timeout_ns)) {
        tx.flags |= RPC_TX_NEAR_GAP;
    }
    if (m->decode.x.status == XDRC_BAD) {
        tx.flags |= RPC_TX_REPLY_MALFORMED;
        m->losses.malformed_replies++;
    }
    m->losses.orphan_replies++;
    if (m->sink.transaction != NULL) {
        m->sink.transaction(m->sink.context, &tx);
    }
    connection_release(m, h->connection);
    h->connection = NULL;
}

/* Keeps a copy of the reply's first bytes. */
static void
hold(struct rpc_match *m, struct match_connection *c,
     const struct rpc_record *record)
{
    struct held *h;
    uint32_t used = 0;
    unsigned n;

    if (m->held_count == HELD) {
        release_held(m);
    }
    h = m->held[(m->held_first + m->held_count) % HELD];
    if (h == NULL) {
        h = malloc(sizeof(*h));
        if (h == NULL) {
            m->losses.orphan_replies++;
            return;
        }
        m->held[(m->held_first + m->held_count) % HELD] = h;
    }
    m->held_count++;
    h->serial = m->next_serial++;
    h->connection = c;
    c->references++;
    h->record = *record;
    h->record.connection = NULL;
    for (n = 0; n < record->piece_count && n < HELD_PIECES; n++) {
        const struct rpc_piece *from = &record->pieces[n];
        uint32_t length =
            from->length < HELD_BYTES - used ? from->length : HELD_BYTES - used;

        memcpy(h->bytes + used, from->data, length);
        h->pieces[n].offset = from->offset;
        h->pieces[n].length = length;
        h->pieces[n].data = h->bytes + used;
        used += length;
    }
    h->record.pieces = h->pieces;
    h->record.piece_count = n;
}

static void
on_reply(struct rpc_match *m, struct match_connection *c,
         const struct rpc_record *record, uint32_t xid)
{
    unsigned client = 1 - record->direction;
    struct pending *p = find_call_of(m, c, client, xid);
    struct rpc_reply_head head;
    struct done *d;

    m->losses.replies++;
    if (p != NULL) {
        (void)rpc_reply_head_read(&m->decode.x, &head);
        complete(m, p, record, &head);
        return;
    }
    d = done_find(m, c, client, xid, record->first_ns, true);
    if (d == NULL) {
        d = done_find(m, c, client, xid, record->first_ns, false);
    }
    if (d != NULL) {
        m->losses.duplicate_replies++;
        late(m, d, RPC_LATE_DUPLICATE_REPLY, record);
        return;
    }
    hold(m, c, record);
}

/* The reply to `p` may have come first. */
static void
try_held(struct rpc_match *m, struct pending *p)
{
    for (unsigned i = 0; i < m->held_count; i++) {
        struct held *h = m->held[(m->held_first + i) % HELD];
        struct rpc_reply_head head;
        struct rpc_record record;

        if (h->connection != p->connection ||
            h->record.direction == p->tx.client) {
            continue;
        }
        xdrc_init(&m->decode.x, &h->record, &m->scratch);
        if (xdrc_u32(&m->decode.x) != p->tx.xid) {
            continue;
        }
        (void)xdrc_u32(&m->decode.x);
        (void)rpc_reply_head_read(&m->decode.x, &head);
        record = h->record;
        record.connection =
            (struct rpc_connection *)(uintptr_t)p->connection->live;
        connection_release(m, h->connection);
        h->connection = NULL;
        complete(m, p, &record, &head);
        return;
    }
}

/* --- calls --------------------------------------------------------------- */

/* What tells one call from another with the same xid. */
struct identity {
    uint32_t program, version, procedure;
    uint32_t length;
    uint32_t arguments, argument_bytes;
};

static void
identify(struct identity *id, struct xdrc *x, const struct rpc_call_head *head,
         const struct rpc_record *record)
{
    size_t n = (size_t)(x->end - x->at);
    uint64_t h;

    id->program = head->program;
    id->version = head->version;
    id->procedure = head->procedure;
    id->length = record->length;
    if (head->credential.flavor == SUNRPC_AUTH_GSS &&
        head->credential.gss_service == SUNRPC_GSS_PRIVACY) {
        n = 0; /* encrypted anew each time */
    }
    if (n > ARGUMENTS_HASHED) {
        n = ARGUMENTS_HASHED;
    }
    h = rpc_hash(x->at, (uint32_t)n, head->credential.hash);
    id->arguments = (uint32_t)(h ^ h >> 32);
    id->argument_bytes = (uint32_t)n;
}

static bool
same_hash(const struct identity *id, uint32_t arguments, uint32_t bytes)
{
    /* One of the two captured shorter: the rest has to do. */
    return id->argument_bytes != bytes || id->arguments == arguments;
}

static bool
same_call(const struct identity *id, const struct pending *p)
{
    return id->program == p->tx.program && id->version == p->tx.version &&
           id->procedure == p->tx.procedure && id->length == p->tx.call_bytes &&
           same_hash(id, p->arguments, p->argument_bytes);
}

static bool
same_done(const struct identity *id, const struct done *d)
{
    return id->program == d->program && id->version == d->version &&
           id->procedure == d->procedure && id->length == d->call_bytes &&
           same_hash(id, d->arguments, d->argument_bytes);
}

/* The pending call that this one repeats or, with *reused, replaces. */
static struct pending *
find_predecessor(struct rpc_match *m, const struct match_connection *c,
                 unsigned client, uint32_t xid, const struct identity *id,
                 bool *reused)
{
    uint32_t peers = c->sides[client].peers;
    uint32_t i = slot_of(m, peers, xid);
    struct pending *other = NULL;

    *reused = false;
    for (; m->table[i].pending != 0; i = (i + 1) & m->table_mask) {
        struct pending *p;

        if (m->table[i].xid != xid) {
            continue;
        }
        p = pending_at(m, m->table[i].pending - 1);
        if (p->connection == c && p->tx.client == client) {
            *reused = !same_call(id, p);
            return p;
        }
        if (p->peers == peers && p->connection != c && same_call(id, p)) {
            other = p;
        }
    }
    return other;
}

static void
retransmitted(struct rpc_match *m, struct pending *p,
              struct match_connection *c, const struct rpc_record *record)
{
    p->tx.retransmissions++;
    p->tx.resent_ns = record->first_ns;
    p->sent_ns = record->first_ns;
    m->losses.retransmissions++;
    if (p->connection != c) {
        struct match_connection *old = p->connection;

        p->moved = true;
        p->connection = c;
        p->tx.client = record->direction;
        c->references++;
        connection_release(m, old);
    }
    list_remove(m, p);
    list_append(m, p);
}

static struct pending *
pending_new(struct rpc_match *m)
{
    struct pending *p;

    while (m->oldest != NULL && (m->pending_count >= m->max_pending ||
                                 m->pool.in_use > STORE_LIMIT)) {
        m->losses.pending_overflows++;
        give_up(m, m->oldest);
    }
    if (m->pending_count * 2 > m->table_mask &&
        !table_resize(m, (m->table_mask + 1) * 2) &&
        m->pending_count >= m->table_mask) {
        return NULL;
    }
    if (m->unused == NULL && !add_chunk(m)) {
        return NULL;
    }
    p = m->unused;
    m->unused = p->newer;
    m->pending_count++;
    memset(&p->tx, 0, sizeof(p->tx));
    memset(&p->meaning, 0, sizeof(p->meaning));
    p->moved = false;
    return p;
}

static void
keep_credential(const struct rpc_match *m, struct pending *p,
                const struct rpc_credential *from)
{
    p->tx.credential = *from;
    if (from->machine_name == NULL) {
        return;
    }
    if (!m->full && p->tx.procedure != 0) {
        p->tx.credential.machine_name = NULL;
        p->tx.credential.machine_name_length = 0;
        return;
    }
    memcpy(p->machine_name, from->machine_name, from->machine_name_length);
    p->tx.credential.machine_name = p->machine_name;
}

static unsigned
call_flags(struct rpc_match *m, struct match_connection *c, unsigned client,
           const struct rpc_call_head *head)
{
    const struct rpc_credential *cred = &head->credential;
    unsigned flags = 0;

    if (head->program == SUNRPC_NFS) {
        c->server_side = (int)(1 - client);
    } else if (is_callback_program(m, head->program)) {
        flags |= RPC_TX_CALLBACK;
    } else if (rpc_program_name(head->program) == NULL) {
        const struct rpc_endpoint *ends = c->copy.ends;

        m->losses.unknown_program_calls++;
        if (c->server_side == (int)client ||
            (c->server_side < 0 && ends[client].port == NFS_PORT &&
             ends[1 - client].port != NFS_PORT)) {
            flags |= RPC_TX_CALLBACK;
        }
    }
    if (cred->flavor == SUNRPC_AUTH_GSS) {
        if (cred->gss_procedure != SUNRPC_GSS_DATA) {
            flags |= RPC_TX_GSS_CONTROL;
        } else if (cred->gss_service == SUNRPC_GSS_PRIVACY) {
            flags |= RPC_TX_ENCRYPTED;
            m->losses.encrypted_calls++;
        }
    } else if (cred->flavor == SUNRPC_AUTH_TLS && head->procedure == 0) {
        flags |= RPC_TX_TLS_PROBE;
    }
    return flags;
}

static void
new_call(struct rpc_match *m, struct match_connection *c,
         const struct rpc_record *record, const struct rpc_call_head *head,
         const struct identity *id)
{
    struct pending *p = pending_new(m);
    struct rpc_transaction *tx;

    if (p == NULL) {
        m->losses.pending_overflows++;
        return;
    }
    tx = &p->tx;
    tx->serial = m->next_serial++;
    tx->client = record->direction;
    tx->xid = head->xid;
    tx->program = head->program;
    tx->version = head->version;
    tx->procedure = head->procedure;
    tx->call_first_ns = record->first_ns;
    tx->call_last_ns = record->last_ns;
    tx->call_bytes = record->length;
    keep_credential(m, p, &head->credential);
    tx->flags = call_flags(m, c, record->direction, head);
    p->connection = c;
    c->references++;
    p->sent_ns = record->first_ns;
    p->peers = c->sides[record->direction].peers;
    p->arguments = id->arguments;
    p->argument_bytes = id->argument_bytes;
    table_put(m, p->peers, tx->xid, p->index);
    list_append(m, p);

    if (!body_hidden(tx)) {
        tx->flags |= decode_body(m, p, false);
        learn_program(m, m->decode.callback_program);
    } else if (!is_compound(tx)) {
        rpc_decode_single((m->decode.meaning = &p->meaning, &m->decode),
                          tx->procedure)
            ->flags |= RPC_OP_IN_CALL;
    }
    if (m->held_count > 0) {
        try_held(m, p);
    }
}

static struct rpc_credential_memo *
memo_of(struct side *side)
{
    if (side->memo == NULL) {
        side->memo = calloc(1, sizeof(*side->memo));
    }
    return side->memo;
}

static void
on_call(struct rpc_match *m, struct match_connection *c,
        const struct rpc_record *record, uint32_t xid)
{
    struct xdrc *x = &m->decode.x;
    struct rpc_call_head head;
    struct identity id;
    struct pending *p;
    struct done *d;
    bool reused;

    m->losses.calls++;
    head.xid = xid;
    (void)rpc_call_head_read(x, memo_of(&c->sides[record->direction]), &head);
    if (!head.numbers_known) {
        if (x->status == XDRC_BAD) {
            m->losses.malformed_calls++;
        } else {
            m->losses.partly_decoded++;
        }
        return;
    }
    if (has_wrapper(&head.credential)) {
        uint32_t outer;

        rpc_integrity_enter(x, &outer);
    }
    identify(&id, x, &head, record);
    p = find_predecessor(m, c, record->direction, xid, &id, &reused);
    if (p != NULL && !reused) {
        retransmitted(m, p, c, record);
        return;
    }
    if (p != NULL) {
        give_up(m, p);
    }
    d = done_find(m, c, record->direction, xid, record->first_ns,
                  head.procedure == 0);
    if (d != NULL && same_done(&id, d)) {
        m->losses.retransmissions++;
        late(m, d, RPC_LATE_RETRANSMISSION, record);
        return;
    }
    new_call(m, c, record, &head, &id);
}

/* --- the interface ------------------------------------------------------- */

static void
expire(struct rpc_match *m, int64_t now)
{
    while (m->oldest != NULL && m->timeout_ns > 0 &&
           now - m->oldest->sent_ns > m->timeout_ns) {
        give_up(m, m->oldest);
    }
    while (m->held_count > 0) {
        const struct held *h = m->held[m->held_first % HELD];

        if (h->connection != NULL && now - h->record.first_ns <= HOLD_NS) {
            break;
        }
        release_held(m);
    }
}

void
rpc_match_record(struct rpc_match *m, const struct rpc_record *record)
{
    struct match_connection *c = record->connection->match;
    struct xdrc *x = &m->decode.x;
    uint32_t xid, type;

    if (c == NULL) {
        c = connection_new(m, record->connection);
        if (c == NULL) {
            m->losses.pending_overflows++;
            return;
        }
    }
    expire(m, record->first_ns);
    m->scratch.used = 0;
    xdrc_init(x, record, &m->scratch);
    xid = xdrc_u32(x);
    type = xdrc_u32(x);
    if (!xdrc_ok(x)) {
        if (x->status == XDRC_BAD) {
            m->losses.malformed_calls++;
        } else {
            m->losses.partly_decoded++;
        }
    } else if (type == SUNRPC_CALL) {
        on_call(m, c, record, xid);
    } else if (type == SUNRPC_REPLY) {
        on_reply(m, c, record, xid);
    } else {
        m->losses.malformed_calls++;
    }
}

bool
rpc_match_outstanding(struct rpc_match *m,
                      const struct rpc_connection *connection,
                      unsigned direction, uint32_t xid)
{
    const struct match_connection *c = connection->match;

    return c != NULL && find_call_of(m, c, 1 - direction, xid) != NULL;
}

void
rpc_match_gap(struct rpc_match *m, struct rpc_connection *connection,
              unsigned direction, uint64_t bytes, int64_t when_ns)
{
    struct match_connection *c = connection->match;

    (void)bytes;
    if (c == NULL) {
        c = connection_new(m, connection);
        if (c == NULL) {
            return;
        }
    }
    c->sides[direction].gap_seen = true;
    c->sides[direction].gap_serial = m->next_serial;
    c->sides[direction].gap_ns = when_ns;
}

void
rpc_match_connection_end(struct rpc_match *m, struct rpc_connection *connection,
                         int64_t when_ns)
{
    struct match_connection *c = connection->match;

    (void)when_ns;
    if (c == NULL) {
        return;
    }
    connection->match = NULL;
    c->live = NULL;
    if (c->references == 0) {
        connection_free(m, c);
    }
}

void
rpc_match_finish(struct rpc_match *m, int64_t last_ns)
{
    (void)last_ns;
    while (m->oldest != NULL) {
        give_up(m, m->oldest);
    }
    while (m->held_count > 0) {
        release_held(m);
    }
}

const struct rpc_losses *
rpc_match_losses(const struct rpc_match *m)
{
    return &m->losses;
}

void
rpc_match_set_stream_hooks(struct rpc_match *m, void *context,
                           void (*port)(void *context, uint16_t port),
                           void (*tls)(void *context,
                                       struct rpc_connection *connection))
{
    m->hook_context = context;
    m->hook_port = port;
    m->hook_tls = tls;
}

/* So that nobody can write a capture that is slow to look up. */
static uint32_t
unpredictable(const struct rpc_match *m)
{
    struct timespec now = {0, 0};
    uintptr_t place = (uintptr_t)m;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)rpc_hash(&place, sizeof(place), (uint64_t)now.tv_nsec);
}

struct rpc_match *
rpc_match_new(const struct capture_options *options,
              const struct rpc_transaction_sink *sink)
{
    struct rpc_match *m = calloc(1, sizeof(*m));

    if (m == NULL) {
        return NULL;
    }
    m->sink = *sink;
    m->full = options->depth == RPC_DEPTH_FULL;
    m->max_pending =
        options->max_pending > 0 ? options->max_pending : PENDING_DEFAULT;
    if (m->max_pending > UINT32_MAX / 8) {
        m->max_pending = UINT32_MAX / 8;
    }
    m->timeout_ns = options->reply_timeout_ns;
    m->next_serial = 1;
    m->seed = unpredictable(m);
    m->decode.pool = &m->pool;
    m->done_sets = DONE_SETS;
    while (m->done_sets > DONE_SETS_LEAST && m->done_sets > m->max_pending) {
        m->done_sets /= 2;
    }
    m->done = calloc((size_t)m->done_sets * DONE_WAYS, sizeof(*m->done));
    if (m->done == NULL || !table_resize(m, TABLE_START)) {
        free(m->done);
        free(m);
        return NULL;
    }
    return m;
}

void
rpc_match_free(struct rpc_match *m)
{
    if (m == NULL) {
        return;
    }
    while (m->oldest != NULL) {
        pending_drop(m, m->oldest);
    }
    for (unsigned i = 0; i < HELD; i++) {
        free(m->held[i]);
    }
    while (m->connections != NULL) {
        connection_free(m, m->connections);
    }
    for (size_t i = 0; i < m->chunk_count; i++) {
        free(m->chunks[i]);
    }
    rpc_store_pool_free(&m->pool);
    free(m->chunks);
    free(m->table);
    free(m->done);
    free(m);
}

/* --- as a record sink ---------------------------------------------------- */

static void
sink_record(void *context, const struct rpc_record *record)
{
    rpc_match_record(context, record);
}

static bool
sink_outstanding(void *context, const struct rpc_connection *connection,
                 unsigned direction, uint32_t xid)
{
    return rpc_match_outstanding(context, connection, direction, xid);
}

static void
sink_gap(void *context, struct rpc_connection *connection, unsigned direction,
         uint64_t bytes, int64_t when_ns)
{
    rpc_match_gap(context, connection, direction, bytes, when_ns);
}

static void
sink_end(void *context, struct rpc_connection *connection, int64_t when_ns)
{
    rpc_match_connection_end(context, connection, when_ns);
}

struct rpc_record_sink
rpc_match_sink(struct rpc_match *m)
{
    struct rpc_record_sink sink = {
        .context = m,
        .record = sink_record,
        .outstanding = sink_outstanding,
        .gap = sink_gap,
        .connection_end = sink_end,
    };

    return sink;
}
