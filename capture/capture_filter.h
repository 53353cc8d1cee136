/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A capture filter in libpcap's language (pcap-filter(7)), applied to packets
 * that come from files of any link type.
 */
#ifndef NAT_CAPTURE_CAPTURE_FILTER_H
#define NAT_CAPTURE_CAPTURE_FILTER_H

#include "capture/pcap_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_filter;

/*
 * Checks the expression for Ethernet; compiled for other link types when they
 * turn up.
 *
 * @return NULL with one line in `error`, libpcap's own words in it.
 */
struct capture_filter *
capture_filter_new(const char *expression, char *error, size_t error_size);
void
capture_filter_free(struct capture_filter *filter);

/* Does it pass? False also for a link type it cannot be compiled for. */
bool
capture_filter_match(struct capture_filter *filter,
                     const struct packet *packet);

#endif
