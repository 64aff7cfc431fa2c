/* test_atomic_file.c - a file is replaced as a whole, or not at all, and no other file is left
 * beside it. */
#include "base/atomic_file.h"

#include "base/fd.h"
#include "sandbox.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>

#include <cmocka.h>

static int directory_fd;

static int begin(void **state)
{
    int r = sandbox_new(state);
    directory_fd = open(((struct sandbox *)*state)->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return directory_fd < 0 ? -1 : r;
}

static int end(void **state)
{
    ck_fd_close(&directory_fd);
    return sandbox_free(state);
}

static unsigned entries(void)
{
    unsigned count = 0;
    DIR *stream = fdopendir(openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    assert_non_null(stream);
    for (const struct dirent *entry; (entry = readdir(stream));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(stream);
    return count;
}

static void must_hold(const char *name, const char *text)
{
    char bytes[64];
    struct stat status;
    assert_int_equal(fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISREG(status.st_mode));
    CK_FD fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC);
    long length = ck_fd_read_all(fd, bytes, sizeof(bytes) - 1);
    assert_true(length >= 0);
    bytes[length] = '\0';
    assert_string_equal(bytes, text);
}

static void a_link_is_replaced_and_not_written_through(void **state)
{
    (void)state;
    struct stat status;
    mode_t mask = umask(0);
    assert_int_equal(ck_atomic_file_write(directory_fd, "real", 0600, "untouched", 9), 0);
    assert_int_equal(symlinkat("real", directory_fd, "f"), 0);
    assert_int_equal(ck_atomic_file_write(directory_fd, "f", 0640, "new", 3), 0);
    (void)umask(mask);
    must_hold("f", "new");
    must_hold("real", "untouched");
    assert_int_equal(fstatat(directory_fd, "f", &status, 0), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(ck_atomic_file_write(directory_fd, "f", 0600, "newer", 5), 0);
    must_hold("f", "newer");
    assert_int_equal(entries(), 2);
}

static void a_path_may_have_directories(void **state)
{
    assert_int_equal(mkdirat(directory_fd, "sub", 0700), 0);
    assert_int_equal(ck_atomic_file_write(directory_fd, "sub/f", 0600, "a", 1), 0);
    must_hold("sub/f", "a");
    assert_int_equal(ck_atomic_file_write(AT_FDCWD, in(*state, "sub/f"), 0600, "b", 1), 0);
    must_hold("sub/f", "b");
    assert_int_equal(entries(), 1);
}

static void what_cannot_be_replaced_is_left_alone(void **state)
{
    (void)state;
    char long_name[NAME_MAX + 2];
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    assert_int_equal(mkdirat(directory_fd, "sub", 0700), 0);
    assert_int_equal(ck_atomic_file_write(directory_fd, "sub", 0600, "new", 3), -EISDIR);
    assert_int_equal(ck_atomic_file_write(directory_fd, "sub/", 0600, "new", 3), -EISDIR);
    assert_int_equal(ck_atomic_file_write(directory_fd, "", 0600, "new", 3), -ENOENT);
    assert_int_equal(ck_atomic_file_write(directory_fd, "absent/f", 0600, "new", 3), -ENOENT);
    assert_int_equal(ck_atomic_file_write(directory_fd, long_name, 0600, "new", 3), -ENAMETOOLONG);
    assert_int_equal(entries(), 1);
}

/* Beyond RLIMIT_FSIZE a write fails as on a full disk. */
static void a_write_that_fails_leaves_the_old_file(void **state)
{
    (void)state;
    struct rlimit before, small;
    assert_int_equal(ck_atomic_file_write(directory_fd, "f", 0600, "old", 3), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int r = ck_atomic_file_write(directory_fd, "f", 0600, "much too long", 13);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(r, -EFBIG);
    must_hold("f", "old");
    assert_int_equal(entries(), 1);
}

static void a_dropped_file_is_gone_and_the_old_one_stays(void **state)
{
    (void)state;
    struct ck_atomic_file file;
    assert_int_equal(ck_atomic_file_write(directory_fd, "f", 0600, "old", 3), 0);
    assert_int_equal(ck_atomic_file_begin(&file, directory_fd, "f", 0600), 0);
    assert_int_equal(ck_fd_write_all(file.fd, "new", 3), 0);
    must_hold("f", "old");
    assert_int_equal(entries(), 2);
    ck_atomic_file_drop(&file);
    ck_atomic_file_drop(&file);
    must_hold("f", "old");
    assert_int_equal(entries(), 1);
    assert_int_equal(ck_atomic_file_begin(&file, directory_fd, "f", 0600), 0);
    assert_int_equal(ck_fd_write_all(file.fd, "new", 3), 0);
    assert_int_equal(ck_atomic_file_commit(&file), 0);
    must_hold("f", "new");
    assert_int_equal(entries(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_link_is_replaced_and_not_written_through, begin, end),
        cmocka_unit_test_setup_teardown(a_path_may_have_directories, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_replaced_is_left_alone, begin, end),
        cmocka_unit_test_setup_teardown(a_write_that_fails_leaves_the_old_file, begin, end),
        cmocka_unit_test_setup_teardown(a_dropped_file_is_gone_and_the_old_one_stays, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
