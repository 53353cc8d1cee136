/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums run once over the data with Welford's recurrence, because the square
 * sums of nanoseconds lose the deviation in the last digits. Every quotient
 * is guarded where its divisor can be 0: a sample without variance is the
 * usual case under an instruction clock, not an accident.
 */
#include "analysis/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
stat_sort(double *values, size_t n)
{
    gsl_sort(values, 1, n);
}

double
stat_quantile(const double *ascending, size_t n, double p)
{
    double at = p * (double)(n - 1);
    size_t below = (size_t)at;

    if (at <= 0.0)
        return ascending[0];
    if (below >= n - 1)
        return ascending[n - 1];
    return ascending[below] +
           (at - (double)below) * (ascending[below + 1] - ascending[below]);
}

/* Takes the copy: sorts it in place. */
static struct stat_summary
summarise_scratch(double *values, size_t n)
{
    struct stat_summary s = {.n = n};
    double m2 = 0.0;

    for (size_t i = 0; i < n; i++) {
        double delta = values[i] - s.mean;
        s.mean += delta / (double)(i + 1);
        m2 += delta * (values[i] - s.mean);
    }
    stat_sort(values, n);
    s.min = values[0];
    s.max = values[n - 1];
    s.median = stat_quantile(values, n, 0.5);
    s.median_upper = values[n / 2];
    if (n >= 2) {
        s.has_stddev = true;
        s.stddev = sqrt(m2 / (double)(n - 1));
    }
    return s;
}

struct stat_summary
stat_summarise(const double *values, size_t n)
{
    struct stat_summary s = {0};
    double *copy = n ? calloc(n, sizeof *copy) : NULL;

    if (!copy)
        return s;
    memcpy(copy, values, n * sizeof *copy);
    s = summarise_scratch(copy, n);
    free(copy);
    return s;
}

struct stat_summary
stat_summarise_ns(const int64_t *values, size_t n, double scale)
{
    struct stat_summary s = {0};
    double *copy = n ? calloc(n, sizeof *copy) : NULL;

    if (!copy)
        return s;
    for (size_t i = 0; i < n; i++)
        copy[i] = (double)values[i] * scale;
    s = summarise_scratch(copy, n);
    free(copy);
    return s;
}

static bool
in_printed_table(double confidence)
{
    static const double printed[] = {80.0, 90.0, 95.0, 98.0, 99.0, 99.5};

    for (size_t i = 0; i < sizeof printed / sizeof printed[0]; i++)
        if (confidence == printed[i])
            return true;
    return false;
}

/* ministat's column of 0.999 is low in the third decimal for 7 to 12 degrees
 * of freedom: by so many thousandths. */
static double
misprint(double degrees)
{
    static const double low[] = {3, 2, 1, 1, 1, 1};

    return degrees >= 7.0 && degrees <= 12.0 ? low[(size_t)degrees - 7] : 0.0;
}

double
stat_t_quantile(double confidence, double degrees, enum stat_t source)
{
    double upper;

    gsl_set_error_handler_off();
    if (source == STAT_T_EXACT || !in_printed_table(confidence))
        return gsl_cdf_tdist_Qinv(0.5 - confidence / 200.0, degrees);
    /* The last column is headed 99.5 and holds 99.8: see the header. */
    upper = confidence == 99.5 ? 0.001 : 0.5 - confidence / 200.0;
    if (degrees > 100.0)
        return round(1000.0 * gsl_cdf_ugaussian_Qinv(upper)) / 1000.0;
    return (round(1000.0 * gsl_cdf_tdist_Qinv(upper, degrees)) -
            (confidence == 99.5 ? misprint(degrees) : 0.0)) / 1000.0;
}

struct stat_estimate
stat_mean(const struct stat_summary *sample, double confidence)
{
    struct stat_estimate e = {0};

    if (sample->n == 0)
        return e;
    e.has_value = true;
    e.value = sample->mean;
    if (sample->has_stddev) {
        double n = (double)sample->n;
        e.has_half = true;
        e.half_width = stat_t_quantile(confidence, n - 1.0, STAT_T_EXACT) *
                       sample->stddev / sqrt(n);
    }
    return e;
}

/* t is the quantile that made the half width. */
static void
judge(struct stat_difference *d, double t)
{
    double error = d->absolute.half_width / t;

    d->p = 1.0;
    if (d->absolute.has_half && error > 0.0)
        d->p = 2.0 * gsl_cdf_tdist_Q(fabs(d->absolute.value) / error,
                                     d->degrees);
    else if (d->absolute.has_half && d->absolute.value != 0.0)
        d->p = 0.0;
    if (!d->absolute.has_half)
        d->verdict = STAT_UNTESTABLE;
    else if (!(fabs(d->absolute.value) > d->absolute.half_width))
        d->verdict = STAT_NONE_PROVEN;
    else
        d->verdict = d->absolute.value < 0.0 ? STAT_LESS : STAT_MORE;
}

/* A share of the first mean: the half width is taken as if that mean were
 * known exactly, as ministat does. */
static void
fill_percent(struct stat_difference *d, double first_mean)
{
    if (first_mean == 0.0 || !d->absolute.has_value)
        return;
    d->percent.has_value = true;
    d->percent.value = d->absolute.value / first_mean * 100.0;
    d->percent.has_half = d->absolute.has_half;
    d->percent.half_width =
        d->absolute.half_width / fabs(first_mean) * 100.0;
}

static struct stat_difference
begin_difference(const struct stat_summary *first,
                 const struct stat_summary *second, double confidence)
{
    struct stat_difference d = {.confidence = confidence};

    if (first->n > 0 && second->n > 0) {
        d.absolute.has_value = true;
        d.absolute.value = second->mean - first->mean;
        d.absolute.has_half = first->has_stddev && second->has_stddev;
    }
    return d;
}

struct stat_interval
stat_median_interval(const double *ascending, size_t n, double confidence)
{
    struct stat_interval interval = {0};
    const double each_side = (1.0 - confidence / 100.0) / 2.0;
    unsigned rank = 0;

    /* rank: how many of the least values lie outside the interval or are its
     * end; with P(at most rank of n below the median) it grows. */
    while (rank < n / 2 &&
           gsl_cdf_binomial_P(rank, 0.5, (unsigned)n) <= each_side)
        rank++;
    if (rank == 0)
        return interval;
    interval.known = true;
    interval.low = ascending[rank - 1];
    interval.high = ascending[n - rank];
    return interval;
}

struct stat_difference
stat_welch(const struct stat_summary *first, const struct stat_summary *second,
           double confidence)
{
    struct stat_difference d = begin_difference(first, second, confidence);
    double t = 1.0;

    if (d.absolute.has_half) {
        double n1 = (double)first->n, n2 = (double)second->n;
        double v1 = first->stddev * first->stddev / n1;
        double v2 = second->stddev * second->stddev / n2;
        double sum = v1 + v2;

        if (sum > 0.0) {
            double s1 = v1 / sum, s2 = v2 / sum;
            d.degrees = 1.0 / (s1 * s1 / (n1 - 1.0) + s2 * s2 / (n2 - 1.0));
            t = stat_t_quantile(confidence, d.degrees, STAT_T_EXACT);
            d.absolute.half_width = t * sqrt(sum);
        } else {
            d.degrees = n1 + n2 - 2.0;
        }
    }
    fill_percent(&d, first->mean);
    judge(&d, t);
    return d;
}

struct stat_difference
stat_student(const struct stat_summary *first,
             const struct stat_summary *second, double confidence,
             enum stat_t source)
{
    struct stat_difference d = begin_difference(first, second, confidence);
    double t = 1.0;

    if (d.absolute.has_half) {
        double n1 = (double)first->n, n2 = (double)second->n;
        d.degrees = n1 + n2 - 2.0;
        d.has_pooled = true;
        d.pooled =
            sqrt(((n1 - 1.0) * first->stddev * first->stddev +
                  (n2 - 1.0) * second->stddev * second->stddev) /
                 d.degrees);
        t = stat_t_quantile(confidence, d.degrees, source);
        d.absolute.half_width = t * d.pooled * sqrt(1.0 / n1 + 1.0 / n2);
    }
    fill_percent(&d, first->mean);
    judge(&d, t);
    return d;
}

struct stat_difference
stat_paired(const double *first, const double *second, size_t n,
            double confidence)
{
    struct stat_difference d = {.confidence = confidence, .p = 1.0};
    double t = 1.0;
    double *gap = n ? calloc(n, sizeof *gap) : NULL;
    double first_mean = 0.0;
    struct stat_summary s;

    if (!gap)
        return d;
    for (size_t i = 0; i < n; i++) {
        gap[i] = second[i] - first[i];
        first_mean += (first[i] - first_mean) / (double)(i + 1);
    }
    s = summarise_scratch(gap, n);
    free(gap);
    d.absolute = stat_mean(&s, confidence);
    if (d.absolute.has_half) {
        d.degrees = (double)n - 1.0;
        t = stat_t_quantile(confidence, d.degrees, STAT_T_EXACT);
    }
    fill_percent(&d, first_mean);
    judge(&d, t);
    return d;
}

int
stat_holm(const double *p, size_t n, double confidence, bool *proven)
{
    double alpha = 1.0 - confidence / 100.0;
    size_t *order = calloc(n ? n : 1, sizeof *order);

    for (size_t i = 0; i < n; i++)
        proven[i] = false;
    if (!order)
        return -1;
    gsl_sort_index(order, p, 1, n);
    for (size_t i = 0; i < n; i++) {
        if (!(p[order[i]] < alpha / (double)(n - i)))
            break;
        proven[order[i]] = true;
    }
    free(order);
    return 0;
}

const char *
stat_verdict_name(enum stat_verdict verdict)
{
    static const char *const names[] = {
        [STAT_UNTESTABLE] = "untestable",
        [STAT_NONE_PROVEN] = "none proven",
        [STAT_LESS] = "less",
        [STAT_MORE] = "more",
    };
    return names[verdict];
}

/* p and interval of a coefficient of n pairs; spread is the standard error
 * of Fisher's z times sqrt(n - 3). */
static struct stat_correlation
correlation(double r, size_t n, double confidence, double spread)
{
    struct stat_correlation c = {.known = true};
    double degrees = (double)n - 2.0;

    c.r = fmin(1.0, fmax(-1.0, r));
    if (c.r * c.r < 1.0)
        c.p = 2.0 * gsl_cdf_tdist_Q(fabs(c.r) * sqrt(degrees /
                                                     (1.0 - c.r * c.r)),
                                    degrees);
    if (n < 4)
        return c;
    c.has_interval = true;
    c.low = c.high = c.r;
    if (c.r * c.r < 1.0) {
        double half = gsl_cdf_ugaussian_Qinv(0.5 - confidence / 200.0) *
                      spread / sqrt((double)n - 3.0);
        c.low = tanh(atanh(c.r) - half);
        c.high = tanh(atanh(c.r) + half);
    }
    return c;
}

static bool
varies(const double *values, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (values[i] != values[0])
            return true;
    return false;
}

struct stat_correlation
stat_pearson(const double *x, const double *y, size_t n, double confidence)
{
    struct stat_correlation none = {.p = 1.0};
    double r;

    if (n < 3 || !varies(x, n) || !varies(y, n))
        return none;
    gsl_set_error_handler_off();
    r = gsl_stats_correlation(x, 1, y, 1, n);
    return isfinite(r) ? correlation(r, n, confidence, 1.0) : none;
}

struct stat_correlation
stat_spearman(const double *x, const double *y, size_t n, double confidence)
{
    struct stat_correlation none = {.p = 1.0};
    double *work, r;

    if (n < 3 || !varies(x, n) || !varies(y, n))
        return none;
    work = calloc(2 * n, sizeof *work);
    if (!work)
        return none;
    gsl_set_error_handler_off();
    r = gsl_stats_spearman(x, 1, y, 1, n, work);
    free(work);
    return isfinite(r) ? correlation(r, n, confidence, sqrt(1.06)) : none;
}
