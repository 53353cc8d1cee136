/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The benches: the program that execs itself, workers, what is read of a
 * process that execs, and what the reports make of the times.
 */
#define _GNU_SOURCE
#include "analysis/bench_figures.h"
#include "analysis/bench_html.h"
#include "analysis/compare.h"
#include "client/bench.h"
#include "client/bench_worker.h"
#include "client/program_place.h"
#include "client/programs/embedded.h"
#include "client/race_check.h"
#include "client/util.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* --- the program ---------------------------------------------------------- */

static void
place_self_exec(struct program_place *place)
{
    const struct embedded_program *program = embedded_program("self_exec");
    char error[256];

    assert_non_null(program);
    assert_int_equal(program_place_make(place, "/tmp", program->bytes,
                                        program->length, error,
                                        sizeof error), 0);
}

static void
remove_place(struct program_place *place)
{
    assert_int_equal(program_place_remove(place), 0);
    program_place_free(place);
}

static int
end_of(const struct self_exec *self)
{
    const struct worker_events none = {0};
    int status = -1;

    assert_int_equal(worker_wait(self->pid, self->gone, &none, &status), 0);
    close(self->gone);
    return status;
}

/* Runs the program with argv[1]. @return its wait status. */
static int
run_with(const char *path, const char *argument)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        execl(path, path, argument, (char *)NULL);
        _exit(99);
    }
    assert_true(waitpid(pid, &status, 0) == pid);
    return status;
}

static void
counts_down_to_zero(void **state)
{
    struct program_place place;
    struct self_exec self;

    (void)state;
    place_self_exec(&place);
    assert_int_equal(self_exec_start(&self, place.path, 0), 0);
    assert_int_equal(end_of(&self), 0);
    /* A hundred passes over a digit's end: 100, 099 ... 000. */
    assert_int_equal(self_exec_start(&self, place.path, 100), 0);
    assert_int_equal(end_of(&self), 0);
    assert_int_equal(WEXITSTATUS(run_with(place.path, "10x")), 1);
    assert_int_equal(WEXITSTATUS(run_with(place.path, "")), 1);
    assert_int_equal(WEXITSTATUS(run_with(place.path, NULL)), 1);
    remove_place(&place);
}

/* What it has still to do falls while it runs, and it does that many: taken
 * away in the middle, the next exec fails with ENOENT, which is 128 + 2. */
static void
tells_how_far_it_is(void **state)
{
    const uint64_t most = UINT64_C(9999999999999999999);
    struct program_place place;
    struct self_exec self;
    uint64_t first = 0, later = 0;
    int status;

    (void)state;
    place_self_exec(&place);
    assert_int_equal(self_exec_start(&self, place.path, most), 0);
    while (self_exec_left(self.pid, &first) != 0)
        sleep_ns(1000000);
    do
        sleep_ns(1000000);
    while (self_exec_left(self.pid, &later) != 0 || later == first);
    assert_true(first <= most);
    assert_true(later < first);
    assert_int_equal(unlink(place.path), 0);
    status = end_of(&self);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + ENOENT);
    remove_place(&place);
}

static void
says_why_it_cannot_start(void **state)
{
    struct self_exec self;

    (void)state;
    assert_int_equal(self_exec_start(&self, "/nonexistent/program", 1), -1);
    assert_int_equal(errno, ENOENT);
}

/* --- workers -------------------------------------------------------------- */

static int
add_up(void *shared, const atomic_int *stop, char *error, size_t error_size)
{
    int *numbers = shared;

    (void)stop;
    if (numbers[0] < 0)
        return set_error(error, error_size, "%d is below zero", numbers[0]);
    if (numbers[0] == 9)
        raise(SIGKILL);
    numbers[2] = numbers[0] + numbers[1];
    return 0;
}

static void
workers_answer(void **state)
{
    int *numbers = shared_memory(4096);
    char error[256] = "";

    (void)state;
    assert_non_null(numbers);
    numbers[0] = 2;
    numbers[1] = 3;
    assert_int_equal(worker_run(add_up, numbers, error, sizeof error), 0);
    assert_int_equal(numbers[2], 5);
    numbers[0] = -1;
    assert_int_equal(worker_run(add_up, numbers, error, sizeof error), -1);
    assert_string_equal(error, "-1 is below zero");
    numbers[0] = 9;
    assert_int_equal(worker_run(add_up, numbers, error, sizeof error), -1);
    assert_non_null(strstr(error, "signal 9"));
    shared_memory_free(numbers, 4096);
}

/* --- what is read of a process -------------------------------------------- */

typedef enum race_finding check(char *text, pid_t pid);

static enum race_finding
checked(check *function, const char *text)
{
    char *copy = copy_text(text);
    enum race_finding finding = function(copy, 42);

    free(copy);
    return finding;
}

/* Forms from proc(5). */
static void
finds_broken_files(void **state)
{
    static const struct {
        check *function;
        const char *text;
        enum race_finding want;
    } cases[] = {
        {race_check_maps, "", RACE_EMPTY},
        {race_check_maps,
         "1000-2000 r-xp 00000000 08:01 5 /p\n2000-3000 rw-p 0 00:00 0\n",
         RACE_WHOLE},
        {race_check_maps,
         "1000-2000 r-xp 0 08:01 5 /p\n1fff-3000 rw-p 0 00:00 0\n",
         RACE_DISORDER},
        {race_check_maps, "2000-2000 r-xp 0 08:01 5 /p\n", RACE_DISORDER},
        {race_check_maps, "1000-2000 r-x", RACE_MALFORMED},
        {race_check_maps, "1000-20", RACE_MALFORMED},
        {race_check_status, "", RACE_EMPTY},
        {race_check_status,
         "Name:\tp\nPid:\t42\nVmSize:\t 8 kB\nVmRSS:\t 4 kB\nThreads:\t1\n",
         RACE_WHOLE},
        {race_check_status,
         "Name:\tp\nPid:\t43\nVmSize:\t 8 kB\nVmRSS:\t 4 kB\nThreads:\t1\n",
         RACE_OTHER_PROCESS},
        {race_check_status,
         "Name:\tp\nPid:\t42\nVmSize:\t 8 kB\nVmRSS:\t 9 kB\nThreads:\t1\n",
         RACE_RESIDENT_ABOVE_SIZE},
        {race_check_status, "Name:\tp\nPid:\t42\nThreads:\t1\n",
         RACE_NO_MEMORY},
        {race_check_status, "Name:\tp\nPid:\t42\nVmSize:\t 8 kB\n",
         RACE_MALFORMED},
        {race_check_status,
         "Name:\tp\nPid:\t42\nVmSize:\t 8 kB\nThreads:\t1\n", RACE_MALFORMED},
        {race_check_statm, "", RACE_EMPTY},
        {race_check_statm, "4 1 1 1 0 1 0\n", RACE_WHOLE},
        {race_check_statm, "0 0 0 0 0 0 0\n", RACE_NO_MEMORY},
        {race_check_statm, "4 5 1 1 0 1 0\n", RACE_RESIDENT_ABOVE_SIZE},
        {race_check_statm, "4 1 1 1 0 1\n", RACE_MALFORMED},
        {race_check_statm, "4 1 1 1 0 1 0 9\n", RACE_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (checked(cases[i].function, cases[i].text) != cases[i].want)
            fail_msg("case %zu: %s, not %s", i,
                     race_finding_name(checked(cases[i].function,
                                               cases[i].text)),
                     race_finding_name(cases[i].want));
}

/* --- figures -------------------------------------------------------------- */

/* A run of a bench on one local file system; ns[variant][repetition]. */
static __attribute__((noinline)) char *
made_run(const char *bench, const char *const *variants, size_t count,
         const int64_t *ns, unsigned runs, uint64_t operations)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    fprintf(out, "{\"schema\":\"nfs-atime-test.run/1\",\"state\":\"complete\","
            "\"id\":\"x\",\"bench\":\"%s\",\"program\":\"p\",\"execs\":1000000,"
            "\"repetitions\":%u,\"filesystems\":[{\"label\":\"local\",\"kind\":"
            "\"local\"}],\"captures\":[],\"warnings\":[],\"cells\":[",
            bench, runs);
    for (unsigned r = 0; r < runs; r++)
        for (size_t v = 0; v < count; v++)
            fprintf(out, "%s{\"filesystem\":\"local\",\"method\":\"none\","
                    "\"variant\":\"%s\",\"repetition\":%u,\"state\":\"done\","
                    "\"series\":[{\"name\":\"elapsed\",\"operations\":%llu,"
                    "\"ns\":[%lld]}]}",
                    r + v > 0 ? "," : "", variants[v], r,
                    (unsigned long long)operations,
                    (long long)ns[v * runs + r]);
    fputs("]}", out);
    fclose(out);
    return text;
}

static void
read_made(char *text, struct run *run, struct run_traffic *traffic)
{
    char error[512];

    memset(traffic, 0, sizeof *traffic);
    if (run_parse(text, strlen(text), "made", run, error, sizeof error) != 0)
        fail_msg("%s", error);
    free(text);
    assert_int_equal(run_traffic_read(run, NULL, 0, traffic, error,
                                      sizeof error), 0);
}

/* Not inlined: the compiler takes the stream's pointer for the buffer. */
static __attribute__((noinline)) char *
written_by(void (*report)(const struct bench_figures *, FILE *),
           const struct bench_figures *figures)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    report(figures, out);
    fclose(out);
    return text;
}

static char *
text_of(const struct bench_figures *figures)
{
    return written_by(bench_text, figures);
}

static void
page_has(const struct bench_figures *figures, const char *wanted)
{
    char *page = written_by(bench_html, figures);

    if (strstr(page, wanted) == NULL)
        fail_msg("not in the page: %s", wanted);
    free(page);
}

/* 2003: three runs of a million, 529 s each on the mean; here 528, 529, 530:
 * deviation 1, so that the half width is 4.3027 / sqrt(3) = 2.484 s (t of 2
 * degrees of freedom, from a printed table). */
static void
means_of_the_seed(void **state)
{
    static const char *const variants[] = {"self-exec"};
    static const int64_t ns[] = {528000000000, 529000000000, 530000000000};
    struct run_traffic traffic;
    struct bench_figures figures;
    struct run run;
    char *text;

    (void)state;
    read_made(made_run("self-exec", variants, 1, ns, 3, 1000000), &run,
              &traffic);
    assert_int_equal(bench_figures_compute(&run, &traffic, 95.0, &figures),
                     0);
    assert_int_equal(figures.group_count, 1);
    assert_int_equal(figures.groups[0].operations, 3000000);
    assert_float_equal(figures.groups[0].mean.value, 529000.0, 1e-6);
    assert_float_equal(figures.groups[0].mean.half_width, 2484.1, 0.1);
    text = text_of(&figures);
    assert_non_null(strstr(text, "529.00 us   +-2.484 s, +-2.48 us"));
    free(text);
    page_has(&figures, ": 529.00 µs per exec ± 2.48 (3 runs).</li>");
    page_has(&figures, "<td>3</td><td>529.00</td><td>± 2.48</td>"
                       "<td>1.00</td><td>528.00</td><td>529.00</td>"
                       "<td>530.00</td></tr>");
    bench_figures_free(&figures);
    run_traffic_free(&traffic);
    run_free(&run);
}

/* 2015: with and without touching, seconds of three runs, and ministat's
 * words of them. */
static void
prefault_of_the_seed(void **state)
{
    static const char *const variants[] = {"untouched", "touched"};
    static const int64_t ns[] = {1307000000, 1321000000, 1315000000,
                                 20000000,   23000000,   22000000};
    struct run_traffic traffic;
    struct bench_figures figures;
    struct run run;
    char *text;

    (void)state;
    read_made(made_run("prefault", variants, 2, ns, 3, 1), &run, &traffic);
    assert_int_equal(bench_figures_compute(&run, &traffic, 95.0, &figures),
                     0);
    text = text_of(&figures);
    assert_non_null(strstr(text, "x   3         1.307         1.321         "
                                 "1.315     1.3143333  0.0070237692"));
    assert_non_null(strstr(text, "-1.29267 +/- 0.0115"));
    assert_non_null(strstr(text, "-98.3515% +/- "));
    free(text);
    /* 1.314333 - 0.021667 s */
    page_has(&figures, ": -1.2927 s ± 0.0");
    page_has(&figures, "<td class=\"t\">touched</td><td>3</td>"
                       "<td>0.021667</td>");
    bench_figures_free(&figures);
    run_traffic_free(&traffic);
    run_free(&run);
}

/* The row of a size holds the ways in the order of the heading. */
static void
header_in_the_layout_of_the_seed(void **state)
{
    static const char *const variants[] = {"malloc+read/4/warm", "read/4/warm",
                                           "mmap/4/warm", "pread/4/warm"};
    static const int64_t ns[] = {125000, 22000, 39000, 21000};
    struct run_traffic traffic;
    struct bench_figures figures;
    struct run run;
    char *text, *row;
    int got[4] = {0};

    (void)state;
    read_made(made_run("header", variants, 4, ns, 1, 1000), &run, &traffic);
    assert_int_equal(bench_figures_compute(&run, &traffic, 95.0, &figures),
                     0);
    text = text_of(&figures);
    row = strstr(text, "      4: ");
    if (row == NULL)
        fail_msg("no row of 4 bytes in:\n%s", text);
    else
        assert_int_equal(sscanf(row, " 4: %d %d %d %d (ns)", &got[0], &got[1],
                                &got[2], &got[3]), 4);
    assert_int_equal(got[0], 39);
    assert_int_equal(got[1], 22);
    assert_int_equal(got[2], 21);
    assert_int_equal(got[3], 125);
    free(text);
    page_has(&figures, "<th scope=\"row\">4</th><td>39</td><td>22</td>"
                       "<td>21</td><td>125</td></tr>");
    page_has(&figures, ", from the page cache: 4 bytes are quickest by pread, "
                       "21 ns, slowest by malloc+read, 125 ns.</li>");
    bench_figures_free(&figures);
    run_traffic_free(&traffic);
    run_free(&run);
}

/* Written and read again: the same; and what no bench has is refused. */
static void
run_file_keeps_series(void **state)
{
    static const char *const variants[] = {"self-exec"};
    static const int64_t ns[] = {5, 7};
    char directory[] = "/tmp/test_bench-XXXXXX", path[64], error[512];
    struct run_traffic traffic;
    struct run run, again;
    char *broken, *place;

    (void)state;
    read_made(made_run("self-exec", variants, 1, ns, 2, 3), &run, &traffic);
    run_counts_add(&run.cells[1].observations, "maps: reads", 12);
    assert_non_null(mkdtemp(directory));
    assert_int_equal(run_write(&run, directory, error, sizeof error), 0);
    assert_int_equal(run_read(directory, &again, error, sizeof error), 0);
    assert_string_equal(again.bench, "self-exec");
    assert_string_equal(again.cells[1].variant, "self-exec");
    assert_int_equal(again.cells[1].series_count, 1);
    assert_int_equal(again.cells[1].series[0].operations, 3);
    assert_int_equal(again.cells[1].series[0].ns[0], 7);
    assert_int_equal(
        run_counts_get(&again.cells[1].observations, "maps: reads"), 12);
    run_free(&again);
    run_free(&run);
    run_traffic_free(&traffic);
    snprintf(path, sizeof path, "%s/run.json", directory);
    unlink(path);
    rmdir(directory);

    broken = made_run("self-exec", variants, 1, ns, 2, 0);
    assert_int_equal(run_parse(broken, strlen(broken), "made", &run, error,
                               sizeof error), -1);
    assert_non_null(strstr(error, "cells[0].series[0].operations"));
    free(broken);
    broken = made_run("self-exec", variants, 1, ns, 2, 3);
    place = strstr(broken, "variant");
    memcpy(place, "VARIANT", 7);
    assert_int_equal(run_parse(broken, strlen(broken), "made", &run, error,
                               sizeof error), -1);
    assert_non_null(strstr(error, "cells[0].variant: missing"));
    free(broken);
}

/* compare sees a bench as it sees the test: 2 % more is proven, the same is
 * not. */
static void
compares_benches(void **state)
{
    static const char *const variants[] = {"self-exec"};
    static const int64_t first[] = {1000000, 1001000, 1002000},
                         second[] = {1020000, 1021000, 1022000};
    const int64_t *const times[] = {first, second};
    struct compare_set sets[2];
    struct comparison comparison;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct run_traffic traffic;
        struct run run;

        read_made(made_run("self-exec", variants, 1, times[i], 3, 1000), &run,
                  &traffic);
        assert_int_equal(
            compare_set_from_run(&run, "x", NULL, NULL, &sets[i]), 0);
        run_traffic_free(&traffic);
        run_free(&run);
    }
    assert_int_equal(compare_sets(&sets[0], &sets[1], 95.0, &comparison), 0);
    assert_int_equal(comparison.row_count, 1);
    assert_int_equal(comparison.proven, 1);
    assert_float_equal(comparison.rows[0].sample[0].summary.mean, 1.001,
                       1e-9);
    comparison_free(&comparison);
    assert_int_equal(compare_sets(&sets[0], &sets[0], 95.0, &comparison), 0);
    assert_int_equal(comparison.proven, 0);
    comparison_free(&comparison);
    compare_set_free(&sets[0]);
    compare_set_free(&sets[1]);
}

/* P(at most 0 of 6 below the median) = 1/64 = 1.6 % on each side: the ends of
 * 6 values enclose the median with 96.9 %; of 5 with 93.75 %, too little. Of
 * 11, P(at most 1) = 12/2048 = 0.6 %, P(at most 2) = 67/2048 = 3.3 %: the
 * second and the last but one. */
static void
interval_of_the_median(void **state)
{
    static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct stat_interval interval = stat_median_interval(values, 5, 95.0);

    (void)state;
    assert_false(interval.known);
    interval = stat_median_interval(values, 6, 95.0);
    assert_true(interval.known);
    assert_float_equal(interval.low, 1.0, 0.0);
    assert_float_equal(interval.high, 6.0, 0.0);
    interval = stat_median_interval(values, 11, 95.0);
    assert_float_equal(interval.low, 2.0, 0.0);
    assert_float_equal(interval.high, 10.0, 0.0);
    assert_false(stat_median_interval(values, 0, 95.0).known);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_down_to_zero),
        cmocka_unit_test(tells_how_far_it_is),
        cmocka_unit_test(says_why_it_cannot_start),
        cmocka_unit_test(workers_answer),
        cmocka_unit_test(finds_broken_files),
        cmocka_unit_test(means_of_the_seed),
        cmocka_unit_test(prefault_of_the_seed),
        cmocka_unit_test(header_in_the_layout_of_the_seed),
        cmocka_unit_test(run_file_keeps_series),
        cmocka_unit_test(compares_benches),
        cmocka_unit_test(interval_of_the_median),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
