/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run: what was measured where, and every exec. Written by the client
 * floor while it measures, read by every report; run.json is this structure
 * (schema nfs-atime-test.run/1, docs/run.schema.json).
 *
 * Durations and monotonic times are nanoseconds of CLOCK_MONOTONIC, real
 * times nanoseconds since the epoch of CLOCK_REALTIME. Strings are owned by
 * the run and freed by run_free(); NULL means "not known" and is JSON null.
 */
#ifndef NAT_ANALYSIS_RUN_FILE_H
#define NAT_ANALYSIS_RUN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_SCHEMA "nfs-atime-test.run/1"
#define RUN_UNKNOWN_NS INT64_MIN /* "no such time": JSON null */

enum run_state { RUN_RUNNING, RUN_COMPLETE, RUN_INTERRUPTED, RUN_FAILED };

enum run_method { /* DESIGN: cells; names by run_method_name() */
    METHOD_NOEXEC,
    METHOD_NONE,
    METHOD_SETATTR,
    METHOD_READ,
    METHOD_OPEN_READ,
    METHOD_DIRECT_READ,
    METHOD_COUNT
};

/* File times as one party saw them. Unknown: RUN_UNKNOWN_NS. */
struct run_attr {
    int64_t atime_ns, mtime_ns, ctime_ns;
    bool change_known;
    uint64_t change; /* NFSv4 change attribute */
};

struct run_count { /* a name and how often */
    char *name;
    uint64_t count;
};

struct run_counts {
    struct run_count *items;
    size_t length;
};

/* A clock reading pair, taken back to back. */
struct run_clock_pair {
    int64_t realtime_ns, monotonic_ns;
};

/* One exec. Times are monotonic. exec_ns is when the exec itself was known
 * to have happened (close-on-exec pipe at end of file), RUN_UNKNOWN_NS for
 * noexec or when it failed. */
struct run_exec {
    int64_t start_ns;  /* before fork, vfork or posix_spawn */
    int64_t exec_ns;
    int64_t exit_ns;   /* the child was reaped */
    int64_t end_ns;    /* the method was done: next exec may start */
    int exec_errno;    /* 0, or why execve failed */
    int wait_status;   /* as waitpid(2) gives it */
    int method_errno;  /* 0, or why the method failed */
};

struct run_marker {
    char *nonce;          /* in the AUTH_SYS machine name, see below */
    int64_t sent_realtime_ns, sent_monotonic_ns;
    int64_t back_monotonic_ns; /* its reply; unknown when none came */
    bool seen;            /* the recorder saw it on the wire */
};

/* Recorder's figures around a cell: pcap_stats(3PCAP) differences. */
struct run_drops {
    bool known;
    uint64_t received, kernel, interface;
};

/* What a bench measured, one list of times. */
struct run_series {
    char *name;          /* "elapsed", "touch" ... */
    uint64_t operations; /* that each of the times covers: execs, accesses,
                            files; at least 1 */
    int64_t *ns;
    size_t length;
};

enum cell_state { CELL_DONE, CELL_INTERRUPTED, CELL_FAILED, CELL_PENDING };

struct run_cell {
    unsigned filesystem; /* index into run.filesystems */
    enum run_method method;
    unsigned repetition; /* 0 .. run.repetitions - 1 */
    char *variant;       /* of a bench, which has this in place of a method
                            (that is METHOD_NONE): "mmap/4/warm"; or NULL */
    enum cell_state state;
    char *error;         /* why it failed, one line, or NULL */
    struct run_clock_pair clock_before, clock_after;
    struct run_marker open_marker, close_marker; /* nonce NULL: none */
    int64_t user_ns, system_ns; /* of the children and of the launcher:
                                   rusage difference over the cell */
    uint64_t minor_faults, major_faults;
    struct run_attr server_before, server_after; /* over our own connection */
    struct run_attr client_before, client_after; /* stat on the mount */
    struct run_attr export_before, export_after; /* stat on the exported file
                                                    system, when at hand */
    struct run_counts mountstats; /* per operation: difference; length 0 and
                                     mountstats_known false: not available */
    bool mountstats_known;
    bool mountstats_reset;        /* counters went down: remount */
    /* Bytes of RPC records, per operation, from the same counters. */
    struct run_counts mountstats_sent, mountstats_received;
    struct run_counts method_errors; /* by errno name: "EPERM" */
    struct run_counts exec_errors;
    struct run_drops drops;
    struct run_exec *execs;
    size_t exec_count;            /* recorded; < run.execs when cut short */
    /* A bench's own: the first series is the figure of the cell, the others
     * are its parts; observations are what was counted beside them. */
    struct run_series *series;
    size_t series_count;
    struct run_counts observations;
};

enum filesystem_kind { FILESYSTEM_LOCAL, FILESYSTEM_NFS };

struct run_filesystem {
    char *label; /* "local", "nfs3", "nfs4.2", "nfs3-2" ...: unique */
    enum filesystem_kind kind;
    char *mount_point, *device, *type, *options; /* /proc/self/mountinfo */
    char *directory;       /* where the program was put */
    char *program_path;    /* what was exec'd */
    /* NFS only, from mountinfo and mountstats */
    char *server_address, *server_path, *version; /* "3", "4.2" */
    char *transport;       /* "tcp", "udp", "rdma", "tcp6" ... */
    unsigned port, nconnect;
    char *security;        /* "sys", "krb5p" ... */
    bool same_host;        /* the server is this machine: LOCALIO, loopback */
    bool wire_shows_all;   /* false with rdma, TLS, LOCALIO: counts come from
                              mountstats, and why_not says so */
    char *why_not;
    char *export_note;     /* what the lab says of the export, or NULL:
                              "sync, ext4 strictatime" */
    int64_t *ping_ns;      /* NULL calls by libtirpc, in order */
    size_t ping_count;
    char *handle_hex;      /* the program's file handle, when known */
    char *capture;         /* name of its capture file in run.captures, or
                              NULL: no capture */
    char *interface;
    struct run_count *own_ports; /* name: "10.77.0.1:901", local ends of the
                              client's own connections: never the exec's */
    size_t own_port_count;
    /* Idle phase before the cells: the background rate. */
    int64_t idle_start_realtime_ns, idle_end_realtime_ns;
};

struct run_capture {
    char *path;       /* relative to the run's directory */
    char *interface, *filter;
    unsigned snaplen;
    bool stats_known;
    uint64_t received, dropped, interface_dropped;
    bool complete;
    char *warning;
};

struct run {
    char *directory; /* where run.json lies: not stored */
    char *id;        /* "2026-11-30T10:15:00Z-host" */
    char *tool_version, *kernel, *hostname;
    char *clock;     /* "CLOCK_MONOTONIC", or what --clock said */
    int64_t clock_resolution_ns;
    enum run_state state;
    char *state_reason; /* "signal 2 (Interrupt)", or NULL */
    char *bench;     /* NULL: the main test; else "self-exec" ... */
    uint64_t bench_bytes; /* prefault: the size of the file */
    uint64_t seed;
    unsigned execs, repetitions; /* planned per cell; planned */
    char *spawn;     /* "vfork", "fork", "posix_spawn" */
    char *program;   /* "static", "libc", "dynamic", or the path */
    uint64_t program_bytes;
    char *as_user;   /* --as, or NULL */
    int64_t warmup_execs; /* execs per file system before the first cell,
                             not recorded */
    bool realtime_stepped; /* clock pairs differ: the wall clock was set */
    struct run_filesystem *filesystems;
    size_t filesystem_count;
    struct run_cell *cells; /* in the order in which they ran */
    size_t cell_count;
    struct run_capture *captures;
    size_t capture_count;
    char **warnings;
    size_t warning_count;
};

/*
 * Markers: a NULL call to the NFS server whose AUTH_SYS machine name is
 * RUN_MARKER_PREFIX, the nonce of the run, '/', the cell's number or "r" for
 * ready and "e" for end, '/', 'o' for open or 'c' for close: for example
 * "nfs-atime-test/1f3a9c20/17/o". Never longer than 255 bytes, the limit of
 * RFC 5531 appendix A.
 */
#define RUN_MARKER_PREFIX "nfs-atime-test/"

const char *run_method_name(enum run_method method);
/* METHOD_COUNT when there is no such name. */
enum run_method run_method_by_name(const char *name);
/* Whether any of its file systems is NFS. */
bool run_has_nfs(const struct run *run);

/*
 * Writes run.json under `directory` by way of a temporary file and rename, so
 * that a reader never sees half of it.
 * @return 0, or -1 with one line in error.
 */
int run_write(const struct run *run, const char *directory, char *error,
              size_t error_size);

/*
 * Reads a run: path is run.json itself or the directory that holds it.
 * @return 0, or -1 with one line in error that names file, place and remedy.
 */
int run_read(const char *path, struct run *run, char *error,
             size_t error_size);

/* From a buffer (fuzzing, tests). `name` appears in errors. */
int run_parse(const char *text, size_t length, const char *name,
              struct run *run, char *error, size_t error_size);

void run_free(struct run *run);

/* Appends an empty series to the cell. @return it, or NULL: out of memory. */
struct run_series *run_cell_add_series(struct run_cell *cell, const char *name,
                                       uint64_t operations);

/* Appends a time. @return 0, or -1: out of memory. */
int run_series_add(struct run_series *series, int64_t ns);

/* Appends a copy of name with count, or adds to it when it is there. */
void run_counts_add(struct run_counts *counts, const char *name,
                    uint64_t count);

#endif
