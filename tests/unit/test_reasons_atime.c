/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories of the atime and sequences of RPCs written down by hand. */
#include "analysis/figures.h"
#include "tests/unit/synthetic_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE INT64_C(1800000000000000000) /* some time in 2027 */
#define MS INT64_C(1000000)

static struct figures
computed(struct synthetic *s)
{
    struct figures figures;

    synthetic_end(s);
    assert_int_equal(figures_compute(&s->run, &s->traffic, 95.0, &figures),
                     0);
    return figures;
}

static void
done(struct synthetic *s, struct figures *figures)
{
    figures_free(figures);
    synthetic_free(s);
}

static const struct atime_group *
group_atime(const struct figures *figures, enum run_method method,
            enum atime_verdict *verdict)
{
    const struct group_figures *group = figures_group(figures, 0, method);

    assert_non_null(group);
    assert_non_null(group->atime);
    *verdict = group->verdict;
    return group->atime;
}

static bool
has_finding(const struct figures *figures, const char *text)
{
    size_t i;

    for (i = 0; i < figures->finding_count; i++)
        if (strstr(figures->findings[i], text) != NULL)
            return true;
    for (i = 0; i < figures->finding_count; i++)
        print_message("%s\n", figures->findings[i]);
    return false;
}

static struct window_rpc *
setattr_now(struct synthetic *s, int64_t atime, int64_t ctime)
{
    struct window_rpc *rpc = synthetic_wait(s, PROC_SETATTR, 100.0, 0.0);

    rpc->sattr.atime_how = NFS_TIME_SERVER;
    synthetic_attr(rpc, atime, ctime);
    return rpc;
}

/* Ten execs; the server's clock stands at 4 ms ticks, so that only every
 * second SETATTR shows a new value; ctime moves with it. */
static void
setattr_moves_in_ticks(void **state)
{
    struct synthetic s;
    struct figures figures;
    const struct atime_group *atime;
    enum atime_verdict verdict;
    int64_t i;

    (void)state;
    synthetic_begin(&s, 1, 1, 24, 256.0);
    synthetic_cell(&s, METHOD_SETATTR);
    for (i = 0; i < 24; i++) {
        const int64_t now = BASE + 123 + (i / 2) * 4 * MS;

        synthetic_start(&s);
        synthetic_attr(synthetic_wait(&s, PROC_GETATTR, 100.0, 0.0),
                       i == 0 ? BASE : BASE + 123 + ((i - 1) / 2) * 4 * MS,
                       i == 0 ? BASE : BASE + 123 + ((i - 1) / 2) * 4 * MS);
        synthetic_exit(&s);
        setattr_now(&s, now, now);
        synthetic_finish(&s);
    }
    figures = computed(&s);
    atime = group_atime(&figures, METHOD_SETATTR, &verdict);
    assert_int_equal(verdict, ATIME_BY_SETATTR);
    assert_int_equal(atime->execs, 24);
    assert_int_equal(atime->set_execs, 24);
    assert_int_equal(atime->set_server, 24);
    assert_int_equal(atime->moved_execs, 12);
    assert_int_equal(atime->by_setattr, 12);
    assert_int_equal(atime->by_read + atime->by_other, 0);
    assert_int_equal(atime->ctime_known, 12);
    assert_int_equal(atime->with_ctime, 12);
    assert_int_equal(atime->resolution_ns, 1);
    assert_int_equal(atime->step_ns, 4 * MS);
    assert_int_equal(figures.histories[0].point_count, 48);
    assert_int_equal(figures.histories[0].points[0].mover, ATIME_FIRST);
    assert_int_equal(figures.histories[0].points[0].atime_ns, BASE);
    done(&s, &figures);
}

/* An NFSv4 READ says nothing of attributes; the next GETATTR shows the move,
 * and it is the READ's exec that made it. */
static void
read_moves_and_getattr_shows_it(void **state)
{
    struct synthetic s;
    struct figures figures;
    const struct atime_group *atime;
    enum atime_verdict verdict;
    int i;

    (void)state;
    synthetic_begin(&s, 1, 1, 5, 256.0);
    synthetic_cell(&s, METHOD_DIRECT_READ);
    for (i = 0; i < 5; i++) {
        synthetic_start(&s);
        synthetic_attr(synthetic_wait(&s, PROC_GETATTR, 100.0, 0.0),
                       BASE + i * 1000 * MS, BASE);
        synthetic_exit(&s);
        synthetic_wait(&s, PROC_READ, 100.0, 0.0);
        synthetic_finish(&s);
    }
    figures = computed(&s);
    atime = group_atime(&figures, METHOD_DIRECT_READ, &verdict);
    assert_int_equal(verdict, ATIME_BY_READ);
    assert_int_equal(atime->moved_execs, 4); /* the last READ is not seen */
    assert_int_equal(atime->by_read, 4);
    assert_int_equal(atime->with_ctime, 0);
    assert_int_equal(atime->resolution_ns, 1000000000);
    assert_int_equal(figures.histories[0].points[1].exec, 0);
    assert_int_equal(figures.histories[0].points[4].exec, 3);
    assert_int_equal(atime->reread_execs, 0); /* all after the exit */
    done(&s, &figures);
}

static void
somebody_else_moves(void **state)
{
    struct synthetic s;
    struct figures figures;
    const struct atime_group *atime;
    enum atime_verdict verdict;
    int i;

    (void)state;
    synthetic_begin(&s, 1, 1, 3, 256.0);
    synthetic_cell(&s, METHOD_NONE);
    for (i = 0; i < 3; i++) {
        synthetic_start(&s);
        synthetic_attr(synthetic_wait(&s, PROC_GETATTR, 100.0, 0.0),
                       BASE + (i == 2) * 5, BASE);
        synthetic_exit(&s);
        synthetic_finish(&s);
    }
    figures = computed(&s);
    atime = group_atime(&figures, METHOD_NONE, &verdict);
    assert_int_equal(verdict, ATIME_BY_OTHER);
    assert_int_equal(atime->by_other, 1);
    assert_int_equal(atime->by_setattr + atime->by_read, 0);
    assert_int_equal(atime->resolution_ns, 0); /* one value says nothing */
    done(&s, &figures);
}

static void
one_exec(struct synthetic *s, enum run_method method)
{
    synthetic_begin(s, 1, 1, 1, 256.0);
    synthetic_cell(s, method);
    synthetic_start(s);
    synthetic_attr(synthetic_wait(s, PROC_GETATTR, 100.0, 0.0), BASE, BASE);
    synthetic_exit(s);
}

/* RFC 1813 section 2.6: NFS3ERR_PERM is 1. */
static void
refused_by_the_server(void **state)
{
    struct synthetic s;
    struct figures figures;
    const struct atime_group *atime;
    enum atime_verdict verdict;
    struct window_rpc *rpc;

    (void)state;
    one_exec(&s, METHOD_SETATTR);
    rpc = setattr_now(&s, BASE, BASE);
    rpc->status = 1;
    synthetic_finish(&s);
    run_counts_add(&s.cell->method_errors, "EPERM", 1);
    figures = computed(&s);
    atime = group_atime(&figures, METHOD_SETATTR, &verdict);
    assert_int_equal(verdict, ATIME_REFUSED);
    assert_int_equal(atime->refused, 1);
    assert_int_equal(atime->set_execs, 0);
    assert_string_equal(atime->refused_status, "NFS3ERR_PERM");
    done(&s, &figures);
}

static void
ends_of_the_cell_decide(void **state)
{
    static const struct {
        int64_t server_after, client_after;
        bool failed;
        enum atime_verdict want;
    } cases[] = {
        {BASE, BASE, false, ATIME_NOT_MOVED},
        {BASE, BASE + 1, false, ATIME_CACHE_ONLY},
        {BASE + 1, BASE + 1, false, ATIME_BY_OTHER},
        {BASE, BASE, true, ATIME_REFUSED},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct synthetic s;
        struct figures figures;
        enum atime_verdict verdict;

        one_exec(&s, METHOD_READ);
        synthetic_finish(&s);
        s.cell->server_before.atime_ns = s.cell->client_before.atime_ns = BASE;
        s.cell->server_after.atime_ns = cases[i].server_after;
        s.cell->client_after.atime_ns = cases[i].client_after;
        if (cases[i].failed)
            run_counts_add(&s.cell->method_errors, "EROFS", 1);
        figures = computed(&s);
        group_atime(&figures, METHOD_READ, &verdict);
        assert_int_equal(verdict, cases[i].want);
        assert_int_equal(figures.histories[0].client_count, 2);
        done(&s, &figures);
    }
}

/* A time that the client chose, kept, cut off to us, replaced. */
static void
client_chosen_times(void **state)
{
    static const int64_t got[] = {BASE + 123456789, BASE + 123456000,
                                  BASE + 77};
    struct synthetic s;
    struct figures figures;
    const struct atime_group *atime;
    enum atime_verdict verdict;
    size_t i;

    (void)state;
    synthetic_begin(&s, 1, 1, 3, 256.0);
    synthetic_cell(&s, METHOD_SETATTR);
    for (i = 0; i < 3; i++) {
        struct window_rpc *rpc;

        synthetic_start(&s);
        synthetic_exit(&s);
        rpc = setattr_now(&s, got[i], BASE);
        rpc->sattr.atime_how = NFS_TIME_CLIENT;
        rpc->sattr.atime.seconds = BASE / 1000000000;
        rpc->sattr.atime.nanoseconds = 123456789;
        synthetic_finish(&s);
    }
    figures = computed(&s);
    atime = group_atime(&figures, METHOD_SETATTR, &verdict);
    assert_int_equal(atime->set_client, 3);
    assert_int_equal(atime->set_server, 0);
    assert_int_equal(atime->client_exact, 1);
    assert_int_equal(atime->client_truncated, 1);
    assert_int_equal(atime->client_replaced, 1);
    done(&s, &figures);
}

/* Values that are multiples of a unit, and of no larger one. */
static void
resolutions(void **state)
{
    static const int64_t units[] = {1000000000, 1000000, 1000, 100, 1};
    size_t unit, i;

    (void)state;
    for (unit = 0; unit < sizeof units / sizeof units[0]; unit++) {
        struct synthetic s;
        struct figures figures;
        enum atime_verdict verdict;

        synthetic_begin(&s, 1, 1, 9, 256.0);
        synthetic_cell(&s, METHOD_SETATTR);
        for (i = 0; i < 9; i++) {
            synthetic_start(&s);
            synthetic_exit(&s);
            setattr_now(&s, BASE + (int64_t)(i * i) * 7 * units[unit], BASE);
            synthetic_finish(&s);
        }
        figures = computed(&s);
        assert_int_equal(
            group_atime(&figures, METHOD_SETATTR, &verdict)->resolution_ns,
            units[unit]);
        done(&s, &figures);
    }
}

/* ctime moves with each SETATTR, so the next exec READs the program again;
 * in `none` nothing moves and nothing is read. */
static void
pages_dropped_and_read_again(void **state)
{
    struct synthetic s;
    struct figures figures;
    const struct atime_group *atime;
    enum atime_verdict verdict;
    int cell, i;

    (void)state;
    synthetic_begin(&s, 1, 4, 10, 256.0);
    for (cell = 0; cell < 4; cell++) {
        const bool setattr = cell % 2 == 1;
        const int64_t first = BASE + cell * 1000 * MS;

        synthetic_cell(&s, setattr ? METHOD_SETATTR : METHOD_NONE);
        for (i = 0; i < 10; i++) {
            synthetic_start(&s);
            synthetic_work(&s, 100.0, 1.0);
            synthetic_wait(&s, PROC_GETATTR, 100.0, 0.0);
            if (setattr)
                synthetic_wait(&s, PROC_READ, 50.0, 0.0)->read_bytes = 512;
            synthetic_exit(&s);
            if (setattr)
                setattr_now(&s, first + i * MS, first + i * MS);
            synthetic_finish(&s);
        }
    }
    figures = computed(&s);
    atime = group_atime(&figures, METHOD_SETATTR, &verdict);
    assert_int_equal(atime->reread_execs, 20);
    /* All but the first two: the first SETATTR's reply is the first that
     * says a ctime, so that nobody knows whether that one moved it. */
    assert_int_equal(atime->reread_after, 18);
    assert_int_equal(group_atime(&figures, METHOD_NONE, &verdict)->reread_execs,
                     0);
    assert_true(has_finding(
        &figures, "nfs3 setattr sets the atime on the server in 20 of 20 "
                  "execs"));
    assert_true(has_finding(
        &figures, "because the SETATTR moved the file's ctime and the client "
                  "dropped its pages (512 bytes read again per exec)"));
    assert_true(has_finding(
        &figures, "one SETATTR round trip of 100.0 us that the exec waits "
                  "for"));
    done(&s, &figures);
}

/* acregmin is 3 s when the mount does not say: asking again after 1 s is
 * needless, after 4 s it is not, another mask neither, and not after ctime
 * moved. */
static void
redundant_access(void **state)
{
    static const struct {
        double pause_us;
        uint32_t mask;
        bool ctime_moves;
    } asks[] = {
        {0.0, 0x20, false},      {1e6, 0x20, false}, {1e6, 0x01, false},
        {4e6, 0x20, false},      {1e6, 0x20, true},
    };
    struct synthetic s;
    struct figures figures;
    const struct atime_group *atime;
    enum atime_verdict verdict;
    int64_t ctime = BASE;
    size_t i;

    (void)state;
    synthetic_begin(&s, 1, 1, 5, 256.0);
    synthetic_cell(&s, METHOD_NONE);
    for (i = 0; i < 5; i++) {
        struct window_rpc *rpc;

        synthetic_work(&s, asks[i].pause_us, 0.0);
        ctime += asks[i].ctime_moves;
        synthetic_start(&s);
        synthetic_attr(synthetic_wait(&s, PROC_GETATTR, 10.0, 0.0), BASE,
                       ctime);
        rpc = synthetic_wait(&s, PROC_ACCESS, 100.0, 0.0);
        rpc->access_requested = asks[i].mask;
        rpc->handle_hash = 7;
        rpc->credential_hash = 9;
        synthetic_exit(&s);
        synthetic_finish(&s);
    }
    figures = computed(&s);
    atime = group_atime(&figures, METHOD_NONE, &verdict);
    assert_int_equal(atime->access_calls, 5);
    assert_int_equal(atime->access_redundant, 1);
    assert_true(has_finding(&figures, "1 of 5 ACCESS calls ask again"));
    done(&s, &figures);
}

static void
empty_setattr_is_a_finding(void **state)
{
    struct synthetic s;
    struct figures figures;

    (void)state;
    one_exec(&s, METHOD_NONE);
    synthetic_wait(&s, PROC_SETATTR, 80.0, 0.0)->sattr.empty = true;
    synthetic_finish(&s);
    figures = computed(&s);
    assert_true(has_finding(&figures, "1 of 1 SETATTRs set nothing at all; "
                                      "80.0 us per exec"));
    done(&s, &figures);
}

/* Twice as quick as the quickest other RPC: not from the same place. */
static void
setattr_answered_nearby(void **state)
{
    struct synthetic s;
    struct figures figures;
    int i;

    (void)state;
    synthetic_begin(&s, 1, 1, 25, 256.0);
    synthetic_cell(&s, METHOD_SETATTR);
    for (i = 0; i < 25; i++) {
        synthetic_start(&s);
        synthetic_wait(&s, PROC_GETATTR, 260.0, 0.0);
        synthetic_exit(&s);
        synthetic_wait(&s, PROC_SETATTR, 40.0, 0.0)->sattr.atime_how =
            NFS_TIME_SERVER;
        synthetic_finish(&s);
    }
    figures = computed(&s);
    assert_true(has_finding(&figures, "SETATTRs are answered nearby, not by "
                                      "the server: their median is 40.0 us"));
    done(&s, &figures);
}

/* --- sequences --------------------------------------------------------- */

/* 493 x GETATTR; 7 x ACCESS GETATTR READ, the first exec among them. */
static void
sequences_by_hand(void **state)
{
    struct synthetic s;
    struct figures figures;
    const struct signatures *all;
    int i;

    (void)state;
    synthetic_begin(&s, 1, 1, 500, 256.0);
    synthetic_cell(&s, METHOD_NONE);
    for (i = 0; i < 500; i++) {
        synthetic_start(&s);
        if (i % 80 == 0)
            synthetic_wait(&s, PROC_ACCESS, 100.0, 0.0);
        synthetic_wait(&s, PROC_GETATTR, 100.0, 0.0);
        if (i % 80 == 0)
            synthetic_wait(&s, PROC_READ, 100.0, 0.0);
        synthetic_exit(&s);
        synthetic_finish(&s);
    }
    figures = computed(&s);
    all = &figures_group(&figures, 0, METHOD_NONE)->signatures;
    assert_int_equal(all->execs, 500);
    assert_int_equal(all->distinct, 2);
    assert_int_equal(all->row_count, 2);
    assert_string_equal(all->rows[0].text, "GETATTR");
    assert_int_equal(all->rows[0].execs, 493);
    assert_true(fabs(all->rows[0].us.value - 100.0) < 1e-6);
    assert_string_equal(all->rows[1].text, "ACCESS GETATTR READ");
    assert_int_equal(all->rows[1].execs, 7);
    assert_true(fabs(all->rows[1].us.value - 300.0) < 1e-6);
    assert_true(fabs(all->rows[1].rpcs - 3.0) < 1e-9);
    assert_int_equal(all->others.execs, 0);
    assert_string_equal(all->first.text, "ACCESS GETATTR READ");
    assert_string_equal(all->last.text, "GETATTR");
    done(&s, &figures);
}

/* Exec i makes i READs: as many sequences as execs. A run of one procedure is
 * written once, and a long sequence is cut, not overrun. */
static void
sequences_are_bounded(void **state)
{
    struct synthetic s;
    struct figures figures;
    const struct signatures *all;
    int i, j;

    (void)state;
    synthetic_begin(&s, 1, 1, 21, 256.0);
    synthetic_cell(&s, METHOD_NONE);
    for (i = 0; i < 20; i++) {
        synthetic_start(&s);
        for (j = 0; j < i; j++)
            synthetic_wait(&s, PROC_READ, 10.0, 0.0);
        synthetic_exit(&s);
        synthetic_finish(&s);
    }
    synthetic_start(&s);
    for (j = 0; j < 100; j++)
        synthetic_wait(&s, j % 2 == 0 ? PROC_READ : PROC_ACCESS, 10.0, 0.0);
    synthetic_exit(&s);
    synthetic_finish(&s);
    figures = computed(&s);
    all = &figures_group(&figures, 0, METHOD_NONE)->signatures;
    assert_int_equal(all->distinct, 21);
    assert_int_equal(all->row_count, SIGNATURE_ROWS);
    assert_int_equal(all->others.execs, 21 - SIGNATURE_ROWS);
    assert_string_equal(all->first.text, "no RPC");
    assert_true(strlen(all->last.text) < SIGNATURE_TEXT);
    assert_non_null(strstr(all->last.text, " ..."));
    done(&s, &figures);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setattr_moves_in_ticks),
        cmocka_unit_test(read_moves_and_getattr_shows_it),
        cmocka_unit_test(somebody_else_moves),
        cmocka_unit_test(refused_by_the_server),
        cmocka_unit_test(ends_of_the_cell_decide),
        cmocka_unit_test(client_chosen_times),
        cmocka_unit_test(resolutions),
        cmocka_unit_test(pages_dropped_and_read_again),
        cmocka_unit_test(redundant_access),
        cmocka_unit_test(empty_setattr_is_a_finding),
        cmocka_unit_test(setattr_answered_nearby),
        cmocka_unit_test(sequences_by_hand),
        cmocka_unit_test(sequences_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
