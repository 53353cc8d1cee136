/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A window of bounded size on a regular file, moved along it: the file's
 * pages are read where the system keeps them, and those that nobody looks at
 * cost nothing.
 */
#ifndef NAT_CAPTURE_FILE_WINDOW_H
#define NAT_CAPTURE_FILE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_window;

/* NULL when the file cannot be mapped; read it then. `fd` stays the
 * caller's and must stay open. */
struct file_window *
file_window_new(int fd, uint64_t file_size);
void
file_window_free(struct file_window *window);

/*
 * Makes the bytes from `offset` on visible, at least `want` of them if the
 * file has them. What the call before this one made visible stays so
 * until the next.
 *
 * @param size receives how many there are; less than `want` at the end only.
 * @return the byte at `offset`; NULL when it cannot be mapped.
 */
const uint8_t *
file_window_at(struct file_window *window, uint64_t offset, size_t want,
               size_t *size);

/* The file became shorter while it was read: zeros were seen in place of its
 * lost part. */
bool
file_window_shrank(const struct file_window *window);

#endif
