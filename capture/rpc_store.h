/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of the calls that wait for their replies: blocks from a pool, given
 * back all together. In the steady state nothing comes from malloc.
 */
#ifndef NAT_CAPTURE_RPC_STORE_H
#define NAT_CAPTURE_RPC_STORE_H

#include <stddef.h>
#include <stdint.h>

#define RPC_STORE_CLASSES 5

struct rpc_store_block {
    struct rpc_store_block *next;
    uint32_t size_class;
    uint32_t used; /* bytes, this header counted */
};

/* Zero-initialise. */
struct rpc_store_pool {
    struct rpc_store_block *free[RPC_STORE_CLASSES];
    size_t in_use; /* bytes of the blocks given out */
};

/* What one call holds. Zero-initialise. */
struct rpc_store {
    struct rpc_store_block *head;
};

/* Bytes aligned for any type, not cleared. NULL when memory is short or more
 * than 64 KiB less a header are asked for. */
void *
rpc_store_alloc(struct rpc_store_pool *pool, struct rpc_store *store,
                size_t size);

/* Gives back everything of one call. */
void
rpc_store_release(struct rpc_store_pool *pool, struct rpc_store *store);

/* Gives the pool's free blocks to the system; those in use must have been
 * released. */
void
rpc_store_pool_free(struct rpc_store_pool *pool);

#endif
