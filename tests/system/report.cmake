# SPDX-License-Identifier: GPL-3.0-or-later
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_test(NAME check_schemas
         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/check-schemas
                 $<TARGET_FILE:nfs-atime-test>)
add_test(NAME check_report
         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/check-report
                 $<TARGET_FILE:nfs-atime-test>)
add_test(NAME check_report_browser
         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/check-report
                 $<TARGET_FILE:nfs-atime-test> --browser)
add_test(NAME check_expect
         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/check-expect
                 $<TARGET_FILE:nfs-atime-test>)
add_test(NAME check_manual
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/check-manual
                 $<TARGET_FILE:nfs-atime-test> ${PROJECT_BINARY_DIR})
set_tests_properties(check_schemas check_report check_report_browser
                     check_expect check_manual PROPERTIES LABELS system SKIP_RETURN_CODE 77 TIMEOUT 600)
