/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * A table names the columns and the function that writes each. Such a
 * function calls exactly one of put_number(), put_time(), put_text() and
 * put_null(), which know the format. Bytes gather in one block that goes out
 * when it is full; nothing of a transaction is kept after its row.
 */
#include "analysis/transaction_rows.h"

#include "analysis/exec_window.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define BLOCK 65536
#define LONGEST_PATH 4096
#define COLUMNS_AT_MOST 48

struct transaction_rows {
    enum rows_format format;
    const struct file_names *names;
    FILE *out;
    bool failed;
    size_t used;
    char block[BLOCK];
    char text[LONGEST_PATH + 8];
    char keys[COLUMNS_AT_MOST][24]; /* JSON: ,"name": */
    size_t key_lengths[COLUMNS_AT_MOST];
};

/* --- bytes ---------------------------------------------------------------------- */

static void
flush_block(struct transaction_rows *rows)
{
    if (rows->used > 0 &&
        fwrite(rows->block, 1, rows->used, rows->out) != rows->used)
        rows->failed = true;
    rows->used = 0;
}

static void
put_bytes(struct transaction_rows *rows, const char *bytes, size_t length)
{
    while (length > 0) {
        size_t part = BLOCK - rows->used;

        if (part == 0) {
            flush_block(rows);
            continue;
        }
        part = part < length ? part : length;
        memcpy(rows->block + rows->used, bytes, part);
        rows->used += part;
        bytes += part;
        length -= part;
    }
}

static void
put_number(struct transaction_rows *rows, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put_bytes(rows, digits + at, sizeof digits - at);
}

static void
put_null(struct transaction_rows *rows)
{
    if (rows->format == ROWS_JSONL)
        put_bytes(rows, "null", 4);
}

/* Signed nanoseconds. */
static void
put_time(struct transaction_rows *rows, int64_t ns)
{
    if (ns < 0)
        put_bytes(rows, "-", 1);
    put_number(rows, ns < 0 ? -(uint64_t)ns : (uint64_t)ns);
}

/* Text that has been through escape_bytes(), or needs it not: in JSON only
 * its backslashes are left to double. */
static void
put_text(struct transaction_rows *rows, const char *text, size_t length)
{
    const char *backslash;

    if (rows->format == ROWS_TSV) {
        put_bytes(rows, text, length);
        return;
    }
    put_bytes(rows, "\"", 1);
    while ((backslash = memchr(text, '\\', length)) != NULL) {
        const size_t before = (size_t)(backslash - text) + 1;

        put_bytes(rows, text, before);
        put_bytes(rows, "\\", 1);
        text += before;
        length -= before;
    }
    put_bytes(rows, text, length);
    put_bytes(rows, "\"", 1);
}

static void
put_word(struct transaction_rows *rows, const char *word)
{
    if (word == NULL || word[0] == '\0')
        put_null(rows);
    else
        put_text(rows, word, strlen(word));
}

/* Nothing but digits and what stands between them in a date, a time or a
 * number: 2024-01-01T10:00:00Z, 01/02/2024, 11:30 pm, 0b1, 1_000. */
static bool
looks_counted(const char *name)
{
    const char *rest = name + strspn(name, "0123456789 :./,_+-TtZzBbEeOoXx");

    return name[0] >= '0' && name[0] <= '9' &&
           (*rest == '\0' || (strchr(name, ':') != NULL &&
                              (strcasecmp(rest, "am") == 0 ||
                               strcasecmp(rest, "pm") == 0)));
}

/* Would a reader that guesses take the name for a number, a date, a missing
 * value, a truth, a formula or a quoted field? */
static bool
misleads(const char *name)
{
    static const char *const words[] = {
        "na",   "n/a",  "#n/a", "#na",  "<na>", "null",
        "nan",  "none", "nil",  "true", "false",
        "t",    "f",    "yes",  "no",   "y",    "n",
        "on",   "off",
    };
    char *end;
    size_t i;

    if (strchr("=+-@'", name[0]) != NULL || looks_counted(name))
        return true;
    for (i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(name, words[i]) == 0)
            return true;
    (void)strtod(name, &end);
    return *end == '\0';
}

static void
put_name(struct transaction_rows *rows, const char *name, uint32_t length)
{
    size_t used;

    if (name == NULL || length == 0) {
        put_null(rows);
        return;
    }
    used = escape_bytes(ESCAPE_TSV, name, length, rows->text + 3,
                        sizeof rows->text - 3);
    if (!misleads(rows->text + 3)) {
        put_text(rows, rows->text + 3, used);
        return;
    }
    rows->text[0] = '\\'; /* the first byte as \xNN */
    rows->text[1] = 'x';
    rows->text[2] = "0123456789abcdef"[(unsigned char)name[0] >> 4];
    rows->text[3] = "0123456789abcdef"[(unsigned char)name[0] & 15];
    put_text(rows, rows->text, used + 3);
}

/* --- what a transaction is ------------------------------------------------------- */

static bool
is_callback(const struct rpc_transaction *tx)
{
    return (tx->flags & RPC_TX_CALLBACK) != 0;
}

const struct rpc_endpoint *
transaction_client(const struct rpc_transaction *tx)
{
    return &tx->connection->ends[is_callback(tx) ? 1 - tx->client
                                                 : tx->client];
}

const struct rpc_endpoint *
transaction_server(const struct rpc_transaction *tx)
{
    return &tx->connection->ends[is_callback(tx) ? tx->client
                                                 : 1 - tx->client];
}

const char *
endpoint_text(const struct rpc_endpoint *end, char *text)
{
    char *at = text;
    unsigned i;

    for (i = 0; i < 4 && end->family == 4; i++) { /* inet_ntop() prints */
        const unsigned byte = end->address[i];

        if (byte >= 100)
            *at++ = (char)('0' + byte / 100);
        if (byte >= 10)
            *at++ = (char)('0' + byte / 10 % 10);
        *at++ = (char)('0' + byte % 10);
        *at++ = i < 3 ? '.' : '\0';
    }
    if (end->family == 4)
        return text;
    if (inet_ntop(AF_INET6, end->address, text,
                  ADDRESS_TEXT) == NULL)
        snprintf(text, ADDRESS_TEXT, "?");
    return text;
}

static const char *
rpc_error_name(const struct rpc_transaction *tx)
{
    /* RFC 5531 section 9: accept_stat. */
    static const char *const accepted[] = {
        NULL,           "PROG_UNAVAIL", "PROG_MISMATCH",
        "PROC_UNAVAIL", "GARBAGE_ARGS", "SYSTEM_ERR",
    };

    if (tx->reply_stat != 0)
        return tx->accept_stat == 0 ? "RPC_MISMATCH" : "AUTH_ERROR";
    if (tx->accept_stat < sizeof accepted / sizeof accepted[0])
        return accepted[tx->accept_stat];
    return "RPC_ERROR";
}

const char *
transaction_status(const struct rpc_transaction *tx, char *buffer, size_t size)
{
    const char *name = NULL;

    if (tx->outcome == RPC_UNANSWERED)
        return NULL;
    if (tx->reply_stat != 0 || tx->accept_stat != 0)
        return rpc_error_name(tx);
    if (!tx->status_known)
        return NULL;
    if (is_callback(tx))
        name = nfs_status_name(4, tx->status);
    else if (tx->program == SUNRPC_NFS)
        name = nfs_status_name(tx->version, tx->status);
    else if (tx->program == SUNRPC_NFSACL)
        name = nfs_status_name(3, tx->status);
    else if (tx->program == SUNRPC_MOUNT)
        name = mount_status_name(tx->version, tx->status);
    if (name == NULL)
        snprintf(buffer, size, "%" PRIu32, tx->status);
    return name != NULL ? name : buffer;
}

static bool
has_operations(const struct rpc_transaction *tx)
{
    return tx->procedure != 0 && tx->operation_count > 0 &&
           (is_callback(tx) ||
            (tx->program == SUNRPC_NFS && tx->version == 4));
}

uint32_t
transaction_operation(const struct rpc_transaction *tx)
{
    return has_operations(tx) ? compound_main_operation(tx->operations,
                                                        tx->operation_count)
                              : tx->procedure;
}

const char *
transaction_operation_name(const struct rpc_transaction *tx,
                           uint32_t operation)
{
    return has_operations(tx)
               ? nfs4_operation_name(operation, is_callback(tx))
               : rpc_procedure_name(tx->program, tx->version, operation);
}

/* The first operation of that number that has something to say. RFC 1094
 * section 2.2, RFC 1813 section 3, RFC 8881 section 16.2. */
static const struct nfs_detail *
detail_of(const struct rpc_transaction *tx, uint32_t number2,
          uint32_t number3, uint32_t number4)
{
    const uint32_t number = tx->version == 4   ? number4
                            : tx->version == 3 ? number3
                                               : number2;
    uint32_t i;

    if (tx->program != SUNRPC_NFS)
        return NULL;
    for (i = 0; i < tx->operation_count; i++)
        if (tx->operations[i].number == number &&
            tx->operations[i].detail != NULL)
            return tx->operations[i].detail;
    return NULL;
}

#define NO_NUMBER UINT32_MAX

static const struct nfs_detail *
access_of(const struct rpc_transaction *tx)
{
    return detail_of(tx, NO_NUMBER, 4, 3);
}

/* READ, WRITE, COMMIT, READ_PLUS. */
static const struct nfs_detail *
transfer_of(const struct rpc_transaction *tx)
{
    const struct nfs_detail *detail = detail_of(tx, 6, 6, 25);

    if (detail == NULL)
        detail = detail_of(tx, 8, 7, 38);
    if (detail == NULL)
        detail = detail_of(tx, NO_NUMBER, 21, 5);
    return detail != NULL ? detail : detail_of(tx, NO_NUMBER, NO_NUMBER, 68);
}

static const struct nfs_detail *
named_of(const struct rpc_transaction *tx)
{
    uint32_t i;

    for (i = 0; i < tx->operation_count; i++)
        if (tx->operations[i].detail != NULL &&
            tx->operations[i].detail->name_length > 0)
            return tx->operations[i].detail;
    return NULL;
}

/* --- columns --------------------------------------------------------------------- */

typedef void put_column(struct transaction_rows *,
                        const struct rpc_transaction *);

static bool
has_call(const struct rpc_transaction *tx)
{
    return tx->outcome != RPC_ORPHAN_REPLY;
}

static bool
has_reply(const struct rpc_transaction *tx)
{
    return tx->outcome != RPC_UNANSWERED;
}

/* A number of the call, null for a reply without one. */
static void
put_of_call(struct transaction_rows *rows, const struct rpc_transaction *tx,
            uint64_t number)
{
    if (has_call(tx))
        put_number(rows, number);
    else
        put_null(rows);
}

static void
put_serial(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    put_number(rows, tx->serial);
}

static void
put_call_ns(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    if (has_call(tx))
        put_time(rows, tx->call_first_ns);
    else
        put_null(rows);
}

static void
put_resent_ns(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    if (tx->retransmissions > 0)
        put_time(rows, tx->resent_ns);
    else
        put_null(rows);
}

static void
put_reply_first_ns(struct transaction_rows *rows,
                   const struct rpc_transaction *tx)
{
    if (has_reply(tx))
        put_time(rows, tx->reply_first_ns);
    else
        put_null(rows);
}

static void
put_reply_last_ns(struct transaction_rows *rows,
                  const struct rpc_transaction *tx)
{
    if (has_reply(tx))
        put_time(rows, tx->reply_last_ns);
    else
        put_null(rows);
}

static void
put_latency_ns(struct transaction_rows *rows,
               const struct rpc_transaction *tx)
{
    if (tx->outcome == RPC_REPLIED && (tx->flags & RPC_TX_REPLY_FIRST) == 0)
        put_time(rows, tx->reply_last_ns - tx->call_first_ns);
    else
        put_null(rows);
}

static void
put_client(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    char text[ADDRESS_TEXT];

    put_word(rows, endpoint_text(transaction_client(tx), text));
}

static void
put_client_port(struct transaction_rows *rows,
                const struct rpc_transaction *tx)
{
    put_number(rows, transaction_client(tx)->port);
}

static void
put_server(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    char text[ADDRESS_TEXT];

    put_word(rows, endpoint_text(transaction_server(tx), text));
}

static void
put_server_port(struct transaction_rows *rows,
                const struct rpc_transaction *tx)
{
    put_number(rows, transaction_server(tx)->port);
}

static void
put_transport(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    put_word(rows,
             tx->connection->transport == RPC_TRANSPORT_TCP ? "tcp" : "udp");
}

static void
put_connection(struct transaction_rows *rows,
               const struct rpc_transaction *tx)
{
    put_number(rows, tx->connection->serial);
}

static void
put_xid(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    put_number(rows, tx->xid);
}

static void
put_program(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    put_of_call(rows, tx, tx->program);
}

static void
put_program_name(struct transaction_rows *rows,
                 const struct rpc_transaction *tx)
{
    put_word(rows, !has_call(tx)     ? NULL
                   : is_callback(tx) ? "NFS_CB"
                                     : rpc_program_name(tx->program));
}

static void
put_version(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    put_of_call(rows, tx, tx->version);
}

static void
put_minor_version(struct transaction_rows *rows,
                  const struct rpc_transaction *tx)
{
    if (has_operations(tx))
        put_number(rows, tx->minor_version);
    else
        put_null(rows);
}

static void
put_procedure(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    put_of_call(rows, tx, tx->procedure);
}

static void
put_procedure_name(struct transaction_rows *rows,
                   const struct rpc_transaction *tx)
{
    put_word(rows, has_call(tx) ? rpc_procedure_name(tx->program, tx->version,
                                                     tx->procedure)
                                : NULL);
}

static void
put_operation(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    const uint32_t operation = transaction_operation(tx);
    const char *name = transaction_operation_name(tx, operation);

    if (!has_call(tx))
        put_null(rows);
    else if (name != NULL)
        put_word(rows, name);
    else
        put_text(rows, rows->text,
                 (size_t)snprintf(rows->text, sizeof rows->text, "%" PRIu32,
                                  operation));
}

static void
put_operations(struct transaction_rows *rows,
               const struct rpc_transaction *tx)
{
    size_t used = 0;
    uint32_t i;

    if (!has_operations(tx)) {
        put_null(rows);
        return;
    }
    for (i = 0; i < tx->operation_count && used < LONGEST_PATH - 40; i++) {
        const uint32_t number = tx->operations[i].number;
        const char *name = nfs4_operation_name(number, is_callback(tx));
        char digits[16];
        size_t length;

        if (name == NULL) {
            snprintf(digits, sizeof digits, "%" PRIu32, number);
            name = digits;
        }
        length = strlen(name);
        memcpy(rows->text + used, name, length);
        used += length;
        rows->text[used++] = ' ';
    }
    if (i < tx->operation_count) {
        memcpy(rows->text + used, "... ", 4);
        used += 4;
    }
    put_text(rows, rows->text, used - 1);
}

static void
put_status(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    char number[16];

    put_word(rows, transaction_status(tx, number, sizeof number));
}

static void
put_outcome(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    static const char *const outcomes[] = {
        [RPC_REPLIED] = "replied",
        [RPC_UNANSWERED] = "unanswered",
        [RPC_ORPHAN_REPLY] = "orphan",
    };

    put_word(rows, outcomes[tx->outcome]);
}

static void
put_flags(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    static const char *const names[] = {
        "callback",       "gss_control",     "encrypted",  "call_partly",
        "reply_partly",   "call_malformed",  "reply_malformed",
        "tls_probe",      "reply_first",     "near_gap",   "ops_from_reply",
    };
    size_t used = 0;
    unsigned i;

    _Static_assert(RPC_TX_OPS_FROM_REPLY ==
                       1 << (sizeof names / sizeof names[0] - 1),
                   "one name for each flag");
    rows->text[0] = '\0';
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((tx->flags >> i & 1) != 0)
            used += (size_t)snprintf(rows->text + used,
                                     sizeof rows->text - used, "%s%s",
                                     used > 0 ? " " : "", names[i]);
    put_word(rows, rows->text);
}

static void
put_auth(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    char number[16];

    switch (tx->credential.flavor) { /* RFC 5531 section 8.2 */
    case 0:
        put_word(rows, has_call(tx) ? "none" : NULL);
        break;
    case 1:
        put_word(rows, "sys");
        break;
    case 6:
        put_word(rows, "gss");
        break;
    case 7:
        put_word(rows, "tls");
        break;
    default:
        snprintf(number, sizeof number, "%" PRIu32, tx->credential.flavor);
        put_word(rows, number);
    }
}

static void
put_uid(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    if (tx->credential.flavor == 1)
        put_number(rows, tx->credential.uid);
    else
        put_null(rows);
}

static void
put_gid(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    if (tx->credential.flavor == 1)
        put_number(rows, tx->credential.gid);
    else
        put_null(rows);
}

static void
put_call_bytes(struct transaction_rows *rows,
               const struct rpc_transaction *tx)
{
    put_of_call(rows, tx, tx->call_bytes);
}

static void
put_reply_bytes(struct transaction_rows *rows,
                const struct rpc_transaction *tx)
{
    if (has_reply(tx))
        put_number(rows, tx->reply_bytes);
    else
        put_null(rows);
}

static void
put_file(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    const uint64_t file = transaction_file(tx, transaction_operation(tx));
    char text[17];
    unsigned i;

    if (file == 0) {
        put_null(rows);
        return;
    }
    text[0] = 'h'; /* no reader takes it for a number */
    for (i = 0; i < 16; i++)
        text[1 + i] = "0123456789abcdef"[file >> (60 - 4 * i) & 15];
    put_text(rows, text, sizeof text);
}

static void
put_path(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    const uint64_t file = transaction_file(tx, transaction_operation(tx));

    if (file != 0 && rows->names != NULL &&
        file_names_path(rows->names, file, ESCAPE_TSV, rows->text,
                        LONGEST_PATH))
        put_word(rows, rows->text);
    else
        put_null(rows);
}

static void
put_name_column(struct transaction_rows *rows,
                const struct rpc_transaction *tx)
{
    const struct nfs_detail *detail = named_of(tx);

    put_name(rows, detail != NULL ? detail->name : NULL,
             detail != NULL ? detail->name_length : 0);
}

static void
put_new_name(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    const struct nfs_detail *detail = named_of(tx);

    put_name(rows, detail != NULL ? detail->new_name : NULL,
             detail != NULL ? detail->new_name_length : 0);
}

static void
put_setattr(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    const struct nfs_detail *detail = detail_of(tx, 2, 2, 34);
    const struct nfs_sattr *s = detail != NULL ? &detail->sattr : NULL;

    if (s == NULL) {
        put_null(rows);
        return;
    }
    /* One word for each, with a blank behind it. */
    snprintf(rows->text, sizeof rows->text, "%s%s%s%s%s%s%s%s%s",
             s->empty ? "nothing " : "",
             s->atime_how == NFS_TIME_SERVER   ? "atime=server "
             : s->atime_how == NFS_TIME_CLIENT ? "atime=client "
                                               : "",
             s->mtime_how == NFS_TIME_SERVER   ? "mtime=server "
             : s->mtime_how == NFS_TIME_CLIENT ? "mtime=client "
                                               : "",
             s->size ? "size " : "", s->mode ? "mode " : "",
             s->owner ? "owner " : "", s->group ? "group " : "",
             s->other ? "other " : "",
             s->delegated_times ? "delegated " : "");
    put_text(rows, rows->text,
             rows->text[0] != '\0' ? strlen(rows->text) - 1 : 0);
}

static void
put_access(struct transaction_rows *rows, uint32_t mask)
{
    if (mask == 0)
        put_word(rows, "nothing");
    else
        put_word(rows, nfs_access_names(mask, rows->text, sizeof rows->text));
}

static void
put_access_requested(struct transaction_rows *rows,
                     const struct rpc_transaction *tx)
{
    const struct nfs_detail *detail = access_of(tx);

    if (detail != NULL)
        put_access(rows, detail->access_requested);
    else
        put_null(rows);
}

static void
put_access_granted(struct transaction_rows *rows,
                   const struct rpc_transaction *tx)
{
    const struct nfs_detail *detail = access_of(tx);

    if (detail != NULL && tx->outcome == RPC_REPLIED && tx->status_known &&
        tx->status == 0)
        put_access(rows, detail->access_granted);
    else
        put_null(rows);
}

static void
put_offset(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    const struct nfs_detail *detail = transfer_of(tx);

    if (detail != NULL)
        put_number(rows, detail->offset);
    else
        put_null(rows);
}

static void
put_count(struct transaction_rows *rows, const struct rpc_transaction *tx)
{
    const struct nfs_detail *detail = transfer_of(tx);

    if (detail != NULL)
        put_number(rows, detail->count_requested);
    else
        put_null(rows);
}

static void
put_count_done(struct transaction_rows *rows,
               const struct rpc_transaction *tx)
{
    const struct nfs_detail *detail = transfer_of(tx);

    if (detail != NULL && tx->outcome == RPC_REPLIED && tx->status_known &&
        tx->status == 0)
        put_number(rows, detail->count_done);
    else
        put_null(rows);
}

static void
put_retransmissions(struct transaction_rows *rows,
                    const struct rpc_transaction *tx)
{
    put_of_call(rows, tx, tx->retransmissions);
}

static const struct column {
    const char *name;
    put_column *put;
} columns[] = {
    {"serial", put_serial},
    {"call_ns", put_call_ns},
    {"resent_ns", put_resent_ns},
    {"reply_first_ns", put_reply_first_ns},
    {"reply_last_ns", put_reply_last_ns},
    {"latency_ns", put_latency_ns},
    {"client", put_client},
    {"client_port", put_client_port},
    {"server", put_server},
    {"server_port", put_server_port},
    {"transport", put_transport},
    {"connection", put_connection},
    {"xid", put_xid},
    {"program", put_program},
    {"program_name", put_program_name},
    {"version", put_version},
    {"minor_version", put_minor_version},
    {"procedure", put_procedure},
    {"procedure_name", put_procedure_name},
    {"operation", put_operation},
    {"operations", put_operations},
    {"status", put_status},
    {"outcome", put_outcome},
    {"flags", put_flags},
    {"auth", put_auth},
    {"uid", put_uid},
    {"gid", put_gid},
    {"call_bytes", put_call_bytes},
    {"reply_bytes", put_reply_bytes},
    {"retransmissions", put_retransmissions},
    {"file", put_file},
    {"path", put_path},
    {"name", put_name_column},
    {"new_name", put_new_name},
    {"setattr", put_setattr},
    {"access_requested", put_access_requested},
    {"access_granted", put_access_granted},
    {"offset", put_offset},
    {"count", put_count},
    {"count_done", put_count_done},
};
#define COLUMNS (sizeof columns / sizeof columns[0])
_Static_assert(COLUMNS <= COLUMNS_AT_MOST, "a key for each column");

struct transaction_rows *
transaction_rows_new(enum rows_format format, const struct file_names *names,
                     FILE *out)
{
    struct transaction_rows *rows = malloc(sizeof *rows);
    size_t i;

    if (rows == NULL)
        return NULL;
    rows->format = format;
    rows->names = names;
    rows->out = out;
    rows->failed = false;
    rows->used = 0;
    for (i = 0; i < COLUMNS; i++)
        rows->key_lengths[i] = (size_t)snprintf(
            rows->keys[i], sizeof rows->keys[i], "%c\"%s\":",
            i > 0 ? ',' : '{', columns[i].name);
    for (i = 0; i < COLUMNS && format == ROWS_TSV; i++) {
        put_bytes(rows, "\t", i > 0);
        put_bytes(rows, columns[i].name, strlen(columns[i].name));
    }
    put_bytes(rows, "\n", format == ROWS_TSV);
    return rows;
}

void
transaction_rows_write(struct transaction_rows *rows,
                       const struct rpc_transaction *tx)
{
    size_t i;

    for (i = 0; i < COLUMNS && rows->format == ROWS_TSV; i++) {
        put_bytes(rows, "\t", i > 0);
        columns[i].put(rows, tx);
    }
    for (i = 0; i < COLUMNS && rows->format == ROWS_JSONL; i++) {
        put_bytes(rows, rows->keys[i], rows->key_lengths[i]);
        columns[i].put(rows, tx);
    }
    if (rows->format == ROWS_JSONL)
        put_bytes(rows, "}", 1);
    put_bytes(rows, "\n", 1);
}

int
transaction_rows_end(struct transaction_rows *rows)
{
    int result;

    flush_block(rows);
    result = rows->failed || fflush(rows->out) != 0 || ferror(rows->out) ? -1
                                                                        : 0;
    free(rows);
    return result;
}
