/* test_landlock.c - with a ruleset a process executes the files in it, and no others; the rest of its rights stay. */
#include "sandbox.h"
#include "sys/elf.h"
#include "sys/landlock.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* Runs act in a child that has taken on the ruleset; its answer is the child's status. */
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

/* Ends with the program's status, or with errno where it is refused. */
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
    assert_int_equal(ck_elf_interpreter(fd, loader, sizeof loader), 0);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, sandbox_new, sandbox_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_can_be_executed_with_an_empty_ruleset),
        TEST(an_allowed_program_needs_its_loader_too),
        TEST(the_file_is_meant_and_not_its_name),
        TEST(a_memory_file_is_outside_of_it),
        TEST(all_else_goes_on_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
