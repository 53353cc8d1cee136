/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program of the 2003 measurements: main and what libc adds to it. */
int
main(void)
{
    return 0;
}
