/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/escape.h"
#include "analysis/histogram.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
steering_bytes_show(void **state)
{
    static const struct {
        enum escape_for target;
        const char *in, *want;
    } cases[] = {
        {ESCAPE_TERMINAL, "plain name", "plain name"},
        {ESCAPE_TERMINAL, "\x1b[31mred", "\\x1b[31mred"},
        {ESCAPE_TERMINAL, "a\nb\tc", "a\\nb\\tc"},
        {ESCAPE_TERMINAL, "\x7f", "\\x7f"},
        /* UTF-8 stays; C1 controls, overlong forms, surrogates, bare bytes
         * and direction overrides do not */
        {ESCAPE_TERMINAL, "Gr\xc3\xb6\xc3\x9f""e", "Gr\xc3\xb6\xc3\x9f""e"},
        {ESCAPE_TERMINAL, "\xc2\x9b""31m", "\\xc2\\x9b31m"},
        {ESCAPE_TERMINAL, "\xc0\xaf", "\\xc0\\xaf"},
        {ESCAPE_TERMINAL, "\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {ESCAPE_TERMINAL, "\xff", "\\xff"},
        {ESCAPE_TERMINAL, "\xe2\x80\xae""exe", "\\xe2\\x80\\xaeexe"},
        {ESCAPE_TERMINAL, "\xe2\x82", "\\xe2\\x82"},
        {ESCAPE_HTML, "<script>a&b</script>\"'",
         "&lt;script&gt;a&amp;b&lt;/script&gt;&quot;&#39;"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[256];

        escape_string(cases[i].target, cases[i].in, out, sizeof out);
        assert_string_equal(out, cases[i].want);
    }
}

static void
csv_fields_stay_fields(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"a", "a"},
        {"a,b", "\"a,b\""},
        {"say \"x\"", "\"say \"\"x\"\"\""},
        {"=1+1", "\"'=1+1\""},
        {"two\nlines", "two\\nlines"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        escape_write(ESCAPE_CSV, cases[i].in, strlen(cases[i].in), out);
        fclose(out);
        assert_string_equal(text, cases[i].want);
        free(text);
    }
}

static void
a_short_buffer_ends_between_escapes(void **state)
{
    char out[7];

    (void)state;
    escape_string(ESCAPE_HTML, "a<b", out, sizeof out);
    assert_string_equal(out, "a&lt;b");
    escape_string(ESCAPE_HTML, "ab<c", out, sizeof out);
    assert_string_equal(out, "ab&lt;");
    escape_string(ESCAPE_HTML, "abc<d", out, sizeof out);
    assert_string_equal(out, "abc");
}

/* Against sorting: the promise is 0.8 %. */
static int
ascending(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

static void
quantiles_keep_their_error_bound(void **state)
{
    static struct histogram histogram;
    static int64_t values[20000];
    const size_t n = sizeof values / sizeof values[0];
    static const double ps[] = {0, 0.01, 0.5, 0.95, 0.99, 1};
    uint64_t random = 88172645463325252u;
    size_t i;

    (void)state;
    for (i = 0; i < n; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        values[i] = (int64_t)(random >> (random % 50 + 10));
        histogram_add(&histogram, values[i]);
    }
    qsort(values, n, sizeof values[0], ascending);
    assert_true(histogram.min == values[0]);
    assert_true(histogram.max == values[n - 1]);
    for (i = 0; i < sizeof ps / sizeof ps[0]; i++) {
        const double exact = (double)values[(size_t)(ps[i] * (double)(n - 1))];
        const double got = (double)histogram_quantile(&histogram, ps[i]);

        assert_true(got >= exact * (1 - 1.0 / 128) - 1);
        assert_true(got <= exact * (1 + 1.0 / 128) + 1);
    }
}

static void
extreme_durations_have_a_bucket(void **state)
{
    static struct histogram histogram;

    (void)state;
    histogram_add(&histogram, INT64_MAX);
    histogram_add(&histogram, -5);
    histogram_add(&histogram, 0);
    assert_true(histogram.min == 0);
    assert_true(histogram.max == INT64_MAX);
    assert_true(histogram_quantile(&histogram, 1.0) > INT64_MAX / 100 * 99);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steering_bytes_show),
        cmocka_unit_test(csv_fields_stay_fields),
        cmocka_unit_test(a_short_buffer_ends_between_escapes),
        cmocka_unit_test(quantiles_keep_their_error_bound),
        cmocka_unit_test(extreme_durations_have_a_bucket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
