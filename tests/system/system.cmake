# SPDX-License-Identifier: GPL-3.0-or-later
add_test(NAME check_floors
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/check-floors)
add_test(NAME check_scripts
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/check-scripts)

# Where DuckDB is: npm install --ignore-scripts --prefix DIR @duckdb/node-api
set(DUCKDB_MODULES ${CMAKE_BINARY_DIR} CACHE PATH "the DIR of it")
file(GLOB GOLDEN_CAPTURES ${PROJECT_SOURCE_DIR}/tests/golden/*.pcap)
find_program(NODE node)
if(NODE)
  add_test(NAME check_duckdb
           COMMAND ${NODE} ${CMAKE_CURRENT_LIST_DIR}/check-duckdb
                   $<TARGET_FILE:nfs-atime-test> ${DUCKDB_MODULES}
                   ${GOLDEN_CAPTURES})
  set_tests_properties(check_duckdb PROPERTIES LABELS system
                       SKIP_RETURN_CODE 77 TIMEOUT 120)
endif()

# The lab. The first of these builds the program as a user has it (no
# sanitizers) and the guest's image, the others take both.
option(SYSTEM_TESTS "Run the virtual machine and the fuzzers in ctest" OFF)
if(SYSTEM_TESTS)
  foreach(what ready acceptance repeat permissions failures foreign)
    add_test(NAME lab_${what}
             COMMAND ${CMAKE_CURRENT_LIST_DIR}/check-lab
                     ${CMAKE_BINARY_DIR}/lab ${what})
    set_tests_properties(lab_${what} PROPERTIES LABELS "system;lab"
                         SKIP_RETURN_CODE 77 TIMEOUT 1200)
    if(what STREQUAL ready)
      set_tests_properties(lab_ready PROPERTIES FIXTURES_SETUP lab)
    else()
      set_tests_properties(lab_${what} PROPERTIES FIXTURES_REQUIRED lab)
    endif()
  endforeach()
  # Alone on the machine: see there.
  set_tests_properties(lab_repeat PROPERTIES RUN_SERIAL ON)
  # The longest first, so that the others fit beside it.
  set_tests_properties(lab_acceptance PROPERTIES COST 1000)
endif()
