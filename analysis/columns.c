/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/columns.h"

#include "analysis/escape.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1e150 /* squares must stay finite */

bool
decimal_parse(const char *text, double *value)
{
    static locale_t plain;
    locale_t before;
    char *end;

    if (!plain)
        plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    before = uselocale(plain);
    *value = strtod(text, &end);
    uselocale(before);
    return end != text && *end == '\0' && fabs(*value) < LARGEST;
}

static bool
append(struct column *column, size_t *room, double value)
{
    if (column->length == *room) {
        size_t more = *room ? *room * 2 : 64;
        double *grown = realloc(column->values, more * sizeof *grown);

        if (!grown)
            return false;
        column->values = grown;
        *room = more;
    }
    column->values[column->length++] = value;
    return true;
}

/* The word of column `which`, terminated in place, or NULL. */
static char *
pick(char *line, unsigned which, const char *delimiters)
{
    char *place = NULL, *word;

    line[strcspn(line, "#\r\n")] = '\0';
    word = strtok_r(line, delimiters, &place);
    while (word && --which > 0)
        word = strtok_r(NULL, delimiters, &place);
    return word;
}

int
column_read(FILE *in, const char *name, unsigned which, const char *delimiters,
            struct column *column, char *error, size_t error_size)
{
    char *line = NULL, *word, shown[64];
    size_t size = 0, room = 0, number = 0;
    double value;
    int status = -1;

    *column = (struct column){0};
    errno = 0;
    while (getline(&line, &size, in) >= 0) {
        number++;
        word = pick(line, which, delimiters);
        if (!word)
            continue;
        if (!decimal_parse(word, &value)) {
            snprintf(error, error_size,
                     "%s: line %zu, column %u: \"%s\" is not a number; choose "
                     "the column with -C, the delimiters with -d",
                     name, number, which,
                     escape_string(ESCAPE_TERMINAL, word, shown,
                                   sizeof shown));
            goto out;
        }
        if (!append(column, &room, value)) {
            snprintf(error, error_size, "%s: out of memory", name);
            goto out;
        }
    }
    if (ferror(in))
        snprintf(error, error_size, "%s: %s", name, strerror(errno));
    else if (column->length == 0)
        snprintf(error, error_size, "%s: no value in column %u", name, which);
    else
        status = 0;
out:
    free(line);
    return status;
}

void
column_free(struct column *column)
{
    free(column->values);
    *column = (struct column){0};
}
