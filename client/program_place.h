/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program on the file system under test: in a directory of its own, which
 * is removed at the end; or where it is already, and then nothing is written.
 */
#ifndef NAT_CLIENT_PROGRAM_PLACE_H
#define NAT_CLIENT_PROGRAM_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program_place {
    char *directory; /* ours to remove, or NULL */
    char *path;      /* what is exec'd */
    uint64_t bytes;
};

/*
 * Makes base/.nfs-atime-test-XXXXXX/program from bytes. The file is written,
 * synced and closed when this returns, and no other process has ever had it
 * open for writing: an exec cannot meet ETXTBSY through us.
 * @return 0, or -1 with one line in error; nothing is left then.
 */
int program_place_make(struct program_place *place, const char *base,
                       const void *bytes, size_t length, char *error,
                       size_t error_size);

/* Takes a program that is there. path is absolute. */
int program_place_use(struct program_place *place, const char *path,
                      char *error, size_t error_size);

/* Removes what was made, and other files in our directory. The strings stay valid. @return 0, or -1 and
 * errno. */
int program_place_remove(const struct program_place *place);

void program_place_free(struct program_place *place);

#endif
