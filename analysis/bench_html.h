/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The page of a bench, in the order of a run's page: findings, setting,
 * pictures, tables, losses, how to make it again.
 */
#ifndef NAT_ANALYSIS_BENCH_HTML_H
#define NAT_ANALYSIS_BENCH_HTML_H

#include "analysis/bench_figures.h"

#include <stdio.h>

void bench_html(const struct bench_figures *figures, FILE *out);

/* The figure of the page; nothing when the bench has none or nothing was
 * finished. For the page alone. */
void bench_picture(const struct bench_figures *figures, FILE *out);

#endif
