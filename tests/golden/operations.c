/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls that shell commands do not make, on a directory of an NFS
 * mount, so that a capture of them has the operations that go with them:
 * locks, ranges, holes, copies, extended attributes. What a version or a
 * server does not have fails here, and the refusal is in the capture too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

static void
said(const char *what, long result)
{
    printf("%-16s %s\n", what, result >= 0 ? "done" : strerror(errno));
}

static void
lock(int fd, const char *what, int command, short type)
{
    struct flock range = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = 3, .l_len = 5};
    said(what, fcntl(fd, command, &range));
}

static void
times(int fd, const char *what, struct timespec atime, struct timespec mtime)
{
    const struct timespec both[2] = {atime, mtime};
    said(what, futimens(fd, both));
}

static void
attributes(int fd)
{
    const struct timespec now = {.tv_nsec = UTIME_NOW};
    const struct timespec keep = {.tv_nsec = UTIME_OMIT};
    const struct timespec then = {.tv_sec = 981173106, .tv_nsec = 789};

    times(fd, "atime now", now, keep);
    times(fd, "atime given", then, keep);
    times(fd, "mtime now", keep, now);
    times(fd, "mtime given", keep, then);
    times(fd, "both given", then, then);
    said("mode", fchmod(fd, 0640));
    said("owner", fchown(fd, 1000, (gid_t)-1));
    said("group", fchown(fd, (uid_t)-1, 1000));
    said("size", ftruncate(fd, 6000));
}

static void
ranges(int fd, int other)
{
    const struct file_clone_range clone = {.src_fd = fd, .src_length = 4096};
    loff_t from = 0, to = 0;

    said("allocate", fallocate(fd, 0, 0, 8192));
    said("deallocate", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                 4096, 4096));
    said("seek hole", lseek(fd, 0, SEEK_HOLE));
    said("seek data", lseek(fd, 0, SEEK_DATA));
    said("clone", ioctl(other, FICLONERANGE, &clone));
    said("copy", copy_file_range(fd, &from, other, &to, 100, 0));
}

static void
extended(int fd)
{
    char value[64];
    said("set xattr", fsetxattr(fd, "user.golden", "value", 5, 0));
    said("get xattr", fgetxattr(fd, "user.golden", value, sizeof value));
    said("list xattr", flistxattr(fd, value, sizeof value));
    said("remove xattr", fremovexattr(fd, "user.golden"));
}

int
main(int argc, char **argv)
{
    struct statvfs about;
    char bytes[16];
    int fd, other, reader;

    if (argc != 2 || chdir(argv[1]) != 0) {
        fprintf(stderr, "usage: operations DIRECTORY\n");
        return 2;
    }
    fd = open("ranges", O_RDWR | O_CREAT | O_EXCL, 0644);
    other = open("ranges.copy", O_RDWR | O_CREAT, 0644);
    if (fd < 0 || other < 0) {
        perror("ranges");
        return 1;
    }
    said("write", write(fd, "sixteen letters.", 16));
    said("sync", fsync(fd));
    lock(fd, "lock", F_SETLK, F_WRLCK);
    lock(fd, "lock test", F_GETLK, F_RDLCK);
    lock(fd, "unlock", F_SETLK, F_UNLCK);
    attributes(fd);
    ranges(fd, other);
    extended(fd);
    reader = open("ranges", O_RDONLY);
    said("close other", close(other));
    said("close writer", close(fd));
    said("read", pread(reader, bytes, sizeof bytes, 0));
    said("statvfs", fstatvfs(reader, &about));
    said("close", close(reader));
    return 0;
}
