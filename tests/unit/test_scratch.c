/*
 * test_scratch.c - a directory for one run: made for its owner alone, and removed whatever a
 * hostile tool has put there.
 */
#include "sandbox.h"
#include "sys/scratch.h"

#include "base/clock.h"
#include "base/fd.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <cmocka.h>

struct bench {
    struct sandbox *sandbox;
    struct ck_scratch_pool scratch_pool;
    struct ck_arena arena;
};

static int setup(void **state)
{
    static struct bench bench;
    void *sandbox;
    if (sandbox_new(&sandbox) != 0)
        return -1;
    bench = (struct bench){.sandbox = sandbox};
    (void)setenv("XDG_RUNTIME_DIR", bench.sandbox->path, 1);
    ck_scratch_pool_init(&bench.scratch_pool);
    *state = &bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    void *sandbox = bench->sandbox;
    ck_scratch_pool_done(&bench->scratch_pool);
    ck_arena_done(&bench->arena);
    return sandbox_free(&sandbox);
}

/* As a context does it, in any number of slices; returns the number. */
static size_t remove_whole(struct ck_scratch *scratch)
{
    size_t slices = 0;
    for (bool gone = false; !gone; slices++) {
        struct ck_slice slice = CK_SLICE_WHOLE;
        gone = ck_scratch_remove_step(scratch, &slice);
    }
    return slices;
}

static const char *make(struct bench *bench, struct ck_scratch *scratch)
{
    struct choke_error error = {0};
    const char *path = ck_scratch_name(&bench->scratch_pool, "probe", &bench->arena);
    assert_non_null(path);
    if (ck_scratch_make(&bench->scratch_pool, path, scratch, &error) < 0)
        fail_msg("%s", error.message);
    return path;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static size_t entries(const char *path)
{
    size_t count = 0;
    DIR *listing = opendir(path);
    assert_non_null(listing);
    while (readdir(listing))
        count++;
    (void)closedir(listing);
    return count - 2;
}

static void write_file(const char *directory, const char *name)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
}

static void it_is_named_after_the_probe_and_for_its_owner_alone(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    struct stat status;
    const char *path = make(bench, &scratch);
    char start[PATH_MAX];
    (void)snprintf(start, sizeof(start), "%s/chokepoint/chokepoint-probe-", bench->sandbox->path);
    assert_memory_equal(path, start, strlen(start));
    assert_int_equal(strlen(path), strlen(start) + 16);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    assert_int_equal(stat(in(bench->sandbox, "chokepoint"), &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    remove_whole(&scratch);
    assert_false(exists(path));
    remove_whole(&scratch); /* harmless */
}

static void a_name_alone_writes_nothing(void **state)
{
    struct bench *bench = *state;
    assert_non_null(ck_scratch_name(&bench->scratch_pool, "probe", &bench->arena));
    assert_int_equal(entries(bench->sandbox->path), 0);
}

static void a_link_is_removed_and_not_followed(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    char link[PATH_MAX];
    assert_int_equal(mkdir(in(bench->sandbox, "precious"), 0700), 0);
    write_file(in(bench->sandbox, "precious"), "file");
    const char *path = make(bench, &scratch);
    (void)snprintf(link, sizeof(link), "%s/directory", path);
    assert_int_equal(symlink(in(bench->sandbox, "precious"), link), 0);
    (void)snprintf(link, sizeof(link), "%s/file", path);
    assert_int_equal(symlink(in(bench->sandbox, "precious/file"), link), 0);
    (void)snprintf(link, sizeof(link), "%s/sub", path);
    assert_int_equal(mkdir(link, 0700), 0);
    (void)snprintf(link, sizeof(link), "%s/sub/up", path);
    assert_int_equal(symlink("../../..", link), 0);
    remove_whole(&scratch);
    assert_false(exists(path));
    assert_true(exists(in(bench->sandbox, "precious/file")));
}

/* The directory itself is replaced by a link while it is in use: the real one is emptied, the link
 * stays a link. */
static void a_swapped_directory_is_not_followed(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    assert_int_equal(mkdir(in(bench->sandbox, "precious"), 0700), 0);
    write_file(in(bench->sandbox, "precious"), "file");
    const char *path = make(bench, &scratch);
    write_file(path, "own");
    assert_int_equal(rename(path, in(bench->sandbox, "moved")), 0);
    assert_int_equal(symlink(in(bench->sandbox, "precious"), path), 0);
    remove_whole(&scratch);
    assert_true(exists(in(bench->sandbox, "precious/file")));
    assert_int_equal(entries(in(bench->sandbox, "moved")), 0);
    assert_int_equal(unlink(path), 0);
}

/* Deeper than PATH_MAX, than the limit of descriptors and than any recursion could go. */
static void a_deep_tree_goes(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    const char *path = make(bench, &scratch);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int depth = 0; depth < 5000; depth++) {
        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        int next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        (void)close(fd);
        fd = next;
    }
    (void)close(fd);
    while (exists(path)) { /* what takes longer than half a second is left to the next sweep */
        remove_whole(&scratch);
        if (exists(path)) {
            struct ck_scratch another = {0};
            (void)make(bench, &another);
            remove_whole(&another);
        }
    }
}

static void closed_tree(const char *path)
{
    char name[PATH_MAX];
    for (int i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof(name), "%s/shut%d", path, i);
        assert_int_equal(mkdir(name, 0700), 0);
        write_file(name, "file");
        (void)snprintf(name, sizeof(name), "%s/shut%d/inner", path, i);
        assert_int_equal(mkdir(name, 0700), 0);
        write_file(name, "file");
        assert_int_equal(chmod(name, i == 0 ? 0 : i == 1 ? 0500 : 0400), 0);
        (void)snprintf(name, sizeof(name), "%s/shut%d", path, i);
        assert_int_equal(chmod(name, i == 0 ? 0 : i == 1 ? 0555 : 0111), 0);
    }
    assert_int_equal(chmod(path, 0), 0);
}

/* As an ordinary user, because modes do not restrict root. */
static void directories_without_permissions_go(void **state)
{
    struct bench *bench = *state;
    if (geteuid() == 0)
        assert_int_equal(chown(bench->sandbox->path, 65534, 65534), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(3);
        struct ck_scratch scratch = {0};
        struct choke_error error = {0};
        struct ck_arena arena = {0};
        struct ck_scratch_pool scratch_pool;
        ck_scratch_pool_init(&scratch_pool);
        const char *path = ck_scratch_name(&scratch_pool, "probe", &arena);
        if (ck_scratch_make(&scratch_pool, path, &scratch, &error) < 0)
            _exit(4);
        closed_tree(path);
        remove_whole(&scratch);
        _exit(exists(path) ? 5 : 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void many_files_and_names_like_our_own_go(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    char name[PATH_MAX];
    const char *path = make(bench, &scratch);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "%s/%d", path, i);
        assert_int_equal(mkdir(name, 0700), 0);
        (void)snprintf(name, sizeof(name), "%s/%d/sub", path, i);
        assert_int_equal(mkdir(name, 0700), 0);
        write_file(name, "file");
        write_file(name, "other\nfile");
    }
    assert_true(remove_whole(&scratch) >= 300 * 4 / CK_SLICE_ENTRIES);
    assert_false(exists(path));
}

static void one_slice_removes_no_more_than_a_slice(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    struct ck_slice slice = CK_SLICE_WHOLE;
    char name[16];
    const char *path = make(bench, &scratch);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        write_file(path, name);
    }
    size_t before = entries(path);
    assert_false(ck_scratch_remove_step(&scratch, &slice));
    assert_in_range(before - entries(path), 1, CK_SLICE_ENTRIES);
    (void)remove_whole(&scratch);
    assert_false(exists(path));
}

/* The kernel frees all blocks of a file when its last name is removed. */
static void large_file_is_freed_in_pieces(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    static char bytes[1 << 20];
    struct stat status;
    (void)make(bench, &scratch);
    memset(bytes, 'x', sizeof(bytes));
    CK_FD fd = openat(scratch.fd, "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0);
    for (int i = 0; i < 40; i++)
        assert_int_equal(ck_fd_write_all(fd, bytes, sizeof(bytes)), 0);
    assert_int_equal(fstat(fd, &status), 0);
    for (bool gone = false; !gone;) {
        struct ck_slice slice = CK_SLICE_WHOLE;
        blkcnt_t before = status.st_blocks;
        gone = ck_scratch_remove_step(&scratch, &slice);
        assert_int_equal(fstat(fd, &status), 0);
        assert_true(before - status.st_blocks <= (blkcnt_t)(16 * CK_SLICE_BYTES / 512) + 8);
    }
    assert_int_equal(status.st_nlink, 0);
}

/* A killed caller leaves only the directory; a running one holds the lock. */
static void what_a_killed_caller_left_is_swept_and_what_is_in_use_is_not(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch mine = {0}, next = {0};
    struct ck_scratch_pool other;
    struct choke_error error = {0};
    const char *used = make(bench, &mine);
    const char *left = ck_scratch_name(&bench->scratch_pool, "left", &bench->arena);
    pid_t pid = fork();
    if (pid == 0) {
        struct ck_scratch_pool own;
        struct ck_scratch scratch;
        ck_scratch_pool_init(&own);
        if (ck_scratch_make(&own, left, &scratch, &error) < 0)
            _exit(1);
        write_file(left, "file");
        (void)kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(exists(left));
    ck_scratch_pool_init(&other);
    const char *path = ck_scratch_name(&other, "next", &bench->arena);
    assert_int_equal(ck_scratch_make(&other, path, &next, &error), 0);
    for (bool swept = false; !swept;) {
        struct ck_slice slice = CK_SLICE_WHOLE;
        swept = ck_scratch_pool_sweep(&other, &slice);
    }
    assert_false(exists(left));
    assert_true(exists(used));
    remove_whole(&next);
    ck_scratch_pool_done(&other);
    remove_whole(&mine);
    assert_false(exists(used));
}

static void a_fork_of_the_caller_leaves_it_alone(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    const char *path = make(bench, &scratch);
    pid_t pid = fork();
    if (pid == 0) {
        remove_whole(&scratch);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(exists(path));
    remove_whole(&scratch);
    assert_false(exists(path));
}

static void a_directory_that_others_may_enter_is_refused(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    struct choke_error error = {0};
    assert_int_equal(mkdir(in(bench->sandbox, "chokepoint"), 0700), 0);
    assert_int_equal(chmod(in(bench->sandbox, "chokepoint"), 0755), 0);
    const char *path = ck_scratch_name(&bench->scratch_pool, "probe", &bench->arena);
    assert_true(ck_scratch_make(&bench->scratch_pool, path, &scratch, &error) < 0);
    assert_int_equal(error.outcome, CHOKE_SPAWN_FAILED);
    assert_int_equal(rmdir(in(bench->sandbox, "chokepoint")), 0);
    assert_int_equal(mkdir(in(bench->sandbox, "elsewhere"), 0700), 0);
    assert_int_equal(symlink("elsewhere", in(bench->sandbox, "chokepoint")), 0);
    error = (struct choke_error){0};
    assert_true(ck_scratch_make(&bench->scratch_pool, path, &scratch, &error) < 0);
    assert_int_equal(entries(in(bench->sandbox, "elsewhere")), 0);
}

static void a_runtime_directory_that_is_not_private_is_not_used(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(chmod(bench->sandbox->path, 0711), 0);
    ck_scratch_pool_init(&bench->scratch_pool);
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "/tmp/chokepoint-%u", (unsigned)geteuid());
    assert_string_equal(bench->scratch_pool.parent, expected);
}

static void a_parent_that_was_removed_is_made_again(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    (void)make(bench, &scratch);
    remove_whole(&scratch);
    assert_int_equal(rmdir(in(bench->sandbox, "chokepoint")), 0);
    const char *path = make(bench, &scratch);
    assert_true(exists(path));
    remove_whole(&scratch);
    assert_false(exists(path));
}

static void clearing_stops_at_its_deadline(void **state)
{
    struct bench *bench = *state;
    struct ck_scratch scratch = {0};
    char name[16];
    const char *path = make(bench, &scratch);
    for (int i = 0; i < 500; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        write_file(path, name);
    }
    assert_int_equal(ck_scratch_clear(scratch.fd, ck_clock_now_ns()), -ETIME);
    assert_true(entries(path) > 0);
    assert_int_equal(ck_scratch_clear(scratch.fd, UINT64_MAX), 0);
    assert_int_equal(entries(path), 0);
    remove_whole(&scratch);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_named_after_the_probe_and_for_its_owner_alone),
        TEST(a_name_alone_writes_nothing),
        TEST(a_link_is_removed_and_not_followed),
        TEST(a_swapped_directory_is_not_followed),
        TEST(a_deep_tree_goes),
        TEST(directories_without_permissions_go),
        TEST(many_files_and_names_like_our_own_go),
        TEST(one_slice_removes_no_more_than_a_slice),
        TEST(large_file_is_freed_in_pieces),
        TEST(what_a_killed_caller_left_is_swept_and_what_is_in_use_is_not),
        TEST(a_fork_of_the_caller_leaves_it_alone),
        TEST(a_directory_that_others_may_enter_is_refused),
        TEST(a_runtime_directory_that_is_not_private_is_not_used),
        TEST(a_parent_that_was_removed_is_made_again),
        TEST(clearing_stops_at_its_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
