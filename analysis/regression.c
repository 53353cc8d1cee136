/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Least squares that knows which of its terms it cannot tell apart.
 *
 * Theory of operation. Columns that do not vary are set aside: they are part
 * of the intercept. The others are centred and scaled to length 1 and
 * decomposed, Z = U S V'. A direction of V whose singular value is below
 * largest / STAT_CONDITION_LIMIT is a combination of terms that hardly moves
 * in these rows. A term belongs to such a combination when more than half of
 * the variance of its slope comes from those directions (the variance
 * decomposition of Belsley, Kuh and Welsch, section 3.2), or when the
 * direction does not move at all and the term has any part in it. Terms are
 * of one group when the projector on those directions links them; unlike the
 * directions themselves, the projector does not depend on how V was rotated.
 *
 * Slopes come from all directions that move at all (the pseudo-inverse), so
 * the terms outside a group, and the joint cost of a group that moves in one
 * way, are what any choice among the group's columns would give.
 */
#include "analysis/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_LIMIT 1e-9 /* of the largest singular value: no movement */
#define EXACT_PART 1e-6  /* component in a direction of no movement */
#define LINKED 0.05      /* normalised element of the projector */

struct fit {
    size_t n, p;     /* rows; terms that vary */
    size_t rank;     /* directions that move at all */
    size_t *column;  /* [p]: the caller's term */
    double *mean, *scale; /* [p] */
    gsl_matrix *u, *v, *work;
    gsl_vector *s, *scratch;
    double *residual; /* [n]: first centred y, then what is left */
    double *slope;    /* [p]: of the scaled columns */
    double *null;     /* [p * p]: projector on directions that hardly move */
    double *share;    /* [p]: of slope variance from those directions */
    double *exact;    /* [p]: largest part in a direction of no movement */
    double sigma2, t; /* residual variance, quantile */
};

static void
fit_free(struct fit *f)
{
    gsl_matrix_free(f->u);
    gsl_matrix_free(f->v);
    gsl_matrix_free(f->work);
    gsl_vector_free(f->s);
    gsl_vector_free(f->scratch);
    free(f->column);
    free(f->mean);
    free(f->scale);
    free(f->residual);
    free(f->slope);
    free(f->null);
    free(f->share);
    free(f->exact);
}

static double *
doubles(size_t n)
{
    return calloc(n ? n : 1, sizeof(double));
}

static bool
fit_allocate(struct fit *f, size_t rows, size_t terms)
{
    f->column = calloc(terms ? terms : 1, sizeof *f->column);
    f->mean = doubles(terms);
    f->scale = doubles(terms);
    f->residual = doubles(rows);
    f->slope = doubles(terms);
    f->null = doubles(terms * terms);
    f->share = doubles(terms);
    f->exact = doubles(terms);
    return f->column && f->mean && f->scale && f->residual && f->slope &&
           f->null && f->share && f->exact;
}

/* Sorts out which terms vary; the others get their state. */
static void
choose_columns(struct fit *f, struct stat_regression *r, const double *x)
{
    for (size_t j = 0; j < r->terms; j++) {
        double mean = 0.0;
        bool moves = false;

        for (size_t i = 0; i < r->rows; i++) {
            mean += (x[i * r->terms + j] - mean) / (double)(i + 1);
            moves |= x[i * r->terms + j] != x[j];
        }
        r->term[j].group = STAT_NO_GROUP;
        r->term[j].p = 1.0;
        if (!moves) {
            r->term[j].state =
                x[j] == 0.0 ? STAT_TERM_ABSENT : STAT_TERM_CONSTANT;
            continue;
        }
        f->column[f->p] = j;
        f->mean[f->p++] = mean;
    }
    f->n = r->rows;
}

static bool
decompose(struct fit *f, const double *x, size_t terms)
{
    f->u = gsl_matrix_alloc(f->n, f->p);
    f->v = gsl_matrix_alloc(f->p, f->p);
    f->work = gsl_matrix_alloc(f->p, f->p);
    f->s = gsl_vector_alloc(f->p);
    f->scratch = gsl_vector_alloc(f->p);
    if (!f->u || !f->v || !f->work || !f->s || !f->scratch)
        return false;
    for (size_t j = 0; j < f->p; j++) {
        double squares = 0.0;

        for (size_t i = 0; i < f->n; i++) {
            double z = x[i * terms + f->column[j]] - f->mean[j];
            gsl_matrix_set(f->u, i, j, z);
            squares += z * z;
        }
        f->scale[j] = sqrt(squares);
        for (size_t i = 0; i < f->n; i++)
            gsl_matrix_set(f->u, i, j,
                           gsl_matrix_get(f->u, i, j) / f->scale[j]);
    }
    return gsl_linalg_SV_decomp_mod(f->u, f->work, f->v, f->s, f->scratch) ==
           GSL_SUCCESS;
}

/* Slopes over the directions that move; residual and its variance. */
static void
solve(struct fit *f)
{
    for (size_t k = 0; k < f->p; k++) {
        double s = gsl_vector_get(f->s, k), part = 0.0;

        if (s <= EXACT_LIMIT * gsl_vector_get(f->s, 0))
            break;
        for (size_t i = 0; i < f->n; i++)
            part += gsl_matrix_get(f->u, i, k) * f->residual[i];
        for (size_t i = 0; i < f->n; i++)
            f->residual[i] -= gsl_matrix_get(f->u, i, k) * part;
        for (size_t j = 0; j < f->p; j++)
            f->slope[j] += gsl_matrix_get(f->v, j, k) * part / s;
        f->rank++;
    }
}

static void
find_directions(struct fit *f)
{
    for (size_t j = 0; j < f->p; j++) {
        double all = 0.0, still = 0.0;

        for (size_t k = 0; k < f->p; k++) {
            double top = gsl_vector_get(f->s, 0);
            double s = fmax(gsl_vector_get(f->s, k), EXACT_LIMIT * top);
            double v = gsl_matrix_get(f->v, j, k);

            all += v * v / (s * s);
            if (s * STAT_CONDITION_LIMIT > top)
                continue;
            still += v * v / (s * s);
            if (k >= f->rank)
                f->exact[j] = fmax(f->exact[j], fabs(v));
            for (size_t i = 0; i < f->p; i++)
                f->null[j * f->p + i] += v * gsl_matrix_get(f->v, i, k);
        }
        f->share[j] = all > 0.0 ? still / all : 0.0;
    }
}

/* Variance of the sum of weight[j] times slope of scaled column j. */
static double
variance(const struct fit *f, const double *weight)
{
    double sum = 0.0;

    for (size_t k = 0; k < f->rank; k++) {
        double along = 0.0, s = gsl_vector_get(f->s, k);

        for (size_t j = 0; j < f->p; j++)
            along += weight[j] * gsl_matrix_get(f->v, j, k);
        sum += along * along / (s * s);
    }
    return sum * f->sigma2;
}

static struct stat_estimate
combination(const struct fit *f, const double *weight)
{
    struct stat_estimate e = {.has_value = true, .has_half = true};

    for (size_t j = 0; j < f->p; j++)
        e.value += weight[j] * f->slope[j];
    e.half_width = f->t * sqrt(variance(f, weight));
    return e;
}

static double
link_between(const struct fit *f, size_t i, size_t j)
{
    double own = f->null[i * f->p + i] * f->null[j * f->p + j];

    return own > 0.0 ? fabs(f->null[i * f->p + j]) / sqrt(own) : 0.0;
}

static bool
is_member(const struct fit *f, size_t j)
{
    return f->exact[j] > EXACT_PART || f->share[j] > 0.5;
}

/* Gives term j, and all that is linked to it, the group. */
static size_t
spread(const struct fit *f, struct stat_regression *r, size_t j, size_t group)
{
    struct stat_term *term = &r->term[f->column[j]];
    size_t members = 1;

    term->group = group;
    term->state = STAT_TERM_TOGETHER;
    for (size_t i = 0; i < f->p; i++)
        if (r->term[f->column[i]].group == STAT_NO_GROUP && is_member(f, i) &&
            link_between(f, i, j) > LINKED)
            members += spread(f, r, i, group);
    return members;
}

/* A member that found nobody takes the term it is most linked with. */
static size_t
adopt_partner(const struct fit *f, struct stat_regression *r, size_t j,
              size_t group)
{
    size_t best = j;

    for (size_t i = 0; i < f->p; i++)
        if (i != j && r->term[f->column[i]].group == STAT_NO_GROUP &&
            (best == j || link_between(f, i, j) > link_between(f, best, j)))
            best = i;
    return best == j ? 0 : spread(f, r, best, group);
}

static bool
name_groups(const struct fit *f, struct stat_regression *r)
{
    for (size_t j = 0; j < f->p; j++) {
        struct stat_group *group;

        if (r->term[f->column[j]].group != STAT_NO_GROUP || !is_member(f, j))
            continue;
        group = realloc(r->group, (r->group_count + 1) * sizeof *r->group);
        if (!group)
            return false;
        r->group = group;
        group += r->group_count;
        *group = (struct stat_group){.leader = f->column[j]};
        group->members = spread(f, r, j, r->group_count);
        if (group->members == 1)
            group->members += adopt_partner(f, r, j, r->group_count);
        r->group_count++;
    }
    return true;
}

/* How far column i moves when column j moves by its own length. */
static double
follows(const struct fit *f, size_t i, size_t j)
{
    double sum = 0.0;

    for (size_t k = 0; k < f->p; k++) {
        double s = gsl_vector_get(f->s, k);
        sum += gsl_matrix_get(f->v, i, k) * gsl_matrix_get(f->v, j, k) * s * s;
    }
    return sum;
}

static void
joint_cost(const struct fit *f, struct stat_regression *r, size_t g,
           double *weight)
{
    struct stat_group *group = &r->group[g];
    double still = 0.0;
    size_t leader = 0;

    for (size_t j = 0; j < f->p; j++) {
        if (f->column[j] == group->leader)
            leader = j;
        if (r->term[f->column[j]].group == g)
            still += f->null[j * f->p + j];
    }
    if ((size_t)(still + 0.5) + 1 != group->members)
        return; /* moves in several ways */
    for (size_t j = 0; j < f->p; j++)
        weight[j] = r->term[f->column[j]].group == g
                        ? follows(f, j, leader) / f->scale[leader]
                        : 0.0;
    group->joint = combination(f, weight);
}

static double
p_value(const struct stat_estimate *e, double t, double degrees)
{
    double error = e->half_width / t;

    if (error > 0.0)
        return 2.0 * gsl_cdf_tdist_Q(fabs(e->value) / error, degrees);
    return e->value == 0.0 ? 1.0 : 0.0;
}

static void
fill_terms(const struct fit *f, struct stat_regression *r, double *weight)
{
    for (size_t j = 0; j < f->p; j++) {
        struct stat_term *term = &r->term[f->column[j]];

        if (term->group != STAT_NO_GROUP)
            continue;
        memset(weight, 0, f->p * sizeof *weight);
        weight[j] = 1.0 / f->scale[j];
        term->state = STAT_TERM_ESTIMATED;
        term->slope = combination(f, weight);
        term->p = p_value(&term->slope, f->t, r->degrees);
    }
    for (size_t g = 0; g < r->group_count; g++)
        joint_cost(f, r, g, weight);
}

/* y where every term is 0. Not known when that point cannot be reached along
 * the directions that move. */
static void
fill_intercept(const struct fit *f, struct stat_regression *r, double y_mean,
               double *weight)
{
    double length = 0.0, out = 0.0;

    for (size_t j = 0; j < f->p; j++) {
        weight[j] = f->mean[j] / f->scale[j];
        length += weight[j] * weight[j];
    }
    for (size_t k = f->rank; k < f->p; k++) {
        double along = 0.0;

        for (size_t j = 0; j < f->p; j++)
            along += weight[j] * gsl_matrix_get(f->v, j, k);
        out += along * along;
    }
    if (out > EXACT_PART * EXACT_PART * length)
        return;
    r->intercept = combination(f, weight);
    r->intercept.value = y_mean - r->intercept.value;
    r->intercept.half_width =
        f->t * sqrt(f->sigma2 / (double)f->n + variance(f, weight));
}

static void
fill_quality(struct fit *f, struct stat_regression *r, double total)
{
    double left = 0.0;

    for (size_t i = 0; i < f->n; i++)
        left += f->residual[i] * f->residual[i];
    if (total > 0.0) {
        r->has_r2 = true;
        r->r2 = fmax(0.0, 1.0 - left / total);
    }
    f->sigma2 = left / r->degrees;
    r->residual_stddev = sqrt(f->sigma2);
}

static bool
run_fit(struct fit *f, struct stat_regression *r, const double *y,
        const double *x, double confidence)
{
    double y_mean = 0.0, total = 0.0;
    double *weight;

    choose_columns(f, r, x);
    if (f->n < f->p + 2)
        return false;
    for (size_t i = 0; i < f->n; i++)
        y_mean += (y[i] - y_mean) / (double)(i + 1);
    for (size_t i = 0; i < f->n; i++) {
        f->residual[i] = y[i] - y_mean;
        total += f->residual[i] * f->residual[i];
    }
    if (f->p > 0) {
        if (!decompose(f, x, r->terms))
            return false;
        solve(f);
        find_directions(f);
        if (!name_groups(f, r))
            return false;
    }
    r->degrees = (double)(f->n - f->rank - 1);
    f->t = stat_t_quantile(confidence, r->degrees, STAT_T_EXACT);
    fill_quality(f, r, total);
    weight = doubles(f->p);
    if (!weight)
        return false;
    fill_terms(f, r, weight);
    fill_intercept(f, r, y_mean, weight);
    free(weight);
    return true;
}

struct stat_regression
stat_regress(const double *y, const double *x, size_t rows, size_t terms,
             double confidence)
{
    struct stat_regression r = {.rows = rows, .terms = terms};
    struct fit f = {0};

    gsl_set_error_handler_off();
    r.term = calloc(terms ? terms : 1, sizeof *r.term);
    if (r.term && rows > 0 && fit_allocate(&f, rows, terms))
        r.known = run_fit(&f, &r, y, x, confidence);
    fit_free(&f);
    return r;
}

void
stat_regression_free(struct stat_regression *regression)
{
    free(regression->term);
    free(regression->group);
    *regression = (struct stat_regression){0};
}
