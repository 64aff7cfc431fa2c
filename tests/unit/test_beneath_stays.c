/* test_beneath_stays.c - a path for a tool stays beneath the root, as text and as the kernel
 * resolves it. */
#include "sandbox.h"
#include "sys/beneath.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * root/{file, inner/{deep/, note}, b -> out, in -> inner/deep, out -> ../outside, abs -> /, ...},
 * outside/secret. From "in/.." the kernel comes to inner, and text to root: so the name b means
 * another file in each.
 */
static int setup(void **state)
{
    if (sandbox_new(state) < 0)
        return -1;
    struct sandbox *sandbox = *state;
    make_directory(sandbox, "root", 0755);
    make_directory(sandbox, "root/inner", 0755);
    make_directory(sandbox, "root/inner/deep", 0755);
    make_directory(sandbox, "outside", 0755);
    make_directory(sandbox, "root-too", 0755);
    make_file(sandbox, "outside/secret", 0644, "secret");
    make_file(sandbox, "root/file", 0644, "");
    make_file(sandbox, "root/inner/b", 0644, "");
    make_file(sandbox, "root/inner/note", 0644, "");
    make_file(sandbox, "root/line\nbreak", 0644, "");
    make_link(sandbox, "root/b", "../outside/secret");
    make_link(sandbox, "root/in", "inner/deep");
    make_link(sandbox, "root/out", "../outside");
    make_link(sandbox, "root/abs", "/");
    make_link(sandbox, "root/self", "/proc/self/root");
    make_link(sandbox, "root/dangling", "nowhere");
    make_link(sandbox, "root/dangling-out", "../outside/nowhere");
    make_link(sandbox, "root/loop", "loop");
    make_link(sandbox, "root/ping", "pong");
    make_link(sandbox, "root/pong", "ping");
    make_link(sandbox, "way", "root");
    make_link(sandbox, "shortcut", "root/inner");
    return 0;
}

static int stays(const struct sandbox *sandbox, const char *cwd, const char *path, bool must_exist)
{
    int root_fd = -1, cwd_fd = -1;
    assert_int_equal(ck_beneath_root(in(sandbox, "root"), &root_fd, NULL), 0);
    assert_int_equal(ck_beneath_directory(root_fd, cwd, &cwd_fd, NULL), 0);
    int r = ck_beneath_stays(root_fd, cwd_fd, path, strlen(path), must_exist);
    close(root_fd);
    close(cwd_fd);
    return r;
}

/* "@" at the start of a path stands for the sandbox. */
static const char *spell(const struct sandbox *sandbox, const char *path)
{
    return path[0] == '@' ? in(sandbox, path + 2) : path;
}

struct row {
    const char *cwd;
    const char *path;
    int inside;   /* where it may be missing */
    int existing; /* where it must exist */
};

static const struct row rows[] = {
    {".", "file", 0, 0},
    {".", ".", 0, 0},
    {".", "./", 0, 0},
    {".", "./inner//deep/.", 0, 0},
    {".", "in", 0, 0},
    {".", "line\nbreak", 0, 0},
    {".", "nowhere", 0, -ENOENT},
    {".", "nowhere/at/all", 0, -ENOENT},
    {".", "file/x", 0, -ENOTDIR},
    {".", "HEAD~1", 0, -ENOENT},
    {".", "main..topic", 0, -ENOENT},
    {".", "...", 0, -ENOENT},
    {".", "-", 0, -ENOENT},
    {".", "dangling", 0, -ENOENT},
    {".", "inner/../file", 0, 0},
    {"inner", "../file", 0, 0},
    {"inner/deep", "../../file", 0, 0},
    {"inner/deep", "../note", 0, 0},
    {"inner", "..", 0, 0},
    {".", "@/root/file", 0, 0},
    {".", "@/root", 0, 0},
    {".", "@/root/nowhere", 0, -ENOENT},
    {".", "@/way/file", 0, 0},
    {".", "@/shortcut/note", 0, 0},
    /* by its text */
    {".", "..", -EXDEV, -EXDEV},
    {".", "../outside/secret", -EXDEV, -EXDEV},
    {".", "../root/file", -EXDEV, -EXDEV},
    {".", "inner/../../outside/secret", -EXDEV, -EXDEV},
    {".", "nowhere/../../outside/secret", -EXDEV, -EXDEV},
    {".", "inner/../..", -EXDEV, -EXDEV},
    {"inner", "../../outside/secret", -EXDEV, -EXDEV},
    {"inner/deep", "../../..", -EXDEV, -EXDEV},
    {".", "/", -EXDEV, -EXDEV},
    {".", "/etc/passwd", -EXDEV, -EXDEV},
    {".", "/nowhere/at/all", -EXDEV, -EXDEV},
    {".", "@/outside/secret", -EXDEV, -EXDEV},
    {".", "@/root/../outside/secret", -EXDEV, -EXDEV},
    {".", "@/root-too", -EXDEV, -EXDEV},
    {".", "//etc/passwd", -EXDEV, -EXDEV},
    /* by links */
    {".", "b", -EXDEV, -EXDEV},
    {".", "out", -EXDEV, -EXDEV},
    {".", "out/secret", -EXDEV, -EXDEV},
    {".", "out/nowhere", -EXDEV, -EXDEV},
    {".", "abs/etc/passwd", -EXDEV, -EXDEV},
    {".", "self/etc/passwd", -EXDEV, -EXDEV},
    {".", "dangling-out", -EXDEV, -EXDEV},
    {".", "@/root/b", -EXDEV, -EXDEV},
    {".", "@/way/b", -EXDEV, -EXDEV},
    {".", "loop", -ELOOP, -ELOOP},
    {".", "ping/x", -ELOOP, -ELOOP},
    {"inner", "../b", -EXDEV, -EXDEV},
    /* one thing as text, another to the kernel */
    {".", "in/../b", -EXDEV, -EXDEV},
    {".", "in/../note", 0, 0},
    {".", "nowhere/../b", -EXDEV, -ENOENT},
    {".", "nowhere/../out/secret", -EXDEV, -ENOENT},
    {".", "file/../b", -EXDEV, -ENOTDIR},
    {".", "nowhere/../file", 0, -ENOENT},
    {".", "nowhere/..", 0, -ENOENT},
    {".", "./nowhere/.././/inner/../b", -EXDEV, -ENOENT},
    {".", "@/way/../outside/secret", -EXDEV, -EXDEV},
    {".", "@/shortcut/../b", -EXDEV, -EXDEV},
    {".", "@/shortcut/../file", -EXDEV, -EXDEV},
};

static void every_path_is_looked_at_twice(void **state)
{
    const struct sandbox *sandbox = *state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        const char *path = spell(sandbox, row->path);
        int inside = stays(sandbox, row->cwd, path, false);
        int existing = stays(sandbox, row->cwd, path, true);
        if (inside != row->inside || existing != row->existing)
            fail_msg("'%s' in '%s': wanted %d and %d, got %d and %d", path, row->cwd, row->inside, row->existing,
                     inside, existing);
    }
}

static void only_the_given_length_counts(void **state)
{
    const struct sandbox *sandbox = *state;
    int root_fd = -1;
    assert_int_equal(ck_beneath_root(in(sandbox, "root"), &root_fd, NULL), 0);
    assert_int_equal(ck_beneath_stays(root_fd, root_fd, "file:/work:ro", 4, true), 0);
    assert_int_equal(ck_beneath_stays(root_fd, root_fd, "file:/work:ro", 5, true), -ENOENT);
    assert_int_equal(ck_beneath_stays(root_fd, root_fd, "b:/work", 1, true), -EXDEV);
    close(root_fd);
}

/* Too long for the kernel; a tool that works on the text would shorten it to "b". */
static void a_long_way_round_is_refused(void **state)
{
    char path[PATH_MAX + 64] = "";
    size_t at = 0;
    while (at < PATH_MAX - 32)
        at += (size_t)snprintf(path + at, sizeof(path) - at, "inner/../");
    (void)snprintf(path + at, sizeof(path) - at, "b");
    assert_true(strlen(path) < PATH_MAX);
    assert_int_equal(stays(*state, ".", path, false), -EXDEV);
    assert_int_equal(stays(*state, "inner/deep", path, false), 0); /* there it is no link, and stays inside */
    memset(path, 'x', sizeof(path) - 1);
    assert_int_equal(stays(*state, ".", path, false), -EXDEV);
    assert_int_equal(stays(*state, ".", path, true), -ENAMETOOLONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_path_is_looked_at_twice, setup, sandbox_free),
        cmocka_unit_test_setup_teardown(only_the_given_length_counts, setup, sandbox_free),
        cmocka_unit_test_setup_teardown(a_long_way_round_is_refused, setup, sandbox_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
