/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * One pass over the captures turns every transaction into a window_rpc that
 * still carries capture time, and notes the markers among them. Then the
 * capture's clock is laid over the run's monotonic clock: for the run's own
 * captures by the clock pairs that the client took around each cell, for a
 * capture from elsewhere by a straight line through the markers (both the
 * time that the client sent each and the time at which the capture saw it are
 * known; a constant delay between them goes into the offset, and by that
 * every call is put at the time at which the client sent it). When the wall
 * clock was set during the run, a time in its own captures says less than the
 * order: each call is put between the markers that it was seen between.
 *
 * After that everything is in one clock. A cell's window is what lies between
 * its two markers; an exec's window begins with its start and ends where the
 * next one starts, the last one's at the closing marker. A call belongs to
 * the window that its first transmission falls into.
 */
#include "analysis/exec_window.h"

#include "analysis/clock_steps.h"
#include "capture/capture.h"

#include <arpa/inet.h>
#include <gsl/gsl_fit.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NFSv4 operations that this file must tell apart: RFC 8881 section 16.2. */
enum {
    OP_ACCESS = 3,
    OP_GETATTR = 9,
    OP_GETFH = 10,
    OP_PUTFH = 22,
    OP_PUTROOTFH = 24,
    OP_READ = 25,
    OP_RENEW = 30,
    OP_RESTOREFH = 31,
    OP_SAVEFH = 32,
    OP_SETATTR = 34,
    OP_SEQUENCE = 53,
    NFS3_PROC_SETATTR = 2,
    NFS3_PROC_READ = 6,
};

struct found_marker {
    size_t cell;
    bool open;
    int64_t capture_ns;
    uint64_t serial;
};

struct collector {
    const struct run *run;
    struct run_traffic *traffic;
    size_t rpc_space, operation_space;
    struct found_marker *markers;
    size_t marker_count, marker_space;
    uint64_t *serials; /* of traffic->rpcs while they are collected */
    size_t serial_space;
    struct clock_mark *marks; /* when the clock was set */
    size_t mark_count;
    struct { /* the program's handle, per file system */
        uint8_t bytes[NFS_HANDLE_MAX];
        size_t length;
    } *handles;
    bool out_of_memory;
};

/* --- counts --------------------------------------------------------------- */

uint64_t
run_counts_get(const struct run_counts *counts, const char *name)
{
    size_t i;

    for (i = 0; i < counts->length; i++)
        if (strcmp(counts->items[i].name, name) == 0)
            return counts->items[i].count;
    return 0;
}

void
run_counts_release(struct run_counts *counts)
{
    size_t i;

    for (i = 0; i < counts->length; i++)
        free(counts->items[i].name);
    free(counts->items);
    memset(counts, 0, sizeof *counts);
}

/* --- walking over a cell ---------------------------------------------------- */

bool
cell_is_finished(const struct run_cell *cell)
{
    return cell->state == CELL_DONE && cell->exec_count > 0;
}

int64_t
exec_wall_ns(const struct run_exec *exec)
{
    return exec->end_ns - exec->start_ns;
}

const struct window_rpc *
cell_next_rpc(const struct run_traffic *traffic, size_t cell, size_t *position)
{
    const struct cell_traffic *range = &traffic->cells[cell];

    while (*position < range->count) {
        const struct window_rpc *rpc =
            &traffic->rpcs[range->first + (*position)++];

        if (rpc->cell == cell &&
            (rpc->owner == OWNER_EXEC || rpc->owner == OWNER_CELL))
            return rpc;
    }
    return NULL;
}

/* --- names ---------------------------------------------------------------- */

static bool
operation_is_scaffold(uint32_t number)
{
    switch (number) {
    case OP_SEQUENCE:
    case OP_PUTFH:
    case OP_PUTROOTFH:
    case OP_GETFH:
    case OP_SAVEFH:
    case OP_RESTOREFH:
        return true;
    default:
        return false;
    }
}

uint32_t
compound_main_operation(const struct rpc_operation *operations, uint32_t count)
{
    uint32_t i, fallback = count > 0 ? operations[0].number : 0;

    for (i = 0; i < count; i++) {
        if (operation_is_scaffold(operations[i].number))
            continue;
        if (operations[i].number != OP_GETATTR)
            return operations[i].number;
        fallback = OP_GETATTR;
    }
    return fallback;
}

const char *
window_rpc_name(const struct window_rpc *rpc)
{
    const char *name;

    if (rpc->program == SUNRPC_NFS && rpc->version == 4 && rpc->procedure == 1)
        name = rpc->operation_count == 0
                   ? "COMPOUND"
                   : nfs4_operation_name(rpc->main_operation, false);
    else
        name = rpc_procedure_name(rpc->program, rpc->version, rpc->procedure);
    return name != NULL ? name : "unknown";
}

/* --- collecting ------------------------------------------------------------ */

static void
endpoint_text(const struct rpc_endpoint *end, char *text, size_t size)
{
    if (inet_ntop(end->family == 6 ? AF_INET6 : AF_INET, end->address, text,
                  (socklen_t)size) == NULL)
        snprintf(text, size, "?");
}

/* "10.0.0.1:901" or "[fd00::1]:901". */
static bool
endpoint_is(const struct rpc_endpoint *end, const char *name)
{
    const char *colon = strrchr(name, ':');
    char address[INET6_ADDRSTRLEN];
    size_t length;

    if (colon == NULL || strtoul(colon + 1, NULL, 10) != end->port)
        return false;
    length = (size_t)(colon - name);
    if (length >= 2 && name[0] == '[') {
        name++;
        length -= 2;
    }
    endpoint_text(end, address, sizeof address);
    return strlen(address) == length && strncmp(address, name, length) == 0;
}

static bool
is_own(const struct run *run, const struct rpc_endpoint *client)
{
    size_t i, j;

    for (i = 0; i < run->filesystem_count; i++)
        for (j = 0; j < run->filesystems[i].own_port_count; j++)
            if (endpoint_is(client, run->filesystems[i].own_ports[j].name))
                return true;
    return false;
}

/* The machine name of a marker is the nonce that the run file has. */
static bool
find_marker(const struct run *run, const struct rpc_credential *credential,
            size_t *cell, bool *open)
{
    const char *name = credential->machine_name;
    const size_t length = credential->machine_name_length;
    size_t i;

    for (i = 0; i < run->cell_count; i++) {
        const char *first = run->cells[i].open_marker.nonce;
        const char *last = run->cells[i].close_marker.nonce;

        *cell = i;
        *open = true;
        if (first != NULL && strlen(first) == length &&
            memcmp(first, name, length) == 0)
            return true;
        *open = false;
        if (last != NULL && strlen(last) == length &&
            memcmp(last, name, length) == 0)
            return true;
    }
    return false;
}

static bool
has_marker_prefix(const struct rpc_credential *credential)
{
    const size_t length = sizeof RUN_MARKER_PREFIX - 1;

    return credential->machine_name != NULL &&
           credential->machine_name_length > length &&
           memcmp(credential->machine_name, RUN_MARKER_PREFIX, length) == 0;
}

static bool
make_room(void **array, size_t *space, size_t needed, size_t element)
{
    size_t larger = *space;
    void *grown;

    if (needed <= *space)
        return true;
    while (larger < needed)
        larger = larger == 0 ? 1024 : larger * 2;
    grown = realloc(*array, larger * element);
    if (grown == NULL)
        return false;
    *array = grown;
    *space = larger;
    return true;
}

/* The file system whose program has that handle, or NO_FILESYSTEM. Two mounts
 * of one export may show the same handle by different versions. */
static uint32_t
program_of_handle(const struct collector *collector,
                  const struct nfs_handle *handle, uint32_t version)
{
    const struct run *run = collector->run;
    uint32_t found = NO_FILESYSTEM;
    size_t i;

    for (i = 0; i < run->filesystem_count; i++) {
        const char *mounted = run->filesystems[i].version;

        if (collector->handles[i].length == 0 ||
            collector->handles[i].length != handle->length ||
            memcmp(collector->handles[i].bytes, handle->bytes,
                   handle->length) != 0)
            continue;
        if (mounted == NULL || (uint32_t)(mounted[0] - '0') == version)
            return (uint32_t)i;
        found = (uint32_t)i;
    }
    return found;
}

/* Takes from the operations' details what a window keeps. */
static void
take_details(const struct collector *collector,
             const struct rpc_transaction *tx, struct window_rpc *rpc)
{
    const bool v4 = tx->version == 4;
    uint32_t i;

    for (i = 0; i < tx->operation_count; i++) {
        const struct rpc_operation *operation = &tx->operations[i];
        const struct nfs_detail *detail = operation->detail;

        if (detail == NULL)
            continue;
        if (operation->number == rpc->main_operation) {
            rpc->handle_hash = detail->handle.hash;
            rpc->on_program =
                program_of_handle(collector, &detail->handle, tx->version) !=
                    NO_FILESYSTEM ||
                program_of_handle(collector, &detail->result_handle,
                                  tx->version) != NO_FILESYSTEM;
            rpc->access_requested = detail->access_requested;
        }
        if (operation->number == (v4 ? OP_SETATTR : NFS3_PROC_SETATTR))
            rpc->sattr = detail->sattr;
        if (operation->number == (v4 ? OP_READ : NFS3_PROC_READ))
            rpc->read_bytes += detail->count_done;
        if (detail->after.valid != 0) {
            rpc->attr = detail->after;
            rpc->attr_filesystem = program_of_handle(
                collector,
                detail->result_handle.hash != 0 ? &detail->result_handle
                                                : &detail->handle,
                tx->version);
            rpc->attr_on_program = rpc->attr_filesystem != NO_FILESYSTEM;
        }
    }
}

static bool
take_operations(struct collector *collector, const struct rpc_transaction *tx,
                struct window_rpc *rpc)
{
    struct run_traffic *traffic = collector->traffic;
    uint32_t i;

    rpc->operations = (uint32_t)traffic->operation_count;
    rpc->operation_count = tx->operation_count;
    if (!make_room((void **)&traffic->operations, &collector->operation_space,
                   traffic->operation_count + tx->operation_count,
                   sizeof(*traffic->operations)))
        return false;
    for (i = 0; i < tx->operation_count; i++)
        traffic->operations[traffic->operation_count++] =
            (uint16_t)tx->operations[i].number;
    rpc->main_operation =
        tx->version == 4 && tx->procedure == 1
            ? compound_main_operation(tx->operations, tx->operation_count)
            : tx->procedure;
    return true;
}

static void
collect(void *context, const struct rpc_transaction *tx)
{
    struct collector *collector = context;
    struct run_traffic *traffic = collector->traffic;
    struct window_rpc *rpc;
    size_t cell;
    bool open;

    if (tx->outcome == RPC_ORPHAN_REPLY || collector->out_of_memory)
        return;
    if (!make_room((void **)&traffic->rpcs, &collector->rpc_space,
                   traffic->rpc_count + 1, sizeof(*traffic->rpcs)) ||
        !make_room((void **)&collector->serials, &collector->serial_space,
                   traffic->rpc_count + 1, sizeof(*collector->serials)) ||
        !make_room((void **)&collector->markers, &collector->marker_space,
                   collector->marker_count + 1,
                   sizeof(*collector->markers))) {
        collector->out_of_memory = true;
        return;
    }
    rpc = &traffic->rpcs[traffic->rpc_count];
    memset(rpc, 0, sizeof *rpc);
    rpc->call_ns = tx->call_first_ns;
    rpc->answered = tx->outcome == RPC_REPLIED;
    rpc->reply_ns = rpc->answered ? tx->reply_last_ns : RUN_UNKNOWN_NS;
    rpc->reply_first_ns = rpc->answered ? tx->reply_first_ns : RUN_UNKNOWN_NS;
    rpc->cell = NO_CELL;
    rpc->exec = NO_EXEC;
    rpc->attr_filesystem = NO_FILESYSTEM;
    rpc->program = tx->program;
    rpc->version = tx->version;
    rpc->procedure = tx->procedure;
    rpc->status = tx->status;
    rpc->status_known = tx->status_known;
    rpc->retransmissions = tx->retransmissions;
    rpc->call_bytes = tx->call_bytes;
    rpc->reply_bytes = rpc->answered ? tx->reply_bytes : 0;
    rpc->credential_hash = tx->credential.hash;
    rpc->flags = tx->flags;
    rpc->owner = OWNER_BACKGROUND;
    if (!take_operations(collector, tx, rpc)) {
        collector->out_of_memory = true;
        return;
    }
    take_details(collector, tx, rpc);
    if (has_marker_prefix(&tx->credential)) {
        rpc->owner = OWNER_SELF;
        if (find_marker(collector->run, &tx->credential, &cell, &open)) {
            collector->markers[collector->marker_count].cell = cell;
            collector->markers[collector->marker_count].open = open;
            collector->markers[collector->marker_count].serial = tx->serial;
            collector->markers[collector->marker_count++].capture_ns =
                tx->call_first_ns;
        }
    } else if (is_own(collector->run, &tx->connection->ends[tx->client])) {
        rpc->owner = OWNER_SELF;
    }
    collector->serials[traffic->rpc_count++] = tx->serial;
}

static bool
parse_handles(struct collector *collector)
{
    const struct run *run = collector->run;
    size_t i, j;

    collector->handles = calloc(run->filesystem_count + 1,
                                sizeof(*collector->handles));
    if (collector->handles == NULL)
        return false;
    for (i = 0; i < run->filesystem_count; i++) {
        const char *hex = run->filesystems[i].handle_hex;
        const size_t digits = hex != NULL ? strlen(hex) : 0;

        if (digits % 2 != 0 || digits / 2 > NFS_HANDLE_MAX)
            continue;
        for (j = 0; j < digits / 2; j++) {
            unsigned byte;

            if (sscanf(hex + 2 * j, "%2x", &byte) != 1)
                break;
            collector->handles[i].bytes[j] = (uint8_t)byte;
        }
        collector->handles[i].length = j;
    }
    return true;
}

/* --- clocks ---------------------------------------------------------------- */

/* realtime - monotonic at the last cell that began before this time: an index
 * that moves forward with the times asked for would be quicker, but there are
 * few cells. */
static int64_t
own_offset_at(const struct run *run, int64_t realtime_ns)
{
    int64_t offset = 0;
    bool any = false;
    size_t i;

    for (i = 0; i < run->cell_count; i++) {
        const struct run_clock_pair *pair = &run->cells[i].clock_before;

        if (pair->realtime_ns == RUN_UNKNOWN_NS ||
            pair->monotonic_ns == RUN_UNKNOWN_NS)
            continue;
        if (any && pair->realtime_ns > realtime_ns)
            break;
        offset = pair->realtime_ns - pair->monotonic_ns;
        any = true;
    }
    return offset;
}

static int64_t
to_monotonic(const struct run *run, const struct run_traffic *traffic,
             int64_t capture_ns)
{
    double since;

    if (!traffic->clock_from_markers)
        return capture_ns - own_offset_at(run, capture_ns);
    since = (double)(capture_ns - traffic->clock_offset_ns -
                     traffic->clock_origin_ns) /
            (1.0 + traffic->clock_drift);
    return traffic->clock_origin_ns + llround(since);
}

/* When the client sent that marker; RUN_UNKNOWN_NS. */
static int64_t
marker_sent(const struct run *run, const struct found_marker *found)
{
    const struct run_cell *cell = &run->cells[found->cell];

    return found->open ? cell->open_marker.sent_monotonic_ns
                       : cell->close_marker.sent_monotonic_ns;
}

/* The client's realtime clock against its monotonic one at that marker;
 * RUN_UNKNOWN_NS. */
static int64_t
marker_realtime(const struct run *run, const struct found_marker *found)
{
    const struct run_cell *cell = &run->cells[found->cell];
    const struct run_marker *marker =
        found->open ? &cell->open_marker : &cell->close_marker;

    if (marker->sent_realtime_ns == RUN_UNKNOWN_NS ||
        marker->sent_monotonic_ns == RUN_UNKNOWN_NS)
        return RUN_UNKNOWN_NS;
    return marker->sent_realtime_ns - marker->sent_monotonic_ns;
}

/* Without marks, or memory for them, the cells' clock pairs have to do. */
static void
mark_steps(const struct run *run, struct collector *collector)
{
    size_t i;

    collector->marks =
        calloc(collector->marker_count + 1, sizeof(*collector->marks));
    for (i = 0; collector->marks != NULL && i < collector->marker_count; i++) {
        const struct found_marker *found = &collector->markers[i];
        const int64_t offset = marker_realtime(run, found);

        if (offset != RUN_UNKNOWN_NS)
            collector->marks[collector->mark_count++] = (struct clock_mark){
                found->serial, found->capture_ns, offset};
    }
    clock_marks_sort(collector->marks, collector->mark_count);
}

static int64_t
place_call(const struct collector *collector, uint64_t serial,
           int64_t capture_ns)
{
    if (collector->mark_count > 0)
        return clock_marks_place(collector->marks, collector->mark_count,
                                 serial, capture_ns);
    return to_monotonic(collector->run, collector->traffic, capture_ns);
}

/* A straight line through (sent by the client's clock, seen by the
 * capture's), by least squares about the first marker so that nanoseconds
 * keep their precision. */
static bool
fit_clock(const struct run *run, const struct collector *collector,
          struct run_traffic *traffic)
{
    double *x = calloc(2 * collector->marker_count + 1, sizeof(*x));
    double *y = x + collector->marker_count;
    double shift, drift, v00, v01, v11, squares, worst = 0;
    int64_t x0 = 0, y0 = 0, realtime = RUN_UNKNOWN_NS;
    size_t i, n = 0;

    for (i = 0; x != NULL && i < collector->marker_count; i++) {
        const struct found_marker *found = &collector->markers[i];
        const int64_t sent = marker_sent(run, found);

        if (sent == RUN_UNKNOWN_NS)
            continue;
        if (n == 0) {
            x0 = sent;
            y0 = found->capture_ns;
            realtime = marker_realtime(run, found);
        }
        x[n] = (double)(sent - x0);
        y[n++] = (double)(found->capture_ns - y0) - (double)(sent - x0);
    }
    if (n < 2) {
        free(x);
        return false;
    }
    gsl_fit_linear(x, 1, y, 1, n, &shift, &drift, &v00, &v01, &v11, &squares);
    for (i = 0; i < n; i++)
        worst = fmax(worst, fabs(y[i] - shift - drift * x[i]));
    free(x);
    traffic->clock_from_markers = true;
    traffic->clock_origin_ns = x0;
    traffic->clock_offset_ns = y0 - x0 + llround(shift);
    traffic->clock_drift = drift;
    traffic->clock_residual_ns = worst;
    traffic->clock_ahead_ns = realtime == RUN_UNKNOWN_NS
                                  ? RUN_UNKNOWN_NS
                                  : traffic->clock_offset_ns - realtime;
    return true;
}

/* --- windows --------------------------------------------------------------- */

static int
by_call_time(const void *left, const void *right)
{
    const struct window_rpc *a = left, *b = right;

    if (a->call_ns != b->call_ns)
        return a->call_ns < b->call_ns ? -1 : 1;
    return a->operations < b->operations ? -1 : a->operations > b->operations;
}

static void
set_windows(const struct run *run, const struct collector *collector,
            struct run_traffic *traffic)
{
    size_t i;

    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];
        struct cell_traffic *out = &traffic->cells[i];

        out->open_ns = cell->clock_before.monotonic_ns;
        out->close_ns = cell->clock_after.monotonic_ns;
        if (out->open_ns == RUN_UNKNOWN_NS && cell->exec_count > 0)
            out->open_ns = cell->execs[0].start_ns;
        if (out->close_ns == RUN_UNKNOWN_NS && cell->exec_count > 0)
            out->close_ns = cell->execs[cell->exec_count - 1].end_ns;
    }
    for (i = 0; i < collector->marker_count; i++) {
        const struct found_marker *found = &collector->markers[i];
        struct cell_traffic *out = &traffic->cells[found->cell];
        const int64_t when =
            place_call(collector, found->serial, found->capture_ns);

        if (found->open) {
            out->open_ns = when;
        } else {
            out->close_ns = when;
            out->marked = true;
        }
    }
    for (i = 0; i < collector->marker_count; i++) {
        const struct found_marker *found = &collector->markers[i];
        size_t j;
        bool both = false;

        for (j = 0; j < collector->marker_count && !both; j++)
            both = collector->markers[j].cell == found->cell &&
                   collector->markers[j].open != found->open;
        traffic->cells[found->cell].marked = both;
    }
}

/* The exec whose window the time is in, or NO_EXEC before the first. */
static uint32_t
exec_at(const struct run_cell *cell, int64_t when)
{
    size_t low = 0, high = cell->exec_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (cell->execs[middle].start_ns <= when)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NO_EXEC : (uint32_t)(low - 1);
}

static bool
is_renewal(const struct window_rpc *rpc)
{
    return rpc->version == 4 && rpc->procedure == 1 &&
           (rpc->main_operation == OP_RENEW ||
            rpc->main_operation == OP_SEQUENCE);
}

static bool
belongs_to(const struct run_filesystem *filesystem,
           const struct window_rpc *rpc)
{
    if (filesystem->kind != FILESYSTEM_NFS || rpc->program != SUNRPC_NFS ||
        (rpc->flags & RPC_TX_CALLBACK) != 0 || is_renewal(rpc))
        return false;
    return filesystem->version == NULL ||
           (uint32_t)(filesystem->version[0] - '0') == rpc->version;
}

static void
count_operations(const struct run_traffic *traffic,
                 const struct window_rpc *rpc, struct cell_traffic *cell)
{
    uint32_t i;

    if (rpc->version != 4) {
        run_counts_add(&cell->operations, window_rpc_name(rpc), 1);
        return;
    }
    for (i = 0; i < rpc->operation_count; i++) {
        const char *name = nfs4_operation_name(
            traffic->operations[rpc->operations + i], false);

        run_counts_add(&cell->operations, name != NULL ? name : "unknown", 1);
    }
}

static void
count_rpc(const struct run_traffic *traffic, const struct window_rpc *rpc,
          struct cell_traffic *cell)
{
    const char *status;
    char text[96];

    cell->rpcs++;
    cell->retransmissions += rpc->retransmissions;
    cell->read_bytes += rpc->read_bytes;
    cell->call_bytes += rpc->call_bytes;
    cell->reply_bytes += rpc->reply_bytes;
    cell->unanswered += !rpc->answered;
    run_counts_add(&cell->calls, window_rpc_name(rpc), 1);
    count_operations(traffic, rpc, cell);
    if (strcmp(window_rpc_name(rpc), "SETATTR") == 0 && rpc->sattr.empty)
        cell->empty_setattrs++;
    if (rpc->answered && rpc->status_known && rpc->status != 0) {
        status = nfs_status_name(rpc->version, rpc->status);
        if (status != NULL)
            snprintf(text, sizeof text, "%s %s", window_rpc_name(rpc), status);
        else
            snprintf(text, sizeof text, "%s status %" PRIu32,
                     window_rpc_name(rpc), rpc->status);
        run_counts_add(&cell->errors, text, 1);
    }
    if ((rpc->flags & RPC_TX_NEAR_GAP) != 0)
        cell->lossy = true;
}

static bool
in_idle(const struct run *run, const struct run_traffic *traffic,
        const struct window_rpc *rpc)
{
    size_t i;

    (void)traffic;
    for (i = 0; i < run->filesystem_count; i++) {
        const struct run_filesystem *filesystem = &run->filesystems[i];
        int64_t offset;

        if (filesystem->idle_start_realtime_ns == RUN_UNKNOWN_NS ||
            filesystem->idle_end_realtime_ns == RUN_UNKNOWN_NS)
            continue;
        /* It comes before the cells. */
        offset = own_offset_at(run, run->realtime_stepped
                                        ? INT64_MIN
                                        : filesystem->idle_start_realtime_ns);
        if (rpc->call_ns >= filesystem->idle_start_realtime_ns - offset &&
            rpc->call_ns < filesystem->idle_end_realtime_ns - offset)
            return true;
    }
    return false;
}

static void
assign(const struct run *run, struct run_traffic *traffic)
{
    size_t i, cell = 0;

    for (i = 0; i < traffic->rpc_count; i++) {
        struct window_rpc *rpc = &traffic->rpcs[i];
        struct cell_traffic *out;

        while (cell < run->cell_count &&
               (traffic->cells[cell].close_ns == RUN_UNKNOWN_NS ||
                rpc->call_ns > traffic->cells[cell].close_ns))
            cell++;
        if (rpc->owner == OWNER_SELF) {
            traffic->own_calls++;
            continue;
        }
        if (cell == run->cell_count ||
            rpc->call_ns < traffic->cells[cell].open_ns) {
            traffic->background_calls++;
            if (in_idle(run, traffic, rpc))
                run_counts_add(&traffic->idle, window_rpc_name(rpc), 1);
            continue;
        }
        out = &traffic->cells[cell];
        rpc->cell = (uint32_t)cell;
        if (!belongs_to(&run->filesystems[run->cells[cell].filesystem], rpc)) {
            traffic->background_calls++;
            out->background++;
            continue;
        }
        rpc->exec = exec_at(&run->cells[cell], rpc->call_ns);
        rpc->owner = rpc->exec == NO_EXEC ? OWNER_CELL : OWNER_EXEC;
        if (out->count == 0)
            out->first = i;
        out->count = i + 1 - out->first;
        count_rpc(traffic, rpc, out);
    }
}

static void
note_idle_length(const struct run *run, struct run_traffic *traffic)
{
    size_t i;

    for (i = 0; i < run->filesystem_count; i++) {
        const struct run_filesystem *filesystem = &run->filesystems[i];

        if (filesystem->idle_start_realtime_ns != RUN_UNKNOWN_NS &&
            filesystem->idle_end_realtime_ns != RUN_UNKNOWN_NS)
            traffic->idle_ns += filesystem->idle_end_realtime_ns -
                                filesystem->idle_start_realtime_ns;
    }
}

static void
place_all(const struct run *run, struct collector *collector,
          struct run_traffic *traffic)
{
    size_t i;

    if (run->realtime_stepped && !traffic->clock_from_markers)
        mark_steps(run, collector);
    for (i = 0; i < traffic->rpc_count; i++) {
        struct window_rpc *rpc = &traffic->rpcs[i];
        const int64_t seen = rpc->call_ns;

        rpc->call_ns = place_call(collector, collector->serials[i], seen);
        /* Short enough that the drift does not matter to a latency. */
        if (rpc->answered) {
            rpc->reply_ns += rpc->call_ns - seen;
            rpc->reply_first_ns += rpc->call_ns - seen;
        }
    }
    if (traffic->rpc_count > 1)
        qsort(traffic->rpcs, traffic->rpc_count, sizeof(*traffic->rpcs),
              by_call_time);
    set_windows(run, collector, traffic);
    for (i = 0; i < run->cell_count; i++)
        if (run->cells[i].drops.known && run->cells[i].drops.kernel > 0)
            traffic->cells[i].lossy = true;
    assign(run, traffic);
    note_idle_length(run, traffic);
    traffic->markers_found = collector->marker_count;
}

/* --- reading --------------------------------------------------------------- */

static char **
own_capture_paths(const struct run *run)
{
    char **paths = calloc(run->capture_count + 1, sizeof(*paths));
    size_t i;

    for (i = 0; paths != NULL && i < run->capture_count; i++) {
        const char *name = run->captures[i].path;
        const size_t size = strlen(name) + 2 +
                            (run->directory ? strlen(run->directory) : 0);

        paths[i] = malloc(size);
        if (paths[i] == NULL)
            break;
        if (name[0] == '/' || run->directory == NULL)
            snprintf(paths[i], size, "%s", name);
        else
            snprintf(paths[i], size, "%s/%s", run->directory, name);
    }
    return paths;
}

static int
read_captures(const struct run *run, const char *const *paths, size_t count,
              struct collector *collector, char *error, size_t error_size)
{
    struct run_traffic *traffic = collector->traffic;
    const struct rpc_transaction_sink sink = {collector, collect, NULL};
    struct capture_options options;
    struct capture_result result;
    enum capture_status status;
    uint16_t ports[16];
    size_t i;

    capture_options_default(&options);
    options.depth = RPC_DEPTH_FULL;
    options.ports = ports;
    for (i = 0; i < run->filesystem_count && options.port_count < 16; i++)
        if (run->filesystems[i].port > 0 && run->filesystems[i].port < 65536)
            ports[options.port_count++] = (uint16_t)run->filesystems[i].port;
    status = capture_read(paths, count, &options, &sink, &result, error,
                          error_size);
    traffic->packets = result.packets.packets;
    traffic->packet_losses = result.packets;
    traffic->rpc_losses = result.rpc;
    traffic->captures_complete = status == CAPTURE_OK;
    traffic->any_capture = status != CAPTURE_FAILED;
    for (i = 0; i < result.input_count && traffic->warning == NULL; i++)
        if (result.inputs[i].warning != NULL)
            traffic->warning = strdup(result.inputs[i].warning);
    capture_result_free(&result);
    if (status == CAPTURE_FAILED)
        return -1;
    if (collector->out_of_memory) {
        snprintf(error, error_size,
                 "out of memory after %zu transactions; give the machine "
                 "more, or fewer execs", traffic->rpc_count);
        return -1;
    }
    return status == CAPTURE_OK ? 0 : 1;
}

/* Lost, and nobody knows in which cell. */
static bool
lost_somewhere(const struct run *run, const struct run_traffic *traffic)
{
    size_t i;

    for (i = 0; i < run->capture_count; i++)
        if (!run->captures[i].complete)
            return true;
    return !traffic->captures_complete ||
           traffic->packet_losses.gap_bytes > 0 ||
           traffic->packet_losses.malformed_records > 0 ||
           traffic->rpc_losses.orphan_replies > 0 ||
           traffic->rpc_losses.unattributed_compounds > 0 ||
           traffic->rpc_losses.encrypted_calls > 0;
}

bool
run_traffic_nothing_lost(const struct run *run,
                         const struct run_traffic *traffic)
{
    size_t i;

    for (i = 0; i < run->capture_count; i++)
        if (run->captures[i].dropped > 0)
            return false;
    return !lost_somewhere(run, traffic);
}

/* A gap that swallowed calls with their replies leaves no transaction beside
 * it that would tell the cell. Where something was lost, a cell's counts are
 * whole only if the kernel counted the same. Drops of the kernel's are known
 * by cell. */
static void
doubt_cells(const struct run *run, struct run_traffic *traffic)
{
    size_t i;

    if (!traffic->any_capture || !lost_somewhere(run, traffic))
        return;
    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];
        char text[512];

        if (run->filesystems[cell->filesystem].kind == FILESYSTEM_NFS &&
            (!cell->mountstats_known || cell->mountstats_reset ||
             !mountstats_agree(run, cell, &traffic->cells[i], text,
                               sizeof text)))
            traffic->cells[i].lossy = true;
    }
}

int
run_traffic_read(const struct run *run, const char *const *captures,
                 size_t capture_count, struct run_traffic *traffic,
                 char *error, size_t error_size)
{
    struct collector collector = {.run = run, .traffic = traffic};
    char **own = NULL;
    int result = 0;
    size_t i;

    memset(traffic, 0, sizeof *traffic);
    traffic->captures_complete = true;
    traffic->cell_count = run->cell_count;
    traffic->cells = calloc(run->cell_count + 1, sizeof(*traffic->cells));
    if (capture_count == 0)
        own = own_capture_paths(run);
    if (traffic->cells == NULL || !parse_handles(&collector) ||
        (capture_count == 0 && own == NULL)) {
        snprintf(error, error_size, "out of memory");
        result = -1;
    } else if (capture_count > 0 || run->capture_count > 0) {
        result = read_captures(
            run, capture_count > 0 ? captures : (const char *const *)own,
            capture_count > 0 ? capture_count : run->capture_count, &collector,
            error, error_size);
    }
    if (result >= 0 && capture_count > 0 &&
        !fit_clock(run, &collector, traffic)) {
        snprintf(error, error_size,
                 "%s: fewer than two markers of run %s in it: not a capture "
                 "of this run, or its filter or place left them out",
                 captures[0], run->id);
        result = -1;
    }
    if (result >= 0) {
        place_all(run, &collector, traffic);
        doubt_cells(run, traffic);
    }
    for (i = 0; own != NULL && i < run->capture_count; i++)
        free(own[i]);
    free(own);
    free(collector.markers);
    free(collector.serials);
    free(collector.marks);
    free(collector.handles);
    return result;
}

void
run_traffic_free(struct run_traffic *traffic)
{
    size_t i;

    for (i = 0; traffic->cells != NULL && i < traffic->cell_count; i++) {
        run_counts_release(&traffic->cells[i].calls);
        run_counts_release(&traffic->cells[i].operations);
        run_counts_release(&traffic->cells[i].errors);
    }
    run_counts_release(&traffic->idle);
    free(traffic->cells);
    free(traffic->rpcs);
    free(traffic->operations);
    free(traffic->warning);
    memset(traffic, 0, sizeof *traffic);
}

/* --- against the kernel's own count ----------------------------------------- */

/* Names that the kernel's NFSv4 client has for calls of one form. */
static const char *
wire_name_of(const char *name, bool v4)
{
    static const char *const attributes[] = {
        "FSINFO", "PATHCONF", "STATFS", "SERVER_CAPS", "LOOKUP_ROOT",
    };
    size_t i;

    if (!v4)
        return name;
    if (strcmp(name, "OPEN_NOATTR") == 0)
        return "OPEN";
    for (i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (strcmp(name, attributes[i]) == 0)
            return "GETATTR";
    return name;
}

static void
note_difference(char *text, size_t size, const char *name, uint64_t wire,
                uint64_t kernel)
{
    const size_t used = strlen(text);

    if (used + 1 < size)
        snprintf(text + used, size - used,
                 "%s%s wire %" PRIu64 ", mountstats %" PRIu64,
                 used > 0 ? "; " : "", name, wire, kernel);
}

bool
mountstats_agree(const struct run *run, const struct run_cell *cell,
                 const struct cell_traffic *traffic, char *text, size_t size)
{
    const char *version = run->filesystems[cell->filesystem].version;
    const bool v4 = version != NULL && version[0] == '4';
    struct run_counts kernel = {0};
    bool agree = true;
    size_t i;

    text[0] = '\0';
    for (i = 0; i < cell->mountstats.length; i++) {
        const char *name = wire_name_of(cell->mountstats.items[i].name, v4);

        if (strcmp(name, "NULL") != 0 && strcmp(name, "SEQUENCE") != 0 &&
            strcmp(name, "RENEW") != 0)
            run_counts_add(&kernel, name, cell->mountstats.items[i].count);
    }
    for (i = 0; i < kernel.length; i++) {
        const uint64_t wire =
            run_counts_get(&traffic->calls, kernel.items[i].name);

        if (wire != kernel.items[i].count) {
            agree = false;
            note_difference(text, size, kernel.items[i].name, wire,
                            kernel.items[i].count);
        }
    }
    for (i = 0; i < traffic->calls.length; i++) {
        const struct run_count *item = &traffic->calls.items[i];
        size_t j;

        for (j = 0; j < kernel.length; j++)
            if (strcmp(kernel.items[j].name, item->name) == 0)
                break;
        if (j == kernel.length && item->count > 0) {
            agree = false;
            note_difference(text, size, item->name, item->count, 0);
        }
    }
    run_counts_release(&kernel);
    return agree;
}
