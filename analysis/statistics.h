/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intervals, differences, correlation and regression.
 *
 * Values are in the caller's unit, finite, and below 1e150 in magnitude.
 * Confidence is in per cent, between 0 and 100, both excluded: 95.0. What
 * cannot be known (the deviation of one value, a per cent of zero) has a bool
 * that says so beside it, and the number next to a false bool is 0: nothing
 * here is ever nan or infinite. Nothing is dropped as an outlier.
 */
#ifndef NAT_ANALYSIS_STATISTICS_H
#define NAT_ANALYSIS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAT_CONFIDENCE 95.0 /* when the user says nothing */

/* One sample. n = 0: everything else is 0 and means nothing. */
struct stat_summary {
    size_t n;
    double min, max, mean;
    double median;       /* n even: mean of the two in the middle */
    double median_upper; /* n even: the upper of the two, as in ministat */
    bool has_stddev; /* n >= 2 */
    double stddev;   /* of the sample: divisor n - 1 */
};

/* value +- half_width. has_value false: no data at all; has_half false: one
 * value, or as many unknowns as values, so that no interval can be given. */
struct stat_estimate {
    bool has_value, has_half;
    double value, half_width;
};

enum stat_verdict {
    STAT_UNTESTABLE,  /* fewer than two values on a side */
    STAT_NONE_PROVEN, /* not "equal" */
    STAT_LESS,        /* the second is proven less than the first */
    STAT_MORE,        /* the second is proven more than the first */
};

/* Second minus first. */
struct stat_difference {
    enum stat_verdict verdict;
    struct stat_estimate absolute;
    struct stat_estimate percent; /* of the first mean; no value when that
                                     mean is 0 */
    double confidence;
    double degrees;   /* of freedom; 0 when untestable */
    double p;         /* two-sided, against no difference; 1 when untestable.
                         Always by the exact distribution */
    bool has_pooled;  /* Student's only */
    double pooled;    /* pooled standard deviation */
};

/* Where the quantile of Student's t comes from. */
enum stat_t {
    STAT_T_EXACT,
    /* As ministat's printed table has it: three decimals; more than 100
     * degrees of freedom count as infinitely many; and 99.5 there is the
     * quantile that leaves 0.1 % on each side, that is 99.8, and low by up
     * to 0.003 for 7 to 12 degrees. Only for whole degrees, and for 80, 90,
     * 95, 98, 99 and 99.5; any other confidence is exact. */
    STAT_T_MINISTAT,
};

/* One pass, Welford's recurrence for mean and variance; the median by a
 * sorted copy. values may be NULL when n is 0. Out of memory: n = 0 comes
 * back although values were given. */
struct stat_summary stat_summarise(const double *values, size_t n);

/* The same from integers such as nanoseconds, each times scale: 1e-3 gives
 * us. */
struct stat_summary stat_summarise_ns(const int64_t *values, size_t n,
                                      double scale);

/* Quantile p (0 .. 1) of ascending values, linear between the two nearest
 * (Hyndman and Fan's type 7). n must be at least 1. */
double stat_quantile(const double *ascending, size_t n, double p);

/* Sorts in place, ascending. */
void stat_sort(double *values, size_t n);

/* Two-sided quantile of Student's t: the half width in units of the standard
 * error. degrees > 0. */
double stat_t_quantile(double confidence, double degrees, enum stat_t source);

/* Mean with its t interval. */
struct stat_estimate stat_mean(const struct stat_summary *sample,
                               double confidence);

/* low .. high without an assumption on the distribution. */
struct stat_interval {
    bool known;
    double low, high;
};

/* The median's: two of the values themselves, chosen by the binomial
 * distribution so that they enclose it with at least that confidence. Needs 6
 * values for 95 %. values: ascending. */
struct stat_interval stat_median_interval(const double *ascending, size_t n,
                                          double confidence);

/*
 * Difference of two means without the assumption of equal variances: Welch's
 * t with Satterthwaite's degrees of freedom. Two samples without variance:
 * none proven when equal, proven with half width 0 when not. This is the
 * test of the reports.
 */
struct stat_difference stat_welch(const struct stat_summary *first,
                                  const struct stat_summary *second,
                                  double confidence);

/* Student's t with the pooled deviation: ministat's test. */
struct stat_difference stat_student(const struct stat_summary *first,
                                    const struct stat_summary *second,
                                    double confidence, enum stat_t source);

/*
 * Difference of paired values: first[i] and second[i] are of one block, such
 * as the means of two cells in the same repetition, so that what a whole
 * repetition has in common (a slow minute) cancels. n - 1 degrees of freedom.
 */
struct stat_difference stat_paired(const double *first, const double *second,
                                   size_t n, double confidence);

/*
 * Many comparisons at once: at 95 %, one in twenty is claimed although there
 * is nothing. Holm's step-down procedure ("A simple sequentially rejective
 * multiple test procedure", 1979) keeps the chance of any false claim among
 * all n below 100 - confidence. proven[i] is set for each p[i].
 * @return 0, or -1 when out of memory (nothing is proven then).
 */
int stat_holm(const double *p, size_t n, double confidence, bool *proven);

/* "more", "less", "none proven", "untestable". */
const char *stat_verdict_name(enum stat_verdict verdict);

/* A correlation coefficient. known false: fewer than 3 pairs, or one side
 * does not vary. */
struct stat_correlation {
    bool known;
    double r;
    double p;           /* two-sided, against r = 0 */
    bool has_interval;  /* n >= 4 */
    double low, high;   /* Fisher's z */
};

struct stat_correlation stat_pearson(const double *x, const double *y,
                                     size_t n, double confidence);

/* Ties share the mean of their ranks. Interval by Fisher's z with the
 * variance 1.06 / (n - 3) of Fieller, Hartley and Pearson (1957). */
struct stat_correlation stat_spearman(const double *x, const double *y,
                                      size_t n, double confidence);

enum stat_term_state {
    STAT_TERM_ESTIMATED,
    STAT_TERM_ABSENT,   /* 0 in every row: nothing to estimate */
    STAT_TERM_CONSTANT, /* the same in every row: part of the intercept */
    STAT_TERM_TOGETHER, /* a combination of others of its group: see group */
};

#define STAT_NO_GROUP SIZE_MAX

struct stat_term {
    enum stat_term_state state;
    struct stat_estimate slope; /* per unit; value only when ESTIMATED */
    double p;                   /* against 0; 1 when not known */
    size_t group;               /* index into groups, or STAT_NO_GROUP */
};

/* Terms that cannot be told apart. `joint` is what one unit of `leader` costs
 * with all of the group that comes along with it (per SETATTR, the READ that
 * always follows included); no value when the group moves in more than one
 * way and no single number is meant. */
struct stat_group {
    size_t leader;  /* index of a term */
    size_t members;
    struct stat_estimate joint;
};

struct stat_regression {
    bool known;  /* false: fewer rows than unknowns + 1 or out of memory */
    size_t rows, terms, group_count;
    double degrees;
    struct stat_estimate intercept;
    struct stat_term *term;   /* [terms], the caller's order */
    struct stat_group *group; /* [group_count] */
    bool has_r2;              /* y varies */
    double r2;
    double residual_stddev;
};

/* Condition index (largest over smallest singular value of the centred,
 * scaled columns) from which terms count as together: Belsley, Kuh and
 * Welsch, "Regression Diagnostics" (1980), chapter 3. For two terms it is a
 * correlation of 0.9978. */
#define STAT_CONDITION_LIMIT 30.0

/*
 * Least squares of y on an intercept and `terms` columns. x is row after row:
 * x[row * terms + term]. Terms that cannot be told apart are named as a group
 * and get no number of their own; the others do, with t intervals.
 * Free with stat_regression_free(). Not known is no error.
 */
struct stat_regression stat_regress(const double *y, const double *x,
                                    size_t rows, size_t terms,
                                    double confidence);
void stat_regression_free(struct stat_regression *regression);

#endif
