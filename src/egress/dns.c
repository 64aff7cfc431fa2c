/*
 * dns.c - the resolver of a gate, built on c-ares.
 *
 * c-ares uses its own sockets, which the proxy's epoll watches. Settings that it would take from
 * its surroundings are disabled: search domains, host aliases ($HOSTALIASES), and the sorting of
 * addresses, which connects a socket to each address before anyone has checked it.
 */
#include "egress/dns.h"

#include <ares.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

/* At once per gate. A cancelled query counts until c-ares has answered it. */
#define QUERIES_MAX 1024
/* Of one try at one server; the dial deadline ends the look-up in any case. */
#define TRY_MS 3000
#define TRIES 3

/* One channel of c-ares, and who watches its sockets. */
struct ck_dns_resolver {
    ares_channel channel;
    ck_dns_watch_fn watch;
    void *data;
    size_t queries; /* not answered yet */
};

struct ck_dns_query {
    struct ck_dns_resolver *resolver;
    ck_dns_query_fn answered; /* NULL: no one waits any more */
    void *data;
    /* set to NULL if the answer comes while ck_dns_resolver_lookup is still running */
    struct ck_dns_query **place;
};

/* ares_library_init is not safe in two threads at once, and it is never undone. */
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void start_library(void)
{
    (void)ares_library_init(ARES_LIB_INIT_ALL);
}

/* c-ares wants to read, to write, or neither: then it closes the socket. */
static void on_socket(void *data, ares_socket_t fd, int readable, int writable)
{
    const struct ck_dns_resolver *resolver = data;
    resolver->watch(resolver->data, fd, (readable != 0 ? EPOLLIN : 0U) | (writable != 0 ? EPOLLOUT : 0U));
}

int ck_dns_resolver_new(ck_dns_watch_fn watch, void *data, struct ck_dns_resolver **ret_resolver)
{
    (void)pthread_once(&library_once, start_library);
    struct ck_dns_resolver *resolver = calloc(1, sizeof(*resolver));
    if (!resolver)
        return -ENOMEM;
    resolver->watch = watch;
    resolver->data = data;
    struct ares_options options = {
        .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
        .timeout = TRY_MS,
        .tries = TRIES,
        .ndots = 0,
        .ndomains = 0,
        .sock_state_cb = on_socket,
        .sock_state_cb_data = resolver,
    };
    char lookups[] = "fb"; /* /etc/hosts, then DNS */
    options.lookups = lookups;
    int status = ares_init_options(&resolver->channel, &options,
                                   ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
                                       ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB);
    if (status != ARES_SUCCESS) {
        free(resolver);
        return status == ARES_ENOMEM ? -ENOMEM : -EIO;
    }
    *ret_resolver = resolver;
    return 0;
}

void ck_dns_resolver_free(struct ck_dns_resolver *resolver)
{
    if (!resolver)
        return;
    /* answers every open query with ARES_EDESTRUCTION first, which frees it */
    ares_destroy(resolver->channel);
    free(resolver);
}

/* As dns.h lists them. Any other failure is of a server. */
static int to_errno(int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return 0;
    case ARES_ENODATA:
    case ARES_ENOTFOUND:
    case ARES_EBADNAME:
        return -ENOENT;
    case ARES_ETIMEOUT:
        return -ETIMEDOUT;
    case ARES_ENOMEM:
        return -ENOMEM;
    default:
        return -EIO;
    }
}

/* Adds the addresses of one family, up to the maximum. */
static size_t collect(const struct ares_addrinfo *info, int family, struct ck_address *addresses, size_t count)
{
    for (const struct ares_addrinfo_node *node = info->nodes; node && count < CK_ADDRESSES_MAX; node = node->ai_next) {
        if (node->ai_family != family)
            continue;
        struct ck_address *address = &addresses[count++];
        if (family == AF_INET) {
            address->length = 4;
            memcpy(address->bytes, &((const struct sockaddr_in *)(const void *)node->ai_addr)->sin_addr, 4);
        } else {
            address->length = 16;
            memcpy(address->bytes, &((const struct sockaddr_in6 *)(const void *)node->ai_addr)->sin6_addr, 16);
        }
    }
    return count;
}

static void on_answer(void *data, int status, int timeouts, struct ares_addrinfo *info)
{
    struct ck_dns_query *query = data;
    struct ck_address addresses[CK_ADDRESSES_MAX] = {0};
    size_t count = 0;
    (void)timeouts;
    if (info && status == ARES_SUCCESS) {
        /* IPv4 first, as dns.h promises */
        count = collect(info, AF_INET, addresses, 0);
        count = collect(info, AF_INET6, addresses, count);
    }
    ares_freeaddrinfo(info);
    query->resolver->queries--;
    if (query->place)
        *query->place = NULL;
    /* copied, because the query is freed before the callback, which may start another one */
    ck_dns_query_fn answered = query->answered;
    void *answered_data = query->data;
    free(query);
    int r = to_errno(status);
    if (answered)
        answered(answered_data, r == 0 && count == 0 ? -ENOENT : r, addresses, count);
}

int ck_dns_resolver_lookup(struct ck_dns_resolver *resolver, const char *name, ck_dns_query_fn answered, void *data,
                           struct ck_dns_query **ret_query)
{
    static const struct ares_addrinfo_hints hints = {
        .ai_flags = ARES_AI_NOSORT, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    if (resolver->queries >= QUERIES_MAX)
        return -EAGAIN;
    struct ck_dns_query *query = malloc(sizeof(*query));
    if (!query)
        return -ENOMEM;
    /*
     * If the answer comes within ares_getaddrinfo, on_answer frees the query and sets place to
     * NULL.
     */
    struct ck_dns_query *place = query;
    *query = (struct ck_dns_query){resolver, answered, data, &place};
    resolver->queries++;
    ares_getaddrinfo(resolver->channel, name, NULL, &hints, on_answer, query);
    if (place)
        place->place = NULL;
    *ret_query = place;
    return 0;
}

/* c-ares cannot cancel a single query. Its answer is ignored when it comes. */
void ck_dns_query_cancel(struct ck_dns_query *query)
{
    if (query)
        query->answered = NULL;
}

void ck_dns_resolver_ready(struct ck_dns_resolver *resolver, int fd, unsigned events)
{
    /* Errors count as readable: c-ares finds them by reading. */
    bool readable = (events & ~(unsigned)EPOLLOUT) != 0;
    ares_process_fd(resolver->channel, readable ? fd : ARES_SOCKET_BAD,
                    (events & EPOLLOUT) != 0 ? fd : ARES_SOCKET_BAD);
}

uint64_t ck_dns_resolver_timeout_ns(const struct ck_dns_resolver *resolver)
{
    struct timeval time;
    if (resolver->queries == 0 || !ares_timeout(resolver->channel, NULL, &time))
        return UINT64_MAX;
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_usec * 1000U;
}

void ck_dns_resolver_timed_out(struct ck_dns_resolver *resolver)
{
    ares_process_fd(resolver->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}
