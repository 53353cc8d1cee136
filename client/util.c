/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* strerrorname_np, vasprintf */
#include "client/util.h"

#include "client/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int
set_error(char *error, size_t size, const char *format, ...)
{
    va_list arguments;

    if (error == NULL || size == 0)
        return -1;
    va_start(arguments, format);
    vsnprintf(error, size, format, arguments);
    va_end(arguments);
    return -1;
}

static int64_t
clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t
monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t
realtime_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

struct run_clock_pair
clock_pair(void)
{
    struct run_clock_pair pair;

    pair.realtime_ns = realtime_ns();
    pair.monotonic_ns = monotonic_ns();
    return pair;
}

void
sleep_ns(int64_t nanoseconds)
{
    struct timespec left = {.tv_sec = nanoseconds / 1000000000,
                            .tv_nsec = nanoseconds % 1000000000};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static _Noreturn void
out_of_memory(void)
{
    fputs("nfs-atime-test: out of memory\n", stderr);
    exit(1);
}

void *
need_memory(size_t count, size_t size)
{
    void *memory = calloc(count != 0 ? count : 1, size);

    if (memory == NULL)
        out_of_memory();
    return memory;
}

void *
grow_memory(void *memory, size_t count, size_t size)
{
    void *grown = NULL;

    if (size != 0 && count <= SIZE_MAX / size)
        grown = realloc(memory, count * size != 0 ? count * size : 1);
    if (grown == NULL)
        out_of_memory();
    return grown;
}

char *
copy_text(const char *text)
{
    char *copy;

    if (text == NULL)
        return NULL;
    copy = strdup(text);
    if (copy == NULL)
        out_of_memory();
    return copy;
}

char *
format_text(const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        out_of_memory();
    return text;
}

char *
read_text_file(const char *path, size_t *length)
{
    size_t used = 0, room = 16384;
    int saved, fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text;

    if (fd < 0)
        return NULL;
    text = need_memory(room, 1);
    for (;;) {
        ssize_t got = read(fd, text + used, room - used - 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            saved = errno;
            close(fd);
            free(text);
            errno = saved;
            return NULL;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (room - used < 2) {
            room *= 2;
            text = grow_memory(text, room, 1);
        }
    }
    close(fd);
    text[used] = '\0';
    if (length != NULL)
        *length = used;
    return text;
}

const char *
errno_name(int number)
{
    static char unknown[32];
    const char *name = strerrorname_np(number);

    if (name != NULL)
        return name;
    snprintf(unknown, sizeof(unknown), "errno %d", number);
    return unknown;
}

void
run_warn(struct run *run, const char *format, ...)
{
    va_list arguments;
    char text[1024];

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < run->warning_count; i++)
        if (strcmp(run->warnings[i], text) == 0)
            return;
    run->warnings = grow_memory(run->warnings, run->warning_count + 1,
                                sizeof(*run->warnings));
    run->warnings[run->warning_count++] = copy_text(text);
    progress_clear();
    fprintf(stderr, "nfs-atime-test: warning: %s\n", text);
}

int
make_directories(const char *path)
{
    char *copy = copy_text(path);
    char *slash = copy;
    int result = 0;

    while (result == 0 && (slash = strchr(slash + 1, '/')) != NULL) {
        *slash = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            result = -1;
        *slash = '/';
    }
    if (result == 0 && mkdir(path, 0777) != 0 && errno != EEXIST)
        result = -1;
    free(copy);
    return result;
}

/* How many options begin like that; the whole name is one. */
static unsigned
count_options(const char *name, size_t length, const struct option *options,
              const struct option **found)
{
    unsigned count = 0;

    for (; options->name != NULL; options++) {
        if (strncmp(options->name, name, length) != 0)
            continue;
        *found = options;
        if (options->name[length] == '\0')
            return 1;
        count++;
    }
    return count;
}

const char *
option_problem(int code, char *const *argv, const struct option *options,
               char *text, size_t size)
{
    const char *word = argv[optind - 1];
    const int length = (int)strcspn(word, "=");
    const struct option *found = NULL;
    unsigned count;

    if (strncmp(word, "--", 2) == 0 && length > 2) {
        count = count_options(word + 2, (size_t)length - 2, options, &found);
        if (code == ':')
            snprintf(text, size, "%.*s needs a value", length, word);
        else if (count == 0)
            snprintf(text, size, "unknown option %.*s", length, word);
        else if (count > 1)
            snprintf(text, size, "%.*s is short for more than one option",
                     length, word);
        else if (word[length] == '=' && found->has_arg == no_argument)
            snprintf(text, size, "%.*s takes no value", length, word);
        else /* a letter in the word behind it */
            snprintf(text, size, "unknown option -%c", optopt);
    } else if (code == ':') {
        snprintf(text, size, "-%c needs a value", optopt);
    } else {
        snprintf(text, size, "unknown option -%c", optopt);
    }
    return text;
}
