/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * Every sentence is built from the figures of one group (or of a group and
 * the group that it is compared with) and carries a cost in us per exec, by
 * which the sentences are sorted; what costs nothing comes after, in the
 * order of the table. Behind all these are the sentences that somebody who
 * asks about NFS can do without: local file systems, exec alone, and the
 * ping where it explains nothing. A sentence whose figure is missing is not
 * written.
 */
#include "analysis/findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sentence {
    bool aside;
    double cost_us;
    size_t order;
    char text[1000];
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

const char *
atime_on_server_text(const struct group_figures *group, char *text,
                     size_t size)
{
    const struct atime_group *atime = group->atime;

    if (atime != NULL && group->verdict == ATIME_BY_SETATTR)
        snprintf(text, size, "moved, set %" PRIu64 "/%" PRIu64,
                 atime->set_execs, atime->execs);
    else if (atime != NULL && atime->moved_execs > 0)
        snprintf(text, size, "moved %" PRIu64 "/%" PRIu64, atime->moved_execs,
                 atime->execs);
    else
        moved_text(&group->server, text, size);
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
    sentence->aside = false;
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

/* --- what a method does and costs -------------------------------------- */

/* "costs 384.8 us each (+/- 1.0, +70.9 %)", or that no difference is proven. */
static void
say_cost(struct sentence *sentence, const struct figures *figures,
         const struct group_figures *group)
{
    const struct stat_difference *cost = &group->over_none;

    if (cost->verdict == STAT_UNTESTABLE) {
        say(sentence, "its cost cannot be told from %u repetition%s",
            group->cells, group->cells == 1 ? "" : "s");
        return;
    }
    if (cost->verdict == STAT_NONE_PROVEN) {
        say(sentence,
            "no difference in time from exec alone is proven at %g %% "
            "(%+.1f us, +/- %.1f)",
            figures->confidence, cost->absolute.value,
            cost->absolute.half_width);
        return;
    }
    if (cost->absolute.value < 0)
        say(sentence, "takes %.1f us less per exec than exec alone (+/- %.1f",
            -cost->absolute.value, cost->absolute.half_width);
    else
        say(sentence, "costs %.1f us each (+/- %.1f", cost->absolute.value,
            cost->absolute.half_width);
    if (cost->percent.has_value)
        say(sentence, ", %+.1f %%", cost->percent.value);
    say(sentence, ")");
}

/* Calls that the method adds and saves, where the waiting is not known.
 * Nothing below half a per cent of a call. */
static void
say_added(struct sentence *sentence, const struct group_figures *group,
          const struct group_figures *none)
{
    const double least = 0.005;
    size_t i, said = 0;

    for (i = 0; i < group->calls.length; i++) {
        const char *name = group->calls.items[i].name;
        const double extra = group_per_exec(group, name, true) -
                             group_per_exec(none, name, true);

        if (extra >= least)
            say(sentence, "%s%.3f %s", said++ == 0 ? "; it adds " : ", ",
                extra, name);
    }
    if (said > 0)
        say(sentence, " per exec");
    said = 0;
    for (i = 0; i < none->calls.length; i++) {
        const char *name = none->calls.items[i].name;
        const double less = group_per_exec(none, name, true) -
                            group_per_exec(group, name, true);

        if (less >= least)
            say(sentence, "%s%.3f %s", said++ == 0 ? "; it saves " : ", ",
                less, name);
    }
}

/* The reads of a program whose pages were dropped: only where the execs that
 * read it came after a move of ctime or change attribute. */
static bool
reads_again(const struct group_figures *group)
{
    const struct atime_group *atime = group->atime;

    return group->method == METHOD_SETATTR && atime != NULL &&
           atime->reread_execs > 0 &&
           (double)atime->reread_after >= 0.9 * (double)atime->reread_execs;
}

static void
say_part(struct sentence *sentence, const struct group_figures *group,
         const struct group_figures *none, const struct wait_part *part,
         bool first, bool mixed)
{
    const double us = part->us.absolute.value;
    const double calls = fabs(part->rpcs);

    if (calls < 0.0005) {
        say(sentence, "%.1f us %s for as many %s", fabs(us),
            us < 0 ? "less" : "more", part->name);
        return;
    }
    if (us < 0)
        say(sentence, "saved ");
    if (calls >= 0.995 && calls < 1.005)
        say(sentence, "one %s", part->name);
    else
        say(sentence, "%.3f %s", calls, part->name);
    if (first && us > 0)
        say(sentence, " round trip%s of %.1f us that the exec waits for",
            calls >= 0.995 && calls < 1.005 ? "" : "s", part->latency);
    else
        say(sentence, " of %.1f us%s", part->latency,
            mixed && us > 0 ? " more" : "");
    if (us > 0 && strcmp(part->name, "READ") == 0 && reads_again(group))
        say(sentence,
            " because the SETATTR moved the file's %s and the client dropped "
            "its pages (%.0f bytes read again per exec)",
            group->atime->change_known > 0 ? "change attribute" : "ctime",
            (double)group->read_bytes / (double)group->execs -
                (double)none->read_bytes / (double)none->execs);
}

/* The parts that make up the difference, the largest first; those of less
 * than one per cent of it together. Where the difference is a saving, what is
 * added is called "more". */
static void
say_parts(struct sentence *sentence, const struct group_figures *group,
          const struct group_figures *none)
{
    const struct rpc_wait *wait = &group->wait;
    const double measured = fabs(wait->measured.absolute.value);
    const double least = fmax(0.01 * measured, 0.1);
    const bool saving = wait->measured.absolute.value < 0;
    const double own = wait->method_part.absolute.value;
    double small = 0;
    size_t i, said = 0;

    for (i = 0; i < wait->part_count; i++) {
        const double us = wait->parts[i].us.absolute.value;

        if (fabs(us) < least) {
            small += us;
            continue;
        }
        say(sentence, "%s", said == 0 ? ": " : ", ");
        say_part(sentence, group, none, &wait->parts[i], said++ == 0, saving);
    }
    if (wait->work_known && fabs(wait->work_us) >= least)
        say(sentence, "%s%.1f us %s of the client's own work for RPCs during "
            "the exec", said++ == 0 ? ": " : ", ", fabs(wait->work_us),
            wait->work_us < 0 ? "less" : "more");
    else if (wait->work_known)
        small += wait->work_us;
    if (fabs(own) >= least)
        say(sentence, "%s%.1f us%s in the method's call itself",
            said++ == 0 ? ": " : ", ", own, saving && own > 0 ? " more" : "");
    else
        small += own;
    if (said == 0)
        return;
    if (fabs(small) >= 0.05)
        say(sentence, ", %+.1f us in smaller parts", small);
    say(sentence, "; unexplained %+.1f us (%.1f %%)", wait->rest,
        measured > 0 ? 100.0 * fabs(wait->rest) / measured : 0.0);
}

/* Execs that moved it; fewer values than execs where the server's clock
 * ticks. */
static void
say_ticks(struct sentence *sentence, const struct atime_group *atime,
          uint64_t of)
{
    if (atime->step_ns > 0 && atime->moved_execs < of)
        say(sentence, " (%" PRIu64 " new values: the server's clock ticks "
            "every %.3g ms)", atime->moved_execs,
            (double)atime->step_ns * 1e-6);
}

static const char *
first_error(const struct run_counts *errors)
{
    return errors->length > 0 ? errors->items[0].name : NULL;
}

static void
say_refused(struct sentence *sentence, const struct group_figures *group)
{
    const char *name = first_error(&group->method_errors);

    say(sentence, "is refused");
    if (group->atime->refused > 0)
        say(sentence, " by the server (%s, %" PRIu64 " times)",
            group->atime->refused_status, group->atime->refused);
    else
        say(sentence, " by the client, no SETATTR of the atime was sent");
    if (name != NULL)
        say(sentence, ": %s in %" PRIu64 " of %" PRIu64 " execs", name,
            group->method_errors.items[0].count, group->execs);
    say(sentence, ", the atime on the server stays,");
}

/* By the capture, or without one by what the server said at the ends of the
 * cells. */
static void
say_moved(struct sentence *sentence, const struct group_figures *group)
{
    const struct atime_group *atime = group->atime;
    char text[64];

    switch (atime != NULL ? group->verdict : ATIME_UNKNOWN) {
    case ATIME_BY_SETATTR:
        say(sentence, "sets the atime on the server in %" PRIu64 " of %" PRIu64
            " execs", atime->set_execs, atime->execs);
        say_ticks(sentence, atime, atime->set_execs);
        return;
    case ATIME_BY_READ:
        say(sentence, "moves the atime on the server in %" PRIu64 " of %" PRIu64
            " execs, at READ", atime->moved_execs, atime->execs);
        if (group->method == METHOD_DIRECT_READ)
            say_ticks(sentence, atime, atime->execs);
        return;
    case ATIME_NOT_MOVED:
        say(sentence, "does not move the atime on the server");
        if (atime->set_execs > 0)
            say(sentence, ", although it accepted the SETATTRs of %" PRIu64
                " execs,", atime->set_execs);
        return;
    case ATIME_REFUSED:
        say_refused(sentence, group);
        return;
    case ATIME_CACHE_ONLY:
        say(sentence, "moves the atime in the client's cache only");
        return;
    case ATIME_BY_OTHER:
    case ATIME_UNKNOWN:
        break;
    }
    if (group->server.known == 0)
        say(sentence, "leaves open whether the atime moved on the server");
    else if (group->server.moved == 0)
        say(sentence, "does not move the atime on the server");
    else if (group->server.moved == group->server.known)
        say(sentence, "moves the atime on the server (in %u of %u cells)",
            group->server.moved, group->server.known);
    else
        say(sentence, "finds the atime on the server %s",
            moved_text(&group->server, text, sizeof text));
}

static void
method_sentence(struct sentences *sentences, const struct figures *figures,
                const struct group_figures *group)
{
    const struct run_filesystem *filesystem =
        &figures->run->filesystems[group->filesystem];
    const struct group_figures *none =
        figures_group(figures, group->filesystem, METHOD_NONE);
    const bool proven = group->over_none.verdict == STAT_MORE ||
                        group->over_none.verdict == STAT_LESS;
    struct sentence *sentence;

    if (none == NULL || group->cells == 0 || none->cells == 0)
        return;
    sentence = new_sentence(sentences,
                            group->over_none.verdict == STAT_MORE
                                ? group->over_none.absolute.value
                                : 0.0);
    if (sentence == NULL)
        return;
    sentence->aside = filesystem->kind != FILESYSTEM_NFS &&
                      run_has_nfs(figures->run);
    say(sentence, "%s %s", filesystem->label, run_method_name(group->method));
    if (filesystem->kind == FILESYSTEM_NFS) {
        say(sentence, " ");
        say_moved(sentence, group);
        say(sentence, proven ? " and " : "; ");
    } else {
        say(sentence, proven ? " " : ": ");
    }
    say_cost(sentence, figures, group);
    if (filesystem->kind == FILESYSTEM_NFS && proven) {
        if (group->cells_lossy > 0 || none->cells_lossy > 0)
            say(sentence, "; what it waits for is inconclusive: packets were "
                "lost in %u of %u cells, in %u of %u of none",
                group->cells_lossy, group->cells, none->cells_lossy,
                none->cells);
        else if (group->wait.compared)
            say_parts(sentence, group, none);
        else
            say_added(sentence, group, none);
    }
    say(sentence, ".");
}

/* --- a SETATTR against the ping ---------------------------------------- */

static void
say_reasons(struct sentence *sentence, const struct setattr_account *account)
{
    const struct {
        unsigned reason;
        const char *text;
    } reasons[] = {
        {SETATTR_COALESCED, "coalesced (fewer SETATTRs than execs)"},
        {SETATTR_OVERLAPPED, "overlapped (the exec goes on meanwhile)"},
        {SETATTR_CHEAPER, "cheaper than a NULL call"},
        {SETATTR_REPLACES, "it saves waiting for other RPCs"},
    };
    size_t i, said = 0;

    for (i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if ((account->reasons & reasons[i].reason) != 0)
            say(sentence, "%s%s", said++ > 0 ? ", and " : "", reasons[i].text);
    if (said == 0)
        say(sentence, "neither coalesced, nor overlapped, nor cheaper than a "
            "NULL call, and it saves no other RPC");
}

static void
setattr_sentence(struct sentences *sentences, const struct figures *figures,
                 const struct group_figures *group)
{
    const struct setattr_account *account = &group->setattr;
    struct sentence *sentence;

    if (account->reasons == 0 || account->ping_us <= 0 ||
        group->method != METHOD_SETATTR || group->cells_lossy > 0)
        return;
    sentence = new_sentence(sentences, 0.0);
    if (sentence == NULL)
        return;
    sentence->aside = !account->below_ping;
    say(sentence, "%s: the cost of setattr, %.1f us per exec, is %s the ping, "
        "%.1f us: ",
        figures->run->filesystems[group->filesystem].label,
        account->overhead_us,
        account->below_ping ? "below" : "not below", account->ping_us);
    say_reasons(sentence, account);
    say(sentence, ": %.3f SETATTRs per exec, %.1f %% of them waited for, "
        "%.1f us each on the wire", account->per_exec,
        100.0 * account->blocking_share, account->latency_us);
    if (account->null_us > 0)
        say(sentence, ", where a NULL call takes %.1f us", account->null_us);
    if (account->null_us > 0 && account->latency_us > account->null_us)
        say(sentence, " (%.1f us less)",
            account->latency_us - account->null_us);
    if (account->saved_name != NULL)
        say(sentence, "; %.1f us less waiting for other RPCs, %s first",
            account->saved_us, account->saved_name);
    say(sentence, ".");
}

/* In at least one exec of a hundred: rarer things are in the tables. */
static bool
often(const struct group_figures *group, uint64_t count)
{
    return count > 0 && count * 100 >= group->execs;
}

/* --- side effects ------------------------------------------------------ */

static double
latency_of(const struct group_figures *group, const char *name)
{
    const struct wait_procedure *procedure =
        rpc_wait_find(&group->wait, name);

    return procedure != NULL ? procedure->latency.mean : 0.0;
}

static void
needless_sentences(struct sentences *sentences, const struct figures *figures,
                   const struct group_figures *group)
{
    const char *label = figures->run->filesystems[group->filesystem].label;
    const char *method = run_method_name(group->method);
    struct sentence *sentence;
    double us;

    if (!group->reasons_known || group->atime == NULL || group->execs == 0)
        return;
    us = latency_of(group, "SETATTR") * (double)group->empty_setattrs /
         (double)group->execs;
    if (group->empty_setattrs > 0 &&
        (sentence = new_sentence(sentences, us)) != NULL)
        say(sentence, "%s %s: %" PRIu64 " of %" PRIu64 " SETATTRs set nothing "
            "at all; %.1f us per exec on the wire.", label, method,
            group->empty_setattrs, run_counts_get(&group->calls, "SETATTR"),
            us);
    us = latency_of(group, "ACCESS") *
         (double)group->atime->access_redundant / (double)group->execs;
    if (often(group, group->atime->access_redundant) &&
        (sentence = new_sentence(sentences, us)) != NULL)
        say(sentence, "%s %s: %" PRIu64 " of %" PRIu64 " ACCESS calls ask "
            "again what the server answered within the attribute cache's time "
            "(same handle, credential and mask, ctime unmoved); %.1f us per "
            "exec on the wire.", label, method, group->atime->access_redundant,
            group->atime->access_calls, us);
}

/* A SETATTR that comes back much sooner than anything else can was not
 * answered by the server. */
static void
nearby_sentence(struct sentences *sentences, const struct figures *figures,
                const struct group_figures *group)
{
    const uint64_t enough = 20;
    const struct wait_procedure *setattr =
        rpc_wait_find(&group->wait, "SETATTR"), *quickest = NULL;
    struct sentence *sentence;
    size_t i;

    if (setattr == NULL || setattr->latency.n < enough)
        return;
    for (i = 0; i < group->wait.procedure_count; i++) {
        const struct wait_procedure *one = &group->wait.procedures[i];

        if (one != setattr && one->latency.n >= enough &&
            (quickest == NULL || one->latency.min < quickest->latency.min))
            quickest = one;
    }
    if (quickest == NULL ||
        setattr->latency.median > 0.5 * quickest->latency.min ||
        (sentence = new_sentence(sentences, 0.0)) == NULL)
        return;
    say(sentence, "%s %s: SETATTRs are answered nearby, not by the server: "
        "their median is %.1f us, and the quickest other RPC, %s, took at "
        "least %.1f us.",
        figures->run->filesystems[group->filesystem].label,
        run_method_name(group->method), setattr->latency.median,
        quickest->name, quickest->latency.min);
}

static bool
has_option(const char *options, const char *name)
{
    const size_t length = strlen(name);
    const char *at = options;

    while (at != NULL && *at != '\0') {
        if (strncmp(at, name, length) == 0 &&
            (at[length] == ',' || at[length] == '\0'))
            return true;
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return false;
}

static void
effect_sentences(struct sentences *sentences, const struct figures *figures,
                 const struct group_figures *group)
{
    const struct run_filesystem *filesystem =
        &figures->run->filesystems[group->filesystem];
    const char *method = run_method_name(group->method);
    const struct atime_group *atime = group->atime;
    const struct wait_procedure *procedure;
    struct sentence *sentence;
    size_t i;

    if (!group->reasons_known || atime == NULL)
        return;
    if (atime->set_delegated > 0 &&
        (sentence = new_sentence(sentences, 0.0)) != NULL)
        say(sentence, "%s %s: the client keeps the atime by a delegation and "
            "sent it in %" PRIu64 " SETATTRs for %" PRIu64 " execs.",
            filesystem->label, method, atime->set_delegated, atime->execs);
    if (has_option(filesystem->options, "noatime") &&
        atime->by_setattr + atime->by_read > 0 &&
        (sentence = new_sentence(sentences, 0.0)) != NULL)
        say(sentence, "%s %s: noatime among the mount's options does not keep "
            "the server from moving the atime: %" PRIu64 " execs did.",
            filesystem->label, method, atime->moved_execs);
    for (i = 0; i < group->wait.procedure_count; i++) {
        procedure = &group->wait.procedures[i];
        if (procedure->overlapped * 10 >= procedure->calls &&
            often(group, procedure->overlapped) &&
            (sentence = new_sentence(sentences, 0.0)) != NULL)
            say(sentence, "%s %s: %" PRIu64 " of %" PRIu64 " %s calls are "
                "overlapped: the exec went on while they were outstanding.",
                filesystem->label, method, procedure->overlapped,
                procedure->calls, procedure->name);
    }
}

/* --- exec alone, errors ------------------------------------------------ */

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
    sentence->aside = run_has_nfs(figures->run);
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

    if (a->aside != b->aside)
        return a->aside ? 1 : -1;
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
        setattr_sentence(&sentences, figures, group);
        needless_sentences(&sentences, figures, group);
        nearby_sentence(&sentences, figures, group);
        effect_sentences(&sentences, figures, group);
        error_sentences(&sentences, figures, group);
    }
    if (sentences.count > 1)
        qsort(sentences.list, sentences.count, sizeof(*sentences.list),
              by_cost);
    for (i = 0; i < sentences.count; i++)
        figures_add_finding(figures, "%s", sentences.list[i].text);
    figures->main_finding_count = 0;
    while (figures->main_finding_count < sentences.count &&
           !sentences.list[figures->main_finding_count].aside)
        figures->main_finding_count++;
    free(sentences.list);
}
