/*
 * init.c - the first process of a run in a jail: it applies the layers, creates the tool and reaps.
 *
 * It drops every privilege, creates the tool, reaps orphans, and ends when the tool has ended. It
 * is the init of a pid namespace, so the kernel then kills everything in it. In the native jail it
 * is a child of the warden (native_jail.c). In the bwrap jail bwrap executes it (bwrap_init.c).
 *
 *  Must     leave no descriptor of the host's tree open in the tool, except those of the plan.
 *  Must not continue after a step that failed: every step is a layer.
 */
#include "run/keeper/init.h"

#include "jail/native_ops.h"
#include "run/create.h"
#include "run/keeper/cage.h"
#include "run/keeper/child.h"
#include "run/keeper/direct_attempts.h"
#include "run/keeper/exec_names.h"
#include "run/keeper/gate.h"
#include "run/keeper/listener.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "run/keeper/prepared.h"
#include "run/keeper/prove.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MS_BIND 4096 /* of mount(2); its header conflicts with the one of the kernel */
/* From Landlock ABI 4; the headers of the build may be older. */
#define RULE_NET_PORT 2
#define CONNECT_TCP UINT64_C(2)
#define IOCTL_DEV (UINT64_C(1) << 15) /* from ABI 5 */
/* From Linux 6.3. */
#define SET_MDWE 65
#define MDWE_REFUSE_EXEC_GAIN 1

static long find_door(struct ck_native_jail *jail)
{
    struct stat file = {0};
    if (!ck_native_is_cage(jail->program))
        return 0;
    long r = CK_RAW4(newfstatat, AT_FDCWD, CK_JAIL_DOOR, &file, 0);
    jail->door = (struct ck_native_jail_file){.device = file.st_dev, .inode = file.st_ino};
    return r;
}

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
        struct stat file = {0};
        long r = CK_RAW2(fstat, fd, &file);
        if (r < 0)
            return r;
        jail->exec_fds[i] = (int)fd;
        jail->exec_files[i] = (struct ck_native_jail_file){
            .device = file.st_dev, .inode = file.st_ino, .directory = S_ISDIR(file.st_mode)};
    }
    return find_door(jail);
}

/*
 * The tool is executed from its read-only mount inside. /proc/self/exe gives a process the file
 * that it was executed from, and the descriptor of the plan is on a mount of the host. Both must be
 * the same file. The descriptor of the plan stays open until then, and with it the lease on a file
 * that was hashed.
 */
long ck_init_find_executable(const struct ck_init_run *run)
{
    struct ck_child *child = run->child;
    struct stat wanted, found;
    if (run->main != ck_child_main || child->path || child->keep_executable)
        return 0;
    long r = CK_RAW2(fstat, child->fds[CK_WIRE_EXECUTABLE], &wanted);
    for (uint32_t i = 0; i < run->jail->program->execs_count && r == 0; i++) {
        child->execute_fd = run->jail->exec_fds[i];
        r = CK_RAW2(fstat, child->execute_fd, &found);
        if (r == 0 && wanted.st_dev == found.st_dev && wanted.st_ino == found.st_ino)
            return 0;
    }
    return r < 0 ? r : -ESTALE;
}

/*
 * A node on a mount of the jail, which the tool cannot change. It is opened before Landlock
 * applies: otherwise an ioctl on it (isatty) would fail with another errno than on other files.
 */
static long open_stdin(const struct ck_native_jail *jail, struct ck_child *child)
{
    if (!child->null_stdin)
        return 0;
    long fd = jail->null_ready ? jail->null_fd : ck_nolibc_open("/dev/null", O_RDONLY);
    child->stdin_fd = (int)fd;
    return fd < 0 ? fd : 0;
}

/* For the calling process and its descendants. sys/seccomp.h says what the filter forbids. */
long ck_init_restrict_calls(const void *code, uint32_t count)
{
    const struct sock_fprog filter = {.len = (unsigned short)count, .filter = (void *)(uintptr_t)code};
    return count == 0 ? 0 : CK_RAW5(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

long ck_init_restrict_program(struct ck_native_jail *jail)
{
    const struct ck_native_program *program = jail->program;
    const void *code = (const char *)program + program->filter_at;
    if (ck_native_filters_late(program))
        return 0;
    if (program->exec_key == 0)
        return ck_init_restrict_calls(code, program->filter_count);
    long fd = ck_listener_install(code, program->filter_count);
    jail->listener_fd = (int)fd;
    return fd < 0 ? fd : 0;
}

/* ---- the layers ---- */

static long allow(int ruleset_fd, int fd, uint64_t access)
{
    const struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
    return CK_RAW4(landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

/*
 * With egress, connections to the port of the gate are allowed. Landlock checks only the port
 * number; in this network namespace only the gate listens on it.
 */
static long allow_port(int ruleset_fd, const struct ck_native_program *program)
{
    const uint64_t rule[2] = {CONNECT_TCP, program->gate_port};
    if (program->gate_port == 0 || program->landlock_net == 0)
        return 0;
    return CK_RAW4(landlock_add_rule, ruleset_fd, RULE_NET_PORT, rule, 0);
}

/* All rights that Landlock handles, except those that no run gets on a writable tree. */
static uint64_t writes_of(const struct ck_native_program *program)
{
    return program->landlock_fs & ~CK_NATIVE_JAIL_NEVER_ALLOWED;
}

static long allow_path(int ruleset_fd, const char *path, uint64_t access)
{
    long fd = ck_nolibc_open(path, O_PATH);
    if (fd < 0)
        return fd;
    long r = allow(ruleset_fd, (int)fd, access);
    ck_nolibc_close((int)fd);
    return r;
}

/* The other directories that were bound to be written. */
static long allow_writable(int ruleset_fd, const struct ck_native_program *program)
{
    const struct ck_native_op *ops = ck_native_ops(program);
    long r = 0;
    for (uint32_t i = 0; i < program->ops_count && r == 0; i++) {
        const char *inside = ck_native_text(program, ops[i].inside);
        if (ops[i].op != CK_NATIVE_OP_BIND_WRITABLE)
            continue;
        /* The path is relative to the root, and the warden works there. */
        r = allow_path(ruleset_fd, inside, writes_of(program));
    }
    return r;
}

/*
 * A shell with a terminal opens it by this name, to choose which job has it. Without Landlock's right
 * for ioctl that would fail. The name leads to the terminal of the cage, or to none.
 */
static long allow_terminal(int ruleset_fd, const struct ck_native_program *program)
{
    const uint64_t rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | IOCTL_DEV;
    long r = allow_path(ruleset_fd, "/dev/tty", rights & program->landlock_fs);
    return r == -ENOENT ? 0 : r;
}

long ck_init_make_rules(const struct ck_native_jail *jail)
{
    const struct ck_native_program *program = jail->program;
    /*
     * struct landlock_ruleset_attr of ABI 6. An older kernel accepts the longer struct if the
     * fields that it does not know are 0.
     */
    const uint64_t attr[3] = {program->landlock_fs, program->landlock_net, program->landlock_scoped};
    const uint64_t reads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    long fd = CK_RAW3(landlock_create_ruleset, attr, sizeof(attr), 0);
    if (fd < 0)
        return fd;
    long r = allow_port((int)fd, program);
    if (r == 0)
        r = allow_path((int)fd, "/", reads);
    if (r == 0)
        r = allow_path((int)fd, CK_JAIL_TMP, writes_of(program));
    if (r == 0 && program->guarded != 0)
        r = allow_path((int)fd, CK_JAIL_PRIVATE, writes_of(program));
    if (r == 0)
        r = allow_writable((int)fd, program);
    if (r == 0)
        r = allow_path((int)fd, "/dev", reads | LANDLOCK_ACCESS_FS_WRITE_FILE);
    if (r == 0 && ck_native_is_cage(program))
        r = allow_terminal((int)fd, program);
    for (uint32_t i = 0; i < program->execs_count && r == 0; i++)
        r = allow((int)fd, jail->exec_fds[i], LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE);
    if (r == 0)
        return fd;
    ck_nolibc_close((int)fd);
    return r;
}

bool ck_init_has_rule_for_root(const struct ck_init_run *run)
{
    const struct ck_native_program *program = run->jail->program;
    return run->workspace != CK_WORKSPACE_RO || program->workspace_code != 0 || program->guarded != 0;
}

/*
 * A tool that a cage calls has files of the root as descriptors, from the mount of the cage. Opened once
 * more, as /dev/stdin, they are not beneath the tool's own "/", so to read them needs a rule, too.
 */
static uint64_t rights_on_root(const struct ck_init_run *run)
{
    const struct ck_native_program *program = run->jail->program;
    const uint64_t reads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    return (run->workspace != CK_WORKSPACE_RO ? writes_of(program) : 0) | (program->guarded != 0 ? reads : 0) |
           (program->workspace_code != 0 ? (uint64_t)LANDLOCK_ACCESS_FS_EXECUTE : 0);
}

/*
 * Reads are allowed everywhere, writes where the run may write, execution only of the listed files
 * and, with workspace_code, beneath the root.
 */
static long restrict_files(const struct ck_init_run *run)
{
    const struct ck_native_program *program = run->jail->program;
    if (program->landlock_fs == 0)
        return 0;
    long fd = run->jail->rules_ready ? run->jail->rules_fd : ck_init_make_rules(run->jail);
    if (fd < 0)
        return fd;
    long r = 0;
    if (run->in_bwrap)
        r = allow_path((int)fd, "/dev/shm", writes_of(program));
    if (r == 0 && ck_init_has_rule_for_root(run))
        r = allow_path((int)fd, ck_native_root(program), rights_on_root(run));
    if (r == 0)
        r = CK_RAW2(landlock_restrict_self, fd, 0);
    ck_nolibc_close((int)fd);
    return r;
}

long ck_init_drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0}, {0}};
    long r = CK_RAW5(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return r < 0 ? r : CK_RAW2(capset, &header, none);
}

/* Whether the filter of the program notifies us of some calls. */
static bool notifies(const struct ck_native_program *program)
{
    return program->exec_key != 0 || program->gate_reports_attempts != 0;
}

/*
 * From Linux 6.3, and for all descendants: no mapping becomes code after it could be written. Without it
 * a carrier can still run no other program; only what it maps by itself is not restricted.
 */
static long forbid_new_code(const struct ck_native_program *program)
{
    if (program->no_new_code == 0)
        return 0;
    long r = CK_RAW5(prctl, SET_MDWE, MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
    return r == -EINVAL ? 0 : r;
}

/*
 * With a network the filter would have forbidden to make that, so it is applied here and not with
 * the others. So it is where everything that is refused is named.
 */
static long drop_privileges(const struct ck_init_run *run, struct ck_listener *listener)
{
    const struct ck_native_program *program = run->jail->program;
    const void *code = (const char *)program + program->filter_at;
    long r = restrict_files(run);
    if (r == 0)
        r = ck_init_drop_capabilities();
    if (r == 0)
        r = forbid_new_code(program);
    if (r < 0 || !ck_native_filters_late(program))
        return r;
    if (!notifies(program))
        return ck_init_restrict_calls(code, program->filter_count);
    r = ck_listener_install(code, program->filter_count);
    listener->fd = (int)r;
    return r < 0 ? r : 0;
}

/*
 * The caller keeps its capabilities. What it creates cannot gain any of them by executing a file.
 * The loop ends at the first number that the kernel does not know. The kernel copies the credentials
 * for each, so there may be no memory. Who may not drop one may have none left to drop.
 */
long ck_init_drop_bounding_set(void)
{
    for (unsigned cap = 0; cap < 64; cap++) {
        long r = CK_RAW5(prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
        if (r == -EINVAL)
            break;
        if (r < 0 && CK_RAW5(prctl, PR_CAPBSET_READ, cap, 0, 0, 0) != 0)
            return r;
    }
    return 0;
}

/*
 * ENOENT: the kernel was built without keys. /proc/key-users shows only how many keys a user has,
 * and a second mount would cost every run as much as this one.
 */
long ck_init_cover_keys(const char *cover)
{
    long r = CK_RAW5(mount, cover, "/proc/keys", NULL, MS_BIND, NULL);
    return r == -ENOENT ? 0 : r;
}

/* ---- the tool ---- */

/*
 * Whether another process of the run holds a stream. The warden and the caller have copies for a
 * moment. On a busy machine they may not have closed them when a short tool ends. So if a stream is
 * open, kill(-1, 0) says whether there is any other process in the pid namespace. A prepared init that
 * had no room for the descriptors has -1 here: then any other process counts as one that holds it.
 */
static bool stream_held(const struct ck_init_run *run)
{
    bool open = ck_nolibc_is_written(run->child->fds + CK_WIRE_STDOUT_READ);
    return open && CK_RAW2(kill, -1, 0) == 0;
}

/*
 * Reaps until the tool has ended, or no child is left that has (WNOHANG). Nobody waits for the
 * others: the kernel kills them when we exit. False: there may be more to reap later.
 */
static bool reap(const struct ck_init_run *run, long pid, int flags)
{
    struct ck_init_status *init_status = run->jail->init_status;
    for (;;) {
        siginfo_t info = {0};
        long r = CK_RAW5(waitid, P_ALL, 0, &info, flags, NULL);
        if (r == -EINTR)
            continue;
        if (r < 0)
            return true;
        if (info.si_pid == 0)
            return false;
        if (info.si_pid != pid)
            continue;
        init_status->code = info.si_code;
        init_status->status = info.si_status;
        init_status->stream_held = stream_held(run);
        init_status->ended = 1;
        return true;
    }
}

/*
 * Answers notifications meanwhile. Usually the first child that ends is the tool, so SIGCHLD is
 * taken from the descriptor only when it is not; after that all ended children are looked for
 * again, or one that ended in between would be missed.
 */
static void serve_until(const struct ck_init_run *run, struct ck_listener *listener, long pid)
{
    for (;;) {
        ck_listener_wait(listener);
        if (reap(run, pid, WEXITED | WNOHANG))
            return;
        ck_listener_drain(listener);
        if (reap(run, pid, WEXITED | WNOHANG))
            return;
    }
}

/*
 * A tool shares our memory until exec, and we are suspended meanwhile. A proof never executes, and
 * its system calls need our answers, so it gets a copy of the memory.
 */
static long create_tool(const struct ck_init_run *run)
{
    bool asks = notifies(run->jail->program) && run->main == ck_prove_layers;
    return asks ? ck_create_copied(run->main, run->argument, -1) : ck_create_borrowed(run->main, run->argument, NULL);
}

/* Before the tool exists: the descriptor that says when it has ended. */
static long begin_listening(const struct ck_init_run *run, struct ck_listener *listener)
{
    listener->ended_fd = run->ended_fd;
    if (!notifies(run->jail->program))
        return 0;
    if (!ck_native_filters_late(run->jail->program))
        listener->fd = run->jail->listener_fd;
    return ck_listener_begin(listener);
}

/* Each step is a layer, or something that a layer needs. */
static long prepare(struct ck_init_run *run, struct ck_listener *listener, uint32_t *ret_stage)
{
    const struct ck_native_program *program = run->jail->program;
    *ret_stage = CK_STAGE_EGRESS;
    long r = program->loopback != 0 ? ck_gate_raise_loopback() : 0;
    if (r == 0 && program->gate_port != 0)
        r = ck_gate_make(program, run->gate_fd,
                         program->gate_reports_attempts != 0 ? &listener->attempts->report_fd : NULL);
    if (program->gate_port != 0 && !run->prepared_fds && !ck_native_is_cage(program))
        ck_nolibc_close(run->gate_fd);
    if (r == 0) {
        *ret_stage = CK_STAGE_STDIO;
        r = open_stdin(run->jail, run->child);
    }
    if (r == 0) {
        *ret_stage = CK_STAGE_PRIVILEGES;
        r = begin_listening(run, listener);
    }
    if (r == 0)
        r = drop_privileges(run, listener);
    if (r == 0 && ck_native_is_cage(program))
        r = ck_cage_check(listener->fd);
    if (r == 0) {
        *ret_stage = CK_STAGE_EXECUTE;
        r = ck_init_find_executable(run);
    }
    return r;
}

static void wait_for_tool(const struct ck_init_run *run, struct ck_listener *listener, long pid)
{
    if (!notifies(run->jail->program)) {
        (void)reap(run, pid, WEXITED);
    } else {
        listener->tool = (uint32_t)pid;
        serve_until(run, listener, pid);
        ck_listener_end(listener);
    }
}

/*
 * Every process here descends from init, and an orphan becomes its child. So nothing is left when it
 * has no child, of either kind (__WALL). kill(-1) would say the same, but looks at every process of
 * the machine.
 */
static bool is_alone(void)
{
    siginfo_t info;
    long r;
    do {
        info = (siginfo_t){0};
        r = CK_RAW5(waitid, P_ALL, 0, &info, WEXITED | WNOHANG | __WALL, NULL);
    } while (r == 0 && info.si_pid != 0);
    return r == -ECHILD;
}

/*
 * The tool has been reaped. If nothing else is left here, the run is over: only our own end remains,
 * and nobody needs to wait for that.
 */
static void report_alone(const struct ck_init_run *run)
{
    struct ck_init_status *init_status = run->jail->init_status;
    static const uint64_t one = 1;
    struct rusage usage;
    if (run->alone_fd < 0 || init_status->ended == 0 || !is_alone() || CK_RAW2(getrusage, RUSAGE_CHILDREN, &usage) < 0)
        return;
    init_status->user_us = ck_nolibc_us(usage.ru_utime);
    init_status->system_us = ck_nolibc_us(usage.ru_stime);
    init_status->max_rss_kib = (uint64_t)usage.ru_maxrss;
    init_status->alone = 1;
    ck_init_report_send(run);
    /* The warden then has work that nobody waits for. */
    (void)CK_RAW3(write, run->alone_fd, &one, sizeof(one));
}

/*
 * The tool has its copies. stream_held needs that ours are closed; a prepared init has had none, and
 * receives those that it needs.
 */
static void take_descriptors(const struct ck_init_run *run)
{
    if (run->prepared_fds) {
        ck_prepared_receive_rest(run);
        return;
    }
    for (int i = 0; i < CK_WIRE_STDOUT_READ; i++)
        ck_nolibc_close(run->child->fds[i]);
    for (unsigned i = 0; i < run->child->passed_count; i++)
        ck_nolibc_close(run->child->fds[CK_WIRE_PASSED + i]);
}

void ck_init_serve(struct ck_init_run *run)
{
    static struct ck_direct_attempts attempts;
    static struct ck_exec_names exec_names;
    struct ck_init_status *init_status = run->jail->init_status;
    const struct ck_native_program *program = run->jail->program;
    struct ck_listener listener = {
        .fd = -1, .ended_fd = -1, .attempts = &attempts, .exec_names = &exec_names, .jail = run->jail};
    listener.caller_fd = run->gate_fd;
    uint32_t stage;
    attempts.init_status = init_status;
    attempts.gate_port = program->gate_port;
    attempts.loopback = program->loopback != 0;
    attempts.report_fd = -1;
    attempts.exec_key = program->exec_key;
    run->child->exec_key = program->exec_key;
    long r = prepare(run, &listener, &stage);
    if (r < 0) {
        init_status->stage = stage;
        init_status->error = (int32_t)-r;
        ck_nolibc_exit(127);
    }
    long pid = create_tool(run);
    init_status->stage = pid < 0 ? CK_STAGE_CREATE : run->child->failed_stage;
    init_status->error = pid < 0 ? (int32_t)-pid : run->child->failed_errno;
    take_descriptors(run);
    /* A prepared init learns it only now. */
    listener.sealed = run->child->sealed;
    if (init_status->stage == CK_STAGE_NONE) {
        wait_for_tool(run, &listener, pid);
        report_alone(run);
    }
    ck_nolibc_exit(0);
}
