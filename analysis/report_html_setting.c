/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/bench_parts.h"
#include "analysis/capture_report.h"
#include "analysis/html_page.h"
#include "analysis/report_html_parts.h"

#include <inttypes.h>
#include <string.h>

#define MOST_LOSSES 64

void
html_reservations(const struct figures *figures, FILE *out)
{
    const struct run *run = figures->run;

    if (run->state != RUN_COMPLETE) {
        fputs("<p class=\"note\">The run is not complete (", out);
        html_text(out, run->state_reason != NULL ? run->state_reason
                                                 : "still running");
        fprintf(out, "): %u of %u cells are done.</p>\n", figures->cells_done,
                figures->cells_planned);
    } else if (figures->cells_done < figures->cells_planned) {
        fprintf(out, "<p class=\"note\">%u of %u cells failed.</p>\n",
                figures->cells_planned - figures->cells_done,
                figures->cells_planned);
    }
    if (!figures->counts_complete)
        fputs("<p class=\"note\">Something was lost from the capture: counts "
              "of RPCs are lower bounds, and what depends on them is "
              "inconclusive. <a href=\"#losses\">Losses</a></p>\n", out);
}

static void
term(FILE *out, const char *name)
{
    fputs("<dt>", out);
    html_text(out, name);
    fputs("</dt><dd>", out);
}

static void
filesystem_entry(const struct run_filesystem *filesystem, FILE *out)
{
    term(out, filesystem->label);
    html_text(out, filesystem->device);
    if (filesystem->kind == FILESYSTEM_LOCAL) {
        fputs(", ", out);
        html_text(out, filesystem->type);
    } else {
        html_textf(out, ", NFSv%s by %s, port %u",
                   filesystem->version != NULL ? filesystem->version : "?",
                   filesystem->transport != NULL ? filesystem->transport : "?",
                   filesystem->port);
        if (filesystem->nconnect > 1)
            html_textf(out, ", nconnect %u", filesystem->nconnect);
    }
    fputs("; options <code>", out);
    html_text(out, filesystem->options);
    fputs("</code>", out);
    if (filesystem->export_note != NULL) {
        fputs("; export ", out);
        html_text(out, filesystem->export_note);
    }
    if (filesystem->ping_count > 0) {
        const struct stat_summary ping = stat_summarise_ns(
            filesystem->ping_ns, filesystem->ping_count, 1e-3);

        fprintf(out, "; ping %.0f µs (smallest %.0f, n %zu)", ping.median,
                ping.min, ping.n);
    }
    if (filesystem->kind == FILESYSTEM_NFS && !filesystem->wire_shows_all) {
        fputs("; the wire does not show its RPCs (", out);
        html_text(out, filesystem->why_not);
        fputs("): counts are the kernel's", out);
    }
    fputs("</dd>\n", out);
}

static void
capture_entries(const struct figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    const struct run_traffic *traffic = figures->traffic;
    size_t i;

    term(out, "capture");
    if (!run_has_nfs(run))
        fputs("none: the run has no NFS file system", out);
    else if (!traffic->any_capture)
        fputs("none: the counts are the kernel's mountstats", out);
    if (traffic->any_capture && traffic->clock_from_markers)
        fprintf(out, "from elsewhere: %" PRIu64 " packets", traffic->packets);
    for (i = 0; traffic->any_capture && !traffic->clock_from_markers &&
                i < run->capture_count; i++) {
        const struct run_capture *capture = &run->captures[i];

        fputs(i > 0 ? "<br>" : "", out);
        html_text(out, capture->interface);
        fprintf(out, ": %" PRIu64 " packets, ",
                run->capture_count == 1 ? traffic->packets
                                        : capture->received);
        if (capture->stats_known)
            fprintf(out, "%" PRIu64 " dropped", capture->dropped);
        else
            fputs("drops not known", out);
        if (capture->warning != NULL) {
            fputs("; ", out);
            html_text(out, capture->warning);
        }
    }
    if (figures->cells_compared > 0)
        fprintf(out, "; the wire and the kernel's mountstats agree in %u of %u "
                "cells", figures->cells_agree, figures->cells_compared);
    if (traffic->clock_from_markers)
        fprintf(out, "; joined by %" PRIu64 " markers: its clock is ahead by "
                "%.6f s and runs %+.3f ppm fast, no marker is farther than "
                "%.1f µs from that line", traffic->markers_found,
                (double)(traffic->clock_ahead_ns != RUN_UNKNOWN_NS
                             ? traffic->clock_ahead_ns
                             : traffic->clock_offset_ns) * 1e-9,
                traffic->clock_drift * 1e6,
                traffic->clock_residual_ns * 1e-3);
    if (traffic->warning != NULL) {
        fputs("; ", out);
        html_text(out, traffic->warning);
    }
    fputs("</dd>\n", out);
}

static void
plan_entry(const struct figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    bool methods[METHOD_COUNT] = {false};
    unsigned used = 0;
    char text[512];
    size_t i;

    if (run->bench != NULL) {
        term(out, "plan");
        html_text(out, bench_plan(run, text, sizeof text));
        fputs("</dd>\n", out);
        return;
    }
    for (i = 0; i < run->cell_count; i++)
        methods[run->cells[i].method] = true;
    for (i = 0; i < METHOD_COUNT; i++)
        used += methods[i];
    term(out, "plan");
    fprintf(out, "%zu file system%s × %u method%s × %u repetition%s × %u "
            "execs, interleaved (seed %" PRIu64 "); program ",
            run->filesystem_count, run->filesystem_count == 1 ? "" : "s", used,
            used == 1 ? "" : "s", run->repetitions,
            run->repetitions == 1 ? "" : "s", run->execs, run->seed);
    html_text(out, run->program);
    fprintf(out, ", %" PRIu64 " bytes, by ", run->program_bytes);
    html_text(out, run->spawn);
    if (run->as_user != NULL) {
        fputs(", as ", out);
        html_text(out, run->as_user);
    }
    fputs("</dd>\n", out);
}

void
html_setting(const struct figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    size_t i;

    html_heading(out, "setting", "Setting");
    fputs("<dl>\n", out);
    term(out, "run");
    html_text(out, run->id);
    fputs("; nfs-atime-test ", out);
    html_text(out, run->tool_version);
    fputs("</dd>\n", out);
    term(out, "machine");
    html_text(out, run->hostname);
    fputs(", Linux ", out);
    html_text(out, run->kernel);
    fputs("</dd>\n", out);
    term(out, "clock");
    html_text(out, run->clock);
    if (run->realtime_stepped)
        fputs("; the wall clock was set during the run", out);
    fputs("</dd>\n", out);
    for (i = 0; i < run->filesystem_count; i++)
        filesystem_entry(&run->filesystems[i], out);
    capture_entries(figures, out);
    plan_entry(figures, out);
    for (i = 0; i < run->warning_count; i++) {
        term(out, "warning");
        html_text(out, run->warnings[i]);
        fputs("</dd>\n", out);
    }
    fputs("</dl>\n", out);
}

/* --- losses --------------------------------------------------------------- */

static void
kernel_drops(const struct figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    uint64_t kernel = 0, interface = 0;
    bool known = false;
    size_t i;

    for (i = 0; i < run->capture_count; i++) {
        known = known || run->captures[i].stats_known;
        kernel += run->captures[i].dropped;
        interface += run->captures[i].interface_dropped;
    }
    html_row_begin(out);
    html_cell(out, "packets that the kernel dropped");
    html_number(out, known ? "%" PRIu64 : "-", kernel);
    html_cell(out, "a count may be too small");
    html_row_end(out);
    html_row_begin(out);
    html_cell(out, "packets that the interface dropped");
    html_number(out, known ? "%" PRIu64 : "-", interface);
    html_cell(out, "a count may be too small");
    html_row_end(out);
}

void
html_losses(const struct figures *figures, FILE *out)
{
    const struct run_traffic *traffic = figures->traffic;
    struct capture_result result;
    struct named_loss losses[MOST_LOSSES];
    size_t i, n;
    uint64_t sum = 0;

    html_heading(out, "losses", "Losses");
    if (!traffic->any_capture) {
        fputs(run_has_nfs(figures->run)
                  ? "<p>Not known: there is no capture.</p>\n"
                  : "<p>None: there were no RPCs to capture.</p>\n", out);
        return;
    }
    memset(&result, 0, sizeof result);
    result.packets = traffic->packet_losses;
    result.rpc = traffic->rpc_losses;
    n = capture_losses(&result, losses, MOST_LOSSES);
    for (i = 0; i < n && i < MOST_LOSSES; i++)
        if (losses[i].changes_counts)
            sum += losses[i].count;
    fputs(sum == 0 && figures->counts_complete
              ? "<p>Nothing was lost that could change a count.</p>\n"
              : "<p>Something was lost that can change a count.</p>\n", out);
    fputs("<details><summary>Every counter</summary>\n", out);
    html_table_begin(out, NULL, "<What|count|<If it is not 0");
    kernel_drops(figures, out);
    for (i = 0; i < n && i < MOST_LOSSES; i++) {
        html_row_begin(out);
        html_cell(out, losses[i].text);
        html_number(out, "%" PRIu64, losses[i].count);
        html_cell(out, losses[i].changes_counts ? "a count may be too small"
                                                : "counts stay right");
        html_row_end(out);
    }
    html_table_end(out);
    fprintf(out, "</details>\n<p>Not counted as %s: %" PRIu64
            " RPCs in the background (lease renewal, other mounts) and %" PRIu64
            " of this program itself.</p>\n",
            figures->run->bench != NULL ? "the bench's" : "an exec's",
            traffic->background_calls, traffic->own_calls);
}

void
html_again(const struct run *run, FILE *out)
{
    html_heading(out, "again", "Again");
    fputs("<p>Everything here comes from the run's directory, run.json and "
          "its captures; nothing is measured when a report is made.</p>\n"
          "<pre>nfs-atime-test report --format html ", out);
    html_text(out, run->directory != NULL ? run->directory : "DIRECTORY");
    fputs(" &gt; report.html</pre>\n", out);
}
