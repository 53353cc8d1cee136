# SPDX-License-Identifier: GPL-3.0-or-later
nat_unit_test(test_run_file ${CMAKE_CURRENT_LIST_DIR}/test_run_file.c
              LIBRARIES analysis)
nat_unit_test(test_escape ${CMAKE_CURRENT_LIST_DIR}/test_escape.c
              LIBRARIES analysis)
nat_unit_test(test_exec_window ${CMAKE_CURRENT_LIST_DIR}/test_exec_window.c
              ${PROJECT_SOURCE_DIR}/tests/support/pcap_builder.c
              LIBRARIES analysis)
nat_unit_test(test_statistics ${CMAKE_CURRENT_LIST_DIR}/test_statistics.c
              LIBRARIES analysis)
nat_unit_test(test_statistics_ministat
              ${CMAKE_CURRENT_LIST_DIR}/test_statistics_ministat.c
              LIBRARIES analysis)
nat_unit_test(test_statistics_seeds
              ${CMAKE_CURRENT_LIST_DIR}/test_statistics_seeds.c
              LIBRARIES analysis)
nat_unit_test(test_statistics_compare
              ${CMAKE_CURRENT_LIST_DIR}/test_statistics_compare.c
              LIBRARIES analysis)
nat_unit_test(test_statistics_command
              ${CMAKE_CURRENT_LIST_DIR}/test_statistics_command.c
              ${PROJECT_SOURCE_DIR}/client/cmd_compare.c
              LIBRARIES client analysis)
target_compile_definitions(test_statistics_command PRIVATE
  NAT_VERSION="${PROJECT_VERSION}")
nat_unit_test(test_reasons_wait
              ${CMAKE_CURRENT_LIST_DIR}/test_reasons_wait.c
              ${CMAKE_CURRENT_LIST_DIR}/synthetic_run.c
              LIBRARIES analysis)
nat_unit_test(test_reasons_atime
              ${CMAKE_CURRENT_LIST_DIR}/test_reasons_atime.c
              ${CMAKE_CURRENT_LIST_DIR}/synthetic_run.c
              LIBRARIES analysis)
