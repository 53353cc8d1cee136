/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes of one input, in order, whatever holds them: a plain file, gzip
 * (RFC 1952), Zstandard (RFC 8878), standard input, or memory. Compressed
 * input is recognised by its first bytes, not by its name.
 */
#ifndef NAT_CAPTURE_BYTE_INPUT_H
#define NAT_CAPTURE_BYTE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_input;

/*
 * Opens `path` ("-" is standard input).
 *
 * @param ahead read (and decompress) in a thread of its own.
 * @return NULL with one line in `error` when it cannot be opened.
 */
struct byte_input *
byte_input_open(const char *path, bool ahead, char *error, size_t error_size);

/*
 * The two halves of it. The first gives a descriptor, or -errno. The second
 * takes over what the first gave, -errno included; `path` is for messages.
 */
int
byte_input_descriptor(const char *path);
struct byte_input *
byte_input_open_descriptor(int descriptor, const char *path, bool ahead,
                           char *error, size_t error_size);

/* The same over bytes in memory, which stay the caller's. Uncompressed only.
 * NULL when there is no memory for it. */
struct byte_input *
byte_input_memory(const uint8_t *data, size_t size);

void
byte_input_close(struct byte_input *input);

/*
 * The window on the bytes that are at hand. The owner reads from `next` up to
 * `end` and moves `next` forward itself; that is the fast path.
 */
struct byte_window {
    const uint8_t *next, *end;
};

struct byte_window *
byte_input_window(struct byte_input *input);

/*
 * Makes at least `count` bytes stand in one piece at window->next, unless the
 * input ends before. What was read through the window before this call is no
 * longer valid after it.
 *
 * @return the number of bytes at hand: less than `count` only at the end.
 */
size_t
byte_input_require(struct byte_input *input, size_t count);

/* Steps over `count` bytes; returns how many there were. */
uint64_t
byte_input_skip(struct byte_input *input, uint64_t count);

/*
 * Does the input keep what was at hand before the last move of the window?
 * Then another thread may still read it, and `before_move` is called before
 * the window moves, to wait for those who read what was there the time
 * before. False (and never called): all is gone at once.
 */
bool
byte_input_keeps(struct byte_input *input, void *context,
                 void (*before_move)(void *context));

/* Offset of window->next in the (decompressed) bytes. */
uint64_t
byte_input_offset(const struct byte_input *input);

/* Bytes taken from the file so far, and its size (0: unknown). For progress
 * only: it runs ahead of the offset. */
uint64_t
byte_input_consumed(struct byte_input *input);
uint64_t
byte_input_size(const struct byte_input *input);

/* Compressed: offsets are those of the decompressed bytes. */
bool
byte_input_compressed(const struct byte_input *input);

/* Why the input ended before its end (read error, broken compression), or
 * NULL. Meaningful once byte_input_require() came up short. */
const char *
byte_input_failure(struct byte_input *input);

#endif
