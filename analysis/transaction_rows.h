/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transactions as rows of a table: TSV with a header line, or JSON Lines. The
 * columns are the same, always all of them, and in the same order; what is
 * not known is empty in TSV and null in JSON. Text is escaped (ESCAPE_TSV) in
 * both: no control byte, no double quote, valid UTF-8; a name that a reader
 * could take for a number or a missing value has its first byte escaped.
 */
#ifndef NAT_ANALYSIS_TRANSACTION_ROWS_H
#define NAT_ANALYSIS_TRANSACTION_ROWS_H

#include "analysis/file_names.h"
#include "capture/rpc_transaction.h"

#include <stdio.h>

enum rows_format { ROWS_TSV, ROWS_JSONL };

struct transaction_rows; /* opaque */

/* Writes the header at once (TSV). `names` may be NULL: no paths. NULL when
 * memory is short. */
struct transaction_rows *
transaction_rows_new(enum rows_format format, const struct file_names *names,
                     FILE *out);
/* A row, in the order in which transactions complete. */
void transaction_rows_write(struct transaction_rows *rows,
                            const struct rpc_transaction *tx);
/* Writes what is still held and frees. @return 0, or -1 when not everything
 * could be written. */
int transaction_rows_end(struct transaction_rows *rows);

/* Addresses as text, without the port; buffers of 46 bytes or more. The NFS
 * client is the one that callbacks go to. */
#define ADDRESS_TEXT 46
const struct rpc_endpoint *
transaction_client(const struct rpc_transaction *tx);
const struct rpc_endpoint *
transaction_server(const struct rpc_transaction *tx);
const char *endpoint_text(const struct rpc_endpoint *end, char *text);

/* "NFS3ERR_PERM", "PROG_MISMATCH", "10099"; NULL when there is no status. */
const char *transaction_status(const struct rpc_transaction *tx, char *buffer,
                               size_t size);

/* What the call does: the procedure's number, in NFSv4 the COMPOUND's main
 * operation; and its name, or NULL. */
uint32_t transaction_operation(const struct rpc_transaction *tx);
const char *transaction_operation_name(const struct rpc_transaction *tx,
                                       uint32_t operation);

#endif
