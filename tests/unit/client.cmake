# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of the client floor.
nat_unit_test(test_client_mount unit/test_client_mount.c LIBRARIES client)
nat_unit_test(test_client_exec unit/test_client_exec.c LIBRARIES client)
nat_unit_test(test_client_plan unit/test_client_plan.c LIBRARIES client)
nat_unit_test(test_client_recorder unit/test_client_recorder.c
              LIBRARIES client PkgConfig::PCAP)

# On interfaces of a network namespace of its own.
add_executable(test_client_live unit/test_client_live.c
               ${PROJECT_SOURCE_DIR}/tests/support/pcap_builder.c)
target_link_libraries(test_client_live PRIVATE client PkgConfig::CMOCKA)
add_test(NAME client_live
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/client_live.sh
          $<TARGET_FILE:test_client_live>)
set_tests_properties(client_live PROPERTIES LABELS system
                     SKIP_RETURN_CODE 77 TIMEOUT 120)

# Against a real server, in a network namespace of its own.
add_executable(test_client_probe unit/test_client_probe.c)
target_link_libraries(test_client_probe PRIVATE client PkgConfig::CMOCKA)
foreach(minors "0,1,2" "1,2")
  string(REPLACE "," "" name ${minors})
  add_test(NAME client_probe_${name}
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/client_probe.sh
            $<TARGET_FILE:test_client_probe> ${minors})
  set_tests_properties(client_probe_${name} PROPERTIES LABELS system
                       SKIP_RETURN_CODE 77 TIMEOUT 120)
endforeach()
add_test(NAME client_command_line
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/client_command_line.sh
          $<TARGET_FILE:nfs-atime-test>)
set_tests_properties(client_command_line PROPERTIES LABELS unit TIMEOUT 120)
