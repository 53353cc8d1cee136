/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/capture_html.h"

#include "analysis/html_page.h"
#include "analysis/run_plots.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_TOP 20
#define MOST_LOSSES 64

static const char *const kind_names[COURSE_KINDS] = {
    "", "GETATTR", "SETATTR", "READ", "ACCESS", "LOOKUP", "OPEN", "CLOSE",
    "others",
};

/* --- words ---------------------------------------------------------------- */

static void
name_of(const struct procedure_counts *row, char *text, size_t size)
{
    const char *program = rpc_program_name(row->program);
    const char *name =
        row->by_main
            ? nfs4_operation_name(row->number, row->callback)
            : rpc_procedure_name(row->program, row->version, row->number);
    char number[24], unknown[24];

    snprintf(number, sizeof number, "procedure %" PRIu32, row->number);
    snprintf(unknown, sizeof unknown, "program %" PRIu32, row->program);
    snprintf(text, size, "%s%s %" PRIu32 " %s", row->by_main ? "· " : "",
             row->callback ? "NFS_CB" : program != NULL ? program : unknown,
             row->version, name != NULL ? name : number);
}

/* Without the mark of a main operation. */
static void
plain_name(const struct procedure_counts *row, FILE *out)
{
    const char mark[] = "· ";
    char name[96];

    name_of(row, name, sizeof name);
    html_text(out, strncmp(name, mark, sizeof mark - 1) == 0
                       ? name + sizeof mark - 1
                       : name);
}

static void
us_cell(FILE *out, bool known, double ns)
{
    const double us = ns * 1e-3;

    if (!known)
        html_number(out, "-");
    else
        html_number(out, "%.*f", us < 100 ? 1 : 0, us);
}

static uint64_t
errors_in(const struct procedure_counts *row)
{
    uint64_t sum = row->errors.other_errors + row->rpc_errors;
    unsigned i;

    for (i = 0; i < row->errors.rows; i++)
        sum += row->errors.row[i].count;
    return sum;
}

/* "12.3 µs", "4.56 ms", "470 s": three digits that count. */
static void
duration(FILE *out, double ns)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {0, "ns"}};
    size_t i = 0;
    double value;

    while (ns < units[i].ns)
        i++;
    value = units[i].ns > 0 ? ns / units[i].ns : ns;
    fprintf(out, "%.*f %s", units[i].ns == 0 || value >= 100 ? 0
                            : value >= 10                    ? 1
                                                             : 2,
            value, units[i].name);
}

/* --- sentences ------------------------------------------------------------ */

static uint64_t
all_calls(const struct capture_report *report, uint64_t *retransmissions,
          uint64_t *unanswered)
{
    size_t i, n;
    const struct procedure_counts *const *rows =
        rpc_counts_procedures(report->counts, &n);
    uint64_t sum = 0;

    *retransmissions = *unanswered = 0;
    for (i = 0; i < n; i++) {
        if (rows[i]->by_main)
            continue;
        sum += rows[i]->calls;
        *retransmissions += rows[i]->retransmissions;
        *unanswered += rows[i]->unanswered;
    }
    return sum;
}

static void
say_setattrs(const struct capture_report *report, FILE *out)
{
    size_t i, n;
    const struct setattr_counts *rows =
        rpc_counts_setattrs(report->counts, &n);
    uint64_t all = 0, atime = 0, empty = 0;

    for (i = 0; i < n; i++) {
        all += rows[i].calls;
        if (rows[i].what.atime_how != NFS_TIME_KEEP)
            atime += rows[i].calls;
        if (rows[i].what.empty)
            empty += rows[i].calls;
    }
    if (all == 0)
        fputs("<li>No SETATTR.</li>\n", out);
    else
        fprintf(out, "<li>%" PRIu64 " SETATTR, %" PRIu64 " of them set an "
                "access time, %" PRIu64 " set nothing at all.</li>\n", all,
                atime, empty);
}

static void
say_accesses(const struct capture_report *report, FILE *out)
{
    size_t i, n;
    const struct access_counts *rows =
        rpc_counts_accesses(report->counts, &n);
    uint64_t all = 0, redundant = 0;

    for (i = 0; i < n; i++) {
        all += rows[i].calls;
        redundant += rows[i].redundant;
    }
    if (all == 0)
        return;
    fprintf(out, "<li>%" PRIu64 " ACCESS", all);
    if (rpc_counts_handles_known(report->counts) && redundant == 0)
        fputs(", none of them asked again what the same client had been told "
              "about the same file shortly before", out);
    else if (rpc_counts_handles_known(report->counts))
        fprintf(out, ", %" PRIu64 " of them (%.0f %%) asked again what the "
                "same client had been told about the same file shortly "
                "before", redundant, 100.0 * (double)redundant / (double)all);
    fputs(".</li>\n", out);
}

static void
say_busiest(const struct capture_report *report, uint64_t calls, FILE *out)
{
    size_t i, n;
    const struct procedure_counts *const *rows =
        rpc_counts_procedures(report->counts, &n);
    const struct procedure_counts *most = NULL, *slow = NULL;
    double longest = 0;

    for (i = 0; i < n; i++) {
        const struct histogram *latency = rows[i]->last;
        const double sum = latency != NULL ? (double)latency->sum : 0;

        if (rows[i]->program == SUNRPC_NFS && rows[i]->version == 4 &&
            !rows[i]->by_main && rows[i]->number == 1)
            continue; /* its COMPOUNDs are rows of their own */
        if (most == NULL || rows[i]->calls > most->calls)
            most = rows[i];
        if (sum > longest) {
            longest = sum;
            slow = rows[i];
        }
    }
    if (most == NULL || calls == 0)
        return;
    fputs("<li>Most calls: ", out);
    plain_name(most, out);
    fprintf(out, ", %" PRIu64 " (%.0f %%).", most->calls,
            100.0 * (double)most->calls / (double)calls);
    if (slow != NULL) {
        fputs(" Most waiting, all latencies added up: ", out);
        plain_name(slow, out);
        fputs(", ", out);
        duration(out, longest);
        fputc('.', out);
    }
    fputs("</li>\n", out);
}

/* Why there is no call: a line, then reasons as "  - reason". */
static void
say_nothing(const struct capture_report *report, FILE *out)
{
    char *text = NULL, *line, *rest = NULL;
    size_t length = 0;
    FILE *words = open_memstream(&text, &length);
    bool listed = false;

    if (words == NULL)
        return;
    capture_report_nothing(report, words);
    fclose(words);
    for (line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const bool reason = strncmp(line, "  - ", 4) == 0;

        fputs(!reason ? "<p>" : listed ? "<li>" : "<ul>\n<li>", out);
        html_text(out, reason ? line + 4 : line);
        fputs(reason ? "</li>\n" : "</p>\n", out);
        listed = listed || reason;
    }
    if (listed)
        fputs("</ul>\n", out);
    free(text);
}

static void
findings(const struct capture_report *report, FILE *out)
{
    uint64_t retransmissions, unanswered;
    const uint64_t calls =
        all_calls(report, &retransmissions, &unanswered);
    const double ns =
        (double)(report->result->last_ns - report->result->first_ns);
    double rate;

    html_heading(out, "findings", "Findings");
    if (calls == 0 && report->result->rpc.replies > 0) {
        fprintf(out, "<p>No call was found, %" PRIu64 " replies only: the "
                "capture shows one direction.</p>\n",
                report->result->rpc.replies);
        return;
    }
    if (calls == 0) {
        say_nothing(report, out);
        return;
    }
    fprintf(out, "<ol class=\"findings\">\n<li>%" PRIu64 " call%s", calls,
            calls == 1 ? "" : "s");
    if (calls > 1 && ns > 0) {
        rate = (double)calls / ns * 1e9;
        fputs(" in ", out);
        duration(out, ns);
        fprintf(out, ", %.*f a second", rate >= 100 ? 0 : rate >= 10 ? 1 : 2,
                rate);
    }
    fprintf(out, "; %" PRIu64 " sent again, %" PRIu64 " without a reply."
            "</li>\n", retransmissions, unanswered);
    say_busiest(report, calls, out);
    say_setattrs(report, out);
    say_accesses(report, out);
    fputs("</ol>\n", out);
}

/* The warning of an input, without the path that the reader has seen. */
static const char *
warning_of(const struct capture_input *input)
{
    const size_t length = strlen(input->path);

    return strncmp(input->warning, input->path, length) == 0 &&
                   strncmp(input->warning + length, ": ", 2) == 0
               ? input->warning + length + 2
               : input->warning;
}

static bool
all_complete(const struct capture_report *report)
{
    size_t i;

    for (i = 0; i < report->result->input_count; i++)
        if (!report->result->inputs[i].complete)
            return false;
    return true;
}

/* What a reader must know before a number. */
static void
reservations(const struct capture_report *report, FILE *out)
{
    size_t i;

    for (i = 0; i < report->result->input_count; i++) {
        const struct capture_input *input = &report->result->inputs[i];

        if (input->complete)
            continue;
        fputs("<p class=\"note\">", out);
        html_text(out, input->path);
        fputs(" is not complete", out);
        if (input->warning != NULL) {
            fputs(": ", out);
            html_text(out, warning_of(input));
        }
        fputs(".</p>\n", out);
    }
}

static void
time_text(int64_t ns, char *text, size_t size)
{
    const time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        snprintf(text, size, "-");
}

static void
setting(const struct capture_report *report, FILE *out)
{
    const struct capture_result *result = report->result;
    char text[64], limit[256];
    size_t i;

    html_heading(out, "setting", "Setting");
    fputs("<dl>\n", out);
    for (i = 0; i < result->input_count; i++) {
        fputs("<dt>capture</dt><dd>", out);
        html_text(out, result->inputs[i].path);
        fprintf(out, ": %" PRIu64 " packets", result->inputs[i].packets);
        if (!result->inputs[i].complete)
            fputs(", not complete", out);
        if (result->inputs[i].warning != NULL) {
            fputs(": ", out);
            html_text(out, warning_of(&result->inputs[i]));
        }
        fputs("</dd>\n", out);
    }
    if (capture_limit_text(result, limit, sizeof limit)) {
        fputs("<dt>limit</dt><dd>", out);
        html_text(out, limit);
        fputs("</dd>\n", out);
    }
    if (report->filter != NULL) {
        fputs("<dt>filter</dt><dd><code>", out);
        html_text(out, report->filter);
        fputs("</code></dd>\n", out);
    }
    if (result->packets.packets > 0) {
        time_text(result->first_ns, text, sizeof text);
        fprintf(out, "<dt>first packet</dt><dd>%s</dd>\n", text);
        time_text(result->last_ns, text, sizeof text);
        fprintf(out, "<dt>last packet</dt><dd>%s</dd>\n", text);
    }
    fputs("</dl>\n", out);
}

/* --- pictures ------------------------------------------------------------- */

static void
course_axes(struct plot *plot, double seconds)
{
    fputs("unset key\nset xlabel 'seconds into the capture'\n",
          plot->script);
    plot_axis(plot, 'x', 0, seconds > 0 ? seconds : 1);
}

/* Calls a second: each kind on top of those before it. */
static bool
rate_panel(struct plotter *plotter, const struct course_interval *intervals,
           size_t count, int64_t length_ns, FILE *out)
{
    const double length = (double)length_ns * 1e-9;
    struct plot plot;
    unsigned kind, below;
    size_t i;

    plot_begin(&plot, plotter, PANEL_WIDTH, 300);
    if (plot.script == NULL)
        return false;
    course_axes(&plot, (double)count * length);
    fputs("set ylabel 'calls a second'\nset yrange [0:*]\n"
          "set style fill solid 1 noborder\n", plot.script);
    for (kind = 1; kind < COURSE_KINDS; kind++) {
        fprintf(plot.script, "$k%u <<END\n", kind);
        for (i = 0; i < count; i++) {
            double base = 0;

            for (below = 1; below < kind; below++)
                base += (double)intervals[i].calls[below];
            fprintf(plot.script, "%.9g %.9g %.9g %.9g %.9g %.9g\n",
                    ((double)i + 0.5) * length, base / length,
                    (double)i * length, ((double)i + 1) * length,
                    base / length,
                    (base + (double)intervals[i].calls[kind]) / length);
        }
        fputs("END\n", plot.script);
    }
    for (kind = 1; kind < COURSE_KINDS; kind++)
        fprintf(plot.script, "%s$k%u using 1:2:3:4:5:6 with boxxyerror "
                "linecolor rgb " PLOT_SERIES, kind == 1 ? "plot " : ", ", kind,
                kind);
    fputc('\n', plot.script);
    return plot_end(&plot, "Calls a second in the course of the capture", out);
}

static bool
latency_panel(struct plotter *plotter, const struct course_interval *intervals,
              size_t count, int64_t length_ns, double p, FILE *out)
{
    const double length = (double)length_ns * 1e-9;
    const char *comma = "plot ";
    struct plot plot;
    unsigned kind;
    size_t i, points = 0;
    bool few;

    plot_begin(&plot, plotter, PANEL_WIDTH, 300);
    if (plot.script == NULL)
        return false;
    course_axes(&plot, (double)count * length);
    fputs("set ylabel 'µs'\nset logscale y\nset format y '%g'\n",
          plot.script);
    for (kind = 1; kind < COURSE_KINDS; kind++) {
        fprintf(plot.script, "$k%u <<END\n", kind);
        for (i = 0; i < count; i++) {
            double ns;

            if (!course_latency(&intervals[i], kind, p, &ns))
                continue;
            fprintf(plot.script, "%.9g %.9g\n", ((double)i + 0.5) * length,
                    ns * 1e-3);
            points++;
        }
        fputs("END\n", plot.script);
    }
    few = points < 60;
    for (kind = 1; kind < COURSE_KINDS; kind++) {
        bool any = false;
        double ns;

        for (i = 0; i < count; i++)
            any = any || course_latency(&intervals[i], kind, p, &ns);
        if (!any)
            continue;
        fprintf(plot.script, "%s$k%u using 1:2 with linespoints pointtype 6 "
                "pointsize %.2f linewidth 1.2 linecolor rgb " PLOT_SERIES,
                comma, kind, few ? 0.8 : 0.35, kind);
        comma = ", ";
    }
    fputc('\n', plot.script);
    return plot_end(&plot, "Latency in the course of the capture", out);
}

static void
course_legend(const struct course_interval *intervals, size_t count, FILE *out)
{
    unsigned kind;
    size_t i;

    legend_begin(out);
    for (kind = 1; kind < COURSE_KINDS; kind++) {
        uint64_t calls = 0;

        for (i = 0; i < count; i++)
            calls += intervals[i].calls[kind];
        if (calls > 0)
            legend_entry(out, kind, kind_names[kind]);
    }
    legend_end(out);
}

static bool
any_latency(const struct course_interval *intervals, size_t count)
{
    unsigned kind;
    double ns;
    size_t i;

    for (i = 0; i < count; i++)
        for (kind = 1; kind < COURSE_KINDS; kind++)
            if (course_latency(&intervals[i], kind, 0.5, &ns))
                return true;
    return false;
}

static void
pictures(const struct capture_course *course, FILE *out)
{
    struct plotter plotter = {0};
    const struct course_interval *intervals;
    int64_t first_ns, length_ns;
    size_t count;

    html_heading(out, "pictures", "Pictures");
    intervals = capture_course_intervals(course, &count, &first_ns,
                                         &length_ns);
    if (count == 0) {
        fputs("<p>None: there was no call.</p>\n", out);
        return;
    }
    plot_svg_shapes(out);
    if (!plot_available()) {
        fputs("<p class=\"note\">gnuplot is not installed: the pictures are "
              "missing; everything else is complete. Install it (on Debian "
              "the package gnuplot-nox) and make the report again.</p>\n",
              out);
        return;
    }
    figure_begin(out, "figure-1");
    panel_begin(out, "Calls a second");
    panel_end(out, &plotter, rate_panel(&plotter, intervals, count, length_ns,
                                        out));
    if (any_latency(intervals, count)) {
        panel_begin(out, "Latency, median");
        panel_end(out, &plotter, latency_panel(&plotter, intervals, count,
                                               length_ns, 0.5, out));
        panel_begin(out, "Latency, 95 % are below");
        panel_end(out, &plotter, latency_panel(&plotter, intervals, count,
                                               length_ns, 0.95, out));
    }
    course_legend(intervals, count, out);
    figure_caption(out, 1, "The capture in the course of time");
    fprintf(out, "In intervals of %.3g s; an NFSv4 COMPOUND stands under the "
            "name of its main operation. Latency is from a call's first byte "
            "to its reply's last at the place of the capture, in steps of "
            "19 %%. A server in trouble shows in the second picture, a few "
            "slow calls in the third alone.", (double)length_ns * 1e-9);
    figure_end(out);
}

/* --- tables --------------------------------------------------------------- */

static void
procedure_table(const struct capture_report *report, FILE *out)
{
    size_t i, n;
    const struct procedure_counts *const *rows =
        rpc_counts_procedures(report->counts, &n);
    char name[96];

    if (n == 0) {
        fputs("<p>None: there was no call.</p>\n", out);
        return;
    }
    fputs("<h3>Procedures</h3>\n", out);
    html_table_begin(out, "latency in µs; · COMPOUNDs by their main operation",
                     "<Procedure|calls|replies|sent again|unanswered|errors|"
                     "smallest|median|mean|95 %|99 %|largest");
    for (i = 0; i < n; i++) {
        const struct procedure_counts *row = rows[i];
        const struct histogram *last = row->last;
        const bool any = last != NULL && last->count > 0;

        name_of(row, name, sizeof name);
        html_row_begin(out);
        html_row_head(out, name);
        html_number(out, "%" PRIu64, row->calls);
        html_number(out, "%" PRIu64, row->replies);
        html_number(out, "%" PRIu64, row->retransmissions);
        html_number(out, "%" PRIu64, row->unanswered);
        html_number(out, "%" PRIu64, errors_in(row));
        us_cell(out, any, any ? (double)last->min : 0);
        us_cell(out, any, any ? (double)histogram_quantile(last, 0.5) : 0);
        us_cell(out, any, any ? histogram_mean(last) : 0);
        us_cell(out, any, any ? (double)histogram_quantile(last, 0.95) : 0);
        us_cell(out, any, any ? (double)histogram_quantile(last, 0.99) : 0);
        us_cell(out, any, any ? (double)last->max : 0);
        html_row_end(out);
    }
    html_table_end(out);
}

static void
operation_table(const struct capture_report *report, FILE *out)
{
    size_t i, n;
    const struct operation_counts *rows =
        rpc_counts_operations(report->counts, &n);

    if (n == 0)
        return;
    fputs("<h3>Operations inside NFSv4 COMPOUNDs</h3>\n", out);
    html_table_begin(out, NULL, "<Operation|minor version|calls|replies");
    for (i = 0; i < n; i++) {
        const char *name =
            nfs4_operation_name(rows[i].number, rows[i].callback);
        char number[32];

        snprintf(number, sizeof number, "operation %" PRIu32, rows[i].number);
        html_row_begin(out);
        html_row_head(out, name != NULL ? name : number);
        html_number(out, "%" PRIu32, rows[i].minor_version);
        html_number(out, "%" PRIu64, rows[i].calls);
        html_number(out, "%" PRIu64, rows[i].replies);
        html_row_end(out);
    }
    html_table_end(out);
}

static void
error_table(const struct capture_report *report, FILE *out)
{
    size_t i, n;
    const struct procedure_counts *const *rows =
        rpc_counts_procedures(report->counts, &n);
    bool any = false;
    unsigned j;

    for (i = 0; i < n; i++)
        for (j = 0; j < rows[i]->errors.rows; j++) {
            const struct status_count *error = &rows[i]->errors.row[j];
            const char *status =
                rows[i]->program == SUNRPC_MOUNT
                    ? mount_status_name(rows[i]->version, error->status)
                    : nfs_status_name(rows[i]->version, error->status);
            char name[96], number[32];

            if (!any) {
                fputs("<h3>Errors</h3>\n", out);
                html_table_begin(out, NULL, "<Procedure|<Status|replies");
            }
            any = true;
            name_of(rows[i], name, sizeof name);
            snprintf(number, sizeof number, "status %" PRIu32, error->status);
            html_row_begin(out);
            html_row_head(out, name);
            html_cell(out, status != NULL ? status : number);
            html_number(out, "%" PRIu64, error->count);
            html_row_end(out);
        }
    if (any)
        html_table_end(out);
}

static void
setattr_table(const struct capture_report *report, FILE *out)
{
    size_t i, n;
    const struct setattr_counts *rows =
        rpc_counts_setattrs(report->counts, &n);
    char text[256];

    if (n == 0)
        return;
    fputs("<h3>What SETATTR sets</h3>\n", out);
    html_table_begin(out, NULL, "NFS version|calls|errors|<Sets");
    for (i = 0; i < n; i++) {
        html_row_begin(out);
        html_number(out, "%" PRIu32, rows[i].version);
        html_number(out, "%" PRIu64, rows[i].calls);
        html_number(out, "%" PRIu64, rows[i].errors);
        html_cell(out, setattr_text(&rows[i].what, text, sizeof text));
        html_row_end(out);
    }
    html_table_end(out);
}

static void
access_table(const struct capture_report *report, FILE *out)
{
    size_t i, n;
    const struct access_counts *rows =
        rpc_counts_accesses(report->counts, &n);
    const bool known = rpc_counts_handles_known(report->counts);
    char text[256];

    if (n == 0)
        return;
    fputs("<h3>What ACCESS asks</h3>\n", out);
    html_table_begin(out, NULL, "calls|redundant|<Asked for|<Granted");
    for (i = 0; i < n; i++) {
        html_row_begin(out);
        html_number(out, "%" PRIu64, rows[i].calls);
        if (known)
            html_number(out, "%" PRIu64, rows[i].redundant);
        else
            html_number(out, "-");
        html_long_cell(out, nfs_access_names(rows[i].requested, text,
                                             sizeof text));
        html_long_cell(out, rows[i].answered
                                ? nfs_access_names(rows[i].granted, text,
                                                   sizeof text)
                                : "-");
        html_row_end(out);
    }
    html_table_end(out);
}

static void
top_cells(const struct top_row *row, FILE *out)
{
    unsigned kind;

    html_number(out, "%" PRIu64, row->all);
    for (kind = 1; kind < COURSE_KINDS; kind++)
        html_number(out, "%" PRIu64, row->calls[kind]);
    html_number(out, "%" PRIu64, row->errors);
    us_cell(out, row->latencies > 0,
            row->latencies > 0 ? row->latency_sum / (double)row->latencies
                               : 0);
}

#define TOP_COLUMNS                                                            \
    "calls|GETATTR|SETATTR|READ|ACCESS|LOOKUP|OPEN|CLOSE|others|errors|"       \
    "latency, mean"

static void
top_rest(size_t shown, size_t seen, uint64_t unlisted, FILE *out)
{
    if (seen > shown)
        fprintf(out, "<p class=\"sub\">%zu more have fewer calls.</p>\n",
                seen - shown);
    if (unlisted > 0)
        fprintf(out, "<p class=\"sub\">%" PRIu64 " calls are of others that "
                "no room was kept for.</p>\n", unlisted);
}

static void
client_table(const struct capture_course *course, FILE *out)
{
    const struct top_row *rows[MOST_TOP];
    size_t seen, i;
    uint64_t unlisted;
    const size_t n = capture_course_clients(course, rows, MOST_TOP, &seen,
                                            &unlisted);

    if (n == 0)
        return;
    fputs("<h3>Clients with most calls</h3>\n", out);
    html_table_begin(out, NULL, "<Client|" TOP_COLUMNS);
    for (i = 0; i < n; i++) {
        char text[INET6_ADDRSTRLEN];

        if (inet_ntop(rows[i]->client.family == 6 ? AF_INET6 : AF_INET,
                      rows[i]->client.address, text, sizeof text) == NULL)
            snprintf(text, sizeof text, "-");
        html_row_begin(out);
        html_row_head(out, text);
        top_cells(rows[i], out);
        html_row_end(out);
    }
    html_table_end(out);
    top_rest(n, seen, unlisted, out);
}

static void
file_table(const struct capture_course *course, FILE *out)
{
    const struct top_row *rows[MOST_TOP];
    size_t seen, i, j;
    uint64_t unlisted;
    const size_t n =
        capture_course_files(course, rows, MOST_TOP, &seen, &unlisted);

    if (n == 0)
        return;
    fputs("<h3>Files with most calls</h3>\n<div class=\"names\">\n", out);
    html_table_begin(out, "by file handle; the name where a LOOKUP, OPEN or "
                     "CREATE in the capture told it",
                     "<File|" TOP_COLUMNS "|<Handle");
    for (i = 0; i < n; i++) {
        char hex[2 * NFS_HANDLE_MAX + 1] = "";

        for (j = 0; j < rows[i]->handle_length && j < NFS_HANDLE_MAX; j++)
            snprintf(hex + 2 * j, 3, "%02x", rows[i]->handle[j]);
        /* The beginning is the same for all files of an export. */
        if (j > 16) {
            memmove(hex + 3, hex + 2 * j - 16, 17);
            memcpy(hex, "...", 3);
        }
        html_row_begin(out);
        html_row_head(out, rows[i]->name[0] != '\0' ? rows[i]->name : NULL);
        top_cells(rows[i], out);
        html_cell(out, hex);
        html_row_end(out);
    }
    html_table_end(out);
    fputs("</div>\n", out);
    top_rest(n, seen, unlisted, out);
}

static void
loss_table(const struct capture_report *report, FILE *out)
{
    struct named_loss losses[MOST_LOSSES];
    const size_t n = capture_losses(report->result, losses, MOST_LOSSES);
    uint64_t sum = 0, all = 0;
    size_t i;

    html_heading(out, "losses", "Losses");
    for (i = 0; i < n && i < MOST_LOSSES; i++) {
        all += losses[i].count;
        if (losses[i].changes_counts)
            sum += losses[i].count;
    }
    if (sum > 0)
        fputs("<p class=\"note\">Something was lost that can change a count: "
              "counts are lower bounds.</p>\n", out);
    else if (all_complete(report))
        fputs("<p>Nothing was lost that could change a count.</p>\n", out);
    else
        fputs("<p class=\"note\">What the capture no longer has is not "
              "counted; of what it has, nothing was lost that could change a "
              "count.</p>\n", out);
    if (all == 0) {
        fputs("<p class=\"sub\">All counters are 0.</p>\n", out);
        return;
    }
    html_table_begin(out, NULL, "<What|count|<If it is not 0");
    for (i = 0; i < n && i < MOST_LOSSES; i++) {
        if (losses[i].count == 0)
            continue;
        html_row_begin(out);
        html_cell(out, losses[i].text);
        html_number(out, "%" PRIu64, losses[i].count);
        html_cell(out, losses[i].changes_counts ? "a count may be too small"
                                                : "counts stay right");
        html_row_end(out);
    }
    html_table_end(out);
    fputs("<p class=\"sub\">All other counters are 0.</p>\n", out);
}

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

void
capture_report_html(const struct capture_report *report,
                    const struct capture_course *course, FILE *out)
{
    const struct capture_result *result = report->result;
    char title[320];
    size_t i;

    if (result->input_count == 1)
        snprintf(title, sizeof title, "RPCs of %.256s",
                 base_name(result->inputs[0].path));
    else
        snprintf(title, sizeof title, "RPCs of %zu captures",
                 result->input_count);
    html_begin(out, title);
    html_contents(out);
    reservations(report, out);
    findings(report, out);
    setting(report, out);
    pictures(course, out);
    html_heading(out, "tables", "Tables");
    procedure_table(report, out);
    operation_table(report, out);
    error_table(report, out);
    setattr_table(report, out);
    access_table(report, out);
    client_table(course, out);
    file_table(course, out);
    loss_table(report, out);
    html_heading(out, "again", "Again");
    fputs("<pre>nfs-atime-test pcap --format html", out);
    for (i = 0; i < result->input_count; i++) {
        fputc(' ', out);
        html_text(out, result->inputs[i].path);
    }
    fputs(" &gt; capture.html</pre>\n", out);
    html_end(out);
}
