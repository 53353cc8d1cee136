/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ways to look at the first bytes of a program, as an exec has to.
 *
 * Warm: many accesses under one pair of clock readings, the file in the page
 * cache. Cold: before each access the file's pages are dropped, and mincore
 * is asked whether they are gone; the clock is read around each access alone.
 */
#define _GNU_SOURCE /* mincore */
#include "client/bench.h"

#include "client/bench_worker.h"
#include "client/plan.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Accesses between two looks at the request to stop. */
#define STOP_EVERY 4096

/* The buffer of malloc+read is a page at least, as the size of a header is
 * not known before it is read. */
#define PAGE 4096

struct header_work {
    char path[4096];
    size_t method; /* index into methods */
    size_t bytes;
    bool cold;
    uint64_t wanted, done, still_cached;
    int64_t warm_ns;
    int64_t cold_ns[]; /* [wanted] when cold */
};

static size_t
rounded(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static int
by_mmap(int fd, size_t bytes, char *buffer)
{
    const volatile char *p = mmap(NULL, rounded(bytes), PROT_READ, MAP_SHARED,
                                  fd, 0);

    (void)buffer;
    if (p == MAP_FAILED)
        return -1;
    for (size_t i = 0; i < bytes; i += sizeof(int))
        (void)*(const volatile int *)(const volatile void *)(p + i);
    return munmap((void *)(uintptr_t)p, rounded(bytes));
}

static int
by_read(int fd, size_t bytes, char *buffer)
{
    ssize_t got = read(fd, buffer, bytes);

    if (got >= 0 && got < (ssize_t)bytes)
        errno = ENODATA;
    return got == (ssize_t)bytes && lseek(fd, 0, SEEK_SET) == 0 ? 0 : -1;
}

static int
by_pread(int fd, size_t bytes, char *buffer)
{
    ssize_t got = pread(fd, buffer, bytes, 0);

    if (got >= 0 && got < (ssize_t)bytes)
        errno = ENODATA;
    return got == (ssize_t)bytes ? 0 : -1;
}

static int
by_malloc_and_read(int fd, size_t bytes, char *buffer)
{
    char *volatile own = malloc(rounded(bytes)); /* not to be left out */
    int result = -1;

    (void)buffer;
    if (own != NULL)
        result = by_read(fd, bytes, own);
    free(own);
    return result;
}

static const struct {
    const char *name;
    int (*access)(int fd, size_t bytes, char *buffer);
} methods[] = {
    {"mmap", by_mmap},
    {"read", by_read},
    {"pread", by_pread},
    {"malloc+read", by_malloc_and_read},
};
#define METHODS (sizeof(methods) / sizeof(methods[0]))

/* --- in the worker -------------------------------------------------------- */

static int
failed(const struct header_work *work, char *error, size_t error_size)
{
    return set_error(error, error_size, "%s: %s of %zu bytes: %s", work->path,
                     methods[work->method].name, work->bytes,
                     errno == ENODATA ? "the file is shorter"
                                      : strerror(errno));
}

static int
warm_accesses(struct header_work *work, int fd, char *buffer,
              const atomic_int *stop)
{
    int64_t start;

    if (by_pread(fd, work->bytes, buffer) != 0 ||
        methods[work->method].access(fd, work->bytes, buffer) != 0)
        return -1;
    start = monotonic_ns();
    for (uint64_t i = 0; i < work->wanted; i++) {
        if (methods[work->method].access(fd, work->bytes, buffer) != 0)
            return -1;
        if (i % STOP_EVERY == 0 && atomic_load(stop) != 0)
            break;
        work->done++;
    }
    work->warm_ns = monotonic_ns() - start;
    return 0;
}

/* Is a page of the header still in the cache? */
static bool
is_cached(int fd, size_t bytes)
{
    const size_t length = rounded(bytes);
    unsigned char pages[BENCH_MOST_HEADER / PAGE + 1];
    void *p = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
    bool any = false;

    if (p == MAP_FAILED)
        return false;
    if (mincore(p, length, pages) == 0)
        for (size_t i = 0; i < length / PAGE; i++)
            any = any || (pages[i] & 1) != 0;
    munmap(p, length);
    return any;
}

static int
cold_accesses(struct header_work *work, int fd, char *buffer,
              const atomic_int *stop)
{
    for (uint64_t i = 0; i < work->wanted && atomic_load(stop) == 0; i++) {
        int64_t start;

        errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        if (errno != 0)
            return -1;
        work->still_cached += is_cached(fd, work->bytes);
        start = monotonic_ns();
        if (methods[work->method].access(fd, work->bytes, buffer) != 0)
            return -1;
        work->cold_ns[work->done++] = monotonic_ns() - start;
    }
    return 0;
}

static int
header_work(void *shared, const atomic_int *stop, char *error,
            size_t error_size)
{
    struct header_work *work = shared;
    int fd = open(work->path, O_RDONLY | O_CLOEXEC);
    char *buffer = need_memory(rounded(work->bytes), 1);
    int result;

    if (fd < 0)
        result = -1;
    else
        result = work->cold ? cold_accesses(work, fd, buffer, stop)
                            : warm_accesses(work, fd, buffer, stop);
    if (result != 0)
        failed(work, error, error_size);
    if (fd >= 0)
        close(fd);
    free(buffer);
    return result;
}

/* --- in the test ---------------------------------------------------------- */

static void
keep_times(struct run_cell *cell, const struct header_work *work)
{
    struct run_series *series;

    if (work->done == 0)
        return;
    if (!work->cold) {
        bench_add_time(cell, "elapsed", work->done, work->warm_ns);
        return;
    }
    bench_add_time(cell, "elapsed", 1, work->cold_ns[0]);
    series = &cell->series[cell->series_count - 1];
    for (uint64_t i = 1; i < work->done; i++)
        run_series_add(series, work->cold_ns[i]);
    run_counts_add(&cell->observations, "cold accesses", work->done);
    run_counts_add(&cell->observations, "of these still cached",
                   work->still_cached);
}

/* "mmap/4/warm", as header_plan() wrote it. */
static void
read_variant(const char *variant, struct header_work *work)
{
    const char *slash = strchr(variant, '/');

    for (size_t i = 0; i < METHODS; i++)
        if (strlen(methods[i].name) == (size_t)(slash - variant) &&
            strncmp(methods[i].name, variant, (size_t)(slash - variant)) == 0)
            work->method = i;
    work->bytes = strtoul(slash + 1, NULL, 10);
    work->cold = strcmp(strrchr(variant, '/'), "/cold") == 0;
}

int
header_measure(struct test *test, struct run_cell *cell)
{
    const struct bench_settings *settings = bench_settings(test);
    const size_t bytes =
        sizeof(struct header_work) + settings->cold * sizeof(int64_t);
    struct header_work *work = shared_memory(bytes);
    int status;

    if (work == NULL)
        return set_error(test->error, sizeof(test->error), "memory: %s",
                         strerror(errno));
    read_variant(cell->variant, work);
    snprintf(work->path, sizeof(work->path), "%s",
             test->run.filesystems[cell->filesystem].program_path);
    work->wanted = work->cold ? settings->cold : settings->count;
    status = worker_run(header_work, work, test->error, sizeof(test->error));
    if (status == 1)
        cell->state = CELL_INTERRUPTED;
    if (status >= 0)
        keep_times(cell, work);
    shared_memory_free(work, bytes);
    return status < 0 ? -1 : 0;
}

int
header_warm_up(struct test *test, size_t filesystem)
{
    const struct bench_settings *settings = bench_settings(test);

    (void)filesystem;
    for (size_t i = 0; i < settings->size_count; i++)
        if (settings->sizes[i] > test->run.program_bytes)
            return set_error(test->error, sizeof(test->error),
                             "--sizes: %u is more than the program has (%llu "
                             "bytes)", settings->sizes[i],
                             (unsigned long long)test->run.program_bytes);
    return 0;
}

void
header_plan(struct test *test)
{
    static const char *const states[] = {"warm", "cold"};
    const struct bench_settings *settings = bench_settings(test);
    char *variants[METHODS * BENCH_MOST_SIZES * 2];
    size_t count = 0;

    for (size_t state = 0; state < 2; state++)
        for (size_t size = 0; size < settings->size_count; size++)
            for (size_t method = 0; method < METHODS; method++)
                variants[count++] =
                    format_text("%s/%u/%s", methods[method].name,
                                settings->sizes[size], states[state]);
    test->run.execs = (unsigned)settings->count;
    test->run.repetitions = settings->runs;
    plan_variants(&test->run, (const char *const *)variants, count);
    for (size_t i = 0; i < count; i++)
        free(variants[i]);
}
