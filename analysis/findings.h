/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef NAT_ANALYSIS_FINDINGS_H
#define NAT_ANALYSIS_FINDINGS_H

#include "analysis/figures.h"

/* The sentences of the report, each with its figure, in the order of what
 * they cost, those that can be done without last; none that the run does not
 * support. Groups and differences are
 * computed before. */
void findings_compute(struct figures *figures);

/* "5 of 5 cells" etc. as a verdict: "moved", "not moved", "moved in 3 of 5
 * cells", "unknown". Returns text. */
const char *moved_text(const struct moved_cells *moved, char *text,
                       size_t size);

/* Of an NFS file system: by the capture's replies where they tell, "moved, set
 * 1000/1000" execs, else by the server's word as above. Returns text. */
const char *atime_on_server_text(const struct group_figures *group,
                                 char *text, size_t size);

#endif
