/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups of calls as text and as JSON. */
#ifndef NAT_ANALYSIS_GROUP_REPORT_H
#define NAT_ANALYSIS_GROUP_REPORT_H

#include "analysis/group_counts.h"

#include <jansson.h>
#include <stdio.h>

/* @param names for files, or NULL
 * @param width columns of the terminal, 0 when it is none
 * @param most groups to print; what is beyond is summed up in a row */
void group_report_text(struct group_counts *groups,
                       const struct file_names *names, unsigned width,
                       size_t most, FILE *out);

/* The value of "groups"; all groups that were kept. */
json_t *group_report_json(struct group_counts *groups,
                          const struct file_names *names);

#endif
