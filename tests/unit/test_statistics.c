/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expectations are computed by hand, or by the closed form named beside
 * them; rates are of simulations with fixed seeds. */
#include "analysis/statistics.h"
#include "tests/unit/seeded_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define NEAR(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static const double PI = 3.14159265358979323846;

static const double odd[] = {3, 1, 2, 5, 4};           /* mean 3, var 2.5 */
static const double even[] = {2, 4, 6, 8, 10, 12};     /* mean 7, var 14 */

static void
summary_by_hand(void **state)
{
    struct stat_summary s = stat_summarise(odd, 5);

    (void)state;
    assert_int_equal(s.n, 5);
    NEAR(s.min, 1, 0);
    NEAR(s.max, 5, 0);
    NEAR(s.median, 3, 0);
    NEAR(s.mean, 3, 1e-15);
    NEAR(s.stddev, sqrt(2.5), 1e-15);
    s = stat_summarise(even, 6);
    NEAR(s.median, 7, 0);
    NEAR(s.median_upper, 8, 0);
    NEAR(s.stddev, sqrt(14.0), 1e-14);
}

static void
one_value_has_no_deviation(void **state)
{
    struct stat_summary s = stat_summarise(odd, 1);
    struct stat_estimate e = stat_mean(&s, 95.0);

    (void)state;
    assert_false(s.has_stddev);
    NEAR(s.stddev, 0, 0);
    assert_true(e.has_value);
    assert_false(e.has_half);
    NEAR(e.value, 3, 0);
    s = stat_summarise(NULL, 0);
    assert_int_equal(s.n, 0);
    assert_false(stat_mean(&s, 95.0).has_value);
}

/* Square sums of these would have no correct digit left. */
static void
deviation_of_large_values(void **state)
{
    const int64_t ns[] = {INT64_C(1000000000000000001),
                          INT64_C(1000000000000000257),
                          INT64_C(1000000000000000513)};
    const double big[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
    struct stat_summary s = stat_summarise(big, 4);

    (void)state;
    NEAR(s.stddev, sqrt(30.0), 1e-9);
    s = stat_summarise_ns(ns, 3, 1.0);
    NEAR(s.stddev, 256, 1);
}

static void
quantiles_type_7(void **state)
{
    const double v[] = {10, 20, 30, 40};

    (void)state;
    NEAR(stat_quantile(v, 4, 0.0), 10, 0);
    NEAR(stat_quantile(v, 4, 1.0), 40, 0);
    NEAR(stat_quantile(v, 4, 0.5), 25, 1e-12);
    NEAR(stat_quantile(v, 4, 0.95), 38.5, 1e-12); /* 3 * 0.95 = 2.85 */
    NEAR(stat_quantile(v, 1, 0.3), 10, 0);
}

/* Two degrees of freedom have the closed form
 * t = (2p - 1) sqrt(2 / (4 p (1 - p))); one is tan(pi (p - 1/2)). */
static void
t_quantiles_in_closed_form(void **state)
{
    (void)state;
    NEAR(stat_t_quantile(95.0, 1, STAT_T_EXACT), tan(PI * 0.475), 1e-9);
    NEAR(stat_t_quantile(95.0, 2, STAT_T_EXACT),
         0.95 * sqrt(2.0 / (4 * 0.975 * 0.025)), 1e-10);
    NEAR(stat_t_quantile(95.0, 4, STAT_T_MINISTAT), 2.776, 1e-12);
    NEAR(stat_t_quantile(95.0, 101, STAT_T_MINISTAT), 1.960, 1e-12);
    NEAR(stat_t_quantile(99.5, 4, STAT_T_MINISTAT), 7.173, 1e-12);
    NEAR(stat_t_quantile(97.0, 2, STAT_T_MINISTAT),
         0.97 * sqrt(2.0 / (4 * 0.985 * 0.015)), 1e-10);
}

static void
mean_interval(void **state)
{
    struct stat_summary s = stat_summarise(odd, 3); /* 3 1 2: s = 1 */
    struct stat_estimate e = stat_mean(&s, 95.0);

    (void)state;
    NEAR(e.value, 2, 1e-15);
    NEAR(e.half_width,
         0.95 * sqrt(2.0 / (4 * 0.975 * 0.025)) / sqrt(3.0), 1e-9);
}

/* se^2 = 2.5/5 + 14/6 = 17/6; degrees 6.9723; the quantile and p by Simpson's
 * rule over the density. */
static void
welch_by_hand(void **state)
{
    struct stat_summary a = stat_summarise(odd, 5);
    struct stat_summary b = stat_summarise(even, 6);
    struct stat_difference d = stat_welch(&a, &b, 95.0);

    (void)state;
    assert_int_equal(d.verdict, STAT_MORE);
    NEAR(d.absolute.value, 4, 1e-14);
    NEAR(d.degrees, 6.972255729794934, 1e-10);
    NEAR(d.absolute.half_width, 3.98346870, 1e-6);
    NEAR(d.p, 0.04928433820, 1e-8);
    NEAR(d.percent.value, 400.0 / 3, 1e-10);
    NEAR(d.percent.half_width, 3.98346870 / 3 * 100, 1e-4);
    d = stat_welch(&b, &a, 95.0);
    assert_int_equal(d.verdict, STAT_LESS);
    d = stat_welch(&a, &b, 99.0);
    assert_int_equal(d.verdict, STAT_NONE_PROVEN); /* p is above 0.01 */
}

static void
constants_without_division_by_zero(void **state)
{
    const double two[] = {2, 2, 2}, three[] = {3, 3}, nil[] = {0, 0};
    struct stat_summary a = stat_summarise(two, 3);
    struct stat_summary b = stat_summarise(three, 2);
    struct stat_summary z = stat_summarise(nil, 2);
    struct stat_summary one = stat_summarise(three, 1);
    struct stat_difference d;

    (void)state;
    d = stat_welch(&a, &a, 95.0);
    assert_int_equal(d.verdict, STAT_NONE_PROVEN);
    NEAR(d.p, 1, 0);
    d = stat_welch(&a, &b, 95.0);
    assert_int_equal(d.verdict, STAT_MORE);
    NEAR(d.absolute.half_width, 0, 0);
    NEAR(d.p, 0, 0);
    d = stat_student(&a, &b, 95.0, STAT_T_EXACT);
    assert_int_equal(d.verdict, STAT_MORE);
    NEAR(d.pooled, 0, 0);
    d = stat_welch(&z, &b, 95.0);
    assert_int_equal(d.verdict, STAT_MORE);
    assert_false(d.percent.has_value);
    d = stat_welch(&a, &one, 95.0);
    assert_int_equal(d.verdict, STAT_UNTESTABLE);
    assert_true(d.absolute.has_value);
    assert_false(d.absolute.has_half);
    NEAR(d.p, 1, 0);
    d = stat_paired(two, two, 3, 95.0);
    assert_int_equal(d.verdict, STAT_NONE_PROVEN);
    d = stat_paired(two, two, 1, 95.0);
    assert_int_equal(d.verdict, STAT_UNTESTABLE);
    d = stat_paired(NULL, NULL, 0, 95.0);
    assert_false(d.absolute.has_value);
}

/* A slow repetition slows both: gaps 1 2 3, mean 2, s = 1. */
static void
paired_cancels_the_block(void **state)
{
    const double a[] = {100, 500, 900}, b[] = {101, 502, 903};
    struct stat_difference d = stat_paired(a, b, 3, 90.0);

    (void)state;
    assert_int_equal(d.verdict, STAT_MORE);
    NEAR(d.absolute.value, 2, 1e-12);
    NEAR(d.absolute.half_width,
         0.9 * sqrt(2.0 / (4 * 0.95 * 0.05)) / sqrt(3.0), 1e-9);
    NEAR(d.percent.value, 0.4, 1e-12);
}

/* Limits at 95 %: 0.0125, 0.01667, 0.025, 0.05 in rising order of p; the
 * third fails, so the fourth is not looked at. */
static void
holm_steps_down(void **state)
{
    const double p[] = {0.04, 0.001, 0.03, 0.016};
    bool proven[4];

    (void)state;
    assert_int_equal(stat_holm(p, 4, 95.0, proven), 0);
    assert_false(proven[0]);
    assert_true(proven[1]);
    assert_false(proven[2]);
    assert_true(proven[3]);
    assert_int_equal(stat_holm(p, 0, 95.0, proven), 0);
}

static const double line_x[] = {1, 2, 3, 4, 5};
static const double line_y[] = {5, 6, 7, 8, 7};

/* Sxy 6, Sxx 10, Syy 5.2; t = 1.5 sqrt(3) and with three degrees of freedom
 * p = 1 - 2/pi (1.5 / 3.25 + atan 1.5). */
static void
pearson_by_hand(void **state)
{
    struct stat_correlation c = stat_pearson(line_x, line_y, 5, 95.0);

    (void)state;
    assert_true(c.known);
    NEAR(c.r, 6 / sqrt(52.0), 1e-14);
    NEAR(c.p, 1 - 2 / PI * (1.5 / 3.25 + atan(1.5)), 1e-12);
    NEAR(c.low, tanh(atanh(6 / sqrt(52.0)) - 1.959963985 / sqrt(2.0)), 1e-9);
    NEAR(c.high, tanh(atanh(6 / sqrt(52.0)) + 1.959963985 / sqrt(2.0)), 1e-9);
}

/* Ranks of y: 1 2 3.5 5 3.5. */
static void
spearman_shares_ranks(void **state)
{
    struct stat_correlation c = stat_spearman(line_x, line_y, 5, 95.0);

    (void)state;
    NEAR(c.r, 8 / sqrt(95.0), 1e-14);
    NEAR(c.low,
         tanh(atanh(8 / sqrt(95.0)) - 1.959963985 * sqrt(1.06 / 2.0)), 1e-9);
}

static void
correlation_of_what_does_not_vary(void **state)
{
    const double flat[] = {1, 1, 1, 1, 1};

    (void)state;
    assert_false(stat_pearson(line_x, flat, 5, 95.0).known);
    assert_false(stat_spearman(flat, line_y, 5, 95.0).known);
    assert_false(stat_pearson(line_x, line_y, 2, 95.0).known);
    assert_false(stat_pearson(line_x, line_y, 3, 95.0).has_interval);
    assert_true(stat_pearson(line_x, line_x, 5, 95.0).low > 0.999);
    NEAR(stat_pearson(line_x, line_x, 5, 95.0).p, 0, 1e-6);
}

/* y = 2 4 5 4 5 on 1..5: slope 0.6, intercept 2.2, R^2 0.6, s^2 0.8. */
static void
line_by_hand(void **state)
{
    const double y[] = {2, 4, 5, 4, 5};
    struct stat_regression r = stat_regress(y, line_x, 5, 1, 95.0);
    double t = stat_t_quantile(95.0, 3, STAT_T_EXACT);

    (void)state;
    assert_true(r.known);
    assert_int_equal(r.term[0].state, STAT_TERM_ESTIMATED);
    NEAR(r.term[0].slope.value, 0.6, 1e-12);
    NEAR(r.term[0].slope.half_width, t * sqrt(0.08), 1e-10);
    NEAR(r.intercept.value, 2.2, 1e-12);
    NEAR(r.intercept.half_width, t * sqrt(0.8 * (0.2 + 0.9)), 1e-10);
    NEAR(r.r2, 0.6, 1e-12);
    NEAR(r.residual_stddev, sqrt(0.8), 1e-12);
    NEAR(r.degrees, 3, 0);
    stat_regression_free(&r);
}

static void
too_few_rows_or_no_terms(void **state)
{
    struct stat_regression r = stat_regress(line_y, line_x, 2, 1, 95.0);

    (void)state;
    assert_false(r.known);
    stat_regression_free(&r);
    r = stat_regress(line_y, line_x, 0, 1, 95.0);
    assert_false(r.known);
    stat_regression_free(&r);
    r = stat_regress(line_y, NULL, 5, 0, 95.0);
    assert_true(r.known);
    NEAR(r.intercept.value, 6.6, 1e-12);
    stat_regression_free(&r);
}

#define ROWS 60

/* 300 us; SETATTR 250 and always a READ of 100 with it; LOOKUP 40; ACCESS
 * once in every exec; COMMIT never; OPEN 30 and CLOSE 20 come as a pair. */
static void
together_terms_are_named(void **state)
{
    double x[ROWS * 7], y[ROWS];
    uint64_t seed = 7;
    struct stat_regression r;

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        double setattr = (double)(i % 3), lookup = (double)(i / 7 % 4);
        double open = (double)(i / 5 % 2);
        double row[7] = {setattr, setattr, lookup, 1, 0, open, open};

        for (size_t j = 0; j < 7; j++)
            x[i * 7 + j] = row[j];
        y[i] = 300 + 350 * setattr + 40 * lookup + 50 * open +
               0.1 * random_normal(&seed);
    }
    r = stat_regress(y, x, ROWS, 7, 95.0);
    assert_true(r.known);
    assert_int_equal(r.group_count, 2);
    assert_int_equal(r.term[0].state, STAT_TERM_TOGETHER);
    assert_int_equal(r.term[1].state, STAT_TERM_TOGETHER);
    assert_int_equal(r.term[0].group, r.term[1].group);
    assert_false(r.term[0].slope.has_value);
    assert_int_equal(r.term[5].group, r.term[6].group);
    assert_int_not_equal(r.term[0].group, r.term[5].group);
    assert_int_equal(r.group[0].leader, 0);
    assert_int_equal(r.group[0].members, 2);
    assert_true(r.group[0].joint.has_value);
    NEAR(r.group[0].joint.value, 350, 0.2);
    NEAR(r.group[1].joint.value, 50, 0.2);
    assert_true(r.group[0].joint.half_width < 0.2);
    assert_int_equal(r.term[2].state, STAT_TERM_ESTIMATED);
    NEAR(r.term[2].slope.value, 40, 0.2);
    assert_int_equal(r.term[3].state, STAT_TERM_CONSTANT);
    assert_int_equal(r.term[4].state, STAT_TERM_ABSENT);
    NEAR(r.intercept.value, 300, 0.2);
    stat_regression_free(&r);
}

/* c = a + b moves in two ways: no single number for the three. */
static void
sum_of_two_is_a_group_of_three(void **state)
{
    double x[ROWS * 4], y[ROWS];
    struct stat_regression r;

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        double a = (double)(i % 3), b = (double)(i / 3 % 4);
        double row[4] = {a, b, a + b, (double)(i % 5)};

        for (size_t j = 0; j < 4; j++)
            x[i * 4 + j] = row[j];
        y[i] = 10 * a + 20 * b + 5 * row[3];
    }
    r = stat_regress(y, x, ROWS, 4, 95.0);
    assert_int_equal(r.group_count, 1);
    assert_int_equal(r.group[0].members, 3);
    assert_false(r.group[0].joint.has_value);
    assert_int_equal(r.term[3].state, STAT_TERM_ESTIMATED);
    NEAR(r.term[3].slope.value, 5, 1e-9);
    NEAR(r.r2, 1, 1e-12);
    stat_regression_free(&r);
}

/* READ = SETATTR + 1 in every exec: where both are 0 was never seen. */
static void
intercept_out_of_reach(void **state)
{
    double x[ROWS * 2], y[ROWS];
    struct stat_regression r;

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = (double)(i % 3);
        x[2 * i + 1] = (double)(i % 3) + 1;
        y[i] = 100 + 50 * x[2 * i] + 7 * x[2 * i + 1];
    }
    r = stat_regress(y, x, ROWS, 2, 95.0);
    assert_int_equal(r.group_count, 1);
    NEAR(r.group[0].joint.value, 57, 1e-9);
    assert_false(r.intercept.has_value);
    stat_regression_free(&r);
}

/* Apart in 1 exec of 1000: correlation above 0.9978, so together; apart in
 * every fourth: told apart. */
static void
nearly_together(void **state)
{
    enum { N = 1000 };
    double *x = calloc(2 * N, sizeof *x), *y = calloc(N, sizeof *y);
    uint64_t seed = 3;
    struct stat_regression r;

    (void)state;
    for (size_t every = 4; every <= N; every += N - 4) {
        for (size_t i = 0; i < N; i++) {
            x[2 * i] = (double)(i % 2);
            x[2 * i + 1] = i % every == 0 ? 1 - x[2 * i] : x[2 * i];
            y[i] = 100 * x[2 * i] + 30 * x[2 * i + 1] + random_normal(&seed);
        }
        r = stat_regress(y, x, N, 2, 95.0);
        assert_true(r.known);
        if (every == 4) {
            assert_int_equal(r.group_count, 0);
            NEAR(r.term[0].slope.value, 100, 0.5);
            NEAR(r.term[1].slope.value, 30, 0.5);
        } else {
            assert_int_equal(r.group_count, 1);
            assert_int_equal(r.group[0].members, 2);
            NEAR(r.group[0].joint.value, 130, 0.5);
        }
        stat_regression_free(&r);
    }
    free(x);
    free(y);
}

static void
flat_and_exact_y(void **state)
{
    const double flat[] = {3, 3, 3, 3, 3};
    struct stat_regression r = stat_regress(flat, line_x, 5, 1, 95.0);

    (void)state;
    assert_false(r.has_r2);
    NEAR(r.term[0].slope.value, 0, 0);
    NEAR(r.term[0].p, 1, 0);
    stat_regression_free(&r);
}

static void
finite_estimate(const struct stat_estimate *e)
{
    assert_true(isfinite(e->value) && isfinite(e->half_width));
    assert_true(e->half_width >= 0);
    if (!e->has_value)
        NEAR(e->value, 0, 0);
}

/* Small whole numbers: columns that are alike, constant, or sums of others
 * are common. Whatever is estimated is a number, every term has a state, and
 * a term outside a group has the slope that made y, since y is exact. */
static void
any_small_table(void **state)
{
    uint64_t seed = 17;

    (void)state;
    for (size_t k = 0; k < 5000; k++) {
        size_t terms = 1 + random_bits(&seed) % 6;
        size_t rows = 1 + random_bits(&seed) % 14;
        double x[14 * 6], y[14] = {0};
        struct stat_regression r;

        for (size_t i = 0; i < rows * terms; i++) {
            x[i] = (double)(random_bits(&seed) % 3);
            y[i / terms] += x[i] * (double)(i % terms + 1);
        }
        r = stat_regress(y, x, rows, terms, 95.0);
        if (r.known) {
            finite_estimate(&r.intercept);
            for (size_t j = 0; j < terms; j++) {
                finite_estimate(&r.term[j].slope);
                assert_true(r.term[j].p >= 0 && r.term[j].p <= 1);
                assert_int_equal(r.term[j].group != STAT_NO_GROUP,
                                 r.term[j].state == STAT_TERM_TOGETHER);
                if (r.term[j].state == STAT_TERM_ESTIMATED)
                    NEAR(r.term[j].slope.value, (double)(j + 1), 1e-9);
            }
            for (size_t g = 0; g < r.group_count; g++) {
                finite_estimate(&r.group[g].joint);
                assert_true(r.group[g].members >= 2);
            }
        }
        stat_regression_free(&r);
    }
}

static size_t
false_claims(size_t trials, size_t n1, size_t n2, double s2, uint64_t seed,
             int test)
{
    double a[16], b[16];
    size_t claims = 0;

    for (size_t k = 0; k < trials; k++) {
        struct stat_summary first, second;
        struct stat_difference d;

        for (size_t i = 0; i < n1; i++)
            a[i] = 500 + random_normal(&seed);
        for (size_t i = 0; i < n2; i++)
            b[i] = 500 + s2 * random_normal(&seed);
        first = stat_summarise(a, n1);
        second = stat_summarise(b, n2);
        d = test == 0   ? stat_welch(&first, &second, 95.0)
            : test == 1 ? stat_student(&first, &second, 95.0, STAT_T_EXACT)
                        : stat_paired(a, b, n1, 95.0);
        claims += d.verdict != STAT_NONE_PROVEN;
    }
    return claims;
}

/* 5 % of 4000 is 200, three standard deviations of that are 41. */
static void
identical_settings_claim_one_in_twenty(void **state)
{
    (void)state;
    assert_in_range(false_claims(4000, 5, 5, 1, 11, 0), 120, 241);
    assert_in_range(false_claims(4000, 10, 10, 1, 12, 0), 159, 241);
    assert_in_range(false_claims(4000, 5, 5, 1, 13, 1), 159, 241);
    assert_in_range(false_claims(4000, 5, 5, 1, 14, 2), 159, 241);
    /* Unequal deviations and sizes: what Student's pooled test gets wrong. */
    assert_in_range(false_claims(4000, 12, 4, 5, 15, 0), 159, 260);
    assert_true(false_claims(4000, 12, 4, 5, 15, 1) > 600);
}

/* Five repetitions, the default of a run: Welch's test stays below its 5 %,
 * so that in the long run at most 5 of 100 are claimed. */
static void
at_most_five_of_hundred(void **state)
{
    size_t claims = false_claims(40000, 5, 5, 1, 1, 0);

    (void)state;
    print_message("claimed: %zu of 40000\n", claims);
    assert_true(claims <= 2000);
    assert_true(claims >= 1500);
}

/* Twelve cells at once, alone each at 95 %: Holm keeps the whole family at
 * 5 % where alone 46 % of the families would claim something. */
static void
families_claim_one_in_twenty(void **state)
{
    size_t with_holm = 0, alone = 0;
    uint64_t seed = 99;

    (void)state;
    for (size_t k = 0; k < 2000; k++) {
        double p[12], a[5], b[5];
        bool proven[12], any = false, any_alone = false;

        for (size_t c = 0; c < 12; c++) {
            struct stat_summary first, second;

            for (size_t i = 0; i < 5; i++) {
                a[i] = random_normal(&seed);
                b[i] = random_normal(&seed);
            }
            first = stat_summarise(a, 5);
            second = stat_summarise(b, 5);
            p[c] = stat_welch(&first, &second, 95.0).p;
        }
        assert_int_equal(stat_holm(p, 12, 95.0, proven), 0);
        for (size_t c = 0; c < 12; c++) {
            any |= proven[c];
            any_alone |= p[c] < 0.05;
        }
        with_holm += any;
        alone += any_alone;
    }
    assert_true(with_holm <= 130); /* 100 and three deviations */
    assert_true(with_holm >= 40);
    assert_true(alone > 700);
}

/* Known costs 385 and 12.5 under noise: inside the interval in 95 of 100. */
static void
regression_recovers_costs(void **state)
{
    enum { N = 30, TRIALS = 2000 };
    size_t inside[3] = {0};
    uint64_t seed = 5;

    (void)state;
    for (size_t k = 0; k < TRIALS; k++) {
        double x[2 * N], y[N];
        struct stat_regression r;

        for (size_t i = 0; i < N; i++) {
            x[2 * i] = random_uniform(&seed) < 0.5 ? 0 : 1;
            x[2 * i + 1] = floor(4 * random_uniform(&seed));
            y[i] = 543 + 385 * x[2 * i] + 12.5 * x[2 * i + 1] +
                   20 * random_normal(&seed);
        }
        r = stat_regress(y, x, N, 2, 95.0);
        assert_int_equal(r.group_count, 0);
        inside[0] += fabs(r.term[0].slope.value - 385) <=
                     r.term[0].slope.half_width;
        inside[1] += fabs(r.term[1].slope.value - 12.5) <=
                     r.term[1].slope.half_width;
        inside[2] +=
            fabs(r.intercept.value - 543) <= r.intercept.half_width;
        stat_regression_free(&r);
    }
    for (size_t i = 0; i < 3; i++)
        assert_in_range(inside[i], 1870, 1930); /* 1900 and 3 deviations */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_by_hand),
        cmocka_unit_test(one_value_has_no_deviation),
        cmocka_unit_test(deviation_of_large_values),
        cmocka_unit_test(quantiles_type_7),
        cmocka_unit_test(t_quantiles_in_closed_form),
        cmocka_unit_test(mean_interval),
        cmocka_unit_test(welch_by_hand),
        cmocka_unit_test(constants_without_division_by_zero),
        cmocka_unit_test(paired_cancels_the_block),
        cmocka_unit_test(holm_steps_down),
        cmocka_unit_test(pearson_by_hand),
        cmocka_unit_test(spearman_shares_ranks),
        cmocka_unit_test(correlation_of_what_does_not_vary),
        cmocka_unit_test(line_by_hand),
        cmocka_unit_test(too_few_rows_or_no_terms),
        cmocka_unit_test(together_terms_are_named),
        cmocka_unit_test(sum_of_two_is_a_group_of_three),
        cmocka_unit_test(intercept_out_of_reach),
        cmocka_unit_test(nearly_together),
        cmocka_unit_test(flat_and_exact_y),
        cmocka_unit_test(any_small_table),
        cmocka_unit_test(identical_settings_claim_one_in_twenty),
        cmocka_unit_test(at_most_five_of_hundred),
        cmocka_unit_test(families_claim_one_in_twenty),
        cmocka_unit_test(regression_recovers_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
