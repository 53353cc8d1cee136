/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* getifaddrs, IFF_LOOPBACK, rtnetlink */
#include "client/interfaces.h"

#include "client/util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
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

/* The interface in an answer to RTM_GETROUTE, rtnetlink(7). @return 0, or -1
 * with errno. */
static int
answered_interface(const unsigned char *bytes, size_t length, char *name)
{
    size_t at = NLMSG_SPACE(sizeof(struct rtmsg));
    struct nlmsghdr header;
    struct rtattr attribute;
    unsigned index;

    errno = EPROTO;
    if (length < sizeof(header))
        return -1;
    memcpy(&header, bytes, sizeof(header));
    if (header.nlmsg_type == NLMSG_ERROR &&
        length >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        struct nlmsgerr problem;

        memcpy(&problem, bytes + NLMSG_HDRLEN, sizeof(problem));
        errno = -problem.error;
        return -1;
    }
    for (; at + RTA_LENGTH(sizeof(index)) <= length;
         at += RTA_ALIGN(attribute.rta_len)) {
        memcpy(&attribute, bytes + at, sizeof(attribute));
        if (attribute.rta_len < sizeof(attribute))
            return -1;
        if (attribute.rta_type != RTA_OIF)
            continue;
        memcpy(&index, bytes + at + RTA_LENGTH(0), sizeof(index));
        return if_indextoname(index, name) != NULL ? 0 : -1;
    }
    errno = ENODEV;
    return -1;
}

/* The kernel's word on where a packet to that address leaves. By the source
 * address alone it could not be told: that may be another interface's, or
 * several may have it. @return 0, or -1 with errno. */
static int
routed_interface(const struct sockaddr_storage *to, char *name)
{
    struct {
        struct nlmsghdr header;
        struct rtmsg route;
        struct rtattr attribute;
        unsigned char address[sizeof(struct in6_addr)];
    } request;
    const bool six = to->ss_family == AF_INET6;
    const size_t length = six ? sizeof(struct in6_addr)
                              : sizeof(struct in_addr);
    unsigned char answer[4096];
    ssize_t got = -1;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd < 0)
        return -1;
    memset(&request, 0, sizeof(request));
    request.header.nlmsg_type = RTM_GETROUTE;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.header.nlmsg_len = (uint32_t)(
        offsetof(__typeof__(request), address) + length);
    request.route.rtm_family = (unsigned char)to->ss_family;
    request.route.rtm_dst_len = (unsigned char)(8 * length);
    request.attribute.rta_type = RTA_DST;
    request.attribute.rta_len = (unsigned short)RTA_LENGTH(length);
    memcpy(request.address,
           six ? (const void *)&((const struct sockaddr_in6 *)to)->sin6_addr
               : (const void *)&((const struct sockaddr_in *)to)->sin_addr,
           length);
    if (send(fd, &request, request.header.nlmsg_len, 0) >= 0)
        got = recv(fd, answer, sizeof(answer), 0);
    close(fd);
    return got < 0 ? -1 : answered_interface(answer, (size_t)got, name);
}

int
interface_to(const char *address, char *name, size_t size, char *error,
             size_t error_size)
{
    struct sockaddr_storage server;
    socklen_t length;
    char found[IF_NAMESIZE];
    unsigned scope = 0;

    if (address_parse(address, 2049, &server, &length) != 0)
        return set_error(error, error_size, "%s is not a network address",
                         address);
    if (address_is_local(address)) {
        loopback_interface(name, size);
        return 0;
    }
    if (server.ss_family == AF_INET6)
        scope = ((struct sockaddr_in6 *)&server)->sin6_scope_id;
    /* fe80::1%eth0 says it itself. */
    if (scope != 0 ? if_indextoname(scope, found) == NULL
                   : routed_interface(&server, found) != 0)
        return set_error(error, error_size,
                         "no route to the server %s: %s; name the interface "
                         "by -i", address, strerror(errno));
    snprintf(name, size, "%s", found);
    return 0;
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
