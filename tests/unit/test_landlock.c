/*
 * test_landlock.c - with a ruleset a process executes the files in it, and no others; its other
 * rights stay. With a complete ruleset it has only the granted rights.
 */
#include "sandbox.h"
#include "sys/elf.h"
#include "sys/landlock.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "feature.h"

static int new_ruleset(void)
{
    int fd = ck_landlock_new();
    if (fd == -ENOSYS || fd == -EOPNOTSUPP)
        skip_without("landlock", strerror(-fd));
    assert_true(fd >= 0);
    return fd;
}

static void allow(int ruleset_fd, const char *path)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ck_landlock_allow(ruleset_fd, fd), 0);
    close(fd);
}

/* Runs act in a child that has applied the ruleset; the child's status is its answer. */
static int with(int ruleset_fd, int (*act)(const void *argument), const void *argument)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0)
            _exit(100);
        _exit(act(argument));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Exits with the program's status, or with errno if execve is refused. */
static int execute(const void *path)
{
    char name[] = "tool", *argv[] = {name, NULL}, *envp[] = {NULL};
    (void)execve(path, argv, envp);
    return errno;
}

static void nothing_can_be_executed_with_an_empty_ruleset(void **state)
{
    (void)state;
    int ruleset_fd = new_ruleset();
    assert_int_equal(with(ruleset_fd, execute, "/bin/true"), EACCES);
    assert_int_equal(with(ruleset_fd, execute, "/proc/self/exe"), EACCES);
    close(ruleset_fd);
}

static void allow_loader_of(int ruleset_fd, const char *path)
{
    char loader[PATH_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ck_elf_interpreter(fd, loader, sizeof(loader)), 0);
    close(fd);
    allow(ruleset_fd, loader);
}

static void an_allowed_program_needs_its_loader_too(void **state)
{
    (void)state;
    int ruleset_fd = new_ruleset();
    allow(ruleset_fd, "/bin/true");
    assert_int_equal(with(ruleset_fd, execute, "/bin/true"), EACCES);
    allow_loader_of(ruleset_fd, "/bin/true");
    assert_int_equal(with(ruleset_fd, execute, "/bin/true"), 0);
    assert_int_equal(with(ruleset_fd, execute, "/bin/false"), EACCES);
    close(ruleset_fd);
}

static void the_file_is_meant_and_not_its_name(void **state)
{
    struct sandbox *sandbox = *state;
    int ruleset_fd = new_ruleset();
    make_file(sandbox, "script", 0755, "#!/bin/true\n");
    make_file(sandbox, "copy", 0755, "#!/bin/true\n");
    assert_int_equal(link(in(sandbox, "script"), in(sandbox, "other")), 0);
    make_link(sandbox, "link", "script");
    allow(ruleset_fd, "/bin/true");
    allow_loader_of(ruleset_fd, "/bin/true");
    allow(ruleset_fd, in(sandbox, "script"));
    assert_int_equal(with(ruleset_fd, execute, in(sandbox, "other")), 0);
    assert_int_equal(with(ruleset_fd, execute, in(sandbox, "link")), 0);
    assert_int_equal(with(ruleset_fd, execute, in(sandbox, "copy")), EACCES);
    assert_int_equal(rename(in(sandbox, "copy"), in(sandbox, "script")), 0);
    assert_int_equal(with(ruleset_fd, execute, in(sandbox, "script")), EACCES);
    close(ruleset_fd);
}

/* No rule can be made for it, and it can be executed without one. */
static void a_memory_file_is_outside_of_it(void **state)
{
    (void)state;
    int ruleset_fd = new_ruleset();
    int memory_fd = memfd_create("tool", MFD_CLOEXEC);
    assert_true(memory_fd >= 0);
    assert_int_equal(ck_landlock_allow(ruleset_fd, memory_fd), 0);
    close(memory_fd);
    close(ruleset_fd);
}

static int use_files(const void *argument)
{
    const struct sandbox *sandbox = argument;
    int fd = open(in(sandbox, "one/new"), O_RDWR | O_CREAT | O_CLOEXEC, 0700);
    if (fd < 0 || write(fd, "x", 1) != 1)
        return 1;
    if (rename(in(sandbox, "one/new"), in(sandbox, "two/new")) < 0)
        return 2;
    if (link(in(sandbox, "two/new"), in(sandbox, "one/again")) < 0)
        return 3;
    if (mkdir(in(sandbox, "two/directory"), 0755) < 0)
        return 4;
    return rename(in(sandbox, "two/directory"), in(sandbox, "one/directory")) < 0 ? 5 : 0;
}

static void all_else_goes_on_as_before(void **state)
{
    int ruleset_fd = new_ruleset();
    make_directory(*state, "one", 0755);
    make_directory(*state, "two", 0755);
    allow(ruleset_fd, "/bin/true");
    assert_int_equal(with(ruleset_fd, use_files, *state), 0);
    close(ruleset_fd);
}

/* ---- a ruleset that bounds everything ---- */

static int new_whole(void)
{
    int fd = ck_landlock_new_full();
    if (fd == -ENOSYS || fd == -EOPNOTSUPP)
        skip_without("landlock", strerror(-fd));
    assert_true(fd >= 0);
    return fd;
}

static void grant(int ruleset_fd, const char *path, enum ck_landlock_grant what)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ck_landlock_grant(ruleset_fd, fd, what), 0);
    close(fd);
}

/* What can be done with a directory and the file "file" in it, one letter each; the letters are the
 * child's status. */
static int try_all(const void *argument)
{
    const char *place = argument;
    int found = 0;
    if (chdir(place) < 0)
        return 100;
    found |= open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 ? 1 : 0;
    found |= open("file", O_RDONLY | O_CLOEXEC) >= 0 ? 2 : 0;
    found |= open("file", O_WRONLY | O_CLOEXEC) >= 0 ? 4 : 0;
    found |= truncate("file", 0) == 0 ? 8 : 0;
    found |= open("new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0 ? 16 : 0;
    /* Not device 0:0, the whiteout of overlayfs: the one of Linux 7.2 was made where devices may not be. */
    found |= mknod("node", S_IFCHR | 0600, makedev(1, 3)) == 0 ? 32 : 0;
    return found;
}

static void a_grant_gives_what_it_says(void **state)
{
    static const struct {
        enum ck_landlock_grant grant;
        int found;
    } cases[] = {
        {CK_LANDLOCK_GRANT_LIST, 1}, {CK_LANDLOCK_GRANT_READ, 1 | 2}, {CK_LANDLOCK_GRANT_WRITE, 1 | 2 | 4 | 8 | 16}};
    struct sandbox *sandbox = *state;
    make_directory(sandbox, "one", 0755);
    make_file(sandbox, "one/file", 0600, "text");
    int empty_fd = new_whole();
    assert_int_equal(with(empty_fd, try_all, in(sandbox, "one")), 0);
    close(empty_fd);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int ruleset_fd = new_whole();
        grant(ruleset_fd, in(sandbox, "one"), cases[i].grant);
        assert_int_equal(with(ruleset_fd, try_all, in(sandbox, "one")), cases[i].found);
        close(ruleset_fd);
    }
}

static void a_grant_of_a_file_is_for_that_file(void **state)
{
    struct sandbox *sandbox = *state;
    int ruleset_fd = new_whole();
    make_directory(sandbox, "one", 0755);
    make_file(sandbox, "one/file", 0600, "text");
    make_file(sandbox, "one/other", 0600, "text");
    grant(ruleset_fd, in(sandbox, "one/file"), CK_LANDLOCK_GRANT_DEVICE);
    assert_int_equal(with(ruleset_fd, try_all, in(sandbox, "one")), 2 | 4 | 8);
    close(ruleset_fd);
    ruleset_fd = new_whole();
    grant(ruleset_fd, in(sandbox, "one/other"), CK_LANDLOCK_GRANT_READ);
    assert_int_equal(with(ruleset_fd, try_all, in(sandbox, "one")), 0);
    close(ruleset_fd);
}

static void writing_is_not_executing(void **state)
{
    struct sandbox *sandbox = *state;
    int ruleset_fd = new_whole();
    make_directory(sandbox, "one", 0755);
    make_file(sandbox, "one/script", 0755, "#!/bin/true\n");
    grant(ruleset_fd, "/usr", CK_LANDLOCK_GRANT_READ);
    grant(ruleset_fd, "/bin/true", CK_LANDLOCK_GRANT_EXECUTE);
    grant(ruleset_fd, in(sandbox, "one"), CK_LANDLOCK_GRANT_WRITE);
    allow_loader_of(ruleset_fd, "/bin/true");
    assert_int_equal(with(ruleset_fd, execute, in(sandbox, "one/script")), EACCES);
    assert_int_equal(with(ruleset_fd, execute, "/bin/true"), 0);
    close(ruleset_fd);
}

static int signal_parent(const void *argument)
{
    (void)argument;
    return kill(getppid(), 0) == 0 ? 0 : errno;
}

static void nobody_outside_is_signalled(void **state)
{
    (void)state;
    int ruleset_fd = new_whole();
    if (ck_landlock_abi() < CK_LANDLOCK_SCOPE_ABI)
        skip_without("landlock", "no scopes");
    assert_int_equal(with(ruleset_fd, signal_parent, NULL), EPERM);
    close(ruleset_fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sandbox_new, sandbox_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_can_be_executed_with_an_empty_ruleset),
        TEST(an_allowed_program_needs_its_loader_too),
        TEST(the_file_is_meant_and_not_its_name),
        TEST(a_memory_file_is_outside_of_it),
        TEST(all_else_goes_on_as_before),
        TEST(a_grant_gives_what_it_says),
        TEST(a_grant_of_a_file_is_for_that_file),
        TEST(writing_is_not_executing),
        TEST(nobody_outside_is_signalled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
