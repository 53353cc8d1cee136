/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all HTML reports share: one file that needs nothing else, light and
 * dark, on paper and on a telephone. Everything that is not written by this
 * program itself goes through html_text().
 */
#ifndef NAT_ANALYSIS_HTML_PAGE_H
#define NAT_ANALYSIS_HTML_PAGE_H

#include <stdbool.h>
#include <stdio.h>

/* From the doctype to the open <main>; the title is also the heading. */
void html_begin(FILE *out, const char *title);
void html_end(FILE *out);

/* Text, escaped (see escape.h); NULL is "-". */
void html_text(FILE *out, const char *text);

/* Formatted, then escaped; at most 4 KiB. */
void html_textf(FILE *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Links to the sections that every page of a run or capture has. */
void html_contents(FILE *out);

/* <h2> with an id by which it can be linked. */
void html_heading(FILE *out, const char *id, const char *text);

/* A table in a box that scrolls by itself. Columns are separated by '|';
 * those that begin with '<' are text and stand left, the rest numbers. */
void html_table_begin(FILE *out, const char *caption, const char *columns);
void html_row_begin(FILE *out);
/* A cell: number (right), text (left), heading of the row (th). */
void html_number(FILE *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A number behind `before`; "-" when it is not known. */
void html_known(FILE *out, bool known, int digits, double value,
                const char *before);
void html_cell(FILE *out, const char *text);
void html_long_cell(FILE *out, const char *text); /* breaks anywhere */
void html_row_head(FILE *out, const char *text);
void html_row_end(FILE *out);
void html_table_end(FILE *out);

#endif
