# SPDX-License-Identifier: GPL-3.0-or-later
# What pcap writes, and what it gives up before it reads.
add_test(NAME pcap_outputs
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/pcap_outputs
                 $<TARGET_FILE:nfs-atime-test>)
set_tests_properties(pcap_outputs PROPERTIES LABELS unit TIMEOUT 300)
nat_unit_test(test_pcap_sandbox ${CMAKE_CURRENT_LIST_DIR}/test_pcap_sandbox.c
              ${PROJECT_SOURCE_DIR}/tests/support/pcap_builder.c
              LIBRARIES client)
nat_unit_test(test_pcap_names ${CMAKE_CURRENT_LIST_DIR}/test_pcap_names.c
              ${CMAKE_CURRENT_LIST_DIR}/rpc_support.c
              LIBRARIES analysis)
