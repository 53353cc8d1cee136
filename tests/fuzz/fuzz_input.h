/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fuzzer's input as what a target wants: numbers and runs of bytes, zeros
 * when it is used up. Runs are copied to memory of their exact size, so that
 * one byte too far is seen.
 */
#ifndef NAT_TESTS_FUZZ_INPUT_H
#define NAT_TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_input {
    const uint8_t *next;
    size_t left;
};

static inline uint32_t
fuzz_number(struct fuzz_input *input, unsigned bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0) {
        value <<= 8;
        if (input->left > 0) {
            value |= *input->next++;
            input->left--;
        }
    }
    return value;
}

/* At most `*length` bytes; *length becomes what there were. Free the result. */
static inline uint8_t *
fuzz_run(struct fuzz_input *input, uint32_t *length)
{
    if (*length > input->left) {
        *length = (uint32_t)input->left;
    }
    uint8_t *copy = malloc(*length > 0 ? *length : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, input->next, *length);
    input->next += *length;
    input->left -= *length;
    return copy;
}

/* Looks at every byte, so that what must not be read is found. */
static inline void
fuzz_look(const void *data, size_t length)
{
    const uint8_t *bytes = data;
    static volatile uint8_t sum;
    for (size_t i = 0; i < length; i++) {
        sum = (uint8_t)(sum + bytes[i]);
    }
}

#endif
