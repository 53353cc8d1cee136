# SPDX-License-Identifier: GPL-3.0-or-later
# The RPC half of the capture floor.
set(RPC_SUPPORT unit/rpc_support.c)
nat_unit_test(test_rpc_cursor unit/test_rpc_cursor.c ${RPC_SUPPORT}
              LIBRARIES capture)
nat_unit_test(test_rpc_message unit/test_rpc_message.c ${RPC_SUPPORT}
              LIBRARIES capture PkgConfig::TIRPC)
nat_unit_test(test_rpc_match unit/test_rpc_match.c ${RPC_SUPPORT}
              LIBRARIES capture)
nat_unit_test(test_rpc_nfs4 unit/test_rpc_nfs4.c unit/nfs4_samples.c
              ${RPC_SUPPORT} LIBRARIES capture)
nat_unit_test(test_rpc_nfs3 unit/test_rpc_nfs3.c ${RPC_SUPPORT}
              LIBRARIES capture)
nat_unit_test(test_rpc_names unit/test_rpc_names.c ${RPC_SUPPORT}
              LIBRARIES capture)
