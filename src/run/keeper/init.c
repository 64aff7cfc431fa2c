/*
 * init.c - the first process of a run in a jail: the walls, the tool, and what comes to it.
 *
 * It lets go of every privilege, creates the tool, reaps, and ends when the tool has ended; being the init of a pid
 * namespace, everything in it ends with it. In the native jail it is a child of the warden (native_jail.c), in bwrap's it is
 * what bwrap executes (bwrap_init.c).
 *
 *   Must     leave no descriptor of the host's tree open in the tool, but those of the plan.
 *   Must not go on after a step that failed: every step is a wall.
 */
#include "run/keeper/init.h"

#include "jail/native_ops.h"
#include "run/create.h"
#include "run/keeper/child.h"
#include "run/keeper/direct_attempts.h"
#include "run/keeper/gate.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "run/keeper/prove.h"
#include "run/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MS_BIND 4096 /* of mount(2), whose header is at odds with the kernel's */
/* Of Landlock's ABI 4; the headers of the build may be older. */
#define RULE_NET_PORT 2
#define CONNECT_TCP UINT64_C(2)

long ck_init_open_execs(struct ck_native_jail *jail)
{
    const struct ck_native_program *program = jail->program;
    const uint32_t *paths = (const void *)((const char *)program + program->execs_at);
    if (program->execs_count > CK_NATIVE_JAIL_EXECS_MAX)
        return -E2BIG;
    for (uint32_t i = 0; i < program->execs_count; i++) {
        long fd = ck_nolibc_open(ck_native_text(program, paths[i]), O_PATH);
        if (fd < 0)
            return fd;
        jail->exec_fds[i] = (int)fd;
    }
    return 0;
}

/*
 * The tool is executed from its mount inside, which is read-only: /proc/self/exe leads to where a process was executed from,
 * and the descriptor of the plan is on a mount of the host's. It must be the same file. The plan's descriptor stays open
 * until then, and with it the lease of a file that was hashed.
 */
static long find_executable(const struct ck_init_run *run)
{
    struct ck_child *child = run->child;
    struct stat wanted, found;
    if (run->main != ck_child_main || child->path != NULL || child->keep_executable)
        return 0;
    long result = CK_RAW2(fstat, child->fds[CK_WIRE_EXECUTABLE], &wanted);
    for (uint32_t i = 0; i < run->jail->program->execs_count && result == 0; i++) {
        child->execute_fd = run->jail->exec_fds[i];
        result = CK_RAW2(fstat, child->execute_fd, &found);
        if (result == 0 && wanted.st_dev == found.st_dev && wanted.st_ino == found.st_ino)
            return 0;
    }
    return result < 0 ? result : -ESTALE;
}

/*
 * A node that is on a mount of the jail's, so that it cannot be changed. It is opened before Landlock is taken on, or requests
 * to it (isatty) would be refused with another errno than that of any other file.
 */
static long open_stdin(const struct ck_native_jail *jail, struct ck_child *child)
{
    if (!child->null_stdin)
        return 0;
    long fd = jail->null_ready ? jail->null_fd : ck_nolibc_open("/dev/null", O_RDONLY);
    child->stdin_fd = (int)fd;
    return fd < 0 ? fd : 0;
}

/* For the calling process and all that it creates; sys/seccomp.h says what is in it. */
long ck_init_restrict_calls(const void *code, uint32_t count)
{
    const struct sock_fprog filter = {.len = (unsigned short)count, .filter = (void *)(uintptr_t)code};
    return count == 0 ? 0 : CK_RAW5(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

long ck_init_restrict_program(const struct ck_native_program *program)
{
    if (program->gate_port != 0)
        return 0;
    return ck_init_restrict_calls((const char *)program + program->filter_at, program->filter_count);
}

/* ---- the walls --------------------------------------------------------------------------- */

static long allow(int ruleset_fd, int fd, uint64_t access)
{
    const struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
    return CK_RAW4(landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/* With egress the gate may be connected to. Landlock is about the port; who has it, the namespace says. */
static long allow_port(int ruleset_fd, const struct ck_native_program *program)
{
    const uint64_t rule[2] = {CONNECT_TCP, program->gate_port};
    if (program->gate_port == 0 || program->landlock_net == 0)
        return 0;
    return CK_RAW4(landlock_add_rule, ruleset_fd, RULE_NET_PORT, rule, 0);
}

static uint64_t writes_of(const struct ck_native_program *program)
{
    return program->landlock_fs & ~CK_NATIVE_JAIL_NEVER_ALLOWED;
}

static long allow_path(int ruleset_fd, const char *path, uint64_t access)
{
    long fd = ck_nolibc_open(path, O_PATH);
    if (fd < 0)
        return fd;
    long result = allow(ruleset_fd, (int)fd, access);
    ck_nolibc_close((int)fd);
    return result;
}

long ck_init_make_rules(const struct ck_native_jail *jail)
{
    const struct ck_native_program *program = jail->program;
    const uint64_t attr[3] = {program->landlock_fs, program->landlock_net, program->landlock_scoped};
    const uint64_t reads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    long fd = CK_RAW3(landlock_create_ruleset, attr, sizeof attr, 0);
    if (fd < 0)
        return fd;
    long result = allow_port((int)fd, program);
    if (result == 0)
        result = allow_path((int)fd, "/", reads);
    if (result == 0)
        result = allow_path((int)fd, CK_JAIL_TMP, writes_of(program));
    if (result == 0)
        result = allow_path((int)fd, "/dev", reads | LANDLOCK_ACCESS_FS_WRITE_FILE);
    for (uint32_t i = 0; i < program->execs_count && result == 0; i++)
        result = allow((int)fd, jail->exec_fds[i], LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE);
    if (result == 0)
        return fd;
    ck_nolibc_close((int)fd);
    return result;
}

/* Reading everywhere; writing where it may; executing the listed files and nothing else. */
static long restrict_files(const struct ck_init_run *run)
{
    const struct ck_native_program *program = run->jail->program;
    if (program->landlock_fs == 0)
        return 0;
    long fd = run->jail->rules_ready ? run->jail->rules_fd : ck_init_make_rules(run->jail);
    if (fd < 0)
        return fd;
    long result = 0;
    if (run->in_bwrap)
        result = allow_path((int)fd, "/dev/shm", writes_of(program));
    if (result == 0 && run->workspace != CK_WORKSPACE_RO)
        result = allow_path((int)fd, CK_JAIL_WORK, writes_of(program));
    if (result == 0)
        result = CK_RAW2(landlock_restrict_self, fd, 0);
    ck_nolibc_close((int)fd);
    return result;
}

long ck_init_drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0}, {0}};
    long result = CK_RAW5(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return result < 0 ? result : CK_RAW2(capset, &header, none);
}

/* The filter of a jail with a gate would have kept us from making that; so it comes here, and not with the others. */
static long drop_privileges(const struct ck_init_run *run, struct ck_direct_attempts *attempts)
{
    const struct ck_native_program *program = run->jail->program;
    const void *code = (const char *)program + program->filter_at;
    long result = restrict_files(run);
    if (result == 0)
        result = ck_init_drop_capabilities();
    if (result < 0 || program->gate_port == 0)
        return result;
    return program->gate_reports_attempts != 0 ? ck_direct_attempts_begin(attempts, code, program->filter_count)
                                               : ck_init_restrict_calls(code, program->filter_count);
}

/* The caller keeps what it has; nothing that it creates can gain any of it by executing a file. */
void ck_init_drop_bounding_set(void)
{
    for (unsigned cap = 0; cap < 64; cap++)
        if (CK_RAW5(prctl, PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
            break;
}

/*
 * A kernel may have been built without keys. /proc/key-users has the number of the user's keys and no more; a second mount
 * would cost every run as much as this one.
 */
long ck_init_cover_keys(const char *cover)
{
    long result = CK_RAW5(mount, cover, "/proc/keys", NULL, MS_BIND, NULL);
    return result == -ENOENT ? 0 : result;
}

/* ---- the tool ---------------------------------------------------------------------------- */

/*
 * By another process of the run. The warden and the caller have copies too, for a moment: on a busy machine they may not have
 * come to close them when a short tool ends. So where a stream is open it is asked whether anybody else is in here at all.
 */
static bool stream_held(const struct ck_init_run *run)
{
    struct pollfd polled[2] = {{.fd = run->child->fds[CK_WIRE_STDOUT_READ]},
                               {.fd = run->child->fds[CK_WIRE_STDERR_READ]}};
    struct timespec now = {0};
    (void)CK_RAW5(ppoll, polled, 2, &now, NULL, 0);
    bool open = (polled[0].revents & POLLHUP) == 0 || (polled[1].revents & POLLHUP) == 0;
    return open && CK_RAW2(kill, -1, 0) == 0;
}

/*
 * Until the tool itself has ended. Nobody else is waited for: the kernel ends them with us. Where we are asked about what is
 * tried, that is answered meanwhile.
 */
static void reap_until(const struct ck_init_run *run, struct ck_direct_attempts *attempts, long pid)
{
    struct ck_init_status *init_status = run->jail->init_status;
    int flags = run->jail->program->gate_reports_attempts != 0 ? WEXITED | WNOHANG : WEXITED;
    for (;;) {
        siginfo_t info = {0};
        long result = CK_RAW5(waitid, P_ALL, 0, &info, flags, NULL);
        if (result == -EINTR)
            continue;
        if (result < 0)
            return;
        if (info.si_pid == 0)
            ck_direct_attempts_wait(attempts);
        if (info.si_pid != pid)
            continue;
        init_status->code = info.si_code;
        init_status->status = info.si_status;
        init_status->stream_held = stream_held(run);
        init_status->ended = 1;
        return;
    }
}

/* A tool has our memory until it executes something, and we stand still; one that tries walls never does, and asks. */
static long create_tool(const struct ck_init_run *run)
{
    bool asks = run->jail->program->gate_reports_attempts != 0 && run->main == ck_prove_layers;
    return asks ? ck_create_copied(run->main, run->argument, -1) : ck_create_borrowed(run->main, run->argument, NULL);
}

void ck_init_serve(struct ck_init_run *run)
{
    static struct ck_direct_attempts attempts;
    struct ck_init_status *init_status = run->jail->init_status;
    const struct ck_native_program *program = run->jail->program;
    uint32_t stage = CK_STAGE_EGRESS;
    attempts =
        (struct ck_direct_attempts){.init_status = init_status, .gate_port = program->gate_port, .report_fd = -1};
    long result = 0;
    if (program->gate_port != 0)
        result = ck_gate_make(program->gate_port, run->gate_fd,
                              program->gate_reports_attempts != 0 ? &attempts.report_fd : NULL);
    if (result == 0) {
        stage = CK_STAGE_STDIO;
        result = open_stdin(run->jail, run->child);
    }
    if (result == 0) {
        stage = CK_STAGE_PRIVILEGES;
        result = drop_privileges(run, &attempts);
    }
    if (result == 0) {
        stage = CK_STAGE_EXECUTE;
        result = find_executable(run);
    }
    if (result < 0) {
        init_status->stage = stage;
        init_status->error = (int32_t)-result;
        ck_nolibc_exit(127);
    }
    long pid = create_tool(run);
    init_status->stage = pid < 0 ? CK_STAGE_CREATE : run->child->failed_stage;
    init_status->error = pid < 0 ? (int32_t)-pid : run->child->failed_errno;
    for (int i = 0; i < CK_WIRE_STDOUT_READ; i++)
        ck_nolibc_close(run->child->fds[i]);
    if (init_status->stage == CK_STAGE_NONE)
        reap_until(run, &attempts, pid);
    ck_nolibc_exit(0);
}
