/*
 * test_snapshot.c - what a program left in a directory, as far as it can be looked at: noise does not
 * hide what runs later.
 */
#include "overlay/snapshot.h"
#include "sandbox.h"

#include "base/fd.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PATH_BYTES 3600 /* at least, of noise: few of them fill the memory for paths */

struct bench {
    struct sandbox *sandbox;
    struct ck_snapshot *before;
    struct ck_changes changes;
    int top_fd;
};

static int setup(void **state)
{
    static struct bench bench;
    void *sandbox;
    if (sandbox_new(&sandbox) != 0)
        return -1;
    bench = (struct bench){.sandbox = sandbox};
    bench.top_fd = open(bench.sandbox->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bench.before = ck_snapshot_take(bench.top_fd);
    *state = &bench;
    return bench.before ? 0 : -1;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    void *sandbox = bench->sandbox;
    ck_snapshot_free(bench->before);
    ck_changes_done(&bench->changes);
    ck_fd_close(&bench->top_fd);
    return sandbox_free(&sandbox);
}

/* As of a state directory: everything but what is in "log" runs later. */
static const char *judge(void *data, const char *path, const char *found)
{
    (void)data;
    return strncmp(path, "log/", 4) != 0 ? "settings" : found;
}

static void compare(struct bench *bench)
{
    const struct ck_snapshot_list list = {.changes = &bench->changes, .prefix = "", .judge = judge};
    ck_snapshot_compare(bench->before, bench->top_fd, &list);
}

static const struct choke_file_change *find(const struct bench *bench, const char *path)
{
    for (size_t i = 0; i < bench->changes.count; i++)
        if (strcmp(bench->changes.items[i].path, path) == 0)
            return &bench->changes.items[i];
    return NULL;
}

/* A directory in another one, which it replaces. */
static void go_down(int *fd, const char *name)
{
    assert_int_equal(mkdirat(*fd, name, 0755), 0);
    int inner_fd = openat(*fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(inner_fd >= 0);
    ck_fd_close(fd);
    *fd = inner_fd;
}

static void make_many(int fd, size_t count, const char *prefix)
{
    for (size_t i = 0; i < count; i++) {
        char name[NAME_MAX + 1];
        (void)snprintf(name, sizeof(name), "%s%zu", prefix, i);
        assert_int_equal(mkfifoat(fd, name, 0644), 0);
    }
}

static void make_noise(const struct bench *bench, size_t bytes)
{
    char name[241] = {0};
    CK_FD fd = dup(bench->top_fd);
    memset(name, 'n', sizeof(name) - 1);
    go_down(&fd, "log");
    for (int depth = 0; depth < 15; depth++)
        go_down(&fd, name);
    make_many(fd, bytes / PATH_BYTES, name + 20);
}

/* The name sorts after the noise. */
static void data_does_not_push_out_what_runs_later(void **state)
{
    struct bench *bench = *state;
    make_noise(bench, CK_CHANGES_TEXT_MAX);
    make_file(bench->sandbox, "settings.json", 0644, "x");
    compare(bench);
    const struct choke_file_change *found = find(bench, "settings.json");
    assert_non_null(found);
    assert_string_equal(found->runs_later, "settings");
    assert_true(bench->changes.incomplete);
}

/* Noise fills the memory for paths before the other directories have their turn. */
static void directories_that_are_not_reached_are_named(void **state)
{
    struct bench *bench = *state;
    size_t named = 0;
    CK_FD fd = dup(bench->top_fd);
    make_noise(bench, CK_SNAPSHOT_TEXT_MAX);
    go_down(&fd, "z");
    for (int depth = 0; depth < 20; depth++)
        go_down(&fd, "z");
    assert_int_equal(mkfifoat(fd, "hook", 0644), 0);
    compare(bench);
    for (size_t i = 0; i < bench->changes.count; i++) {
        const struct choke_file_change *change = &bench->changes.items[i];
        named += change->path[0] == 'z' && change->runs_later;
    }
    assert_true(named > 0);
    assert_true(bench->changes.incomplete);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(data_does_not_push_out_what_runs_later, setup, teardown),
        cmocka_unit_test_setup_teardown(directories_that_are_not_reached_are_named, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
