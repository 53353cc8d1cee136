/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text from the wire or the file system on its way out: bytes that could
 * steer a terminal, break a row or open a tag are written so that they show.
 */
#ifndef NAT_ANALYSIS_ESCAPE_H
#define NAT_ANALYSIS_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

enum escape_for {
    ESCAPE_TERMINAL, /* control bytes and what is not UTF-8 as \xNN; tab and
                        newline come out as \t and \n */
    ESCAPE_TSV,      /* as the terminal's, and the backslash doubled, and a
                        double quote as \x22: no reader of tables takes it for
                        a quoted field, and the text can be read back */
    ESCAPE_HTML,     /* as the terminal's, and & < > " ' as references */
    ESCAPE_CSV,      /* the field in quotes when it needs them, RFC 4180; a
                        leading = + - @ gets a ' before it */
};

/* Writes length bytes of text to out. */
void escape_write(enum escape_for target, const char *text, size_t length,
                  FILE *out);

/* The same into a buffer of at least 1 byte; cut at a whole escape when it
 * does not fit. Returns the length. CSV quoting is not for this form. */
size_t escape_bytes(enum escape_for target, const char *text, size_t length,
                    char *buffer, size_t size);

/* The same for a string that may be NULL ("-" then), into a buffer of at
 * least 1 byte; cut at a whole escape when it does not fit. Returns buffer.
 * CSV quoting is not for this form. */
const char *escape_string(enum escape_for target, const char *text,
                          char *buffer, size_t size);

#endif
