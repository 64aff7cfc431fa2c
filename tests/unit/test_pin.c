/* test_pin.c - the hashed file is the one that is executed, and it is hashed again if it could have
 * changed. */
#include "sandbox.h"
#include "sys/pin.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define SCRIPT "#!/bin/sh\necho good\n"

static int open_file(const struct sandbox *sandbox, const char *name, int flags)
{
    int fd = open(in(sandbox, name), flags | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* The digest of a file, from the message of the refusal. */
static void digest_of(const char *path, char digest[65])
{
    struct ck_pin_cache pins = {0};
    struct choke_error error = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ck_pin_check(&pins, path, "none", false, &fd, &error), -EPERM);
    const char *at = strstr(error.message, "sha256 is ");
    assert_non_null(at);
    memcpy(digest, at + strlen("sha256 is "), 64);
    digest[64] = '\0';
    close(fd);
    ck_pin_cache_done(&pins);
}

/* Bytes that this process has read so far, by any call. */
static uint64_t bytes_read(void)
{
    char text[512] = "";
    unsigned long long count = 0;
    int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    assert_int_equal(sscanf(text, "rchar: %llu", &count), 1);
    return count;
}

static int check(struct ck_pin_cache *pins, const char *path, const char *digest, uint64_t *ret_read)
{
    struct choke_error error = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    uint64_t before = bytes_read();
    int r = ck_pin_check(pins, path, digest, false, &fd, &error);
    *ret_read = bytes_read() - before;
    close(fd);
    return r;
}

static void the_right_file_passes_and_stays_the_same_descriptor(void **state)
{
    struct ck_pin_cache pins = {0};
    struct choke_error error = {0};
    make_file(*state, "tool", 0755, "abc");
    int fd = open_file(*state, "tool", O_RDONLY), before = fd;
    assert_int_equal(ck_pin_check(&pins, "tool", ABC, false, &fd, &error), 0);
    assert_int_equal(fd, before);
    close(fd);
    ck_pin_cache_done(&pins);
}

static void a_refusal_names_both_digests_and_the_path(void **state)
{
    struct ck_pin_cache pins = {0};
    struct choke_error error = {0};
    make_file(*state, "tool", 0755, "abcd");
    int fd = open_file(*state, "tool", O_RDONLY);
    assert_int_equal(ck_pin_check(&pins, "/bin/tool", ABC, false, &fd, &error), -EPERM);
    assert_int_equal(error.outcome, CHOKE_DISALLOWED);
    assert_non_null(strstr(error.message, "expected is " ABC));
    assert_non_null(strstr(error.message, "88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589"));
    assert_non_null(strstr(error.message, "'/bin/tool'"));
    close(fd);
    ck_pin_cache_done(&pins);
}

static void a_file_that_is_open_for_writing_is_refused(void **state)
{
    struct ck_pin_cache pins = {0};
    struct choke_error error = {0};
    make_file(*state, "tool", 0755, "abc");
    int writer_fd = open_file(*state, "tool", O_WRONLY), fd = open_file(*state, "tool", O_RDONLY);
    assert_int_equal(ck_pin_check(&pins, "tool", ABC, false, &fd, &error), -ETXTBSY);
    assert_int_equal(error.outcome, CHOKE_DISALLOWED);
    close(writer_fd);
    assert_int_equal(ck_pin_check(&pins, "tool", ABC, false, &fd, &error), 0);
    close(fd);
    ck_pin_cache_done(&pins);
}

/* Until the descriptor is closed, in any process. */
static void nobody_can_write_between_check_and_use(void **state)
{
    struct ck_pin_cache pins = {0};
    struct choke_error error = {0};
    const char *path = in(*state, "tool");
    make_file(*state, "tool", 0755, "abc");
    int fd = open_file(*state, "tool", O_RDONLY);
    assert_int_equal(ck_pin_check(&pins, path, ABC, false, &fd, &error), 0);
    int copy_fd = dup(fd);
    close(fd);
    assert_int_equal(open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC), -1);
    assert_int_equal(errno, EWOULDBLOCK);
    close(copy_fd);
    int writer_fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(writer_fd >= 0);
    close(writer_fd);
    ck_pin_cache_done(&pins);
}

static void a_script_becomes_a_copy_that_nobody_can_change(void **state)
{
    struct ck_pin_cache pins = {0};
    struct choke_error error = {0};
    char digest[65], text[64] = "";
    make_file(*state, "tool", 0755, SCRIPT);
    digest_of(in(*state, "tool"), digest);
    int fd = open_file(*state, "tool", O_RDONLY);
    assert_int_equal(ck_pin_check(&pins, "tool", digest, true, &fd, &error), 0);
    make_file(*state, "tool", 0755, "#!/bin/sh\necho evil\n");
    assert_int_equal(pread(fd, text, sizeof(text), 0), strlen(SCRIPT));
    assert_string_equal(text, SCRIPT);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    close(fd);
    ck_pin_cache_done(&pins);
}

/* The returned descriptor is not the kept one: a tool could take away the rights of its descriptor. */
static void a_remembered_script_is_not_the_one_that_was_handed_out(void **state)
{
    (void)state;
    const char *script = "/usr/bin/ldd"; /* one that is old enough to be cached */
    struct ck_pin_cache pins = {0};
    struct choke_error error = {0};
    char digest[65];
    struct stat first, second;
    digest_of(script, digest);
    for (int i = 0; i < 2; i++) {
        int fd = open(script, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(ck_pin_check(&pins, script, digest, true, &fd, &error), 0);
        assert_int_equal(fstat(fd, i == 0 ? &first : &second), 0);
        assert_int_equal(fchmod(fd, 0), 0);
        close(fd);
    }
    assert_int_equal(first.st_mode & 0777, 0777);
    assert_int_equal(second.st_mode & 0777, 0777);
    assert_int_equal(first.st_size, second.st_size);
    assert_int_equal(pins.count, 1);
    ck_pin_cache_done(&pins);
}

static void a_file_at_rest_is_read_once(void **state)
{
    (void)state;
    const char *path = "/bin/sh"; /* its ctime is long past */
    struct stat status;
    struct ck_pin_cache pins = {0};
    char digest[65];
    uint64_t count;
    assert_int_equal(stat(path, &status), 0);
    digest_of(path, digest);
    assert_int_equal(check(&pins, path, digest, &count), 0);
    assert_true(count >= (uint64_t)status.st_size);
    assert_int_equal(check(&pins, path, digest, &count), 0);
    assert_true(count < (uint64_t)status.st_size);
    /* The digest is cached, not the decision. */
    assert_int_equal(check(&pins, path, ABC, &count), -EPERM);
    assert_true(count < (uint64_t)status.st_size);
    ck_pin_cache_done(&pins);
}

/* A change within the same tick of the clock would not show. */
static void a_file_that_has_just_changed_is_read_each_time(void **state)
{
    struct ck_pin_cache pins = {0};
    char digest[65];
    static char text[100001];
    uint64_t count;
    memset(text, 'a', sizeof(text) - 1);
    make_file(*state, "tool", 0755, text);
    const char *path = in(*state, "tool");
    digest_of(path, digest);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(check(&pins, path, digest, &count), 0);
        assert_true(count >= sizeof(text) - 1);
    }
    assert_int_equal(pins.count, 0);
    ck_pin_cache_done(&pins);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sandbox_new, sandbox_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_right_file_passes_and_stays_the_same_descriptor),
        TEST(a_refusal_names_both_digests_and_the_path),
        TEST(a_file_that_is_open_for_writing_is_refused),
        TEST(nobody_can_write_between_check_and_use),
        TEST(a_script_becomes_a_copy_that_nobody_can_change),
        TEST(a_remembered_script_is_not_the_one_that_was_handed_out),
        TEST(a_file_at_rest_is_read_once),
        TEST(a_file_that_has_just_changed_is_read_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
