# SPDX-License-Identifier: GPL-3.0-or-later
add_test(NAME check_floors
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/check-floors)
