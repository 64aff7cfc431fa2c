/* child.h - the process of the tool, from its creation to exec. */
#ifndef CK_RUN_KEEPER_CHILD_H
#define CK_RUN_KEEPER_CHILD_H

#include "run/keeper/limiter.h"
#include "run/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct ck_child {
    const char *cwd; /* in a jail: a path inside it; NULL: fds[CK_WIRE_CWD] */
    const int *fds;  /* CK_WIRE_FDS of them, and those that the tool gets too */
    char *const *argv;
    char *const *envp;
    const char *path;   /* NULL: execute execute_fd */
    int ruleset_fd;     /* Landlock ruleset; -1: none */
    const void *filter; /* NULL: no filter, and the capabilities stay */
    uint32_t filter_count;
    bool keep_executable; /* the executable is a script and must be at CK_SCRIPT_FD */
    struct ck_rlimit rlimits[CK_LIMITS];
    unsigned rlimit_count;
    bool sealed;       /* after execute_fd, nothing more can be executed: by a seal (ck_create_seal), or by init */
    uint64_t seal_key; /* of the parent's seal */
    uint64_t exec_key; /* not 0: of the filter that notifies of executions; this one must not ask */
    bool null_stdin;   /* in a jail: stdin is the /dev/null inside */
    int stdin_fd;      /* fds[CK_WIRE_STDIN], or that /dev/null */
    int execute_fd;    /* fds[CK_WIRE_EXECUTABLE]; in a jail the same file, opened inside */
    const struct ck_wire_inherited *inherited; /* NULL: what every tool has */
    unsigned passed_count;                     /* with it: descriptors from fds[CK_WIRE_PASSED] on */
    uint32_t failed_stage;
    int32_t failed_errno;
};

/*
 * Maps a filter from a memory file as child->filter. Unmap it when the process that applies it
 * exists. 0 or a negative errno.
 */
long ck_child_map_filter(struct ck_child *child, int fd);
void ck_child_unmap_filter(struct ck_child *child);

/*
 * Only the steps that restrict the process, for a proof. 0, or a negative errno and the failed_
 * fields set.
 */
long ck_child_restrict(struct ck_child *child);

/*
 * The steps that need no plan, and all others. Together they are ck_child_main. The first returns 0,
 * or a negative errno and the failed_ fields set.
 */
long ck_child_begin(struct ck_child *child);
__attribute__((noreturn)) void ck_child_continue(struct ck_child *child);

/* What a plan at base says; it turns its offsets into pointers, so it is called once for a plan. */
void ck_child_plan(struct ck_child *ret_child, unsigned char *base, const int *fds);

/* The number of descriptors after the CK_WIRE_FDS of every plan. */
unsigned ck_child_extra_fds(uint32_t flags);

/*
 * argument is a struct ck_child. On failure its failed_ fields are set for the parent, which shares
 * this memory.
 */
__attribute__((noreturn)) void ck_child_main(void *argument);

#endif
