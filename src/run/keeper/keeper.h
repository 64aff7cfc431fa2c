/*
 * keeper.h - the parts of the keeper program.
 *
 * The keeper is a program of its own, embedded in the library and executed from memory. It has no C library: whatever
 * is called here is defined here, and the linker refuses the rest. It allocates nothing.
 *
 * keeper (main.c)   one per context. Makes wardens on request. Is the reaper of last resort: if a warden is killed,
 *                   the keeper adopts what the warden had adopted, and kills it.
 * warden (warden.c) one per run in flight, reused for the next. A child subreaper, so every orphan of its tool
 *                   comes to it, whatever session or group it moved to. Holds the run's deadline, kills, reaps, reports.
 * child (child.c)   the tool's process until exec: a table of named steps.
 * init (init.c)     the first process of a run in a jail: walls, tool, reaping. native_jail.c makes the native jail for it.
 * gate (gate.c)     the one way out of a run with egress: a listener inside, handed to the caller.
 * attempts (direct_attempts.c)   who tries another way than that, told to the caller.
 * pump (pump.c)     copies what the caller gives on stdin into a pipe, for a tool in a jail.
 * bwrap (bwrap.c)     the other jail: bwrap's process until exec. What bwrap executes is a program of its own, bwrap_init.c.
 * prove (prove.c)   tries to get out of a jail, before anything is trusted to it; prove_no_userns.c where it has no namespaces.
 * trial (trial.c)   tries one layer of this machine, and ends.
 * witness (witness.c) a program of its own, too: the first process of a container whose program is traced.
 * tree (tree.c)     all descendants of the calling process, and signals to them.
 * cgroup (cgroup.c) where a cgroup v2 may be made: one directory per warden, for cgroup.kill.
 * limiter (limiter.c) memory, processes and CPU time, by cgroups of either version or by resource limits.
 *
 * Keeper and wardens each watch a pidfd of the caller. When it dies, by SIGKILL or otherwise, each warden kills its
 * own tree; none depends on another to do it.
 */
#ifndef CK_RUN_KEEPER_H
#define CK_RUN_KEEPER_H

#include "base/direct_attempt.h"
#include "run/create.h"
#include "run/raw.h"
#include "run/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a file that tries walls has its calls come by: prove.c, CK_RAW_ANSWER of run/raw.h. */
long ck_prove_note(long result);

#define CK_WARDENS_MAX 16384

/*
 * Where a program begins: main.c, bwrap_init.c and witness.c have one each. The stack is as the kernel made it: the number of
 * arguments, the arguments, NULL, the environment, NULL.
 */
__attribute__((noreturn, used)) void ck_keeper_start(const long *stack);

/* ---- small things (nolibc.c) ---- */

void *memcpy(void *restrict dst, const void *restrict src, size_t length);
void *memset(void *dst, int byte, size_t length);

/* Appends to a NUL-terminated text; the caller's buffer must be large enough. Return the new end. */
char *ck_nolibc_append_text(char *at, const char *text);
char *ck_nolibc_append_number(char *at, long number);

/* The decimal number at *at, which is moved behind it; -1 where there is none. */
long ck_nolibc_parse_number(const char **at, const char *end);

uint64_t ck_nolibc_now_ns(void);
void ck_nolibc_close(int fd);
__attribute__((noreturn)) void ck_nolibc_exit(int status);

/* A path of this process's tree, close-on-exec; and what stands from text to end, into a file that is there. */
long ck_nolibc_open(const char *path, int flags);
long ck_nolibc_write_file(const char *path, const char *text, const char *end);

/*
 * For a child that tries something and ends. Of its descriptors only these stay, from CK_TRIAL_FIRST_FD on in this order; -1
 * is passed over. It ends with the keeper, or after two seconds. 0 or a negative errno.
 */
#define CK_TRIAL_FIRST_FD 3
#define CK_TRIAL_FDS_MAX 16
long ck_nolibc_enter_trial(int *fds, unsigned count);

/* Takes what a non-blocking signalfd has queued; which children ended is asked of waitid. */
void ck_nolibc_drain_signals(int signal_fd);

/* One message; descriptors beyond max are closed. Returns bytes (0: the other end is gone) or a negative errno. */
long ck_nolibc_receive(int socket_fd, void *buffer, size_t size, int *ret_fds, unsigned max_fds,
                       unsigned *ret_fd_count);
long ck_nolibc_send(int socket_fd, const void *buffer, size_t size, int fd); /* fd: -1 for none */

/* Calls visit for each entry of an open directory. */
void ck_nolibc_each_entry(int directory_fd, void (*visit)(void *data, const char *name), void *data);

/*
 * Waits for readability of up to three descriptors (-1: absent) until deadline_ns; bit i of the result is set for
 * fds[i].
 */
unsigned ck_nolibc_wait_readable(const int fds[3], uint64_t deadline_ns);
#define CK_FOREVER UINT64_MAX

/* ---- shared state of one process of the keeper's family ---- */

struct ck_keeper_env {
    int caller_fd;              /* pidfd of the caller: readable when it is dead */
    int sigchld_fd;             /* signalfd; stays valid across fork */
    int proc_fd;                /* /proc, or -1 where it is not there or belongs to another pid namespace */
    int cgroup_fd;              /* directory of this context, or -1 */
    int group_fds[CK_CONTROLS]; /* the same in the hierarchies of version 1, where there are limits */
};

/* ---- tree.c ---- */

/*
 * Sends sig to every descendant of the calling process except the given direct children (and theirs). Returns how
 * many were found, or a negative errno where the tree cannot be read.
 */
long ck_tree_signal(int proc_fd, int sig, const int32_t *except, size_t except_count);

/* ---- cgroup.c ---- */

/* The directory that a warden and its tools are in. */
struct ck_cgroup {
    int kill_fd;  /* its cgroup.kill; -1: there is none */
    int leave_fd; /* where the warden steps aside to before it kills; -1: it is not in it */
};

/* What a warden is in, and what its tools are born in if they have limits. */
enum ck_cgroup_kind { CK_CGROUP_WARDEN, CK_CGROUP_LEAF };

/*
 * Makes the directory "<prefix><our pid>" and returns it, or a negative errno (also where it lacks the file that is
 * needed); removes what dead keepers with the same prefix left.
 */
int ck_cgroup_base(int parent_fd, const char *prefix, int proc_fd, const char *needed);
void ck_cgroup_base_remove(int parent_fd, int base_fd, const char *prefix);

/* One for the warden with this number: a descriptor, or a negative errno; -ENOENT where there is no base. */
int ck_cgroup_make(int base_fd, enum ck_cgroup_kind kind, long number);
void ck_cgroup_remove(int base_fd, enum ck_cgroup_kind kind, long number);

/* In the warden, which was born in directory_fd (-1: in none). */
void ck_cgroup_open(struct ck_cgroup *cgroup, int base_fd, int directory_fd);

/* The tools are born in a leaf instead. */
void ck_cgroup_open_leaf(struct ck_cgroup *cgroup, int leaf_fd);

/* Kills everything in it but the caller, who is outside then. False: nothing was done. */
bool ck_cgroup_kill(const struct ck_cgroup *cgroup);

/* ---- limiter.c ---- */

/* For each process by itself; only ever lowered. */
struct ck_rlimit {
    int resource;
    uint64_t soft, hard;
};

/* The cgroups of a warden whose runs have limits. */
struct ck_warden_cgroups {
    bool limited;         /* false: its runs have none, and nothing below is looked at */
    int leaf_fd;          /* version 2: its tools are born there; or -1 */
    int fds[CK_CONTROLS]; /* version 1: it goes there itself; each may be -1 */
};

struct ck_limiter {
    bool limited;
    int transient;   /* a negative errno: the cgroup that was to hold a limit could not be used now; or 0 */
    bool own_userns; /* processes are counted for this warden alone, not for all that the user has */
    int proc_fd;
    int leaf_fd;                    /* to be born in, or -1 */
    int enter_fd;                   /* for the init of a jail: cgroup.procs of the leaf, or -1 */
    int set_fds[CK_CONTROLS];       /* where a limit is written */
    int swap_fd;                    /* version 1: memory and swap together, or -1 */
    int seen_fds[CK_CONTROLS];      /* where it is seen that it was hit; of CPU time, how much was used */
    int oom_fd;                     /* the warden's own oom_score_adj, or -1 */
    char oom_text[16];              /* what it is usually */
    enum ck_held held[CK_CONTROLS]; /* by what kind of cgroup each can be held */
    uint64_t set[CK_CONTROLS];      /* what is written there now; 0: no limit */
    uint64_t before[CK_CONTROLS];   /* what was seen when the run began */
    /* Processes of ours that are made for the run beside it (pump.c): as cgroups of version 1 count, and users. */
    unsigned extra_in_group, extra_of_user;
};

/*
 * In the keeper: has the controllers of version 2 given to the directories in base_fd. 1: one or both; 0: none is
 * available; a negative errno: it could not be found out.
 */
int ck_limiter_enable(int parent_fd, int base_fd);

/* The directory that own_fd is in, where it would be no way around a limit that own_fd has; or a negative errno. */
int ck_limiter_sibling(int own_fd);

/*
 * In the warden: enters what is to be entered and opens the rest; before it is in the jail, if it is to be in one (caged).
 * cgroup_fd: the directory it was born in, or -1.
 */
void ck_limiter_open(struct ck_limiter *limiter, const struct ck_warden_cgroups *groups, int cgroup_fd, bool jailed);

/*
 * Sets the limits of a run in its cgroups, and lists in ret_rlimits those that its process has to set itself. 0, or a
 * negative errno where one of them cannot be held; then it is the first that ret_held has nothing for. helpers: how
 * many processes of ours are beside the tool's.
 */
long ck_limiter_begin(struct ck_limiter *limiter, const uint64_t *limits, unsigned helpers,
                      struct ck_rlimit ret_rlimits[CK_LIMITS], unsigned *ret_count, uint32_t *ret_held);

/* Around the creation of a process: where the warden is in the same cgroup, its tools go first when memory is short. */
void ck_limiter_prefer_oom(const struct ck_limiter *limiter, bool preferred);

/* CPU time of the run so far, of all its processes; 0 where that cannot be seen. */
uint64_t ck_limiter_cpu_ns(const struct ck_limiter *limiter);

/* A bit for each limit that was hit, as the cgroups tell it. */
uint32_t ck_limiter_hits(const struct ck_limiter *limiter);

/* ---- native_jail.c ---- */

#define CK_NATIVE_JAIL_EXECS_MAX 64

/* What no rule allows on a tree that may be written: executing, device nodes, and what devices can be told. */
#define CK_NATIVE_JAIL_NEVER_ALLOWED (UINT64_C(1) | UINT64_C(1) << 6 | UINT64_C(1) << 11 | UINT64_C(1) << 15)

/* bwrap writes its complaints into the file of struct ck_init_status, from here on. */
#define CK_INIT_STATUS_MESSAGE_AT 1024
#define CK_INIT_STATUS_BYTES 4096

struct ck_native_program;

/* What init tells the warden, in memory that they share. */
struct ck_init_status {
    uint32_t stage; /* enum ck_stage of what failed */
    int32_t error;
    int32_t code, status; /* of the tool, once ended is set */
    uint32_t stream_held;
    uint32_t ended;
    uint32_t proc_mounted;
    uint32_t held;                       /* prove.c */
    uint32_t reports_attempts;           /* it could be seen where a tool wanted to go: direct_attempts.c */
    int32_t shortage;                    /* of a trial: a call was answered with this errno, which is no answer */
    struct ck_rlimit rlimits[CK_LIMITS]; /* what the warden tells the init of bwrap's jail */
    uint32_t rlimit_count;
    uint32_t null_stdin, sealed; /* the same: of struct ck_child */
};

/* The namespaces and the root that a warden of a jail is in. */
struct ck_native_jail {
    const struct ck_native_program *program;
    struct ck_init_status *init_status;
    uint32_t failed_op; /* of the program's, from 1; 0: something else failed */
    int exec_fds[CK_NATIVE_JAIL_EXECS_MAX];
    int host_ns_fd, root_ns_fd; /* mount namespaces: with the host's tree, with the root of the jail */
    bool work_mounted;          /* which repository is at its place */
    uint64_t work_device, work_inode;
    uint32_t work_mode;
    bool tmp_mounted, overlay_mounted; /* mounts of one run */
    bool stale_mounted;                /* those of the run before, out of reach */
    int below_tmp_fd;                  /* the directory that /tmp is mounted on */
    bool rules_ready;                  /* rules_fd is a ruleset of Landlock's for one run */
    int rules_fd;
    bool null_ready; /* null_fd is the /dev/null inside, opened for one run: its flags are nobody else's */
    int null_fd;
};

struct ck_child;

struct ck_init_run {
    struct ck_native_jail *jail;
    struct ck_child *child;
    ck_create_child main; /* what runs inside, and with what; usually ck_child_main and child */
    void *argument;
    int root_fd;
    const char *root_path; /* of root_fd on the host */
    uint32_t workspace;    /* enum ck_workspace */
    int overlay_fd;        /* made: what the run writes into an overlay; -1: none */
    uint32_t failed_stage; /* made: what failed, where ck_native_jail_create did */
    bool in_bwrap;         /* in a jail that bwrap made */
    int enter_fd;          /* cgroup.procs of where its limits are held; or -1 */
    int gate_fd;           /* a socket to the caller, for the listener of a run with egress; -1: it stays here */
};

/* A user namespace of its own for the calling process, with one user and group that are the same inside and outside. */
long ck_native_jail_enter_userns(uint32_t uid, uint32_t gid);

/* Puts the calling warden into namespaces of its own and builds the root. 0 or a negative errno; then it is of no use. */
long ck_native_jail_enter(struct ck_native_jail *jail, int program_fd);

/* Creates the init of a run, and with it the tool. The pid of init, or a negative errno. */
long ck_native_jail_create(struct ck_init_run *run);

/*
 * When everything in the run is dead: puts what it had out of reach, and makes what the next one will have. A negative
 * errno: there must be no next one.
 */
long ck_native_jail_reset(struct ck_native_jail *jail);

/* Lets the kernel throw away what ck_native_jail_reset put out of reach (cage->stale_mounted), which takes a moment. */
long ck_native_jail_unmount_stale(struct ck_native_jail *jail);

/* ---- init.c ---- */

/* Opens the files of the program that may be executed, by their paths inside. 0 or a negative errno. */
long ck_init_open_execs(struct ck_native_jail *jail);

/* A ruleset with what every run of this jail may do: a descriptor, or a negative errno. /tmp must be the run's. */
long ck_init_make_rules(const struct ck_native_jail *jail);

/* Puts a filter (struct sock_filter, so many) on the calling process; no_new_privs must be set. */
long ck_init_restrict_calls(const void *code, uint32_t count);

/* The program's; but of a jail with a gate later, by ck_init_serve. */
long ck_init_restrict_program(const struct ck_native_program *program);

long ck_init_drop_capabilities(void);

/*
 * Puts a file that cannot be opened over /proc/keys, which lists the keys of the user whatever namespace asks. 0 or a
 * negative errno.
 */
long ck_init_cover_keys(const char *cover);

/* Takes away what could be gained by executing a file; the caller keeps what it has. */
void ck_init_drop_bounding_set(void);

/* In the first process of a run: raises the walls, creates the tool, and ends with it. */
__attribute__((noreturn)) void ck_init_serve(struct ck_init_run *run);

/* ---- gate.c ---- */

/*
 * In the first process of a run, whose network namespace is its own and new: brings loopback up, listens at port there, and
 * hands the listener to the caller through gate_fd, which is closed; -1: it stays open here. ret_report_fd: the end of a pipe
 * to the caller, for what direct_attempts.c has to tell; NULL: none is made. 0 or a negative errno.
 */
long ck_gate_make(uint32_t port, int gate_fd, int *ret_report_fd);

/* ---- direct_attempts.c ---- */

struct ck_direct_attempts {
    struct ck_init_status *init_status;
    uint32_t gate_port;
    int report_fd; /* to the caller; -1: nobody is told */
    int listener_fd, ended_fd;
    uint32_t count; /* of what was told; beyond CK_DIRECT_ATTEMPTS_MAX: that there is more, too */
    struct ck_direct_attempt seen[CK_DIRECT_ATTEMPTS_MAX];
};

/*
 * Puts the filter (struct sock_filter, so many) on the calling process, in a form that asks; what it asks is answered in
 * ck_direct_attempts_wait, and nowhere else. 0 or a negative errno: the kernel cannot do it, or there is somebody already who is
 * asked by the filters of this process.
 */
long ck_direct_attempts_begin(struct ck_direct_attempts *attempts, const void *code, uint32_t count);

/* Answers, until children have ended. */
void ck_direct_attempts_wait(struct ck_direct_attempts *attempts);

/* ---- child.c ---- */

struct ck_child {
    const char *cwd; /* in a jail: a path inside it; NULL: fds[CK_WIRE_CWD] */
    const int *fds;  /* CK_WIRE_FDS of them */
    char *const *argv;
    char *const *envp;
    const char *path;   /* NULL: execute execute_fd */
    int ruleset_fd;     /* -1: none */
    const void *filter; /* NULL: none, and its capabilities stay */
    uint32_t filter_count;
    bool keep_executable; /* the executable is a script, to be put at CK_SCRIPT_FD */
    struct ck_rlimit rlimits[CK_LIMITS];
    unsigned rlimit_count;
    bool sealed;     /* execute_fd is executed, and then nothing more */
    bool null_stdin; /* in a jail: stdin is to be the /dev/null that is found inside */
    int stdin_fd;    /* fds[CK_WIRE_STDIN], or that */
    int execute_fd;  /* fds[CK_WIRE_EXECUTABLE]; in a jail the same file as it is found inside */
    uint32_t failed_stage;
    int32_t failed_errno;
};

/*
 * A filter from a memory file, as child->filter; to be unmapped when the process that takes it on exists. 0 or a negative
 * errno.
 */
long ck_child_map_filter(struct ck_child *child, int fd);
void ck_child_unmap_filter(struct ck_child *child);

/* The steps that confine it, and no others: for a proof. 0, or a negative errno and the report filled. */
long ck_child_restrict(struct ck_child *child);

/* argument is a struct ck_child; on failure it is filled for the parent, whose memory this is. */
__attribute__((noreturn)) void ck_child_main(void *argument);

/* ---- prove.c ---- */

/*
 * In the place of a tool: tries every wall, and says in a struct ck_init_status (the argument) which hold. Namespaces hold
 * if they are not those of outside, by the numbers that ck_prove_outside was given.
 */
__attribute__((noreturn)) void ck_prove_layers(void *argument);

/* The errno of a call of a trial that met a lack of resources, or 0. */
int32_t ck_prove_shortage(void);
void ck_prove_outside(uint32_t jail_layer, uint64_t number);

/* What the jail that is tried has: a gate, Landlock's rules for it, and who is asked. */
void ck_prove_inside(const struct ck_native_program *program);

struct ck_prove_start {
    int socket_fd;
    int program_fd;
};

/* argument is a struct ck_prove_start. */
__attribute__((noreturn)) void ck_prove_main(void *argument);

/* ---- prove_no_userns.c ---- */

struct ck_prove_no_userns_start {
    int socket_fd;
    int fds[CK_WIRE_PROOF_FDS];
};

/* Tries the walls of the native jail without namespaces; argument is a struct ck_prove_no_userns_start. */
__attribute__((noreturn)) void ck_prove_no_userns_main(void *argument);

/* Of prove.c, for it: each tries one wall. */
bool ck_prove_execs(void);
bool ck_prove_seccomp(void);
bool ck_prove_no_new_privs(void);

/* ---- pump.c ---- */

/*
 * In the warden: makes a process that copies what source_fd gives into a pipe, whose other end is *ret_fd. source_fd stays
 * the caller's. The pid, or a negative errno.
 */
long ck_pump_make(int source_fd, int *ret_fd);

/* Ends it, if there is one; *pid is 0 then. True: it had ended before, and cut the stream. */
bool ck_pump_end(int32_t *pid);

/* Did one that ended in this way (of siginfo_t) leave some of it out? */
bool ck_pump_cut(int code, int status);

/* ---- bwrap.c ---- */

struct ck_bwrap_child {
    struct ck_child *child; /* argv and environment are bwrap's, and so is the executable */
    const int *bwrap_fds;   /* CK_WIRE_BWRAP_FDS of them */
    int status_fd;          /* a struct ck_init_status, and behind it room for what bwrap says */
    int gate_fd;            /* with egress: a socket to the caller; or -1 */
};

/* argument is a struct ck_bwrap_child; as ck_child_main. */
__attribute__((noreturn)) void ck_bwrap_main(void *argument);

/* A file for what init tells, from another program: a descriptor, or a negative errno. */
long ck_bwrap_make_status(struct ck_init_status **ret_status);

/* ---- trial.c ---- */

struct ck_trial_start {
    int socket_fd; /* to answer on */
    int cgroup_fd; /* directory of the context, or -1 */
    long number;
    uint32_t trial; /* enum ck_trial */
};

/* argument is a struct ck_trial_start. */
__attribute__((noreturn)) void ck_trial_main(void *argument);

/* ---- warden.c ---- */

/*
 * Serves socket_fd until its other end or the caller is gone, then exits. cgroup_fd: the directory it was born in.
 * jail_fd: the program of the jail that its runs are in, or -1.
 */
struct ck_warden_start {
    int socket_fd;
    int cgroup_fd;
    int jail_fd;
    struct ck_warden_cgroups groups;
};

__attribute__((noreturn)) void ck_warden_main(const struct ck_keeper_env *env, const struct ck_warden_start *start);

#endif
