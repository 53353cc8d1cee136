/* SPDX-License-Identifier: GPL-3.0-or-later */
/* COMPOUNDs of NFSv4 in both directions. */
#include "tests/fuzz/fuzz_body.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint32_t how = fuzz_number(&input, 1);
    uint32_t procedure = fuzz_number(&input, 1);
    bool callback = (how & 1) != 0;
    fuzz_body(&input, (how & 16) != 0, callback,
              callback ? SUNRPC_NFS_CB : SUNRPC_NFS,
              callback && (how & 2) != 0 ? 1 : 4, procedure);
    return 0;
}
