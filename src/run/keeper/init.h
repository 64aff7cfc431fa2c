/*
 * init.h - the first process of a run in a jail, and the memory through which it reports to the
 * warden.
 */
#ifndef CK_RUN_KEEPER_INIT_H
#define CK_RUN_KEEPER_INIT_H

#include "run/create.h"
#include "run/keeper/init_report.h"
#include "run/keeper/limiter.h"
#include "run/wire.h"

struct ck_child;
struct ck_native_jail;
struct ck_native_program;

/*
 * For bwrap, struct ck_init_status is in a file. bwrap writes its error messages after it, from
 * here on.
 */
#define CK_INIT_STATUS_MESSAGE_AT 1024
#define CK_INIT_STATUS_BYTES 4096

/* What init reports to the warden, in memory that both share. */
struct ck_init_status {
    uint32_t stage; /* enum ck_stage of what failed */
    int32_t error;
    int32_t code, status; /* of the tool, once `ended` is set */
    uint32_t stream_held;
    uint32_t ended;
    uint32_t alone;              /* after `ended`: no other process is left in the pid namespace */
    uint64_t user_us, system_us; /* with `alone`: of all processes that were waited for */
    uint64_t max_rss_kib;        /* the same */
    uint32_t proc_mounted;
    uint32_t held;                       /* of a proof: a bit for each layer that holds (prove.c) */
    uint32_t reports_attempts;           /* the target of a connection could be read: direct_attempts.c */
    uint32_t names_execs;                /* a refused execution could be named: exec_names.c */
    uint32_t denied_bytes, denied_count; /* what is in the memory after this (base/denial.h) */
    uint64_t denied_more;                /* refusals that are not in it */
    int32_t shortage;                    /* of a proof: a call failed with this errno for lack of resources */
    struct ck_rlimit rlimits[CK_LIMITS]; /* from the warden to the init of a bwrap jail */
    uint32_t rlimit_count;
    uint32_t null_stdin, sealed;  /* from the warden, too: fields of struct ck_child */
    struct ck_wire_counts counts; /* of a cage (cage.c) */
    struct ck_init_report own_report;
};

_Static_assert(sizeof(struct ck_init_status) <= CK_INIT_STATUS_MESSAGE_AT, "bwrap's messages begin after it");

struct ck_prepared;

struct ck_init_run {
    struct ck_native_jail *jail;
    struct ck_child *child;
    ck_create_child main; /* what runs inside, and its argument; usually ck_child_main and child */
    void *argument;
    int root_fd;
    const char *root_path; /* path of root_fd on the host */
    uint32_t workspace;    /* enum ck_workspace */
    int overlay_fd;        /* result: what the run writes into its overlay; -1: no overlay */
    uint32_t failed_stage; /* result: what failed, if ck_native_jail_create did */
    bool in_bwrap;         /* bwrap made the jail */
    int enter_fd;          /* cgroup.procs of the cgroup with the limits, or -1 */
    int ended_fd;          /* signalfd for SIGCHLD, which must be blocked; -1: init makes one if it needs it */
    int alone_fd;          /* an eventfd, raised when init_status->alone is set; -1: it is not set */
    int report_fd;         /* the warden's socket to the caller; -1: init does not report */
    int gate_fd;           /* a socket to the caller, for the listener of a run with egress and for the
                              connections of a cage; -1: the listener stays in init; of a
                              prepared init: rest_fd, and the warden passes it on */
    int *prepared_fds;     /* created before its plan came (prepared.h): where its descriptors go; or NULL */
    int start_fd, rest_fd; /* then: sockets that these come through */
    const struct ck_prepared *prepared; /* then: of the warden */
    int null_fd;                        /* then: the /dev/null inside */
};

/*
 * Opens the files of the program that may be executed, by their paths inside. 0 or a negative
 * errno.
 */
long ck_init_open_execs(struct ck_native_jail *jail);

/*
 * Makes a Landlock ruleset with what every run of this jail may do; the /tmp of the run must be
 * mounted. A descriptor or a negative errno.
 */
long ck_init_make_rules(const struct ck_native_jail *jail);

/*
 * Finds the file of the tool among those: child->execute_fd. 0 or a negative errno. -ESTALE: another
 * file is at its path.
 */
long ck_init_find_executable(const struct ck_init_run *run);

/*
 * Applies a filter of `count` struct sock_filter to the calling process; no_new_privs must be set.
 */
long ck_init_restrict_calls(const void *code, uint32_t count);

/*
 * Applies the filter of the program, with a listener (jail->listener_fd) if refused executions are
 * named. Where the filter is applied in each run (ck_native_filters_late), it does nothing: then
 * ck_init_serve applies it later.
 */
long ck_init_restrict_program(struct ck_native_jail *jail);

long ck_init_drop_capabilities(void);

/* Whether Landlock has a rule for the root: then an init was made for one root. */
bool ck_init_has_rule_for_root(const struct ck_init_run *run);

/*
 * Mounts a file that cannot be opened over /proc/keys. That file lists the keys of the user in
 * every namespace. 0 or a negative errno.
 */
long ck_init_cover_keys(const char *cover);

/* After this, executing a file adds no capability. The caller keeps those that it has. 0 or a negative errno. */
long ck_init_drop_bounding_set(void);

/*
 * In the first process of a run: applies the layers, creates the tool, and exits when the tool has
 * ended.
 */
__attribute__((noreturn)) void ck_init_serve(struct ck_init_run *run);

#endif
