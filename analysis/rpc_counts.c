/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * Rows live in arrays that only grow, up to a limit, and are found through
 * one small hash table (procedures) or direct index (operations): a hostile
 * capture can make rows, not memory. What finds no row is added up in
 * `unlisted`. Redundant ACCESS is looked for in a table that forgets: one
 * slot per hash, the newest wins, so that it can miss one but not invent one.
 */
#include "analysis/rpc_counts.h"

#include "analysis/exec_window.h"
#include "analysis/run_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCEDURE_ROWS 1024
#define PROCEDURE_SLOTS 4096 /* power of two, several times the rows */
#define QUICK_ROWS 256
#define OPERATION_NUMBERS 77 /* 3 to 75 by number, 76 for ILLEGAL, and rest */
#define MINOR_VERSIONS 4     /* 0, 1, 2, and beyond */
#define SETATTR_ROWS 256
#define ACCESS_ROWS 256
#define MARKER_ROWS 65536
#define ACCESS_SLOTS 16384

struct access_slot {
    uint64_t key;
    int64_t when_ns;
};

struct rpc_counts {
    struct procedure_counts *procedure[PROCEDURE_ROWS];
    struct procedure_counts *ordered[PROCEDURE_ROWS];
    size_t procedures;
    uint16_t slot[PROCEDURE_SLOTS]; /* 1 + row, 0 when free */
    struct procedure_counts *quick[QUICK_ROWS]; /* the last one there */
    struct operation_counts operation[2][MINOR_VERSIONS][OPERATION_NUMBERS];
    struct operation_counts listed[2 * MINOR_VERSIONS * OPERATION_NUMBERS];
    struct setattr_counts setattr[SETATTR_ROWS];
    size_t setattrs;
    struct access_counts access[ACCESS_ROWS];
    size_t accesses;
    struct marker_seen *markers;
    size_t marker_count, marker_space;
    struct access_slot *recent;
    int64_t access_cache_ns;
    uint64_t unlisted;
    bool access_without_handle;
};

struct rpc_counts *
rpc_counts_new(int64_t access_cache_ns)
{
    struct rpc_counts *counts = calloc(1, sizeof *counts);

    if (counts == NULL)
        return NULL;
    counts->access_cache_ns = access_cache_ns;
    counts->recent = calloc(ACCESS_SLOTS, sizeof(*counts->recent));
    if (counts->recent == NULL) {
        free(counts);
        return NULL;
    }
    return counts;
}

void
rpc_counts_free(struct rpc_counts *counts)
{
    size_t i;

    if (counts == NULL)
        return;
    for (i = 0; i < counts->procedures; i++) {
        free(counts->procedure[i]->last);
        free(counts->procedure[i]->first);
        free(counts->procedure[i]);
    }
    free(counts->markers);
    free(counts->recent);
    free(counts);
}

/* --- rows -------------------------------------------------------------------- */

static bool
row_is(const struct procedure_counts *row, uint32_t program, uint32_t version,
       uint32_t number, unsigned kind)
{
    return row->number == number && row->version == version &&
           row->program == program &&
           (unsigned)(row->callback | row->by_main << 1) == kind;
}

static struct procedure_counts *
find_row(struct rpc_counts *counts, uint32_t program, uint32_t version,
         uint32_t number, unsigned kind)
{
    uint64_t hash = (program * UINT64_C(0x9e3779b97f4a7c15)) ^
                    (version * UINT64_C(0xc2b2ae3d27d4eb4f)) ^
                    ((number << 2 | kind) * UINT64_C(0x165667b19e3779f9));
    size_t slot = (size_t)((hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >>
                           40) & (PROCEDURE_SLOTS - 1);
    struct procedure_counts *row;

    while (counts->slot[slot] != 0) {
        row = counts->procedure[counts->slot[slot] - 1];
        if (row_is(row, program, version, number, kind))
            return row;
        slot = (slot + 1) & (PROCEDURE_SLOTS - 1);
    }
    if (counts->procedures == PROCEDURE_ROWS)
        return NULL;
    row = calloc(1, sizeof *row);
    if (row == NULL)
        return NULL;
    row->program = program;
    row->version = version;
    row->number = number;
    row->callback = (kind & 1) != 0;
    row->by_main = (kind & 2) != 0;
    counts->procedure[counts->procedures++] = row;
    counts->slot[slot] = (uint16_t)counts->procedures;
    return row;
}

/* @param kind bit 0: callback, bit 1: by main operation. NULL: no room. */
static inline struct procedure_counts *
procedure_row(struct rpc_counts *counts, uint32_t program, uint32_t version,
              uint32_t number, unsigned kind)
{
    struct procedure_counts **quick =
        &counts->quick[(number ^ version << 4 ^ kind << 6) % QUICK_ROWS];

    if (*quick == NULL || !row_is(*quick, program, version, number, kind))
        *quick = find_row(counts, program, version, number, kind);
    return *quick;
}

static void
count_error(struct error_counts *errors, uint32_t status)
{
    unsigned i;

    for (i = 0; i < errors->rows; i++) {
        if (errors->row[i].status == status) {
            errors->row[i].count++;
            return;
        }
    }
    if (errors->rows == STATUS_ROWS) {
        errors->other_errors++;
        return;
    }
    errors->row[errors->rows].status = status;
    errors->row[errors->rows++].count = 1;
}

static void
count_latency(struct histogram **histogram, int64_t ns)
{
    if (*histogram == NULL)
        *histogram = calloc(1, sizeof(**histogram));
    if (*histogram != NULL)
        histogram_add(*histogram, ns);
}

static void
count_row(struct procedure_counts *row, const struct rpc_transaction *tx)
{
    row->calls++;
    row->call_bytes += tx->call_bytes;
    row->retransmissions += tx->retransmissions;
    if (tx->outcome != RPC_REPLIED) {
        row->unanswered++;
        return;
    }
    row->replies++;
    row->reply_bytes += tx->reply_bytes;
    if (tx->reply_stat != 0 || tx->accept_stat != 0)
        row->rpc_errors++;
    else if (tx->status_known && tx->status != 0)
        count_error(&row->errors, tx->status);
    if ((tx->flags & RPC_TX_REPLY_FIRST) != 0)
        return; /* its own counter; no latency */
    count_latency(&row->last, tx->reply_last_ns - tx->call_first_ns);
    count_latency(&row->first, tx->reply_first_ns - tx->call_first_ns);
}

/* --- operations --------------------------------------------------------------- */

static struct operation_counts *
operation_row(struct rpc_counts *counts, bool callback, uint32_t minor,
              uint32_t number)
{
    const uint32_t column = number < OPERATION_NUMBERS - 1
                                ? number
                                : OPERATION_NUMBERS - 1;
    struct operation_counts *row =
        &counts->operation[callback]
                          [minor < MINOR_VERSIONS ? minor : MINOR_VERSIONS - 1]
                          [column];

    row->callback = callback;
    row->minor_version = minor;
    row->number = number;
    return row;
}

static void
count_operations(struct rpc_counts *counts, const struct rpc_transaction *tx)
{
    const bool callback = (tx->flags & RPC_TX_CALLBACK) != 0;
    uint32_t i;

    for (i = 0; i < tx->operation_count; i++) {
        const struct rpc_operation *operation = &tx->operations[i];
        struct operation_counts *row = operation_row(
            counts, callback, tx->minor_version, operation->number);

        row->calls += (operation->flags & RPC_OP_IN_CALL) != 0 ||
                      (tx->flags & RPC_TX_OPS_FROM_REPLY) != 0;
        if ((operation->flags & RPC_OP_IN_REPLY) == 0)
            continue;
        row->replies++;
        if (operation->status != 0)
            count_error(&row->errors, operation->status);
    }
}

/* --- SETATTR and ACCESS --------------------------------------------------------- */

static bool
sets_the_same(const struct nfs_sattr *a, const struct nfs_sattr *b)
{
    return a->atime_how == b->atime_how && a->mtime_how == b->mtime_how &&
           a->size == b->size && a->mode == b->mode && a->owner == b->owner &&
           a->group == b->group && a->other == b->other &&
           a->empty == b->empty && a->delegated_times == b->delegated_times;
}

static void
count_setattr(struct rpc_counts *counts, const struct rpc_transaction *tx,
              const struct rpc_operation *operation)
{
    const struct nfs_sattr *what = &operation->detail->sattr;
    struct setattr_counts *row;
    size_t i;

    for (i = 0; i < counts->setattrs; i++)
        if (counts->setattr[i].version == tx->version &&
            sets_the_same(&counts->setattr[i].what, what))
            break;
    if (i == SETATTR_ROWS) {
        counts->unlisted++;
        return;
    }
    row = &counts->setattr[i];
    if (i == counts->setattrs) {
        counts->setattrs++;
        row->what = *what;
        row->version = tx->version;
    }
    row->calls++;
    row->errors += (operation->flags & RPC_OP_IN_REPLY) != 0 &&
                   operation->status != 0;
}

/* Has the same client asked the same of the same file a short while ago? */
static bool
is_redundant(struct rpc_counts *counts, const struct rpc_transaction *tx,
             const struct nfs_detail *detail, bool answered)
{
    const struct rpc_endpoint *client = &tx->connection->ends[tx->client];
    uint64_t key = detail->handle.hash, address[2];
    struct access_slot *slot;
    bool redundant;

    if (key == 0) {
        counts->access_without_handle |= answered;
        return false;
    }
    memcpy(address, client->address, sizeof address);
    if (client->family != 6)
        address[1] = 0, address[0] &= UINT64_C(0xffffffff);
    key ^= (tx->credential.hash + detail->access_requested + 1) *
           UINT64_C(0x9e3779b97f4a7c15);
    key ^= (address[0] ^ address[1] << 1) * UINT64_C(0xc2b2ae3d27d4eb4f);
    key ^= key >> 31;
    slot = &counts->recent[key & (ACCESS_SLOTS - 1)];
    redundant = slot->key == key &&
                tx->call_first_ns - slot->when_ns <= counts->access_cache_ns;
    slot->key = key;
    slot->when_ns = tx->call_first_ns;
    return redundant;
}

static void
count_access(struct rpc_counts *counts, const struct rpc_transaction *tx,
             const struct rpc_operation *operation)
{
    const struct nfs_detail *detail = operation->detail;
    const bool answered =
        (operation->flags & RPC_OP_IN_REPLY) != 0 && operation->status == 0;
    const uint32_t granted = answered ? detail->access_granted : 0;
    struct access_counts *row;
    size_t i;

    for (i = 0; i < counts->accesses; i++)
        if (counts->access[i].requested == detail->access_requested &&
            counts->access[i].granted == granted &&
            counts->access[i].answered == answered)
            break;
    if (i == ACCESS_ROWS) {
        counts->unlisted++;
        return;
    }
    row = &counts->access[i];
    if (i == counts->accesses) {
        counts->accesses++;
        row->requested = detail->access_requested;
        row->granted = granted;
        row->answered = answered;
    }
    row->calls++;
    row->redundant += is_redundant(counts, tx, detail, answered);
}

/* Procedure and operation numbers: RFC 1813 section 3, RFC 8881 16.2,
 * RFC 1094 section 2.2. */
static void
count_details(struct rpc_counts *counts, const struct rpc_transaction *tx)
{
    const uint32_t setattr = tx->version == 4 ? 34 : 2;
    const uint32_t access = tx->version == 4 ? 3 : tx->version == 3 ? 4 : ~0U;
    uint32_t i;

    for (i = 0; i < tx->operation_count; i++) {
        const struct rpc_operation *operation = &tx->operations[i];

        if (operation->detail == NULL)
            continue;
        if (operation->number == setattr)
            count_setattr(counts, tx, operation);
        else if (operation->number == access)
            count_access(counts, tx, operation);
    }
}

static void
note_marker(struct rpc_counts *counts, const struct rpc_transaction *tx)
{
    const struct rpc_credential *credential = &tx->credential;
    const size_t prefix = sizeof RUN_MARKER_PREFIX - 1;
    struct marker_seen *seen;

    if (credential->machine_name == NULL ||
        credential->machine_name_length <= prefix ||
        credential->machine_name_length >= sizeof seen->text ||
        memcmp(credential->machine_name, RUN_MARKER_PREFIX, prefix) != 0 ||
        counts->marker_count == MARKER_ROWS)
        return;
    if (counts->marker_count == counts->marker_space) {
        const size_t space = counts->marker_space * 2 + 16;
        struct marker_seen *grown =
            realloc(counts->markers, space * sizeof(*grown));

        if (grown == NULL)
            return;
        counts->markers = grown;
        counts->marker_space = space;
    }
    seen = &counts->markers[counts->marker_count++];
    memcpy(seen->text, credential->machine_name,
           credential->machine_name_length);
    seen->text[credential->machine_name_length] = '\0';
    seen->when_ns = tx->call_first_ns;
}

void
rpc_counts_transaction(void *context, const struct rpc_transaction *tx)
{
    struct rpc_counts *counts = context;
    const bool callback = (tx->flags & RPC_TX_CALLBACK) != 0;
    struct procedure_counts *row;

    if (tx->outcome == RPC_ORPHAN_REPLY ||
        (tx->flags & RPC_TX_GSS_CONTROL) != 0)
        return;
    row = procedure_row(counts, tx->program, tx->version, tx->procedure,
                        callback);
    if (row == NULL) {
        counts->unlisted++;
        return;
    }
    count_row(row, tx);
    if (tx->procedure == 0) {
        note_marker(counts, tx);
        return;
    }
    if (tx->program != SUNRPC_NFS && !callback)
        return;
    if (callback || tx->version == 4) {
        count_operations(counts, tx);
        if (tx->operation_count > 0) {
            row = procedure_row(counts, tx->program, tx->version,
                                compound_main_operation(tx->operations,
                                                        tx->operation_count),
                                2U | callback);
            if (row != NULL)
                count_row(row, tx);
        }
    }
    if (!callback)
        count_details(counts, tx);
}

void
rpc_counts_late(void *context, const struct rpc_late *late)
{
    struct rpc_counts *counts = context;
    struct procedure_counts *row = procedure_row(
        counts, late->program, late->version, late->procedure, 0);

    if (row == NULL)
        return;
    if (late->kind == RPC_LATE_DUPLICATE_REPLY)
        row->duplicate_replies++;
    else
        row->retransmissions++;
}

/* --- reading it out --------------------------------------------------------------- */

static int
by_number(const void *left, const void *right)
{
    const struct procedure_counts *a =
        *(const struct procedure_counts *const *)left;
    const struct procedure_counts *b =
        *(const struct procedure_counts *const *)right;

    if (a->program != b->program)
        return a->program < b->program ? -1 : 1;
    if (a->version != b->version)
        return a->version < b->version ? -1 : 1;
    if (a->by_main != b->by_main)
        return a->by_main ? 1 : -1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->callback - b->callback;
}

const struct procedure_counts *const *
rpc_counts_procedures(struct rpc_counts *counts, size_t *length)
{
    memcpy(counts->ordered, counts->procedure, sizeof counts->ordered);
    qsort(counts->ordered, counts->procedures, sizeof(counts->ordered[0]),
          by_number);
    *length = counts->procedures;
    return (const struct procedure_counts *const *)counts->ordered;
}

const struct operation_counts *
rpc_counts_operations(struct rpc_counts *counts, size_t *length)
{
    const struct operation_counts *all = &counts->operation[0][0][0];
    size_t i, n = 0;

    for (i = 0; i < sizeof counts->operation / sizeof *all; i++)
        if (all[i].calls > 0 || all[i].replies > 0)
            counts->listed[n++] = all[i];
    *length = n;
    return counts->listed;
}

const struct setattr_counts *
rpc_counts_setattrs(const struct rpc_counts *counts, size_t *length)
{
    *length = counts->setattrs;
    return counts->setattr;
}

const struct access_counts *
rpc_counts_accesses(const struct rpc_counts *counts, size_t *length)
{
    *length = counts->accesses;
    return counts->access;
}

const struct marker_seen *
rpc_counts_markers(const struct rpc_counts *counts, size_t *length)
{
    *length = counts->marker_count;
    return counts->markers;
}

uint64_t
rpc_counts_unlisted(const struct rpc_counts *counts)
{
    return counts->unlisted;
}

bool
rpc_counts_handles_known(const struct rpc_counts *counts)
{
    return !counts->access_without_handle;
}

const char *
setattr_text(const struct nfs_sattr *what, char *out, size_t size)
{
    static const char *const how[] = {
        [NFS_TIME_KEEP] = NULL,
        [NFS_TIME_SERVER] = "to server time",
        [NFS_TIME_CLIENT] = "to client time",
    };
    const struct {
        bool set;
        const char *name, *value;
    } parts[] = {
        {what->atime_how != NFS_TIME_KEEP, "atime ", how[what->atime_how]},
        {what->mtime_how != NFS_TIME_KEEP, "mtime ", how[what->mtime_how]},
        {what->size, "size", ""},
        {what->mode, "mode", ""},
        {what->owner, "owner", ""},
        {what->group, "group", ""},
        {what->other, "other attributes", ""},
    };
    size_t i, used = 0;

    snprintf(out, size, "%s", what->empty ? "nothing at all" : "");
    for (i = 0; i < sizeof parts / sizeof parts[0] && !what->empty; i++)
        if (parts[i].set && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s%s",
                                     used > 0 ? ", " : "", parts[i].name,
                                     parts[i].value);
    if (what->delegated_times && used < size)
        snprintf(out + used, size - used, " (delegated)");
    return out;
}
