/* test_file.c - files that others may have made: never waited for, checked first, read up to a
 * bound. */
#include "base/file.h"

#include "base/fd.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX 100000

static int directory_fd;

static void put(const char *name, const char *text, size_t length)
{
    CK_FD fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ck_fd_write_all(fd, text, length), 0);
}

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

static void only_a_regular_file_is_opened(void **state)
{
    (void)state;
    struct stat status;
    put("file", "text", 4);
    assert_int_equal(mkdirat(directory_fd, "directory", 0700), 0);
    assert_int_equal(mkfifoat(directory_fd, "fifo", 0600), 0);
    assert_int_equal(symlinkat("file", directory_fd, "link"), 0);
    CK_FD fd = ck_file_open(directory_fd, "file", O_NOFOLLOW, &status);
    assert_true(fd >= 0);
    assert_int_equal(status.st_size, 4);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    CK_FD followed_fd = ck_file_open(directory_fd, "link", 0, NULL);
    assert_true(followed_fd >= 0);
    assert_int_equal(ck_file_open(directory_fd, "link", O_NOFOLLOW, NULL), -ELOOP);
    assert_int_equal(ck_file_open(directory_fd, "directory", 0, NULL), -EINVAL);
    assert_int_equal(ck_file_open(directory_fd, "fifo", 0, NULL), -EINVAL);
    assert_int_equal(ck_file_open(directory_fd, "nowhere", 0, NULL), -ENOENT);
    assert_int_equal(ck_file_open(AT_FDCWD, "/dev/null", 0, NULL), -EINVAL);
}

static void a_file_is_read_whole_up_to_the_bound(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, MAX - 1, MAX};
    char *bytes = malloc(MAX + 1), *text = NULL;
    size_t length = 0;
    assert_non_null(bytes);
    for (size_t i = 0; i <= MAX; i++)
        bytes[i] = (char)('a' + i % 26);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        put("file", bytes, sizes[i]);
        assert_int_equal(ck_file_read(directory_fd, "file", 0, MAX, &text, &length), 0);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(text, bytes, length);
        assert_int_equal(text[length], '\0');
        free(text);
    }
    put("file", bytes, MAX + 1);
    assert_int_equal(ck_file_read(directory_fd, "file", 0, MAX, &text, &length), -EFBIG);
    assert_int_equal(ck_file_read(directory_fd, "file", 0, 0, &text, &length), -EFBIG);
    free(bytes);
}

/* It has no length before it is read. */
static void a_file_of_proc_is_read_whole(void **state)
{
    (void)state;
    char *text = NULL, beginning[8];
    size_t length = 0;
    assert_int_equal(ck_file_read(AT_FDCWD, "/proc/self/status", 0, MAX, &text, &length), 0);
    assert_non_null(strstr(text, "\nThreads:"));
    assert_int_equal(ck_file_read_into(AT_FDCWD, "/proc/self/status", 0, beginning, sizeof(beginning)), 7);
    assert_memory_equal(beginning, text, 7);
    assert_int_equal(beginning[7], '\0');
    free(text);
    assert_int_equal(ck_file_read(AT_FDCWD, "/proc/self/status", 0, 64, &text, &length), -EFBIG);
    assert_int_equal(ck_file_read_into(directory_fd, "nowhere", 0, beginning, sizeof(beginning)), -ENOENT);
}

static void a_pipe_is_read_in_growing_pieces(void **state)
{
    (void)state;
    int ends[2];
    char bytes[20000], *text = NULL;
    size_t length = 0;
    memset(bytes, 'x', sizeof(bytes));
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(ck_fd_write_all(ends[1], bytes, sizeof(bytes)), 0);
    ck_fd_close(&ends[1]);
    assert_int_equal(ck_fd_read_text(ends[0], MAX, &text, &length), 0);
    assert_int_equal(length, sizeof(bytes));
    free(text);
    ck_fd_close(&ends[0]);
}

static void a_read_at_an_offset_leaves_the_position(void **state)
{
    (void)state;
    char text[8];
    put("file", "0123456789", 10);
    CK_FD fd = ck_file_open(directory_fd, "file", 0, NULL);
    assert_int_equal(ck_fd_read_at(fd, text, 4, 3), 4);
    assert_memory_equal(text, "3456", 4);
    assert_int_equal(ck_fd_read_at(fd, text, 8, 7), 3);
    assert_int_equal(ck_fd_read_at(fd, text, 8, 70), 0);
    assert_int_equal(ck_fd_read_all(fd, text, 2), 2);
    assert_memory_equal(text, "01", 2);
}

static void a_path_is_resolved_as_it_was_asked_for(void **state)
{
    (void)state;
    assert_int_equal(mkdirat(directory_fd, "inner", 0700), 0);
    assert_int_equal(symlinkat("..", directory_fd, "inner/up"), 0);
    CK_FD fd = ck_file_resolve(directory_fd, "inner", O_PATH | O_DIRECTORY, RESOLVE_BENEATH);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(ck_file_resolve(fd, "up", O_PATH, RESOLVE_BENEATH), -EXDEV);
    assert_int_equal(ck_file_resolve(directory_fd, "inner/up", O_PATH, RESOLVE_NO_SYMLINKS), -ELOOP);
    assert_int_equal(ck_file_resolve(directory_fd, "", O_PATH, 0), -ENOENT);
}

static void a_type_that_is_not_said_is_looked_up(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned char type;
    } rows[] = {{"file", DT_REG}, {"directory", DT_DIR}, {"link", DT_LNK}, {"fifo", DT_FIFO}, {"absent", DT_UNKNOWN}};
    put("file", "", 0);
    assert_int_equal(mkdirat(directory_fd, "directory", 0700), 0);
    assert_int_equal(symlinkat("file", directory_fd, "link"), 0);
    assert_int_equal(mkfifoat(directory_fd, "fifo", 0600), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct dirent entry = {.d_type = DT_UNKNOWN};
        (void)snprintf(entry.d_name, sizeof(entry.d_name), "%s", rows[i].name);
        assert_int_equal(ck_file_type(directory_fd, &entry), rows[i].type);
        entry.d_type = DT_SOCK;
        assert_int_equal(ck_file_type(directory_fd, &entry), DT_SOCK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_a_regular_file_is_opened, begin, end),
        cmocka_unit_test_setup_teardown(a_file_is_read_whole_up_to_the_bound, begin, end),
        cmocka_unit_test_setup_teardown(a_file_of_proc_is_read_whole, begin, end),
        cmocka_unit_test_setup_teardown(a_pipe_is_read_in_growing_pieces, begin, end),
        cmocka_unit_test_setup_teardown(a_read_at_an_offset_leaves_the_position, begin, end),
        cmocka_unit_test_setup_teardown(a_type_that_is_not_said_is_looked_up, begin, end),
        cmocka_unit_test_setup_teardown(a_path_is_resolved_as_it_was_asked_for, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
