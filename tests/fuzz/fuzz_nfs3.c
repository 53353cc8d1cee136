/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bodies of NFSv3 and of what goes with it: NFSv2, MOUNT, NLM, NSM, NFSACL,
 * portmap and rpcbind. */
#include "tests/fuzz/fuzz_body.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        uint32_t program, version;
    } programs[] = {
        {SUNRPC_NFS, 3},   {SUNRPC_NFS, 2},     {SUNRPC_MOUNT, 3},
        {SUNRPC_MOUNT, 1}, {SUNRPC_NFSACL, 3},  {SUNRPC_NFSACL, 2},
        {SUNRPC_NLM, 4},   {SUNRPC_NLM, 3},     {SUNRPC_NSM, 1},
        {SUNRPC_PORTMAP, 2}, {SUNRPC_PORTMAP, 3}, {SUNRPC_PORTMAP, 4},
        {SUNRPC_NFS, 3},   {SUNRPC_NFS, 3},     {SUNRPC_NFS, 3},
        {SUNRPC_NFS, 3},
    };
    struct fuzz_input input = {data, size};
    uint32_t how = fuzz_number(&input, 1);
    uint32_t procedure = fuzz_number(&input, 1);
    fuzz_body(&input, (how & 16) != 0, false, programs[how & 15].program,
              programs[how & 15].version, procedure);
    return 0;
}
