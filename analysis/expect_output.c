/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/escape.h"
#include "analysis/expect.h"

#include <string.h>

static const char *const format_names[] = {
    [EXPECT_LINES] = "text",
    [EXPECT_TAP] = "tap",
    [EXPECT_JUNIT] = "junit",
};
_Static_assert(sizeof format_names / sizeof format_names[0] ==
                   EXPECT_FORMAT_COUNT,
               "a name per format");

enum expect_format
expect_format_by_name(const char *name)
{
    unsigned i;

    for (i = 0; i < EXPECT_FORMAT_COUNT; i++)
        if (strcmp(name, format_names[i]) == 0)
            break;
    return (enum expect_format)i;
}

static const char *
verdict_text(const struct expectation *item)
{
    return item->verdict == EXPECT_FAILS ? "does not hold" : "inconclusive";
}

static void
safe(enum escape_for target, const char *text, FILE *out)
{
    escape_write(target, text, strlen(text), out);
}

static void
write_lines(const struct expectations *expectations, FILE *out)
{
    size_t i;

    for (i = 0; i < expectations->length; i++) {
        const struct expectation *item = &expectations->items[i];

        if (item->verdict == EXPECT_HOLDS)
            continue;
        fprintf(out, "%s: ", verdict_text(item));
        safe(ESCAPE_TERMINAL, item->text, out);
        fputs(": ", out);
        safe(ESCAPE_TERMINAL, item->reason, out);
        fputc('\n', out);
    }
}

/* A description in TAP: a '#' would begin a directive. */
static void
tap_text(const char *text, FILE *out)
{
    for (;;) {
        const size_t length = strcspn(text, "#");

        escape_write(ESCAPE_TERMINAL, text, length, out);
        text += length;
        if (*text == '\0')
            return;
        fputs("\\#", out);
        text++;
    }
}

/* TAP version 13, testanything.org. */
static void
write_tap(const struct expectations *expectations, FILE *out)
{
    size_t i;

    fprintf(out, "TAP version 13\n1..%zu\n", expectations->length);
    for (i = 0; i < expectations->length; i++) {
        const struct expectation *item = &expectations->items[i];

        fprintf(out, "%sok %zu - ",
                item->verdict == EXPECT_HOLDS ? "" : "not ", i + 1);
        tap_text(item->text, out);
        fputs("\n# ", out);
        if (item->verdict != EXPECT_HOLDS)
            fprintf(out, "%s: ", verdict_text(item));
        tap_text(item->reason, out);
        fputc('\n', out);
    }
}

static void
write_junit(const struct expectations *expectations, const char *run,
            FILE *out)
{
    size_t i, failures = 0, errors = 0;

    for (i = 0; i < expectations->length; i++) {
        failures += expectations->items[i].verdict == EXPECT_FAILS;
        errors += expectations->items[i].verdict == EXPECT_INCONCLUSIVE;
    }
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"",
          out);
    safe(ESCAPE_HTML, run != NULL ? run : "nfs-atime-test", out);
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
            expectations->length, failures, errors);
    for (i = 0; i < expectations->length; i++) {
        const struct expectation *item = &expectations->items[i];
        const char *element =
            item->verdict == EXPECT_FAILS ? "failure" : "error";

        fputs("  <testcase classname=\"nfs-atime-test\" name=\"", out);
        safe(ESCAPE_HTML, item->text, out);
        if (item->verdict == EXPECT_HOLDS) {
            fputs("\"/>\n", out);
            continue;
        }
        fprintf(out, "\">\n    <%s message=\"%s: ", element,
                verdict_text(item));
        safe(ESCAPE_HTML, item->reason, out);
        fputs("\"/>\n  </testcase>\n", out);
    }
    fputs("</testsuite>\n", out);
}

void
expect_write(const struct expectations *expectations,
             enum expect_format format, const char *run, FILE *out)
{
    if (format == EXPECT_TAP)
        write_tap(expectations, out);
    else if (format == EXPECT_JUNIT)
        write_junit(expectations, run, out);
    else
        write_lines(expectations, out);
}
