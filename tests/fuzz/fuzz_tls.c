/*
 * fuzz_tls.c - any bytes as the first message of a TLS client.
 *
 * What is found does not change when more comes, nor when the same message is cut into records of one byte.
 */
#include "promise.h"

#include "egress/tls.h"

#include <string.h>

static enum ck_hello look(const uint8_t *data, size_t length, char name[CK_SNI_SIZE])
{
    uint8_t *exact = malloc(length + 1);
    require(exact != NULL);
    if (length > 0)
        memcpy(exact, data, length);
    memset(name, 0, CK_SNI_SIZE);
    enum ck_hello hello = ck_hello_read(exact, length, name);
    require(hello >= CK_HELLO_MORE && hello <= CK_HELLO_OTHER);
    require(memchr(name, '\0', CK_SNI_SIZE) != NULL && (hello == CK_HELLO_NAMED) == (name[0] != '\0'));
    free(exact);
    return hello;
}

/* The first record cut into records of one byte; NULL where it is not complete. */
static uint8_t *cut(const uint8_t *data, size_t length, size_t *ret_length)
{
    size_t bytes = length >= 5 ? (size_t)data[3] << 8 | data[4] : 0;
    if (bytes == 0 || length < 5 + bytes || bytes > 4096)
        return NULL;
    uint8_t *out = malloc(bytes * 6);
    require(out != NULL);
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t record[6] = {data[0], data[1], data[2], 0, 1, data[5 + i]};
        memcpy(out + i * 6, record, sizeof record);
    }
    *ret_length = bytes * 6;
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[CK_SNI_SIZE], other[CK_SNI_SIZE];
    enum ck_hello whole = look(data, size, name);
    enum ck_hello first = CK_HELLO_MORE;
    for (size_t length = 0; length <= size && length < 2048 && first == CK_HELLO_MORE; length++)
        first = look(data, length, other);
    size_t needed = ck_hello_needed(data, size);
    require((needed > size) == (whole == CK_HELLO_MORE) && (needed == 0 || needed > size));
    if (first != CK_HELLO_MORE)
        require(first == whole && strcmp(name, other) == 0);
    size_t length = 0;
    uint8_t *pieces = cut(data, size, &length);
    if (pieces != NULL && size == 5 + length / 6) {
        require(look(pieces, length, other) == whole);
        require(strcmp(name, other) == 0);
    }
    free(pieces);
    return 0;
}
