/* base64.h - bytes as base64 (RFC 4648, with padding), for what JSON cannot hold as text. */
#ifndef CK_BASE_BASE64_H
#define CK_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Characters that length bytes become, with padding. */
#define CK_BASE64_LENGTH(length) (((length) + 2) / 3 * 4)

/* Writes CK_BASE64_LENGTH(length) characters, and no NUL. dst has room for them. */
void ck_base64_encode(char *dst, const char *bytes, size_t length);

/*
 * The bytes of text, which ck_base64_encode wrote: whole groups, with padding. dst has room for
 * three bytes of each four characters. False if it is not base64; dst is then undefined.
 */
bool ck_base64_decode(char *dst, size_t *ret_length, const char *text, size_t length);

#endif
