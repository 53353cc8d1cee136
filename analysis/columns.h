/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plain columns of numbers, one value a line, as ministat reads them.
 */
#ifndef NAT_ANALYSIS_COLUMNS_H
#define NAT_ANALYSIS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define COLUMN_DELIMITERS " \t"

struct column {
    double *values;
    size_t length;
};

/*
 * Reads column number `which` (the first is 1) of every line. '#' begins a
 * comment. Delimiters in a row count as one. A line that has no such column
 * is skipped. The decimal point is a point in every locale.
 *
 * @param name appears in errors.
 * @return 0, or -1 with one line in error: a word that is no finite number
 *         below 1e150, a read error, out of memory, no value at all. Give
 *         column to column_free() in every case.
 */
int column_read(FILE *in, const char *name, unsigned which,
                const char *delimiters, struct column *column, char *error,
                size_t error_size);
void column_free(struct column *column);

/* A decimal number with a point, whatever the locale: the whole of text.
 * @return false when it is none, not finite, or 1e150 and more. */
bool decimal_parse(const char *text, double *value);

#endif
