/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* getifaddrs and IFF_LOOPBACK */
#include "client/interfaces.h"

#include "client/util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

int
address_parse(const char *text, unsigned port,
              struct sockaddr_storage *address, socklen_t *length)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;

    if (getaddrinfo(text, NULL, &hints, &found) != 0)
        return -1;
    memset(address, 0, sizeof(*address));
    memcpy(address, found->ai_addr, found->ai_addrlen);
    *length = found->ai_addrlen;
    freeaddrinfo(found);
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
    return 0;
}

void
address_format(const struct sockaddr *address, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";

    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

        inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
        snprintf(text, size, "[%s]:%u", host, ntohs(six->sin6_port));
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;

        inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
        snprintf(text, size, "%s:%u", host, ntohs(four->sin_port));
    }
}

static bool
same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a == NULL || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    if (a->sa_family == AF_INET6)
        return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                      &((const struct sockaddr_in6 *)b)->sin6_addr,
                      sizeof(struct in6_addr)) == 0;
    return false;
}

/* The name of the interface with that address, or "". */
static void
interface_of(const struct sockaddr *address, char *name, size_t size)
{
    struct ifaddrs *all;

    *name = '\0';
    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *next = all; next != NULL; next = next->ifa_next)
        if (same_address(next->ifa_addr, address)) {
            snprintf(name, size, "%s", next->ifa_name);
            break;
        }
    freeifaddrs(all);
}

static void
loopback_interface(char *name, size_t size)
{
    struct ifaddrs *all;

    snprintf(name, size, "lo");
    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *next = all; next != NULL; next = next->ifa_next)
        if ((next->ifa_flags & IFF_LOOPBACK) != 0) {
            snprintf(name, size, "%s", next->ifa_name);
            break;
        }
    freeifaddrs(all);
}

bool
address_is_local(const char *address)
{
    struct sockaddr_storage parsed;
    socklen_t length;
    char name[IF_NAMESIZE];

    if (address_parse(address, 0, &parsed, &length) != 0)
        return false;
    if (parsed.ss_family == AF_INET &&
        (ntohl(((struct sockaddr_in *)&parsed)->sin_addr.s_addr) >> 24) == 127)
        return true;
    interface_of((struct sockaddr *)&parsed, name, sizeof(name));
    return *name != '\0';
}

int
interface_to(const char *address, char *name, size_t size, char *error,
             size_t error_size)
{
    struct sockaddr_storage server, local;
    socklen_t length, local_length = sizeof(local);
    int result = -1, fd;

    if (address_parse(address, 2049, &server, &length) != 0)
        return set_error(error, error_size, "%s is not a network address",
                         address);
    if (address_is_local(address)) {
        loopback_interface(name, size);
        return 0;
    }
    fd = socket(server.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&server, length) == 0 &&
        getsockname(fd, (struct sockaddr *)&local, &local_length) == 0) {
        interface_of((struct sockaddr *)&local, name, size);
        result = *name != '\0' ? 0 : -1;
        errno = ENODEV;
    }
    if (result != 0)
        set_error(error, error_size,
                  "no route to the server %s: %s; name the interface by -i",
                  address, strerror(errno));
    if (fd >= 0)
        close(fd);
    return result;
}

void
interface_list(char *text, size_t size)
{
    struct if_nameindex *all = if_nameindex();
    size_t used = 0;

    snprintf(text, size, "none");
    for (struct if_nameindex *next = all;
         next != NULL && next->if_index != 0 && used < size; next++) {
        int wrote = snprintf(text + used, size - used, "%s%s",
                             used != 0 ? " " : "", next->if_name);

        used += wrote > 0 ? (size_t)wrote : 0;
    }
    if (all != NULL)
        if_freenameindex(all);
}

bool
interface_exists(const char *name)
{
    return strcmp(name, "any") == 0 || if_nametoindex(name) != 0;
}
