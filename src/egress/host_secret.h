/*
 * host_secret.h - headers that the proxy adds to the requests for one host each, over TLS
 * (docs/adr/0140).
 *
 * The value of such a header is a secret: the tool that makes the request never has it. It is in
 * memory that is locked, not dumped, and wiped when the last holder releases the list. It is written
 * into records of TLS (tls_client.h), and nowhere else.
 *
 *   1. ck_host_secrets_new, then for each header ck_host_secrets_parse and ck_host_secrets_add.
 *   2. The list belongs to everyone who holds it: a gate, and who made it. It does not change any
 *      more, but for the counts.
 *   3. ck_host_secrets_apply says of a request that it is for such a host.
 */
#ifndef CK_EGRESS_HOST_SECRET_H
#define CK_EGRESS_HOST_SECRET_H

#include "base/destination.h"

#define CK_HOST_SECRETS_MAX 16
#define CK_HOST_SECRET_NAME_MAX 64
#define CK_HOST_SECRET_VALUE_MAX ((size_t)8192)
#define CK_HOST_SECRET_NAMES_SIZE (CK_HOST_SECRETS_MAX * (CK_HOST_SECRET_NAME_MAX + 1))

struct ck_authorities;
struct ck_http_request;

struct ck_host_secret {
    struct ck_hostname host; /* never an address: certificates are verified for names */
    uint16_t port;           /* of TLS */
    char name[CK_HOST_SECRET_NAME_MAX + 1];
    char *line; /* "NAME: VALUE\r\n", in protected memory */
    size_t length;
    uint64_t requests; /* to which it was added */
};

struct ck_host_secrets {
    unsigned holders;
    size_t count;
    struct ck_host_secret items[CK_HOST_SECRETS_MAX];
    struct ck_authorities *authorities; /* that certificates of these hosts are verified with */
};

/* Protected memory of this size, zero-filled, and its end, which wipes it. NULL: no memory. */
void *ck_host_secret_memory(size_t size);
void ck_host_secret_memory_done(void *memory);

/* Empty, with one holder. NULL: no memory. */
struct ck_host_secrets *ck_host_secrets_new(void);
struct ck_host_secrets *ck_host_secrets_hold(struct ck_host_secrets *secrets); /* NULL is fine */
void ck_host_secrets_release(struct ck_host_secrets *secrets);                 /* NULL is fine */

/*
 * Reads "HOST[:PORT],HEADER=FILE": fills the host, the port (443 without one) and the name.
 * *ret_file points into the text. Returns 0, or -EINVAL and in *ret_reason what follows "it ".
 */
int ck_host_secret_parse(const char *text, struct ck_host_secret *ret_secret, const char **ret_file,
                         const char **ret_reason);

/*
 * Adds a header that was parsed, with this value, which is copied. Returns 0; -EINVAL and
 * *ret_reason, which never quotes the value: what follows "it "; -ENOMEM.
 */
int ck_host_secrets_add(struct ck_host_secrets *secrets, const struct ck_host_secret *parsed, const char *value,
                        size_t length, const char **ret_reason);

/*
 * The port of TLS of one of these hosts, or 0. A host is meant by its port, and port 443 by port 80
 * too: that is http:// without a port.
 */
uint16_t ck_host_secrets_port(const struct ck_host_secrets *secrets, const struct ck_hostname *host, uint16_t port);

/* Is the request for one of these hosts? Then its `secrets` is the list, and its port that of TLS. */
void ck_host_secrets_apply(const struct ck_host_secrets *secrets, struct ck_http_request *request);

/* Is it a header for this host? Then the tool's own copy is left out. '_' and '-' are the same. */
bool ck_host_secret_is_for(const struct ck_host_secret *secret, const struct ck_hostname *host, uint16_t port);
bool ck_host_secret_is_named(const struct ck_host_secret *secret, const char *name, size_t length);

/* The names of the headers for this host, separated by commas. */
void ck_host_secrets_names(const struct ck_host_secrets *secrets, const struct ck_hostname *host, uint16_t port,
                           char ret_names[CK_HOST_SECRET_NAMES_SIZE]);

#endif
