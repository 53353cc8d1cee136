/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programs to exec, carried inside the executable, so that one file is
 * all that has to be brought to a machine.
 */
#ifndef NAT_CLIENT_PROGRAMS_EMBEDDED_H
#define NAT_CLIENT_PROGRAMS_EMBEDDED_H

#include <stddef.h>

struct embedded_program {
    const char *name; /* "static", "libc", "dynamic", "self_exec" */
    const unsigned char *bytes;
    size_t length;
};

/* NULL when there is none of that name. */
const struct embedded_program *embedded_program(const char *name);

#endif
