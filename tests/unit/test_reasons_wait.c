/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting, correlation and slope on models whose costs are known.
 *
 * With an interval of 99 % the true value is inside in 99 of 100 seeds on
 * average; fewer than 95 would have a probability of 0.0005 (binomial), so
 * that is a wrong interval and no accident. That it is not too wide is seen
 * at 50 %: inside in 30 to 70 of 100 with a probability above 0.9999.
 */
#include "analysis/figures.h"
#include "analysis/rtt_slope.h"
#include "tests/unit/seeded_random.h"
#include "tests/unit/synthetic_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS 100
#define CELLS 6 /* of a method */
#define EXECS 30

/* The model: us, of the client and of the RPCs. */
#define CLIENT 250.0
#define GETATTR_US 256.0
#define SETATTR_US 270.0
#define READ_US 262.0
#define READ_WORK 60.0 /* of the client, for a READ */
#define CALL_US 20.0   /* utimensat itself */
#define READ_SHARE 0.3 /* execs of setattr that READ */

enum model { BLOCKING, OVERLAPPED, COALESCED, CHEAPER, REPLACING, TOGETHER };

static void
model_exec(struct synthetic *s, enum model model, enum run_method method,
           double slow)
{
    const bool setattr = method == METHOD_SETATTR;
    double setattr_us = model == CHEAPER ? 50.0 : SETATTR_US;

    synthetic_start(s);
    synthetic_work(s, CLIENT / 2 + slow, 3.0);
    if (model == REPLACING) {
        if (!setattr)
            synthetic_wait(s, PROC_ACCESS, 240.0, 3.0);
    } else {
        synthetic_wait(s, PROC_GETATTR, GETATTR_US, 4.0);
    }
    if ((setattr && model == BLOCKING &&
         random_uniform(&s->random) < READ_SHARE) ||
        (setattr && model == TOGETHER)) {
        synthetic_work(s, READ_WORK, 2.0);
        synthetic_wait(s, PROC_READ, READ_US, 4.0);
    }
    synthetic_work(s, CLIENT / 2, 3.0);
    synthetic_exit(s);
    if (setattr && model == OVERLAPPED) {
        synthetic_work(s, CALL_US, 1.0);
        synthetic_send(s, PROC_SETATTR, setattr_us);
    } else if (setattr && (model != COALESCED ||
                           s->cell->exec_count % 4 == 0)) {
        synthetic_work(s, CALL_US, 1.0);
        synthetic_wait(s, PROC_SETATTR, setattr_us, 5.0);
    }
    synthetic_finish(s);
}

/* @param common deviation of what a whole cell has in common, us */
static void
build_with(struct synthetic *s, uint64_t seed, enum model model,
           double ping_us, double common)
{
    size_t i, j;

    synthetic_begin(s, seed, 2 * CELLS, EXECS, ping_us);
    for (i = 0; i < 2 * CELLS; i++) {
        const double slow = common * random_normal(&s->random);

        synthetic_cell(s, i % 2 == 0 ? METHOD_NONE : METHOD_SETATTR);
        for (j = 0; j < EXECS; j++)
            model_exec(s, model, s->cell->method, slow);
    }
    synthetic_end(s);
}

static void
build(struct synthetic *s, uint64_t seed, enum model model, double ping_us)
{
    build_with(s, seed, model, ping_us, 2.0);
}

static void
compute(struct synthetic *s, double confidence, struct figures *figures)
{
    assert_int_equal(
        figures_compute(&s->run, &s->traffic, confidence, figures), 0);
}

static bool
covers(const struct stat_estimate *estimate, double truth)
{
    return estimate->has_value && estimate->has_half &&
           fabs(estimate->value - truth) <= estimate->half_width;
}

static const struct rpc_wait *
setattr_wait(const struct figures *figures)
{
    return &figures_group(figures, 0, METHOD_SETATTR)->wait;
}

/* --- blocking ---------------------------------------------------------- */

static void
blocking_is_recovered(void **state)
{
    unsigned wait = 0, narrow = 0, difference = 0, rest = 0, trips = 0;
    uint64_t seed;

    (void)state;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct synthetic s;
        struct figures figures;
        const struct rpc_wait *setattr;

        build(&s, seed, BLOCKING, 256.0);
        compute(&s, 99.0, &figures);
        setattr = setattr_wait(&figures);
        wait += covers(&rpc_wait_find(setattr, "SETATTR")->wait, SETATTR_US);
        difference += covers(&setattr->measured.absolute,
                             CALL_US + SETATTR_US +
                                 READ_SHARE * (READ_US + READ_WORK));
        rest += fabs(setattr->rest) <=
                0.05 * setattr->measured.absolute.value;
        trips += covers(&setattr->round_trips, 2.0 + READ_SHARE);
        figures_free(&figures);
        compute(&s, 50.0, &figures);
        narrow += covers(&rpc_wait_find(setattr_wait(&figures),
                                        "SETATTR")->wait, SETATTR_US);
        figures_free(&figures);
        synthetic_free(&s);
    }
    assert_in_range(wait, 95, SEEDS);
    assert_in_range(narrow, 30, 70);
    assert_in_range(difference, 95, SEEDS);
    assert_in_range(rest, 95, SEEDS);
    assert_in_range(trips, 95, SEEDS);
}

/* Over cells the slopes are held to their intervals whatever a cell has in
 * common. Over execs the interval takes the execs for independent, so it is
 * held to where they are; else the slopes to 2 % of the model. */
static void
regression_gives_the_model(void **state)
{
    unsigned close = 0, cells = 0, execs = 0;
    uint64_t seed;

    (void)state;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct synthetic s;
        struct figures figures;
        const struct correlation *all;

        build(&s, seed, BLOCKING, 256.0);
        compute(&s, 99.0, &figures);
        all = &figures.correlations[0];
        assert_int_equal(all->term_count, 3);
        assert_string_equal(all->terms[0].name, "SETATTR");
        assert_string_equal(all->terms[1].name, "GETATTR");
        assert_string_equal(all->terms[2].name, "READ");
        assert_int_equal(all->execs.term[1].state, STAT_TERM_CONSTANT);
        assert_int_equal(all->execs.term[0].state, STAT_TERM_ESTIMATED);
        close += fabs(all->execs.term[0].slope.value -
                      (SETATTR_US + CALL_US)) <= 0.02 * SETATTR_US &&
                 fabs(all->execs.term[2].slope.value -
                      (READ_US + READ_WORK)) <= 0.02 * READ_US;
        cells += covers(&all->cells.term[0].slope, SETATTR_US + CALL_US);
        assert_true(all->execs.has_r2 && all->execs.r2 > 0.95);
        /* Half the execs have a SETATTR and take 290 + 0.3 * 322 us more:
         * variance 0.25 * 386.6^2 of that; the READs' own, over half the
         * execs, 0.5 * 0.21 * 322^2. r^2 is the first over the sum. */
        assert_true(all->terms[0].pearson.known &&
                    fabs(all->terms[0].pearson.r - 0.88) < 0.04);
        figures_free(&figures);
        synthetic_free(&s);

        build_with(&s, seed, BLOCKING, 256.0, 0.0);
        compute(&s, 99.0, &figures);
        all = &figures.correlations[0];
        execs += covers(&all->execs.term[0].slope, SETATTR_US + CALL_US) &&
                 covers(&all->execs.term[2].slope, READ_US + READ_WORK);
        figures_free(&figures);
        synthetic_free(&s);
    }
    assert_in_range(close, 95, SEEDS);
    assert_in_range(cells, 95, SEEDS);
    assert_in_range(execs, 95, SEEDS);
}

static void
collinear_terms_are_named_and_priced_together(void **state)
{
    unsigned inside = 0;
    uint64_t seed;

    (void)state;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct synthetic s;
        struct figures figures;
        const struct correlation *all;
        char names[64];

        build(&s, seed, TOGETHER, 256.0);
        compute(&s, 99.0, &figures);
        all = &figures.correlations[0];
        assert_int_equal(all->cells.term[0].state, STAT_TERM_TOGETHER);
        assert_int_equal(all->cells.term[2].state, STAT_TERM_TOGETHER);
        assert_int_equal(all->cells.group_count, 1);
        assert_string_equal(correlation_group_names(all, &all->cells, 0,
                                                    names, sizeof names),
                            "SETATTR, READ");
        inside += covers(&all->cells.group[0].joint,
                         SETATTR_US + CALL_US + READ_US + READ_WORK);
        figures_free(&figures);
        synthetic_free(&s);
    }
    assert_in_range(inside, 95, SEEDS);
}

static void
identical_settings_seldom_differ(void **state)
{
    unsigned claimed = 0, claimed_wait = 0;
    uint64_t seed;

    (void)state;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct synthetic s;
        struct figures figures;
        const struct group_figures *group;
        size_t i;

        build(&s, 1000 + seed, BLOCKING, 256.0);
        /* The even cells once more under another name. */
        for (i = 0; i < s.run.cell_count; i++)
            s.run.cells[i].method = i % 2 != 0   ? METHOD_SETATTR
                                    : i % 4 == 0 ? METHOD_NONE
                                                 : METHOD_READ;
        compute(&s, 95.0, &figures);
        group = figures_group(&figures, 0, METHOD_READ);
        claimed += group->over_none.verdict != STAT_NONE_PROVEN;
        claimed_wait += group->wait.parts[0].us.verdict != STAT_NONE_PROVEN;
        figures_free(&figures);
        synthetic_free(&s);
    }
    assert_in_range(claimed, 0, 5);
    assert_in_range(claimed_wait, 0, 5);
}

/* --- why a SETATTR costs what it does ---------------------------------- */

static struct setattr_account
account_of(enum model model, uint64_t seed, struct rpc_wait *copy)
{
    struct setattr_account account;
    struct synthetic s;
    struct figures figures;

    build(&s, seed, model, 256.0);
    compute(&s, 95.0, &figures);
    account = figures_group(&figures, 0, METHOD_SETATTR)->setattr;
    *copy = *setattr_wait(&figures);
    figures_free(&figures);
    synthetic_free(&s);
    return account;
}

static void
reasons_of_a_cheap_setattr(void **state)
{
    struct rpc_wait wait;
    uint64_t seed;

    (void)state;
    for (seed = 1; seed <= 20; seed++) {
        struct setattr_account account = account_of(BLOCKING, seed, &wait);

        assert_int_equal(account.reasons, SETATTR_WAITED);
        assert_false(account.below_ping);
        /* Nothing of the SETATTR is waited for: 20 us of the call remain. */
        account = account_of(OVERLAPPED, seed, &wait);
        assert_int_equal(account.reasons, SETATTR_OVERLAPPED);
        assert_true(account.below_ping);
        assert_true(account.blocking_share == 0.0);
        assert_true(fabs(account.overhead_us - CALL_US) < 8.0);
        assert_true(wait.overlapped > 100.0);
        /* Every fourth exec pays: (270 + 20) / 4, of 30 execs 7. */
        account = account_of(COALESCED, seed, &wait);
        assert_int_equal(account.reasons, SETATTR_COALESCED);
        assert_true(account.below_ping);
        assert_true(fabs(account.per_exec - 7.0 / 30.0) < 1e-9);
        account = account_of(CHEAPER, seed, &wait);
        assert_int_equal(account.reasons, SETATTR_CHEAPER);
        assert_true(account.below_ping);
        /* 270 + 20 - 240: the SETATTR takes the place of an ACCESS. */
        account = account_of(REPLACING, seed, &wait);
        assert_int_equal(account.reasons, SETATTR_REPLACES);
        assert_true(account.below_ping);
        assert_true(fabs(account.overhead_us - 50.0) < 8.0);
        assert_string_equal(account.saved_name, "ACCESS");
        assert_true(fabs(account.saved_us - 240.0) < 8.0);
    }
}

/* A packet lost in one cell: no sentence claims to know what was waited for. */
static void
losses_leave_it_open(void **state)
{
    struct synthetic s;
    struct figures figures;
    size_t i;
    bool said = false;

    (void)state;
    build(&s, 1, BLOCKING, 256.0);
    s.traffic.cells[1].lossy = true;
    compute(&s, 95.0, &figures);
    for (i = 0; i < figures.finding_count; i++) {
        assert_null(strstr(figures.findings[i], "waits for,"));
        assert_null(strstr(figures.findings[i], "coalesced"));
        said |= strstr(figures.findings[i],
                       "inconclusive: packets were lost in 1 of 6 cells") !=
                NULL;
    }
    assert_true(said);
    figures_free(&figures);
    synthetic_free(&s);
}

/* --- by hand ----------------------------------------------------------- */

/*
 * us:  0      100        300       400  450 500    600
 *      start  |-GETATTR--|              exit  end
 *                  |---READ a----|            (150 to 400)
 *                    |---READ b-----|         (200 to 420)
 *                            |---CLOSE---------|     (350 to 550)
 *
 * Going back from the exit at 450: READ b replied last (420) and was called
 * at 200. Before 200 no reply: it is the only one on the way. READ a and
 * GETATTR replied while it was outstanding; CLOSE still was at the exit.
 * Of 500 us: waited 200 to 420; overlapped 100 to 200 and 420 to 500; own 280.
 */
static void
way_back_by_hand(void **state)
{
    struct synthetic s;
    struct figures figures;
    const struct rpc_wait *wait;
    int64_t start;

    (void)state;
    synthetic_begin(&s, 1, 1, 1, 256.0);
    synthetic_cell(&s, METHOD_NONE);
    synthetic_start(&s);
    start = s.now;
    s.now = start + 100000;
    synthetic_send(&s, PROC_GETATTR, 200.0);
    s.now = start + 150000;
    synthetic_send(&s, PROC_READ, 250.0);
    s.now = start + 200000;
    synthetic_send(&s, PROC_READ, 220.0);
    s.now = start + 350000;
    synthetic_send(&s, PROC_SETATTR, 200.0); /* stands for CLOSE */
    s.now = start + 450000;
    synthetic_exit(&s);
    s.now = start + 500000;
    synthetic_finish(&s);
    synthetic_end(&s);
    compute(&s, 95.0, &figures);
    wait = &figures_group(&figures, 0, METHOD_NONE)->wait;
    assert_true(fabs(wait->wall.value - 500.0) < 1e-9);
    assert_true(fabs(wait->waits.value - 220.0) < 1e-9);
    assert_true(fabs(wait->own.value - 280.0) < 1e-9);
    assert_true(fabs(wait->method_own.value - 50.0) < 1e-9);
    assert_true(fabs(wait->overlapped - 180.0) < 1e-9);
    assert_true(fabs(wait->round_trips.value - 1.0) < 1e-9);
    assert_int_equal(rpc_wait_find(wait, "READ")->blocking, 1);
    assert_int_equal(rpc_wait_find(wait, "READ")->overlapped, 1);
    assert_int_equal(rpc_wait_find(wait, "GETATTR")->blocking, 0);
    assert_int_equal(rpc_wait_find(wait, "SETATTR")->blocking, 0);
    assert_true(fabs(rpc_wait_find(wait, "READ")->wait.value - 220.0) < 1e-9);
    /* From 150 to 200 two are outstanding: READ a's reply comes last. */
    assert_true(fabs(rpc_wait_find(wait, "GETATTR")->overlapped_us - 50.0) <
                1e-9);
    assert_true(fabs(rpc_wait_find(wait, "READ")->overlapped_us - 50.0) <
                1e-9);
    assert_true(fabs(rpc_wait_find(wait, "SETATTR")->overlapped_us - 80.0) <
                1e-9);
    figures_free(&figures);
    synthetic_free(&s);
}

static void
unanswered_is_neither(void **state)
{
    struct synthetic s;
    struct figures figures;
    const struct rpc_wait *wait;

    (void)state;
    synthetic_begin(&s, 1, 1, 1, 256.0);
    synthetic_cell(&s, METHOD_NONE);
    synthetic_start(&s);
    synthetic_wait(&s, PROC_GETATTR, 100.0, 0.0)->answered = false;
    s.traffic.rpcs[0].reply_ns = RUN_UNKNOWN_NS;
    synthetic_exit(&s);
    synthetic_finish(&s);
    synthetic_end(&s);
    compute(&s, 95.0, &figures);
    wait = &figures_group(&figures, 0, METHOD_NONE)->wait;
    assert_int_equal(rpc_wait_find(wait, "GETATTR")->unanswered, 1);
    assert_int_equal(rpc_wait_find(wait, "GETATTR")->calls, 0);
    assert_true(wait->waits.value == 0.0);
    figures_free(&figures);
    synthetic_free(&s);
}

/* --- round trips ------------------------------------------------------- */

/* One GETATTR and, with setattr, one SETATTR more: 1 and 2 round trips,
 * whatever the client and the server take. */
static void
slope_over_round_trip_time(void **state)
{
    static const double rtts[] = {34.0, 256.0, 1000.0};
    unsigned inside = 0;
    uint64_t seed;

    (void)state;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct rtt_runs runs = {0};
        struct rtt_slope *slopes;
        size_t i, cell, exec;
        int count;

        for (i = 0; i < 3; i++) {
            struct synthetic s;
            struct figures figures;

            synthetic_begin(&s, seed * 10 + i, 2 * CELLS, EXECS,
                            rtts[i] + 12.0);
            for (cell = 0; cell < 2 * CELLS; cell++) {
                synthetic_cell(&s, cell % 2 == 0 ? METHOD_NONE
                                                 : METHOD_SETATTR);
                for (exec = 0; exec < EXECS; exec++) {
                    synthetic_start(&s);
                    synthetic_work(&s, CLIENT, 3.0);
                    synthetic_wait(&s, PROC_GETATTR, rtts[i] + 15, 2.0);
                    synthetic_exit(&s);
                    if (cell % 2 == 1)
                        synthetic_wait(&s, PROC_SETATTR, rtts[i] + 40, 2.0);
                    synthetic_finish(&s);
                }
            }
            synthetic_end(&s);
            compute(&s, 95.0, &figures);
            assert_int_equal(rtt_runs_add(&runs, &figures), 0);
            figures_free(&figures);
            synthetic_free(&s);
        }
        count = rtt_slopes(&runs, 99.0, &slopes);
        assert_int_equal(count, 2);
        inside += covers(&slopes[0].slope, 1.0) &&
                  covers(&slopes[1].slope, 2.0);
        assert_true(slopes[1].counted_known);
        assert_true(fabs(slopes[1].counted - 2.0) < 1e-6);
        assert_int_equal(slopes[1].runs, 3);
        free(slopes);
        rtt_runs_free(&runs);
    }
    assert_in_range(inside, 95, SEEDS);
}

static void
one_round_trip_time_has_no_slope(void **state)
{
    struct rtt_runs runs = {0};
    struct rtt_slope *slopes;
    unsigned i;

    (void)state;
    for (i = 0; i < 2; i++) {
        struct synthetic s;
        struct figures figures;

        build(&s, i + 1, BLOCKING, 256.0 + i);
        compute(&s, 95.0, &figures);
        assert_int_equal(rtt_runs_add(&runs, &figures), 0);
        figures_free(&figures);
        synthetic_free(&s);
    }
    assert_int_equal(rtt_slopes(&runs, 95.0, &slopes), 0);
    free(slopes);
    rtt_runs_free(&runs);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocking_is_recovered),
        cmocka_unit_test(regression_gives_the_model),
        cmocka_unit_test(collinear_terms_are_named_and_priced_together),
        cmocka_unit_test(identical_settings_seldom_differ),
        cmocka_unit_test(reasons_of_a_cheap_setattr),
        cmocka_unit_test(losses_leave_it_open),
        cmocka_unit_test(way_back_by_hand),
        cmocka_unit_test(unanswered_is_neither),
        cmocka_unit_test(slope_over_round_trip_time),
        cmocka_unit_test(one_round_trip_time_has_no_slope),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
