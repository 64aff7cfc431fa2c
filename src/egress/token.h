/* token.h - which characters a field name may have (RFC 9110, 5.6.2), in heads and in trailers. */
#ifndef CK_EGRESS_TOKEN_H
#define CK_EGRESS_TOKEN_H

#include <stdbool.h>
#include <string.h>

/* strchr also finds the NUL that ends its string, so NUL is excluded. */
static inline bool ck_token_has(char c)
{
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return plain || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

#endif
