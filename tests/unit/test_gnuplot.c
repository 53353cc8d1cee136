/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that wants to be more than text, on its way through gnuplot; and what
 * is left of gnuplot's SVG in a page. */
#include "analysis/gnuplot.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char witness[64];

/* A picture whose tick label is the text; NULL without gnuplot. */
static char *
picture_of(const char *text, struct plotter *plotter)
{
    char *svg = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&svg, &length);
    struct plot plot;
    bool drawn;

    plot_begin(&plot, plotter, 400, 200);
    assert_non_null(plot.script);
    fputs("set xtics (", plot.script);
    plot_text(&plot, text);
    fputs(" 1)\nset xrange [0:2]\nset label ", plot.script);
    plot_text(&plot, text);
    fputs(" at 1,1 textcolor rgb " PLOT_SOFT "\n$d <<END\n1 1\nEND\n"
          "plot $d using 1:2 with points linecolor rgb '#010003' title ",
          plot.script);
    plot_text(&plot, text);
    fputc('\n', plot.script);
    drawn = plot_end(&plot, text, out);
    fclose(out);
    if (!drawn) {
        free(svg);
        return NULL;
    }
    return svg;
}

static void
hostile_text(void **state)
{
    char attack[512];
    const char *const forms[] = {
        "\"; system(\"touch %s\"); \"", "'; system('touch %s'); '",
        "`touch %s`", "'`touch %s`'", "\\\"`touch %s`\\\"",
        "x\n!touch %s\n", "x\nsystem('touch %s')\n",
        "'\nsystem \"touch %s\"\nplot '", "@m; system('touch %s')",
        "{/Symbol \"`touch %s`\"}", "%%`touch %s`", "'.system('touch %s').'",
        "END\nsystem('touch %s')\n", "<script>touch('%s')</script>",
        "</text><script>'%s'</script>", "]]>%s<!--", "\x1b]0;%s\x07",
    };
    size_t i;

    (void)state;
    if (!plot_available())
        skip();
    for (i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct plotter plotter = {0};
        char *svg;

/* The forms are this table's. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(attack, sizeof attack, forms[i], witness);
#pragma GCC diagnostic pop
        svg = picture_of(attack, &plotter);
        if (svg == NULL)
            fail_msg("form %zu: %s", i, plotter.error);
        assert_int_equal(access(witness, F_OK), -1);
        assert_null(strstr(svg, "<script"));
        assert_null(strstr(svg, "<!--"));
        assert_null(strchr(svg, 0x1b));
        assert_non_null(strstr(svg, "touch") != NULL
                            ? strstr(svg, "touch")
                            : strstr(svg, witness)); /* it is shown */
        free(svg);
    }
}

/* What has to be gone and what has to be there, from the SVG specification
 * and the page's own style. */
static void
rewritten(void **state)
{
    struct plotter plotter = {0};
    char *svg;

    (void)state;
    if (!plot_available())
        skip();
    svg = picture_of("a & b", &plotter);
    assert_non_null(svg);
    assert_ptr_equal(strstr(svg, "<svg role=\"img\" aria-label=\"a &amp; b\" "
                                 "viewBox=\"0 0 400 200\">"), svg);
    assert_null(strstr(svg, "<?xml"));
    assert_null(strstr(svg, "<title"));
    assert_null(strstr(svg, "<defs"));
    assert_null(strstr(svg, "font-family"));
    assert_null(strstr(svg, " id="));
    assert_null(strstr(svg, "xlink"));
    assert_null(strstr(svg, "rgb("));
    assert_null(strstr(svg, "\"black\""));
    assert_non_null(strstr(svg, "var(--c3)"));
    assert_non_null(strstr(svg, "var(--soft)"));
    assert_non_null(strstr(svg, "a &amp; b</text>"));
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    free(svg);
}

static bool
rewrite(const char *text)
{
    char *svg = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&svg, &length);
    /* Flush with the end of its memory, so that a sanitizer sees one byte
     * too many. */
    char *copy = malloc(strlen(text) > 0 ? strlen(text) : 1);
    bool whole;

    memcpy(copy, text, strlen(text));
    whole = plot_svg_rewrite(copy, strlen(text), "x", out);
    fclose(out);
    free(svg);
    free(copy);
    return whole;
}

static void
svg_cut_short(void **state)
{
    static const char whole[] =
        "<?xml version='1'?><svg viewBox=\"0 0 1 1\"><title>t</title><defs>"
        "<circle r='1'/></defs><g fill = 'rgb( 1, 0, 2)'><text>x</text>"
        "</g><g>\n</g><use xlink:href='#a' color='white'/></svg>";
    char part[sizeof whole];
    size_t n;

    (void)state;
    assert_true(rewrite(whole));
    for (n = 0; n < sizeof whole - 1; n++) {
        memcpy(part, whole, n);
        part[n] = '\0';
        /* All but the closing bracket is there: still a whole element. */
        if (n < sizeof whole - 2)
            assert_false(rewrite(part));
    }
    assert_false(rewrite("<g a"));
    assert_false(rewrite("<svg a=\"b"));
    assert_false(rewrite("no picture"));
}

static void
wrong_script(void **state)
{
    struct plotter plotter = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    struct plot plot;

    (void)state;
    if (!plot_available())
        skip();
    plot_begin(&plot, &plotter, 100, 100);
    fputs("this is no command\n", plot.script);
    assert_false(plot_end(&plot, "x", out));
    fclose(out);
    assert_int_equal(length, 0);
    assert_int_equal(plotter.failed, 1);
    assert_false(plotter.missing);
    assert_true(strlen(plotter.error) > 0);
    free(text);
}

static void
no_gnuplot(void **state)
{
    struct plotter plotter = {0};
    char *old = strdup(getenv("PATH"));
    struct plot plot;

    (void)state;
    setenv("PATH", "/nonexistent", 1);
    assert_false(plot_available());
    plot_begin(&plot, &plotter, 100, 100);
    fputs("plot 1\n", plot.script);
    assert_false(plot_end(&plot, "x", stdout));
    assert_true(plotter.missing);
    plot_begin(&plot, &plotter, 100, 100);
    assert_null(plot.script);
    assert_false(plot_end(&plot, "x", stdout));
    setenv("PATH", old, 1);
    free(old);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_text), cmocka_unit_test(rewritten),
        cmocka_unit_test(svg_cut_short), cmocka_unit_test(wrong_script),
        cmocka_unit_test(no_gnuplot),
    };

    snprintf(witness, sizeof witness, "/tmp/nat-gnuplot-%d", (int)getpid());
    unlink(witness);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
