/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The exec loop, in a process of its own.
 *
 * Legal order: launcher_start() once, early, while this process is small;
 * then for each cell launcher_prepare(), launcher_run(), launcher_finish();
 * at last launcher_end(). Between prepare and run nothing happens in the
 * launcher, so that clocks, counters and markers can be taken in between.
 *
 * Whatever touches the mount during a run happens in the launcher: when the
 * server does not answer, the caller still hears a request to stop, and the
 * launcher can be killed.
 */
#ifndef NAT_CLIENT_EXEC_LOOP_H
#define NAT_CLIENT_EXEC_LOOP_H

#include "analysis/run_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spawn_kind { SPAWN_VFORK, SPAWN_FORK, SPAWN_POSIX_SPAWN, SPAWN_COUNT };

const char *spawn_kind_name(enum spawn_kind kind);
/* SPAWN_COUNT when there is no such name. */
enum spawn_kind spawn_kind_by_name(const char *name);

struct launcher;

struct launch_order {
    enum run_method method;
    enum spawn_kind spawn;
    size_t execs;
    int64_t interval_ns;     /* pause after each exec; 0 none */
    const char *program;     /* absolute path */
    char *const *arguments;  /* behind argv[0], NULL at the end; or NULL */
    bool empty_environment;  /* else the launcher's own */
};

/* Differences over the loop alone. */
struct launch_result {
    size_t exec_count;       /* records that are complete */
    bool interrupted;        /* stopped before the order was done */
    int64_t user_ns, system_ns; /* getrusage: children and the launcher */
    uint64_t minor_faults, major_faults;
};

/*
 * Forks the launcher.
 * @param max_execs the largest order there will be
 * @param as_user   name or number of the user who execs, or NULL
 * @return 0, or -1 with one line in error.
 */
int launcher_start(struct launcher **launcher, size_t max_execs,
                   const char *as_user, char *error, size_t error_size);

/* Hands over the order and opens what the method keeps open. */
int launcher_prepare(struct launcher *launcher,
                     const struct launch_order *order, char *error,
                     size_t error_size);

/*
 * Runs the order and waits for its end. When asked to stop (client/stop.h)
 * the exec at hand is still finished; if it does not end, it is terminated
 * and after that killed.
 * @return 0, or -1 with one line in error: the launcher is gone.
 */
int launcher_run(struct launcher *launcher, struct launch_result *result,
                 char *error, size_t error_size);

/* stat(2) of the program by the user who execs: what the client's caches say.
 * Unknown where it fails. After launcher_prepare(). */
int launcher_stat(struct launcher *launcher, struct run_attr *attr,
                  char *error, size_t error_size);

/* Closes what prepare opened. */
int launcher_finish(struct launcher *launcher, char *error,
                    size_t error_size);

/* The records of the last run, launch_result.exec_count of them. */
const struct run_exec *launcher_records(const struct launcher *launcher);

/* Ends and reaps the launcher; NULL is fine. */
void launcher_end(struct launcher *launcher);

#endif
