/* test_cli_stream.c - output as JSON lines: whatever the bytes and the pieces, a reader gets the bytes back. */
#include "cli/stream.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(literal) (literal), sizeof(literal) - 1

/* Decodes what ck_base64_encode writes; only for these tests. */
static size_t decode(const char *text, char *ret_bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = 0;
    uint32_t bits = 0;
    for (size_t i = 0; text[i] != '\0' && text[i] != '='; i++) {
        const char *digit = strchr(digits, text[i]);
        assert_non_null(digit);
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4 > 0)
            ret_bytes[length++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xff);
    }
    return length;
}

/* One line without its newline: adds its bytes to ret, and returns whether it is text. */
static bool read_line(const char *line, size_t length, const char *stream, char *ret, size_t *used)
{
    json_error_t error;
    json_t *object = json_loadb(line, length, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    assert_non_null(object);
    assert_int_equal(json_object_size(object), 2);
    assert_string_equal(json_string_value(json_object_get(object, "stream")), stream);
    const json_t *text = json_object_get(object, "text");
    if (text) {
        memcpy(ret + *used, json_string_value(text), json_string_length(text));
        *used += json_string_length(text);
    } else {
        *used += decode(json_string_value(json_object_get(object, "base64")), ret + *used);
    }
    json_decref(object);
    return !!text;
}

/* What a reader of the lines in file_fd gets. ret has room for it. */
static size_t read_lines(int file_fd, const char *stream, char *ret, bool *ret_all_text)
{
    off_t size = lseek(file_fd, 0, SEEK_END);
    assert_true(size >= 0);
    char *lines = malloc((size_t)size + 1);
    assert_non_null(lines);
    assert_int_equal(pread(file_fd, lines, (size_t)size, 0), size);
    size_t used = 0;
    *ret_all_text = true;
    for (size_t at = 0; at < (size_t)size;) {
        const char *end = memchr(lines + at, '\n', (size_t)size - at);
        assert_non_null(end);
        size_t length = (size_t)(end - lines) - at;
        assert_true(length + 1 <= CK_STREAM_LINE_MAX);
        for (size_t i = 0; i < length; i++)
            assert_true((unsigned char)lines[at + i] >= 0x20);
        if (!read_line(lines + at, length, stream, ret, &used))
            *ret_all_text = false;
        at += length + 1;
    }
    free(lines);
    return used;
}

/* Writes data in pieces of step bytes. Returns whether every line was text. */
static bool check(const char *data, size_t length, size_t step)
{
    int fd = memfd_create("lines", MFD_CLOEXEC);
    assert_true(fd >= 0);
    struct ck_outlet outlet = CK_OUTLET(fd);
    static struct ck_stream_writer writer;
    ck_stream_init(&writer, &outlet);
    for (size_t at = 0; at < length; at += step)
        ck_stream_write(&writer, CHOKE_STDERR, data + at, length - at < step ? length - at : step);
    ck_stream_end(&writer);
    char *back = malloc(length + 4);
    assert_non_null(back);
    bool all_text;
    size_t used = read_lines(fd, "stderr", back, &all_text);
    assert_int_equal(used, length);
    assert_memory_equal(back, data, length);
    assert_int_equal(writer.err.passed_bytes, length);
    assert_int_equal(writer.out.passed_bytes, 0);
    free(back);
    (void)close(fd);
    return all_text;
}

static const struct {
    const char *data;
    size_t length;
    bool text;
} rows[] = {
    {BYTES(""), true},
    {BYTES("plain\n"), true},
    {BYTES("\0\0a\0"), true},
    {BYTES("\"}\n{\"outcome\":\"exited\"}\n"), true},
    {BYTES("\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82"), true},
    {BYTES("\x7f\xc2\x85\xe2\x80\xa8\xef\xbb\xbf"), true},
    {BYTES("\xf4\x8f\xbf\xbf\xef\xbf\xbe"), true},
    {BYTES("a\xc3"), false},
    {BYTES("\xe2\x82"), false},
    {BYTES("\xf0\x9f\x99"), false},
    {BYTES("\xc3\xc3\xa4"), false},
    {BYTES("\xa4"), false},
    {BYTES("\x80\x80\x80\x80\x80"), false},
    {BYTES("\xc0\xaf"), false},
    {BYTES("\xed\xa0\x80"), false},
    {BYTES("\xf5\x80\x80\x80"), false},
    {BYTES("\xff"), false},
};

static void text_is_text_however_it_is_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t step = 1; step < 8; step++)
            if (check(rows[i].data, rows[i].length, step) != rows[i].text)
                fail_msg("row %zu, step %zu", i, step);
}

/* Each row again and again, so that pieces and lines end at every place in it. */
static void long_output_is_split_between_characters(void **state)
{
    (void)state;
    char *data = malloc(20000);
    assert_non_null(data);
    for (size_t i = 1; i < COUNT(rows); i++) {
        if (!rows[i].text)
            continue;
        for (size_t pad = 0; pad < 5; pad++) {
            size_t length = pad;
            memset(data, 'x', pad);
            for (; length + rows[i].length <= 12000; length += rows[i].length)
                memcpy(data + length, rows[i].data, rows[i].length);
            assert_true(check(data, length, 20000));
            assert_true(check(data, length, 1));
            assert_true(check(data, length, 3025));
        }
    }
    free(data);
}

static size_t next_random(uint64_t *seed, size_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(*seed >> 33) % below;
}

static void random_bytes_come_back(void **state)
{
    (void)state;
    uint64_t seed = 48;
    char *data = malloc(10000);
    assert_non_null(data);
    for (int i = 0; i < 1000; i++) {
        size_t length = next_random(&seed, 10000);
        for (size_t at = 0; at < length;) {
            /* Parts of characters, and sometimes any byte. */
            size_t row = next_random(&seed, COUNT(rows) + 1);
            if (row == COUNT(rows) || rows[row].length == 0) {
                data[at++] = (char)next_random(&seed, 256);
                continue;
            }
            size_t n = rows[row].length < length - at ? rows[row].length : length - at;
            memcpy(data + at, rows[row].data, n);
            at += n;
        }
        (void)check(data, length, 1 + next_random(&seed, 5000));
    }
    free(data);
}

/* The reader does not read: what is in the pipe are whole lines, and exactly what is counted. */
static void dropped_lines_are_not_counted(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct ck_outlet outlet = CK_OUTLET(ends[1]);
    static struct ck_stream_writer writer;
    ck_outlet_deadline(&outlet, 0);
    ck_stream_init(&writer, &outlet);
    static char data[300000];
    memset(data, 'x', sizeof(data));
    ck_stream_write(&writer, CHOKE_STDERR, data, sizeof(data));
    ck_stream_end(&writer);
    assert_true(outlet.cut && outlet.error == 0);
    (void)close(ends[1]);

    int fd = memfd_create("lines", MFD_CLOEXEC);
    static char piece[65536];
    static char back[sizeof(data)];
    for (ssize_t n; (n = read(ends[0], piece, sizeof(piece))) > 0;)
        assert_int_equal(write(fd, piece, (size_t)n), n);
    bool all_text;
    assert_int_equal(read_lines(fd, "stderr", back, &all_text), writer.err.passed_bytes);
    assert_true(writer.err.passed_bytes > 0 && writer.err.passed_bytes < sizeof(data));
    (void)close(fd);
    (void)close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_text_however_it_is_split),
        cmocka_unit_test(long_output_is_split_between_characters),
        cmocka_unit_test(random_bytes_come_back),
        cmocka_unit_test(dropped_lines_are_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
