/* test_bwrap.c - the command line of bwrap and the arguments of the native jail, to the letter. */
#include "jail/bwrap.h"
#include "jail/mounts.h"
#include "jail/native_program.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A system with a link, a small file and a tree; a tool in the tree, one in another directory, one
 * that had to move. */
static void fill(struct ck_native_builder *program)
{
    ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, "work", NULL);
    ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, "usr", NULL);
    ck_native_program_add(program, CK_NATIVE_OP_BIND, "usr", "/usr");
    ck_native_program_add(program, CK_NATIVE_OP_LINK, "bin", "usr/bin");
    ck_native_program_add(program, CK_NATIVE_OP_BIND, "proc", "/proc");
    ck_native_program_add(program, CK_NATIVE_OP_FILE, "etc/passwd", "root:x:0:0::/:/bin/sh\n");
    ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, "etc/ssl", NULL);
    ck_native_program_add(program, CK_NATIVE_OP_BIND, "etc/ssl", "/etc/ssl");
    ck_native_program_add(program, CK_NATIVE_OP_FILE, "dev/null", NULL);
    ck_native_program_add(program, CK_NATIVE_OP_BIND_DEVICE, "dev/null", "/dev/null");
    ck_native_program_add(program, CK_NATIVE_OP_LINK, "dev/shm", "/tmp/shm");
    ck_native_program_add(program, CK_NATIVE_OP_BIND_CODE, "usr/bin/rg", "/usr/bin/rg");
    ck_native_program_add(program, CK_NATIVE_OP_FILE, "opt/x/tool", NULL);
    ck_native_program_add(program, CK_NATIVE_OP_BIND_CODE, "opt/x/tool", "/opt/x/tool");
    ck_native_program_add(program, CK_NATIVE_OP_BIND_CODE, ".tool/9/moved", "/tmp/b/moved");
    ck_native_program_add(program, CK_NATIVE_OP_BIND_CODE, "usrlocal/x", "/usrlocal/x");
    ck_native_program_allow(program, "/usr/bin/rg");
}

struct fixture {
    struct ck_native_builder program;
    struct ck_arena arena;
    const struct ck_native_program *packed;
};

static int setup(void **state)
{
    static struct fixture fixture;
    static const struct ck_native_program_settings settings = {.tmp_options = "size=1g", .landlock_abi = 3};
    fixture = (struct fixture){0};
    fill(&fixture.program);
    fixture.packed = ck_native_program_pack(&fixture.program, &settings);
    *state = &fixture;
    return !fixture.packed ? -1 : 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    ck_native_program_done(&fixture->program);
    ck_arena_done(&fixture->arena);
    return 0;
}

static void assert_argv(const char *const *got, const char *const *wanted)
{
    assert_non_null(got);
    size_t i = 0;
    for (; wanted[i]; i++) {
        assert_non_null(got[i]);
        assert_string_equal(got[i], wanted[i]);
    }
    assert_null(got[i]);
}

#define JAIL \
    "bwrap", "--unshare-all", "--new-session", "--die-with-parent", "--as-pid-1", "--hostname", "jail", "--cap-drop", \
        "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP", "--ro-bind", "/usr", "/usr", "--symlink", \
        "usr/bin", "/bin", "--ro-bind", "/etc/passwd", "/etc/passwd", "--ro-bind", "/etc/ssl", "/etc/ssl", \
        "--ro-bind", "/opt/x/tool", "/opt/x/tool", "--ro-bind", "/tmp/b/moved", "/.tool/9/moved", "--ro-bind", \
        "/usrlocal/x", "/usrlocal/x", "--proc", "/proc", "--dev", "/dev", "--size", "1073741824", "--tmpfs", "/tmp", \
        "--size", "1073741824", "--tmpfs", "/dev/shm"

static void the_command_line_is_this_to_the_letter(void **state)
{
    struct fixture *fixture = *state;
    static const char *const argv[] = {"rg", "-n", "--", "--unshare-net", NULL};
    const struct ck_bwrap_wanted wanted = {.program = fixture->packed,
                                           .root = "/home/u/repo",
                                           .scratch = "/run/user/1/chokepoint/chokepoint-p-1",
                                           .cwd = "/work/src",
                                           .tool = "/usr/bin/rg",
                                           .argv = argv};
    assert_argv(ck_bwrap_argv(&wanted, &fixture->arena), (const char *const[]){JAIL,
                                                                               "--bind",
                                                                               "/run/user/1/chokepoint/chokepoint-p-1",
                                                                               "/tmp/probe",
                                                                               "--ro-bind",
                                                                               "/home/u/repo",
                                                                               "/work",
                                                                               "--remount-ro",
                                                                               "/",
                                                                               "--chdir",
                                                                               "/work/src",
                                                                               "--",
                                                                               "/proc/self/fd/4",
                                                                               "ro:file",
                                                                               "/usr/bin/rg",
                                                                               "rg",
                                                                               "-n",
                                                                               "--",
                                                                               "--unshare-net",
                                                                               NULL});
}

static void a_root_that_may_be_written_is_bound_so_and_only_then(void **state)
{
    struct fixture *fixture = *state;
    static const char *const argv[] = {"npm", NULL};
    const struct ck_bwrap_wanted wanted = {.program = fixture->packed,
                                           .root = "/",
                                           .scratch = "/s",
                                           .cwd = "/work/",
                                           .workspace = CK_WORKSPACE_RW,
                                           .form = CK_BWRAP_PATH,
                                           .tool = "/usr/bin/npm",
                                           .argv = argv,
                                           .pwd = true};
    assert_argv(ck_bwrap_argv(&wanted, &fixture->arena),
                (const char *const[]){JAIL, "--bind", "/s", "/tmp/probe", "--bind", "/", "/work", "--remount-ro", "/",
                                      "--chdir", "/work/", "--", "/proc/self/fd/4", "rw:path:pwd", "/usr/bin/npm",
                                      "npm", NULL});
}

static void a_pinned_script_is_run_from_its_copy(void **state)
{
    struct fixture *fixture = *state;
    static const char *const argv[] = {"t", NULL};
    const struct ck_bwrap_wanted wanted = {.program = fixture->packed,
                                           .root = "/r",
                                           .scratch = "/s",
                                           .cwd = "/work",
                                           .form = CK_BWRAP_COPY,
                                           .tool = "/opt/x/tool",
                                           .argv = argv};
    const char **bwrap_argv = ck_bwrap_argv(&wanted, &fixture->arena);
    size_t count = 0;
    while (bwrap_argv[count])
        count++;
    assert_string_equal(bwrap_argv[count - 3], "ro:copy");
}

static void a_proof_has_the_same_jail_and_no_scratch(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t outside[CK_JAIL_LAYER_NAMESPACES] = {1, 2, 3, 4, 5, 6, 7};
    const struct ck_bwrap_wanted wanted = {.program = fixture->packed, .root = "/usr", .cwd = "/work"};
    assert_argv(ck_bwrap_proof(&wanted, outside, &fixture->arena), (const char *const[]){JAIL,
                                                                                         "--dir",
                                                                                         "/tmp/probe",
                                                                                         "--ro-bind",
                                                                                         "/usr",
                                                                                         "/work",
                                                                                         "--remount-ro",
                                                                                         "/",
                                                                                         "--chdir",
                                                                                         "/work",
                                                                                         "--",
                                                                                         "/proc/self/fd/4",
                                                                                         "prove",
                                                                                         "1",
                                                                                         "2",
                                                                                         "3",
                                                                                         "4",
                                                                                         "5",
                                                                                         "6",
                                                                                         "7",
                                                                                         NULL});
}

static void the_native_jail_is_described_exactly(void **state)
{
    struct fixture *fixture = *state;
    assert_argv(ck_mounts_list(fixture->packed, "/home/u/repo", CK_WORKSPACE_RO, &fixture->arena),
                (const char *const[]){"ro /usr", "link /bin -> usr/bin", "copy /etc/passwd", "ro /etc/ssl",
                                      "device /dev/null", "link /dev/shm -> /tmp/shm", "code /usr/bin/rg",
                                      "code /opt/x/tool", "code /.tool/9/moved <- /tmp/b/moved", "code /usrlocal/x",
                                      "tmpfs /tmp", "proc /proc", "ro /work <- /home/u/repo", NULL});
    const char **lines = ck_mounts_list(fixture->packed, "/r", CK_WORKSPACE_OVERLAY, &fixture->arena);
    assert_string_equal(lines[12], "overlay /work <- /r");
}

/* bwrap has only text for why it failed; what is not known is not an answer. */
static void a_complaint_is_an_answer_or_nothing(void **state)
{
    static const struct {
        const char *complaint;
        int errnum;
    } cases[] = {
        {"bwrap: Creating new namespace failed: Operation not permitted", EPERM},
        {"bwrap: No permissions to create a new namespace, likely because the kernel does not allow it", EPERM},
        {"bwrap: setting up uid map: Permission denied", EPERM},
        {"bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.", ENOSYS},
        {"bwrap: Unknown option --size", ENOSYS},
        {"bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
         ENOSPC},
        {"bwrap: Creating new namespace failed: Resource temporarily unavailable", 0},
        {"bwrap: Can't fork for pid 1: Resource temporarily unavailable", 0},
        {"bwrap: Can't mount tmpfs: Cannot allocate memory", 0},
        {"bwrap: execvp /proc/self/fd/4: Too many open files", 0},
        {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(ck_bwrap_cause(cases[i].complaint), cases[i].errnum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_complaint_is_an_answer_or_nothing),
        cmocka_unit_test_setup_teardown(the_command_line_is_this_to_the_letter, setup, teardown),
        cmocka_unit_test_setup_teardown(a_root_that_may_be_written_is_bound_so_and_only_then, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pinned_script_is_run_from_its_copy, setup, teardown),
        cmocka_unit_test_setup_teardown(a_proof_has_the_same_jail_and_no_scratch, setup, teardown),
        cmocka_unit_test_setup_teardown(the_native_jail_is_described_exactly, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
