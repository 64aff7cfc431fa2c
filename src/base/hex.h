/* hex.h - bytes as hexadecimal digits, in lower case. */
#ifndef CK_BASE_HEX_H
#define CK_BASE_HEX_H

#include <stddef.h>

/* Writes two digits for each byte, and a NUL. */
static inline void ck_hex_encode(char *dst, const unsigned char *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        *dst++ = digits[bytes[i] >> 4];
        *dst++ = digits[bytes[i] & 15];
    }
    *dst = '\0';
}

/* The value of a hexadecimal digit, in either case; -1 if it is not a digit. */
static inline int ck_hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

#endif
