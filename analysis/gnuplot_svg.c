/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * gnuplot's SVG is read tag by tag; no other XML reaches this file. What a
 * page has to decide is taken out: sizes (the viewBox stays), fonts, colours
 * of the terminal, titles that would come up as tool tips, symbols that are
 * not used, groups without content. Colours that the scripts used as names
 * (PLOT_SERIES and the like) become references to the page's variables.
 */
#include "analysis/gnuplot.h"

#include "analysis/html_page.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    const char *at, *end;
};

struct piece { /* a tag with its brackets, or the text up to the next */
    const char *start;
    size_t length;
    bool tag;
};

static bool
next_piece(struct reader *reader, struct piece *piece)
{
    const size_t left = (size_t)(reader->end - reader->at);
    const char *stop;

    if (left == 0)
        return false;
    piece->start = reader->at;
    piece->tag = reader->at[0] == '<';
    stop = memchr(reader->at, piece->tag ? '>' : '<', left);
    if (stop == NULL)
        stop = reader->end;
    else if (piece->tag)
        stop++;
    piece->length = (size_t)(stop - reader->at);
    reader->at = stop;
    return true;
}

static bool
tag_is(const struct piece *piece, const char *name)
{
    const size_t length = strlen(name);

    return piece->tag && piece->length > length + 1 &&
           memcmp(piece->start + 1, name, length) == 0 &&
           strchr(" \t\n/>", piece->start[1 + length]) != NULL;
}

static bool
is_blank(const struct piece *piece)
{
    size_t i;

    for (i = 0; i < piece->length; i++)
        if (strchr(" \t\r\n", piece->start[i]) == NULL)
            return false;
    return true;
}

/* Over everything up to and with the closing tag of that name. */
static void
skip_element(struct reader *reader, const char *closing)
{
    struct piece piece;

    while (next_piece(reader, &piece))
        if (tag_is(&piece, closing))
            return;
}

/* "rgb(  1,   0,   3)" to its three numbers. */
static bool
read_rgb(const char *value, size_t length, unsigned rgb[3])
{
    char text[32];

    if (length >= sizeof text)
        return false;
    memcpy(text, value, length);
    text[length] = '\0';
    return sscanf(text, "rgb( %u , %u , %u )", &rgb[0], &rgb[1], &rgb[2]) == 3;
}

/* The value of a colour attribute as the page has it; NULL: leave it out. */
static const char *
page_colour(const char *value, size_t length, char *text, size_t size)
{
    unsigned rgb[3];

    if (length == 4 && memcmp(value, "none", 4) == 0)
        return "none";
    if (length == 5 && memcmp(value, "white", 5) == 0)
        return "var(--page)";
    if (!read_rgb(value, length, rgb) || rgb[1] != 0)
        return "currentColor";
    if (rgb[0] == 1 && rgb[2] >= 1 && rgb[2] <= PLOT_SERIES_COUNT) {
        snprintf(text, size, "var(--c%u)", rgb[2]);
        return text;
    }
    if (rgb[0] == 2 && rgb[2] == 0)
        return "var(--line)";
    if (rgb[0] == 2 && rgb[2] == 1)
        return "var(--soft)";
    return "currentColor";
}

static bool
name_is(const char *name, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(name, wanted, length) == 0;
}

static void
write_attribute(const char *name, size_t name_length, const char *value,
                size_t length, bool use, FILE *out)
{
    char text[32];
    const char *colour;

    if (name_is(name, name_length, "font-family") ||
        name_is(name, name_length, "id") || name_is(name, name_length, "class"))
        return;
    if (name_is(name, name_length, "stroke") ||
        name_is(name, name_length, "fill") ||
        name_is(name, name_length, "color")) {
        if (name[0] == 'c' && !use)
            return;
        colour = page_colour(value, length, text, sizeof text);
        fprintf(out, " %.*s=\"%s\"", (int)name_length, name, colour);
        return;
    }
    if (name_is(name, name_length, "xlink:href")) {
        name += 6, name_length -= 6;
    }
    fprintf(out, " %.*s=\"%.*s\"", (int)name_length, name, (int)length, value);
}

/* A tag with its attributes gone over. */
static void
write_tag(const struct piece *piece, FILE *out)
{
    const char *at = piece->start, *end = piece->start + piece->length;
    const bool use = tag_is(piece, "use");
    size_t n = 1;

    while (at + n < end && strchr(" \t\n/>", at[n]) == NULL)
        n++;
    if (at[1] == '/' || at + n >= end) {
        fwrite(at, 1, piece->length, out);
        return;
    }
    fwrite(at, 1, n, out);
    at += n;
    for (;;) {
        const char *name, *value, *close;
        size_t name_length;

        at += strspn(at, " \t\n");
        if (at >= end || *at == '>' || *at == '/')
            break;
        name = at;
        name_length = strcspn(at, " =>");
        at += name_length;
        at += strspn(at, " =");
        if (at >= end || (*at != '"' && *at != '\''))
            break;
        value = at + 1;
        close = memchr(value, *at, (size_t)(end - value));
        if (close == NULL)
            break;
        write_attribute(name, name_length, value, (size_t)(close - value),
                        use, out);
        at = close + 1;
    }
    fputs(at < end && *at == '/' ? "/>" : ">", out);
}

static void
write_root(const struct piece *piece, const char *label, FILE *out)
{
    char *text = strndup(piece->start, piece->length);
    const char *box = text != NULL ? strstr(text, "viewBox=\"") : NULL;

    fputs("<svg role=\"img\" aria-label=\"", out);
    html_text(out, label);
    fputs("\"", out);
    if (box != NULL)
        fprintf(out, " %.*s\"", (int)(9 + strcspn(box + 9, "\"")), box);
    fputs(">\n", out);
    free(text);
}

/* A <g> right before its </g> says nothing. */
static bool
skip_empty_group(struct reader *reader)
{
    struct reader ahead = *reader;
    struct piece piece;

    do {
        if (!next_piece(&ahead, &piece))
            return false;
    } while (!piece.tag && is_blank(&piece));
    if (!tag_is(&piece, "/g"))
        return false;
    *reader = ahead;
    return true;
}

bool
plot_svg_rewrite(const char *svg, size_t length, const char *label, FILE *out)
{
    struct reader reader = {svg, svg + length};
    struct piece piece;
    char *copy = NULL; /* write_tag() needs an end that can be read */
    bool inside = false, whole = false;

    copy = malloc(length + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, svg, length);
    copy[length] = '\0';
    reader.at = copy;
    reader.end = copy + length;
    while (!whole && next_piece(&reader, &piece)) {
        if (!inside) {
            inside = tag_is(&piece, "svg");
            if (inside)
                write_root(&piece, label, out);
        } else if (tag_is(&piece, "title")) {
            skip_element(&reader, "/title");
        } else if (tag_is(&piece, "desc")) {
            skip_element(&reader, "/desc");
        } else if (tag_is(&piece, "defs")) {
            skip_element(&reader, "/defs");
        } else if (tag_is(&piece, "g") && skip_empty_group(&reader)) {
            continue;
        } else if (piece.tag) {
            write_tag(&piece, out);
            whole = tag_is(&piece, "/svg");
        } else if (!is_blank(&piece)) {
            fwrite(piece.start, 1, piece.length, out);
        } else {
            fputc('\n', out);
        }
    }
    if (inside && !whole)
        fputs("</svg>", out);
    fputc('\n', out);
    free(copy);
    return inside && whole;
}

void
plot_svg_shapes(FILE *out)
{
    fputs("<svg width=\"0\" height=\"0\" style=\"position:absolute\" "
          "aria-hidden=\"true\"><defs>"
          "<circle id=\"gpDot\" r=\".5\" fill=\"currentColor\"/>"
          "<circle id=\"gpPt5\" r=\"1\" fill=\"none\" "
          "stroke=\"currentColor\" stroke-width=\".2\"/>"
          "<circle id=\"gpPt6\" r=\"1\" fill=\"currentColor\" "
          "stroke=\"none\"/>"
          "<path id=\"gpPt7\" fill=\"none\" stroke=\"currentColor\" "
          "stroke-width=\".2\" d=\"M0,-1.33 L-1.33,0.67 L1.33,0.67 z\"/>"
          "<path id=\"gpPt8\" fill=\"currentColor\" "
          "d=\"M0,-1.33 L-1.33,0.67 L1.33,0.67 z\"/>"
          "</defs></svg>\n", out);
}
