/*
 * test_gitlink.c - core.worktree is read as git reads it, or not at all; and a lack of descriptors
 * is no answer.
 */
#undef _FORTIFY_SOURCE /* its openat is inline, and cannot be defined below */
#include "sys/gitlink.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static void a_value_is_read_as_git_reads_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int found;
        const char *value;
    } rows[] = {
        {"[core]\n\tworktree = ../../../sub\n", 1, "../../../sub"},
        {"[core]\nworktree=a", 1, "a"},
        {"[CORE]\nWorkTree = a b \t\n", 1, "a b"},
        {"[core] worktree = a\n", 1, "a"},
        {"[core]\nworktree = \"a # b\" # c\n", 1, "a # b"},
        {"[core]\nworktree = a;b\n", 1, "a"},
        {"[core]\nworktree = \"a\\\\b\\\"\"\n", 1, "a\\b\""},
        {"[core]\nworktree = a\r\n", 1, "a"},
        {"[core]\n# worktree = a\n", 0, NULL},
        {"[core \"x\"]\nworktree = a\n", 0, NULL},
        {"[other]\nworktree = a\n", 0, NULL},
        {"[core]\nworktrees = a\n[x]\nworktree = b\n", 0, NULL},
        {"", 0, NULL},
        {"[core]\nworktree = a\nworktree = b\n", -EINVAL, NULL},
        {"[core]\nworktree = a\n[core]\nworktree = a\n", -EINVAL, NULL},
        {"[core]\nworktree\n", -EINVAL, NULL},
        {"[core]\nworktree = a\\\nb\n", -EINVAL, NULL},
        {"[core]\nx = y\\\nworktree = b\n", -EINVAL, NULL},
        {"[core]\nworktree = \"a\n", -EINVAL, NULL},
        {"[core]\nworktree = a\\tb\n", -EINVAL, NULL},
    };
    char value[PATH_MAX];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(ck_gitlink_worktree_key(rows[i].text, strlen(rows[i].text), value), rows[i].found);
        if (rows[i].value)
            assert_string_equal(value, rows[i].value);
    }
    assert_int_equal(ck_gitlink_worktree_key("[core]\nworktree = a\0b\n", 22, value), -EINVAL);
}

static void a_value_that_is_too_long_is_not_read(void **state)
{
    (void)state;
    static char text[PATH_MAX + 64] = "[core]\nworktree = ";
    char value[PATH_MAX];
    memset(text + strlen(text), 'a', PATH_MAX);
    assert_int_equal(ck_gitlink_worktree_key(text, strlen(text), value), -EINVAL);
}

/* A repository with the worktree ROOT, in a new directory. The worktree is returned open. */
static int make_worktree(char base[64])
{
    char command[1024];
    (void)snprintf(base, 64, "/tmp/choke-test-gitlink-XXXXXX");
    assert_non_null(mkdtemp(base));
    (void)snprintf(command, sizeof(command),
                   "cd %s && umask 022 && mkdir -p c/objects c/refs c/worktrees/id root && : > c/HEAD && "
                   "echo ../.. > c/worktrees/id/commondir && echo %s/root/.git > c/worktrees/id/gitdir && "
                   "echo gitdir: %s/c/worktrees/id > root/.git",
                   base, base, base);
    assert_int_equal(system(command), 0);
    (void)snprintf(command, sizeof(command), "%s/root", base);
    int fd = open(command, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static int call, failing_call;

/* In place of the one of libc: the call with the number failing_call has no descriptor. */
int openat(int directory_fd, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (++call != failing_call)
        return (int)syscall(SYS_openat, directory_fd, path, flags, mode);
    errno = ENFILE;
    return -1;
}

/* Whichever call fails, the answer is the right one, or that a descriptor was missing. */
static void a_lack_of_descriptors_hides_nothing(void **state)
{
    char base[64], command[128];
    struct ck_gitlink link;
    int r, failures = 0;
    (void)state;
    int root_fd = make_worktree(base);
    do {
        call = 0;
        failing_call++;
        r = ck_gitlink_find(root_fd, &link);
        failures += r == -ENFILE ? 1 : 0;
        ck_gitlink_done(&link);
        assert_true(r == 1 || r == -ENFILE);
    } while (call >= failing_call);
    assert_int_equal(r, 1);
    assert_true(failures > 5);
    (void)close(root_fd);
    (void)snprintf(command, sizeof(command), "rm -r %s", base);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_value_is_read_as_git_reads_it),
                                       cmocka_unit_test(a_value_that_is_too_long_is_not_read),
                                       cmocka_unit_test(a_lack_of_descriptors_hides_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
