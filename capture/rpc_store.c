/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capture/rpc_store.h"

#include <stdlib.h>

#define ALIGNMENT 16

static const uint32_t class_size[RPC_STORE_CLASSES] = {512, 1024, 4096, 16384,
                                                       65536};

static struct rpc_store_block *
take_block(struct rpc_store_pool *pool, uint32_t size_class)
{
    struct rpc_store_block *block = pool->free[size_class];

    if (block != NULL) {
        pool->free[size_class] = block->next;
    } else {
        block = malloc(class_size[size_class]);
        if (block == NULL) {
            return NULL;
        }
        block->size_class = size_class;
    }
    block->used = sizeof(*block);
    pool->in_use += class_size[size_class];
    return block;
}

void *
rpc_store_alloc(struct rpc_store_pool *pool, struct rpc_store *store,
                size_t size)
{
    struct rpc_store_block *block = store->head;
    uint32_t size_class = 0;
    void *result;

    _Static_assert(sizeof(struct rpc_store_block) % ALIGNMENT == 0,
                   "what follows a block's header is aligned");
    if (size > class_size[RPC_STORE_CLASSES - 1] - sizeof(*block)) {
        return NULL;
    }
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (block == NULL || size > class_size[block->size_class] - block->used) {
        if (block != NULL) { /* a second block: more is likely to come */
            size_class = block->size_class < 2 ? block->size_class + 1 : 2;
        }
        while (class_size[size_class] - sizeof(*block) < size) {
            size_class++;
        }
        block = take_block(pool, size_class);
        if (block == NULL) {
            return NULL;
        }
        block->next = store->head;
        store->head = block;
    }
    result = (char *)block + block->used;
    block->used += (uint32_t)size;
    return result;
}

void
rpc_store_release(struct rpc_store_pool *pool, struct rpc_store *store)
{
    while (store->head != NULL) {
        struct rpc_store_block *block = store->head;

        store->head = block->next;
        pool->in_use -= class_size[block->size_class];
        block->next = pool->free[block->size_class];
        pool->free[block->size_class] = block;
    }
}

void
rpc_store_pool_free(struct rpc_store_pool *pool)
{
    for (unsigned i = 0; i < RPC_STORE_CLASSES; i++) {
        while (pool->free[i] != NULL) {
            struct rpc_store_block *block = pool->free[i];

            pool->free[i] = block->next;
            free(block);
        }
    }
}
