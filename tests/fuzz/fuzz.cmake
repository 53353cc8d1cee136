# SPDX-License-Identifier: GPL-3.0-or-later
# The fuzz targets (libFuzzer, which comes with clang). With FUZZ they are
# built here; other builds with SYSTEM_TESTS build them in a directory of
# their own and run each for FUZZ_SECONDS.
set(FUZZ_SECONDS 60 CACHE STRING "How long a test runs each fuzz target")
set(FUZZ_TARGETS capture_file frame tcp_stream rpc_message nfs3 nfs4 run_file)
# Sensible lengths of their inputs, in bytes.
set(FUZZ_LENGTH_capture_file 4096)
set(FUZZ_LENGTH_frame 2048)
set(FUZZ_LENGTH_tcp_stream 4096)
set(FUZZ_LENGTH_rpc_message 4096)
set(FUZZ_LENGTH_nfs3 1536)
set(FUZZ_LENGTH_nfs4 1536)
set(FUZZ_LENGTH_run_file 16384)

if(FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
  endif()
  foreach(target capture analysis)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endforeach()
  foreach(name ${FUZZ_TARGETS})
    add_executable(fuzz_${name} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${name}.c)
    target_link_libraries(fuzz_${name} PRIVATE analysis)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    list(APPEND FUZZ_PROGRAMS fuzz_${name})
  endforeach()
  add_custom_target(fuzz DEPENDS ${FUZZ_PROGRAMS})
elseif(SYSTEM_TESTS)
  set(FUZZ_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/fuzz)
  add_test(NAME fuzz_build
           COMMAND ${FUZZ_SCRIPT} build ${CMAKE_BINARY_DIR}/fuzz)
  set_tests_properties(fuzz_build PROPERTIES LABELS fuzz TIMEOUT 900
                       SKIP_RETURN_CODE 77 FIXTURES_SETUP fuzz_programs)
  math(EXPR FUZZ_LIMIT "${FUZZ_SECONDS} * 2 + 120")
  foreach(name ${FUZZ_TARGETS})
    add_test(NAME fuzz_${name}
             COMMAND ${FUZZ_SCRIPT} run ${CMAKE_BINARY_DIR}/fuzz ${name}
                     ${FUZZ_LENGTH_${name}} -max_total_time=${FUZZ_SECONDS})
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz
                         TIMEOUT ${FUZZ_LIMIT} SKIP_RETURN_CODE 77
                         FIXTURES_REQUIRED fuzz_programs)
  endforeach()
endif()
