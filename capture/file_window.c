/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * A mapping of WINDOW bytes, populated at once (a page fault for every few
 * pages would cost more than the packets in them), moved forward when the
 * reader comes to its end. The one before it stays until the next move, so
 * that another thread can be at work on it. Resident memory is that of two.
 *
 * Whoever truncates a mapped file turns the lost pages into SIGBUS. The
 * handler puts zero pages over the rest of the window and notes it; the
 * reader finds the note when it next moves the window. A SIGBUS from
 * anywhere else has its default effect. Windows are registered in a small
 * table that the handler can read without locks.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_POPULATE */
#include "capture/file_window.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

#define WINDOW ((size_t)8 << 20)
#define MAX_WINDOWS 8

struct mapping {
    uint8_t *start;
    size_t size;
};

struct file_window {
    int fd;
    unsigned slot;
    size_t page;
    uint64_t file_size;
    unsigned current;
    struct mapping maps[2];
};

/* What the handler may look at. */
struct visible {
    atomic_uintptr_t start[2];
    atomic_size_t size[2];
    atomic_bool shrank;
    atomic_bool taken;
};

static struct visible visible[MAX_WINDOWS];
static atomic_size_t page_size;

static void
on_bus_error(int signal_number, siginfo_t *info, void *unused)
{
    (void)unused;
    uintptr_t address = (uintptr_t)info->si_addr;
    for (unsigned i = 0; i < 2 * MAX_WINDOWS; i++) {
        struct visible *slot = &visible[i / 2];
        uintptr_t start = atomic_load(&slot->start[i % 2]);
        size_t size = atomic_load(&slot->size[i % 2]);
        if (start == 0 || address < start || address >= start + size) {
            continue;
        }
        uintptr_t from = address & ~((uintptr_t)atomic_load(&page_size) - 1);
        void *zeros = mmap((void *)from, start + size - from, PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros != MAP_FAILED) {
            atomic_store(&slot->shrank, true);
            return;
        }
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Puts the handler in place; again for each window, since others may have
 * put theirs there. */
static bool
guard(void)
{
    long size = sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_sigaction = on_bus_error,
                               .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    atomic_store(&page_size, size > 0 ? (size_t)size : 0);
    return size > 0 && sigaction(SIGBUS, &action, NULL) == 0;
}

struct file_window *
file_window_new(int fd, uint64_t file_size)
{
    if (!guard()) {
        return NULL;
    }
    for (unsigned i = 0; i < MAX_WINDOWS; i++) {
        if (atomic_exchange(&visible[i].taken, true)) {
            continue;
        }
        struct file_window *window = calloc(1, sizeof *window);
        if (window == NULL) {
            atomic_store(&visible[i].taken, false);
            return NULL;
        }
        window->fd = fd;
        window->slot = i;
        window->page = atomic_load(&page_size);
        window->file_size = file_size;
        atomic_store(&visible[i].shrank, false);
        return window;
    }
    return NULL;
}

static void
unmap(struct file_window *window, unsigned which)
{
    struct mapping *map = &window->maps[which];
    if (map->start != NULL) {
        atomic_store(&visible[window->slot].start[which], 0);
        munmap(map->start, map->size);
        map->start = NULL;
    }
}

void
file_window_free(struct file_window *window)
{
    if (window != NULL) {
        unmap(window, 0);
        unmap(window, 1);
        atomic_store(&visible[window->slot].taken, false);
        free(window);
    }
}

const uint8_t *
file_window_at(struct file_window *window, uint64_t offset, size_t want,
               size_t *size)
{
    unsigned which = 1 - window->current;
    unmap(window, which);
    window->current = which;
    *size = 0;
    if (offset >= window->file_size) {
        return NULL;
    }
    size_t lead = (size_t)(offset % window->page);
    uint64_t rest = window->file_size - offset;
    size_t length = want > WINDOW ? want : WINDOW;
    if (length > rest) {
        length = (size_t)rest;
    }
    void *map = mmap(NULL, lead + length, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
                     window->fd, (off_t)(offset - lead));
    if (map == MAP_FAILED) {
        return NULL;
    }
    window->maps[which] = (struct mapping){map, lead + length};
    struct visible *slot = &visible[window->slot];
    atomic_store(&slot->size[which], (lead + length + window->page - 1) /
                                         window->page * window->page);
    atomic_store(&slot->start[which], (uintptr_t)map);
    *size = length;
    return window->maps[which].start + lead;
}

bool
file_window_shrank(const struct file_window *window)
{
    return atomic_load(&visible[window->slot].shrank);
}
