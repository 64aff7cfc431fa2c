/*
 * wire.h - the messages between the caller, the keeper and its wardens.
 *
 * All sockets are SOCK_SEQPACKET, so a message arrives whole or not at all. Both ends are from the
 * same build, so there are no versions. No pointer is sent: a plan has offsets from its start, and
 * the warden turns them into pointers in place.
 *
 * caller -> keeper
 *   CK_WIRE_SETUP            once; with a pidfd of the caller, and its cgroup directory if any
 *   CK_WIRE_WARDEN           with one end of a new socket pair: make a warden that serves it. With
 *                            the program of a jail if its runs are in one.
 *   CK_WIRE_LIMITED          the same for a warden of runs with limits
 *   CK_WIRE_GROUPS           before the first CK_WIRE_LIMITED: our cgroup v1 directories
 *   CK_WIRE_TRY              with one end of a new socket pair: make a child that tries one layer
 *   CK_WIRE_PROVE            with a socket and the program of a jail: try to get out of it
 *   CK_WIRE_PROVE_NO_USERNS  the same without user namespaces; with a socket and CK_WIRE_PROOF_FDS
 * caller -> warden
 *   CK_WIRE_JAIL             with the program of its jail, once, if that did not come with its socket
 *   CK_WIRE_PLAN             with CK_WIRE_FDS descriptors, and a ruleset if there is one: run this
 *   CK_WIRE_LARGE            the same with one more descriptor, a memfd that holds the plan
 *   CK_WIRE_CANCEL           end the run
 *   CK_WIRE_SIGNAL           send a signal to the tool
 * warden -> caller
 *   CK_WIRE_HELLO            with a pidfd of the warden
 *   CK_WIRE_DIRECT_ATTEMPTS  from the init of a run with egress, if it reports direct attempts:
 *                            with a pipe of struct ck_direct_attempt
 *   CK_WIRE_GATE             after that, from the same init: with the listener, before the tool
 *                            exists
 *   CK_WIRE_DOOR             from the init of a cage: with the guard's end of a door's connection
 *   CK_WIRE_DENIED           before the report, if the jail refused something: base/denial.h
 *   CK_WIRE_REPORT           the run is over and its tree is dead; with the overlay if it had one
 * trial -> caller
 *   CK_WIRE_TRIED            whether the layer held
 * prover -> caller
 *   CK_WIRE_PROVED           which layers held
 */
#ifndef CK_RUN_WIRE_H
#define CK_RUN_WIRE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

enum ck_wire_kind {
    CK_WIRE_SETUP = 1,
    CK_WIRE_WARDEN,
    CK_WIRE_PLAN,
    CK_WIRE_LARGE,
    CK_WIRE_CANCEL,
    CK_WIRE_HELLO,
    CK_WIRE_REPORT,
    CK_WIRE_TRY,
    CK_WIRE_TRIED,
    CK_WIRE_PROVE,
    CK_WIRE_PROVED,
    CK_WIRE_LIMITED,
    CK_WIRE_GROUPS,
    CK_WIRE_PROVE_NO_USERNS,
    CK_WIRE_GATE,
    CK_WIRE_DIRECT_ATTEMPTS,
    CK_WIRE_DENIED,
    CK_WIRE_JAIL,
    CK_WIRE_DOOR,
    CK_WIRE_SIGNAL,
};

/* `trial` of CK_WIRE_WARDEN and CK_WIRE_LIMITED. */
enum ck_wire_jail {
    CK_WIRE_NO_JAIL,
    CK_WIRE_JAIL_SENT, /* the program of a jail comes with the socket */
    CK_WIRE_JAIL_LATER /* its runs are in one, and the program comes with CK_WIRE_JAIL */
};

/* Descriptors of a proof without user namespaces, after the socket. */
enum ck_wire_proof_fd {
    CK_WIRE_PROOF_RULESET,
    CK_WIRE_PROOF_FILTER,
    CK_WIRE_PROOF_INSIDE,  /* a directory that the ruleset allows to write */
    CK_WIRE_PROOF_OUTSIDE, /* a directory of the caller that it does not allow */
    CK_WIRE_PROOF_FDS,
};

/* Layers that can be tried on this machine (keeper/trial.c). */
enum ck_trial {
    CK_TRIAL_NO_NEW_PRIVS = 1,
    CK_TRIAL_LANDLOCK, /* value: the ABI */
    CK_TRIAL_SECCOMP,
    CK_TRIAL_USER_NS,
    CK_TRIAL_MOUNT_NS, /* value of this and the other namespaces: 1 if a user namespace was made around it */
    CK_TRIAL_PID_NS,
    CK_TRIAL_NET_NS,
    CK_TRIAL_IPC_NS,
    CK_TRIAL_UTS_NS,
    CK_TRIAL_CGROUP_NS,
    CK_TRIAL_CGROUP_KILL,
    CK_TRIAL_SUBREAPER,
    CK_TRIAL_PIDFD,
    CK_TRIAL_OPENAT2,
    CK_TRIALS,
};

/* Wardens, trials and proofs of one keeper at the same time; beyond, it refuses with CK_WIRE_FULL. */
#define CK_WARDENS_MAX 16384
#define CK_WIRE_FULL EUSERS /* an errno that no call of the keeper has */

/* The descriptor of the keeper's socket; 0, 1 and 2 are /dev/null. */
#define CK_KEEPER_SOCKET_FD 3

/*
 * A plan up to this size is sent in the message. The usual SO_SNDBUF would allow six times as much.
 */
#define CK_WIRE_INLINE_MAX ((size_t)32768)

/* Descriptors that a tool gets beside 0 to 2. Their number is in the flags of the plan. */
#define CK_WIRE_PASSED_MAX 64
#define CK_WIRE_PASSED_SHIFT 16
#define CK_WIRE_PASSED_NUMBERS 512 /* their numbers in the tool are lower */

/* Descriptors of a plan, in this order. */
enum ck_wire_fd {
    CK_WIRE_STDIN,
    CK_WIRE_STDOUT,
    CK_WIRE_STDERR,
    CK_WIRE_CWD,
    CK_WIRE_EXECUTABLE,
    CK_WIRE_STDOUT_READ, /* only used to see whether a process still holds the write end */
    CK_WIRE_STDERR_READ,
    CK_WIRE_FDS,
    CK_WIRE_RULESET = CK_WIRE_FDS, /* with CK_WIRE_HAS_RULESET; the memfd of a large plan comes last */
    CK_WIRE_FILTER,                /* with CK_WIRE_HAS_FILTER, which implies a ruleset */
    CK_WIRE_BWRAP = CK_WIRE_FDS,
    /* with struct ck_wire_inherited: the other descriptors that the tool gets */
    CK_WIRE_PASSED = CK_WIRE_FDS,
    CK_WIRE_FDS_MAX = CK_WIRE_FDS + CK_WIRE_PASSED_MAX + 1,
};

/*
 * With CK_WIRE_HAS_BWRAP these come after the others: the executable is bwrap, and these are for
 * the program that bwrap starts.
 */
enum ck_wire_bwrap_fd {
    CK_WIRE_BWRAP_PROGRAM, /* program of the jail: jail/native_ops.h */
    CK_WIRE_BWRAP_IMAGE,   /* the program `bwrap_init` */
    CK_WIRE_BWRAP_TOOL,
    CK_WIRE_BWRAP_ROOT,    /* must be at the program's place of the root inside */
    CK_WIRE_BWRAP_SCRATCH, /* must be at /tmp/probe inside; a proof has none and sends the root again */
    CK_WIRE_BWRAP_FDS,
};

/* The descriptors of `bwrap_init`. */
enum ck_bwrap_init_fd {
    CK_BWRAP_INIT_PROGRAM = 3,
    CK_BWRAP_INIT_IMAGE, /* bwrap executes it as /proc/self/fd/4 */
    CK_BWRAP_INIT_TOOL,
    CK_BWRAP_INIT_ROOT,
    CK_BWRAP_INIT_SCRATCH,
    CK_BWRAP_INIT_STATUS,
    CK_BWRAP_INIT_STDIN,
    CK_BWRAP_INIT_STDOUT,
    CK_BWRAP_INIT_STDERR,
    CK_BWRAP_INIT_STDOUT_READ,
    CK_BWRAP_INIT_STDERR_READ,
    CK_BWRAP_INIT_GATE, /* with egress: a socket to the caller, for the listener */
    CK_BWRAP_INIT_END,
};

enum ck_wire_flag {
    CK_WIRE_HAS_RULESET = 1,     /* a Landlock ruleset restricts what may be executed */
    CK_WIRE_KEEP_EXECUTABLE = 2, /* a script: its interpreter opens CK_SCRIPT_FD */
    CK_WIRE_HAS_BWRAP = 4,       /* the run is in a jail that bwrap makes */
    CK_WIRE_HAS_FILTER = 16,     /* the process of the tool applies a system call filter and drops its capabilities */
    CK_WIRE_SEALED = 8,          /* the tool may execute nothing, not even itself */
    CK_WIRE_HAS_GATE = 32,       /* with CK_WIRE_HAS_BWRAP: the run has egress */
    CK_WIRE_PUMP_STDIN = 64,     /* the tool gets a pipe that CK_WIRE_STDIN is copied into: keeper/pump.c */
    CK_WIRE_NULL_STDIN = 128,    /* the tool gets the /dev/null of its jail, and CK_WIRE_STDIN is not used */
    CK_WIRE_AGAIN = 512,         /* prepare for another run like this one: keeper/prepared.c */
    CK_WIRE_NATIVE_JAIL = 256, /* the warden must be in a jail; a warden in no jail refuses the plan, and the reverse */
};

/* The descriptor of a pinned script. The kernel passes /dev/fd/3 to its interpreter. */
#define CK_SCRIPT_FD 3

struct ck_wire_setup {
    uint32_t kind;
    uint32_t has_cgroup;
    char cgroup_prefix[64]; /* name prefix of the directory to make in the one that was sent */
};

/* The cgroup controllers that can hold a limit. */
enum ck_control { CK_CONTROL_MEMORY, CK_CONTROL_PIDS, CK_CONTROL_CPU, CK_CONTROLS };

struct ck_wire_simple {
    uint32_t kind;
};

struct ck_wire_try {
    uint32_t kind;
    /*
     * enum ck_trial. CK_WIRE_GROUPS: a bit for each enum ck_control that a descriptor is sent for.
     * CK_WIRE_WARDEN and CK_WIRE_LIMITED: enum ck_wire_jail.
     */
    uint32_t trial;
};

struct ck_wire_tried {
    uint32_t kind;
    uint32_t trial;
    int32_t error; /* 0: it holds; EPROTO: the kernel accepted it, but what it forbids was still possible */
    int32_t value;
};

struct ck_wire_proved {
    uint32_t kind;
    uint32_t held;      /* a bit for each enum ck_jail_layer */
    uint32_t failed_op; /* operation of the program that failed, from 1; 0: none */
    int32_t error;      /* 0: the jail was built */
    int32_t shortage;   /* a call failed with this errno for lack of resources, so `held` may lack a layer; or 0 */
};

/* Limits of a plan; those that a cgroup can hold come first, in the order of enum ck_control. */
enum ck_limit {
    CK_LIMIT_MEMORY,     /* in bytes */
    CK_LIMIT_PROCESSES,  /* and threads */
    CK_LIMIT_CPU,        /* in seconds */
    CK_LIMIT_FILE_SIZE,  /* in bytes */
    CK_LIMIT_OPEN_FILES, /* one more than the highest descriptor number */
    CK_LIMITS,
};

/* What enforced a limit. */
enum ck_held { CK_HELD_NONE, CK_HELD_RLIMIT, CK_HELD_CGROUP1, CK_HELD_CGROUP2 };

/* CK_WIRE_DOOR. again: the door has had a connection before, and was told to come again. */
struct ck_wire_door {
    uint32_t kind;
    uint32_t again;
};

/* CK_WIRE_SIGNAL. */
struct ck_wire_signal {
    uint32_t kind;
    uint32_t signal;
};

/* Resource limits of a caller that the tool gets, too; the index is the number of the resource. */
#define CK_WIRE_RLIMITS 16

struct ck_wire_rlimit {
    uint64_t soft, hard;
};

/*
 * What a tool of guard gets from the process that called it. Of a plan without it, the tool gets
 * what chokepoint.h says.
 */
struct ck_wire_inherited {
    int32_t numbers[CK_WIRE_PASSED_MAX]; /* where the tool has the descriptors after CK_WIRE_PASSED */
    uint32_t umask_bits;
    int32_t nice;
    uint64_t ignored;  /* bit i: signal i + 1 is ignored */
    uint32_t terminal; /* 1 + the number of the descriptor that becomes the controlling terminal; 0: none */
    struct ck_wire_rlimit rlimits[CK_WIRE_RLIMITS];
};

/*
 * What became of the executions in a cage. At any time, attempts is the sum of the six after it.
 */
struct ck_wire_counts {
    uint64_t attempts;
    uint64_t door; /* a door that connected */
    uint64_t carrier, workspace, refused, not_found;
    uint64_t failed;      /* the kernel could not, or the process was ended before its program began */
    uint64_t unexpected;  /* doors that connected without an attempt: 0, unless a path was changed meanwhile */
    uint64_t connections; /* sent to the caller, one for each door */
};

/* The first fields of a plan, in a message or in a memfd. */
struct ck_wire_order {
    uint32_t kind;
    uint32_t flags;
};

/*
 * Followed by the offset tables (argc + 1 and envc + 1 of uint64_t, the last is 0) and the strings.
 */
struct ck_wire_plan {
    uint32_t kind;
    uint32_t flags;
    uint32_t size_bytes;
    uint32_t argc;
    uint32_t envc;
    uint64_t argv_at;
    uint64_t env_at;
    uint64_t path_at;      /* 0: execute the descriptor */
    uint64_t root_at;      /* in a jail: path on the host of CK_WIRE_CWD, which is the root */
    uint64_t cwd_at;       /* in a jail: the working directory inside */
    uint64_t inherited_at; /* struct ck_wire_inherited; 0: none */
    uint32_t workspace;
    uint64_t deadline_ns;
    uint64_t kill_ns;           /* time of the SIGKILL that follows the SIGTERM of the deadline */
    uint64_t number;            /* of the plans of this warden, from 1 on */
    uint64_t limits[CK_LIMITS]; /* 0: none */
};

struct ck_wire_large {
    uint32_t kind;
    uint32_t flags;
    uint32_t size_bytes;
};

/* Steps of a run, in order; the first that fails is reported with its errno. */
enum ck_stage {
    CK_STAGE_NONE = 0,
    CK_STAGE_CREATE,
    CK_STAGE_LIMITS,
    CK_STAGE_SESSION,
    CK_STAGE_DEATH_SIGNAL,
    CK_STAGE_STDIO,
    CK_STAGE_CWD,
    CK_STAGE_JAIL,
    CK_STAGE_WORKSPACE,
    CK_STAGE_EGRESS,
    CK_STAGE_PRIVILEGES,
    CK_STAGE_DESCRIPTORS,
    CK_STAGE_CALLS,
    CK_STAGE_EXECS,
    CK_STAGE_SCRIPT,
    CK_STAGE_SIGNALS,
    CK_STAGE_EXECUTE,
    CK_STAGES,
};

enum ck_wire_ending {
    CK_ENDING_TIMED_OUT = 1,
    CK_ENDING_CANCELLED = 2,
    CK_ENDING_STREAM_HELD = 4, /* a process that had to be killed still held a stream */
    CK_ENDING_LAST = 8,        /* the warden ends after this report */
    CK_ENDING_STDIN_CUT = 16,  /* with CANCELLED: the tool got only a part of its stdin and could not know */
};

/* How the process tree is killed; the strongest means that the run had. */
enum ck_kill { CK_KILL_PGROUP = 1, CK_KILL_SUBREAPER, CK_KILL_CGROUP, CK_KILL_PIDNS };

#define CK_WIRE_MESSAGE_MAX 240

struct ck_wire_report {
    uint32_t kind;
    uint32_t stage; /* enum ck_stage; not CK_STAGE_NONE: nothing was executed */
    int32_t error;  /* errno of that stage; for a proof without a failed stage: shortage, as in struct ck_wire_proved */
    int32_t code;   /* si_code: CLD_EXITED, CLD_KILLED, CLD_DUMPED */
    int32_t status; /* exit status or signal */
    uint32_t ending;
    uint32_t kill;
    uint32_t max_rss_kib;
    uint64_t user_us;
    uint64_t system_us;
    uint64_t ended_ns;
    uint64_t number;                   /* of the plan; 0: it was not received completely. A plan may have two reports */
    uint32_t held;                     /* for a proof: a bit for each enum ck_jail_layer */
    char message[CK_WIRE_MESSAGE_MAX]; /* message of bwrap if it did not run the tool; NUL-terminated */
    uint32_t limit_held[CK_LIMITS];    /* enum ck_held */
    uint32_t limit_hit;                /* a bit for each enum ck_limit that the run hit, as far as is known */
    struct ck_wire_counts counts;      /* of a cage */
};

/* What a stage does, for messages: "enter the working directory of". */
const char *ck_wire_stage_text(enum ck_stage stage);
const char *ck_wire_kill_name(enum ck_kill kill);
const char *ck_wire_held_name(enum ck_held held);

/*
 * The name of the limit that a run hit, such as "oom"; NULL if none. hit has a bit for each enum
 * ck_limit.
 */
const char *ck_wire_hit_name(uint32_t hit);

struct ck_wire_strings {
    const char *const *argv;
    const char *const *env;
    const char *path; /* or NULL, like the next two */
    const char *root;
    const char *cwd;
    const struct ck_wire_inherited *inherited;
};

/*
 * Packs strings into the form above, in at most size bytes of buffer. Returns the number of bytes
 * needed. If that is more than size, the buffer holds no valid plan. A call with size 0 measures.
 */
size_t ck_wire_pack(const struct ck_wire_strings *strings, void *buffer, size_t size);

#endif
