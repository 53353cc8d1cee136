# SPDX-License-Identifier: GPL-3.0-or-later
# Captures of real traffic, what must not change their counts, and captures
# from elsewhere.
set(GOLDEN ${CMAKE_CURRENT_LIST_DIR})
set(CORPUS ${PROJECT_SOURCE_DIR}/../shared/corpus)
add_executable(golden_driver ${GOLDEN}/driver.c)
target_link_libraries(golden_driver PRIVATE analysis)

function(golden_test name)
  add_test(NAME golden_${name} COMMAND ${ARGN}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(golden_${name} PROPERTIES LABELS golden
                       SKIP_RETURN_CODE 77 TIMEOUT 600)
endfunction()

foreach(group golden by_hand tshark rows shapes links program repeated order
        snaplen dropped clocks nothing)
  golden_test(${group} ${GOLDEN}/properties $<TARGET_FILE:nfs-atime-test>
              $<TARGET_FILE:golden_driver> ${group})
endforeach()

# Cut at every byte, and every byte changed; of the larger ones the file
# reader sees every cut, and all behind it each packet's start and every
# 97th byte.
foreach(name exec3 exec4.1)
  golden_test(cut_${name} golden_driver cut ${GOLDEN}/${name}.pcap)
  golden_test(flip_${name} golden_driver flip ${GOLDEN}/${name}.pcap)
endforeach()
foreach(name nfs3 nfs4.0 nfs4.1 nfs4.2 nconnect test)
  golden_test(cut_${name} golden_driver cut ${GOLDEN}/${name}.pcap 997)
  golden_test(flip_${name} golden_driver flip ${GOLDEN}/${name}.pcap 397)
endforeach()

# Captures of others, when they are there.
golden_test(corpus ${GOLDEN}/compare-corpus $<TARGET_FILE:nfs-atime-test>
            ${CORPUS})
golden_test(robustness ${GOLDEN}/robustness $<TARGET_FILE:nfs-atime-test>
            ${CORPUS}/robustness.tar.zst)
