/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* getopt_long, strsep */
#include "client/commands.h"

#include "client/bench.h"
#include "client/util.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "Usage: nfs-atime-test bench self-exec [-n EXECS] [--race TIME] [options]\n"
    "       nfs-atime-test bench header [--sizes LIST] [-n ACCESSES] [options]\n"
    "       nfs-atime-test bench prefault [--size BYTES] [options]\n"
    "\n"
    "self-exec  A program that execs itself, in one process: us per exec.\n"
    "  -n EXECS        in each run (1000000)\n"
    "  --race TIME     instead: for that long, threads read the process's maps,\n"
    "                  status and statm; what went wrong is counted\n"
    "header     The first bytes of a program by mmap, read, pread and\n"
    "           malloc+read, from the page cache and past it: ns per access.\n"
    "  --sizes LIST    bytes to look at (4,32,1024,4096)\n"
    "  -n, --cold N    accesses from the page cache (1000), past it (20), a run\n"
    "  --program WHAT  whose header: static, libc, dynamic, a PATH (libc)\n"
    "prefault   Writing a file out of a mapped one whose pages were touched\n"
    "           before, and were not: seconds, WRITEs, bytes sent.\n"
    "  --size BYTES    of the file; K, M and G after the number (16M)\n"
    "\n"
    "  --dir DIR       local or on NFS; may be repeated (.)\n"
    "  -r, --runs N    self-exec 3, header 11, prefault 10\n"
    "  -o, -i, -w, --no-capture, --format and more as for the test\n"
    "  -h, --help, --version; all options: man nfs-atime-test-bench\n"
    "\n"
    "Ctrl-C keeps what was measured. Exit status as for the test.\n";

static const struct bench_kind {
    const char *name, *program;
    uint64_t count;
    unsigned runs;
    struct test_hooks hooks;
} kinds[] = {
    {"self-exec", "self_exec", 1000000, 3,
     {.plan = self_exec_plan, .measure = self_exec_measure, .execs = true}},
    {"header", "libc", 1000, 11,
     {.plan = header_plan, .warm_up = header_warm_up,
      .measure = header_measure}},
    {"prefault", "static", 1, 10,
     {.plan = prefault_plan, .warm_up = prefault_warm_up,
      .measure = prefault_measure}},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

enum { OPTION_DIR = 256, OPTION_SIZES, OPTION_SIZE, OPTION_COLD, OPTION_RACE,
       OPTION_SHARED };

/* Those from OPTION_SHARED on are the test's own, taken by their name. */
static const struct option long_options[] = {
    {"dir", required_argument, NULL, OPTION_DIR},
    {"runs", required_argument, NULL, 'r'},
    {"execs", required_argument, NULL, 'n'},
    {"accesses", required_argument, NULL, 'n'},
    {"sizes", required_argument, NULL, OPTION_SIZES},
    {"size", required_argument, NULL, OPTION_SIZE},
    {"cold", required_argument, NULL, OPTION_COLD},
    {"race", required_argument, NULL, OPTION_RACE},
    {"help", no_argument, NULL, 'h'},
    {"program", required_argument, NULL, OPTION_SHARED},
    {"seed", required_argument, NULL, OPTION_SHARED},
    {"interface", required_argument, NULL, 'i'},
    {"filter", required_argument, NULL, 'f'},
    {"snaplen", required_argument, NULL, 's'},
    {"buffer", required_argument, NULL, 'B'},
    {"write", required_argument, NULL, 'w'},
    {"output", required_argument, NULL, 'o'},
    {"no-capture", no_argument, NULL, OPTION_SHARED},
    {"label", required_argument, NULL, OPTION_SHARED},
    {"export-note", required_argument, NULL, OPTION_SHARED},
    {"clock", required_argument, NULL, OPTION_SHARED},
    {"id", required_argument, NULL, OPTION_SHARED},
    {"format", required_argument, NULL, OPTION_SHARED},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, OPTION_SHARED},
    {NULL, 0, NULL, 0},
};

static enum options_status wrong(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static enum options_status
wrong(const char *format, ...)
{
    va_list arguments;

    fputs("nfs-atime-test bench: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(" (bench --help shows the options)\n", stderr);
    return OPTIONS_WRONG;
}

/* A whole number, with K, M or G behind it where units is set. */
static enum options_status
read_number(const char *name, const char *text, uint64_t least, uint64_t most,
            bool units, uint64_t *number)
{
    static const char letters[] = "KMG";
    const char *unit;
    unsigned shift = 0;
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    unit = units && *end != '\0' && end[1] == '\0' ? strchr(letters, *end)
                                                   : NULL;
    if (unit != NULL) {
        shift = 10 * (unsigned)(unit - letters + 1);
        end++;
    }
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 ||
        *number > most >> shift || *number << shift < least)
        return wrong("%s %s: not a whole number from %llu to %llu", name, text,
                     (unsigned long long)least, (unsigned long long)most);
    *number <<= shift;
    return OPTIONS_RUN;
}

static enum options_status
read_unsigned(const char *name, const char *text, unsigned most,
              unsigned *number)
{
    uint64_t wide = 0;
    enum options_status status = read_number(name, text, 1, most, false,
                                             &wide);

    *number = (unsigned)wide;
    return status;
}

static enum options_status
read_sizes(const char *list, struct bench_settings *settings)
{
    char *copy = copy_text(list), *rest = copy, *item;
    enum options_status status = OPTIONS_RUN;

    settings->size_count = 0;
    while (status == OPTIONS_RUN && (item = strsep(&rest, ",")) != NULL) {
        unsigned size = 0;

        if (settings->size_count == BENCH_MOST_SIZES)
            status = wrong("--sizes %s: more than %d", list,
                           BENCH_MOST_SIZES);
        else
            status = read_unsigned("--sizes", item, BENCH_MOST_HEADER, &size);
        for (size_t i = 0; i < settings->size_count; i++)
            if (status == OPTIONS_RUN && settings->sizes[i] == size)
                status = wrong("--sizes %s: %u twice", list, size);
        if (status == OPTIONS_RUN)
            settings->sizes[settings->size_count++] = size;
    }
    free(copy);
    return status;
}

static void
add_directory(struct test_options *options, const char *directory)
{
    size_t count = options->directory_count + 1;

    options->directories = grow_memory(
        options->directories, count, sizeof(*options->directories));
    options->kinds =
        grow_memory(options->kinds, count, sizeof(*options->kinds));
    options->directories[count - 1] = directory;
    options->kinds[count - 1] = FILESYSTEM_LOCAL; /* either; not looked at */
    options->directory_count = count;
}

/* Options that one of the benches has and the others have not. */
static bool
belongs_to(const struct bench_kind *kind, int code, const char *name)
{
    switch (code) {
    case OPTION_RACE:
        return strcmp(kind->name, "self-exec") == 0;
    case OPTION_SIZES:
    case OPTION_COLD:
        return strcmp(kind->name, "header") == 0;
    case OPTION_SIZE:
        return strcmp(kind->name, "prefault") == 0;
    case 'n':
        return strcmp(kind->name, "prefault") != 0;
    default:
        return name == NULL || strcmp(name, "program") != 0 ||
               strcmp(kind->name, "header") == 0;
    }
}

/* name: of the long option, or NULL. */
static enum options_status
read_option(struct bench_settings *settings, int code, const char *name,
            const char *text)
{
    switch (code) {
    case OPTION_DIR:
        add_directory(&settings->test, text);
        return OPTIONS_RUN;
    case 'n':
        return read_number("-n", text, 1, BENCH_MOST_ACCESSES * 100ULL, false,
                           &settings->count);
    case 'r':
        return read_unsigned("--runs", text, 100000, &settings->runs);
    case OPTION_SIZES:
        return read_sizes(text, settings);
    case OPTION_SIZE:
        return read_number("--size", text, 1, BENCH_MOST_BYTES, true,
                           &settings->bytes);
    case OPTION_COLD:
        return read_unsigned("--cold", text, BENCH_MOST_ACCESSES,
                             &settings->cold);
    case OPTION_RACE:
        settings->race_ns = duration_parse(text);
        return settings->race_ns > 0
                   ? OPTIONS_RUN
                   : wrong("--race %s: not a time such as 10s", text);
    case 'h':
        fputs(help_text, stdout);
        return OPTIONS_DONE;
    default:
        break;
    }
    for (const struct option *o = long_options; name == NULL; o++)
        if (o->val == code)
            name = o->name;
    return options_take(&settings->test, name, text);
}

static enum options_status
complete(struct bench_settings *settings, const struct bench_kind *kind,
         int argc, char **argv)
{
    struct test_options *test = &settings->test;

    if (optind < argc)
        return wrong("%s: unexpected", argv[optind]);
    if (strcmp(kind->name, "header") == 0 &&
        settings->count > BENCH_MOST_ACCESSES)
        return wrong("-n: more than %d accesses", BENCH_MOST_ACCESSES);
    if (test->directory_count == 0)
        add_directory(test, ".");
    return options_complete(test);
}

static void
set_defaults(struct bench_settings *settings, const struct bench_kind *kind)
{
    static const unsigned sizes[] = {4, 32, 1024, 4096};

    memset(settings, 0, sizeof(*settings));
    options_defaults(&settings->test);
    settings->test.program = kind->program;
    settings->test.execs = settings->test.warmup = 1; /* of the launcher */
    settings->test.idle_ns = 0;
    settings->count = kind->count;
    settings->runs = kind->runs;
    settings->cold = 20;
    settings->bytes = UINT64_C(16) << 20;
    memcpy(settings->sizes, sizes, sizeof(sizes));
    settings->size_count = sizeof(sizes) / sizeof(sizes[0]);
}

static enum options_status
read_options(struct bench_settings *settings, const struct bench_kind *kind,
             int argc, char **argv)
{
    enum options_status status = OPTIONS_RUN;
    char problem[256];
    int code, index = -1;

    set_defaults(settings, kind);
    optind = 1;
    opterr = 0;
    while (status == OPTIONS_RUN &&
           (code = getopt_long(argc, argv, ":n:r:i:f:s:B:w:o:hqv",
                               long_options, &index)) != -1) {
        const char *name = index >= 0 ? long_options[index].name : NULL;

        if (code == '?' || code == ':')
            status = wrong("%s", option_problem(code, argv, long_options,
                                                problem, sizeof(problem)));
        else if (!belongs_to(kind, code, name))
            status = wrong("%s%s is not of bench %s",
                           name != NULL ? "--" : "-", name != NULL ? name : "n",
                           kind->name);
        else
            status = read_option(settings, code, name, optarg);
        index = -1;
    }
    if (status == OPTIONS_RUN)
        status = complete(settings, kind, argc, argv);
    if (status != OPTIONS_RUN)
        options_free(&settings->test);
    return status;
}

const struct bench_settings *
bench_settings(const struct test *test)
{
    return test->hooks->context;
}

void
bench_add_time(struct run_cell *cell, const char *name, uint64_t operations,
               int64_t ns)
{
    struct run_series *series = run_cell_add_series(cell, name, operations);

    if (series == NULL || run_series_add(series, ns) != 0) {
        fputs("nfs-atime-test: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
}

static int
run_kind(const struct bench_kind *kind, int argc, char **argv)
{
    struct bench_settings settings;
    struct test_hooks hooks = kind->hooks;
    int status;

    switch (read_options(&settings, kind, argc, argv)) {
    case OPTIONS_DONE:
        return EXIT_DONE;
    case OPTIONS_WRONG:
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    hooks.bench = kind->name;
    hooks.context = &settings;
    status = test_execute(&settings.test, &hooks);
    options_free(&settings.test);
    return status;
}

int
cmd_bench(int argc, char **argv)
{
    if (argc < 2) {
        wrong("which one: self-exec, header or prefault");
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(help_text, stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            return run_kind(&kinds[i], argc - 1, argv + 1);
    wrong("there is no bench \"%s\": self-exec, header or prefault", argv[1]);
    return EXIT_USAGE;
}
