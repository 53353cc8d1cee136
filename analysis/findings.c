/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * Every sentence is built from the figures of one group (or of a group and
 * the group that it is compared with) and carries a cost in us per exec, by
 * which the sentences are sorted; what costs nothing comes after, in the
 * order of the table. A sentence whose figure is missing is not written.
 */
#include "analysis/findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sentence {
    double cost_us;
    size_t order;
    char text[900];
};

struct sentences {
    struct sentence *list;
    size_t count, space;
};

const char *
moved_text(const struct moved_cells *moved, char *text, size_t size)
{
    if (moved->known == 0)
        snprintf(text, size, "unknown");
    else if (moved->moved == 0)
        snprintf(text, size, "not moved");
    else if (moved->moved == moved->known)
        snprintf(text, size, "moved");
    else
        snprintf(text, size, "moved in %u of %u cells", moved->moved,
                 moved->known);
    return text;
}

static struct sentence *
new_sentence(struct sentences *sentences, double cost_us)
{
    struct sentence *sentence;

    if (sentences->count == sentences->space) {
        const size_t space = sentences->space == 0 ? 32 : sentences->space * 2;
        struct sentence *grown =
            realloc(sentences->list, space * sizeof(*grown));

        if (grown == NULL)
            return NULL;
        sentences->list = grown;
        sentences->space = space;
    }
    sentence = &sentences->list[sentences->count];
    sentence->cost_us = cost_us;
    sentence->order = sentences->count++;
    sentence->text[0] = '\0';
    return sentence;
}

static void __attribute__((format(printf, 2, 3)))
say(struct sentence *sentence, const char *format, ...)
{
    const size_t used = strlen(sentence->text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence->text + used, sizeof sentence->text - used, format,
              arguments);
    va_end(arguments);
}

/* "+384.8 us (+/- 1.0, 70.9 %)" or "no difference proven at 95 %". */
static void
say_cost(struct sentence *sentence, const struct figures *figures,
         const struct group_figures *group)
{
    const struct stat_difference *cost = &group->over_none;

    if (cost->verdict == STAT_UNTESTABLE)
        say(sentence, "its cost cannot be told from %u repetition%s",
            group->cells, group->cells == 1 ? "" : "s");
    else if (cost->verdict == STAT_NONE_PROVEN)
        say(sentence,
            "no difference in time from exec alone is proven at %g %% "
            "(%+.1f us, +/- %.1f)",
            figures->confidence, cost->absolute.value,
            cost->absolute.half_width);
    else
        say(sentence, "costs %.1f us %s per exec than exec alone (+/- %.1f",
            fabs(cost->absolute.value),
            cost->absolute.value < 0 ? "less" : "more",
            cost->absolute.half_width);
    if (cost->verdict == STAT_LESS || cost->verdict == STAT_MORE) {
        if (cost->percent.has_value)
            say(sentence, ", %+.1f %%", cost->percent.value);
        say(sentence, ")");
    }
}

/* Operations that the method adds per exec over none: "1.000 SETATTR and
 * 1.000 READ". Nothing below half a per cent of an operation. */
static void
say_added(struct sentence *sentence, const struct group_figures *group,
          const struct group_figures *none)
{
    const double least = 0.005;
    size_t i, said = 0;

    for (i = 0; i < group->operations.length; i++) {
        const char *name = group->operations.items[i].name;
        const double extra = group_per_exec(group, name, false) -
                             group_per_exec(none, name, false);

        if (extra >= least)
            say(sentence, "%s%.3f %s", said++ == 0 ? "; it adds " : ", ",
                extra, name);
    }
    if (said > 0)
        say(sentence, " per exec");
    said = 0;
    for (i = 0; i < none->operations.length; i++) {
        const char *name = none->operations.items[i].name;
        const double less = group_per_exec(none, name, false) -
                            group_per_exec(group, name, false);

        if (less >= least)
            say(sentence, "%s%.3f %s", said++ == 0 ? " and saves " : ", ",
                less, name);
    }
}

static void
say_moved(struct sentence *sentence, const struct group_figures *group)
{
    char text[64];

    if (group->server.known == 0) {
        say(sentence, "whether the atime moved on the server is not known");
        return;
    }
    if (group->server.moved == 0)
        say(sentence, "does not move the atime on the server");
    else if (group->server.moved == group->server.known)
        say(sentence, "moves the atime on the server (in %u of %u cells)",
            group->server.moved, group->server.known);
    else
        say(sentence, "%s", moved_text(&group->server, text, sizeof text));
    if (group->server.moved == 0 && group->client.moved > 0)
        say(sentence, ", only in the client's cache");
}

static void
method_sentence(struct sentences *sentences, const struct figures *figures,
                const struct group_figures *group)
{
    const struct run_filesystem *filesystem =
        &figures->run->filesystems[group->filesystem];
    const struct group_figures *none =
        figures_group(figures, group->filesystem, METHOD_NONE);
    const double cost = group->over_none.verdict == STAT_MORE
                            ? group->over_none.absolute.value
                            : 0.0;
    struct sentence *sentence;

    if (none == NULL || group->cells == 0 || none->cells == 0)
        return;
    sentence = new_sentence(sentences, cost);
    if (sentence == NULL)
        return;
    say(sentence, "%s %s ", filesystem->label, run_method_name(group->method));
    if (filesystem->kind == FILESYSTEM_NFS) {
        say_moved(sentence, group);
        say(sentence, " and ");
    }
    say_cost(sentence, figures, group);
    if (filesystem->kind == FILESYSTEM_NFS)
        say_added(sentence, group, none);
    say(sentence, ".");
}

static void
exec_sentence(struct sentences *sentences, const struct figures *figures,
              const struct group_figures *none)
{
    const struct run_filesystem *filesystem =
        &figures->run->filesystems[none->filesystem];
    const struct group_figures *baseline =
        figures_group(figures, none->filesystem, METHOD_NOEXEC);
    struct stat_difference part;
    struct sentence *sentence;
    size_t i, said = 0;

    if (none->cells == 0 || baseline == NULL || baseline->cells == 0)
        return;
    part = stat_welch(&baseline->sample, &none->sample, figures->confidence);
    if (!part.absolute.has_value)
        return;
    sentence = new_sentence(sentences, 0.0);
    if (sentence == NULL)
        return;
    say(sentence, "%s: the exec part of an exec takes %.1f us",
        filesystem->label, part.absolute.value);
    if (part.absolute.has_half)
        say(sentence, " (+/- %.1f)", part.absolute.half_width);
    if (filesystem->kind == FILESYSTEM_NFS) {
        say(sentence, " and %.3f RPCs",
            (double)none->rpcs / (double)none->execs);
        for (i = 0; i < none->calls.length; i++) {
            const char *name = none->calls.items[i].name;
            const double each = group_per_exec(none, name, true);

            if (each >= 0.005)
                say(sentence, "%s%.3f %s", said++ == 0 ? ": " : ", ", each,
                    name);
        }
    }
    say(sentence, ".");
}

static void
error_sentences(struct sentences *sentences, const struct figures *figures,
                const struct group_figures *group)
{
    const char *label = figures->run->filesystems[group->filesystem].label;
    const struct {
        const struct run_counts *counts;
        const char *what;
    } kinds[] = {
        {&group->method_errors, "the method failed with"},
        {&group->exec_errors, "the exec failed with"},
        {&group->errors, "the server answered"},
    };
    size_t i, j;

    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (j = 0; j < kinds[i].counts->length; j++) {
            const struct run_count *item = &kinds[i].counts->items[j];
            struct sentence *sentence = new_sentence(sentences, 0.0);

            if (sentence != NULL)
                say(sentence, "%s %s: %s %s %" PRIu64 " times in %" PRIu64
                    " execs.", label, run_method_name(group->method),
                    kinds[i].what, item->name, item->count, group->execs);
        }
    }
}

static int
by_cost(const void *left, const void *right)
{
    const struct sentence *a = left, *b = right;

    if (a->cost_us > b->cost_us)
        return -1;
    if (a->cost_us < b->cost_us)
        return 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void
findings_compute(struct figures *figures)
{
    struct sentences sentences = {0};
    size_t i;

    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];

        if (group->method == METHOD_NONE)
            exec_sentence(&sentences, figures, group);
        else if (group->method != METHOD_NOEXEC)
            method_sentence(&sentences, figures, group);
        error_sentences(&sentences, figures, group);
    }
    if (sentences.count > 1)
        qsort(sentences.list, sentences.count, sizeof(*sentences.list),
              by_cost);
    for (i = 0; i < sentences.count; i++)
        figures_add_finding(figures, "%s", sentences.list[i].text);
    free(sentences.list);
}
