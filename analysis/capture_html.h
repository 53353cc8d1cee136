/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counts of a capture as a page. */
#ifndef NAT_ANALYSIS_CAPTURE_HTML_H
#define NAT_ANALYSIS_CAPTURE_HTML_H

#include "analysis/capture_course.h"
#include "analysis/capture_report.h"

#include <stdio.h>

void capture_report_html(const struct capture_report *report,
                         const struct capture_course *course, FILE *out);

#endif
