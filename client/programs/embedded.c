/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/programs/embedded.h"

#include <string.h>

/* PROGRAM_DIRECTORY comes from the build. */
#define EMBED(name)                                                           \
    __asm__(".pushsection .rodata\n"                                          \
            ".balign 16\n"                                                    \
            "embedded_" #name ":\n"                                           \
            ".incbin \"" PROGRAM_DIRECTORY "/" #name "\"\n"                   \
            "embedded_" #name "_end:\n"                                       \
            ".popsection\n");                                                 \
    extern const unsigned char embedded_##name[], embedded_##name##_end[]

EMBED(static);
EMBED(libc);
EMBED(dynamic);
EMBED(self_exec);

const struct embedded_program *
embedded_program(const char *name)
{
    static struct embedded_program programs[] = {
        {.name = "static", .bytes = embedded_static},
        {.name = "libc", .bytes = embedded_libc},
        {.name = "dynamic", .bytes = embedded_dynamic},
        {.name = "self_exec", .bytes = embedded_self_exec},
    };

    programs[0].length = (size_t)(embedded_static_end - embedded_static);
    programs[1].length = (size_t)(embedded_libc_end - embedded_libc);
    programs[2].length = (size_t)(embedded_dynamic_end - embedded_dynamic);
    programs[3].length =
        (size_t)(embedded_self_exec_end - embedded_self_exec);
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        if (strcmp(programs[i].name, name) == 0)
            return &programs[i];
    return NULL;
}
