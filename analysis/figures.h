/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the reports print: computed once, from a run and its traffic. A group
 * is one file system and one method, over all repetitions.
 *
 * The sample of a group is its repetitions: one mean of us per exec for each
 * finished cell. Execs within a cell follow one another closely and are no
 * independent sample; cells, interleaved in random order, are.
 */
#ifndef NAT_ANALYSIS_FIGURES_H
#define NAT_ANALYSIS_FIGURES_H

#include "analysis/atime_history.h"
#include "analysis/correlation.h"
#include "analysis/exec_window.h"
#include "analysis/rpc_wait.h"
#include "analysis/run_file.h"
#include "analysis/signatures.h"
#include "analysis/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum moved { MOVED_UNKNOWN, MOVED_NO, MOVED_YES };

/* Cells of a group in which somebody's view of the atime moved. */
struct moved_cells {
    unsigned known, moved;
};

struct group_figures {
    size_t filesystem; /* index */
    enum run_method method;
    unsigned cells;    /* finished */
    uint64_t execs;    /* recorded in those */
    double *us_per_exec; /* [cells]: the sample */
    struct stat_summary sample;
    struct stat_estimate mean;         /* us per exec */
    struct stat_difference over_none;  /* same file system; us */
    double user_us, system_us;         /* per exec, mean over cells */
    double exec_us, exit_us, method_us; /* parts of the mean: start to exec,
                                           exec to exit, exit to end */
    struct run_counts calls, operations, errors, method_errors, exec_errors;
    uint64_t rpcs, retransmissions, background, read_bytes, unanswered;
    uint64_t empty_setattrs;
    unsigned cells_lossy;       /* drops or gaps: counts are lower bounds */
    unsigned cells_compared;    /* mountstats known */
    unsigned cells_agree;       /* of these, the wire says the same */
    struct moved_cells server, client, exported;
    struct moved_cells server_ctime, server_mtime, server_change;
    /* From the capture: all zero where there is none, or where the wire does
     * not show the file system's RPCs. */
    bool reasons_known;
    struct signatures signatures;
    struct rpc_wait wait;             /* compared with none */
    struct setattr_account setattr;
    const struct atime_group *atime;  /* NULL when not known */
    enum atime_verdict verdict;
};

struct figures {
    const struct run *run;
    const struct run_traffic *traffic;
    double confidence;
    struct group_figures *groups; /* by file system, then method */
    size_t group_count;
    struct correlation *correlations; /* by file system */
    struct rpc_work *works;           /* by file system */
    double *wire_null_us;             /* by file system: median; 0 unknown */
    struct atime_history *histories;  /* by file system */
    unsigned cells_done, cells_planned;
    unsigned cells_compared, cells_agree;
    char **disagreements; /* "nfs3 setattr 2: ACCESS wire 3, mountstats 4" */
    size_t disagreement_count;
    bool counts_complete; /* nothing lost that could change a count */
    bool from_mountstats; /* no wire: counts are the kernel's */
    char **findings;      /* sentences, in the order of what they cost */
    size_t finding_count;
    size_t main_finding_count; /* the rest can be done without */
};

/* @return 0, or -1 when out of memory. Free in every case. run and traffic
 * must live as long. */
int figures_compute(const struct run *run, const struct run_traffic *traffic,
                    double confidence, struct figures *figures);
void figures_free(struct figures *figures);

/* The group of a file system and method, or NULL. */
const struct group_figures *figures_group(const struct figures *figures,
                                          size_t filesystem,
                                          enum run_method method);

/* Operations of that name per exec; of the group's calls when `calls`. */
double group_per_exec(const struct group_figures *group, const char *name,
                      bool calls);

/*
 * The operations worth a column: SETATTR and ACCESS always, then those that
 * occur, the common ones of an exec first. Writes at most `most` names (they
 * live as long as figures) and returns how many.
 */
size_t figures_columns(const struct figures *figures, const char **names,
                       size_t most);

/* Operations of the group that have no column, SEQUENCE, PUTFH and the other
 * scaffolding of a COMPOUND left out; per exec. */
double group_others_per_exec(const struct group_figures *group,
                             const char *const *names, size_t count);

/* Operations that carry others and do nothing to a file by themselves:
 * SEQUENCE, PUTFH ... */
bool operation_is_scaffolding(const char *name);

/* Adds a sentence (printf form) to the findings. */
void figures_add_finding(struct figures *figures, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
