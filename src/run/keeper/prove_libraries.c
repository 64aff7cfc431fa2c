/*
 * prove_libraries.c - does the copy of the loader refuse to be a program? Tried inside a jail whose
 * library directories are code. See prove.h.
 *
 * A security module may refuse the copy. Then its status is not that of the stub, and the jail is
 * built without libraries (api/prove.c). The program that is tried is bound as code, so that no
 * noexec mount hides a stub that does nothing.
 *
 * And does the kernel start programs with the copy? Before Linux 6.7 only the last segment of a loader
 * could have memory that is not in the file; a stub in a segment of its own breaks that.
 */
#define CK_RAW_ANSWER(result) ck_prove_note(result)
#include "run/keeper/prove.h"

#include "run/create.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define REFUSED 126 /* the status of the stub: jail/stub_code.S */
#define STARTED 1   /* the status of CK_JAIL_STARTED_PROGRAM */
#define NOT_STARTED 125
#define PLANTED CK_JAIL_SCRATCH "/code"

static __attribute__((noreturn)) void execute_loader(void *argument)
{
    static char name[] = "ld.so", target[] = CK_JAIL_REFUSED_PROGRAM;
    static char *const argv[] = {name, target, NULL};
    static char *const envp[] = {NULL};
    (void)ck_create_execute(-1, argument, argv, envp);
    ck_nolibc_exit(NOT_STARTED);
}

static __attribute__((noreturn)) void execute_program(void *argument)
{
    static char name[] = "false";
    static char *const argv[] = {name, NULL};
    static char *const envp[] = {NULL};
    (void)ck_create_execute(-1, argument, argv, envp);
    ck_nolibc_exit(NOT_STARTED);
}

/* The exit status of what it executes, or a negative errno; -ECANCELED: a signal has ended it. */
static long run(ck_create_child execute, const char *path)
{
    siginfo_t info = {0};
    long pid = ck_prove_note(ck_create_copied(execute, (void *)(uintptr_t)path, -1));
    long r = pid < 0 ? pid : -EINTR;
    while (r == -EINTR)
        r = CK_RAW5(waitid, P_PID, pid, &info, WEXITED, NULL);
    return r < 0 ? r : info.si_code == CLD_EXITED ? info.si_status : -ECANCELED;
}

static bool map_is_refused(const char *path, int flags)
{
    long fd = CK_RAW4(openat, AT_FDCWD, path, flags | O_CLOEXEC, 0700);
    if (fd < 0)
        return false;
    if ((flags & O_CREAT) != 0)
        (void)CK_RAW3(write, fd, "\177ELF", 4);
    bool refused = CK_RAW6(mmap, NULL, 4, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == -EPERM;
    ck_nolibc_close((int)fd);
    return refused;
}

static bool execution_is_refused(const char *path)
{
    static char name[] = "code";
    static char *const argv[] = {name, NULL};
    static char *const envp[] = {NULL};
    return ck_create_execute(-1, path, argv, envp) == -EACCES;
}

bool ck_prove_libraries(const struct ck_native_program *program)
{
    const char *loader = ck_native_text(program, program->proof_loader_at);
    return loader && map_is_refused(PLANTED, O_RDWR | O_CREAT) && execution_is_refused(PLANTED) &&
           CK_RAW2(memfd_create, "code", 0) == -EPERM && !map_is_refused(CK_JAIL_REFUSED_PROGRAM, O_RDONLY) &&
           run(execute_loader, loader) == REFUSED && run(execute_program, CK_JAIL_STARTED_PROGRAM) == STARTED;
}
