/* test_sealed.c - a sealed memory file holds its bytes, is read from its beginning, and cannot be
 * changed. */
#include "base/sealed.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ALL (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static void must_be_sealed(int fd, const char *text)
{
    char bytes[16];
    size_t length = strlen(text);
    assert_int_equal(ck_fd_read_all(fd, bytes, sizeof(bytes)), (long)length);
    assert_memory_equal(bytes, text, length);
    assert_int_equal(fcntl(fd, F_GET_SEALS) & ALL, ALL);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_equal(ftruncate(fd, (off_t)length + 1), -1);
    assert_true(length == 0 || ftruncate(fd, 0) == -1);
}

static void the_bytes_stay_as_they_were_written(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "some bytes"};
    for (size_t i = 0; i < 2; i++) {
        CK_FD data_fd = ck_sealed_write("data", CK_SEALED_DATA, texts[i], strlen(texts[i]));
        CK_FD program_fd = ck_sealed_write("program", CK_SEALED_PROGRAM, texts[i], strlen(texts[i]));
        must_be_sealed(data_fd, texts[i]);
        must_be_sealed(program_fd, texts[i]);
    }
}

static void one_that_is_filled_by_others_is_sealed_in_the_end(void **state)
{
    (void)state;
    CK_FD fd = ck_sealed_create("data", CK_SEALED_DATA);
    assert_true(fd >= 0);
    assert_int_equal(ck_fd_write_all(fd, "abc", 3), 0);
    assert_int_equal(ck_sealed_finish(fd), 0);
    must_be_sealed(fd, "abc");
    assert_int_equal(ck_sealed_finish(-1), -EBADF);
}

/* Kernels before 6.3 make both the same. */
static void only_a_program_may_be_executed(void **state)
{
    (void)state;
    struct stat status;
    CK_FD data_fd = ck_sealed_write("data", CK_SEALED_DATA, "x", 1);
    CK_FD program_fd = ck_sealed_write("program", CK_SEALED_PROGRAM, "x", 1);
    assert_int_equal(fstat(program_fd, &status), 0);
    assert_true((status.st_mode & 0111) != 0);
    assert_int_equal(fstat(data_fd, &status), 0);
#ifdef F_SEAL_EXEC
    if ((fcntl(data_fd, F_GET_SEALS) & F_SEAL_EXEC) != 0)
        assert_int_equal(status.st_mode & 0111, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_stay_as_they_were_written),
        cmocka_unit_test(one_that_is_filled_by_others_is_sealed_in_the_end),
        cmocka_unit_test(only_a_program_may_be_executed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
