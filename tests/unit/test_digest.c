/* test_digest.c - the digest is of the bytes that the descriptor holds. */
#include "sandbox.h"
#include "sys/digest.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define MILLION_A "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

static int open_file(const struct sandbox *sandbox, const char *name, int flags)
{
    int fd = open(in(sandbox, name), flags | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void must_be(const struct sandbox *sandbox, const char *name, const char *expected)
{
    char digest[CK_DIGEST_SIZE];
    int fd = open_file(sandbox, name, O_RDONLY);
    assert_int_equal(ck_digest_file(fd, digest), 0);
    assert_string_equal(digest, expected);
    close(fd);
}

/* The examples of FIPS 180. */
static void known_texts_have_their_known_digests(void **state)
{
    char *million = malloc(1000001);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    million[1000000] = '\0';
    make_file(*state, "empty", 0644, "");
    make_file(*state, "abc", 0644, "abc");
    make_file(*state, "million", 0644, million);
    must_be(*state, "empty", EMPTY);
    must_be(*state, "abc", ABC);
    must_be(*state, "million", MILLION_A);
    free(million);
}

static void the_offset_is_neither_used_nor_moved(void **state)
{
    char digest[CK_DIGEST_SIZE];
    make_file(*state, "abc", 0644, "abc");
    int fd = open_file(*state, "abc", O_RDONLY);
    assert_int_equal(lseek(fd, 2, SEEK_SET), 2);
    assert_int_equal(ck_digest_file(fd, digest), 0);
    assert_string_equal(digest, ABC);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 2);
    close(fd);
}

static void a_file_that_cannot_be_read_has_no_digest(void **state)
{
    char digest[CK_DIGEST_SIZE] = "untouched";
    make_file(*state, "abc", 0644, "abc");
    int fd = open_file(*state, "abc", O_PATH);
    assert_int_equal(ck_digest_file(fd, digest), -EBADF);
    close(fd);
    fd = open_file(*state, "", O_RDONLY | O_DIRECTORY);
    assert_int_equal(ck_digest_file(fd, digest), -EISDIR);
    close(fd);
    assert_string_equal(digest, "untouched");
}

static bool at_the_third(void *data)
{
    unsigned *asked = data;
    return ++*asked == 3;
}

/* Not only before: hashing a large file takes time. */
static void a_caller_can_end_it_in_the_middle(void **state)
{
    char digest[CK_DIGEST_SIZE] = "untouched";
    unsigned asked = 0;
    make_file(*state, "large", 0644, "");
    assert_int_equal(truncate(in(*state, "large"), 64 << 20), 0);
    int fd = open_file(*state, "large", O_RDONLY);
    assert_int_equal(ck_digest_interruptible(fd, at_the_third, &asked, digest), -ECANCELED);
    assert_int_equal(asked, 3);
    assert_string_equal(digest, "untouched");
    close(fd);
}

static void a_copy_holds_what_was_hashed(void **state)
{
    char digest[CK_DIGEST_SIZE], copied[8] = "";
    make_file(*state, "abc", 0644, "abc");
    make_file(*state, "copy", 0644, "");
    int fd = open_file(*state, "abc", O_RDONLY), copy_fd = open_file(*state, "copy", O_RDWR);
    assert_int_equal(ck_digest_copy(fd, copy_fd, 3, digest), 0);
    assert_string_equal(digest, ABC);
    assert_int_equal(pread(copy_fd, copied, sizeof(copied), 0), 3);
    assert_string_equal(copied, "abc");
    assert_int_equal(ck_digest_copy(fd, copy_fd, 2, digest), -EFBIG);
    close(fd);
    close(copy_fd);
}

/* The copy is written over the file itself: the same bytes, but the file was written. */
static void a_file_that_changes_meanwhile_is_reported(void **state)
{
    char digest[CK_DIGEST_SIZE] = "untouched";
    const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    make_file(*state, "abc", 0644, "abc");
    int fd = open_file(*state, "abc", O_RDONLY), self_fd = open_file(*state, "abc", O_WRONLY);
    assert_int_equal(futimens(self_fd, long_ago), 0);
    assert_int_equal(ck_digest_copy(fd, self_fd, 3, digest), -ESTALE);
    assert_string_equal(digest, "untouched");
    close(fd);
    close(self_fd);
}

/* It grows as fast as it is read. */
static void a_file_without_end_is_left_at_the_bound(void **state)
{
    char digest[CK_DIGEST_SIZE];
    make_file(*state, "abc", 0644, "abc");
    int fd = open_file(*state, "abc", O_RDONLY), append_fd = open_file(*state, "abc", O_WRONLY | O_APPEND);
    assert_int_equal(ck_digest_copy(fd, append_fd, 100000, digest), -EFBIG);
    close(fd);
    close(append_fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sandbox_new, sandbox_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(known_texts_have_their_known_digests),
        TEST(the_offset_is_neither_used_nor_moved),
        TEST(a_caller_can_end_it_in_the_middle),
        TEST(a_file_that_cannot_be_read_has_no_digest),
        TEST(a_copy_holds_what_was_hashed),
        TEST(a_file_that_changes_meanwhile_is_reported),
        TEST(a_file_without_end_is_left_at_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
