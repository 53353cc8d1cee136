/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The test: exec, capture, count, correlate, report. */
#include "client/commands.h"

#include "analysis/report.h"
#include "client/progress.h"
#include "client/stop.h"
#include "client/test_run.h"
#include "client/util.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int
complain(const char *text)
{
    progress_clear();
    fprintf(stderr, "nfs-atime-test: %s\n", text);
    return EXIT_FAILED;
}

static bool
anything_measured(const struct run *run)
{
    for (size_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].exec_count > 0 || run->cells[i].series_count > 0)
            return true;
    return false;
}

static void
copy_to_stdout(FILE *file)
{
    char buffer[4096];
    size_t length;

    rewind(file);
    while ((length = fread(buffer, 1, sizeof(buffer), file)) > 0)
        fwrite(buffer, 1, length, stdout);
}

/* The text report as a file, and the same or another form on standard output.
 * @return its status. */
static int
write_reports(const struct test *test, const struct report_options *options,
              char *error, size_t error_size)
{
    const char *directory = test->run.directory;
    const enum report_format format = test->options->format;
    const bool same = format == REPORT_TEXT && !options->judge_only;
    struct report_options in_file = *options;
    char *path = format_text("%s/report.txt", directory);
    FILE *file = fopen(path, "w+e");
    int status = 1;

    /* Judged once, with what goes to standard output. */
    in_file.judge_only = false;
    if (!same)
        in_file.expect = NULL;
    if (file != NULL)
        status = report_run(directory, REPORT_TEXT, &in_file, file, error,
                            error_size);
    if (file == NULL || status == 1)
        fprintf(stderr, "nfs-atime-test: %s: %s\n", path,
                file == NULL ? strerror(errno) : error);
    if (file == NULL || status == 1 || !same)
        status = report_run(directory, format, options, stdout, error,
                            error_size);
    else
        copy_to_stdout(file);
    if (file != NULL && fclose(file) != 0)
        fprintf(stderr, "nfs-atime-test: %s: %s\n", path, strerror(errno));
    free(path);
    return status;
}

static int
print_report(const struct test *test)
{
    struct report_options options = {0};
    struct expect_request expect;
    char error[1024] = "";
    int status;

    if (expect_options_copy(&test->options->expect, &expect) != 0)
        return complain("out of memory");
    expect_options_apply(&expect, false, &options);
    status = write_reports(test, &options, error, sizeof(error));
    if (status == 1)
        complain(error);
    else
        expect_options_print(&expect, test->run.directory);
    expect_options_free(&expect);
    return status;
}

/* From the first step to the last cell. @return false: nothing to save. */
static bool
measure(struct test *test, const struct test_options *options,
        const struct test_hooks *hooks)
{
    if (test_start(test, options, hooks) != 0)
        return false;
    if (stop_install() != 0) {
        set_error(test->error, sizeof(test->error), "signals: %s",
                  strerror(errno));
        return false;
    }
    for (size_t i = 0; i < options->directory_count; i++) {
        progress_show("%s: preparing", options->directories[i]);
        if (test_add_filesystem(test, i) != 0)
            return false;
    }
    progress_show("starting the capture");
    if (test_make_output(test) != 0)
        return false;
    if (captures_start(test) != 0) {
        /* To a bench the RPCs are an addition, unless asked for by name. */
        if (hooks == NULL || stop_signal() != 0 ||
            options->interface != NULL || options->filter != NULL ||
            options->capture_file != NULL)
            return false;
        run_warn(&test->run, "no capture, the RPCs are the kernel's count: %s",
                 test->error);
        captures_give_up(test);
    }
    test_run_cells(test);
    return true;
}

static int
finish(struct test *test, bool measured)
{
    struct run *run = &test->run;
    char reason[1024];
    int status = EXIT_DONE, reported;

    snprintf(reason, sizeof(reason), "%s", test->error);
    captures_stop(test);
    measured = measured && anything_measured(run);
    if (measured && test_save(test) != 0 && test_save_elsewhere(test) != 0)
        measured = false;
    progress_show("cleaning up");
    test_clean_up(test);
    progress_clear();
    if (run->state == RUN_FAILED || (!measured && stop_signal() == 0))
        complain(run->state == RUN_FAILED && run->state_reason != NULL
                     ? run->state_reason
                     : reason);
    else if (stop_signal() != 0)
        fprintf(stderr, "nfs-atime-test: stopped by signal %d (%s)%s%s\n",
                stop_signal(), strsignal(stop_signal()),
                measured ? "; what was measured is in " : "",
                measured ? run->directory : "");
    if (measured) {
        reported = print_report(test);
        if (reported != 0)
            status = reported;
        if (test->incomplete && status == EXIT_DONE)
            status = EXIT_INCOMPLETE;
    } else {
        status = EXIT_FAILED;
    }
    return stop_signal() != 0 ? EXIT_SIGNAL + stop_signal() : status;
}

int
test_execute(const struct test_options *options,
             const struct test_hooks *hooks)
{
    struct test test;
    bool measured;
    int status;

    progress_start(options->quiet     ? PROGRESS_QUIET
                   : options->verbose ? PROGRESS_VERBOSE
                                      : PROGRESS_NORMAL);
    measured = measure(&test, options, hooks);
    status = finish(&test, measured);
    run_free(&test.run);
    return status;
}

/* Before an hour is spent on what it cannot be compared with. */
static bool
baseline_is_there(const struct test_options *options)
{
    const char *path = options->expect.expect.baseline;
    struct run run;
    char error[1024];
    bool there;

    if (path == NULL)
        return true;
    there = run_read(path, &run, error, sizeof(error)) == 0;
    run_free(&run);
    if (!there)
        complain(error);
    return there;
}

int
cmd_test(int argc, char **argv)
{
    struct test_options options;
    int status;

    switch (options_read(&options, argc, argv, false)) {
    case OPTIONS_DONE:
        return EXIT_DONE;
    case OPTIONS_WRONG:
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    status = baseline_is_there(&options) ? test_execute(&options, NULL)
                                         : EXIT_FAILED;
    options_free(&options);
    return status;
}
