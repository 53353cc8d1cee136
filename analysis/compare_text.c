/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/compare.h"

#include "analysis/escape.h"

#include <string.h>

static void
put(const char *text, FILE *out)
{
    escape_write(ESCAPE_TERMINAL, text, strlen(text), out);
}

static void
set_line(const struct compare_set *set, char letter, FILE *out)
{
    fprintf(out, "%c  ", letter);
    put(set->name, out);
    if (set->kernel) {
        fputs("   ", out);
        put(set->kernel, out);
    }
    if (set->clock) {
        fputs("   clock ", out);
        put(set->clock, out);
    }
    fputs(set->incomplete ? "   INCOMPLETE\n" : "\n", out);
}

/* What a bench's time and counts are divided by. */
static const char *
unit(const struct comparison *c)
{
    const char *bench = c->first->bench;

    return bench == NULL || !strcmp(bench, "self-exec") ? "exec"
           : !strcmp(bench, "header")                   ? "access"
                                                        : "file";
}

static void
blocks(const struct comparison *c, const struct sample_style *style, FILE *out)
{
    for (size_t i = 0; i < c->row_count; i++) {
        const struct compare_row *row = &c->rows[i];

        if (row->count)
            continue;
        put(row->first->label, out);
        fputc(' ', out);
        put(row->first->method, out);
        fprintf(out, ": us per %s, of each repetition\n",
                unit(c));
        samples_print(row->sample, 2, style, out);
        fputc('\n', out);
    }
}

static bool
nothing_moved(const struct compare_row *row)
{
    const struct stat_difference *d = &row->welch;

    return row->count && d->verdict == STAT_NONE_PROVEN &&
           d->absolute.half_width == 0.0;
}

static const char *
verdict(const struct compare_row *row)
{
    enum stat_verdict v = row->welch.verdict;

    if (v == STAT_LESS || v == STAT_MORE)
        return row->proven ? stat_verdict_name(v) : "none proven *";
    return stat_verdict_name(v);
}

static void
figures_of(const struct compare_row *row, FILE *out)
{
    const struct stat_difference *d = &row->welch;
    int digits = row->count ? 3 : 1;

    fprintf(out, " %10.*f %10.*f %+10.*f", digits, row->sample[0].summary.mean,
            digits, row->sample[1].summary.mean, digits, d->absolute.value);
    if (d->absolute.has_half)
        fprintf(out, " +-%-8.*f", digits, d->absolute.half_width);
    else
        fprintf(out, " %-10s", "+-?");
    if (d->percent.has_value)
        fprintf(out, " %+7.1f", d->percent.value);
    else
        fprintf(out, " %7s", "-");
    fprintf(out, "  %s\n", verdict(row));
}

static void
table_line(const struct compare_row *row, FILE *out)
{
    char label[32] = "", method[40] = "", what[40], runs[48] = "";

    if (!row->count) {
        escape_string(ESCAPE_TERMINAL, row->first->label, label, sizeof label);
        escape_string(ESCAPE_TERMINAL, row->first->method, method,
                      sizeof method);
        snprintf(runs, sizeof runs, "%zu+%zu", row->first->n, row->second->n);
    }
    escape_string(ESCAPE_TERMINAL, row->count ? row->count : "us", what,
                  sizeof what);
    fprintf(out, "%-8s %-12s %-14s %6s", label, method, what, runs);
    figures_of(row, out);
}

/* The counts of the cell whose time is row number i that are the same in
 * every repetition of both. */
static void
unchanged_line(const struct comparison *c, size_t i, FILE *out)
{
    bool any = false;

    for (i++; i < c->row_count && c->rows[i].count; i++) {
        if (!nothing_moved(&c->rows[i]))
            continue;
        fprintf(out, any ? ", " : "%-8s %-12s unchanged: ", "", "");
        put(c->rows[i].count, out);
        fprintf(out, " %.3f", c->rows[i].sample[0].summary.mean);
        any = true;
    }
    if (any)
        fputc('\n', out);
}

static void
cell_notes(const struct compare_row *row, FILE *out)
{
    const struct compare_cell *a = row->first, *b = row->second;

    if (a->counted != b->counted)
        fprintf(out, "%-8s %-12s RPCs were counted in %s only\n", "", "",
                a->counted ? "A" : "B");
    if (a->lossy || b->lossy)
        fprintf(out,
                "%-8s %-12s inconclusive: the capture of %s lost packets, its "
                "counts are lower bounds\n",
                "", "", a->lossy ? b->lossy ? "both" : "A" : "B");
}

static void
closing(const struct comparison *c, FILE *out)
{
    fprintf(out, "\n%zu of %zu comparisons proven at %.1f%% confidence, all "
                 "taken together (Welch, Holm)\n",
            c->proven, c->tests, c->confidence);
    if (c->alone > c->proven)
        fprintf(out,
                "* %zu more would pass alone: by chance %.1f of %zu do when "
                "nothing differs\n",
                c->alone - c->proven,
                (double)c->tests * (1.0 - c->confidence / 100.0), c->tests);
    if (c->only_first || c->only_second)
        fprintf(out, "Not compared: %zu cells of A only, %zu of B only\n",
                c->only_first, c->only_second);
}

void
comparison_text(const struct comparison *c, const struct sample_style *style,
                FILE *out)
{
    char confidence[16], per[16];

    snprintf(confidence, sizeof confidence, "%.3g %%", c->confidence);
    set_line(c->first, 'A', out);
    set_line(c->second, 'B', out);
    fputc('\n', out);
    blocks(c, style, out);
    if (style->no_comparison)
        return;
    snprintf(per, sizeof per, "per %s", unit(c));
    fprintf(out, "%-8s %-12s %-14s %6s %10s %10s %10s   %-8s %7s\n", "", "",
            per, "N", "A", "B", "B - A", confidence, "%");
    for (size_t i = 0; i < c->row_count; i++) {
        if (!nothing_moved(&c->rows[i]))
            table_line(&c->rows[i], out);
        if (!c->rows[i].count) {
            unchanged_line(c, i, out);
            cell_notes(&c->rows[i], out);
        }
    }
    closing(c, out);
}
