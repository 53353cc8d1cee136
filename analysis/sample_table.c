/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation of the plot. The axis runs from the lowest to the
 * highest of all values and of all ends of bars. Each sample counts its
 * values per column of the axis; a column's height is its largest count, and
 * at each height the column shows the symbol of the one sample that reaches
 * it, or '*' when several do. Counts above PLOT_ROWS_MOST are divided, and
 * the plot says by how much.
 */
#include "analysis/sample_table.h"

#include "analysis/escape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char symbols[] = "x+%#@O";
_Static_assert(sizeof symbols - 1 == SAMPLES_MAX, "a symbol for each sample");

struct axis {
    double low, high;
    unsigned width;
};

char
sample_symbol(size_t i)
{
    return symbols[i % SAMPLES_MAX];
}

static const char *
or_empty(const char *indent)
{
    return indent ? indent : "";
}

void
samples_legend(const struct sample *samples, size_t count, const char *indent,
               FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%c ", or_empty(indent), sample_symbol(i));
        escape_write(ESCAPE_TERMINAL, samples[i].name,
                     strlen(samples[i].name), out);
        fputc('\n', out);
    }
}

static unsigned
place(const struct axis *axis, double value)
{
    double share = (value - axis->low) / (axis->high - axis->low);

    return (unsigned)(share * (double)(axis->width - 1) + 0.5);
}

static struct axis
make_axis(const struct sample *samples, size_t count, unsigned width)
{
    struct axis axis = {samples[0].summary.min, samples[0].summary.max,
                        width ? width : PLOT_WIDTH};

    if (axis.width < PLOT_WIDTH_LEAST)
        axis.width = PLOT_WIDTH_LEAST;
    if (axis.width > PLOT_WIDTH_MOST)
        axis.width = PLOT_WIDTH_MOST;
    for (size_t i = 0; i < count; i++) {
        const struct stat_summary *s = &samples[i].summary;
        axis.low = fmin(axis.low, fmin(s->min, s->mean - s->stddev));
        axis.high = fmax(axis.high, fmax(s->max, s->mean + s->stddev));
    }
    return axis;
}

static void
border(const struct axis *axis, const char *indent, FILE *out)
{
    fprintf(out, "%s+", indent);
    for (unsigned i = 0; i < axis->width; i++)
        fputc('-', out);
    fputs("+\n", out);
}

/* heights[sample * width + column]. @return the largest. */
static size_t
count_heights(const struct sample *samples, size_t count,
              const struct axis *axis, size_t *heights)
{
    size_t largest = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < samples[i].length; k++) {
            size_t at = i * axis->width + place(axis, samples[i].values[k]);
            if (++heights[at] > largest)
                largest = heights[at];
        }
    return largest;
}

static void
dot_row(const size_t *heights, size_t count, const struct axis *axis,
        size_t above, const char *indent, FILE *out)
{
    fprintf(out, "%s|", indent);
    for (unsigned column = 0; column < axis->width; column++) {
        char shown = ' ';

        for (size_t i = 0; i < count; i++)
            if (heights[i * axis->width + column] > above)
                shown = shown == ' ' ? sample_symbol(i) : '*';
        fputc(shown, out);
    }
    fputs("|\n", out);
}

/* A bar never hides the mark of another. */
static void
draw_bar(const struct sample *sample, const struct axis *axis, bool upper,
         char *line)
{
    const struct stat_summary *s = &sample->summary;
    unsigned from = place(axis, s->mean - s->stddev);
    unsigned to = place(axis, s->mean + s->stddev);

    for (unsigned i = from; i <= to; i++)
        if (line[i] == ' ')
            line[i] = '_';
    line[from] = line[to] = '|';
    line[place(axis, upper ? s->median_upper : s->median)] = 'M';
    line[place(axis, s->mean)] = 'A';
}

static void
bars(const struct sample *samples, size_t count, const struct axis *axis,
     const struct sample_style *style, FILE *out)
{
    char line[PLOT_WIDTH_MOST + 1];

    memset(line, ' ', sizeof line);
    line[axis->width] = '\0';
    for (size_t i = 0; i < count; i++) {
        draw_bar(&samples[i], axis, style->upper_median, line);
        if (!style->separate_bars && i + 1 < count)
            continue;
        fprintf(out, "%s|%s|\n", or_empty(style->indent), line);
        memset(line, ' ', axis->width);
    }
}

void
samples_plot(const struct sample *samples, size_t count,
             const struct sample_style *style, FILE *out)
{
    struct axis axis = make_axis(samples, count, style->width);
    const char *indent = or_empty(style->indent);
    size_t *heights, rows, each = 1;

    if (!(axis.high > axis.low)) {
        fprintf(out, "%s[no plot: all values are equal]\n", indent);
        return;
    }
    heights = calloc(count * axis.width, sizeof *heights);
    if (!heights) {
        fprintf(out, "%s[no plot: out of memory]\n", indent);
        return;
    }
    rows = count_heights(samples, count, &axis, heights);
    if (rows > PLOT_ROWS_MOST) {
        each = (rows + PLOT_ROWS_MOST - 1) / PLOT_ROWS_MOST;
        rows = (rows + each - 1) / each;
    }
    border(&axis, indent, out);
    while (rows-- > 0)
        dot_row(heights, count, &axis, rows * each, indent, out);
    free(heights);
    bars(samples, count, &axis, style, out);
    border(&axis, indent, out);
    if (each > 1)
        fprintf(out, "%s[one symbol: up to %zu values]\n", indent, each);
}

void
difference_print(const struct stat_difference *d, const char *indent,
                 FILE *out)
{
    indent = or_empty(indent);
    if (d->verdict == STAT_UNTESTABLE) {
        fprintf(out, "%sNo difference can be tested: fewer than two values\n",
                indent);
        fprintf(out, "%s\t%g +/- ?\n", indent, d->absolute.value);
        if (d->percent.has_value)
            fprintf(out, "%s\t%g%% +/- ?\n", indent, d->percent.value);
        return;
    }
    if (d->verdict == STAT_NONE_PROVEN) {
        fprintf(out, "%sNo difference proven at %.1f%% confidence\n", indent,
                d->confidence);
        return;
    }
    fprintf(out, "%sDifference at %.1f%% confidence\n", indent, d->confidence);
    fprintf(out, "%s\t%g +/- %g\n", indent, d->absolute.value,
            d->absolute.half_width);
    if (d->percent.has_value)
        fprintf(out, "%s\t%g%% +/- %g%%\n", indent, d->percent.value,
                d->percent.half_width);
    else
        fprintf(out, "%s\t- (no per cent of 0)\n", indent);
    if (d->has_pooled)
        fprintf(out, "%s\t(Student's t, pooled s = %g)\n", indent, d->pooled);
}

static void
table_row(const struct sample *sample, char symbol,
          const struct sample_style *style, FILE *out)
{
    const struct stat_summary *s = &sample->summary;

    fprintf(out, "%s%c %3zu %13.8g %13.8g %13.8g %13.8g ",
            or_empty(style->indent), symbol, s->n, s->min, s->max,
            style->upper_median ? s->median_upper : s->median, s->mean);
    if (s->has_stddev)
        fprintf(out, "%13.8g\n", s->stddev);
    else
        fprintf(out, "%13s\n", "-");
}

void
samples_table(const struct sample *samples, size_t count,
              const struct sample_style *style, FILE *out)
{
    fprintf(out, "%s    N %13s %13s %13s %13s %13s\n",
            or_empty(style->indent), "Min", "Max", "Median", "Avg", "Stddev");
    for (size_t i = 0; i < count; i++) {
        struct stat_difference d;

        table_row(&samples[i], sample_symbol(i), style, out);
        if (i == 0 || style->no_comparison)
            continue;
        d = stat_student(&samples[0].summary, &samples[i].summary,
                         style->confidence, style->t);
        difference_print(&d, style->indent, out);
    }
}

void
samples_print(const struct sample *samples, size_t count,
              const struct sample_style *style, FILE *out)
{
    samples_legend(samples, count, style->indent, out);
    if (!style->no_plot && !style->no_comparison)
        samples_plot(samples, count, style, out);
    samples_table(samples, count, style, out);
}
