/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of the cells: for each repetition all (file system, method) pairs
 * in a random order that the seed determines, the same on every machine.
 */
#ifndef NAT_CLIENT_PLAN_H
#define NAT_CLIENT_PLAN_H

#include "analysis/run_file.h"

/* Makes run->cells, all CELL_PENDING, from run->filesystem_count,
 * run->repetitions and run->seed. */
void plan_cells(struct run *run, const enum run_method *methods,
                size_t method_count);

/* The same for the variants of a bench. */
void plan_variants(struct run *run, const char *const *variants,
                   size_t variant_count);

#endif
