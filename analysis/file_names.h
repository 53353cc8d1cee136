/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of file handles, learned from what a capture shows: LOOKUP, OPEN,
 * CREATE, MKDIR, SYMLINK, MKNOD, RENAME, directory listings with handles, and
 * MOUNT's MNT. A handle itself is opaque (RFC 8881 section 4.2.1) and never
 * looked into. Needs transactions of RPC_DEPTH_FULL. Memory is bounded: what
 * is oldest is forgotten.
 */
#ifndef NAT_ANALYSIS_FILE_NAMES_H
#define NAT_ANALYSIS_FILE_NAMES_H

#include "analysis/escape.h"
#include "capture/rpc_transaction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_names; /* opaque */

/* NULL when memory is short. */
struct file_names *file_names_new(void);
void file_names_free(struct file_names *names);

/* Takes in what the transaction says; of a failed one nothing. */
void file_names_learn(struct file_names *names,
                      const struct rpc_transaction *tx);

/*
 * The path of a handle, escaped for `target`: "/srv/lib/libc.so" up to a root
 * that is known, "[9c0d2a11]/libc.so" from a directory without a name,
 * "?/libc.so" when not even that is known. A slash inside a name is written
 * as \x2f. Cut at the front ("...") when it does not fit or has more than 32
 * parts.
 * @return false, and "[9c0d2a11]" (the hash's upper half) in text, when
 *         nothing is known of the handle.
 */
bool file_names_path(const struct file_names *names, uint64_t handle,
                     enum escape_for target, char *text, size_t size);

/* Names that gave way to newer ones. */
uint64_t file_names_forgotten(const struct file_names *names);

/* The file that a transaction is about: of the operation numbered
 * `operation` (LOOKUP, CREATE, REMOVE: the directory; OPEN: the file that it
 * opened), else of the first one with a file. 0: none. */
uint64_t transaction_file(const struct rpc_transaction *tx,
                          uint32_t operation);

#endif
