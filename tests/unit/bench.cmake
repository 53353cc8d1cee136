# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of the benches.
nat_unit_test(test_bench ${CMAKE_CURRENT_LIST_DIR}/test_bench.c
              LIBRARIES client)
add_test(NAME bench_commands
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/bench_commands.sh
          $<TARGET_FILE:nfs-atime-test>)
set_tests_properties(bench_commands PROPERTIES LABELS unit TIMEOUT 120)
