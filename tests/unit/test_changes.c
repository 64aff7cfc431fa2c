/*
 * test_changes.c - an overlay over a repository, made by hand as the kernel and a hostile tool
 * would leave it: which changes are listed, and which are kept.
 */
#include "overlay/changes.h"
#include "sandbox.h"

#include "base/clock.h"
#include "base/fd.h"
#include "overlay/keep.h"
#include "sys/scratch.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <cmocka.h>

#include "feature.h"

struct bench {
    struct sandbox *sandbox;
    struct ck_changes changes;
    int upper_fd, lower_fd, keep_fd;
};

static int open_directory(const struct sandbox *sandbox, const char *name)
{
    make_directory(sandbox, name, 0755);
    return open(in(sandbox, name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int setup(void **state)
{
    static struct bench bench;
    void *sandbox;
    if (sandbox_new(&sandbox) != 0)
        return -1;
    bench = (struct bench){.sandbox = sandbox};
    bench.upper_fd = open_directory(sandbox, "u");
    bench.lower_fd = open_directory(sandbox, "l");
    bench.keep_fd = open_directory(sandbox, "k");
    *state = &bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    void *sandbox = bench->sandbox;
    ck_changes_done(&bench->changes);
    ck_fd_close(&bench->upper_fd);
    ck_fd_close(&bench->lower_fd);
    ck_fd_close(&bench->keep_fd);
    return sandbox_free(&sandbox);
}

/* All of it, in at most this number of slices; then the walk is cut. */
static size_t list_within(struct bench *bench, size_t most)
{
    const struct ck_changes_dirs where = {
        .upper_fd = bench->upper_fd, .lower_fd = bench->lower_fd, .keep_fd = bench->keep_fd};
    struct ck_changes_walk *walk = ck_changes_begin(&bench->changes, &where);
    assert_non_null(walk);
    size_t slices = 0;
    for (bool done = false; !done; slices++) {
        struct ck_slice slice = CK_SLICE_WHOLE;
        if (slices == most)
            (void)ck_changes_stop_early(walk, ETIMEDOUT);
        done = ck_changes_step(walk, &slice);
    }
    ck_changes_end(walk);
    return slices;
}

static void list(struct bench *bench)
{
    (void)list_within(bench, SIZE_MAX);
}

static const struct choke_file_change *find(const struct bench *bench, const char *path)
{
    for (size_t i = 0; i < bench->changes.count; i++)
        if (strcmp(bench->changes.items[i].path, path) == 0)
            return &bench->changes.items[i];
    return NULL;
}

static void assert_change(const struct bench *bench, const char *path, const char *kind, const char *type,
                          const char *runs_later)
{
    const struct choke_file_change *change = find(bench, path);
    if (!change)
        fail_msg("'%s' is not listed", path);
    assert_string_equal(change->kind, kind);
    assert_string_equal(change->type, type);
    if (!runs_later)
        assert_null(change->runs_later);
    else
        assert_string_equal(change->runs_later, runs_later);
}

static void untouched_overlay_has_no_change(void **state)
{
    struct bench *bench = *state;
    make_file(bench->sandbox, "l/a", 0644, "a");
    make_file(bench->sandbox, "u/a", 0644, "a");
    make_directory(bench->sandbox, "l/d", 0755);
    make_directory(bench->sandbox, "u/d", 0755);
    make_link(bench->sandbox, "l/n", "a");
    make_link(bench->sandbox, "u/n", "a");
    list(bench);
    assert_int_equal(bench->changes.count, 0);
    assert_false(bench->changes.incomplete);
}

static void kinds_and_types_are_distinguished(void **state)
{
    struct bench *bench = *state;
    const struct sandbox *sandbox = bench->sandbox;
    make_file(sandbox, "l/same-size", 0644, "aa");
    make_file(sandbox, "u/same-size", 0644, "ab");
    make_file(sandbox, "l/mode", 0644, "a");
    make_file(sandbox, "u/mode", 0755, "a");
    make_file(sandbox, "l/turned", 0644, "a");
    make_directory(sandbox, "u/turned", 0755);
    make_file(sandbox, "u/turned/inside", 0644, "a");
    make_link(sandbox, "l/link", "a");
    make_link(sandbox, "u/link", "b");
    make_directory(sandbox, "l/dir", 0755);
    make_directory(sandbox, "u/dir", 0700);
    make_file(sandbox, "u/new", 0644, "");
    assert_int_equal(mkfifo(in(sandbox, "u/fifo"), 0600), 0);
    list(bench);
    assert_change(bench, "same-size", "modified", "file", NULL);
    assert_change(bench, "mode", "mode", "file", "executable");
    assert_change(bench, "turned", "modified", "dir", NULL);
    assert_change(bench, "turned/inside", "added", "file", NULL);
    assert_change(bench, "link", "modified", "link", NULL);
    assert_change(bench, "dir", "mode", "dir", NULL);
    assert_change(bench, "new", "added", "file", NULL);
    assert_change(bench, "fifo", "added", "other", NULL);
    assert_int_equal(bench->changes.count, 8);
    assert_false(bench->changes.incomplete);
}

static void list_is_in_the_order_of_paths(void **state)
{
    struct bench *bench = *state;
    static const char *const names[] = {"u/c", "u/a", "u/b"};
    for (size_t i = 0; i < 3; i++)
        make_file(bench->sandbox, names[i], 0644, "");
    list(bench);
    assert_int_equal(bench->changes.count, 3);
    for (size_t i = 1; i < 3; i++)
        assert_true(strcmp(bench->changes.items[i - 1].path, bench->changes.items[i].path) < 0);
}

static void whiteout_is_a_deletion_of_what_was_there(void **state)
{
    struct bench *bench = *state;
    if (geteuid() != 0)
        skip_without("root", "a device 0:0 is made");
    make_directory(bench->sandbox, "l/d", 0755);
    make_file(bench->sandbox, "l/d/x", 0644, "");
    make_file(bench->sandbox, "l/f", 0644, "");
    assert_int_equal(mknod(in(bench->sandbox, "u/d"), S_IFCHR, makedev(0, 0)), 0);
    assert_int_equal(mknod(in(bench->sandbox, "u/f"), S_IFCHR, makedev(0, 0)), 0);
    assert_int_equal(mknod(in(bench->sandbox, "u/never"), S_IFCHR, makedev(0, 0)), 0);
    list(bench);
    assert_change(bench, "d", "deleted", "dir", NULL);
    assert_change(bench, "f", "deleted", "file", NULL);
    assert_int_equal(bench->changes.count, 2);
    assert_int_not_equal(access(in(bench->sandbox, "k/d"), F_OK), 0);
}

static void opaque_directory_deletes_what_it_hides(void **state)
{
    struct bench *bench = *state;
    make_directory(bench->sandbox, "l/d", 0755);
    make_file(bench->sandbox, "l/d/gone", 0644, "");
    make_file(bench->sandbox, "l/d/stays", 0644, "a");
    make_directory(bench->sandbox, "u/d", 0755);
    make_file(bench->sandbox, "u/d/stays", 0644, "a");
    if (setxattr(in(bench->sandbox, "u/d"), "user.overlay.opaque", "y", 1, 0) < 0)
        skip_without("xattr", "no user.* attributes in /tmp");
    list(bench);
    assert_change(bench, "d/gone", "deleted", "file", NULL);
    assert_int_equal(bench->changes.count, 1);
}

static void links_are_listed_and_never_followed(void **state)
{
    struct bench *bench = *state;
    make_directory(bench->sandbox, "outside", 0755);
    make_file(bench->sandbox, "outside/secret", 0644, "secret");
    make_link(bench->sandbox, "u/dir", "../outside");
    make_link(bench->sandbox, "u/file", "/etc/passwd");
    make_link(bench->sandbox, "u/package.json", "/etc/passwd");
    make_link(bench->sandbox, "l/deep", "../outside");
    make_directory(bench->sandbox, "u/deep", 0755);
    make_file(bench->sandbox, "u/deep/secret", 0644, "secret");
    list(bench);
    assert_change(bench, "dir", "added", "link", "leads out of the root");
    assert_change(bench, "file", "added", "link", "leads out of the root");
    assert_change(bench, "package.json", "added", "link", "leads out of the root");
    assert_change(bench, "deep", "modified", "dir", NULL);
    assert_change(bench, "deep/secret", "added", "file", NULL);
    assert_null(find(bench, "dir/secret"));
    char target[64] = {0};
    assert_true(readlink(in(bench->sandbox, "k/file"), target, sizeof(target) - 1) > 0);
    assert_string_equal(target, "/etc/passwd");
}

static void closed_modes_hide_nothing(void **state)
{
    struct bench *bench = *state;
    make_directory(bench->sandbox, "u/d", 0755);
    make_file(bench->sandbox, "u/d/f", 0000, "#!x");
    make_directory(bench->sandbox, "u/d", 0000);
    make_directory(bench->sandbox, "u", 0000);
    list(bench);
    make_directory(bench->sandbox, "u", 0755);
    assert_change(bench, ".", "mode", "dir", NULL);
    assert_change(bench, "d", "added", "dir", NULL);
    assert_change(bench, "d/f", "added", "file", "script");
    assert_false(bench->changes.incomplete);
    struct stat status;
    assert_int_equal(stat(in(bench->sandbox, "k/d/f"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void names_are_any_bytes(void **state)
{
    struct bench *bench = *state;
    make_file(bench->sandbox, "u/a\nb", 0644, "");
    make_file(bench->sandbox, "u/\xff\xfe", 0644, "");
    list(bench);
    assert_change(bench, "a\nb", "added", "file", NULL);
    assert_change(bench, "\xff\xfe", "added", "file", NULL);
}

/* Directories nested by short names go deeper than any path can name. */
static void deep_tree_is_bounded(void **state)
{
    struct bench *bench = *state;
    char name[201];
    memset(name, 'd', 200);
    name[200] = '\0';
    int at = dup(bench->upper_fd);
    for (int i = 0; i < 60; i++) {
        assert_int_equal(mkdirat(at, name, 0755), 0);
        int down = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void)close(at);
        at = down;
    }
    list(bench);
    assert_true(bench->changes.incomplete);
    assert_in_range(bench->changes.count, 10, 30);
    (void)close(at);
    /* The sandbox is removed by paths, which do not reach this deep. */
    assert_int_equal(ck_scratch_clear(bench->upper_fd, UINT64_MAX), 0);
    assert_int_equal(ck_scratch_clear(bench->keep_fd, UINT64_MAX), 0);
}

static void make_many(const struct bench *bench, int count, const char *text)
{
    char name[32];
    for (int i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "u/f%d", i);
        make_file(bench->sandbox, name, 0644, text);
    }
}

static void list_that_is_cut_is_incomplete_and_in_order(void **state)
{
    struct bench *bench = *state;
    make_many(bench, 100, "");
    (void)list_within(bench, 3);
    assert_true(bench->changes.incomplete);
    assert_int_equal(bench->changes.keep_error, ETIMEDOUT);
    assert_in_range(bench->changes.count, 2, 99);
    for (size_t i = 1; i < bench->changes.count; i++)
        assert_true(strcmp(bench->changes.items[i - 1].path, bench->changes.items[i].path) < 0);
}

static void long_list_is_put_in_order(void **state)
{
    struct bench *bench = *state;
    make_many(bench, 1000, "");
    assert_true(list_within(bench, SIZE_MAX) > 1000 / CK_SLICE_CREATIONS);
    assert_int_equal(bench->changes.count, 1000);
    assert_false(bench->changes.incomplete);
    for (size_t i = 1; i < bench->changes.count; i++)
        assert_true(strcmp(bench->changes.items[i - 1].path, bench->changes.items[i].path) < 0);
}

/* Both ends: the deadline, and a walk that is abandoned. */
static void file_is_kept_whole_or_not_at_all(void **state)
{
    struct bench *bench = *state;
    CK_FD fd = open(in(bench->sandbox, "u/large"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    static char bytes[5 << 20];
    memset(bytes, 'x', sizeof(bytes));
    assert_int_equal(ck_fd_write_all(fd, bytes, sizeof(bytes)), 0);
    (void)list_within(bench, 2);
    assert_int_equal(bench->changes.keep_error, ETIMEDOUT);
    assert_change(bench, "large", "added", "file", NULL);
    assert_int_equal(rmdir(in(bench->sandbox, "k")), 0); /* nothing at all is in it */
    make_directory(bench->sandbox, "k", 0755);
}

static void what_runs_later_is_listed_first(void **state)
{
    struct bench *bench = *state;
    ck_fd_close(&bench->keep_fd);
    make_many(bench, 1000, "");
    make_directory(bench->sandbox, "u/z", 0755);
    make_file(bench->sandbox, "u/z/Makefile", 0644, "");
    make_directory(bench->sandbox, "u/.git", 0755);
    make_directory(bench->sandbox, "u/.git/hooks", 0755);
    make_file(bench->sandbox, "u/.git/hooks/x", 0644, "");
    make_file(bench->sandbox, "u/program", 0755, "");
    make_link(bench->sandbox, "u/link", "f1");
    (void)list_within(bench, 11); /* enough for two times all names, not for the third */
    assert_true(bench->changes.incomplete);
    assert_change(bench, "z/Makefile", "added", "file", "build file");
    assert_change(bench, ".git/hooks/x", "added", "file", "git hook");
    assert_change(bench, "program", "added", "file", "executable");
    assert_change(bench, "link", "added", "link", NULL);
}

/* ---- what a link would become ---- */

static void link_counts_as_what_it_would_become(void **state)
{
    static const struct {
        const char *path, *target, *why;
    } links[] = {
        {"u/.git/hooks", "../scripts", "git hook"},
        {"u/d/.husky", "../x", "git hook"},
        {"u/.vscode", "x", "editor task"},
        {"u/.cargo", "x", "build file"},
        {"u/.github", "x", "pipeline"},
        {"u/.GitHub", "x", "pipeline"},
        {"u/.devcontainer", "x", "editor task"},
        {"u/node_modules", "x", "installed package"},
        {"u/Makefile", "x", "build file"},
        {"u/to-program", "d/program", "executable"},
        {"u/to-script", "script", "script"},
        {"u/to-link", "to-script", "script"},
        {"u/to-itself", "to-itself", "executable"},
        {"u/tool", "plain", "executable"},
        {"u/replaced", "d", "replaced directory"},
        {"u/to-plain", "plain", NULL},
        {"u/to-directory", "d", NULL},
        {"u/to-nothing", "nothing", NULL},
        {"u/d/above", "../plain", NULL},
        {"u/through", "to-directory/program", "executable"},
    };
    struct bench *bench = *state;
    make_directory(bench->sandbox, "u/.git", 0755);
    make_directory(bench->sandbox, "u/d", 0755);
    make_directory(bench->sandbox, "l/d", 0755);
    make_directory(bench->sandbox, "l/replaced", 0755);
    make_file(bench->sandbox, "l/d/program", 0755, "");
    make_file(bench->sandbox, "l/tool", 0755, "");
    make_file(bench->sandbox, "l/plain", 0644, "");
    make_file(bench->sandbox, "u/script", 0644, "#!/bin/sh");
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        make_link(bench->sandbox, links[i].path, links[i].target);
    list(bench);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        const struct choke_file_change *change = find(bench, links[i].path + 2);
        if (!change || (!links[i].why) != (!change->runs_later) ||
            (links[i].why && strcmp(links[i].why, change->runs_later) != 0))
            fail_msg("'%s': %s", links[i].path, !change ? "not listed" : change->runs_later);
    }
}

static void kept_copy_is_what_was_changed(void **state)
{
    struct bench *bench = *state;
    char text[16] = {0};
    struct stat status;
    make_directory(bench->sandbox, "l/d", 0755);
    make_file(bench->sandbox, "l/d/old", 0644, "old");
    make_directory(bench->sandbox, "u/d", 0755);
    make_file(bench->sandbox, "u/d/old", 0644, "old");
    make_file(bench->sandbox, "u/d/new", 06755, "new");
    assert_int_equal(mkfifo(in(bench->sandbox, "u/d/fifo"), 0600), 0);
    list(bench);
    assert_int_equal(bench->changes.keep_error, 0);
    assert_int_not_equal(access(in(bench->sandbox, "k/d/old"), F_OK), 0);
    assert_int_not_equal(access(in(bench->sandbox, "k/d/fifo"), F_OK), 0);
    assert_int_equal(stat(in(bench->sandbox, "k/d/new"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0755);
    CK_FD fd = open(in(bench->sandbox, "k/d/new"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(ck_fd_read_all(fd, text, sizeof(text)), 3);
    assert_string_equal(text, "new");
}

static void hole_is_not_filled(void **state)
{
    struct bench *bench = *state;
    struct stat status;
    CK_FD fd = open(in(bench->sandbox, "u/hole"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(pwrite(fd, "x", 1, (off_t)8 << 30), 1);
    assert_int_equal(ftruncate(fd, (off_t)64 << 30), 0);
    list(bench);
    assert_int_equal(bench->changes.keep_error, 0);
    assert_int_equal(stat(in(bench->sandbox, "k/hole"), &status), 0);
    assert_true(status.st_size == (off_t)64 << 30);
    assert_in_range(status.st_blocks, 1, 256);
}

/* The default of SIGXFSZ would end this program. */
static void limit_of_the_caller_does_not_end_it(void **state)
{
    struct bench *bench = *state;
    struct rlimit before;
    CK_FD fd = open(in(bench->sandbox, "u/large"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 1 << 16, .rlim_max = before.rlim_max}), 0);
    list(bench);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(bench->changes.keep_error, EFBIG);
}

static void failure_to_keep_is_reported(void **state)
{
    struct bench *bench = *state;
    make_file(bench->sandbox, "u/a", 0644, "");
    make_file(bench->sandbox, "k/a", 0644, "in the way");
    list(bench);
    assert_int_equal(bench->changes.keep_error, EEXIST);
    assert_change(bench, "a", "added", "file", NULL);
}

/* ---- the place for what is kept ---- */

static int look(const struct bench *bench, const char *name, struct ck_keep_target *place)
{
    struct ck_identity root;
    struct choke_error error;
    static struct ck_arena arena;
    assert_int_equal(ck_trust_identity_of(bench->lower_fd, &root), 0);
    ck_arena_done(&arena);
    return ck_keep_check(in(bench->sandbox, name), root, &arena, place, &error);
}

static void keep_directory_is_checked(void **state)
{
    struct bench *bench = *state;
    struct ck_keep_target place;
    make_directory(bench->sandbox, "l/sub", 0755);
    make_directory(bench->sandbox, "open", 0777);
    make_directory(bench->sandbox, "full", 0755);
    make_file(bench->sandbox, "full/x", 0644, "");
    make_link(bench->sandbox, "into", "l/sub");
    assert_int_equal(look(bench, "l", &place), -EXDEV);
    assert_int_equal(look(bench, "l/sub", &place), -EXDEV);
    assert_int_equal(look(bench, "l/new", &place), -EXDEV);
    assert_int_equal(look(bench, "l/sub/new/", &place), -EXDEV);
    assert_int_equal(look(bench, "into/new", &place), -EXDEV);
    assert_int_equal(look(bench, "open", &place), -EPERM);
    assert_int_equal(look(bench, "full", &place), -ENOTEMPTY);
    assert_int_equal(look(bench, "full/x", &place), -ENOTDIR);
    assert_int_equal(look(bench, "none/new", &place), -ENOENT);
}

static void keep_directory_is_made_when_it_is_needed(void **state)
{
    struct bench *bench = *state;
    struct ck_keep_target place;
    int fd = -1;
    assert_int_equal(look(bench, "fresh//", &place), 0);
    assert_int_not_equal(access(in(bench->sandbox, "fresh"), F_OK), 0);
    assert_int_equal(ck_keep_make(&place, &fd), 0);
    assert_int_equal(access(in(bench->sandbox, "fresh"), F_OK), 0);
    ck_fd_close(&fd);
    assert_int_equal(ck_keep_make(&place, &fd), -EEXIST);
    ck_keep_remove_empty(&place);
    assert_int_not_equal(access(in(bench->sandbox, "fresh"), F_OK), 0);
    ck_fd_close(&place.fd);
    assert_int_equal(look(bench, "k", &place), 0);
    assert_int_equal(ck_keep_make(&place, &fd), 0);
    ck_keep_remove_empty(&place);
    assert_int_equal(access(in(bench->sandbox, "k"), F_OK), 0);
    ck_fd_close(&fd);
    ck_fd_close(&place.fd);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(untouched_overlay_has_no_change),
        WITH_BENCH(kinds_and_types_are_distinguished),
        WITH_BENCH(list_is_in_the_order_of_paths),
        WITH_BENCH(whiteout_is_a_deletion_of_what_was_there),
        WITH_BENCH(opaque_directory_deletes_what_it_hides),
        WITH_BENCH(links_are_listed_and_never_followed),
        WITH_BENCH(closed_modes_hide_nothing),
        WITH_BENCH(names_are_any_bytes),
        WITH_BENCH(deep_tree_is_bounded),
        WITH_BENCH(list_that_is_cut_is_incomplete_and_in_order),
        WITH_BENCH(long_list_is_put_in_order),
        WITH_BENCH(file_is_kept_whole_or_not_at_all),
        WITH_BENCH(what_runs_later_is_listed_first),
        WITH_BENCH(link_counts_as_what_it_would_become),
        WITH_BENCH(kept_copy_is_what_was_changed),
        WITH_BENCH(hole_is_not_filled),
        WITH_BENCH(limit_of_the_caller_does_not_end_it),
        WITH_BENCH(failure_to_keep_is_reported),
        WITH_BENCH(keep_directory_is_checked),
        WITH_BENCH(keep_directory_is_made_when_it_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
