/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * This machine's network interfaces and which of them leads to a server.
 */
#ifndef NAT_CLIENT_INTERFACES_H
#define NAT_CLIENT_INTERFACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* A numeric IPv4 or IPv6 address, perhaps with %scope, and a port.
 * @return 0 or -1: not an address. */
int address_parse(const char *text, unsigned port,
                  struct sockaddr_storage *address, socklen_t *length);
/* "10.77.0.1:901" or "[fd00::1]:901". */
void address_format(const struct sockaddr *address, char *text, size_t size);
/* Does an interface of this network namespace have that address? */
bool address_is_local(const char *address);

/*
 * The interface by which packets to the address leave, by the kernel's route;
 * loopback for own addresses. Never "any", which shows a packet once for each
 * interface that it passes.
 * @return 0, or -1 with one line in error.
 */
int interface_to(const char *address, char *name, size_t size, char *error,
                 size_t error_size);
/* "lo eth0 wlan0", for messages. */
void interface_list(char *text, size_t size);
bool interface_exists(const char *name);

#endif
