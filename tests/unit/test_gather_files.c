/* test_gather_files.c - a walk ends when its caller wants no more. */
#include "gather/files.h"
#include "sandbox.h"

#include <setjmp.h>

#include <cmocka.h>

#define FILES 2000

static bool at_the_second(void *data)
{
    unsigned *asked = data;
    return ++*asked == 2;
}

static bool never(void *data)
{
    (void)data;
    return false;
}

static void make_files(const struct sandbox *sandbox)
{
    char name[32];
    for (unsigned i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof(name), "%u", i);
        make_file(sandbox, name, 0644, "");
    }
}

static void a_walk_can_be_ended_in_the_middle(void **state)
{
    const struct sandbox *sandbox = *state;
    const struct ck_probes none = {0};
    struct ck_files files;
    struct choke_error error;
    unsigned asked = 0;

    make_files(sandbox);
    int fd = open(sandbox->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(ck_files_walk(fd, &none, never, NULL, &files, &error), 0);
    assert_int_equal(files.count, FILES);
    assert_false(files.incomplete);
    ck_files_done(&files);
    assert_int_equal(ck_files_walk(fd, &none, at_the_second, &asked, &files, &error), 0);
    assert_true(files.incomplete);
    assert_in_range(files.count, 1, FILES - 1);
    assert_int_equal(asked, 2);
    ck_files_done(&files);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_walk_can_be_ended_in_the_middle, sandbox_new, sandbox_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
