/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the text report that more than one file prints. */
#ifndef NAT_ANALYSIS_REPORT_TEXT_PARTS_H
#define NAT_ANALYSIS_REPORT_TEXT_PARTS_H

#include "analysis/figures.h"

#include <stdio.h>

/* Prints `head` in the first column and then text, broken at blanks, its
 * further lines indented. Runs of blanks inside a line are kept. head NULL:
 * the line has begun, and 33 columns of it are used. */
void report_text_wrapped(FILE *out, const char *head, const char *text);

/* Machine, mounts, capture, plan (not of a bench), warnings; and what was
 * lost, and how to make the report again. */
void report_text_heading(const struct figures *figures, FILE *out);
void report_text_closing(const struct figures *figures, FILE *out);

/* Why the times are what they are: sequences, waiting, what explains the
 * differences, correlation, the atime in the replies. Nothing without a
 * capture. */
void report_text_reasons(const struct figures *figures, FILE *out);

#endif
