/* base64.c - see base64.h. */
#include "base/base64.h"

#include <stdint.h>

void ck_base64_encode(char *dst, const char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *u = (const unsigned char *)bytes;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        /*
         * Three bytes are four digits of six bits; missing bytes count as 0, and '=' takes their
         * place.
         */
        uint32_t group = (uint32_t)u[i] << 16;
        group |= left > 1 ? (uint32_t)u[i + 1] << 8 : 0;
        group |= left > 2 ? u[i + 2] : 0;
        *dst++ = digits[group >> 18];
        *dst++ = digits[group >> 12 & 63];
        *dst++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *dst++ = left > 2 ? digits[group & 63] : '=';
    }
}
