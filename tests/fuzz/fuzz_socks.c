/*
 * fuzz_socks.c - any bytes as the greeting of a SOCKS client and the request after it.
 *
 * Nothing is read beyond the given bytes; a complete message stays the same whatever follows; and a
 * host that is read is one that a rule could list.
 */
#include "promise.h"

#include "egress/socks.h"

#include <errno.h>
#include <string.h>

static ssize_t greet(const uint8_t *data, size_t size)
{
    struct ck_fault fault = {0};
    ssize_t used = ck_socks_greeting(data, size, &fault);
    require(used <= (ssize_t)size && (used >= 0 || (used == -EPROTO && fault.message)));
    return used;
}

static ssize_t request(const uint8_t *data, size_t size)
{
    struct ck_fault fault = {0};
    struct ck_hostname host, again;
    uint16_t port = 0;
    const char *why = NULL;
    ssize_t used = ck_socks_request(data, size, &host, &port, &fault);
    require(used <= (ssize_t)size && (used >= 0 || (used == -EPROTO && fault.message && fault.code != 0)));
    if (used > 0) {
        require(port != 0 && ck_destination_parse_host(host.text, strlen(host.text), &again, &why) == 0);
        require(again.numeric == host.numeric && strcmp(again.text, host.text) == 0);
    }
    return used;
}

/* The shortest beginning that has an answer has the answer of the whole. */
static ssize_t in_pieces(ssize_t (*read)(const uint8_t *, size_t), const uint8_t *data, size_t size)
{
    for (size_t length = 0; length <= size; length++) {
        uint8_t *exact = malloc(length + 1);
        require(exact);
        memcpy(exact, data, length);
        ssize_t used = read(exact, length);
        free(exact);
        if (used != 0)
            return used;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t nothing = 0;
    if (size == 0)
        data = &nothing;
    ssize_t used = greet(data, size);
    require(used == in_pieces(greet, data, size));
    if (used > 0)
        require(request(data + used, size - (size_t)used) == in_pieces(request, data + used, size - (size_t)used));
    return 0;
}
