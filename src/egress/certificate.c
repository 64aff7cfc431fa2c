/* certificate.c - finds two extensions of a certificate. See certificate.h. */
#include "egress/certificate.h"

#include <stdbool.h>
#include <string.h>

enum { BOOLEAN = 0x01, OCTETS = 0x04, OBJECT = 0x06, SEQUENCE = 0x30, EXTENSIONS = 0xa3 };

struct slice {
    const uint8_t *at;
    size_t length;
};

struct certificate_oid {
    uint8_t bytes[8];
    size_t length;
};

static const struct certificate_oid extended_key_usage = {{0x55, 0x1d, 0x25}, 3};
static const struct certificate_oid name_constraints = {{0x55, 0x1d, 0x1e}, 3};
static const struct certificate_oid any_use = {{0x55, 0x1d, 0x25, 0x00}, 4};
static const struct certificate_oid server_use = {{0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01}, 8};

static bool is(struct slice found, const struct certificate_oid *oid)
{
    return found.length == oid->length && memcmp(found.at, oid->bytes, oid->length) == 0;
}

/* The next item, whatever its tag. Lengths have at most three bytes, and are definite. */
static bool next(struct slice *from, uint8_t *ret_tag, struct slice *ret_content)
{
    if (from->length < 2)
        return false;
    size_t head = 2, length = from->at[1];
    if (length >= 0x80) {
        size_t bytes = length & 0x7f;
        if (bytes < 1 || bytes > 3 || from->length < 2 + bytes)
            return false;
        length = 0;
        for (size_t i = 0; i < bytes; i++)
            length = length << 8 | from->at[2 + i];
        head += bytes;
    }
    if (length > from->length - head)
        return false;
    *ret_tag = from->at[0];
    *ret_content = (struct slice){from->at + head, length};
    from->at += head + length;
    from->length -= head + length;
    return true;
}

static bool next_is(struct slice *from, uint8_t tag, struct slice *ret_content)
{
    uint8_t found = 0;
    return next(from, &found, ret_content) && found == tag;
}

static enum ck_certificate_use read_uses(struct slice value)
{
    struct slice uses, use;
    bool hosts = false;
    if (!next_is(&value, SEQUENCE, &uses))
        return CK_CERTIFICATE_UNREADABLE;
    while (uses.length > 0) {
        if (!next_is(&uses, OBJECT, &use))
            return CK_CERTIFICATE_UNREADABLE;
        hosts = hosts || is(use, &server_use) || is(use, &any_use);
    }
    return hosts ? CK_CERTIFICATE_HOSTS : CK_CERTIFICATE_OTHER_USES;
}

static enum ck_certificate_use read_extension(struct slice extension)
{
    struct slice name, value;
    uint8_t tag = 0;
    if (!next_is(&extension, OBJECT, &name) || !next(&extension, &tag, &value))
        return CK_CERTIFICATE_UNREADABLE;
    if (tag == BOOLEAN && !next(&extension, &tag, &value)) /* critical */
        return CK_CERTIFICATE_UNREADABLE;
    if (tag != OCTETS)
        return CK_CERTIFICATE_UNREADABLE;
    if (is(name, &name_constraints))
        return CK_CERTIFICATE_CERTAIN_NAMES;
    return is(name, &extended_key_usage) ? read_uses(value) : CK_CERTIFICATE_HOSTS;
}

static enum ck_certificate_use read_extensions(struct slice wrapped)
{
    struct slice all, one;
    enum ck_certificate_use use = CK_CERTIFICATE_HOSTS;
    if (!next_is(&wrapped, SEQUENCE, &all))
        return CK_CERTIFICATE_UNREADABLE;
    while (use == CK_CERTIFICATE_HOSTS && all.length > 0)
        use = next_is(&all, SEQUENCE, &one) ? read_extension(one) : CK_CERTIFICATE_UNREADABLE;
    return use;
}

/* Certificate and what is signed of it; without extensions it may be used for everything. */
enum ck_certificate_use ck_certificate_read_use(const uint8_t *der, size_t length)
{
    struct slice whole = {der, length}, certificate, body, item;
    if (!next_is(&whole, SEQUENCE, &certificate) || !next_is(&certificate, SEQUENCE, &body))
        return CK_CERTIFICATE_UNREADABLE;
    while (body.length > 0) {
        uint8_t tag = 0;
        if (!next(&body, &tag, &item))
            return CK_CERTIFICATE_UNREADABLE;
        if (tag == EXTENSIONS)
            return read_extensions(item);
    }
    return CK_CERTIFICATE_HOSTS;
}
