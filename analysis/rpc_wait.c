/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * A cell's execs give fixed points of time: start, exit (the process was
 * reaped), end (its method was done). Between two of them lies one activity,
 * the exec itself or its method, and mark_chain() finds what it waited for.
 * The time of the exec proper (exec_ns) is no such point: with vfork the
 * parent learns of it while the child may already wait for its pages.
 *
 * A second pass walks over all boundaries of a cell in order of time with
 * the list of RPCs outstanding (it is short: the client's slots bound it) and
 * gives each stretch to one procedure, to overlapping, or to the client.
 */
#include "analysis/rpc_wait.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Clocks of the capture and of the exec loop are laid over one another no
 * better than this; also the resolution of many capture files, twice. */
#define CLOCK_SLACK_NS 2000

#define NONE_OPEN SIZE_MAX

struct interval { /* one answered RPC of an exec */
    int64_t call, reply;
    size_t procedure;
    uint32_t exec;
    bool blocking;
};

enum edge_kind { /* the order at equal times */
    EDGE_REPLY,
    EDGE_END,
    EDGE_START,
    EDGE_EXIT,
    EDGE_CALL,
};

struct edge {
    int64_t when;
    size_t index; /* interval, or exec */
    enum edge_kind kind;
};

struct work {
    const struct run *run;
    const struct run_traffic *traffic;
    struct rpc_wait *wait;
    int64_t slack;
    double *exec_wall, *exec_waits; /* us, all execs of the group */
    size_t exec_count;
    double *latencies; /* us, all answered RPCs of the group ... */
    size_t *latency_of; /* ... and their procedure */
    size_t latency_count, rpc_total;
    /* one cell */
    struct interval *list;
    struct edge *edges;
    size_t *open; /* intervals outstanding */
    struct interval **order; /* those of one activity, last reply first */
    size_t count;
};

/* --- names ------------------------------------------------------------- */

const struct wait_procedure *
rpc_wait_find(const struct rpc_wait *wait, const char *name)
{
    size_t i;

    for (i = 0; i < wait->procedure_count; i++)
        if (strcmp(wait->procedures[i].name, name) == 0)
            return &wait->procedures[i];
    return NULL;
}

static size_t
procedure_index(struct rpc_wait *wait, const char *name)
{
    const struct wait_procedure *found = rpc_wait_find(wait, name);
    struct wait_procedure *made;

    if (found != NULL)
        return (size_t)(found - wait->procedures);
    if (wait->procedure_count + 1 >= WAIT_PROCEDURES &&
        strcmp(name, "others") != 0)
        return procedure_index(wait, "others");
    made = &wait->procedures[wait->procedure_count];
    made->name = name;
    made->us = calloc(wait->cells + 1, sizeof(*made->us));
    return made->us == NULL ? NONE_OPEN : wait->procedure_count++;
}

/* --- what an exec waited for ------------------------------------------- */

static int
by_reply(const void *left, const void *right)
{
    const struct interval *a = *(struct interval *const *)left;
    const struct interval *b = *(struct interval *const *)right;

    if (a->reply != b->reply)
        return a->reply > b->reply ? -1 : 1;
    return a->call > b->call ? -1 : a->call < b->call;
}

/*
 * Intervals first .. last - 1 were called in one activity, which ended at
 * `end`:
 *
 *   call            reply            end
 *    |---- GETATTR ---|                |     on the way: the READ was called
 *      |-- READDIR --|                 |     after its reply
 *                       |-- READ --|   |     replied last before the end
 *                    |------ CLOSE --------| outstanding at the end
 */
static void
mark_chain(struct work *work, size_t first, size_t last, int64_t end)
{
    int64_t until = end + work->slack;
    size_t i, n = 0;

    for (i = first; i < last; i++)
        if (work->list[i].reply <= until)
            work->order[n++] = &work->list[i];
    if (n > 1)
        qsort(work->order, n, sizeof(*work->order), by_reply);
    for (i = 0; i < n; i++) {
        struct interval *interval = work->order[i];

        if (interval->reply <= until) {
            interval->blocking = true;
            until = interval->call;
        }
    }
}

static int64_t
exit_of(const struct run_exec *exec)
{
    return exec->exit_ns == RUN_UNKNOWN_NS ? exec->end_ns : exec->exit_ns;
}

/* An RPC belongs to the activity in which it was called; one that was called
 * within the slack before a fixed point is taken for the next one's. */
static void
mark_cell(struct work *work, const struct run_cell *cell)
{
    size_t next = 0, k;

    for (k = 0; k < cell->exec_count; k++) {
        const struct run_exec *exec = &cell->execs[k];
        const int64_t ends[] = {exit_of(exec), exec->end_ns};
        size_t part;

        while (next < work->count &&
               work->list[next].call + work->slack < exec->start_ns)
            next++;
        for (part = 0; part < 2; part++) {
            const size_t first = next;

            while (next < work->count &&
                   work->list[next].call + work->slack < ends[part])
                next++;
            mark_chain(work, first, next, ends[part]);
        }
    }
}

/* --- whose the time is ------------------------------------------------- */

static int
by_time(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;

    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static size_t
make_edges(struct work *work, const struct run_cell *cell)
{
    size_t i, n = 0;

    for (i = 0; i < work->count; i++) {
        if (work->list[i].reply <= work->list[i].call)
            continue;
        work->edges[n++] =
            (struct edge){work->list[i].call, i, EDGE_CALL};
        work->edges[n++] =
            (struct edge){work->list[i].reply, i, EDGE_REPLY};
    }
    for (i = 0; i < cell->exec_count; i++) {
        const struct run_exec *exec = &cell->execs[i];

        work->edges[n++] = (struct edge){exec->start_ns, i, EDGE_START};
        work->edges[n++] = (struct edge){exit_of(exec), i, EDGE_EXIT};
        work->edges[n++] = (struct edge){exec->end_ns, i, EDGE_END};
    }
    qsort(work->edges, n, sizeof(*work->edges), by_time);
    return n;
}

static const struct interval *
foremost(const struct work *work, size_t open_count)
{
    const struct interval *best = NULL;
    size_t i;

    for (i = 0; i < open_count; i++) {
        const struct interval *one = &work->list[work->open[i]];

        if (best == NULL || (one->blocking && !best->blocking) ||
            (one->blocking == best->blocking && one->reply > best->reply))
            best = one;
    }
    return best;
}

struct sweep {
    size_t exec; /* NONE_OPEN between execs */
    bool in_method;
    size_t open_count;
};

static void
take_edge(struct work *work, const struct edge *edge, struct sweep *at)
{
    size_t i;

    switch (edge->kind) {
    case EDGE_CALL:
        work->open[at->open_count++] = edge->index;
        break;
    case EDGE_REPLY:
        for (i = 0; i < at->open_count; i++)
            if (work->open[i] == edge->index)
                work->open[i--] = work->open[--at->open_count];
        break;
    case EDGE_START:
        at->exec = edge->index;
        at->in_method = false;
        break;
    case EDGE_EXIT:
        if (at->exec == edge->index)
            at->in_method = true;
        break;
    case EDGE_END:
        if (at->exec == edge->index)
            at->exec = NONE_OPEN;
        break;
    }
}

static void
share_time(struct work *work, const struct run_cell *cell, size_t column)
{
    struct rpc_wait *wait = work->wait;
    const size_t edge_count = make_edges(work, cell);
    double *waits = work->exec_waits + work->exec_count;
    struct sweep at = {.exec = NONE_OPEN};
    size_t i;

    for (i = 0; i < edge_count; i++) {
        const double us =
            i == 0 ? 0.0
                   : (double)(work->edges[i].when - work->edges[i - 1].when) /
                         1000.0;
        const struct interval *one = foremost(work, at.open_count);

        if (at.exec != NONE_OPEN && one != NULL && one->blocking) {
            wait->procedures[one->procedure].us[column] += us;
            waits[at.exec] += us;
            if (!at.in_method)
                wait->exec_own[work->exec_count + at.exec] -= us;
        } else if (at.exec != NONE_OPEN) {
            if (one != NULL)
                wait->procedures[one->procedure].overlapped_us += us;
            if (at.in_method)
                wait->method_cells[column] += us;
        }
        take_edge(work, &work->edges[i], &at);
    }
}

/* --- a group ----------------------------------------------------------- */

static bool
list_cell(struct work *work, size_t index)
{
    const struct window_rpc *rpc;
    size_t position = 0;

    work->count = 0;
    while ((rpc = cell_next_rpc(work->traffic, index, &position)) != NULL) {
        const size_t procedure =
            procedure_index(work->wait, window_rpc_name(rpc));
        struct interval *interval = &work->list[work->count];

        if (procedure == NONE_OPEN)
            return false;
        if (!rpc->answered) {
            work->wait->procedures[procedure].unanswered++;
            continue;
        }
        work->wait->retransmitted += rpc->retransmissions > 0;
        interval->call = rpc->call_ns;
        interval->reply = rpc->reply_ns;
        interval->procedure = procedure;
        interval->exec = rpc->exec;
        interval->blocking = false;
        work->count++;
        work->latencies[work->latency_count] =
            (double)(rpc->reply_ns - rpc->call_ns) / 1000.0;
        work->latency_of[work->latency_count++] = procedure;
    }
    return true;
}

static void
count_trip(struct work *work, const struct run_cell *cell,
           const struct interval *interval)
{
    uint16_t *trips;

    if (!interval->blocking || interval->exec == NO_EXEC ||
        interval->call + work->slack >= exit_of(&cell->execs[interval->exec]))
        return;
    trips = &work->wait->exec_trips[(work->exec_count + interval->exec) *
                                        WAIT_PROCEDURES +
                                    interval->procedure];
    if (*trips < UINT16_MAX)
        (*trips)++;
}

static bool
add_cell(struct work *work, size_t index, size_t column)
{
    const struct run_cell *cell = &work->run->cells[index];
    struct rpc_wait *wait = work->wait;
    const double each = 1.0 / (double)cell->exec_count;
    size_t i, trips = 0;

    for (i = 0; i < cell->exec_count; i++)
        wait->exec_own[work->exec_count + i] =
            (double)(exit_of(&cell->execs[i]) - cell->execs[i].start_ns) /
            1000.0;
    if (!list_cell(work, index))
        return false;
    mark_cell(work, cell);
    share_time(work, cell, column);
    for (i = 0; i < work->count; i++) {
        struct wait_procedure *procedure =
            &wait->procedures[work->list[i].procedure];

        procedure->calls++;
        procedure->blocking += work->list[i].blocking;
        procedure->overlapped += !work->list[i].blocking;
        trips += work->list[i].blocking;
        count_trip(work, cell, &work->list[i]);
    }
    for (i = 0; i < cell->exec_count; i++) {
        const double wall = (double)exec_wall_ns(&cell->execs[i]) / 1000.0;

        work->exec_wall[work->exec_count + i] = wall;
        wait->wall_cells[column] += wall * each;
        wait->waits_cells[column] +=
            work->exec_waits[work->exec_count + i] * each;
    }
    wait->method_cells[column] *= each;
    for (i = 0; i < wait->procedure_count; i++)
        wait->procedures[i].us[column] *= each;
    wait->trips_cells[column] = (double)trips * each;
    work->exec_count += cell->exec_count;
    return true;
}

static struct stat_estimate
mean_of(const double *values, size_t n, double confidence)
{
    const struct stat_summary summary = stat_summarise(values, n);

    return stat_mean(&summary, confidence);
}

static bool
latency_summaries(struct work *work)
{
    double *some = calloc(work->latency_count + 1, sizeof(*some));
    size_t i, j;

    for (i = 0; some != NULL && i < work->wait->procedure_count; i++) {
        size_t n = 0;

        for (j = 0; j < work->latency_count; j++)
            if (work->latency_of[j] == i)
                some[n++] = work->latencies[j];
        work->wait->procedures[i].latency = stat_summarise(some, n);
    }
    free(some);
    return some != NULL;
}

static bool
summarise(struct work *work, double confidence)
{
    struct rpc_wait *wait = work->wait;
    double *own = calloc(wait->cells + 1, sizeof(*own));
    struct stat_regression line;
    size_t i;

    if (own == NULL || !latency_summaries(work)) {
        free(own);
        return false;
    }
    for (i = 0; i < wait->cells; i++)
        own[i] = wait->wall_cells[i] - wait->waits_cells[i];
    wait->execs = work->exec_count;
    wait->wall = mean_of(wait->wall_cells, wait->cells, confidence);
    wait->waits = mean_of(wait->waits_cells, wait->cells, confidence);
    wait->own = mean_of(own, wait->cells, confidence);
    wait->method_own = mean_of(wait->method_cells, wait->cells, confidence);
    wait->round_trips = mean_of(wait->trips_cells, wait->cells, confidence);
    for (i = 0; i < wait->procedure_count; i++) {
        struct wait_procedure *procedure = &wait->procedures[i];

        procedure->sample = stat_summarise(procedure->us, wait->cells);
        procedure->wait = stat_mean(&procedure->sample, confidence);
        procedure->overlapped_us /= (double)wait->execs;
        wait->overlapped += procedure->overlapped_us;
    }
    line = stat_regress(work->exec_wall, work->exec_waits, work->exec_count, 1,
                        confidence);
    if (line.known && line.term[0].state == STAT_TERM_ESTIMATED)
        wait->per_us_waited = line.term[0].slope;
    stat_regression_free(&line);
    free(own);
    return true;
}

static bool
in_group(const struct run_cell *cell, size_t filesystem,
         enum run_method method)
{
    return cell->filesystem == filesystem && cell->method == method &&
           cell_is_finished(cell);
}

static bool
allocate(struct work *work, size_t filesystem, enum run_method method)
{
    struct rpc_wait *wait = work->wait;
    size_t execs = 0, largest = 0, longest = 0, i;

    for (i = 0; i < work->run->cell_count; i++) {
        const struct run_cell *cell = &work->run->cells[i];

        if (!in_group(cell, filesystem, method))
            continue;
        wait->cells++;
        execs += cell->exec_count;
        work->rpc_total += work->traffic->cells[i].count;
        if (work->traffic->cells[i].count > largest)
            largest = work->traffic->cells[i].count;
        if (cell->exec_count > longest)
            longest = cell->exec_count;
    }
    wait->procedures = calloc(WAIT_PROCEDURES + 1, sizeof(*wait->procedures));
    wait->wall_cells = calloc(4 * wait->cells + 1, sizeof(double));
    if (wait->wall_cells == NULL)
        return false;
    wait->waits_cells = wait->wall_cells + wait->cells;
    wait->method_cells = wait->waits_cells + wait->cells;
    wait->trips_cells = wait->method_cells + wait->cells;
    wait->exec_own = calloc(execs + 1, sizeof(double));
    wait->exec_trips = calloc(execs * WAIT_PROCEDURES + 1, sizeof(uint16_t));
    work->exec_wall = calloc(execs + 1, sizeof(double));
    work->exec_waits = calloc(execs + 1, sizeof(double));
    work->latencies = calloc(work->rpc_total + 1, sizeof(double));
    work->latency_of = calloc(work->rpc_total + 1, sizeof(size_t));
    work->list = calloc(largest + 1, sizeof(*work->list));
    work->edges = calloc(2 * largest + 3 * longest + 1, sizeof(*work->edges));
    work->open = calloc(largest + 1, sizeof(size_t));
    work->order = calloc(largest + 1, sizeof(*work->order));
    return wait->procedures != NULL && wait->exec_own != NULL &&
           wait->exec_trips != NULL && work->exec_wall != NULL &&
           work->exec_waits != NULL && work->latencies != NULL &&
           work->latency_of != NULL && work->list != NULL &&
           work->edges != NULL && work->open != NULL && work->order != NULL;
}

int
rpc_wait_compute(const struct run *run, const struct run_traffic *traffic,
                 size_t filesystem, enum run_method method, double confidence,
                 struct rpc_wait *wait)
{
    struct work work = {.run = run, .traffic = traffic, .wait = wait};
    size_t i, column = 0;
    bool well;

    memset(wait, 0, sizeof *wait);
    work.slack = CLOCK_SLACK_NS;
    if (traffic->clock_from_markers &&
        traffic->clock_residual_ns > CLOCK_SLACK_NS)
        work.slack = llround(traffic->clock_residual_ns);
    well = allocate(&work, filesystem, method);
    for (i = 0; well && i < run->cell_count; i++)
        if (in_group(&run->cells[i], filesystem, method))
            well = add_cell(&work, i, column++);
    if (well && wait->cells > 0)
        well = summarise(&work, confidence);
    free(work.exec_wall);
    free(work.exec_waits);
    free(work.latencies);
    free(work.latency_of);
    free(work.list);
    free(work.edges);
    free(work.open);
    free(work.order);
    return well ? 0 : -1;
}

void
rpc_wait_free(struct rpc_wait *wait)
{
    size_t i;

    for (i = 0; i < wait->procedure_count; i++)
        free(wait->procedures[i].us);
    free(wait->procedures);
    free(wait->wall_cells);
    free(wait->exec_own);
    free(wait->exec_trips);
    free(wait->parts);
    memset(wait, 0, sizeof *wait);
}

/* --- the client's work for an RPC -------------------------------------- */

static size_t
work_index(struct rpc_work *work, const char *name)
{
    size_t i;

    for (i = 0; i < work->count; i++)
        if (strcmp(work->names[i], name) == 0)
            return i;
    if (work->count == WAIT_PROCEDURES)
        return WAIT_PROCEDURES - 1;
    work->names[work->count] = name;
    return work->count++;
}

/* Adds the rows of a group; columns are WAIT_PROCEDURES wide. */
static void
add_rows(const struct rpc_wait *wait, struct rpc_work *work, double *x)
{
    size_t i, j;

    for (j = 0; j < wait->procedure_count; j++) {
        const size_t column = work_index(work, wait->procedures[j].name);

        for (i = 0; i < wait->execs; i++)
            x[i * WAIT_PROCEDURES + column] +=
                wait->exec_trips[i * WAIT_PROCEDURES + j];
    }
}

int
rpc_work_compute(const struct rpc_wait *const *groups, double confidence,
                 struct rpc_work *work)
{
    size_t rows = 0, i, done = 0;
    double *x, *y;

    memset(work, 0, sizeof *work);
    for (i = 0; groups[i] != NULL; i++)
        rows += groups[i]->execs;
    x = calloc(rows * WAIT_PROCEDURES + 1, sizeof(*x));
    y = calloc(rows + 1, sizeof(*y));
    for (i = 0; x != NULL && y != NULL && groups[i] != NULL; i++) {
        if (groups[i]->execs == 0)
            continue;
        memcpy(y + done, groups[i]->exec_own,
               groups[i]->execs * sizeof(*y));
        add_rows(groups[i], work, x + done * WAIT_PROCEDURES);
        done += groups[i]->execs;
    }
    if (done > 0 && work->count > 0) {
        for (i = 0; i < done; i++)
            memmove(x + i * work->count, x + i * WAIT_PROCEDURES,
                    work->count * sizeof(*x));
        work->fit = stat_regress(y, x, done, work->count, confidence);
    }
    i = x == NULL || y == NULL;
    free(x);
    free(y);
    return i ? -1 : 0;
}

void
rpc_work_free(struct rpc_work *work)
{
    stat_regression_free(&work->fit);
    memset(work, 0, sizeof *work);
}

/* Waited for per exec until reaped. */
static double
exec_trips(const struct rpc_wait *wait, const char *name)
{
    const struct wait_procedure *procedure = rpc_wait_find(wait, name);
    const size_t column =
        procedure != NULL ? (size_t)(procedure - wait->procedures) : 0;
    double sum = 0;
    size_t i;

    if (procedure == NULL)
        return 0;
    for (i = 0; i < wait->execs; i++)
        sum += wait->exec_trips[i * WAIT_PROCEDURES + column];
    return sum / (double)wait->execs;
}

/* What the difference in RPCs makes the client work, by the fit; terms that
 * come together by their joint cost. A group that moves in more than one way
 * has no cost, and its work stays in the rest. */
static double
work_difference(const struct rpc_wait *none, const struct rpc_work *work,
                const struct rpc_wait *wait)
{
    double us = 0;
    size_t i;

    for (i = 0; i < work->count; i++) {
        const double more = exec_trips(wait, work->names[i]) -
                            exec_trips(none, work->names[i]);
        const struct stat_term *term = &work->fit.term[i];

        if (term->state == STAT_TERM_ESTIMATED)
            us += more * term->slope.value;
        else if (term->state == STAT_TERM_TOGETHER &&
                 term->group < work->fit.group_count &&
                 work->fit.group[term->group].leader == i &&
                 work->fit.group[term->group].joint.has_value)
            us += more * work->fit.group[term->group].joint.value;
    }
    return us;
}

/* --- against exec alone ------------------------------------------------ */

static struct stat_difference
difference_of(const double *first, size_t first_count, const double *second,
              size_t second_count, double confidence)
{
    const struct stat_summary a = stat_summarise(first, first_count);
    const struct stat_summary b = stat_summarise(second, second_count);

    return stat_welch(&a, &b, confidence);
}

static int
by_size(const void *left, const void *right)
{
    const double a = fabs(((const struct wait_part *)left)->us.absolute.value);
    const double b = fabs(((const struct wait_part *)right)->us.absolute.value);

    return a > b ? -1 : a < b;
}

static void
add_part(const struct rpc_wait *none, struct rpc_wait *wait, const char *name,
         const double *zeros, double confidence)
{
    const struct wait_procedure *before = rpc_wait_find(none, name);
    const struct wait_procedure *after = rpc_wait_find(wait, name);
    struct wait_part *part = &wait->parts[wait->part_count++];

    part->name = name;
    part->us = difference_of(before != NULL ? before->us : zeros, none->cells,
                             after != NULL ? after->us : zeros, wait->cells,
                             confidence);
    if (after != NULL)
        part->rpcs += (double)after->blocking / (double)wait->execs;
    if (before != NULL)
        part->rpcs -= (double)before->blocking / (double)none->execs;
    part->latency = after != NULL && after->latency.n > 0
                        ? after->latency.mean
                        : before != NULL ? before->latency.mean : 0.0;
    wait->explained += part->us.absolute.value;
}

int
rpc_wait_compare(const struct rpc_wait *none, const struct rpc_work *work,
                 struct rpc_wait *wait, double confidence)
{
    const size_t most = none->cells > wait->cells ? none->cells : wait->cells;
    double *zeros;
    size_t i;

    if (none->cells == 0 || wait->cells == 0)
        return 0;
    zeros = calloc(most + 1, sizeof(*zeros));
    wait->parts = calloc(none->procedure_count + wait->procedure_count + 1,
                         sizeof(*wait->parts));
    if (zeros == NULL || wait->parts == NULL) {
        free(zeros);
        return -1;
    }
    for (i = 0; i < wait->procedure_count; i++)
        add_part(none, wait, wait->procedures[i].name, zeros, confidence);
    for (i = 0; i < none->procedure_count; i++)
        if (rpc_wait_find(wait, none->procedures[i].name) == NULL)
            add_part(none, wait, none->procedures[i].name, zeros, confidence);
    if (wait->part_count > 1)
        qsort(wait->parts, wait->part_count, sizeof(*wait->parts), by_size);
    wait->measured = difference_of(none->wall_cells, none->cells,
                                   wait->wall_cells, wait->cells, confidence);
    wait->method_part =
        difference_of(none->method_cells, none->cells, wait->method_cells,
                      wait->cells, confidence);
    wait->explained += wait->method_part.absolute.value;
    if (work != NULL && work->fit.known) {
        wait->work_known = true;
        wait->work_us = work_difference(none, work, wait);
        wait->explained += wait->work_us;
    }
    wait->rest = wait->measured.absolute.value - wait->explained;
    wait->compared = true;
    free(zeros);
    return 0;
}

/* --- what a SETATTR costs ---------------------------------------------- */

void
setattr_account(const struct rpc_wait *wait, double ping_us, double null_us,
                struct setattr_account *account)
{
    const double clearly = 0.9; /* fewer than nine in ten */
    const struct wait_procedure *setattr = rpc_wait_find(wait, "SETATTR");
    size_t i;

    memset(account, 0, sizeof *account);
    account->ping_us = ping_us;
    account->null_us = null_us;
    if (!wait->compared || setattr == NULL || setattr->calls == 0)
        return;
    account->overhead_us = wait->measured.absolute.value;
    account->per_exec = (double)setattr->calls / (double)wait->execs;
    account->blocking_share =
        (double)setattr->blocking / (double)setattr->calls;
    account->latency_us = setattr->latency.mean;
    account->below_ping = ping_us > 0 && account->overhead_us < ping_us;
    for (i = 0; i < wait->part_count; i++) {
        const struct wait_part *part = &wait->parts[i];

        if (part->us.verdict != STAT_LESS)
            continue;
        account->saved_us -= part->us.absolute.value;
        if (account->saved_name == NULL)
            account->saved_name = part->name;
    }
    if (account->per_exec < clearly)
        account->reasons |= SETATTR_COALESCED;
    if (account->blocking_share < clearly)
        account->reasons |= SETATTR_OVERLAPPED;
    if (account->latency_us < clearly * (null_us > 0 ? null_us : ping_us))
        account->reasons |= SETATTR_CHEAPER;
    if (account->saved_us > 0.1 * setattr->wait.value)
        account->reasons |= SETATTR_REPLACES;
    if (account->reasons == 0)
        account->reasons = SETATTR_WAITED;
}
