/* base64.h - bytes as base64 (RFC 4648, with padding), for what JSON cannot hold as text. */
#ifndef CK_BASE_BASE64_H
#define CK_BASE_BASE64_H

#include <stddef.h>

/* Characters that length bytes become, with padding. */
#define CK_BASE64_LENGTH(length) (((length) + 2) / 3 * 4)

/* Writes CK_BASE64_LENGTH(length) characters, and no NUL. dst has room for them. */
void ck_base64_encode(char *dst, const char *bytes, size_t length);

#endif
