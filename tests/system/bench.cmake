# SPDX-License-Identifier: GPL-3.0-or-later
# The benches in the lab.
if(SYSTEM_TESTS)
  add_test(NAME system_bench
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/lab --no-build
            --build-dir ${PROJECT_BINARY_DIR}
            --job ${CMAKE_CURRENT_LIST_DIR}/bench.job
            -o ${PROJECT_BINARY_DIR}/system-bench)
  set_tests_properties(system_bench PROPERTIES LABELS system TIMEOUT 900
                       RESOURCE_LOCK lab)
endif()
