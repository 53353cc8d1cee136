/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* getopt_long, strsep */
#include "client/options.h"

#include "client/programs/embedded.h"
#include "client/util.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EXECS 100000000
#define MAX_REPETITIONS 100000

/* One screen; the manual has the rest. */
static const char help_text[] =
    "Usage: nfs-atime-test --mount DIR [options] [-- ARGUMENT...]\n"
    "       nfs-atime-test pcap|report|compare|probe|bench ... (--help each)\n"
    "Execs a program on an NFS mount, counts the RPCs, asks the server whether\n"
    "the access time moved, and reports what happened and what it cost.\n"
    "\n"
    "  --mount DIR       on an NFS mount; may be repeated\n"
    "  --local DIR       on a local file system, to compare; may be repeated\n"
    "  -n EXECS          in each cell (200)\n"
    "  -r REPETITIONS    of each cell (5)\n"
    "  --methods LIST    of noexec,none,setattr,read,open-read,direct-read (all)\n"
    "  --program WHAT    static, libc, dynamic, or a PATH (static)\n"
    "  -i INTERFACE      to capture on (by the route to the server)\n"
    "  --no-capture      count by the kernel's counters alone: no privilege\n"
    "  -w FILE           keep the capture there\n"
    "  -o DIR            results (results/<time>-<host>)\n"
    "  --format FORMAT   text, time, json, csv, markdown or html (text)\n"
    "  --label DIR=NAME  what to call a file system in the report\n"
    "  --expect EXPR     such as 'nfs3 none SETATTR/exec == 0'; repeatable\n"
    "  -q, -v            no progress; progress also without a terminal\n"
    "  -h, --help, --version\n"
    "All options: man nfs-atime-test\n"
    "Exit status: 0 done; 1 failed; 2 wrong usage; 3 an --expect does not hold;\n"
    "4 done, but incomplete; 128+N ended by signal N, what was measured is saved.\n";

static const char probe_help_text[] =
    "Usage: nfs-atime-test probe --mount DIR [options]\n"
    "Says whether the access time moves on this mount and by whom: strict,\n"
    "relatime-like, only on READ that reaches the server, never, or unknown;\n"
    "and which access time options have an effect. Writes one small file into\n"
    "DIR and removes it; captures nothing.\n"
    "\n"
    "  --mount DIR      on an NFS mount\n"
    "  --local DIR      on a local file system\n"
    "  --export-dir D   the exported directory, seen here without NFS\n"
    "  -q, -v           less, more on standard error\n"
    "  -h, --help, --version\n"
    "\n"
    "Exit status: 0 answered; 1 failed; 2 wrong usage; 4 unknown.\n";

enum option_code {
    OPTION_MOUNT = 256,
    OPTION_LOCAL,
    OPTION_METHODS,
    OPTION_PROGRAM,
    OPTION_SPAWN,
    OPTION_SEED,
    OPTION_NO_CAPTURE,
    OPTION_CLOCK,
    OPTION_ID,
    OPTION_EXPORT_NOTE,
    OPTION_EXPORT_DIR,
    OPTION_IDLE,
    OPTION_INTERVAL,
    OPTION_WARM_UP,
    OPTION_AS,
    OPTION_FORMAT,
    OPTION_LABEL,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"mount", required_argument, NULL, OPTION_MOUNT},
    {"local", required_argument, NULL, OPTION_LOCAL},
    {"export-dir", required_argument, NULL, OPTION_EXPORT_DIR},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
#define PROBE_OPTIONS 7
    {"execs", required_argument, NULL, 'n'},
    {"repetitions", required_argument, NULL, 'r'},
    {"methods", required_argument, NULL, OPTION_METHODS},
    {"program", required_argument, NULL, OPTION_PROGRAM},
    {"spawn", required_argument, NULL, OPTION_SPAWN},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"interface", required_argument, NULL, 'i'},
    {"filter", required_argument, NULL, 'f'},
    {"snaplen", required_argument, NULL, 's'},
    {"buffer", required_argument, NULL, 'B'},
    {"no-capture", no_argument, NULL, OPTION_NO_CAPTURE},
    {"clock", required_argument, NULL, OPTION_CLOCK},
    {"id", required_argument, NULL, OPTION_ID},
    {"export-note", required_argument, NULL, OPTION_EXPORT_NOTE},
    {"idle", required_argument, NULL, OPTION_IDLE},
    {"interval", required_argument, NULL, OPTION_INTERVAL},
    {"warm-up", required_argument, NULL, OPTION_WARM_UP},
    {"as", required_argument, NULL, OPTION_AS},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"label", required_argument, NULL, OPTION_LABEL},
    {"output", required_argument, NULL, 'o'},
    EXPECT_LONG_OPTIONS,
    {"write", required_argument, NULL, 'w'},
    {NULL, 0, NULL, 0},
};

static enum options_status wrong(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static enum options_status
wrong(const char *format, ...)
{
    va_list arguments;

    fputs("nfs-atime-test: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(" (--help shows the options)\n", stderr);
    return OPTIONS_WRONG;
}

int64_t
duration_parse(const char *text)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    char *end;
    double number;

    errno = 0;
    number = strtod(text, &end);
    if (end == text || errno != 0 || !isfinite(number) || number < 0)
        return -1;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].name) == 0 && number * units[i].ns < 1e15)
            return (int64_t)(number * units[i].ns + 0.5);
    return -1;
}

static enum options_status
read_duration(const char *name, const char *text, int64_t *ns)
{
    *ns = duration_parse(text);
    if (*ns < 0)
        return wrong("%s %s: not a time such as 10ms or 2s", name, text);
    return OPTIONS_RUN;
}

static enum options_status
read_number(const char *name, const char *text, uint64_t least, uint64_t most,
            uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 ||
        *number < least || *number > most)
        return wrong("%s %s: not a whole number from %llu to %llu", name, text,
                     (unsigned long long)least, (unsigned long long)most);
    return OPTIONS_RUN;
}

static enum options_status
read_unsigned(const char *name, const char *text, unsigned least,
              unsigned most, unsigned *number)
{
    uint64_t wide = 0;
    enum options_status status = read_number(name, text, least, most, &wide);

    if (status == OPTIONS_RUN)
        *number = (unsigned)wide;
    return status;
}

static enum options_status
read_methods(const char *list, struct test_options *options)
{
    char *copy = copy_text(list), *rest = copy, *name;
    enum options_status status = OPTIONS_RUN;

    options->method_count = 0;
    while (status == OPTIONS_RUN && (name = strsep(&rest, ",")) != NULL) {
        enum run_method method = run_method_by_name(name);

        if (method == METHOD_COUNT)
            status = wrong("--methods %s: there is no method \"%s\"", list,
                           name);
        for (size_t i = 0; i < options->method_count; i++)
            if (options->methods[i] == method)
                status = wrong("--methods %s: %s twice", list, name);
        if (status == OPTIONS_RUN)
            options->methods[options->method_count++] = method;
    }
    free(copy);
    return status;
}

static void
add_directory(struct test_options *options, const char *directory,
              enum filesystem_kind kind)
{
    size_t count = options->directory_count + 1;

    options->directories = grow_memory(
        options->directories, count, sizeof(*options->directories));
    options->kinds =
        grow_memory(options->kinds, count, sizeof(*options->kinds));
    options->directories[count - 1] = directory;
    options->kinds[count - 1] = kind;
    options->directory_count = count;
}

/* "DIR=TEXT" or, when allowed, "TEXT" for all. Which it is is only known when
 * all directories are: resolve_texts(). */
static void
add_text(struct directory_texts *texts, const char *text)
{
    texts->items = grow_memory(texts->items, texts->length + 1,
                               sizeof(*texts->items));
    texts->items[texts->length].directory = NULL;
    texts->items[texts->length].text = copy_text(text);
    texts->length++;
}

static bool
same_directory(const char *a, size_t length, const char *b)
{
    size_t other = strlen(b);

    while (length > 1 && a[length - 1] == '/')
        length--;
    while (other > 1 && b[other - 1] == '/')
        other--;
    return length == other && strncmp(a, b, length) == 0;
}

/* Splits what begins with one of the directories and "=". */
static void
resolve_texts(const struct test_options *options,
              struct directory_texts *texts)
{
    for (size_t i = 0; i < texts->length; i++) {
        char *text = texts->items[i].text, *equals = strchr(text, '=');

        for (; equals != NULL; equals = strchr(equals + 1, '=')) {
            size_t j;

            for (j = 0; j < options->directory_count; j++)
                if (same_directory(text, (size_t)(equals - text),
                                   options->directories[j]))
                    break;
            if (j == options->directory_count)
                continue;
            texts->items[i].directory = copy_text(options->directories[j]);
            texts->items[i].text = copy_text(equals + 1);
            free(text);
            break;
        }
    }
}

const char *
directory_text(const struct directory_texts *texts, const char *directory)
{
    const char *general = NULL;

    for (size_t i = 0; i < texts->length; i++) {
        const struct directory_text *item = &texts->items[i];

        if (item->directory == NULL)
            general = item->text;
        else if (same_directory(item->directory, strlen(item->directory),
                                directory))
            return item->text;
    }
    return general;
}

void
options_defaults(struct test_options *options)
{
    memset(options, 0, sizeof(*options));
    options->execs = 200;
    options->repetitions = 5;
    options->warmup = 3;
    options->seed = 1;
    options->program = "static";
    options->spawn = SPAWN_VFORK;
    options->idle_ns = 2000000000;
    options->format = REPORT_TEXT;
    for (int i = 0; i < METHOD_COUNT; i++)
        options->methods[options->method_count++] = (enum run_method)i;
}

/* One option of the line. */
static enum options_status
read_option(struct test_options *options, int code, const char *text,
            bool probe)
{
    char error[512];

    switch (code) {
    case OPTION_MOUNT:
        add_directory(options, text, FILESYSTEM_NFS);
        return OPTIONS_RUN;
    case OPTION_LOCAL:
        add_directory(options, text, FILESYSTEM_LOCAL);
        return OPTIONS_RUN;
    case 'n':
        return read_unsigned("-n", text, 1, MAX_EXECS, &options->execs);
    case 'r':
        return read_unsigned("-r", text, 1, MAX_REPETITIONS,
                             &options->repetitions);
    case OPTION_WARM_UP:
        return read_unsigned("--warm-up", text, 0, 1000000, &options->warmup);
    case 's':
        return read_unsigned("-s", text, 64, 262144, &options->snaplen);
    case 'B':
        return read_unsigned("-B", text, 256, 1048576, &options->ring_kib);
    case OPTION_SEED:
        return read_number("--seed", text, 0, UINT64_MAX, &options->seed);
    case OPTION_METHODS:
        return read_methods(text, options);
    case OPTION_PROGRAM:
        options->program = text;
        return OPTIONS_RUN;
    case OPTION_SPAWN:
        options->spawn = spawn_kind_by_name(text);
        return options->spawn != SPAWN_COUNT
                   ? OPTIONS_RUN
                   : wrong("--spawn %s: not vfork, fork or posix_spawn", text);
    case OPTION_IDLE:
        return read_duration("--idle", text, &options->idle_ns);
    case OPTION_INTERVAL:
        return read_duration("--interval", text, &options->interval_ns);
    case OPTION_FORMAT:
        options->format = report_format_by_name(text);
        return options->format != REPORT_FORMAT_COUNT
                   ? OPTIONS_RUN
                   : wrong("--format %s: not text, time, json, csv, markdown "
                           "or html", text);
    case 'i':
        options->interface = text;
        return OPTIONS_RUN;
    case 'f':
        options->filter = text;
        return OPTIONS_RUN;
    case 'w':
        options->capture_file = text;
        return OPTIONS_RUN;
    case 'o':
        options->output = text;
        return OPTIONS_RUN;
    case OPTION_NO_CAPTURE:
        options->no_capture = true;
        return OPTIONS_RUN;
    case OPTION_ID:
        options->id = text;
        return OPTIONS_RUN;
    case OPTION_CLOCK:
        options->clock = text;
        return OPTIONS_RUN;
    case OPTION_AS:
        options->as_user = text;
        return OPTIONS_RUN;
    case OPTION_LABEL:
        if (strchr(text, '=') == NULL)
            return wrong("--label %s: must be DIR=NAME", text);
        add_text(&options->labels, text);
        return OPTIONS_RUN;
    case OPTION_EXPORT_NOTE:
        add_text(&options->export_notes, text);
        return OPTIONS_RUN;
    case OPTION_EXPORT_DIR:
        add_text(&options->export_directories, text);
        return OPTIONS_RUN;
    case 'q':
        options->quiet = true;
        return OPTIONS_RUN;
    case 'v':
        options->verbose = true;
        return OPTIONS_RUN;
    case OPTION_VERSION:
        puts("nfs-atime-test " NAT_VERSION);
        return OPTIONS_DONE;
    case 'h':
        fputs(probe ? probe_help_text : help_text, stdout);
        return OPTIONS_DONE;
    default:
        break;
    }
    switch (expect_option(&options->expect, code, text, error,
                          sizeof(error))) {
    case 0:
        return OPTIONS_RUN;
    case -1:
        return wrong("%s", error);
    default:
        return wrong("--%d: no such option", code);
    }
}

enum options_status
options_take(struct test_options *options, const char *name, const char *text)
{
    for (const struct option *o = long_options; o->name != NULL; o++)
        if (strcmp(o->name, name) == 0)
            return read_option(options, o->val, text, false);
    return wrong("--%s: no such option", name);
}

enum options_status
options_complete(struct test_options *options)
{
    if (options->no_capture && options->capture_file != NULL)
        return wrong("-w and --no-capture exclude each other");
    resolve_texts(options, &options->labels);
    resolve_texts(options, &options->export_notes);
    resolve_texts(options, &options->export_directories);
    for (size_t i = 0; i < options->labels.length; i++)
        if (options->labels.items[i].directory == NULL)
            return wrong("--label %s: that is none of the directories",
                         options->labels.items[i].text);
    return OPTIONS_RUN;
}

static enum options_status
check(struct test_options *options, int argc, char **argv, bool probe)
{
    char error[512];

    if (options->directory_count == 0)
        return wrong("no directory: give --mount DIR or --local DIR");
    if (probe && options->directory_count > 1)
        return wrong("probe answers for one directory at a time");
    if (optind < argc && (probe || embedded_program(options->program) != NULL))
        return wrong("%s: unexpected; arguments belong to a --program PATH",
                     argv[optind]);
    if (expect_options_check(&options->expect, error, sizeof(error)) != 0)
        return wrong("%s", error);
    options->program_arguments = argv + optind;
    return options_complete(options);
}

enum options_status
options_read(struct test_options *options, int argc, char **argv, bool probe)
{
    struct option probe_options[PROBE_OPTIONS + 1] = {0};
    const struct option *names = probe ? probe_options : long_options;
    const char *letters = probe ? "+:hqv" : "+:n:r:i:f:s:B:w:o:hqv";
    enum options_status status = OPTIONS_RUN;
    char problem[256];
    int code;

    memcpy(probe_options, long_options, PROBE_OPTIONS * sizeof(struct option));
    options_defaults(options);
    optind = 1;
    opterr = 0;
    while (status == OPTIONS_RUN &&
           (code = getopt_long(argc, argv, letters, names, NULL)) != -1)
        status = code == '?' || code == ':'
                     ? wrong("%s", option_problem(code, argv, names, problem,
                                                  sizeof(problem)))
                     : read_option(options, code, optarg, probe);
    if (status == OPTIONS_RUN)
        status = check(options, argc, argv, probe);
    if (status != OPTIONS_RUN)
        options_free(options);
    return status;
}

static void
free_texts(struct directory_texts *texts)
{
    for (size_t i = 0; i < texts->length; i++) {
        free(texts->items[i].directory);
        free(texts->items[i].text);
    }
    free(texts->items);
    texts->items = NULL;
    texts->length = 0;
}

void
options_free(struct test_options *options)
{
    free(options->directories);
    free(options->kinds);
    free_texts(&options->labels);
    free_texts(&options->export_notes);
    free_texts(&options->export_directories);
    expect_options_free(&options->expect);
}
