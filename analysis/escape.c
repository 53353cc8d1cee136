/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 sequence (RFC 3629) at text, or 0 when it is none, is
 * cut, or stands for a control character (U+0080 to U+009F) or for one that
 * changes the direction of text (U+202A to U+202E, U+2066 to U+2069). */
static size_t
utf8_length(const unsigned char *text, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length, i;
    uint32_t point;

    if (text[0] >= 0xc2 && text[0] <= 0xdf)
        length = 2;
    else if (text[0] >= 0xe0 && text[0] <= 0xef)
        length = 3;
    else if (text[0] >= 0xf0 && text[0] <= 0xf4)
        length = 4;
    else
        return 0;
    if (length > left)
        return 0;
    point = text[0] & (0xffU >> (length + 1));
    for (i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (text[i] & 0x3fU);
    }
    if (point < least[length] || point > 0x10ffff ||
        (point >= 0xd800 && point <= 0xdfff) || point < 0xa0 ||
        (point >= 0x202a && point <= 0x202e) ||
        (point >= 0x2066 && point <= 0x2069))
        return 0;
    return length;
}

static const char *
html_reference(unsigned char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* One character of the input as it is to be written; *taken bytes of it. */
static size_t
escape_one(enum escape_for target, const unsigned char *text, size_t left,
           size_t *taken, char out[8])
{
    const char *reference;
    const size_t sequence = text[0] >= 0x80 ? utf8_length(text, left) : 0;

    *taken = 1;
    if (sequence > 0) {
        memcpy(out, text, sequence);
        *taken = sequence;
        return sequence;
    }
    if (text[0] == '\n' || text[0] == '\t' || text[0] == '\r') {
        out[0] = '\\';
        out[1] = text[0] == '\n' ? 'n' : text[0] == '\t' ? 't' : 'r';
        return 2;
    }
    if (text[0] < 0x20 || text[0] >= 0x7f)
        return (size_t)snprintf(out, 8, "\\x%02x", text[0]);
    if (target == ESCAPE_TSV && text[0] == '"')
        return (size_t)snprintf(out, 8, "\\x22");
    if (target == ESCAPE_TSV && text[0] == '\\') {
        out[0] = out[1] = '\\';
        return 2;
    }
    reference = target == ESCAPE_HTML ? html_reference(text[0]) : NULL;
    if (reference != NULL)
        return (size_t)snprintf(out, 8, "%s", reference);
    if (target == ESCAPE_CSV && text[0] == '"') {
        out[0] = out[1] = '"';
        return 2;
    }
    out[0] = (char)text[0];
    return 1;
}

void
escape_write(enum escape_for target, const char *text, size_t length,
             FILE *out)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const bool quoted =
        target == ESCAPE_CSV && length > 0 &&
        (memchr(text, ',', length) != NULL ||
         memchr(text, '"', length) != NULL || strchr("=+-@", text[0]) != NULL);
    size_t i = 0;

    if (quoted)
        fputc('"', out);
    if (quoted && strchr("=+-@", text[0]) != NULL)
        fputc('\'', out);
    while (i < length) {
        char piece[8];
        size_t taken;
        const size_t n = escape_one(target, bytes + i, length - i, &taken,
                                    piece);

        fwrite(piece, 1, n, out);
        i += taken;
    }
    if (quoted)
        fputc('"', out);
}

size_t
escape_bytes(enum escape_for target, const char *text, size_t length,
             char *buffer, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t i = 0, used = 0;

    while (i < length) {
        char piece[8];
        size_t taken;
        const size_t n = escape_one(target, bytes + i, length - i, &taken,
                                    piece);

        if (used + n >= size)
            break;
        memcpy(buffer + used, piece, n);
        used += n;
        i += taken;
    }
    buffer[used] = '\0';
    return used;
}

const char *
escape_string(enum escape_for target, const char *text, char *buffer,
              size_t size)
{
    if (text == NULL)
        snprintf(buffer, size, "-");
    else
        escape_bytes(target, text, strlen(text), buffer, size);
    return buffer;
}
