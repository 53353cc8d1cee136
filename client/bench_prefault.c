/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing a file out of another one that is mapped, with and without touching
 * the mapping's pages before.
 *
 * Both start alike: the source is in the page cache and the mapping is new,
 * so that none of its pages is in the page table. Then either write(2) meets
 * every page fault, or a loop that reads one byte of each page does. The
 * touching is part of the time. NFS writes at close at the latest, so that is
 * part of it too.
 */
#include "client/bench.h"

#include "client/bench_worker.h"
#include "client/plan.h"
#include "client/progress.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK 65536

static const char *const variants[] = {"untouched", "touched"};

enum part { PART_TOUCH, PART_WRITE, PART_CLOSE, PART_COUNT };
static const char *const part_names[] = {
    [PART_TOUCH] = "touch", [PART_WRITE] = "write", [PART_CLOSE] = "close"};
_Static_assert(sizeof(part_names) / sizeof(part_names[0]) == PART_COUNT,
               "each part has a name");

struct prefault_work {
    char source[4096], target[4096];
    uint64_t bytes;
    bool touch, done;
    int64_t part_ns[PART_COUNT];
};

/* --- in the worker -------------------------------------------------------- */

static int
failed(const char *path, const char *what, char *error, size_t error_size)
{
    return set_error(error, error_size, "%s: %s: %s%s", path, what,
                     strerror(errno),
                     errno == ENOSPC || errno == EDQUOT
                         ? " (--size makes the file smaller)"
                         : "");
}

static int
write_all(int fd, const char *bytes, uint64_t length)
{
    while (length > 0) {
        ssize_t wrote = write(fd, bytes, length);

        if (wrote < 0 && errno != EINTR)
            return -1;
        if (wrote > 0) {
            bytes += wrote;
            length -= (uint64_t)wrote;
        }
    }
    return 0;
}

/* All of it once, by way of a buffer: into the page cache, not the map. */
static int
bring_into_cache(int fd)
{
    char *chunk = need_memory(CHUNK, 1);
    ssize_t got;

    while ((got = read(fd, chunk, CHUNK)) > 0)
        continue;
    free(chunk);
    return got < 0 ? -1 : 0;
}

/* Bytes that differ from page to page, so that no file system finds holes or
 * twins. */
static int
make_source(void *shared, const atomic_int *stop, char *error,
            size_t error_size)
{
    struct prefault_work *work = shared;
    char *chunk = need_memory(CHUNK, 1);
    int fd = open(work->source, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                  0600);
    uint64_t state = 1, left = work->bytes;
    int result = fd < 0 ? -1 : 0;

    while (result == 0 && left > 0 && atomic_load(stop) == 0) {
        const size_t part = left < CHUNK ? (size_t)left : CHUNK;

        for (size_t i = 0; i < CHUNK; i++) {
            state = state * UINT64_C(6364136223846793005) + 1;
            chunk[i] = (char)(state >> 56);
        }
        result = write_all(fd, chunk, part);
        left -= part;
    }
    if (result == 0 && fsync(fd) != 0)
        result = -1;
    if (fd >= 0 && close(fd) != 0)
        result = -1;
    /* An NFS client may read again what it wrote, once: here, then. */
    if (result == 0) {
        fd = open(work->source, O_RDONLY | O_CLOEXEC);
        result = fd < 0 ? -1 : bring_into_cache(fd);
        if (fd >= 0)
            close(fd);
    }
    free(chunk);
    if (result != 0)
        failed(work->source, "cannot be written", error, error_size);
    return result;
}

static void
touch_pages(const volatile char *map, uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    for (uint64_t i = 0; i < bytes; i += page)
        (void)map[i];
    (void)map[bytes - 1]; /* the map need not begin with a page's start */
}

/* @return 0, or -1 and errno. */
static int
timed_copy(struct prefault_work *work, const char *map, int fd)
{
    int64_t start = monotonic_ns(), touched, written;
    int result, saved;

    if (work->touch)
        touch_pages(map, work->bytes);
    touched = monotonic_ns();
    result = write_all(fd, map, work->bytes);
    saved = errno;
    written = monotonic_ns();
    if (close(fd) != 0 && result == 0) {
        saved = errno;
        result = -1;
    }
    work->part_ns[PART_TOUCH] = touched - start;
    work->part_ns[PART_WRITE] = written - touched;
    work->part_ns[PART_CLOSE] = monotonic_ns() - written;
    work->done = result == 0;
    errno = saved;
    return result;
}

static int
prefault_work(void *shared, const atomic_int *stop, char *error,
              size_t error_size)
{
    struct prefault_work *work = shared;
    int source = open(work->source, O_RDONLY | O_CLOEXEC), target;
    char *map;
    int result;

    (void)stop; /* one write: what ends it is a signal */
    if (source < 0 || bring_into_cache(source) != 0)
        return failed(work->source, "cannot be read", error, error_size);
    map = mmap(NULL, work->bytes, PROT_READ, MAP_SHARED, source, 0);
    if (map == MAP_FAILED)
        return failed(work->source, "mmap", error, error_size);
    target = open(work->target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (target < 0)
        return failed(work->target, "cannot be made", error, error_size);
    result = timed_copy(work, map, target);
    if (result != 0)
        failed(work->target, "cannot be written", error, error_size);
    unlink(work->target);
    munmap(map, work->bytes);
    close(source);
    return result;
}

/* --- in the test ---------------------------------------------------------- */

static struct prefault_work *
new_work(struct test *test, size_t filesystem)
{
    struct prefault_work *work = shared_memory(sizeof(*work));
    const char *directory = test->filesystems[filesystem].place.directory;

    if (work == NULL) {
        set_error(test->error, sizeof(test->error), "memory: %s",
                  strerror(errno));
        return NULL;
    }
    work->bytes = bench_settings(test)->bytes;
    snprintf(work->source, sizeof(work->source), "%s/source", directory);
    snprintf(work->target, sizeof(work->target), "%s/target", directory);
    return work;
}

int
prefault_warm_up(struct test *test, size_t filesystem)
{
    struct prefault_work *work = new_work(test, filesystem);
    int status;

    if (work == NULL)
        return -1;
    progress_show("%s: writing the source",
                  test->run.filesystems[filesystem].label);
    status = worker_run(make_source, work, test->error, sizeof(test->error));
    shared_memory_free(work, sizeof(*work));
    return status < 0 ? -1 : 0;
}

int
prefault_measure(struct test *test, struct run_cell *cell)
{
    struct prefault_work *work = new_work(test, cell->filesystem);
    int64_t elapsed = 0;
    int status;

    if (work == NULL)
        return -1;
    work->touch = strcmp(cell->variant, variants[1]) == 0;
    status = worker_run(prefault_work, work, test->error,
                        sizeof(test->error));
    if (status == 1 && !work->done)
        cell->state = CELL_INTERRUPTED;
    if (status >= 0 && work->done) {
        for (int i = 0; i < PART_COUNT; i++)
            elapsed += work->part_ns[i];
        bench_add_time(cell, "elapsed", 1, elapsed);
        for (int i = 0; i < PART_COUNT; i++)
            bench_add_time(cell, part_names[i], 1, work->part_ns[i]);
    }
    shared_memory_free(work, sizeof(*work));
    return status < 0 ? -1 : 0;
}

void
prefault_plan(struct test *test)
{
    test->run.execs = 1;
    test->run.repetitions = bench_settings(test)->runs;
    test->run.bench_bytes = bench_settings(test)->bytes;
    plan_variants(&test->run, variants,
                  sizeof(variants) / sizeof(variants[0]));
}
