/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/html_page.h"

#include "analysis/escape.h"

#include <stdarg.h>
#include <string.h>

/* The series colours (--c1 ...) keep a contrast of 3:1 against the page in
 * both schemes; plots refer to them by name. */
static const char style[] =
    ":root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--soft:#59636e;"
    "--line:#d1d7de;--box:#f4f6f8;--link:#0550ae;"
    "--c1:#0969b5;--c2:#bc4c00;--c3:#1a7f37;--c4:#8250df;--c5:#a40e5c;"
    "--c6:#7a5f00;--c7:#0e7c86;--c8:#6e7781}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#14171b;--ink:#e3e7eb;"
    "--soft:#9aa4ae;--line:#39414a;--box:#1d2127;--link:#79b8ff;"
    "--c1:#58a6ff;--c2:#f0883e;--c3:#4ec167;--c4:#bc8cff;--c5:#ff7eb6;"
    "--c6:#d9b33c;--c7:#45c4cf;--c8:#9aa4ae}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',"
    "'Liberation Sans',sans-serif}\n"
    "main{max-width:70rem;margin:0 auto;padding:1.5rem 1.25rem 3rem}\n"
    "h1{font-size:1.5rem;line-height:1.25;margin:0 0 .25rem;"
    "overflow-wrap:anywhere}\n"
    "h2{font-size:1.2rem;line-height:1.3;margin:2.5rem 0 .75rem;"
    "padding-top:.5rem;border-top:1px solid var(--line)}\n"
    "h3{font-size:1rem;margin:1.5rem 0 .5rem}\n"
    "p,li,dd,dt,figcaption{overflow-wrap:anywhere;max-width:46rem}\n"
    "a{color:var(--link)}\n"
    "nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;font-size:.95rem}\n"
    ".sub{color:var(--soft);margin:0}\n"
    "ol.findings{padding-left:1.6rem}ol.findings li{margin:.5rem 0}\n"
    "ol.findings li::marker{font-weight:600}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;"
    "gap:.25rem 1.25rem;margin:0}\n"
    "dt{color:var(--soft)}dd{margin:0;min-width:0;max-width:52rem}\n"
    ".scroll{overflow-x:auto;max-width:100%;margin:.75rem 0;"
    "overscroll-behavior-x:contain}\n"
    "table{border-collapse:collapse;font-size:.85rem;"
    "font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;color:var(--soft);padding:0 0 .4rem;"
    "font-size:.9rem}\n"
    "th,td{padding:.22rem .5rem;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--line)}\n"
    "th:first-child,td:first-child{padding-left:0}\n"
    "thead th{vertical-align:bottom;color:var(--soft);font-weight:600;"
    "white-space:normal;line-height:1.25}\n"
    "th.t,td.t,tbody th{text-align:left}\n"
    "tbody th{white-space:normal;min-width:6rem;overflow-wrap:anywhere}\n"
    ".names tbody th{min-width:8rem}\n"
    "td.w{white-space:normal;min-width:12rem;overflow-wrap:anywhere}\n"
    "tbody th{font-weight:600}\n"
    "figure{margin:1.75rem 0;break-inside:avoid}\n"
    "figcaption{margin:.5rem 0 0;font-size:.95rem}\n"
    "figcaption b{font-weight:600}\n"
    "svg{display:block;width:100%;height:auto;color:var(--ink)}\n"
    "svg text{font-family:inherit}\n"
    ".panels{display:grid;gap:1rem 1.5rem;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,25rem),1fr))}\n"
    ".panel{min-width:0;max-width:32rem}\n"
    ".pt{font-weight:600;margin:0 0 .15rem;overflow-wrap:anywhere}\n"
    ".ladders{display:grid;gap:1rem 1.5rem;grid-column:1/-1;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,16.5rem),1fr))}"
    ".ladders .panel{max-width:19rem;break-inside:avoid}"
    ".panel .sub{font-size:.85rem}\n"
    ".legend{grid-column:1/-1;list-style:none;display:flex;flex-wrap:wrap;"
    "gap:.2rem 1.25rem;margin:0;padding:0;font-size:.9rem}\n"
    ".legend i{display:inline-block;width:.9em;height:.9em;"
    "border-radius:.15em;margin-right:.45em;vertical-align:-.08em;"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact}\n"
    ".k1{background:var(--c1)}.k2{background:var(--c2)}"
    ".k3{background:var(--c3)}.k4{background:var(--c4)}"
    ".k5{background:var(--c5)}.k6{background:var(--c6)}"
    ".k7{background:var(--c7)}.k8{background:var(--c8)}\n"
    "@media(max-width:40rem){main{padding:1rem 1rem 2rem}"
    "dl{display:block}dd{margin:0 0 .6rem}}\n"
    ".note{border-left:3px solid var(--c2);padding:.25rem .9rem;"
    "background:var(--box)}\n"
    "code,pre{font-family:ui-monospace,'DejaVu Sans Mono',"
    "'Liberation Mono',monospace;font-size:.9em}\n"
    "pre{background:var(--box);padding:.75rem;overflow-x:auto}\n"
    "details summary{cursor:pointer}summary h3{display:inline}\n"
    "details{margin:.75rem 0}\n"
    "@media print{:root{color-scheme:light;--page:#fff;--ink:#000;"
    "--soft:#444;--line:#bbb;--box:#f4f4f4;--link:#000;"
    "--c1:#0969b5;--c2:#bc4c00;--c3:#1a7f37;--c4:#8250df;--c5:#a40e5c;"
    "--c6:#7a5f00;--c7:#0e7c86;--c8:#6e7781}"
    "body{font-size:10pt}main{max-width:none;padding:0}"
    "nav{display:none}details::details-content"
    "{content-visibility:visible;height:auto}"
    ".scroll{overflow:visible}table{font-size:8pt}"
    "h2,h3{break-after:avoid}tr{break-inside:avoid}}\n";

void
html_text(FILE *out, const char *text)
{
    if (text == NULL)
        text = "-";
    escape_write(ESCAPE_HTML, text, strlen(text), out);
}

static void
formatted(FILE *out, const char *format, va_list arguments)
{
    char text[4096];

    vsnprintf(text, sizeof text, format, arguments);
    html_text(out, text);
}

void
html_textf(FILE *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    formatted(out, format, arguments);
    va_end(arguments);
}

void
html_begin(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,"
          "initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\""
          "default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>", out);
    html_text(out, title);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n"
            "<h1>", style);
    html_text(out, title);
    fputs("</h1>\n", out);
}

void
html_end(FILE *out)
{
    fputs("</main>\n</body>\n</html>\n", out);
}

void
html_contents(FILE *out)
{
    static const char *const sections[] = {"findings", "setting", "pictures",
                                           "tables", "losses", "again"};
    size_t i;

    fputs("<nav>", out);
    for (i = 0; i < sizeof sections / sizeof sections[0]; i++)
        fprintf(out, "<a href=\"#%s\">%c%s</a> ", sections[i],
                sections[i][0] - 'a' + 'A', sections[i] + 1);
    fputs("</nav>\n", out);
}

void
html_heading(FILE *out, const char *id, const char *text)
{
    fprintf(out, "<h2 id=\"%s\">", id);
    html_text(out, text);
    fputs("</h2>\n", out);
}

void
html_table_begin(FILE *out, const char *caption, const char *columns)
{
    fputs("<div class=\"scroll\" tabindex=\"0\">\n<table>\n", out);
    if (caption != NULL) {
        fputs("<caption>", out);
        html_text(out, caption);
        fputs("</caption>\n", out);
    }
    fputs("<thead><tr>", out);
    while (*columns != '\0') {
        size_t length = strcspn(columns, "|");

        if (columns[0] == '<') {
            fputs("<th class=\"t\" scope=\"col\">", out);
            columns++, length--;
        } else {
            fputs("<th scope=\"col\">", out);
        }
        escape_write(ESCAPE_HTML, columns, length, out);
        fputs("</th>", out);
        columns += length + (columns[length] == '|');
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

void
html_row_begin(FILE *out)
{
    fputs("<tr>", out);
}

void
html_number(FILE *out, const char *format, ...)
{
    va_list arguments;

    fputs("<td>", out);
    va_start(arguments, format);
    formatted(out, format, arguments);
    va_end(arguments);
    fputs("</td>", out);
}

void
html_known(FILE *out, bool known, int digits, double value, const char *before)
{
    if (known)
        html_number(out, "%s%.*f", before, digits, value);
    else
        html_number(out, "-");
}

void
html_cell(FILE *out, const char *text)
{
    fputs("<td class=\"t\">", out);
    html_text(out, text);
    fputs("</td>", out);
}

void
html_long_cell(FILE *out, const char *text)
{
    fputs("<td class=\"t w\">", out);
    html_text(out, text);
    fputs("</td>", out);
}

void
html_row_head(FILE *out, const char *text)
{
    fputs("<th scope=\"row\">", out);
    html_text(out, text);
    fputs("</th>", out);
}

void
html_row_end(FILE *out)
{
    fputs("</tr>\n", out);
}

void
html_table_end(FILE *out)
{
    fputs("</tbody>\n</table>\n</div>\n", out);
}
