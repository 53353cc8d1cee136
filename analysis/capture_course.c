/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * Intervals begin at 1 ms. When a call falls behind the last one, neighbours
 * are put together in pairs and an interval is twice as long, as often as it
 * takes: the memory is constant and no time is asked for beforehand. A call
 * earlier than the first (captures are handed over by completion) goes into
 * the first interval.
 *
 * Clients and files are rows of open hash tables of constant size that take
 * no more when they are three quarters full; what finds no row is counted as
 * unlisted. The table is filled by whoever comes first, so on a capture with
 * more files than rows the list is of those, and says so.
 */
#include "analysis/capture_course.h"

#include "analysis/exec_window.h"
#include "analysis/run_plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LENGTH_NS 1000000
#define TABLE_ROWS 8192 /* a power of two */

struct top_table {
    struct top_row *rows;
    size_t used;
    uint64_t unlisted;
};

struct capture_course {
    struct course_interval *intervals; /* [COURSE_INTERVALS] */
    int64_t first_ns, length_ns;
    bool begun;
    size_t last; /* index of the last interval with a call */
    struct top_table clients, files;
};

struct capture_course *
capture_course_new(void)
{
    struct capture_course *course = calloc(1, sizeof *course);

    if (course == NULL)
        return NULL;
    course->length_ns = FIRST_LENGTH_NS;
    course->intervals = calloc(COURSE_INTERVALS, sizeof(*course->intervals));
    course->clients.rows = calloc(TABLE_ROWS, sizeof(*course->clients.rows));
    course->files.rows = calloc(TABLE_ROWS, sizeof(*course->files.rows));
    if (course->intervals == NULL || course->clients.rows == NULL ||
        course->files.rows == NULL) {
        capture_course_free(course);
        return NULL;
    }
    return course;
}

void
capture_course_free(struct capture_course *course)
{
    if (course == NULL)
        return;
    free(course->intervals);
    free(course->clients.rows);
    free(course->files.rows);
    free(course);
}

const char *
course_name(const struct rpc_transaction *tx)
{
    const char *name;

    if (tx->program == SUNRPC_NFS && tx->version == 4 && tx->procedure == 1 &&
        tx->operation_count > 0)
        name = nfs4_operation_name(
            compound_main_operation(tx->operations, tx->operation_count),
            false);
    else
        name = rpc_procedure_name(tx->program, tx->version, tx->procedure);
    return name != NULL ? name : "unknown";
}

/* --- intervals ------------------------------------------------------------ */

static void
merge(struct course_interval *into, const struct course_interval *from)
{
    unsigned kind, i;

    for (kind = 0; kind < COURSE_KINDS; kind++) {
        into->calls[kind] += from->calls[kind];
        for (i = 0; i < COURSE_CLASSES; i++)
            into->latency[kind][i] += from->latency[kind][i];
    }
}

static void
double_length(struct capture_course *course)
{
    size_t i;

    for (i = 0; i < COURSE_INTERVALS / 2; i++) {
        if (i > 0)
            course->intervals[i] = course->intervals[2 * i];
        merge(&course->intervals[i], &course->intervals[2 * i + 1]);
    }
    memset(&course->intervals[COURSE_INTERVALS / 2], 0,
           COURSE_INTERVALS / 2 * sizeof(*course->intervals));
    course->length_ns *= 2;
    course->last /= 2;
}

static struct course_interval *
interval_at(struct capture_course *course, int64_t when_ns)
{
    uint64_t since;

    if (!course->begun) {
        course->begun = true;
        course->first_ns = when_ns;
    }
    since = when_ns > course->first_ns
                ? (uint64_t)when_ns - (uint64_t)course->first_ns
                : 0;
    while (since / (uint64_t)course->length_ns >= COURSE_INTERVALS)
        double_length(course);
    since /= (uint64_t)course->length_ns;
    if (since > course->last)
        course->last = (size_t)since;
    return &course->intervals[since];
}

static unsigned
class_of(int64_t ns)
{
    const double class =
        ns > 1 ? log2((double)ns) * COURSE_STEPS : 0;

    return class < COURSE_CLASSES - 1 ? (unsigned)class : COURSE_CLASSES - 1;
}

bool
course_latency(const struct course_interval *interval, unsigned kind, double p,
               double *ns)
{
    uint64_t sum = 0, seen = 0;
    unsigned i;

    for (i = 0; i < COURSE_CLASSES; i++)
        sum += interval->latency[kind][i];
    if (sum == 0)
        return false;
    for (i = 0; i < COURSE_CLASSES; i++) {
        seen += interval->latency[kind][i];
        if ((double)seen >= p * (double)sum)
            break;
    }
    *ns = exp2((i + 0.5) / COURSE_STEPS);
    return true;
}

const struct course_interval *
capture_course_intervals(const struct capture_course *course, size_t *count,
                         int64_t *first_ns, int64_t *length_ns)
{
    *count = course->begun ? course->last + 1 : 0;
    *first_ns = course->first_ns;
    *length_ns = course->length_ns;
    return course->intervals;
}

/* --- clients and files ---------------------------------------------------- */

static uint64_t
spread(uint64_t key)
{
    key ^= key >> 33;
    key *= UINT64_C(0xff51afd7ed558ccd);
    return key ^ key >> 33;
}

/* The row with that key; a new one when there is room, else NULL. */
static struct top_row *
find_row(struct top_table *table, uint64_t key, bool make)
{
    size_t at = (size_t)spread(key) & (TABLE_ROWS - 1);

    while (table->rows[at].used) {
        if (table->rows[at].key == key)
            return &table->rows[at];
        at = (at + 1) & (TABLE_ROWS - 1);
    }
    if (!make || table->used >= TABLE_ROWS * 3 / 4)
        return NULL;
    table->used++;
    table->rows[at].used = true;
    table->rows[at].key = key;
    return &table->rows[at];
}

static uint64_t
client_key(const struct rpc_endpoint *client)
{
    uint64_t hash = UINT64_C(14695981039346656037) + client->family;
    size_t i;

    for (i = 0; i < (client->family == 6 ? 16U : 4U); i++)
        hash = (hash ^ client->address[i]) * UINT64_C(1099511628211);
    return hash;
}

static void
add_to_row(struct top_row *row, const struct rpc_transaction *tx, unsigned kind)
{
    row->calls[kind]++;
    row->all++;
    row->retransmissions += tx->retransmissions;
    row->bytes += (uint64_t)tx->call_bytes + tx->reply_bytes;
    row->errors += tx->status_known && tx->status != 0;
    if (tx->outcome == RPC_REPLIED &&
        tx->reply_last_ns >= tx->call_first_ns) {
        row->latency_sum += (double)(tx->reply_last_ns - tx->call_first_ns);
        row->latencies++;
    }
}

/* The file that the transaction is about: its main operation's. */
static const struct nfs_handle *
handle_of(const struct rpc_transaction *tx)
{
    const bool v4 = tx->version == 4;
    const uint32_t main_operation =
        v4 ? compound_main_operation(tx->operations, tx->operation_count)
           : tx->procedure;
    uint32_t i;

    for (i = 0; i < tx->operation_count; i++)
        if (tx->operations[i].number == main_operation &&
            tx->operations[i].detail != NULL &&
            tx->operations[i].detail->handle.length > 0)
            return &tx->operations[i].detail->handle;
    return NULL;
}

static void
set_handle(struct top_row *row, const struct nfs_handle *handle)
{
    row->handle_length = handle->length;
    memcpy(row->handle, handle->bytes, sizeof row->handle);
}

/* LOOKUP, OPEN and CREATE say which name a handle has. */
static void
learn_names(struct capture_course *course, const struct rpc_transaction *tx)
{
    uint32_t i;

    for (i = 0; i < tx->operation_count; i++) {
        const struct nfs_detail *detail = tx->operations[i].detail;
        struct top_row *row;
        size_t length;

        if (detail == NULL || detail->name == NULL ||
            detail->result_handle.length == 0)
            continue;
        row = find_row(&course->files, detail->result_handle.hash, true);
        if (row == NULL)
            continue;
        set_handle(row, &detail->result_handle);
        length = detail->name_length < TOP_NAME ? detail->name_length
                                                : TOP_NAME;
        memcpy(row->name, detail->name, length);
        row->name[length] = '\0';
    }
}

void
capture_course_transaction(struct capture_course *course,
                           const struct rpc_transaction *tx)
{
    const struct nfs_handle *handle;
    struct course_interval *interval;
    struct top_row *row;
    unsigned kind;

    if (tx->outcome == RPC_ORPHAN_REPLY)
        return;
    kind = procedure_colour(course_name(tx));
    interval = interval_at(course, tx->call_first_ns);
    interval->calls[kind]++;
    if (tx->outcome == RPC_REPLIED && tx->reply_last_ns >= tx->call_first_ns)
        interval->latency[kind][class_of(tx->reply_last_ns -
                                         tx->call_first_ns)]++;
    row = find_row(&course->clients,
                   client_key(&tx->connection->ends[tx->client]), true);
    if (row != NULL) {
        row->client = tx->connection->ends[tx->client];
        add_to_row(row, tx, kind);
    } else {
        course->clients.unlisted++;
    }
    if (tx->program != SUNRPC_NFS || (tx->flags & RPC_TX_CALLBACK) != 0)
        return;
    learn_names(course, tx);
    handle = handle_of(tx);
    if (handle == NULL)
        return;
    row = find_row(&course->files, handle->hash, true);
    if (row != NULL) {
        set_handle(row, handle);
        add_to_row(row, tx, kind);
    } else {
        course->files.unlisted++;
    }
}

/* The largest rows, by insertion into a short list. */
static size_t
largest(const struct top_table *table, const struct top_row **rows, size_t most,
        size_t *seen, uint64_t *unlisted)
{
    size_t i, n = 0;

    *seen = 0;
    *unlisted = table->unlisted;
    for (i = 0; i < TABLE_ROWS; i++) {
        const struct top_row *row = &table->rows[i];
        size_t at;

        if (!row->used || row->all == 0)
            continue;
        (*seen)++;
        for (at = n; at > 0 && rows[at - 1]->all < row->all; at--)
            if (at < most)
                rows[at] = rows[at - 1];
        if (at < most)
            rows[at] = row;
        if (n < most)
            n++;
    }
    return n;
}

size_t
capture_course_clients(const struct capture_course *course,
                       const struct top_row **rows, size_t most, size_t *seen,
                       uint64_t *unlisted)
{
    return largest(&course->clients, rows, most, seen, unlisted);
}

size_t
capture_course_files(const struct capture_course *course,
                     const struct top_row **rows, size_t most, size_t *seen,
                     uint64_t *unlisted)
{
    return largest(&course->files, rows, most, seen, unlisted);
}
