/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/compare.h"

#include <jansson.h>

/* json_real() refuses what is no number; null says so. */
static json_t *
real_value(bool known, double value)
{
    json_t *real = known ? json_real(value) : NULL;

    return real ? real : json_null();
}

/* Text that is not UTF-8 cannot be a JSON string: its odd bytes become '?'. */
static json_t *
text_value(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    char plain[512];
    size_t i;

    if (value)
        return value;
    for (i = 0; text[i] && i < sizeof plain - 1; i++)
        plain[i] = (unsigned char)text[i] < 128 ? text[i] : '?';
    plain[i] = '\0';
    return json_string(plain);
}

static json_t *
sample_value(const struct sample *sample)
{
    const struct stat_summary *s = &sample->summary;
    json_t *values = json_array(), *object = json_object();

    for (size_t i = 0; i < sample->length; i++)
        json_array_append_new(values, json_real(sample->values[i]));
    json_object_set_new(object, "name", text_value(sample->name));
    json_object_set_new(object, "n", json_integer((json_int_t)s->n));
    json_object_set_new(object, "min", real_value(s->n > 0, s->min));
    json_object_set_new(object, "max", real_value(s->n > 0, s->max));
    json_object_set_new(object, "median", real_value(s->n > 0, s->median));
    json_object_set_new(object, "mean", real_value(s->n > 0, s->mean));
    json_object_set_new(object, "stddev", real_value(s->has_stddev, s->stddev));
    json_object_set_new(object, "values", values);
    return object;
}

static json_t *
difference_value(const struct stat_difference *d)
{
    bool tested = d->verdict != STAT_UNTESTABLE;
    json_t *object = json_object();

    json_object_set_new(object, "difference",
                        real_value(d->absolute.has_value, d->absolute.value));
    json_object_set_new(
        object, "half_width",
        real_value(d->absolute.has_half, d->absolute.half_width));
    json_object_set_new(object, "percent",
                        real_value(d->percent.has_value, d->percent.value));
    json_object_set_new(
        object, "percent_half_width",
        real_value(d->percent.has_half, d->percent.half_width));
    json_object_set_new(object, "degrees", real_value(tested, d->degrees));
    json_object_set_new(object, "p", real_value(tested, d->p));
    if (d->has_pooled)
        json_object_set_new(object, "pooled_stddev", json_real(d->pooled));
    json_object_set_new(object, "verdict",
                        json_string(stat_verdict_name(d->verdict)));
    return object;
}

static json_t *
row_value(const struct compare_row *row)
{
    json_t *object = json_object();

    json_object_set_new(object, "first", sample_value(&row->sample[0]));
    json_object_set_new(object, "second", sample_value(&row->sample[1]));
    json_object_set_new(object, "student", difference_value(&row->student));
    json_object_set_new(object, "welch", difference_value(&row->welch));
    json_object_set_new(object, "proven", json_boolean(row->proven));
    return object;
}

/* The cell of row number *at, its time and counts; moves *at past it. */
static json_t *
cell_value(const struct comparison *c, size_t *at)
{
    const struct compare_row *time = &c->rows[*at];
    json_t *object = json_object(), *counts = json_object();

    json_object_set_new(object, "filesystem", text_value(time->first->label));
    json_object_set_new(object, "method", text_value(time->first->method));
    json_object_set_new(object, "us_per_exec", row_value(time));
    for ((*at)++; *at < c->row_count && c->rows[*at].count; (*at)++)
        json_object_set_new(counts, c->rows[*at].count,
                            row_value(&c->rows[*at]));
    if (!time->first->counted || !time->second->counted) {
        json_decref(counts);
        counts = json_null();
    }
    json_object_set_new(object, "rpcs_per_exec", counts);
    json_object_set_new(object, "inconclusive",
                        json_boolean(time->first->lossy ||
                                     time->second->lossy));
    return object;
}

static json_t *
set_value(const struct compare_set *set)
{
    json_t *object = json_object();

    json_object_set_new(object, "name", text_value(set->name));
    json_object_set_new(object, "kernel", text_value(set->kernel));
    json_object_set_new(object, "clock", text_value(set->clock));
    json_object_set_new(object, "complete", json_boolean(!set->incomplete));
    return object;
}

static json_t *
comparison_value(const struct comparison *c)
{
    json_t *object = json_object(), *cells = json_array();

    json_object_set_new(object, "first", set_value(c->first));
    json_object_set_new(object, "second", set_value(c->second));
    for (size_t i = 0; i < c->row_count;)
        json_array_append_new(cells, cell_value(c, &i));
    json_object_set_new(object, "cells", cells);
    json_object_set_new(object, "tests", json_integer((json_int_t)c->tests));
    json_object_set_new(object, "proven", json_integer((json_int_t)c->proven));
    json_object_set_new(object, "only_first",
                        json_integer((json_int_t)c->only_first));
    json_object_set_new(object, "only_second",
                        json_integer((json_int_t)c->only_second));
    return object;
}

static json_t *
begin(double confidence)
{
    json_t *object = json_object();

    json_object_set_new(object, "schema", json_string(COMPARE_SCHEMA));
    json_object_set_new(object, "confidence", json_real(confidence));
    return object;
}

static int
finish(json_t *object, FILE *out)
{
    int status = json_dumpf(object, out, JSON_INDENT(2));

    json_decref(object);
    fputc('\n', out);
    return status || ferror(out) ? -1 : 0;
}

int
comparisons_json(const struct comparison *comparisons, size_t count, FILE *out)
{
    json_t *root = begin(comparisons[0].confidence), *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, comparison_value(&comparisons[i]));
    json_object_set_new(root, "comparisons", list);
    return finish(root, out);
}

int
samples_json(const struct sample *samples, size_t count, double confidence,
             enum stat_t t, FILE *out)
{
    json_t *root = begin(confidence), *list = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *object = sample_value(&samples[i]);

        if (i > 0) {
            struct stat_difference d =
                stat_student(&samples[0].summary, &samples[i].summary,
                             confidence, t);
            json_object_set_new(object, "against_first",
                                difference_value(&d));
        }
        json_array_append_new(list, object);
    }
    json_object_set_new(root, "samples", list);
    return finish(root, out);
}
