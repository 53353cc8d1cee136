/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * A producer fills blocks of BLOCK_SIZE bytes by read(2), through zlib or
 * libzstd when the first bytes say so. With `ahead` the producer is a thread
 * and BLOCK_COUNT blocks go round a ring; without, the consumer calls it.
 * The consumer's window lies on one block. When a request straddles two
 * blocks, what is left of the first and the start of the second are copied
 * together into `joint`, and the window lies there until it is used up; it
 * then returns to the second block. Memory is bounded by the ring and the
 * largest request.
 *
 * A regular file that is not compressed needs none of that: the window is a
 * mapping that moves along it (file_window).
 *
 * Few and small blocks on purpose: what the producer wrote is still in the
 * cache when the consumer comes to it.
 */
#include "capture/byte_input.h"

#include "capture/file_window.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define BLOCK_SIZE ((size_t)512 << 10)
#define BLOCK_COUNT 4
#define RAW_SIZE ((size_t)128 << 10)

enum encoding { PLAIN, GZIP, ZSTANDARD };

struct block {
    uint8_t *data;
    size_t size;
};

struct byte_input {
    struct byte_window window;
    uint64_t window_offset; /* of window.end */

    /* Producer. */
    int fd;
    enum encoding encoding;
    uint64_t file_size;
    uint8_t *raw; /* compressed bytes */
    size_t raw_next, raw_end;
    bool raw_over;
    z_stream zlib;
    ZSTD_DCtx *zstd;
    bool frame_open; /* inside a compressed member or frame */
    bool produced_all;

    /* Ring, under lock when there is a thread. */
    struct block blocks[BLOCK_COUNT];
    unsigned filled, taken; /* running counts */
    bool over, stop;
    uint64_t consumed;
    char failure[160];
    bool threaded;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* Consumer. */
    bool holding; /* blocks[taken % BLOCK_COUNT] is in use */
    uint8_t *joint;
    size_t joint_capacity;
    const uint8_t *after_joint; /* window to return to, or NULL */
    const uint8_t *after_joint_end;
    bool memory;
    struct file_window *mapping; /* or NULL */
    void *move_context;
    void (*before_move)(void *context); /* or NULL */
};

static void
fail(struct byte_input *input, const char *what, const char *why)
{
    if (input->failure[0] == '\0') {
        snprintf(input->failure, sizeof input->failure, "%s: %s", what, why);
    }
}

/* read(2) until at least that many of `size` bytes are there or the file
 * ends. */
static size_t
read_at_least(struct byte_input *input, uint8_t *to, size_t least, size_t size)
{
    size_t have = 0;
    while (have < least) {
        ssize_t got = read(input->fd, to + have, size - have);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            fail(input, "read error", strerror(errno));
        }
        if (got <= 0) {
            input->raw_over = true;
            break;
        }
        have += (size_t)got;
    }
    return have;
}

static bool
raw_refill(struct byte_input *input)
{
    if (input->raw_next < input->raw_end) {
        return true;
    }
    if (input->raw_over) {
        return false;
    }
    input->raw_next = 0;
    input->raw_end = read_at_least(input, input->raw, 1, RAW_SIZE);
    return input->raw_end > 0;
}

/* Who reads in the caller's thread hands on what came: a pipe's writer may
 * pause for long. */
static bool
has_enough(const struct byte_input *input, size_t have)
{
    return !input->threaded && have > 0 && input->raw_next == input->raw_end;
}

static size_t
fill_gzip(struct byte_input *input, uint8_t *to, size_t size)
{
    z_stream *z = &input->zlib;
    z->next_out = to;
    z->avail_out = (uInt)size;
    while (z->avail_out > 0 && !has_enough(input, size - z->avail_out)) {
        if (!raw_refill(input)) {
            if (input->frame_open) {
                fail(input, "gzip", "compressed data end too early");
            }
            input->produced_all = true;
            break;
        }
        z->next_in = input->raw + input->raw_next;
        z->avail_in = (uInt)(input->raw_end - input->raw_next);
        if (!input->frame_open) {
            /* A further member, or padding after the last: RFC 1952 2.2. */
            if (*z->next_in != 0x1f || inflateReset(z) != Z_OK) {
                input->produced_all = true;
                break;
            }
            input->frame_open = true;
        }
        int status = inflate(z, Z_NO_FLUSH);
        input->raw_next = input->raw_end - z->avail_in;
        if (status == Z_STREAM_END) {
            input->frame_open = false;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            fail(input, "gzip", z->msg != NULL ? z->msg : "broken data");
            input->produced_all = true;
            break;
        }
    }
    return size - z->avail_out;
}

static size_t
fill_zstd(struct byte_input *input, uint8_t *to, size_t size)
{
    ZSTD_outBuffer out = {to, size, 0};
    while (out.pos < out.size && !has_enough(input, out.pos)) {
        if (!raw_refill(input)) {
            if (input->frame_open) {
                fail(input, "zstd", "compressed data end too early");
            }
            input->produced_all = true;
            break;
        }
        ZSTD_inBuffer in = {input->raw, input->raw_end, input->raw_next};
        size_t status = ZSTD_decompressStream(input->zstd, &out, &in);
        input->raw_next = in.pos;
        if (ZSTD_isError(status)) {
            fail(input, "zstd", ZSTD_getErrorName(status));
            input->produced_all = true;
            break;
        }
        input->frame_open = status != 0;
    }
    return out.pos;
}

static size_t
fill_plain(struct byte_input *input, uint8_t *to, size_t size)
{
    size_t have = 0;
    if (input->raw_next < input->raw_end) { /* the bytes looked at first */
        have = input->raw_end - input->raw_next;
        memcpy(to, input->raw + input->raw_next, have);
        input->raw_next = input->raw_end;
    }
    if (!has_enough(input, have)) {
        size_t least = input->threaded ? size - have : 1;
        have += read_at_least(input, to + have, least, size - have);
    }
    input->produced_all = input->raw_over;
    return have;
}

static void
produce(struct byte_input *input, struct block *block)
{
    switch (input->encoding) {
    case GZIP:
        block->size = fill_gzip(input, block->data, BLOCK_SIZE);
        break;
    case ZSTANDARD:
        block->size = fill_zstd(input, block->data, BLOCK_SIZE);
        break;
    case PLAIN:
        block->size = fill_plain(input, block->data, BLOCK_SIZE);
        break;
    }
}

static void *
produce_ahead(void *argument)
{
    struct byte_input *input = argument;
    pthread_mutex_lock(&input->lock);
    while (!input->stop && !input->over) {
        if (input->filled - input->taken == BLOCK_COUNT) {
            pthread_cond_wait(&input->changed, &input->lock);
            continue;
        }
        struct block *block = &input->blocks[input->filled % BLOCK_COUNT];
        pthread_mutex_unlock(&input->lock);
        produce(input, block);
        pthread_mutex_lock(&input->lock);
        input->filled++;
        input->consumed += block->size;
        input->over = input->produced_all;
        pthread_cond_signal(&input->changed);
    }
    pthread_mutex_unlock(&input->lock);
    return NULL;
}

/* The next block, or NULL at the end. The one before it is given back. */
static struct block *
next_block(struct byte_input *input)
{
    struct block *block = NULL;
    if (input->threaded) {
        pthread_mutex_lock(&input->lock);
    }
    if (input->holding) {
        input->taken++;
        input->holding = false;
        if (input->threaded) {
            pthread_cond_signal(&input->changed);
        }
    }
    while (input->threaded && input->filled == input->taken && !input->over) {
        pthread_cond_wait(&input->changed, &input->lock);
    }
    if (!input->threaded && input->filled == input->taken && !input->over) {
        block = &input->blocks[input->filled % BLOCK_COUNT];
        produce(input, block);
        input->filled++;
        input->consumed += block->size;
        input->over = input->produced_all;
    }
    if (input->filled != input->taken) {
        block = &input->blocks[input->taken % BLOCK_COUNT];
        input->holding = true;
    }
    if (input->threaded) {
        pthread_mutex_unlock(&input->lock);
    }
    return block;
}

struct byte_window *
byte_input_window(struct byte_input *input)
{
    return &input->window;
}

static void
set_window(struct byte_input *input, const uint8_t *next, const uint8_t *end)
{
    input->window_offset += (uint64_t)(end - next);
    input->window.next = next;
    input->window.end = end;
}

/* Moves the mapping so that the window begins where it is now and has
 * `count` bytes; returns how many it has. */
static size_t
remap(struct byte_input *input, size_t count)
{
    uint64_t offset = byte_input_offset(input);
    size_t size = 0;
    const uint8_t *data = NULL;
    if (input->before_move != NULL) {
        input->before_move(input->move_context);
    }
    if (!file_window_shrank(input->mapping)) {
        data = file_window_at(input->mapping, offset, count, &size);
        if (data == NULL && offset < input->file_size) {
            fail(input, "read error", "the file cannot be mapped");
        }
    }
    if (file_window_shrank(input->mapping)) {
        fail(input, "read error", "the file became shorter");
        data = NULL;
    }
    input->window_offset = offset;
    input->window.next = input->window.end = NULL;
    if (data == NULL) {
        return 0;
    }
    set_window(input, data, data + size);
    return size;
}

/* Puts the next bytes into an empty window; false at the end. */
static bool
advance(struct byte_input *input)
{
    if (input->mapping != NULL) {
        return remap(input, 1) > 0;
    }
    if (input->after_joint != NULL) {
        const uint8_t *next = input->after_joint;
        input->after_joint = NULL;
        if (next < input->after_joint_end) {
            set_window(input, next, input->after_joint_end);
            return true;
        }
    }
    while (!input->memory) {
        struct block *block = next_block(input);
        if (block == NULL) {
            return false;
        }
        if (block->size > 0) {
            set_window(input, block->data, block->data + block->size);
            return true;
        }
    }
    return false;
}

static bool
joint_reserve(struct byte_input *input, size_t size)
{
    if (size <= input->joint_capacity) {
        return true;
    }
    size_t capacity = 4096;
    while (capacity < size) {
        capacity *= 2;
    }
    uint8_t *larger = malloc(capacity);
    if (larger == NULL) {
        fail(input, "memory", "none left for a packet of this size");
        return false;
    }
    /* The window may lie in the old one. */
    size_t left = (size_t)(input->window.end - input->window.next);
    memcpy(larger, input->window.next, left);
    free(input->joint);
    input->joint = larger;
    input->joint_capacity = capacity;
    input->window.next = larger;
    input->window.end = larger + left;
    return true;
}

size_t
byte_input_require(struct byte_input *input, size_t count)
{
    struct byte_window *window = &input->window;
    size_t left = (size_t)(window->end - window->next);
    if (left >= count) {
        return left;
    }
    if (input->mapping != NULL) {
        return remap(input, count);
    }
    if (left == 0) {
        if (!advance(input)) {
            return 0;
        }
        left = (size_t)(window->end - window->next);
        if (left >= count) {
            return left;
        }
    }
    /* Grown step by step: a length that lies costs what is there, no more. */
    size_t have = left;
    if (!joint_reserve(input, left)) {
        return 0;
    }
    if (window->next != input->joint) {
        memmove(input->joint, window->next, left);
    }
    window->next = input->joint;
    window->end = input->joint + left;
    while (have < count) {
        const uint8_t *from;
        size_t at_hand;
        if (input->after_joint != NULL &&
            input->after_joint < input->after_joint_end) {
            from = input->after_joint;
            at_hand = (size_t)(input->after_joint_end - from);
        } else {
            struct block *block = input->memory ? NULL : next_block(input);
            if (block == NULL) {
                break;
            }
            from = block->data;
            at_hand = block->size;
        }
        size_t take = count - have < at_hand ? count - have : at_hand;
        if (!joint_reserve(input, have + take)) {
            break;
        }
        memcpy(input->joint + have, from, take);
        have += take;
        window->end = input->joint + have;
        input->window_offset += take;
        input->after_joint = from + take;
        input->after_joint_end = from + at_hand;
    }
    return have;
}

uint64_t
byte_input_skip(struct byte_input *input, uint64_t count)
{
    uint64_t done = 0;
    while (done < count) {
        struct byte_window *window = &input->window;
        size_t left = (size_t)(window->end - window->next);
        if (left == 0) {
            if (!advance(input)) {
                break;
            }
            continue;
        }
        uint64_t step = count - done < left ? count - done : left;
        window->next += step;
        done += step;
    }
    return done;
}

bool
byte_input_keeps(struct byte_input *input, void *context,
                 void (*before_move)(void *context))
{
    if (input->mapping == NULL) {
        return false;
    }
    input->move_context = context;
    input->before_move = before_move;
    return true;
}

uint64_t
byte_input_offset(const struct byte_input *input)
{
    return input->window_offset -
           (uint64_t)(input->window.end - input->window.next);
}

uint64_t
byte_input_consumed(struct byte_input *input)
{
    if (input->memory) {
        return byte_input_offset(input);
    }
    if (input->encoding == PLAIN) {
        return byte_input_offset(input);
    }
    off_t at = lseek(input->fd, 0, SEEK_CUR);
    return at > 0 ? (uint64_t)at : byte_input_offset(input);
}

uint64_t
byte_input_size(const struct byte_input *input)
{
    return input->file_size;
}

bool
byte_input_compressed(const struct byte_input *input)
{
    return input->encoding != PLAIN;
}

const char *
byte_input_failure(struct byte_input *input)
{
    if (input->threaded) {
        pthread_mutex_lock(&input->lock);
    }
    bool failed = input->failure[0] != '\0';
    if (input->threaded) {
        pthread_mutex_unlock(&input->lock);
    }
    return failed ? input->failure : NULL;
}

static enum encoding
encoding_of(const uint8_t *first, size_t size)
{
    static const uint8_t gzip_magic[] = {0x1f, 0x8b};
    static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (size >= 2 && memcmp(first, gzip_magic, 2) == 0) {
        return GZIP;
    }
    if (size >= 4 && memcmp(first, zstd_magic, 4) == 0) {
        return ZSTANDARD;
    }
    return PLAIN;
}

/* Looks at the first bytes and sets the decompressor up. */
static bool
choose_encoding(struct byte_input *input)
{
    input->raw_end = read_at_least(input, input->raw, 16, 16);
    input->encoding = encoding_of(input->raw, input->raw_end);
    switch (input->encoding) {
    case GZIP:
        return inflateInit2(&input->zlib, 15 + 16) == Z_OK;
    case ZSTANDARD:
        input->zstd = ZSTD_createDCtx();
        return input->zstd != NULL;
    case PLAIN:
        break;
    }
    return true;
}

/* A regular file that is not compressed is mapped, when the system can. */
static bool
open_mapped(struct byte_input *input)
{
    uint8_t first[4];
    if (input->file_size < sizeof first ||
        pread(input->fd, first, sizeof first, 0) != sizeof first ||
        encoding_of(first, sizeof first) != PLAIN ||
        lseek(input->fd, 0, SEEK_CUR) != 0) {
        return false;
    }
    input->mapping = file_window_new(input->fd, input->file_size);
    if (input->mapping != NULL) {
        input->threaded = false;
    }
    return input->mapping != NULL;
}

static bool
allocate(struct byte_input *input)
{
    input->raw = malloc(RAW_SIZE);
    unsigned blocks = input->threaded ? BLOCK_COUNT : 1;
    bool all = input->raw != NULL;
    for (unsigned i = 0; i < blocks; i++) {
        input->blocks[i].data = malloc(BLOCK_SIZE);
        all = all && input->blocks[i].data != NULL;
    }
    for (unsigned i = blocks; i < BLOCK_COUNT; i++) {
        input->blocks[i].data = input->blocks[0].data;
    }
    return all;
}

int
byte_input_descriptor(const char *path)
{
    if (strcmp(path, "-") == 0) {
        return STDIN_FILENO;
    }
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}

struct byte_input *
byte_input_open(const char *path, bool ahead, char *error, size_t error_size)
{
    return byte_input_open_descriptor(byte_input_descriptor(path), path, ahead,
                                      error, error_size);
}

struct byte_input *
byte_input_open_descriptor(int descriptor, const char *path, bool ahead,
                           char *error, size_t error_size)
{
    struct byte_input *input = calloc(1, sizeof *input);
    if (input == NULL) {
        snprintf(error, error_size, "%s: no memory", path);
        return NULL;
    }
    bool standard = descriptor == STDIN_FILENO;
    input->fd = descriptor;
    if (input->fd < 0) {
        snprintf(error, error_size, "%s: cannot open: %s", path,
                 strerror(-descriptor));
        free(input);
        return NULL;
    }
    struct stat about;
    if (fstat(input->fd, &about) == 0) {
        if (S_ISDIR(about.st_mode)) {
            snprintf(error, error_size,
                     "%s: is a directory; name the capture files in it", path);
            if (!standard) {
                close(input->fd);
            }
            free(input);
            return NULL;
        }
        if (S_ISREG(about.st_mode)) {
            input->file_size = (uint64_t)about.st_size;
        }
    }
    input->threaded = ahead;
    if (open_mapped(input)) {
        return input;
    }
    if (!allocate(input) || !choose_encoding(input)) {
        snprintf(error, error_size, "%s: no memory to read it", path);
        input->threaded = false;
        byte_input_close(input);
        return NULL;
    }
    if (ahead) {
        pthread_mutex_init(&input->lock, NULL);
        pthread_cond_init(&input->changed, NULL);
        if (pthread_create(&input->thread, NULL, produce_ahead, input) != 0) {
            pthread_mutex_destroy(&input->lock);
            pthread_cond_destroy(&input->changed);
            input->threaded = false;
        }
    }
    return input;
}

struct byte_input *
byte_input_memory(const uint8_t *data, size_t size)
{
    struct byte_input *input = calloc(1, sizeof *input);
    if (input == NULL) {
        return NULL;
    }
    input->fd = -1;
    input->memory = true;
    input->file_size = size;
    if (size > 0) {
        set_window(input, data, data + size);
    }
    return input;
}

void
byte_input_close(struct byte_input *input)
{
    if (input == NULL) {
        return;
    }
    if (input->threaded) {
        pthread_mutex_lock(&input->lock);
        input->stop = true;
        pthread_cond_broadcast(&input->changed);
        pthread_mutex_unlock(&input->lock);
        pthread_join(input->thread, NULL);
        pthread_mutex_destroy(&input->lock);
        pthread_cond_destroy(&input->changed);
    }
    if (input->encoding == GZIP) {
        inflateEnd(&input->zlib);
    }
    ZSTD_freeDCtx(input->zstd);
    for (unsigned i = 0; i < BLOCK_COUNT; i++) {
        if (i == 0 || input->blocks[i].data != input->blocks[0].data) {
            free(input->blocks[i].data);
        }
    }
    file_window_free(input->mapping);
    free(input->raw);
    free(input->joint);
    if (input->fd > STDIN_FILENO) {
        close(input->fd);
    }
    free(input);
}
