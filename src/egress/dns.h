/*
 * dns.h - names into addresses, without waiting.
 *
 * One resolver for each gate, made at its first lookup: so a run sees the machine's /etc/resolv.conf and /etc/hosts as
 * they are then, and all its questions end with it. Only names that a rule lists come here; search domains and the
 * environment of the process have no say.
 */
#ifndef CK_EGRESS_DNS_H
#define CK_EGRESS_DNS_H

#include "base/destination.h"

#define CK_ADDRESSES_MAX 16

struct ck_dns_resolver;
struct ck_dns_query;

/* A socket of the resolver wants to be watched for these epoll events; 0: no longer, and it will be closed. */
typedef void (*ck_dns_watch_fn)(void *data, int fd, unsigned events);

/*
 * The answer, from ck_dns_resolver_lookup itself or later: 0 and at least one address, IPv4 first; -ENOENT: there is no such name,
 * or it has no address; -ETIMEDOUT; -ENOMEM; -EIO: the server failed. Not called for what was cancelled.
 */
typedef void (*ck_dns_query_fn)(void *data, int status, const struct ck_address *addresses, size_t count);

/* 0, -ENOMEM or -EIO. */
int ck_dns_resolver_new(ck_dns_watch_fn watch, void *data, struct ck_dns_resolver **ret_resolver);
/* Cancels what is open. NULL is fine. */
void ck_dns_resolver_free(struct ck_dns_resolver *resolver);

/*
 * 0: the answer has come or will come; *ret_query is NULL where it has come already. -EAGAIN: too many at once; -ENOMEM.
 */
int ck_dns_resolver_lookup(struct ck_dns_resolver *resolver, const char *name, ck_dns_query_fn answered, void *data,
                           struct ck_dns_query **ret_query);
void ck_dns_query_cancel(struct ck_dns_query *query);

/* A socket is ready. */
void ck_dns_resolver_ready(struct ck_dns_resolver *resolver, int fd, unsigned events);
/* When ck_dns_resolver_timed_out must be called at the latest, in nanoseconds from now; UINT64_MAX: never. */
uint64_t ck_dns_resolver_timeout_ns(const struct ck_dns_resolver *resolver);
void ck_dns_resolver_timed_out(struct ck_dns_resolver *resolver);

#endif
