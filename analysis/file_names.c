/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * Two tables of sets of WAYS entries each, the newest entry of a full set
 * taking the place of the oldest. `known` finds by handle what it is called
 * and in which directory; `places` finds by (directory, name) which handle is
 * there, which only RENAME asks for. Entries hold hashes of handles: two
 * files share a name by mistake once in 2^64 pairs.
 *
 * A path is put together from the entry up to the root when it is asked for,
 * so that a renamed directory takes its files along.
 */
#include "analysis/file_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETS 8192 /* a power of two */
#define WAYS 4
#define LONGEST 255 /* bytes of a name that are kept: NAME_MAX */
#define DEEPEST 32

enum {
    MOUNT_MNT = 1, /* RFC 1813 section 5.2.1 */
    RENAME2 = 11,  /* RFC 1094 section 2.2.12 */
    RENAME3 = 14,
    LINK2 = 12,
    LINK3 = 15,
    LINK4 = 11,
    PUTROOTFH4 = 24,
    GETFH4 = 10,
    OPEN4 = 18,
    RENAME4 = 29,
};

struct known {
    uint64_t handle;    /* 0: empty */
    uint64_t directory; /* 0: not known */
    uint64_t stamp;     /* when learned or confirmed */
    bool root;          /* the name is a path of its own */
    uint8_t length;
    char *name;
};

struct place {
    uint64_t key; /* 0: empty */
    uint64_t handle;
    uint64_t stamp;
};

struct file_names {
    uint64_t stamp;
    uint64_t forgotten;
    struct known known[SETS][WAYS];
    struct place places[SETS][WAYS];
};

struct file_names *
file_names_new(void)
{
    return calloc(1, sizeof(struct file_names));
}

void
file_names_free(struct file_names *names)
{
    size_t i;

    if (names == NULL)
        return;
    for (i = 0; i < (size_t)SETS * WAYS; i++)
        free(names->known[i / WAYS][i % WAYS].name);
    free(names);
}

uint64_t
file_names_forgotten(const struct file_names *names)
{
    return names->forgotten;
}

/* --- the tables --------------------------------------------------------------- */

static size_t
set_of(uint64_t key)
{
    return (size_t)((key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15) >> 40) &
           (SETS - 1);
}

static const struct known *
find(const struct file_names *names, uint64_t handle)
{
    const struct known *set = names->known[set_of(handle)];
    size_t i;

    for (i = 0; i < WAYS; i++)
        if (set[i].handle == handle && handle != 0)
            return &set[i];
    return NULL;
}

static uint64_t
place_key(uint64_t directory, const char *name, size_t length)
{
    uint64_t key = directory ^ UINT64_C(0xcbf29ce484222325);
    size_t i;

    for (i = 0; i < length; i++)
        key = (key ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return key != 0 ? key : 1;
}

static void
note_place(struct file_names *names, uint64_t key, uint64_t handle)
{
    struct place *set = names->places[set_of(key)], *chosen = &set[0];
    size_t i;

    for (i = 0; i < WAYS; i++) {
        if (set[i].key == key) {
            chosen = &set[i];
            break;
        }
        if (set[i].stamp < chosen->stamp)
            chosen = &set[i];
    }
    chosen->key = key;
    chosen->handle = handle;
    chosen->stamp = names->stamp;
}

static bool
is_called(const struct known *entry, uint64_t directory, const char *name,
          size_t length, bool root)
{
    return entry->directory == directory && entry->length == length &&
           entry->root == root && memcmp(entry->name, name, length) == 0;
}

/* The handle is called `name` in `directory`. */
static void
learn(struct file_names *names, uint64_t handle, uint64_t directory,
      const char *name, size_t length, bool root)
{
    struct known *set, *chosen;
    char *copy;
    size_t i;

    if (handle == 0 || name == NULL || length == 0 || handle == directory ||
        (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.'))))
        return;
    if (length > LONGEST)
        length = LONGEST;
    set = names->known[set_of(handle)];
    chosen = &set[0];
    for (i = 0; i < WAYS; i++) {
        if (set[i].handle == handle) {
            chosen = &set[i];
            break;
        }
        if (set[i].stamp < chosen->stamp)
            chosen = &set[i];
    }
    names->stamp++;
    if (chosen->handle == handle &&
        (is_called(chosen, directory, name, length, root) ||
         (chosen->root && !root) || (directory == 0 && !root))) {
        chosen->stamp = names->stamp; /* as before, or known better */
        return;
    }
    copy = malloc(length);
    if (copy == NULL)
        return;
    memcpy(copy, name, length);
    names->forgotten += chosen->handle != 0 && chosen->handle != handle;
    free(chosen->name);
    chosen->handle = handle;
    chosen->directory = directory;
    chosen->name = copy;
    chosen->length = (uint8_t)length;
    chosen->root = root;
    chosen->stamp = names->stamp;
    if (directory != 0)
        note_place(names, place_key(directory, name, length), handle);
}

static void
renamed(struct file_names *names, const struct nfs_detail *detail)
{
    const uint64_t key =
        place_key(detail->handle.hash, detail->name,
                  detail->name_length < LONGEST ? detail->name_length
                                                : LONGEST);
    struct place *set = names->places[set_of(key)];
    size_t i;

    for (i = 0; i < WAYS; i++) {
        const uint64_t handle = set[i].handle;

        if (set[i].key != key)
            continue;
        set[i] = (struct place){0};
        learn(names, handle, detail->result_handle.hash, detail->new_name,
              detail->new_name_length, false);
        return;
    }
}

/* --- transactions -------------------------------------------------------------- */

static void
learn_operation(struct file_names *names, const struct rpc_transaction *tx,
                const struct rpc_operation *operation)
{
    const struct nfs_detail *detail = operation->detail;
    const uint32_t rename = tx->version == 4   ? RENAME4
                            : tx->version == 3 ? RENAME3
                                               : RENAME2;
    const uint32_t link = tx->version == 4   ? LINK4
                          : tx->version == 3 ? LINK3
                                             : LINK2;
    uint32_t i;

    if (operation->number == rename) {
        if (detail->name_length > 0 && detail->handle.hash != 0 &&
            detail->result_handle.hash != 0)
            renamed(names, detail);
        return;
    }
    if (operation->number == link)
        return; /* it keeps the name it has */
    learn(names, detail->result_handle.hash, detail->handle.hash,
          detail->name, detail->name_length, false);
    for (i = 0; i < detail->entry_count; i++)
        learn(names, detail->entries[i].handle, detail->handle.hash,
              detail->entries[i].name, detail->entries[i].name_length, false);
}

/* PUTROOTFH and then GETFH: the root of the server's name space. */
static void
learn_root(struct file_names *names, const struct rpc_transaction *tx)
{
    uint32_t i;

    for (i = 0; i + 1 < tx->operation_count; i++)
        if (tx->operations[i].number == PUTROOTFH4 &&
            tx->operations[i + 1].number == GETFH4 &&
            tx->operations[i + 1].detail != NULL)
            learn(names, tx->operations[i + 1].detail->result_handle.hash, 0,
                  "/", 1, true);
}

void
file_names_learn(struct file_names *names, const struct rpc_transaction *tx)
{
    uint32_t i;

    if (tx->outcome != RPC_REPLIED || (tx->flags & RPC_TX_CALLBACK) != 0)
        return;
    if (tx->program == SUNRPC_MOUNT && tx->procedure == MOUNT_MNT &&
        tx->operation_count == 1 && tx->operations[0].detail != NULL) {
        const struct nfs_detail *detail = tx->operations[0].detail;

        learn(names, detail->result_handle.hash, 0, detail->name,
              detail->name_length, true);
    }
    if (tx->program != SUNRPC_NFS)
        return;
    for (i = 0; i < tx->operation_count; i++)
        if (tx->operations[i].detail != NULL &&
            (tx->operations[i].flags & RPC_OP_IN_REPLY) != 0 &&
            tx->operations[i].status == 0)
            learn_operation(names, tx, &tx->operations[i]);
    if (tx->version == 4)
        learn_root(names, tx);
}

uint64_t
transaction_file(const struct rpc_transaction *tx, uint32_t operation)
{
    uint64_t first = 0;
    uint32_t i;

    for (i = 0; i < tx->operation_count; i++) {
        const struct nfs_detail *detail = tx->operations[i].detail;

        if (detail == NULL || detail->handle.hash == 0)
            continue;
        if (tx->version == 4 && operation == OPEN4 &&
            tx->operations[i].number == OPEN4 &&
            detail->result_handle.hash != 0)
            return detail->result_handle.hash;
        if (tx->operations[i].number == operation)
            return detail->handle.hash;
        if (first == 0)
            first = detail->handle.hash;
    }
    return first;
}

/* --- paths ----------------------------------------------------------------------- */

struct path {
    char *text;
    size_t size, start; /* written from the end backwards */
    bool cut;
};

static void
put_before(struct path *path, const char *text, size_t length)
{
    if (path->cut || length + 3 > path->start) { /* room for "..." */
        path->cut = true;
        return;
    }
    path->start -= length;
    memcpy(path->text + path->start, text, length);
}

static size_t
escape_name(const struct known *entry, enum escape_for target, char *out,
            size_t size)
{
    size_t used = 0, from = 0, i;

    for (i = 0; i <= entry->length; i++) {
        if (i < entry->length && (entry->root || entry->name[i] != '/'))
            continue;
        used += escape_bytes(target, entry->name + from, i - from, out + used,
                             size - used);
        if (i < entry->length && size - used > 4)
            used += (size_t)snprintf(out + used, size - used, "\\x2f");
        from = i + 1;
    }
    return used;
}

static void
put_unnamed(struct path *path, uint64_t handle)
{
    char text[24];

    snprintf(text, sizeof text, "[%08x]", (unsigned)(handle >> 32));
    put_before(path, text, strlen(text));
}

bool
file_names_path(const struct file_names *names, uint64_t handle,
                enum escape_for target, char *text, size_t size)
{
    struct path path = {text, size, size - 1, false};
    const struct known *entry = find(names, handle);
    char escaped[6 * LONGEST + 8];
    bool first = true;
    unsigned depth;

    text[size - 1] = '\0';
    for (depth = 0; entry != NULL && depth < DEEPEST && !path.cut; depth++) {
        size_t length = escape_name(entry, target, escaped, sizeof escaped);

        /* A root is a path: without its own slash at the end. */
        if (entry->root && !first && escaped[length - 1] == '/')
            length--;
        put_before(&path, escaped, length);
        handle = entry->root ? 0 : entry->directory;
        first = false;
        if (entry->root)
            break;
        put_before(&path, "/", 1);
        entry = find(names, handle);
        if (entry == NULL && handle == 0)
            put_before(&path, "?", 1);
    }
    path.cut |= depth == DEEPEST;
    if (handle != 0 && !path.cut)
        put_unnamed(&path, handle);
    if (path.cut && path.start >= 3) {
        path.start -= 3;
        memcpy(text + path.start, "...", 3);
    }
    memmove(text, text + path.start, size - path.start);
    return !first;
}
