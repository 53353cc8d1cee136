/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of a run's page, a bench's too but for the tables. */
#ifndef NAT_ANALYSIS_REPORT_HTML_PARTS_H
#define NAT_ANALYSIS_REPORT_HTML_PARTS_H

#include "analysis/figures.h"

#include <stdio.h>

/* What a reader must know before a number: not complete, something lost. */
void html_reservations(const struct figures *figures, FILE *out);

/* Machines, mounts, capture, plan, warnings. */
void html_setting(const struct figures *figures, FILE *out);

/* Times, counts, waiting, sequences, correlation, failed cells. */
void html_run_tables(const struct figures *figures, FILE *out);

/* Every counter by name, zeros too. */
void html_losses(const struct figures *figures, FILE *out);

/* How to make the page again. */
void html_again(const struct run *run, FILE *out);

#endif
