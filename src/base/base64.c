/* base64.c - see base64.h. */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void ck_base64_encode(char *dst, const char *bytes, size_t length)
{
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

/* The six bits of a digit, or -1. */
static int value_of(char c)
{
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool ck_base64_decode(char *dst, size_t *ret_length, const char *text, size_t length)
{
    char *at = dst;

    if (length % 4 != 0)
        return false;
    for (size_t i = 0; i < length; i += 4) {
        /* Padding is at the end of the last group only: one or two characters. */
        size_t padding = i + 4 < length || text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
        uint32_t group = 0;
        for (size_t j = 0; j < 4; j++) {
            int value = j >= 4 - padding ? 0 : value_of(text[i + j]);
            if (value < 0)
                return false;
            group = group << 6 | (uint32_t)value;
        }
        for (unsigned shift = 16, left = 3 - (unsigned)padding; left > 0; shift -= 8, left--)
            *at++ = (char)(group >> shift & 255);
    }
    *ret_length = (size_t)(at - dst);
    return true;
}
