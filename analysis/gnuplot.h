/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plots as SVG inside an HTML page, drawn by gnuplot as a child process. No
 * shell is involved; text reaches gnuplot only by plot_text(), and colours
 * are names of the page's own (html_page.c), so that they follow its scheme.
 */
#ifndef NAT_ANALYSIS_GNUPLOT_H
#define NAT_ANALYSIS_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Colours for `lc rgb`: series n (1 to 8), lines of the frame, soft text. */
#define PLOT_SERIES "'#0100%02x'"
#define PLOT_SERIES_COUNT 8
#define PLOT_LINE "'#020000'"
#define PLOT_SOFT "'#020001'"
#define PLOT_INK "'#020002'"

/* What is known of gnuplot on this machine; zero-initialise. */
struct plotter {
    bool tried, missing;
    unsigned failed;
    char error[256]; /* of the last failure, one line */
};

/* Whether there is a gnuplot to run: looks along PATH. */
bool plot_available(void);

/* A picture in the making: commands and data go to `script`. */
struct plot {
    struct plotter *plotter;
    FILE *script; /* NULL: out of memory, or gnuplot is missing */
    char *text;
    size_t length;
};

/* @param width,height pixels at full size; the page scales it down */
void plot_begin(struct plot *plot, struct plotter *plotter, unsigned width,
                unsigned height);

/* A quoted string in a command: whatever the text is, it is only shown. */
void plot_text(struct plot *plot, const char *text);

/* A linear axis, 'x' or 'y', with a few round tics from a multiple of their
 * step on; low < high. */
void plot_axis(struct plot *plot, char axis, double low, double high);

/* A logarithmic x axis; over few decades with more than the powers of ten.
 * 0 < low < high. */
void plot_log_axis(struct plot *plot, double low, double high);

/*
 * Draws what the script says and writes the <svg> element to out.
 * @param label what the picture is, for those who cannot see it
 * @return true when there is a picture
 */
bool plot_end(struct plot *plot, const char *label, FILE *out);

/* Makes gnuplot's document an element of a page: without prolog, sizes,
 * fonts and unused definitions, with the page's colours. svg is not
 * terminated. @return false when there is no svg element in it. */
bool plot_svg_rewrite(const char *svg, size_t length, const char *label,
                      FILE *out);

/* Shapes the pictures refer to: once per page, before the first. */
void plot_svg_shapes(FILE *out);

#endif
