/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/expect.h"

#include "capture/rpc_transaction.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const operator_names[] = {
    [EXPECT_LESS] = "<",      [EXPECT_AT_MOST] = "<=",
    [EXPECT_EQUAL] = "==",    [EXPECT_UNEQUAL] = "!=",
    [EXPECT_AT_LEAST] = ">=", [EXPECT_MORE] = ">",
};
_Static_assert(sizeof operator_names / sizeof operator_names[0] ==
                   EXPECT_OPERATOR_COUNT,
               "a name per operator");

/* --- reading -------------------------------------------------------------- */

struct words {
    const char *at;
    char word[128];
};

/* The next word, at most as long as there is room; empty at the end. An
 * operator or a '*' is a word of its own, also without blanks around it. */
static const char *
next_word(struct words *words)
{
    static const char marks[] = "<>=!*";
    const char *start;
    size_t length;

    words->at += strspn(words->at, " \t");
    start = words->at;
    if (*start != '\0' && strchr(marks, *start) != NULL)
        length = *start == '*' ? 1 : strspn(start, "<>=!");
    else
        length = strcspn(start, " \t<>=!*");
    words->at += length;
    if (length >= sizeof words->word)
        length = sizeof words->word - 1;
    memcpy(words->word, start, length);
    words->word[length] = '\0';
    return words->word;
}

static int __attribute__((format(printf, 4, 5)))
wrong(char *error, size_t size, const char *text, const char *format, ...)
{
    char why[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    snprintf(error, size, "\"%s\": %s; the form is FILE-SYSTEM METHOD "
             "time|NAME/exec OPERATOR NUMBER|[NUMBER *] METHOD", text, why);
    return -1;
}

/* The place of a mistake: a word, or the end. */
static const char *
place(const char *word, char text[160])
{
    if (*word == '\0')
        return "its end";
    snprintf(text, 160, "\"%s\"", word);
    return text;
}

/* "1.5", "300us" (time only). */
static bool
read_number(const char *text, bool time, double *number)
{
    static const struct {
        const char *name;
        double us;
    } units[] = {{"us", 1}, {"ns", 1e-3}, {"ms", 1e3}, {"s", 1e6}};
    char *end;
    size_t i;

    if (*text != '.' && (*text < '0' || *text > '9'))
        return false;
    errno = 0;
    *number = strtod(text, &end);
    if (end == text || errno != 0 || !isfinite(*number))
        return false;
    if (*end == '\0')
        return true;
    for (i = 0; time && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].name) == 0) {
            *number *= units[i].us;
            return true;
        }
    return false;
}

static int
read_quantity(struct expectation *item, const char *word, char *error,
              size_t size)
{
    const size_t length = strlen(word);
    char text[160];
    const char *c;

    if (strcmp(word, "time") == 0)
        return 0;
    if (length <= 5 || strcmp(word + length - 5, "/exec") != 0)
        return wrong(error, size, item->text, "%s is neither time nor "
                     "NAME/exec", place(word, text));
    item->name = strndup(word, length - 5);
    if (item->name == NULL)
        return wrong(error, size, item->text, "out of memory");
    for (c = item->name; strcmp(item->name, "RPCs") != 0 && *c != '\0'; c++)
        if (*c >= 'a' && *c <= 'z')
            return wrong(error, size, item->text, "%s: names are in capitals, "
                         "or RPCs", place(word, text));
    return 0;
}

static int
read_operator(struct expectation *item, const char *word, char *error,
              size_t size)
{
    char text[160];
    unsigned i;

    for (i = 0; i < EXPECT_OPERATOR_COUNT; i++)
        if (strcmp(word, operator_names[i]) == 0)
            break;
    if (i == EXPECT_OPERATOR_COUNT)
        return wrong(error, size, item->text, "%s is not one of < <= == "
                     "!= >= >", place(word, text));
    item->operation = (enum expect_operator)i;
    if (item->name == NULL && (i == EXPECT_EQUAL || i == EXPECT_UNEQUAL))
        return wrong(error, size, item->text, "a time is never proven equal "
                     "or unequal: use < or >");
    return 0;
}

static int
read_value(struct expectation *item, struct words *words, char *error,
           size_t size)
{
    const bool time = item->name == NULL;
    char unit_text[160];
    const char *word = next_word(words);
    bool factor = false;

    item->number = 1;
    item->other = METHOD_COUNT;
    if (read_number(word, time, &item->number)) {
        snprintf(unit_text, sizeof unit_text, "%s", word);
        word = next_word(words);
        if (*word == '\0')
            return 0;
        if (time && strcmp(word, "*") != 0) { /* "300 us" */
            if (strspn(word, "0123456789.") > 0 ||
                strlen(unit_text) + strlen(word) >= sizeof unit_text ||
                !read_number(strcat(unit_text, word), time, &item->number))
                return wrong(error, size, item->text, "\"%s\" is not a unit",
                             word);
            word = next_word(words);
            return *word == '\0' ? 0
                                 : wrong(error, size, item->text,
                                         "\"%s\" is too much", word);
        }
        if (strcmp(word, "*") != 0)
            return wrong(error, size, item->text, "\"%s\" is too much", word);
        factor = true;
        word = next_word(words);
    }
    item->other = run_method_by_name(word);
    if (item->other == METHOD_COUNT)
        return wrong(error, size, item->text, "%s is not a %s",
                     place(word, unit_text),
                     factor ? "method" : "number or method");
    word = next_word(words);
    return *word == '\0' ? 0
                         : wrong(error, size, item->text, "\"%s\" is too much",
                                 word);
}

static int
read_item(struct expectation *item, char *error, size_t size)
{
    struct words words = {.at = item->text};
    const char *word = next_word(&words);
    char text[160];

    if (*word == '\0')
        return wrong(error, size, item->text, "no file system");
    item->filesystem = strdup(word);
    if (item->filesystem == NULL)
        return wrong(error, size, item->text, "out of memory");
    word = next_word(&words);
    item->method = run_method_by_name(word);
    if (item->method == METHOD_COUNT)
        return wrong(error, size, item->text, "%s is not a method",
                     place(word, text));
    if (read_quantity(item, next_word(&words), error, size) != 0 ||
        read_operator(item, next_word(&words), error, size) != 0)
        return -1;
    return read_value(item, &words, error, size);
}

struct expectation *
expect_append(struct expectations *expectations, const char *text)
{
    struct expectation *grown = realloc(
        expectations->items, (expectations->length + 1) * sizeof(*grown));
    struct expectation *item;

    if (grown == NULL)
        return NULL;
    expectations->items = grown;
    item = &grown[expectations->length];
    memset(item, 0, sizeof *item);
    item->text = strdup(text);
    if (item->text == NULL)
        return NULL;
    item->other = METHOD_COUNT;
    expectations->length++;
    return item;
}

int
expect_add(struct expectations *expectations, const char *text, char *error,
           size_t error_size)
{
    struct expectation *item = expect_append(expectations, text);

    if (item == NULL) {
        snprintf(error, error_size, "out of memory");
        return -1;
    }
    return read_item(item, error, error_size);
}

void
expect_free(struct expectations *expectations)
{
    size_t i;

    for (i = 0; i < expectations->length; i++) {
        free(expectations->items[i].text);
        free(expectations->items[i].filesystem);
        free(expectations->items[i].name);
    }
    free(expectations->items);
    free(expectations->baseline);
    memset(expectations, 0, sizeof *expectations);
}

/* --- judging -------------------------------------------------------------- */

static void __attribute__((format(printf, 3, 4)))
conclude(struct expectation *item, enum expect_verdict verdict,
         const char *format, ...)
{
    va_list arguments;

    item->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(item->reason, sizeof item->reason, format, arguments);
    va_end(arguments);
}

static const struct group_figures *
find_group(const struct figures *figures, const char *label,
           enum run_method method)
{
    size_t i;

    for (i = 0; i < figures->run->filesystem_count; i++)
        if (strcmp(figures->run->filesystems[i].label, label) == 0)
            return figures_group(figures, i, method);
    return NULL;
}

/* Cells of the group that were planned. */
static unsigned
planned(const struct figures *figures, const struct group_figures *group)
{
    unsigned n = 0;
    size_t i;

    for (i = 0; i < figures->run->cell_count; i++)
        n += figures->run->cells[i].filesystem == group->filesystem &&
             figures->run->cells[i].method == group->method;
    return n;
}

/* Below, above or neither: where all of the interval lies. */
static enum expect_verdict
compare_interval(enum expect_operator operation, double low, double high)
{
    const bool less =
        operation == EXPECT_LESS || operation == EXPECT_AT_MOST;
    /* of what is expected to be below 0: proven below, proven not below */
    const double near = less ? low : -high, far = less ? high : -low;

    if (operation == EXPECT_LESS || operation == EXPECT_MORE)
        return far < 0 ? EXPECT_HOLDS
                       : near >= 0 ? EXPECT_FAILS : EXPECT_INCONCLUSIVE;
    return far <= 0 ? EXPECT_HOLDS
                    : near > 0 ? EXPECT_FAILS : EXPECT_INCONCLUSIVE;
}

static void
judge_time_against(struct expectation *item, const struct figures *figures,
                   const struct group_figures *group)
{
    const struct group_figures *other =
        find_group(figures, item->filesystem, item->other);
    struct stat_summary scaled;
    struct stat_difference over;

    if (other == NULL || other->cells == 0) {
        conclude(item, EXPECT_INCONCLUSIVE, "the run has no finished cell %s "
                 "%s", item->filesystem, run_method_name(item->other));
        return;
    }
    scaled = other->sample;
    scaled.mean *= item->number;
    scaled.stddev *= item->number;
    over = stat_welch(&scaled, &group->sample, figures->confidence);
    if (over.verdict == STAT_UNTESTABLE) {
        conclude(item, EXPECT_INCONCLUSIVE, "%.1f us against %.1f us, but "
                 "without repetitions there is no interval",
                 group->mean.value, scaled.mean);
        return;
    }
    conclude(item,
             compare_interval(item->operation,
                              over.absolute.value - over.absolute.half_width,
                              over.absolute.value + over.absolute.half_width),
             "%.1f us, against %.1f us the difference is %+.1f +/- %.1f us",
             group->mean.value, scaled.mean, over.absolute.value,
             over.absolute.half_width);
}

static void
judge_time(struct expectation *item, const struct figures *figures,
           const struct group_figures *group)
{
    const struct stat_estimate *mean = &group->mean;

    if (item->other != METHOD_COUNT) {
        judge_time_against(item, figures, group);
        return;
    }
    if (!mean->has_half) {
        conclude(item, EXPECT_INCONCLUSIVE, "%.1f us, but without repetitions "
                 "there is no interval", mean->value);
        return;
    }
    conclude(item,
             compare_interval(item->operation,
                              mean->value - mean->half_width - item->number,
                              mean->value + mean->half_width - item->number),
             "%.1f +/- %.1f us", mean->value, mean->half_width);
}

static bool
has_name(const struct run_counts *counts, const char *name)
{
    size_t i;

    for (i = 0; i < counts->length; i++)
        if (strcmp(counts->items[i].name, name) == 0)
            return true;
    return false;
}

/* A name that nothing has would never be counted, and an expectation of 0
 * calls hold for a slip of the pen. */
static bool
name_exists(const struct figures *figures, const char *name)
{
    static const struct {
        uint32_t program, version;
    } programs[] = {{SUNRPC_NFS, 2},    {SUNRPC_NFS, 3},     {SUNRPC_NFS, 4},
                    {SUNRPC_MOUNT, 3},  {SUNRPC_NLM, 4},     {SUNRPC_NSM, 1},
                    {SUNRPC_NFSACL, 3}, {SUNRPC_PORTMAP, 2}};
    const struct run *run = figures->run;
    uint32_t number;
    size_t i;

    for (number = 0; number < 256; number++) {
        const char *known = nfs4_operation_name(number, false);

        if (known != NULL && strcmp(known, name) == 0)
            return true;
        for (i = 0; i < sizeof programs / sizeof programs[0]; i++) {
            known = rpc_procedure_name(programs[i].program,
                                       programs[i].version, number);
            if (known != NULL && strcmp(known, name) == 0)
                return true;
        }
    }
    /* The kernel has names of its own. */
    for (i = 0; i < figures->group_count; i++)
        if (has_name(&figures->groups[i].operations, name))
            return true;
    for (i = 0; i < run->cell_count; i++)
        if (has_name(&run->cells[i].mountstats, name))
            return true;
    return strcmp(name, "RPCs") == 0;
}

/* Why the group's counts are not known; NULL when they are. */
static const char *
no_counts(const struct figures *figures, const struct group_figures *group,
          const char *name)
{
    const struct run *run = figures->run;
    const struct run_filesystem *filesystem =
        &run->filesystems[group->filesystem];
    size_t i;

    if (!name_exists(figures, name))
        return "no RPC has that name";
    if (filesystem->kind != FILESYSTEM_NFS)
        return "no NFS file system: nothing counts its RPCs";
    if (group->cells_agree < group->cells_compared)
        return "the wire and the kernel's mountstats differ";
    if (figures->traffic->any_capture && filesystem->wire_shows_all)
        return NULL;
    if (strcmp(name, "RPCs") == 0)
        return "without a capture RPCs as a whole are not counted";
    for (i = 0; i < run->cell_count; i++)
        if (run->cells[i].filesystem == group->filesystem &&
            run->cells[i].method == group->method &&
            cell_is_finished(&run->cells[i]) &&
            (!run->cells[i].mountstats_known ||
             run->cells[i].mountstats_reset))
            return "neither a capture nor the kernel counted it";
    return NULL;
}

static double
count_of(const struct group_figures *group, const char *name)
{
    if (strcmp(name, "RPCs") == 0)
        return (double)group->rpcs / (double)group->execs;
    return group_per_exec(group, name, false);
}

static bool
count_holds(enum expect_operator operation, double count, double wanted)
{
    const double tiny = 1e-9 * fmax(1, fabs(wanted));

    switch (operation) {
    case EXPECT_LESS:
        return count < wanted - tiny;
    case EXPECT_AT_MOST:
        return count <= wanted + tiny;
    case EXPECT_EQUAL:
        return fabs(count - wanted) <= tiny;
    case EXPECT_UNEQUAL:
        return fabs(count - wanted) > tiny;
    case EXPECT_AT_LEAST:
        return count >= wanted - tiny;
    case EXPECT_MORE:
        return count > wanted + tiny;
    case EXPECT_OPERATOR_COUNT:
        break;
    }
    return false;
}

/* What a count of at least that much proves. */
static enum expect_verdict
lower_bound(enum expect_operator operation, double count, double wanted)
{
    const bool holds = count_holds(operation, count, wanted);

    switch (operation) {
    case EXPECT_LESS:
    case EXPECT_AT_MOST:
        return holds ? EXPECT_INCONCLUSIVE : EXPECT_FAILS;
    case EXPECT_EQUAL:
        return count_holds(EXPECT_MORE, count, wanted) ? EXPECT_FAILS
                                                       : EXPECT_INCONCLUSIVE;
    case EXPECT_UNEQUAL:
        return count_holds(EXPECT_MORE, count, wanted) ? EXPECT_HOLDS
                                                       : EXPECT_INCONCLUSIVE;
    case EXPECT_AT_LEAST:
    case EXPECT_MORE:
    case EXPECT_OPERATOR_COUNT:
        break;
    }
    return holds ? EXPECT_HOLDS : EXPECT_INCONCLUSIVE;
}

static void
judge_count(struct expectation *item, const struct figures *figures,
            const struct group_figures *group)
{
    const char *unknown = no_counts(figures, group, item->name);
    const double count = count_of(group, item->name);
    double wanted = item->number;

    if (item->other != METHOD_COUNT) {
        const struct group_figures *other =
            find_group(figures, item->filesystem, item->other);

        if (other == NULL || other->execs == 0) {
            conclude(item, EXPECT_INCONCLUSIVE, "the run has no finished cell "
                     "%s %s", item->filesystem, run_method_name(item->other));
            return;
        }
        if (unknown == NULL)
            unknown = no_counts(figures, other, item->name);
        if (unknown == NULL && other->cells_lossy > 0)
            unknown = "packets were lost in the cells it is compared with";
        wanted *= count_of(other, item->name);
    }
    if (unknown != NULL)
        conclude(item, EXPECT_INCONCLUSIVE, "%s", unknown);
    else if (group->cells_lossy > 0)
        conclude(item, lower_bound(item->operation, count, wanted),
                 "at least %.6g per exec against %.6g; packets were lost in "
                 "%u of %u cells", count, wanted, group->cells_lossy,
                 group->cells);
    else
        conclude(item,
                 count_holds(item->operation, count, wanted) ? EXPECT_HOLDS
                                                             : EXPECT_FAILS,
                 "%.6g per exec against %.6g", count, wanted);
}

static void
judge(struct expectation *item, const struct figures *figures)
{
    const struct group_figures *group =
        find_group(figures, item->filesystem, item->method);
    unsigned all;
    size_t used;

    if (group == NULL || group->cells == 0) {
        conclude(item, EXPECT_INCONCLUSIVE, "the run has no finished cell %s "
                 "%s", item->filesystem, run_method_name(item->method));
        return;
    }
    if (item->name == NULL)
        judge_time(item, figures, group);
    else
        judge_count(item, figures, group);
    all = planned(figures, group);
    if (group->cells < all && item->verdict == EXPECT_HOLDS) {
        item->verdict = EXPECT_INCONCLUSIVE;
        used = strlen(item->reason);
        snprintf(item->reason + used, sizeof item->reason - used,
                 ", but only %u of %u cells are done", group->cells, all);
    }
}

int
expect_judge(struct expectations *expectations, const struct figures *figures,
             char *error, size_t error_size)
{
    size_t i;

    for (i = 0; i < expectations->length; i++)
        judge(&expectations->items[i], figures);
    return expectations->baseline == NULL
               ? 0
               : expect_judge_baseline(expectations, figures, error,
                                       error_size);
}

bool
expect_all_hold(const struct expectations *expectations)
{
    size_t i;

    for (i = 0; i < expectations->length; i++)
        if (expectations->items[i].verdict != EXPECT_HOLDS)
            return false;
    return true;
}
