/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons of runs, each with the first, as a page. */
#ifndef NAT_ANALYSIS_COMPARE_HTML_H
#define NAT_ANALYSIS_COMPARE_HTML_H

#include "analysis/compare.h"

#include <stdio.h>

/*
 * @param sets the first and then, in order, those that it is compared with
 * @param comparisons set_count - 1 of them; at least one
 * @param runs whether the sets' names are paths of runs, whose execs then are
 *        drawn too
 * @return 0, or -1 when out of memory
 */
int comparisons_html(const struct comparison *comparisons,
                     const struct compare_set *sets, size_t set_count,
                     bool runs, FILE *out);

#endif
