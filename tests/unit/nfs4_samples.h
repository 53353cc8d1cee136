/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One example of each NFSv4 operation, written after the XDR of the RFCs.
 */
#ifndef NAT_TESTS_NFS4_SAMPLES_H
#define NAT_TESTS_NFS4_SAMPLES_H

#include "tests/unit/rpc_support.h"

/* Number and arguments; `variant` chooses among the arms of unions. */
void
sample_arguments(struct message *m, uint32_t operation, unsigned variant);
/* Number, NFS4_OK and results. */
void
sample_results(struct message *m, uint32_t operation, unsigned variant);
#define SAMPLE_VARIANTS 4

void
sample_callback_arguments(struct message *m, uint32_t operation,
                          unsigned variant);
void
sample_callback_results(struct message *m, uint32_t operation);

void
put_stateid(struct message *m);
/* A bitmap4 of the words given. */
void
put_bitmap(struct message *m, uint32_t count, const uint32_t *words);

#endif
