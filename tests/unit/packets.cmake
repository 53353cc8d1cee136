# SPDX-License-Identifier: GPL-3.0-or-later
# The packet half of the capture floor.
foreach(name capture files frame records tcp)
  nat_unit_test(test_packets_${name}
                ${CMAKE_CURRENT_LIST_DIR}/test_packets_${name}.c
                ${CMAKE_CURRENT_LIST_DIR}/packet_support.c
                LIBRARIES capture ZLIB::ZLIB PkgConfig::ZSTD)
endforeach()
