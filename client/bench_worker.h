/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measurements in a process of their own: whatever touches a mount may wait
 * for its server for ever, and this process must still hear a request to
 * stop.
 */
#ifndef NAT_CLIENT_BENCH_WORKER_H
#define NAT_CLIENT_BENCH_WORKER_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

/* Memory that a worker shares with us, zeroed; NULL and errno. */
void *shared_memory(size_t bytes);
void shared_memory_free(void *memory, size_t bytes);

/*
 * The work: reads and fills `shared`, looks at stop now and then.
 * @return 0, or -1 with one line in error.
 */
typedef int worker_function(void *shared, const atomic_int *stop, char *error,
                            size_t error_size);

/*
 * Forks, runs the work there and waits for its end.
 * @return 0 done; 1 stopped on request: shared holds what was done; -1 with
 *         one line in error.
 */
int worker_run(worker_function *work, void *shared, char *error,
               size_t error_size);

/* In a new child: its own group, so that Ctrl-C on the terminal reaches the
 * parent alone; default signals; and gone when the parent is. Calls nothing
 * that vfork forbids. */
void worker_become(void);

/* What to do while a child works. Either may be NULL. */
struct worker_events {
    void (*tick)(void *context);    /* each second */
    void (*on_stop)(void *context); /* once, at the request */
    void *context;
};

/*
 * Waits until the child has left; `gone` becomes readable then. A request to
 * stop is answered by on_stop; a child that has not left a few seconds later
 * is terminated, and killed after some more.
 * @return 0 with *status as waitpid(2) gives it, or -1: it does not even end
 *         when killed.
 */
int worker_wait(pid_t pid, int gone, const struct worker_events *events,
                int *status);

#endif
