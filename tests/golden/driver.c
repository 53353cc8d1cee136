/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads many captures in one process, as `nfs-atime-test pcap` reads one:
 *
 *   golden_driver batch
 *       standard input: a line for each capture, its files separated by TAB;
 *       standard output: for each a line, exit status TAB report as JSON
 *   golden_driver cut FILE [STEP]    a pcap file cut at every byte
 *   golden_driver flip FILE [STEP]   and with every byte changed in turn
 *
 * The last two know from the file's layout which exit status each change
 * has to give, and work on a copy in memory in a child, so that a crash or a
 * hang is told with the place that caused it. With a STEP the file reader
 * sees every cut, and all the rest every STEP-th byte and each packet header.
 */
#define _GNU_SOURCE
#include "analysis/capture_report.h"
#include "capture/capture.h"
#include "capture/pcap_source.h"
#include "capture/wire.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_FILES 16
#define SECONDS_EACH 20
#define PCAP_HEADER 24
#define PCAP_RECORD 16

/* What the program would say and return. */
struct answer {
    int status;
    char *json; /* NULL with status 1 */
    size_t json_size;
    uint64_t packets, calls;
    char error[1024];
};

static void
fail(const char *what)
{
    perror(what);
    exit(2);
}

static void
report_of(struct rpc_counts *counts, const struct capture_result *result,
          struct answer *answer)
{
    const struct capture_report report = {.counts = counts,
                                          .result = result};
    FILE *out = open_memstream(&answer->json, &answer->json_size);
    FILE *null = fopen("/dev/null", "w");

    if (out == NULL || null == NULL || capture_report_json(&report, out) != 0)
        fail("report");
    fclose(out);
    capture_report_text(&report, 0, null);
    capture_report_nothing(&report, null);
    fclose(null);
}

static struct answer
read_once(const char *const *paths, size_t count, unsigned threads)
{
    static const int statuses[] = {
        [CAPTURE_OK] = 0, [CAPTURE_INCOMPLETE] = 4, [CAPTURE_FAILED] = 1};
    struct answer answer = {0};
    struct rpc_counts *counts = rpc_counts_new(INT64_C(3000000000));
    struct rpc_transaction_sink sink = {counts, rpc_counts_transaction,
                                        rpc_counts_late};
    struct capture_options options;
    struct capture_result result;

    if (counts == NULL)
        fail("counts");
    capture_options_default(&options);
    options.threads = threads;
    answer.status = statuses[capture_read(paths, count, &options, &sink,
                                          &result, answer.error,
                                          sizeof answer.error)];
    if (answer.status != 1)
        report_of(counts, &result, &answer);
    answer.packets = result.packets.packets;
    answer.calls = result.rpc.calls;
    capture_result_free(&result);
    rpc_counts_free(counts);
    return answer;
}

/* With the help of another thread, and without: there must be no difference
 * at all. */
static struct answer
read_files(const char *const *paths, size_t count)
{
    struct answer alone = read_once(paths, count, 1);
    struct answer helped = read_once(paths, count, 0);

    if (alone.status != helped.status || alone.json_size != helped.json_size ||
        (alone.json != NULL &&
         memcmp(alone.json, helped.json, alone.json_size) != 0)) {
        fprintf(stderr, "%s: threads matter:\n%s\n%s\n", paths[0],
                alone.json != NULL ? alone.json : alone.error,
                helped.json != NULL ? helped.json : helped.error);
        exit(1);
    }
    free(helped.json);
    return alone;
}

static int
batch(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    while ((length = getline(&line, &room, stdin)) > 0) {
        const char *paths[MOST_FILES];
        size_t count = 0;
        char *rest = line;
        struct answer answer;

        line[strcspn(line, "\n")] = '\0';
        while (count < MOST_FILES &&
               (paths[count] = strtok_r(rest, "\t", &rest)) != NULL)
            count++;
        alarm(SECONDS_EACH);
        answer = read_files(paths, count);
        alarm(0);
        printf("%d\t", answer.status);
        if (answer.json != NULL) {
            for (size_t i = 0; i < answer.json_size; i++) {
                if (answer.json[i] != '\n')
                    putchar(answer.json[i]);
            }
        } else {
            printf("%s", answer.error);
        }
        putchar('\n');
        fflush(stdout);
        free(answer.json);
    }
    free(line);
    return 0;
}

/* --- changes of one file -------------------------------------------------- */

struct shared {
    size_t place; /* of the change at work */
    size_t done;
};

struct work {
    uint8_t *bytes;
    size_t size;
    int fd; /* the copy in memory */
    char path[64];
    size_t step;
    struct answer whole;
    struct shared *shared;
};

static void
wrong(const struct work *work, const struct answer *answer, const char *what)
{
    fprintf(stderr, "at byte %zu of %zu: %s (status %d, %llu packets; %s)\n",
            work->shared->place, work->size, what, answer->status,
            (unsigned long long)answer->packets, answer->error);
    exit(1);
}

/* What holds of every file, whatever is in it. */
static void
check(const struct work *work, const struct answer *answer)
{
    json_error_t error;
    json_t *root;

    if (answer->status == 1) {
        if (answer->error[0] == '\0')
            wrong(work, answer, "failed without a word");
        return;
    }
    root = json_loadb(answer->json, answer->json_size, JSON_REJECT_DUPLICATES,
                      &error);
    if (root == NULL)
        wrong(work, answer, error.text);
    if (answer->status == 4 &&
        json_is_null(json_object_get(
            json_array_get(json_object_get(root, "inputs"), 0), "warning")))
        wrong(work, answer, "incomplete without a warning");
    json_decref(root);
}

static struct answer
again(const struct work *work)
{
    const char *path = work->path;
    struct answer answer;

    alarm(SECONDS_EACH);
    answer = read_files(&path, 1);
    alarm(0);
    check(work, &answer);
    return answer;
}

/* The file reader alone, on memory of the exact size. */
static void
read_cut(const struct work *work, size_t size, int expected, uint64_t packets)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    struct answer answer = {.status = 1};
    struct pcap_source *source;
    struct byte_input *input;
    struct packet packet;
    enum pcap_source_status status;

    if (copy == NULL)
        fail("copy");
    memcpy(copy, work->bytes, size);
    input = byte_input_memory(copy, size);
    source = pcap_source_new(input, "cut", answer.error, sizeof answer.error);
    if (source != NULL) {
        while ((status = pcap_source_next(source, &packet)) ==
               PCAP_SOURCE_PACKET) {
            if (memcmp(packet.data, work->bytes + (packet.data - copy),
                       packet.captured) != 0)
                abort();
            answer.packets++;
        }
        answer.status = status == PCAP_SOURCE_END ? 0 : 4;
        pcap_source_free(source);
    }
    free(copy);
    if (answer.status != expected || answer.packets != packets)
        wrong(work, &answer, "not what the file reader has to say");
}

static void
cut(struct work *work)
{
    size_t next = PCAP_HEADER; /* end of the whole packets below the cut */
    uint64_t packets = 0;

    for (size_t size = 0; size < work->size; size++) {
        struct answer answer;
        int expected;

        work->shared->place = size;
        while (next + PCAP_RECORD <= size) {
            size_t end =
                next + PCAP_RECORD + wire_le32(work->bytes + next + 8);
            if (end > size)
                break;
            next = end;
            packets++;
        }
        expected = size < PCAP_HEADER ? 1 : size == next ? 0 : 4;
        read_cut(work, size, expected, packets);
        work->shared->done++;
        if (size % work->step != 0 && size != next && size != next + 1 &&
            size != next + PCAP_RECORD)
            continue;
        if (ftruncate(work->fd, 0) != 0 ||
            pwrite(work->fd, work->bytes, size, 0) != (ssize_t)size)
            fail("copy");
        answer = again(work);
        if (answer.status != expected)
            wrong(work, &answer, "not the right exit status");
        if (answer.packets != packets)
            wrong(work, &answer, "not all whole packets were read");
        if (answer.calls > work->whole.calls)
            wrong(work, &answer, "more calls than in the whole file");
        free(answer.json);
    }
}

/* Is this byte one of a packet, or of its time? Then the file is whole. */
static bool
is_content(const struct work *work, size_t place)
{
    size_t at = PCAP_HEADER;

    if (place < PCAP_HEADER)
        return false;
    for (;;) {
        size_t length = wire_le32(work->bytes + at + 8);
        if (place < at + PCAP_RECORD)
            return place < at + 8;
        at += PCAP_RECORD + length;
        if (place < at)
            return true;
    }
}

static void
flip(struct work *work)
{
    static const uint8_t masks[] = {0xff, 0x01};

    for (size_t place = 0; place < work->size; place += work->step) {
        const bool content = is_content(work, place);
        work->shared->place = place;
        for (size_t i = 0; i < sizeof masks; i++) {
            const uint8_t changed = work->bytes[place] ^ masks[i];
            struct answer answer;

            if (pwrite(work->fd, &changed, 1, (off_t)place) != 1)
                fail("copy");
            answer = again(work);
            if (content && answer.status != 0)
                wrong(work, &answer, "a change inside a packet, yet not 0");
            free(answer.json);
        }
        if (pwrite(work->fd, work->bytes + place, 1, (off_t)place) != 1)
            fail("copy");
        work->shared->done++;
    }
}

static void
load(struct work *work, const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        fail(path);
    work->size = (size_t)ftell(file);
    rewind(file);
    work->bytes = malloc(work->size + 1);
    if (work->bytes == NULL ||
        fread(work->bytes, 1, work->size, file) != work->size)
        fail(path);
    fclose(file);
    if (work->size < PCAP_HEADER || wire_le32(work->bytes) != 0xa1b2c3d4) {
        fprintf(stderr, "%s: not a little-endian pcap of microseconds\n", path);
        exit(2);
    }
    work->fd = memfd_create("golden", MFD_CLOEXEC);
    if (work->fd < 0 ||
        pwrite(work->fd, work->bytes, work->size, 0) != (ssize_t)work->size)
        fail("memfd");
    snprintf(work->path, sizeof work->path, "/proc/self/fd/%d", work->fd);
    work->shared = mmap(NULL, sizeof *work->shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (work->shared == MAP_FAILED)
        fail("mmap");
}

static int
in_a_child(struct work *work, void (*change)(struct work *))
{
    int status;
    pid_t child = fork();

    if (child < 0)
        fail("fork");
    if (child == 0) {
        work->whole = again(work);
        if (work->whole.status != 0 || work->whole.calls == 0)
            wrong(work, &work->whole, "the file itself is not right");
        change(work);
        free(work->whole.json);
        free(work->bytes);
        exit(0);
    }
    if (waitpid(child, &status, 0) != child)
        fail("wait");
    if (WIFSIGNALED(status))
        fprintf(stderr, "ended by signal %d (%s) at byte %zu\n",
                WTERMSIG(status), strsignal(WTERMSIG(status)),
                work->shared->place);
    else if (WEXITSTATUS(status) != 0)
        fprintf(stderr, "failed at byte %zu\n", work->shared->place);
    if (status == 0)
        printf("%zu places, as they have to be\n", work->shared->done);
    return status == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
    struct work work = {0};
    int status;

    if (argc == 2 && strcmp(argv[1], "batch") == 0)
        return batch();
    work.step = argc == 4 ? strtoul(argv[3], NULL, 10) : 1;
    if (argc < 3 || argc > 4 || work.step == 0 ||
        (strcmp(argv[1], "cut") != 0 && strcmp(argv[1], "flip") != 0)) {
        fputs("usage: golden_driver batch | cut FILE [STEP] | flip FILE "
              "[STEP]\n", stderr);
        return 2;
    }
    load(&work, argv[2]);
    status = in_a_child(&work, argv[1][0] == 'c' ? cut : flip);
    free(work.bytes);
    return status;
}
