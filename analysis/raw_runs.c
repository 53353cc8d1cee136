/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation of the reader. A line is a heading (begins in the first
 * column), a method line, or a run. A heading opens the baseline or sets the
 * file system; a run belongs to the group opened last, and a run before any
 * group is an error, as is a method outside a heading. Groups opened twice
 * gain runs: files can be put one after another.
 */
#include "analysis/raw_runs.h"

#include "analysis/columns.h"
#include "analysis/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 8

struct reader {
    const char *name;
    size_t line;
    char *label;   /* of the heading, "" before the first */
    size_t group;  /* index; SIZE_MAX: none open */
    char *error;
    size_t error_size;
};

static int
fail(struct reader *r, const char *what, const char *word)
{
    char shown[64];

    snprintf(r->error, r->error_size, "%s: line %zu: %s%s%s", r->name, r->line,
             what, word ? ": " : "",
             word ? escape_string(ESCAPE_TERMINAL, word, shown, sizeof shown)
                  : "");
    return -1;
}

const struct raw_group *
raw_runs_group(const struct raw_runs *runs, const char *label,
               enum run_method method, const char *setting)
{
    for (size_t i = 0; i < runs->group_count; i++) {
        const struct raw_group *g = &runs->groups[i];
        if (g->method == method && !strcmp(g->label, label) &&
            !strcmp(g->setting, setting ? setting : ""))
            return g;
    }
    return NULL;
}

static int
open_group(struct reader *r, struct raw_runs *runs, const char *label,
           enum run_method method, const char *setting)
{
    const struct raw_group *old = raw_runs_group(runs, label, method, setting);
    struct raw_group *grown;

    if (old) {
        r->group = (size_t)(old - runs->groups);
        return 0;
    }
    grown = realloc(runs->groups, (runs->group_count + 1) * sizeof *grown);
    if (!grown)
        return fail(r, "out of memory", NULL);
    runs->groups = grown;
    r->group = runs->group_count++;
    grown[r->group] = (struct raw_group){.method = method,
                                         .label = strdup(label),
                                         .setting = strdup(setting)};
    if (!grown[r->group].label || !grown[r->group].setting)
        return fail(r, "out of memory", NULL);
    return 0;
}

/* LABEL-PROGRAM-noexec or LABEL-static-PROGRAM; a program may be a path. */
static int
heading(struct reader *r, struct raw_runs *runs, char *word)
{
    static const char noexec[] = "-noexec";
    size_t length = strlen(word);
    bool baseline = length > sizeof noexec - 1 &&
                    !strcmp(word + length - (sizeof noexec - 1), noexec);
    char *end;

    if (baseline)
        word[length - (sizeof noexec - 1)] = '\0';
    end = baseline ? strchr(word, '/') : strstr(word, "-static-");
    if (baseline) {
        if (end)
            *end = '\0';
        end = strrchr(word, '-');
    }
    if (!end || end == word)
        return fail(r,
                    "a heading is FS-PROGRAM-noexec or FS-static-PROGRAM",
                    word);
    *end = '\0';
    free(r->label);
    r->label = strdup(word);
    r->group = SIZE_MAX;
    if (!r->label)
        return fail(r, "out of memory", NULL);
    return baseline ? open_group(r, runs, word, METHOD_NOEXEC, "") : 0;
}

static enum run_method
method_of(const char *word)
{
    static const struct {
        const char *number;
        enum run_method method;
    } numbers[] = {{"-1", METHOD_NONE},
                   {"1", METHOD_SETATTR},
                   {"2", METHOD_READ},
                   {"3", METHOD_OPEN_READ}};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!strcmp(word, numbers[i].number))
            return numbers[i].method;
    return run_method_by_name(word);
}

static int
method_line(struct reader *r, struct raw_runs *runs, char *word)
{
    char *slash = strchr(word, '/');
    enum run_method method;

    if (slash)
        *slash++ = '\0';
    method = method_of(word);
    if (method == METHOD_COUNT)
        return fail(r, "no method of that name or number", word);
    if (!r->label)
        return fail(r, "a method before the first heading", word);
    return open_group(r, runs, r->label, method, slash ? slash : "");
}

static int
execs_line(struct reader *r, struct raw_runs *runs, const char *word)
{
    char *end;
    unsigned long long n;

    errno = 0;
    n = strtoull(word, &end, 10);
    if (*word < '0' || *word > '9' || *end || errno || n == 0 ||
        n > 1000000000000ULL)
        return fail(r, "execs is a whole number from 1", word);
    if (runs->execs && runs->execs != n)
        return fail(r, "another number of execs than before", word);
    runs->execs = n;
    return 0;
}

static int
add_value(double **list, size_t length, double value)
{
    double *grown = realloc(*list, (length + 1) * sizeof *grown);

    if (!grown)
        return -1;
    *list = grown;
    grown[length] = value;
    return 0;
}

static int
run_line(struct reader *r, struct raw_runs *runs, char **word)
{
    struct raw_group *g;
    double value[3];

    for (size_t i = 0; i < 3; i++)
        if (!decimal_parse(word[2 * i], &value[i]) || value[i] < 0.0)
            return fail(r, "not a number of seconds", word[2 * i]);
    if (r->group == SIZE_MAX)
        return fail(r, "a run before any heading or method", NULL);
    g = &runs->groups[r->group];
    if (add_value(&g->real, g->runs, value[0]) ||
        add_value(&g->user, g->runs, value[1]) ||
        add_value(&g->sys, g->runs, value[2]))
        return fail(r, "out of memory", NULL);
    g->runs++;
    return 0;
}

static int
one_line(struct reader *r, struct raw_runs *runs, char *line)
{
    char *word[WORDS] = {NULL}, *rest = NULL;
    size_t n = 0;

    line[strcspn(line, "#")] = '\0';
    for (char *w = strtok_r(line, " \t\r\n", &rest); w && n < WORDS;
         w = strtok_r(NULL, " \t\r\n", &rest))
        word[n++] = w;
    if (n == 0)
        return 0;
    if (n == 6 && !strcmp(word[1], "real") && !strcmp(word[3], "user") &&
        !strcmp(word[5], "sys"))
        return run_line(r, runs, word);
    if (n == 2 && !strcmp(word[0], "method"))
        return method_line(r, runs, word[1]);
    if (n == 2 && !strcmp(word[0], "execs"))
        return execs_line(r, runs, word[1]);
    if (n == 1)
        return heading(r, runs, word[0]);
    return fail(r, "neither heading, nor method, nor \"S real S user S sys\"",
                word[0]);
}

int
raw_runs_read(FILE *in, const char *name, struct raw_runs *runs, char *error,
              size_t error_size)
{
    struct reader r = {.name = name,
                       .group = SIZE_MAX,
                       .error = error,
                       .error_size = error_size};
    char *line = NULL;
    size_t size = 0, found = 0;
    int status = 0;

    *runs = (struct raw_runs){0};
    errno = 0;
    while (status == 0 && getline(&line, &size, in) >= 0) {
        r.line++;
        status = one_line(&r, runs, line);
    }
    free(line);
    free(r.label);
    if (status)
        return status;
    if (ferror(in)) {
        snprintf(error, error_size, "%s: %s", name, strerror(errno));
        return -1;
    }
    for (size_t i = 0; i < runs->group_count; i++)
        found += runs->groups[i].runs;
    if (found == 0) {
        snprintf(error, error_size,
                 "%s: no run in it (\"S real S user S sys\")", name);
        return -1;
    }
    return 0;
}

void
raw_runs_free(struct raw_runs *runs)
{
    for (size_t i = 0; i < runs->group_count; i++) {
        struct raw_group *g = &runs->groups[i];
        free(g->label);
        free(g->setting);
        free(g->real);
        free(g->user);
        free(g->sys);
    }
    free(runs->groups);
    *runs = (struct raw_runs){0};
}

static struct stat_summary
us_per_exec(const struct raw_runs *runs, const struct raw_group *g)
{
    struct stat_summary s = {0};
    double *us = g ? calloc(g->runs ? g->runs : 1, sizeof *us) : NULL;

    if (!us)
        return s;
    for (size_t i = 0; i < g->runs; i++)
        us[i] = g->real[i] * 1e6 / (double)runs->execs;
    s = stat_summarise(us, g->runs);
    free(us);
    return s;
}

/* In the group's own setting, else in the one without a name. */
static const struct raw_group *
other_method(const struct raw_runs *runs, const struct raw_group *group,
             enum run_method method)
{
    const struct raw_group *own =
        raw_runs_group(runs, group->label, method, group->setting);

    return own ? own : raw_runs_group(runs, group->label, method, "");
}

struct raw_cost
raw_runs_cost(const struct raw_runs *runs, const struct raw_group *group,
              double confidence)
{
    struct raw_cost c = {.group = group};
    struct stat_summary other;

    c.sample = us_per_exec(runs, group);
    c.mean = stat_mean(&c.sample, confidence);
    if (group->method == METHOD_NONE)
        c.base = other_method(runs, group, METHOD_NOEXEC);
    else if (group->method != METHOD_NOEXEC)
        c.base = other_method(runs, group, METHOD_NONE);
    if (group->method > METHOD_NONE)
        c.below = other_method(runs, group,
                               (enum run_method)(group->method - 1));
    other = us_per_exec(runs, c.base);
    c.over_base = stat_welch(&other, &c.sample, confidence);
    other = us_per_exec(runs, c.below);
    c.step = stat_welch(&other, &c.sample, confidence);
    return c;
}

static void
print_estimate(const struct stat_estimate *e, int digits, bool sign, FILE *out)
{
    if (!e->has_value)
        fprintf(out, " %9s %7s", "-", "");
    else if (!e->has_half)
        fprintf(out, sign ? " %+9.*f %7s" : " %9.*f %7s", digits, e->value,
                "+-?");
    else
        fprintf(out, sign ? " %+9.*f +-%-5.*f" : " %9.*f +-%-5.*f", digits,
                e->value, digits, e->half_width);
}

static const char *
proof(const struct stat_difference *d)
{
    if (!d->absolute.has_value)
        return "-";
    return stat_verdict_name(d->verdict);
}

static void
print_cost(const struct raw_cost *c, bool first, FILE *out)
{
    char label[48], method[48], name[96];

    snprintf(name, sizeof name, "%s%s%s", run_method_name(c->group->method),
             *c->group->setting ? "/" : "", c->group->setting);
    escape_string(ESCAPE_TERMINAL, first ? c->group->label : "", label,
                  sizeof label);
    escape_string(ESCAPE_TERMINAL, name, method, sizeof method);
    fprintf(out, "%-8s %-17s %3zu", label, method, c->sample.n);
    print_estimate(&c->mean, 1, false, out);
    print_estimate(&c->over_base.absolute, 1, true, out);
    if (c->over_base.percent.has_value)
        fprintf(out, " %+6.1f", c->over_base.percent.value);
    else
        fprintf(out, " %6s", "-");
    fprintf(out, " %-11s", proof(&c->over_base));
    print_estimate(&c->step.absolute, 1, true, out);
    fprintf(out, " %s\n", proof(&c->step));
}

void
raw_runs_print(const struct raw_runs *runs, double confidence, FILE *out)
{
    fprintf(out,
            "us per exec, %llu execs a run; intervals and what is proven at "
            "%g %% (Welch)\n"
            "over base: none over noexec (the exec itself), a method over "
            "none\n\n"
            "%-8s %-17s %3s %9s %7s %9s %7s %6s %-11s %9s %7s %s\n",
            (unsigned long long)runs->execs, confidence, "", "", "N", "mean",
            "", "over base", "", "%", "", "over the method", "", "below");
    for (size_t i = 0; i < runs->group_count; i++) {
        struct raw_cost c =
            raw_runs_cost(runs, &runs->groups[i], confidence);
        bool first = i == 0 || strcmp(runs->groups[i].label,
                                      runs->groups[i - 1].label) != 0;
        print_cost(&c, first, out);
    }
}
