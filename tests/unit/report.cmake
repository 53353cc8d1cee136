# SPDX-License-Identifier: GPL-3.0-or-later
nat_unit_test(test_expect ${CMAKE_CURRENT_LIST_DIR}/test_expect.c
              LIBRARIES analysis)
nat_unit_test(test_gnuplot ${CMAKE_CURRENT_LIST_DIR}/test_gnuplot.c
              LIBRARIES analysis)
