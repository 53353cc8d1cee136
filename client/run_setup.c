/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Before the first exec: the machine, the mounts, the programs. */
#define _GNU_SOURCE /* realpath, gethostname */
#include "client/test_run.h"

#include "client/nfs_mount.h"
#include "client/plan.h"
#include "client/programs/embedded.h"
#include "client/progress.h"
#include "client/stop.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PINGS 10
/* How long removing the programs may take before it is left to itself. */
#define REMOVE_PATIENCE_MS 30000

/* --- the run -------------------------------------------------------------- */

static char *
make_id(const char *hostname)
{
    time_t now = time(NULL);
    struct tm utc;
    char text[32];

    gmtime_r(&now, &utc);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return format_text("%s-%s", text, hostname);
}

static void
make_nonce(char nonce[9])
{
    uint32_t number;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = (uint32_t)(realtime_ns() ^ getpid());
    snprintf(nonce, 9, "%08x", (unsigned)number);
}

static void
describe_machine(struct run *run, const struct test_options *options)
{
    struct utsname system = {0};
    struct timespec resolution = {0};

    uname(&system);
    clock_getres(CLOCK_MONOTONIC, &resolution);
    run->id = options->id != NULL ? copy_text(options->id)
                                  : make_id(system.nodename);
    run->tool_version = copy_text(NAT_VERSION);
    run->kernel = copy_text(system.release);
    run->hostname = copy_text(system.nodename);
    run->clock = copy_text(options->clock != NULL ? options->clock
                                                  : "CLOCK_MONOTONIC");
    run->clock_resolution_ns =
        (int64_t)resolution.tv_sec * 1000000000 + resolution.tv_nsec;
}

int
test_start(struct test *test, const struct test_options *options,
           const struct test_hooks *hooks)
{
    struct run *run = &test->run;

    memset(test, 0, sizeof(*test));
    test->options = options;
    test->hooks = hooks;
    run->state = RUN_RUNNING;
    /* First of all: a fork costs what the process that forks has. */
    if (launcher_start(&test->launcher,
                       options->execs > options->warmup ? options->execs
                                                        : options->warmup,
                       options->as_user, test->error,
                       sizeof(test->error)) != 0)
        return -1;
    describe_machine(run, options);
    make_nonce(test->nonce);
    run->bench = copy_text(hooks != NULL ? hooks->bench : NULL);
    run->seed = options->seed;
    run->execs = options->execs;
    run->repetitions = options->repetitions;
    run->spawn = copy_text(spawn_kind_name(options->spawn));
    run->program = copy_text(options->program);
    run->as_user = copy_text(options->as_user);
    run->warmup_execs = options->warmup;
    run->filesystem_count = 0;
    run->filesystems =
        need_memory(options->directory_count, sizeof(*run->filesystems));
    test->filesystems =
        need_memory(options->directory_count, sizeof(*test->filesystems));
    run->directory = options->output != NULL
                         ? copy_text(options->output)
                         : format_text("results/%s", run->id);
    return 0;
}

int
test_make_output(struct test *test)
{
    const char *directory = test->run.directory;

    if (make_directories(directory) != 0 || access(directory, W_OK) != 0)
        return set_error(test->error, sizeof(test->error), "%s: %s",
                         directory, strerror(errno));
    return 0;
}

int
test_save(struct test *test)
{
    char error[1024];

    test->saved_ns = monotonic_ns();
    if (run_write(&test->run, test->run.directory, error, sizeof(error)) == 0)
        return 0;
    progress_clear();
    fprintf(stderr, "nfs-atime-test: the run could not be saved: %s\n", error);
    test->incomplete = true;
    return -1;
}

/* What the run names relative to its old directory, by absolute path. */
static void
make_absolute(char **path, const char *directory)
{
    char *absolute;

    if (*path == NULL || **path == '/')
        return;
    absolute = format_text("%s/%s", directory, *path);
    free(*path);
    *path = absolute;
}

int
test_save_elsewhere(struct test *test)
{
    const char *temporary = getenv("TMPDIR");
    struct run *run = &test->run;
    char *old = realpath(run->directory, NULL);
    char *directory = format_text("%s/nfs-atime-test-XXXXXX",
                                  temporary != NULL ? temporary : "/tmp");

    if (mkdtemp(directory) == NULL) {
        free(directory);
        free(old);
        return -1;
    }
    for (size_t i = 0; i < run->capture_count && old != NULL; i++)
        make_absolute(&run->captures[i].path, old);
    for (size_t i = 0; i < run->filesystem_count && old != NULL; i++)
        make_absolute(&run->filesystems[i].capture, old);
    free(old);
    free(run->directory);
    run->directory = directory;
    if (test_save(test) != 0) {
        rmdir(directory);
        return -1;
    }
    fprintf(stderr, "nfs-atime-test: the run is in %s instead\n", directory);
    return 0;
}

/* --- a file system -------------------------------------------------------- */

/* "nfs3", "nfs4.2", "local"; a second one is "nfs3-2". */
static char *
make_label(const struct test *test, const struct run_filesystem *filesystem)
{
    const struct run *run = &test->run;
    const char *given = directory_text(
        &test->options->labels,
        test->options->directories[filesystem - run->filesystems]);
    char *base = given != NULL ? copy_text(given)
                 : filesystem->kind == FILESYSTEM_LOCAL
                     ? copy_text("local")
                     : format_text("nfs%s", filesystem->version);
    char *label = copy_text(base);
    unsigned number = 1;

    for (size_t i = 0; i < run->filesystem_count; i++) {
        if (run->filesystems[i].label == NULL ||
            strcmp(run->filesystems[i].label, label) != 0)
            continue;
        free(label);
        label = format_text("%s-%u", base, ++number);
        i = (size_t)-1; /* from the start */
    }
    free(base);
    return label;
}

/* Absolute, but not resolved: nothing on the mount is touched. */
static char *
absolute_path(const char *path)
{
    char *here, *whole;

    if (*path == '/')
        return copy_text(path);
    here = getcwd(NULL, 0);
    whole = format_text("%s/%s", here != NULL ? here : "", path);
    free(here);
    return whole;
}

static unsigned
major_version(const struct run_filesystem *filesystem)
{
    return filesystem->version != NULL && filesystem->version[0] == '4' ? 4
                                                                        : 3;
}

/* Connects to the server of the mount; the probe is also its first sign of
 * life. */
static int
connect_probe(struct test *test, const struct run_filesystem *filesystem,
              struct nfs_probe **probe)
{
    char mount_port[16], mount_address[256];
    struct nfs_probe_options options = {
        .address = filesystem->server_address,
        .port = filesystem->port,
        .version = major_version(filesystem),
    };

    if (options.address == NULL)
        return set_error(test->error, sizeof(test->error),
                         "%s: the kernel does not say the server's address",
                         filesystem->mount_point);
    if (strncmp(filesystem->transport, "rdma", 4) == 0)
        options.port = 2049; /* our own calls are made over TCP */
    if (mount_option(filesystem->options, "mountport", mount_port,
                     sizeof(mount_port)))
        options.mount_port = (unsigned)strtoul(mount_port, NULL, 10) & 0xffff;
    if (mount_option(filesystem->options, "mountaddr", mount_address,
                     sizeof(mount_address)))
        options.mount_address = mount_address;
    return nfs_probe_open(probe, &options, test->error, sizeof(test->error));
}

static void
ping_server(struct test *test, struct run_filesystem *filesystem,
            struct nfs_probe *probe)
{
    filesystem->ping_ns = need_memory(PINGS, sizeof(int64_t));
    for (int i = 0; i < PINGS && stop_signal() == 0; i++) {
        int64_t ns = nfs_probe_ping(probe, test->error, sizeof(test->error));

        if (ns < 0) {
            run_warn(&test->run, "%s: ping: %s", filesystem->mount_point,
                     test->error);
            return;
        }
        filesystem->ping_ns[filesystem->ping_count++] = ns;
    }
}

static int
check_directory(struct test *test, const char *given, char **resolved)
{
    struct stat status;

    *resolved = realpath(given, NULL);
    if (*resolved == NULL || stat(*resolved, &status) != 0)
        return set_error(test->error, sizeof(test->error), "%s: %s", given,
                         strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return set_error(test->error, sizeof(test->error),
                         "%s: not a directory", given);
    return 0;
}

/* A program given by path: there if it lies on this mount, else copied. */
static int
place_given_program(struct test *test, const struct mount_table *mounts,
                    const struct mount_entry *entry,
                    const struct run_filesystem *filesystem,
                    struct program_place *place)
{
    char *path = realpath(test->options->program, NULL), *bytes;
    size_t length;
    int result;

    if (path == NULL)
        return set_error(test->error, sizeof(test->error),
                         "--program %s: %s (static, libc and dynamic need no "
                         "path)", test->options->program, strerror(errno));
    if (mount_table_find(mounts, path) == entry) {
        result = program_place_use(place, path, test->error,
                                   sizeof(test->error));
        free(path);
        return result;
    }
    bytes = read_text_file(path, &length);
    if (bytes == NULL)
        result = set_error(test->error, sizeof(test->error), "%s: %s", path,
                           strerror(errno));
    else
        result = program_place_make(place, filesystem->directory, bytes,
                                    length, test->error, sizeof(test->error));
    free(bytes);
    free(path);
    return result;
}

static int
place_program(struct test *test, const struct mount_table *mounts,
              const struct mount_entry *entry,
              struct run_filesystem *filesystem, struct program_place *place)
{
    const struct embedded_program *program =
        embedded_program(test->options->program);
    int result;

    if ((test->hooks == NULL || test->hooks->execs) &&
        mount_option(filesystem->options, "noexec", NULL, 0))
        return set_error(test->error, sizeof(test->error),
                         "%s is mounted noexec: nothing can be exec'd there",
                         filesystem->mount_point);
    result = program != NULL
                 ? program_place_make(place, filesystem->directory,
                                      program->bytes, program->length,
                                      test->error, sizeof(test->error))
                 : place_given_program(test, mounts, entry, filesystem, place);
    if (result != 0)
        return -1;
    filesystem->program_path = copy_text(place->path);
    test->run.program_bytes = place->bytes;
    return 0;
}

/* Where the server finds the program, and where we see it without NFS. */
static void
find_on_server(struct test *test, const struct mount_entry *entry,
               struct run_filesystem *filesystem, struct test_filesystem *own)
{
    const char *export = directory_text(
        &test->options->export_directories,
        test->options->directories[filesystem - test->run.filesystems]);
    const char *rest = own->place.path + (strlen(entry->mount_point) > 1
                                              ? strlen(entry->mount_point)
                                              : 0);

    own->server_rest =
        format_text("%s%s", strcmp(entry->root, "/") == 0 ? "" : entry->root,
                    rest);
    if (export != NULL) {
        struct stat status;

        own->export_program = format_text("%s%s", export, rest);
        if (stat(own->export_program, &status) != 0)
            run_warn(&test->run, "--export-dir: %s: %s", own->export_program,
                     strerror(errno));
    }
    if (nfs_probe_find(own->probe, filesystem->server_path, own->server_rest,
                       test->error, sizeof(test->error)) != 0)
        run_warn(&test->run, "%s: the server cannot be asked for the access "
                 "time: %s", filesystem->mount_point, test->error);
    else
        filesystem->handle_hex = copy_text(nfs_probe_handle(own->probe));
}

/* Describes the mount and makes sure that its server answers. */
static int
take_mount(struct test *test, const struct mount_entry *entry, size_t index)
{
    struct run_filesystem *filesystem = &test->run.filesystems[index];
    struct test_filesystem *own = &test->filesystems[index];
    char reason[sizeof(test->error)];

    mount_forget(filesystem);
    nfs_probe_close(own->probe);
    own->probe = NULL;
    mount_describe(entry, filesystem);
    if (filesystem->kind != FILESYSTEM_NFS ||
        connect_probe(test, filesystem, &own->probe) == 0)
        return 0;
    snprintf(reason, sizeof(reason), "%s", test->error);
    return set_error(test->error, sizeof(test->error),
                     "%s: the NFS server cannot be reached: %s",
                     entry->mount_point, reason);
}

static int
check_kind(struct test *test, const struct mount_entry *entry,
           const char *given, enum filesystem_kind wanted)
{
    if (wanted == FILESYSTEM_NFS && !mount_is_nfs(entry))
        return set_error(test->error, sizeof(test->error),
                         "%s: not on an NFS mount but on %s (%s, mounted on "
                         "%s); --local takes that",
                         given, entry->type, entry->device,
                         entry->mount_point);
    if (wanted == FILESYSTEM_LOCAL && mount_is_nfs(entry))
        return set_error(test->error, sizeof(test->error),
                         "%s: on an NFS mount; --mount takes that", given);
    return 0;
}

/*
 * The mount is looked up twice: by the path as it was given, so that a server
 * that is gone is found out before anything on the mount is touched (a stat
 * would not come back); and by the path without symbolic links.
 */
static const struct mount_entry *
find_mount(struct test *test, const struct mount_table *mounts, size_t index)
{
    struct run_filesystem *filesystem = &test->run.filesystems[index];
    const char *given = test->options->directories[index];
    char *absolute = absolute_path(given), *resolved = NULL;
    const struct mount_entry *first = mount_table_find(mounts, absolute);
    const struct mount_entry *entry;

    free(absolute);
    if (first != NULL && mount_is_nfs(first) &&
        take_mount(test, first, index) != 0)
        return NULL;
    if (check_directory(test, given, &resolved) != 0) {
        free(resolved);
        return NULL;
    }
    filesystem->directory = resolved;
    entry = mount_table_find(mounts, resolved);
    if (entry == NULL) {
        set_error(test->error, sizeof(test->error),
                  "%s: lies on no mount of /proc/self/mountinfo", given);
        return NULL;
    }
    if (test->hooks == NULL && /* a bench takes either kind */
        check_kind(test, entry, given, test->options->kinds[index]) != 0)
        return NULL;
    if ((entry != first || !mount_is_nfs(entry)) &&
        take_mount(test, entry, index) != 0)
        return NULL;
    return entry;
}

static void
warn_of_mount(struct test *test, const struct run_filesystem *filesystem)
{
    const char *idle = mount_idle_atime_option(filesystem->options);

    if (filesystem->kind != FILESYSTEM_NFS)
        return;
    if (idle != NULL)
        run_warn(&test->run, "%s: mount option %s has no effect on NFS: the "
                 "server keeps the access time", filesystem->mount_point,
                 idle);
    if (!filesystem->wire_shows_all)
        run_warn(&test->run, "%s: the kernel's own counters are the count: %s",
                 filesystem->mount_point, filesystem->why_not);
}

static int
set_up(struct test *test, const struct mount_table *mounts, size_t index)
{
    const struct test_options *options = test->options;
    struct run_filesystem *filesystem = &test->run.filesystems[index];
    struct test_filesystem *own = &test->filesystems[index];
    const struct mount_entry *entry = find_mount(test, mounts, index);

    if (entry == NULL)
        return -1;
    filesystem->label = make_label(test, filesystem);
    filesystem->export_note = copy_text(directory_text(
        &options->export_notes, options->directories[index]));
    warn_of_mount(test, filesystem);
    if (place_program(test, mounts, entry, filesystem, &own->place) != 0)
        return -1;
    if (filesystem->kind == FILESYSTEM_NFS) {
        find_on_server(test, entry, filesystem, own);
        ping_server(test, filesystem, own->probe);
    }
    return 0;
}

int
test_add_filesystem(struct test *test, size_t index)
{
    struct mount_table mounts;
    int result;

    if (mount_table_read(&mounts, test->error, sizeof(test->error)) != 0)
        return -1;
    test->run.filesystem_count = index + 1;
    result = set_up(test, &mounts, index);
    mount_table_free(&mounts);
    return result;
}

/* --- the end -------------------------------------------------------------- */

/* In a process of its own, which can wait for the server longer than we. */
static void
remove_programs(struct test *test)
{
    char buffer[1];
    int done[2];
    bool any = false;
    pid_t pid;

    for (size_t i = 0; i < test->run.filesystem_count; i++)
        any = any || test->filesystems[i].place.directory != NULL;
    if (!any || pipe(done) != 0)
        return;
    pid = fork();
    if (pid == 0) {
        int status = 0;

        close(done[0]);
        for (size_t i = 0; i < test->run.filesystem_count; i++) {
            const struct program_place *place = &test->filesystems[i].place;

            if (program_place_remove(place) != 0) {
                fprintf(stderr, "nfs-atime-test: %s is left behind: %s\n",
                        place->directory, strerror(errno));
                status = 1;
            }
        }
        _exit(status);
    }
    close(done[1]);
    if (pid > 0) {
        struct pollfd wait = {.fd = done[0], .events = POLLIN};
        int64_t end = monotonic_ns() + REMOVE_PATIENCE_MS * 1000000LL;
        int ready;

        do
            ready = poll(&wait, 1, (int)((end - monotonic_ns()) / 1000000));
        while (ready < 0 && errno == EINTR && monotonic_ns() < end);
        if (ready > 0 && read(done[0], buffer, 1) == 0) {
            waitpid(pid, NULL, 0);
        } else {
            fprintf(stderr, "nfs-atime-test: the server does not answer: "
                    "process %ld removes what is left when it does:\n",
                    (long)pid);
            for (size_t i = 0; i < test->run.filesystem_count; i++)
                if (test->filesystems[i].place.directory != NULL)
                    fprintf(stderr, "    %s\n",
                            test->filesystems[i].place.directory);
        }
    }
    close(done[0]);
}

void
test_clean_up(struct test *test)
{
    launcher_end(test->launcher);
    test->launcher = NULL;
    remove_programs(test);
    for (size_t i = 0; i < test->run.filesystem_count; i++) {
        struct test_filesystem *own = &test->filesystems[i];

        nfs_probe_close(own->probe);
        program_place_free(&own->place);
        free(own->export_program);
        free(own->server_rest);
    }
    free(test->filesystems);
    test->filesystems = NULL;
    for (size_t i = 0; i < test->capture_count; i++)
        free(test->captures[i].interface);
    free(test->captures);
    test->captures = NULL;
    test->capture_count = 0;
}
