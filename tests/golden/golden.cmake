# SPDX-License-Identifier: GPL-3.0-or-later
# Captures of real traffic, what must not change their counts, and captures
# from elsewhere.
add_executable(golden_driver ${CMAKE_CURRENT_LIST_DIR}/driver.c)
target_link_libraries(golden_driver PRIVATE analysis)
