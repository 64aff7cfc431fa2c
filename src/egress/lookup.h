/*
 * lookup.h - names into addresses, without waiting.
 *
 * One resolver for each gate, made at its first lookup: so a run sees the machine's /etc/resolv.conf and /etc/hosts as
 * they are then, and all its questions end with it. Only names that a rule lists come here; search domains and the
 * environment of the process have no say.
 */
#ifndef CK_EGRESS_LOOKUP_H
#define CK_EGRESS_LOOKUP_H

#include "base/destination.h"

#define CK_ADDRESSES_MAX 16

struct ck_resolver;
struct ck_query;

/* A socket of the resolver wants to be watched for these epoll events; 0: no longer, and it will be closed. */
typedef void (*ck_resolver_watch_fn)(void *data, int fd, unsigned events);

/*
 * The answer, from ck_resolver_ask itself or later: 0 and at least one address, IPv4 first; -ENOENT: there is no such name,
 * or it has no address; -ETIMEDOUT; -ENOMEM; -EIO: the server failed. Not called for what was cancelled.
 */
typedef void (*ck_query_fn)(void *data, int status, const struct ck_address *addresses, size_t count);

/* 0, -ENOMEM or -EIO. */
int ck_resolver_new(ck_resolver_watch_fn watch, void *data, struct ck_resolver **ret_resolver);
/* Cancels what is open. NULL is fine. */
void ck_resolver_free(struct ck_resolver *resolver);

/*
 * 0: the answer has come or will come; *ret_query is NULL where it has come already. -EAGAIN: too many at once; -ENOMEM.
 */
int ck_resolver_ask(struct ck_resolver *resolver, const char *name, ck_query_fn answered, void *data,
                    struct ck_query **ret_query);
void ck_query_cancel(struct ck_query *query);

/* A socket is ready. */
void ck_resolver_ready(struct ck_resolver *resolver, int fd, unsigned events);
/* When ck_resolver_late must be called at the latest, in nanoseconds from now; UINT64_MAX: never. */
uint64_t ck_resolver_patience_ns(const struct ck_resolver *resolver);
void ck_resolver_late(struct ck_resolver *resolver);

#endif
