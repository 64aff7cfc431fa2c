/*
 * dns.h - resolves names to addresses without blocking.
 *
 * Each gate has one resolver, made at its first look-up. So a run sees /etc/resolv.conf and
 * /etc/hosts of the machine as they are at that time, and its queries end with it. Only names that
 * a rule lists are looked up. Search domains and the environment of the process are ignored.
 */
#ifndef CK_EGRESS_DNS_H
#define CK_EGRESS_DNS_H

#include "base/destination.h"

#define CK_ADDRESSES_MAX 16

struct ck_dns_resolver;
struct ck_dns_query;

/*
 * The resolver wants this socket watched for these epoll events; 0: no longer, and it will be
 * closed.
 */
typedef void (*ck_dns_watch_fn)(void *data, int fd, unsigned events);

/*
 * The answer, from within ck_dns_resolver_lookup or later: 0 and at least one address, IPv4 first;
 * -ENOENT: the name does not exist, or has no address; -ETIMEDOUT; -ENOMEM; -EIO: the server
 * failed. Not called for a cancelled query.
 */
typedef void (*ck_dns_query_fn)(void *data, int status, const struct ck_address *addresses, size_t count);

/* 0, -ENOMEM or -EIO. */
int ck_dns_resolver_new(ck_dns_watch_fn watch, void *data, struct ck_dns_resolver **ret_resolver);
/* Cancels open queries. NULL is allowed. */
void ck_dns_resolver_free(struct ck_dns_resolver *resolver);

/*
 * Returns 0: the answer came or will come; *ret_query is NULL if it already came. -EAGAIN: too many
 * queries at once; -ENOMEM.
 */
int ck_dns_resolver_lookup(struct ck_dns_resolver *resolver, const char *name, ck_dns_query_fn answered, void *data,
                           struct ck_dns_query **ret_query);
void ck_dns_query_cancel(struct ck_dns_query *query);

/* A socket is ready. */
void ck_dns_resolver_ready(struct ck_dns_resolver *resolver, int fd, unsigned events);
/* The time until ck_dns_resolver_timed_out must be called, in nanoseconds; UINT64_MAX: never. */
uint64_t ck_dns_resolver_timeout_ns(const struct ck_dns_resolver *resolver);
void ck_dns_resolver_timed_out(struct ck_dns_resolver *resolver);

#endif
