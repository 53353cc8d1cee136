/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* strsep */
#include "client/nfs_mount.h"

#include "client/interfaces.h"
#include "client/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOUNTINFO "/proc/self/mountinfo"
#define NFS_PORT 2049

/* --- mountinfo ------------------------------------------------------------ */

/* Undoes \040 and the like in place, proc(5). */
static void
unescape(char *text)
{
    char *out = text;

    while (*text != '\0') {
        if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' &&
            text[2] >= '0' && text[2] <= '7' && text[3] >= '0' &&
            text[3] <= '7') {
            *out++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 +
                            (text[3] - '0'));
            text += 4;
        } else {
            *out++ = *text++;
        }
    }
    *out = '\0';
}

/* The next field of the line, or NULL. */
static char *
next_field(char **line)
{
    return strsep(line, " ");
}

/* The options of the mount and then those of the file system that are not
 * there yet ("rw" stands in both). */
static char *
join_options(const char *first, char *second)
{
    char *joined = copy_text(first), *option;

    while ((option = strsep(&second, ",")) != NULL) {
        char *longer;

        if (*option == '\0' || (strchr(option, '=') == NULL &&
                                mount_option(joined, option, NULL, 0)))
            continue;
        longer = format_text("%s,%s", joined, option);
        free(joined);
        joined = longer;
    }
    return joined;
}

/*
 * 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=...
 * @return 0 or -1: not of that form.
 */
static int
parse_line(char *line, struct mount_entry *entry)
{
    char *numbers, *root, *point, *mount_options, *field, *type, *device,
        *super_options;

    if (next_field(&line) == NULL || next_field(&line) == NULL)
        return -1;
    numbers = next_field(&line);
    root = next_field(&line);
    point = next_field(&line);
    mount_options = next_field(&line);
    if (mount_options == NULL ||
        sscanf(numbers, "%u:%u", &entry->major, &entry->minor) != 2)
        return -1;
    do
        field = next_field(&line);
    while (field != NULL && strcmp(field, "-") != 0);
    type = next_field(&line);
    device = next_field(&line);
    super_options = next_field(&line);
    if (field == NULL || super_options == NULL)
        return -1;
    unescape(root);
    unescape(point);
    unescape(device);
    entry->root = copy_text(root);
    entry->mount_point = copy_text(point);
    entry->type = copy_text(type);
    entry->device = copy_text(device);
    entry->options = join_options(mount_options, super_options);
    return 0;
}

int
mount_table_parse(const char *text, struct mount_table *table, char *error,
                  size_t error_size)
{
    char *copy = copy_text(text), *rest = copy, *line;
    unsigned number = 0;
    int result = 0;

    memset(table, 0, sizeof(*table));
    while (result == 0 && (line = strsep(&rest, "\n")) != NULL) {
        number++;
        if (*line == '\0')
            continue;
        table->items = grow_memory(table->items, table->length + 1,
                                   sizeof(*table->items));
        memset(&table->items[table->length], 0, sizeof(*table->items));
        if (parse_line(line, &table->items[table->length]) != 0)
            result = set_error(error, error_size,
                               MOUNTINFO ": line %u is not of the form of "
                               "proc(5)", number);
        else
            table->length++;
    }
    free(copy);
    if (result != 0)
        mount_table_free(table);
    return result;
}

int
mount_table_read(struct mount_table *table, char *error, size_t error_size)
{
    char *text = read_text_file(MOUNTINFO, NULL);
    int result;

    memset(table, 0, sizeof(*table));
    if (text == NULL)
        return set_error(error, error_size, MOUNTINFO ": %s", strerror(errno));
    result = mount_table_parse(text, table, error, error_size);
    free(text);
    return result;
}

void
mount_table_free(struct mount_table *table)
{
    for (size_t i = 0; i < table->length; i++) {
        free(table->items[i].root);
        free(table->items[i].mount_point);
        free(table->items[i].type);
        free(table->items[i].device);
        free(table->items[i].options);
    }
    free(table->items);
    memset(table, 0, sizeof(*table));
}

/* Is path the directory itself or below it? */
static bool
lies_under(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    if (length > 0 && directory[length - 1] == '/')
        length--; /* "/" */
    return strncmp(path, directory, length) == 0 &&
           (path[length] == '/' || path[length] == '\0');
}

const struct mount_entry *
mount_table_find(const struct mount_table *table, const char *path)
{
    const struct mount_entry *best = NULL;

    for (size_t i = 0; i < table->length; i++) {
        const struct mount_entry *entry = &table->items[i];

        if (lies_under(path, entry->mount_point) &&
            (best == NULL ||
             strlen(entry->mount_point) >= strlen(best->mount_point)))
            best = entry;
    }
    return best;
}

bool
mount_is_nfs(const struct mount_entry *entry)
{
    return strcmp(entry->type, "nfs") == 0 || strcmp(entry->type, "nfs4") == 0;
}

/* --- options -------------------------------------------------------------- */

bool
mount_option(const char *options, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    const char *option = options;
    bool found = false;

    while (option != NULL && *option != '\0') {
        const char *end = strchr(option, ',');
        size_t whole = end != NULL ? (size_t)(end - option) : strlen(option);

        if (whole >= length && strncmp(option, name, length) == 0 &&
            (whole == length || option[length] == '=')) {
            size_t skip = whole == length ? length : length + 1;

            found = true; /* the file system's, which come last, prevail */
            if (value != NULL && size > 0)
                snprintf(value, size, "%.*s", (int)(whole - skip),
                         option + skip);
        }
        option = end != NULL ? end + 1 : NULL;
    }
    return found;
}

const char *
mount_idle_atime_option(const char *options)
{
    /* Linux shows relatime on every mount that did not ask for anything
     * else, so only what somebody must have asked for is worth a word. */
    static const char *const names[] = {"noatime", "strictatime",
                                        "nodiratime", "lazytime"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (mount_option(options, names[i], NULL, 0))
            return names[i];
    return NULL;
}

static unsigned
option_number(const char *options, const char *name, unsigned otherwise)
{
    char text[32], *end;
    unsigned long number;

    if (!mount_option(options, name, text, sizeof(text)))
        return otherwise;
    number = strtoul(text, &end, 10);
    return *end == '\0' && number > 0 && number < 65536 ? (unsigned)number
                                                        : otherwise;
}

/* "server:/path" with the server perhaps an [IPv6] address. */
static const char *
path_of_device(const char *device)
{
    const char *colon = *device == '[' ? strstr(device, "]:") : NULL;

    colon = colon != NULL ? colon + 1 : strchr(device, ':');
    /* An unbracketed IPv6 address: the path starts at the last ":/". */
    for (const char *next = colon; next != NULL;
         next = strstr(next + 1, ":/"))
        if (next[0] == ':' && next[1] == '/') {
            colon = next;
            break;
        }
    return colon != NULL && colon[1] != '\0' ? colon + 1 : "/";
}

/* Does this kernel answer READ and WRITE of a server of its own without the
 * wire (LOCALIO, Linux 6.12)? */
static bool
localio_possible(bool same_host)
{
    char *enabled =
        read_text_file("/sys/module/nfs/parameters/localio_enabled", NULL);
    bool on = enabled != NULL && (*enabled == 'Y' || *enabled == '1');

    free(enabled);
    /* A server in another network namespace is the same kernel as well. */
    return on && (same_host || access("/sys/module/nfsd", F_OK) == 0);
}

static void
describe_wire(const char *options, struct run_filesystem *filesystem)
{
    char value[64];

    filesystem->wire_shows_all = false;
    if (strncmp(filesystem->transport, "rdma", 4) == 0)
        filesystem->why_not = copy_text(
            "the transport is RDMA, which a packet capture does not show");
    else if (mount_option(options, "xprtsec", value, sizeof(value)) &&
             strcmp(value, "none") != 0)
        filesystem->why_not = format_text(
            "the transport is encrypted (xprtsec=%s)", value);
    else if (strcmp(filesystem->security, "krb5p") == 0)
        filesystem->why_not = copy_text(
            "sec=krb5p: arguments and results are encrypted");
    else if (localio_possible(filesystem->same_host))
        filesystem->why_not = copy_text(
            "the server runs on this kernel and LOCALIO is enabled: READ, "
            "WRITE and COMMIT may not use the wire "
            "(nfs.localio_enabled=N turns it off)");
    else
        filesystem->wire_shows_all = true;
}

static void
describe_nfs(const struct mount_entry *entry,
             struct run_filesystem *filesystem)
{
    char value[256];
    const char *options = entry->options;

    if (mount_option(options, "addr", value, sizeof(value)))
        filesystem->server_address = copy_text(value);
    filesystem->server_path = copy_text(path_of_device(entry->device));
    filesystem->version = copy_text(
        mount_option(options, "vers", value, sizeof(value)) ? value
        : strcmp(entry->type, "nfs4") == 0                  ? "4"
                                                            : "3");
    filesystem->transport = copy_text(
        mount_option(options, "proto", value, sizeof(value)) ? value : "tcp");
    filesystem->port = option_number(options, "port", NFS_PORT);
    filesystem->nconnect = option_number(options, "nconnect", 1);
    filesystem->security = copy_text(
        mount_option(options, "sec", value, sizeof(value)) ? value : "sys");
    filesystem->same_host = filesystem->server_address != NULL &&
                            address_is_local(filesystem->server_address);
    describe_wire(options, filesystem);
}

void
mount_describe(const struct mount_entry *entry,
               struct run_filesystem *filesystem)
{
    filesystem->kind =
        mount_is_nfs(entry) ? FILESYSTEM_NFS : FILESYSTEM_LOCAL;
    filesystem->mount_point = copy_text(entry->mount_point);
    filesystem->device = copy_text(entry->device);
    filesystem->type = copy_text(entry->type);
    filesystem->options = copy_text(entry->options);
    filesystem->wire_shows_all = true;
    if (filesystem->kind == FILESYSTEM_NFS)
        describe_nfs(entry, filesystem);
}

void
mount_forget(struct run_filesystem *filesystem)
{
    char **texts[] = {
        &filesystem->mount_point, &filesystem->device,
        &filesystem->type,        &filesystem->options,
        &filesystem->why_not,     &filesystem->server_address,
        &filesystem->server_path, &filesystem->version,
        &filesystem->transport,   &filesystem->security,
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        free(*texts[i]);
        *texts[i] = NULL;
    }
}
