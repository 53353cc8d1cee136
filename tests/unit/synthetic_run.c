/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/synthetic_run.h"

#include "tests/unit/seeded_random.h"

#include <stdlib.h>
#include <string.h>

void
synthetic_begin(struct synthetic *s, uint64_t seed, size_t cells, size_t execs,
                double ping_us)
{
    struct run_filesystem *filesystem;

    memset(s, 0, sizeof *s);
    s->random = seed;
    s->execs = execs;
    s->now = 1000000000;
    s->run.id = strdup("synthetic");
    s->run.state = RUN_COMPLETE;
    s->run.execs = (unsigned)execs;
    s->run.filesystem_count = 1;
    s->run.filesystems = calloc(1, sizeof(*s->run.filesystems));
    s->run.cells = calloc(cells, sizeof(*s->run.cells));
    s->traffic.cells = calloc(cells, sizeof(*s->traffic.cells));
    filesystem = s->run.filesystems;
    filesystem->label = strdup("nfs3");
    filesystem->kind = FILESYSTEM_NFS;
    filesystem->version = strdup("3");
    filesystem->options = strdup("rw,relatime,vers=3,hard");
    filesystem->wire_shows_all = true;
    filesystem->idle_start_realtime_ns = RUN_UNKNOWN_NS;
    filesystem->idle_end_realtime_ns = RUN_UNKNOWN_NS;
    filesystem->ping_ns = malloc(sizeof(*filesystem->ping_ns));
    filesystem->ping_ns[0] = (int64_t)(ping_us * 1000.0);
    filesystem->ping_count = 1;
    s->traffic.any_capture = s->traffic.captures_complete = true;
}

static void
unknown(struct run_attr *attr)
{
    attr->atime_ns = attr->mtime_ns = attr->ctime_ns = RUN_UNKNOWN_NS;
}

void
synthetic_cell(struct synthetic *s, enum run_method method)
{
    const size_t index = s->run.cell_count++;

    s->now += 1000000;
    s->cell = &s->run.cells[index];
    s->cell->method = method;
    s->cell->state = CELL_DONE;
    s->cell->user_ns = s->cell->system_ns = RUN_UNKNOWN_NS;
    s->cell->execs = calloc(s->execs, sizeof(*s->cell->execs));
    unknown(&s->cell->server_before);
    unknown(&s->cell->server_after);
    unknown(&s->cell->client_before);
    unknown(&s->cell->client_after);
    unknown(&s->cell->export_before);
    unknown(&s->cell->export_after);
    s->traffic.cells[index].open_ns = s->now;
    s->traffic.cell_count = s->run.cell_count;
}

void
synthetic_start(struct synthetic *s)
{
    struct run_exec *exec = &s->cell->execs[s->cell->exec_count++];

    exec->start_ns = s->now;
    exec->exec_ns = s->now;
    exec->exit_ns = exec->end_ns = s->now;
}

void
synthetic_work(struct synthetic *s, double us, double deviation)
{
    const double spent = us + deviation * random_normal(&s->random);

    s->now += (int64_t)((spent > 0 ? spent : 0) * 1000.0);
}

struct window_rpc *
synthetic_send(struct synthetic *s, uint32_t procedure, double us)
{
    struct window_rpc *rpc;

    if (s->traffic.rpc_count == s->rpc_space) {
        s->rpc_space = s->rpc_space == 0 ? 256 : 2 * s->rpc_space;
        s->traffic.rpcs = realloc(s->traffic.rpcs,
                                  s->rpc_space * sizeof(*s->traffic.rpcs));
        if (s->traffic.rpcs == NULL)
            abort();
    }
    rpc = &s->traffic.rpcs[s->traffic.rpc_count++];
    memset(rpc, 0, sizeof *rpc);
    rpc->call_ns = s->now;
    rpc->reply_ns = s->now + (int64_t)(us * 1000.0);
    rpc->reply_first_ns = rpc->reply_ns;
    rpc->program = SUNRPC_NFS;
    rpc->version = 3;
    rpc->procedure = rpc->main_operation = procedure;
    rpc->answered = rpc->status_known = true;
    rpc->owner = OWNER_EXEC;
    rpc->cell = (uint32_t)(s->run.cell_count - 1);
    rpc->exec = (uint32_t)(s->cell->exec_count - 1);
    rpc->attr_filesystem = NO_FILESYSTEM;
    rpc->on_program = true;
    rpc->operation_count = 1;
    return rpc;
}

struct window_rpc *
synthetic_wait(struct synthetic *s, uint32_t procedure, double us,
               double deviation)
{
    struct window_rpc *rpc = synthetic_send(
        s, procedure, us + deviation * random_normal(&s->random));

    s->now = rpc->reply_ns;
    return rpc;
}

void
synthetic_exit(struct synthetic *s)
{
    s->cell->execs[s->cell->exec_count - 1].exit_ns = s->now;
}

void
synthetic_finish(struct synthetic *s)
{
    s->cell->execs[s->cell->exec_count - 1].end_ns = s->now;
    s->traffic.cells[s->run.cell_count - 1].close_ns = s->now;
}

void
synthetic_attr(struct window_rpc *rpc, int64_t atime_ns, int64_t ctime_ns)
{
    rpc->attr_on_program = true;
    rpc->attr_filesystem = 0;
    rpc->attr.valid = NFS_ATTR_ATIME | NFS_ATTR_CTIME;
    rpc->attr.atime.seconds = atime_ns / 1000000000;
    rpc->attr.atime.nanoseconds = (uint32_t)(atime_ns % 1000000000);
    rpc->attr.ctime.seconds = ctime_ns / 1000000000;
    rpc->attr.ctime.nanoseconds = (uint32_t)(ctime_ns % 1000000000);
}

static int
by_call(const void *left, const void *right)
{
    const struct window_rpc *a = left, *b = right;

    return a->call_ns < b->call_ns ? -1 : a->call_ns > b->call_ns;
}

void
synthetic_end(struct synthetic *s)
{
    size_t i;

    if (s->traffic.rpc_count > 1)
        qsort(s->traffic.rpcs, s->traffic.rpc_count, sizeof(*s->traffic.rpcs),
              by_call);
    for (i = 0; i < s->traffic.rpc_count; i++) {
        const struct window_rpc *rpc = &s->traffic.rpcs[i];
        struct cell_traffic *cell;

        if (rpc->cell == NO_CELL)
            continue;
        cell = &s->traffic.cells[rpc->cell];
        if (cell->count == 0)
            cell->first = i;
        cell->count = i + 1 - cell->first;
        cell->rpcs++;
        cell->read_bytes += rpc->read_bytes;
        cell->empty_setattrs +=
            rpc->procedure == PROC_SETATTR && rpc->sattr.empty;
        run_counts_add(&cell->calls, window_rpc_name(rpc), 1);
        run_counts_add(&cell->operations, window_rpc_name(rpc), 1);
    }
}

void
synthetic_free(struct synthetic *s)
{
    run_traffic_free(&s->traffic);
    run_free(&s->run);
}
