/*
 * execs.h - the Landlock ruleset of the files that a run may execute (policy key `execs`).
 *
 * It allows the tools of the run, their helpers, and what the kernel opens to start these: the
 * loader of a dynamic binary, the interpreter of a script (with "#!/usr/bin/env NAME" also NAME,
 * looked up in the search path), and their loaders. helper_files.h has how helpers are found.
 */
#ifndef CK_RUN_EXECS_H
#define CK_RUN_EXECS_H

#include "policy/model.h"
#include "sys/binary.h"

struct ck_execs_set;

/* The cache of rulesets. */
struct ck_execs {
    struct ck_binary_search *search; /* where helpers are searched */
    struct ck_execs_set *sets;
    size_t next;
};

void ck_execs_init(struct ck_execs *execs, struct ck_binary_search *search);
void ck_execs_done(struct ck_execs *execs);

/* One tool of the run: its open file, and the entry that lists its helpers. */
struct ck_execs_tool {
    int fd;
    bool bound;        /* the entry has `execs` or `uses` */
    bool in_workspace; /* a file beneath the root */
    const char *path;
    const struct ck_tool *tool; /* with the keys of the subcommand in place */
};

/*
 * Stores a descriptor of the ruleset in *ret_fd. A failure fills *error: CHOKE_JAIL_UNAVAILABLE if
 * the kernel has no Landlock, CHOKE_DISALLOWED if a file is not trusted, CHOKE_SPAWN_FAILED for
 * lack of memory or descriptors.
 */
int ck_execs_make(struct ck_execs *execs, struct ck_identity root, const struct ck_execs_tool *tools, size_t count,
                  int *ret_fd, struct choke_error *error);

#endif
