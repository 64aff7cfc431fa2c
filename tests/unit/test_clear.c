/*
 * test_clear.c - what a hostile tool left in an overlay is removed in slices, of neither too much
 * nor too little work.
 */
#include "sys/clear.h"

#include "base/fd.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE ((off_t)4096)
#define SLICES_MAX 200

/* In memory, like an overlay: on a disk each of these blocks would have to be written. */
static char place[] = "/dev/shm/choke-clear-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(place) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(place);
}

static void write_pages(int fd, off_t count, off_t distance)
{
    for (off_t i = 0; i < count; i++)
        assert_int_equal(pwrite(fd, "x", 1, i * distance), 1);
}

/* How many slices it takes to empty the directory. */
static size_t count_slices(int top_fd)
{
    struct ck_clearing clearing;
    size_t count = 0;
    ck_clear_init(&clearing, top_fd);
    for (bool done = false; !done; count++) {
        struct ck_slice slice = CK_SLICE_WHOLE;
        done = ck_clear_step(&clearing, &slice);
        assert_true(count < 100 * SLICES_MAX);
    }
    assert_int_equal(clearing.error, 0);
    ck_clear_done(&clearing);
    return count;
}

/* One page in each 32 MiB: more than a piece in total, and a page in each piece. */
static void file_of_scattered_pages_does_not_take_a_slice_a_page(void **state)
{
    (void)state;
    CK_FD top = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CK_FD fd = openat(top, "f", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    write_pages(fd, 3 * (off_t)CK_SLICE_BYTES * 16 / PAGE / 2, (off_t)32 << 20);
    ck_fd_close(&fd);
    assert_in_range(count_slices(top), 2, SLICES_MAX);
}

/* 48 MiB are three slices at least, by how much may be freed in one. */
static void large_file_is_freed_in_several_slices(void **state)
{
    (void)state;
    CK_FD top = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CK_FD fd = openat(top, "f", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    write_pages(fd, 3 * (off_t)CK_SLICE_BYTES * 16 / PAGE, PAGE);
    ck_fd_close(&fd);
    assert_in_range(count_slices(top), 3, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_of_scattered_pages_does_not_take_a_slice_a_page),
        cmocka_unit_test(large_file_is_freed_in_several_slices),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
