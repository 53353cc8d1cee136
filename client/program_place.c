/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* O_CLOEXEC with mkdtemp */
#include "client/program_place.h"

#include "client/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_NAME ".nfs-atime-test-XXXXXX"

static int
cannot_write(const char *base, char *error, size_t error_size)
{
    const char *remedy = "";

    switch (errno) {
    case EROFS:
        remedy = "; name a program that is there by --program PATH";
        break;
    case EACCES:
    case EPERM:
        remedy = " (root_squash?); name a directory of yours, or a program "
                 "that is there by --program PATH";
        break;
    default:
        break;
    }
    return set_error(error, error_size, "%s: %s%s", base, strerror(errno),
                     remedy);
}

/* @return 0, or -1 and errno; the file is closed in every case. */
static int
write_file(const char *path, const void *bytes, size_t length)
{
    const char *next = bytes;
    int saved = 0, fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                             0700);

    if (fd < 0)
        return -1;
    while (saved == 0 && length > 0) {
        ssize_t wrote = write(fd, next, length);

        if (wrote < 0 && errno != EINTR)
            saved = errno;
        if (wrote > 0) {
            next += wrote;
            length -= (size_t)wrote;
        }
    }
    if (saved == 0 && fchmod(fd, 0755) != 0)
        saved = errno;
    if (saved == 0 && fsync(fd) != 0)
        saved = errno;
    /* NFS reports a full disk at close at the latest. */
    if (close(fd) != 0 && saved == 0)
        saved = errno;
    errno = saved;
    return saved == 0 ? 0 : -1;
}

int
program_place_make(struct program_place *place, const char *base,
                   const void *bytes, size_t length, char *error,
                   size_t error_size)
{
    int saved;

    memset(place, 0, sizeof(*place));
    place->directory = format_text("%s%s%s", base,
                                   base[strlen(base) - 1] == '/' ? "" : "/",
                                   DIRECTORY_NAME);
    if (mkdtemp(place->directory) == NULL) {
        cannot_write(base, error, error_size);
        free(place->directory);
        place->directory = NULL;
        return -1;
    }
    place->path = format_text("%s/program", place->directory);
    place->bytes = length;
    if (chmod(place->directory, 0755) == 0 &&
        write_file(place->path, bytes, length) == 0)
        return 0;
    saved = errno;
    program_place_remove(place);
    errno = saved;
    cannot_write(base, error, error_size);
    program_place_free(place);
    return -1;
}

int
program_place_use(struct program_place *place, const char *path, char *error,
                  size_t error_size)
{
    struct stat status;

    memset(place, 0, sizeof(*place));
    if (stat(path, &status) != 0)
        return set_error(error, error_size, "%s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return set_error(error, error_size, "%s: not a program", path);
    place->path = copy_text(path);
    place->bytes = (uint64_t)status.st_size;
    return 0;
}

int
program_place_remove(const struct program_place *place)
{
    const struct dirent *entry;
    DIR *directory;

    if (place->directory == NULL)
        return 0;
    if (unlink(place->path) != 0 && errno != ENOENT)
        return -1;
    directory = opendir(place->directory);
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory != NULL)
        closedir(directory);
    return rmdir(place->directory) == 0 || errno == ENOENT ? 0 : -1;
}

void
program_place_free(struct program_place *place)
{
    free(place->directory);
    free(place->path);
    memset(place, 0, sizeof(*place));
}
