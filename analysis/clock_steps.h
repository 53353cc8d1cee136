/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A wall clock that is set while a test runs. Captures are stamped by it,
 * exec records are not; the order of packets is what both have in common.
 */
#ifndef NAT_ANALYSIS_CLOCK_STEPS_H
#define NAT_ANALYSIS_CLOCK_STEPS_H

#include "analysis/run_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Was the wall clock set between the two pairs? Slewing, which adjtimex(2)
 * limits to 500 ppm, is no step; false when a pair is not known.
 */
bool clock_stepped_between(const struct run_clock_pair *first,
                           const struct run_clock_pair *second);

/* Between the cell's first moment and its last? */
bool cell_clock_stepped(const struct run_cell *cell);

/* A call that was sent at a known time, as the capture has it. */
struct clock_mark {
    uint64_t serial;    /* its place in the order of calls */
    int64_t capture_ns; /* by the wall clock */
    int64_t offset_ns;  /* wall clock - monotonic when it was sent */
};

/* Into the order of calls. */
void clock_marks_sort(struct clock_mark *marks, size_t count);

/*
 * The monotonic time of a call that the capture stamped `capture_ns`: by the
 * offset of the mark before it or after it, whichever puts it between them,
 * and between them in any case. For a call before the first mark that one's
 * offset holds, behind the last one the last one's.
 *
 * @param marks sorted; one at least
 */
int64_t clock_marks_place(const struct clock_mark *marks, size_t count,
                          uint64_t serial, int64_t capture_ns);

#endif
