/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/clock_steps.h"

#include <math.h>
#include <stdlib.h>

#define STEP_NS 20000000 /* what reading two clocks may be apart, and more */
#define SLEW_PART 1000   /* twice what adjtimex(2) slews */

bool
clock_stepped_between(const struct run_clock_pair *first,
                      const struct run_clock_pair *second)
{
    double wall, steady; /* so that no file can make them overflow */

    if (first->realtime_ns == RUN_UNKNOWN_NS ||
        first->monotonic_ns == RUN_UNKNOWN_NS ||
        second->realtime_ns == RUN_UNKNOWN_NS ||
        second->monotonic_ns == RUN_UNKNOWN_NS)
        return false;
    wall = (double)(second->realtime_ns - first->realtime_ns);
    steady = (double)(second->monotonic_ns - first->monotonic_ns);
    return fabs(wall - steady) > STEP_NS + fabs(steady) / SLEW_PART;
}

bool
cell_clock_stepped(const struct run_cell *cell)
{
    return clock_stepped_between(&cell->clock_before, &cell->clock_after);
}

static int
by_serial(const void *left, const void *right)
{
    const struct clock_mark *a = left, *b = right;

    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void
clock_marks_sort(struct clock_mark *marks, size_t count)
{
    if (count > 1)
        qsort(marks, count, sizeof(*marks), by_serial);
}

int64_t
clock_marks_place(const struct clock_mark *marks, size_t count,
                  uint64_t serial, int64_t capture_ns)
{
    size_t low = 0, high = count;
    int64_t before, after, start, end;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (marks[middle].serial <= serial)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return capture_ns - marks[0].offset_ns;
    before = capture_ns - marks[low - 1].offset_ns;
    if (low == count)
        return before;
    start = marks[low - 1].capture_ns - marks[low - 1].offset_ns;
    end = marks[low].capture_ns - marks[low].offset_ns;
    after = capture_ns - marks[low].offset_ns;
    if (start > end || (before >= start && before <= end))
        return before; /* from here on it is another interface's capture */
    if (after >= start && after <= end)
        return after;
    return before < start ? start + 1 : end - 1;
}
