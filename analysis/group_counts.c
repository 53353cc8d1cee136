/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * Groups are found by key in an open-addressing table twice as large as their
 * number. When GROUPS_KEPT are there and another one comes, the half with
 * fewer calls is added to the rest and its places are used again, so that a
 * file that becomes busy late is still found; whatever is made after that
 * may have been in the rest before, and is marked `partial`. Intervals are
 * never given up for later ones: the rest is then what came last.
 */
#include "analysis/group_counts.h"

#include "analysis/transaction_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * GROUPS_KEPT) /* a power of two */
#define KINDS_KEPT 256          /* of one group */

struct group_counts {
    enum group_by by;
    int64_t interval_ns;
    struct group *last;
    struct group *group[GROUPS_KEPT];
    const struct group *ordered[GROUPS_KEPT];
    size_t count;
    uint16_t slot[SLOTS]; /* 1 + index, 0 when free */
    struct group rest;
    uint64_t rest_groups;
    bool given_up; /* some groups were put into the rest */
};
_Static_assert(GROUPS_KEPT < UINT16_MAX, "an index fits its slot");

struct group_counts *
group_counts_new(enum group_by by, int64_t interval_ns)
{
    struct group_counts *groups = calloc(1, sizeof *groups);

    if (groups == NULL)
        return NULL;
    groups->by = by;
    groups->interval_ns = interval_ns > 0 ? interval_ns : 1;
    groups->rest.min_ns = INT64_MAX;
    return groups;
}

void
group_release(struct group *group)
{
    free(group->classes);
    free(group->by_kind);
}

void
group_counts_free(struct group_counts *groups)
{
    size_t i;

    if (groups == NULL)
        return;
    for (i = 0; i < groups->count; i++) {
        group_release(groups->group[i]);
        free(groups->group[i]);
    }
    group_release(&groups->rest);
    free(groups);
}

/* --- the table ------------------------------------------------------------------ */

static size_t
slot_of(const uint64_t key[2], uint32_t kind)
{
    uint64_t hash = (key[0] ^ key[1] * UINT64_C(0xc2b2ae3d27d4eb4f) ^ kind) *
                    UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)((hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 40) &
           (SLOTS - 1);
}

static bool
is_group(const struct group *group, const uint64_t key[2], uint32_t kind)
{
    return group->key[0] == key[0] && group->key[1] == key[1] &&
           group->kind == kind;
}

static void
enter(struct group_counts *groups, size_t index)
{
    const struct group *group = groups->group[index];
    size_t slot = slot_of(group->key, group->kind);

    while (groups->slot[slot] != 0)
        slot = (slot + 1) & (SLOTS - 1);
    groups->slot[slot] = (uint16_t)(index + 1);
}

static int
by_calls(const void *left, const void *right)
{
    const struct group *a = *(const struct group *const *)left;
    const struct group *b = *(const struct group *const *)right;

    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->key[0] != b->key[0])
        return a->key[0] < b->key[0] ? -1 : 1;
    return a->key[1] < b->key[1] ? -1 : a->key[1] > b->key[1];
}

static struct group_calls *
calls_of(struct group *group, const struct group_calls *what)
{
    struct group_calls *more;
    size_t i, room;

    for (i = 0; i < group->kinds; i++) {
        struct group_calls *known = &group->by_kind[i];

        if (known->number == what->number &&
            known->version == what->version &&
            known->program == what->program &&
            known->main_operation == what->main_operation &&
            known->callback == what->callback)
            return known;
    }
    if (group->kinds == KINDS_KEPT)
        return NULL;
    if (group->kinds == group->kind_room) {
        room = group->kind_room > 0 ? group->kind_room * 2 : 4;
        more = realloc(group->by_kind, room * sizeof *more);
        if (more == NULL)
            return NULL;
        group->by_kind = more;
        group->kind_room = room;
    }
    group->by_kind[group->kinds] = *what;
    group->by_kind[group->kinds].calls = 0;
    group->by_kind[group->kinds].errors = 0;
    return &group->by_kind[group->kinds++];
}

void
group_add(struct group *to, const struct group *from)
{
    size_t i;

    to->calls += from->calls;
    to->replies += from->replies;
    to->retransmissions += from->retransmissions;
    to->unanswered += from->unanswered;
    to->errors += from->errors;
    to->call_bytes += from->call_bytes;
    to->reply_bytes += from->reply_bytes;
    to->unlisted += from->unlisted;
    if (from->latencies > 0) {
        const double all = (double)(to->latencies + from->latencies);

        to->mean_ns += (from->mean_ns - to->mean_ns) *
                       (double)from->latencies / all;
        to->latencies += from->latencies;
        to->min_ns = from->min_ns < to->min_ns ? from->min_ns : to->min_ns;
        to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
    }
    if (to->classes == NULL && from->classes != NULL)
        to->classes = calloc(GROUP_CLASSES, sizeof *to->classes);
    for (i = 0; i < GROUP_CLASSES && to->classes != NULL &&
                from->classes != NULL; i++)
        to->classes[i] += from->classes[i];
    for (i = 0; i < from->kinds; i++) {
        struct group_calls *calls = calls_of(to, &from->by_kind[i]);

        if (calls == NULL) {
            to->unlisted += from->by_kind[i].calls;
            continue;
        }
        calls->calls += from->by_kind[i].calls;
        calls->errors += from->by_kind[i].errors;
    }
}

/* Puts the half with fewer calls into the rest. */
static void
give_up_half(struct group_counts *groups)
{
    size_t i;

    qsort(groups->group, groups->count, sizeof groups->group[0], by_calls);
    for (i = GROUPS_KEPT / 2; i < groups->count; i++) {
        group_add(&groups->rest, groups->group[i]);
        groups->rest_groups++;
        group_release(groups->group[i]);
        free(groups->group[i]);
    }
    groups->count = GROUPS_KEPT / 2;
    memset(groups->slot, 0, sizeof groups->slot);
    for (i = 0; i < groups->count; i++)
        enter(groups, i);
    groups->given_up = true;
    groups->last = NULL;
}

/* The group of that key; the rest when there is no room. */
static struct group *
group_of(struct group_counts *groups, const uint64_t key[2], uint32_t kind)
{
    size_t slot = slot_of(key, kind);
    struct group *group;

    if (groups->last != NULL && is_group(groups->last, key, kind))
        return groups->last;
    while (groups->slot[slot] != 0) {
        group = groups->group[groups->slot[slot] - 1];
        if (is_group(group, key, kind))
            return groups->last = group;
        slot = (slot + 1) & (SLOTS - 1);
    }
    if (groups->count == GROUPS_KEPT && groups->by != GROUP_BY_INTERVAL)
        give_up_half(groups);
    group = groups->count < GROUPS_KEPT ? calloc(1, sizeof *group) : NULL;
    if (group == NULL) {
        groups->rest_groups += groups->rest.calls == 0;
        groups->rest.partial = true;
        return &groups->rest;
    }
    group->key[0] = key[0];
    group->key[1] = key[1];
    group->kind = kind;
    group->min_ns = INT64_MAX;
    group->partial = groups->given_up;
    groups->group[groups->count++] = group;
    enter(groups, groups->count - 1);
    return groups->last = group;
}

/* --- counting --------------------------------------------------------------------- */

static int64_t
floor_divide(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

static struct group *
choose(struct group_counts *groups, const struct rpc_transaction *tx)
{
    const struct rpc_endpoint *end = NULL;
    uint64_t key[2] = {0, 0};
    uint32_t kind = 0;

    switch (groups->by) {
    case GROUP_BY_CLIENT:
        end = transaction_client(tx);
        break;
    case GROUP_BY_SERVER:
        end = transaction_server(tx);
        break;
    case GROUP_BY_FILE:
        key[0] = transaction_file(tx, transaction_operation(tx));
        break;
    case GROUP_BY_UID:
        kind = tx->credential.flavor + 1;
        key[0] = tx->credential.flavor == 1 ? tx->credential.uid : 0;
        break;
    case GROUP_BY_INTERVAL:
        key[0] = (uint64_t)floor_divide(tx->call_first_ns,
                                        groups->interval_ns);
        break;
    }
    if (end != NULL) {
        kind = end->family;
        memcpy(key, end->address, end->family == 4 ? 4 : sizeof key);
    }
    return group_of(groups, key, kind);
}

static unsigned
class_of(int64_t ns)
{
    const uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    unsigned bit, step;

    if (value >> GROUP_FIRST_BIT == 0)
        return 0;
    bit = 63 - (unsigned)__builtin_clzll(value);
    if (bit >= GROUP_FIRST_BIT + GROUP_DOUBLINGS)
        return GROUP_CLASSES - 1;
    step = (unsigned)(value >> (bit - 4)) & (GROUP_STEPS - 1);
    return (bit - GROUP_FIRST_BIT) * GROUP_STEPS + step;
}
_Static_assert(GROUP_STEPS == 1 << 4, "4 bits behind the first");

static void
count_latency(struct group *group, int64_t ns)
{
    group->latencies++;
    group->mean_ns +=
        ((double)ns - group->mean_ns) / (double)group->latencies;
    group->min_ns = ns < group->min_ns ? ns : group->min_ns;
    group->max_ns = ns > group->max_ns ? ns : group->max_ns;
    if (group->classes == NULL)
        group->classes = calloc(GROUP_CLASSES, sizeof *group->classes);
    if (group->classes != NULL)
        group->classes[class_of(ns)]++;
}

static void
count_kind(struct group *group, const struct rpc_transaction *tx, bool error)
{
    const bool callback = (tx->flags & RPC_TX_CALLBACK) != 0;
    const struct group_calls what = {
        .program = tx->program,
        .version = tx->version,
        .number = transaction_operation(tx),
        .main_operation = tx->procedure != 0 && tx->operation_count > 0 &&
                          (callback || (tx->program == SUNRPC_NFS &&
                                        tx->version == 4)),
        .callback = callback,
    };
    struct group_calls *calls = calls_of(group, &what);

    if (calls == NULL) {
        group->unlisted++;
        return;
    }
    calls->calls++;
    calls->errors += error;
}

void
group_counts_transaction(struct group_counts *groups,
                         const struct rpc_transaction *tx)
{
    struct group *group;
    bool error;

    if (tx->outcome == RPC_ORPHAN_REPLY ||
        (tx->flags & RPC_TX_GSS_CONTROL) != 0)
        return;
    group = choose(groups, tx);
    group->calls++;
    group->call_bytes += tx->call_bytes;
    group->retransmissions += tx->retransmissions;
    error = tx->outcome == RPC_REPLIED &&
            (tx->reply_stat != 0 || tx->accept_stat != 0 ||
             (tx->status_known && tx->status != 0));
    group->errors += error;
    count_kind(group, tx, error);
    if (tx->outcome != RPC_REPLIED) {
        group->unanswered++;
        return;
    }
    group->replies++;
    group->reply_bytes += tx->reply_bytes;
    if ((tx->flags & RPC_TX_REPLY_FIRST) == 0)
        count_latency(group, tx->reply_last_ns - tx->call_first_ns);
}

/* --- reading it out --------------------------------------------------------------- */

static int
by_time(const void *left, const void *right)
{
    const struct group *a = *(const struct group *const *)left;
    const struct group *b = *(const struct group *const *)right;
    const int64_t x = (int64_t)a->key[0], y = (int64_t)b->key[0];

    return x < y ? -1 : x > y;
}

const struct group *const *
group_counts_rows(struct group_counts *groups, size_t *length,
                  const struct group **rest, uint64_t *rest_groups)
{
    size_t i;

    for (i = 0; i < groups->count; i++) {
        group_sort_kinds(groups->group[i]);
        groups->ordered[i] = groups->group[i];
    }
    qsort(groups->ordered, groups->count, sizeof groups->ordered[0],
          groups->by == GROUP_BY_INTERVAL ? by_time : by_calls);
    group_sort_kinds(&groups->rest);
    *length = groups->count;
    *rest = groups->rest.calls > 0 ? &groups->rest : NULL;
    *rest_groups = groups->rest_groups;
    return groups->ordered;
}

enum group_by
group_counts_by(const struct group_counts *groups)
{
    return groups->by;
}

int64_t
group_counts_interval(const struct group_counts *groups)
{
    return groups->interval_ns;
}

static int
most_first(const void *left, const void *right)
{
    const struct group_calls *a = left, *b = right;

    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    if (a->program != b->program)
        return a->program < b->program ? -1 : 1;
    if (a->version != b->version)
        return a->version < b->version ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->main_operation - b->main_operation;
}

void
group_sort_kinds(struct group *group)
{
    if (group->kinds > 1)
        qsort(group->by_kind, group->kinds, sizeof group->by_kind[0],
              most_first);
}

const char *
group_calls_name(const struct group_calls *calls, char *text, size_t size)
{
    const char *program = rpc_program_name(calls->program);
    const char *name = calls->main_operation
                           ? nfs4_operation_name(calls->number,
                                                 calls->callback)
                           : rpc_procedure_name(calls->program,
                                                calls->version, calls->number);
    char number[24], other[24];

    snprintf(number, sizeof number, "procedure %" PRIu32, calls->number);
    snprintf(other, sizeof other, "program %" PRIu32, calls->program);
    if (calls->program == SUNRPC_NFS || calls->callback)
        snprintf(text, size, "%s", name != NULL ? name : number);
    else
        snprintf(text, size, "%s %s", program != NULL ? program : other,
                 name != NULL ? name : number);
    return text;
}

int64_t
group_quantile(const struct group *group, double p)
{
    uint64_t wanted, seen = 0;
    int64_t middle = group->max_ns;
    unsigned i;

    if (group->latencies == 0 || group->classes == NULL)
        return 0;
    wanted = (uint64_t)(p * (double)(group->latencies - 1) + 0.5) + 1;
    for (i = 0; i < GROUP_CLASSES; i++) {
        seen += group->classes[i];
        if (seen >= wanted)
            break;
    }
    if (i < GROUP_CLASSES - 1) {
        const unsigned bit = GROUP_FIRST_BIT + i / GROUP_STEPS;
        const int64_t width = INT64_C(1) << (bit - 4);

        middle = (INT64_C(1) << bit) + (i % GROUP_STEPS) * width + width / 2;
    }
    if (middle < group->min_ns || i == 0)
        middle = group->min_ns;
    return middle < group->max_ns ? middle : group->max_ns;
}

const char *
group_by_name(enum group_by by)
{
    static const char *const names[] = {
        [GROUP_BY_CLIENT] = "client", [GROUP_BY_SERVER] = "server",
        [GROUP_BY_FILE] = "file",     [GROUP_BY_UID] = "uid",
        [GROUP_BY_INTERVAL] = "interval",
    };

    return names[by];
}

static void
name_uid(const struct group *group, char *text, size_t size)
{
    switch (group->kind - 1) { /* RFC 5531 section 8.2: flavour */
    case 0:
        snprintf(text, size, "AUTH_NONE");
        break;
    case 1:
        snprintf(text, size, "%" PRIu64, group->key[0]);
        break;
    case 6:
        snprintf(text, size, "RPCSEC_GSS");
        break;
    case 7:
        snprintf(text, size, "AUTH_TLS");
        break;
    default:
        snprintf(text, size, "flavour %" PRIu32, group->kind - 1);
    }
}

const char *
group_name(const struct group_counts *groups, const struct group *group,
           const struct file_names *names, int64_t first,
           enum escape_for target, char *text, size_t size)
{
    struct rpc_endpoint end = {0};
    char address[ADDRESS_TEXT];
    double seconds;

    switch (groups->by) {
    case GROUP_BY_CLIENT:
    case GROUP_BY_SERVER:
        end.family = (uint8_t)group->kind;
        memcpy(end.address, group->key, sizeof end.address);
        snprintf(text, size, "%s", endpoint_text(&end, address));
        break;
    case GROUP_BY_FILE:
        if (group->key[0] == 0)
            snprintf(text, size, "no file");
        else if (names != NULL)
            file_names_path(names, group->key[0], target, text, size);
        else
            snprintf(text, size, "[%08x]", (unsigned)(group->key[0] >> 32));
        break;
    case GROUP_BY_UID:
        name_uid(group, text, size);
        break;
    case GROUP_BY_INTERVAL:
        seconds = (double)((int64_t)group->key[0] - first) *
                  (double)groups->interval_ns * 1e-9;
        snprintf(text, size, "+%.*f s",
                 groups->interval_ns % 1000000000 != 0 ? 3 : 0, seconds);
        break;
    }
    return text;
}
