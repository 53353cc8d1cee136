/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/live_filter.h"

#include "client/util.h"

#include <stdbool.h>
#include <stdlib.h>

static bool
seen_before(const unsigned *ports, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (ports[i] == ports[index])
            return true;
    return false;
}

void
live_filter(const unsigned *ports, size_t count, char **tagged, char **plain)
{
    char *text = copy_text("");

    for (size_t i = 0; i < count; i++) {
        char *longer;

        if (seen_before(ports, i))
            continue;
        longer = format_text("%sport %u or ", text, ports[i]);
        free(text);
        text = longer;
    }
    *plain = format_text("%s(ip[6:2] & 0x1fff != 0) or (ip6[6] == 44)", text);
    free(text);
    /* Last, since "vlan" shifts what follows it. */
    *tagged = format_text("%s or (vlan and (%s))", *plain, *plain);
}
