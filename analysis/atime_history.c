/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * The replies that concern the program's file are taken in the order in which
 * they came. `walk` holds the last observation and the last SETATTR or READ
 * since then that may have moved the atime without showing it. A change that
 * only this program's own GETATTR shows, and no RPC explains, belongs to the
 * cell whose window lies between the two observations; without one it is of
 * no group.
 */
#include "analysis/atime_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define ACCESS_KEYS 256     /* handles x credentials x masks remembered */
#define CACHE_SECONDS 3     /* acregmin when the mount does not say: nfs(5) */
#define RESOLUTION_VALUES 4 /* fewer say nothing of a resolution */
#define STEP_VALUES 8

struct access_key {
    uint64_t handle, credential;
    uint32_t requested;
    int64_t when_ns;
    uint64_t changes; /* walk.changes at that time */
};

struct walk {
    const struct run *run;
    const struct run_traffic *traffic;
    size_t filesystem;
    struct atime_history *history;
    const struct window_rpc *last;  /* observation */
    const struct window_rpc *mover; /* may have moved it since, or NULL */
    uint64_t changes; /* times that ctime or change moved */
    bool dirty;       /* that since the last READ of an exec */
    bool any_read;
    struct { /* the exec that was counted last, per kind */
        uint32_t cell, exec;
    } set, moved, reread;
    struct access_key keys[ACCESS_KEYS];
    size_t key_count, key_next;
    int64_t cache_ns;
};

static int64_t
time_ns(const struct nfs_time *when)
{
    /* Hostile seconds would overflow; a time beyond 292 years is clipped. */
    const int64_t most = INT64_MAX / SECOND - 1;
    int64_t seconds = when->seconds;

    if (seconds > most)
        seconds = most;
    if (seconds < -most)
        seconds = -most;
    return seconds * SECOND + when->nanoseconds % SECOND;
}

static bool
succeeded(const struct window_rpc *rpc)
{
    return rpc->answered && (!rpc->status_known || rpc->status == 0);
}

static bool
is_named(const struct window_rpc *rpc, const char *name)
{
    return strcmp(window_rpc_name(rpc), name) == 0;
}

static bool
sets_atime(const struct window_rpc *rpc)
{
    return is_named(rpc, "SETATTR") &&
           (rpc->sattr.atime_how != NFS_TIME_KEEP ||
            rpc->sattr.delegated_times);
}

static bool
may_move(const struct window_rpc *rpc)
{
    return succeeded(rpc) && rpc->on_program &&
           (sets_atime(rpc) || is_named(rpc, "READ"));
}

static bool
observes(const struct walk *walk, const struct window_rpc *rpc)
{
    return rpc->answered && rpc->attr_on_program &&
           rpc->attr_filesystem == walk->filesystem &&
           (rpc->attr.valid & NFS_ATTR_ATIME) != 0;
}

static bool
in_own_cell(const struct walk *walk, const struct window_rpc *rpc)
{
    return rpc->cell != NO_CELL &&
           walk->run->cells[rpc->cell].filesystem == walk->filesystem &&
           (rpc->owner == OWNER_EXEC || rpc->owner == OWNER_CELL);
}

/* The group of a cell that counts, or NULL. */
static struct atime_group *
group_of(struct walk *walk, uint32_t cell)
{
    const struct run_cell *of;

    if (cell == NO_CELL)
        return NULL;
    of = &walk->run->cells[cell];
    return of->filesystem == walk->filesystem && cell_is_finished(of)
               ? &walk->history->groups[of->method]
               : NULL;
}

/* --- movements --------------------------------------------------------- */

static bool
ctime_differs(const struct nfs_attr *a, const struct nfs_attr *b, bool *known)
{
    *known = (a->valid & b->valid & NFS_ATTR_CTIME) != 0;
    return *known && time_ns(&a->ctime) != time_ns(&b->ctime);
}

static bool
change_differs(const struct nfs_attr *a, const struct nfs_attr *b, bool *known)
{
    *known = (a->valid & b->valid & NFS_ATTR_CHANGE) != 0;
    return *known && a->change != b->change;
}

/* The first cell of the file system whose window meets from .. to. */
static uint32_t
cell_between(const struct walk *walk, int64_t from, int64_t to)
{
    size_t i;

    for (i = 0; i < walk->run->cell_count; i++)
        if (walk->run->cells[i].filesystem == walk->filesystem &&
            walk->traffic->cells[i].open_ns <= to &&
            walk->traffic->cells[i].close_ns >= from)
            return (uint32_t)i;
    return NO_CELL;
}

static void
count_movement(struct walk *walk, const struct atime_point *point,
               const struct nfs_attr *before, const struct nfs_attr *after)
{
    struct atime_group *group = group_of(walk, point->cell);
    bool known, moved;

    if (group == NULL)
        return;
    group->by_setattr += point->mover == ATIME_MOVED_BY_SETATTR;
    group->by_read += point->mover == ATIME_MOVED_BY_READ;
    group->by_other += point->mover == ATIME_MOVED_BY_OTHER;
    if (point->exec != NO_EXEC && (walk->moved.cell != point->cell ||
                                   walk->moved.exec != point->exec)) {
        group->moved_execs++;
        walk->moved.cell = point->cell;
        walk->moved.exec = point->exec;
    }
    moved = ctime_differs(before, after, &known);
    group->ctime_known += known;
    group->with_ctime += moved;
    moved = change_differs(before, after, &known);
    group->change_known += known;
    group->with_change += moved;
}

static void
observe(struct walk *walk, const struct window_rpc *rpc)
{
    struct atime_point *point =
        &walk->history->points[walk->history->point_count++];
    struct atime_group *group = group_of(walk, rpc->cell);
    const struct window_rpc *mover = may_move(rpc) ? rpc : walk->mover;
    bool known;

    point->when_ns = rpc->reply_ns;
    point->atime_ns = time_ns(&rpc->attr.atime);
    point->ctime_ns = (rpc->attr.valid & NFS_ATTR_CTIME) != 0
                          ? time_ns(&rpc->attr.ctime)
                          : RUN_UNKNOWN_NS;
    point->cell = rpc->cell;
    point->exec = rpc->exec;
    point->own = rpc->owner == OWNER_SELF;
    if (group != NULL)
        group->observations++;
    if (walk->last == NULL) {
        point->mover = ATIME_FIRST;
    } else if (time_ns(&walk->last->attr.atime) == point->atime_ns) {
        point->mover = ATIME_STAYED;
    } else if (mover != NULL) {
        point->mover = sets_atime(mover) ? ATIME_MOVED_BY_SETATTR
                                         : ATIME_MOVED_BY_READ;
        point->cell = mover->cell;
        point->exec = mover->exec;
        count_movement(walk, point, &walk->last->attr, &rpc->attr);
    } else {
        point->mover = ATIME_MOVED_BY_OTHER;
        if (rpc->cell == NO_CELL)
            point->cell = cell_between(walk, walk->last->reply_ns,
                                       rpc->reply_ns);
        count_movement(walk, point, &walk->last->attr, &rpc->attr);
    }
    if (walk->last != NULL &&
        (ctime_differs(&walk->last->attr, &rpc->attr, &known) ||
         change_differs(&walk->last->attr, &rpc->attr, &known))) {
        walk->changes++;
        walk->dirty = true;
    }
    walk->last = rpc;
    walk->mover = NULL;
}

/* --- SETATTR, READ, ACCESS --------------------------------------------- */

static void
compare_request(struct atime_group *group, const struct window_rpc *rpc)
{
    const int64_t asked = time_ns(&rpc->sattr.atime);
    const int64_t got = time_ns(&rpc->attr.atime);

    if ((rpc->attr.valid & NFS_ATTR_ATIME) == 0 || !rpc->attr_on_program)
        return;
    if (got == asked)
        group->client_exact++;
    else if (got < asked && asked - got < SECOND && got % 100 == 0)
        group->client_truncated++;
    else
        group->client_replaced++;
}

static void
take_setattr(struct walk *walk, const struct window_rpc *rpc)
{
    struct atime_group *group = group_of(walk, rpc->cell);
    const char *name;

    if (group == NULL || !rpc->answered || !sets_atime(rpc))
        return;
    if (!succeeded(rpc)) {
        name = nfs_status_name(rpc->version, rpc->status);
        if (group->refused++ == 0)
            snprintf(group->refused_status, sizeof group->refused_status,
                     "%s", name != NULL ? name : "unknown status");
        return;
    }
    group->set_delegated += rpc->sattr.delegated_times;
    group->set_server += rpc->sattr.atime_how == NFS_TIME_SERVER;
    if (rpc->sattr.atime_how == NFS_TIME_CLIENT) {
        group->set_client++;
        compare_request(group, rpc);
    }
    if (rpc->exec != NO_EXEC && (walk->set.cell != rpc->cell ||
                                 walk->set.exec != rpc->exec)) {
        group->set_execs++;
        walk->set.cell = rpc->cell;
        walk->set.exec = rpc->exec;
    }
}

/* A READ while the program is exec'd, before it exits: its pages were not in
 * the client's cache. */
static void
take_read(struct walk *walk, const struct window_rpc *rpc)
{
    struct atime_group *group = group_of(walk, rpc->cell);
    const struct run_exec *exec;

    if (rpc->exec == NO_EXEC || rpc->cell == NO_CELL ||
        !in_own_cell(walk, rpc))
        return;
    exec = &walk->run->cells[rpc->cell].execs[rpc->exec];
    if (exec->exit_ns != RUN_UNKNOWN_NS && rpc->call_ns >= exec->exit_ns)
        return;
    if (walk->reread.cell == rpc->cell && walk->reread.exec == rpc->exec)
        return;
    walk->reread.cell = rpc->cell;
    walk->reread.exec = rpc->exec;
    if (group != NULL) {
        group->reread_execs++;
        group->reread_after += walk->any_read && walk->dirty;
    }
    walk->any_read = true;
    walk->dirty = false;
}

static void
take_access(struct walk *walk, const struct window_rpc *rpc)
{
    struct atime_group *group = group_of(walk, rpc->cell);
    struct access_key *key = NULL;
    size_t i;

    if (group == NULL || !in_own_cell(walk, rpc))
        return;
    group->access_calls++;
    for (i = 0; i < walk->key_count && key == NULL; i++)
        if (walk->keys[i].handle == rpc->handle_hash &&
            walk->keys[i].credential == rpc->credential_hash &&
            walk->keys[i].requested == rpc->access_requested)
            key = &walk->keys[i];
    if (key != NULL) {
        group->access_redundant +=
            rpc->call_ns - key->when_ns < walk->cache_ns &&
            (!rpc->on_program || key->changes == walk->changes);
    } else {
        key = &walk->keys[walk->key_next++ % ACCESS_KEYS];
        if (walk->key_count < ACCESS_KEYS)
            walk->key_count++;
        key->handle = rpc->handle_hash;
        key->credential = rpc->credential_hash;
        key->requested = rpc->access_requested;
    }
    key->when_ns = rpc->call_ns;
    key->changes = walk->changes;
}

/* acregmin of the mount: for so long the client need not ask again. */
static int64_t
cache_time_ns(const struct run_filesystem *filesystem)
{
    const char *option = filesystem->options;
    long seconds = CACHE_SECONDS;

    if (option != NULL && (option = strstr(option, "acregmin=")) != NULL)
        seconds = strtol(option + strlen("acregmin="), NULL, 10);
    if (filesystem->options != NULL &&
        strstr(filesystem->options, "noac") != NULL &&
        strstr(filesystem->options, "noacl") == NULL)
        seconds = 0;
    if (seconds < 0 || seconds > 86400)
        seconds = CACHE_SECONDS;
    return seconds * SECOND;
}

/* --- resolution -------------------------------------------------------- */

static int
by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

static int64_t
resolution_of(const int64_t *values, size_t count)
{
    static const int64_t units[] = {SECOND, 1000000, 1000, 100};
    size_t i, unit;

    if (count < RESOLUTION_VALUES)
        return 0;
    for (unit = 0; unit < sizeof units / sizeof units[0]; unit++) {
        for (i = 0; i < count && values[i] % units[unit] == 0; i++)
            ;
        if (i == count)
            return units[unit];
    }
    return 1;
}

/* The tick of a clock that is read coarsely: 100, 250, 300 or 1000 Hz. Values
 * far apart are left out, because the tick is trimmed by parts per million. */
static int64_t
step_of(const int64_t *values, size_t count)
{
    static const int64_t ticks[] = {10000000, 4000000, 3333333, 1000000};
    size_t i, tick;

    for (tick = 0; tick < sizeof ticks / sizeof ticks[0]; tick++) {
        const int64_t length = ticks[tick];
        size_t fit = 0, tried = 0;

        for (i = 1; i < count; i++) {
            const int64_t apart = values[i] - values[i - 1];
            const int64_t off = (apart + length / 2) % length - length / 2;

            if (apart > 50 * length)
                continue;
            tried++;
            fit += apart >= length / 2 && off > -length / 50 &&
                   off < length / 50;
        }
        if (tried >= STEP_VALUES && fit == tried)
            return length;
    }
    return 0;
}

static bool
resolutions(struct walk *walk)
{
    struct atime_history *history = walk->history;
    int64_t *values = calloc(history->point_count + 1, sizeof(*values));
    unsigned method;
    size_t i;

    for (method = 0; values != NULL && method < METHOD_COUNT; method++) {
        struct atime_group *group = &history->groups[method];
        size_t n = 0, unique = 0;

        for (i = 0; i < history->point_count; i++)
            if (history->points[i].mover > ATIME_STAYED &&
                group_of(walk, history->points[i].cell) == group)
                values[n++] = history->points[i].atime_ns;
        if (n > 1)
            qsort(values, n, sizeof(*values), by_value);
        for (i = 0; i < n; i++)
            if (i == 0 || values[i] != values[unique - 1])
                values[unique++] = values[i];
        group->resolution_ns = resolution_of(values, unique);
        group->step_ns = step_of(values, unique);
    }
    free(values);
    return values != NULL;
}

/* --- the whole --------------------------------------------------------- */

static int
by_reply_time(const void *left, const void *right)
{
    const struct window_rpc *a = *(const struct window_rpc *const *)left;
    const struct window_rpc *b = *(const struct window_rpc *const *)right;

    if (a->reply_ns != b->reply_ns)
        return a->reply_ns < b->reply_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void
take(struct walk *walk, const struct window_rpc *rpc)
{
    if (in_own_cell(walk, rpc)) {
        if (is_named(rpc, "SETATTR"))
            take_setattr(walk, rpc);
        else if (is_named(rpc, "ACCESS"))
            take_access(walk, rpc);
        else if (is_named(rpc, "READ") && rpc->on_program)
            take_read(walk, rpc);
    }
    if (observes(walk, rpc))
        observe(walk, rpc);
    else if (in_own_cell(walk, rpc) && may_move(rpc))
        walk->mover = rpc;
}

static bool
client_points(struct walk *walk)
{
    struct atime_history *history = walk->history;
    size_t i;

    history->client =
        calloc(2 * walk->run->cell_count + 1, sizeof(*history->client));
    for (i = 0; history->client != NULL && i < walk->run->cell_count; i++) {
        const struct run_cell *cell = &walk->run->cells[i];
        struct atime_group *group = group_of(walk, (uint32_t)i);
        const struct cell_traffic *window = &walk->traffic->cells[i];

        if (cell->filesystem != walk->filesystem)
            continue;
        if (group != NULL)
            group->execs += cell->exec_count;
        if (cell->client_before.atime_ns != RUN_UNKNOWN_NS &&
            window->open_ns != RUN_UNKNOWN_NS)
            history->client[history->client_count++] = (struct atime_stat){
                window->open_ns, cell->client_before.atime_ns, (uint32_t)i};
        if (cell->client_after.atime_ns != RUN_UNKNOWN_NS &&
            window->close_ns != RUN_UNKNOWN_NS)
            history->client[history->client_count++] = (struct atime_stat){
                window->close_ns, cell->client_after.atime_ns, (uint32_t)i};
    }
    return history->client != NULL;
}

int
atime_history_compute(const struct run *run, const struct run_traffic *traffic,
                      size_t filesystem, struct atime_history *history)
{
    struct walk *walk = calloc(1, sizeof(*walk));
    const struct window_rpc **order =
        calloc(traffic->rpc_count + 1, sizeof(*order));
    size_t i, count = 0;
    bool well;

    memset(history, 0, sizeof *history);
    history->points =
        calloc(traffic->rpc_count + 1, sizeof(*history->points));
    well = walk != NULL && order != NULL && history->points != NULL;
    if (well) {
        walk->run = run;
        walk->traffic = traffic;
        walk->filesystem = filesystem;
        walk->history = history;
        walk->cache_ns = cache_time_ns(&run->filesystems[filesystem]);
        walk->set.cell = walk->moved.cell = walk->reread.cell = NO_CELL;
        for (i = 0; i < traffic->rpc_count; i++)
            if (traffic->rpcs[i].answered &&
                (observes(walk, &traffic->rpcs[i]) ||
                 in_own_cell(walk, &traffic->rpcs[i])))
                order[count++] = &traffic->rpcs[i];
        if (count > 1)
            qsort(order, count, sizeof(*order), by_reply_time);
        for (i = 0; i < count; i++)
            take(walk, order[i]);
        well = client_points(walk) && resolutions(walk);
    }
    free(order);
    free(walk);
    return well ? 0 : -1;
}

void
atime_history_free(struct atime_history *history)
{
    free(history->points);
    free(history->client);
    memset(history, 0, sizeof *history);
}

enum atime_verdict
atime_verdict(const struct atime_group *group, const struct atime_ends *ends)
{
    /* Accepted, but whether it moved was not seen: the server's word counts,
     * and it may be that it accepts and does nothing. */
    if (group->by_setattr > 0 ||
        (group->set_execs > 0 &&
         (ends->server_known > 0 ? ends->server_moved > 0
                                 : group->observations == 0)))
        return ATIME_BY_SETATTR;
    if (group->by_read > 0)
        return ATIME_BY_READ;
    if (group->by_other > 0 || ends->server_moved > 0)
        return ATIME_BY_OTHER;
    if (group->refused > 0 || ends->method_failed)
        return ATIME_REFUSED;
    if (ends->server_known > 0 && ends->client_moved > 0)
        return ATIME_CACHE_ONLY;
    if (ends->server_known > 0 || group->observations > 0)
        return ATIME_NOT_MOVED;
    return ATIME_UNKNOWN;
}

const char *
atime_verdict_name(enum atime_verdict verdict)
{
    static const char *const names[] = {
        [ATIME_UNKNOWN] = "unknown",
        [ATIME_BY_SETATTR] = "moved by SETATTR",
        [ATIME_BY_READ] = "moved by the server at READ",
        [ATIME_BY_OTHER] = "moved, by no RPC seen",
        [ATIME_NOT_MOVED] = "not moved",
        [ATIME_REFUSED] = "refused",
        [ATIME_CACHE_ONLY] = "only in the client's cache",
    };
    _Static_assert(sizeof names / sizeof names[0] == ATIME_CACHE_ONLY + 1,
                   "a name per verdict");

    return names[verdict];
}
