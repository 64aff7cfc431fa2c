/*
 * fuzz_stream.c - output of a tool as JSON lines (run --json --stream).
 *
 * The first byte of the input says how the rest is split into pieces. Every line must be JSON of at
 * most PIPE_BUF bytes without a control character, and text unless its bytes are not UTF-8. The
 * lines of text must be the output, where it is UTF-8.
 */
#include "base/quote.h"
#include "cli/stream.h"
#include "promise.h"

#include <jansson.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Compares the line with what is left of the output, and returns how much of it is in the line. */
static size_t check_line(const char *line, size_t length, const char *left, size_t left_length)
{
    json_error_t error;
    json_t *object = json_loadb(line, length, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    require(object && json_object_size(object) == 2);
    const char *stream = json_string_value(json_object_get(object, "stream"));
    require(stream && strcmp(stream, "stdout") == 0);
    const json_t *text = json_object_get(object, "text");
    const json_t *encoded = json_object_get(object, "base64");
    size_t used = 0;
    if (text) {
        used = json_string_length(text);
        require(used > 0 && used <= left_length && memcmp(json_string_value(text), left, used) == 0);
    } else {
        char expected[CK_BASE64_LENGTH(CK_STREAM_PIECE_MAX)];
        size_t characters = json_string_length(encoded);
        require(encoded && characters >= 4 && characters <= sizeof(expected));
        const char *value = json_string_value(encoded);
        used = characters / 4 * 3 - (value[characters - 1] == '=') - (value[characters - 2] == '=');
        require(used <= left_length && !ck_quote_utf8_valid(left, used));
        ck_base64_encode(expected, left, used);
        require(memcmp(expected, value, characters) == 0);
    }
    json_decref(object);
    return used;
}

static void check_lines(const char *lines, size_t size, const char *output, size_t length)
{
    for (size_t at = 0, end; at < size; at = end + 1) {
        for (end = at; end < size && lines[end] != '\n'; end++)
            require((unsigned char)lines[end] >= 0x20 && lines[end] != 0x7f);
        require(end < size && end - at < CK_STREAM_LINE_MAX);
        size_t used = check_line(lines + at, end - at, output, length);
        output += used;
        length -= used;
    }
    require(length == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ck_stream_writer writer;
    if (size == 0)
        return 0;
    size_t step = 1 + (size_t)data[0] * data[0];
    const char *output = (const char *)data + 1;
    size_t length = size - 1;
    int fd = memfd_create("lines", MFD_CLOEXEC);
    require(fd >= 0);
    struct ck_outlet outlet = CK_OUTLET(fd);
    ck_stream_init(&writer, &outlet);
    for (size_t at = 0; at < length; at += step)
        ck_stream_write(&writer, CHOKE_STDOUT, output + at, length - at < step ? length - at : step);
    ck_stream_end(&writer);
    require(outlet.error == 0 && writer.out.passed_bytes == length && writer.err.passed_bytes == 0);
    off_t written = lseek(fd, 0, SEEK_END);
    require(written >= 0);
    char *lines = malloc((size_t)written + 1);
    require(lines && pread(fd, lines, (size_t)written, 0) == written);
    check_lines(lines, (size_t)written, output, length);
    free(lines);
    (void)close(fd);
    return 0;
}
