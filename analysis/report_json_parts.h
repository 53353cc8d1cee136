/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the JSON report that more than one file makes. */
#ifndef NAT_ANALYSIS_REPORT_JSON_PARTS_H
#define NAT_ANALYSIS_REPORT_JSON_PARTS_H

#include "analysis/figures.h"

#include <jansson.h>

/* {"value": , "half_width": }, null for what is not known. */
json_t *report_json_estimate(const struct stat_estimate *estimate);

/* Adds "sequences", "waiting", "explained", "setattr_cost" and "atime" to a
 * group; null where the wire does not show them. */
void report_json_group_reasons(json_t *object,
                               const struct group_figures *group);

/* One object per file system: terms, regressions, client's work. */
json_t *report_json_correlations(const struct figures *figures);

#endif
