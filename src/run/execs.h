/*
 * execs.h - from the files that a run may execute to a ruleset that holds it to them (policy key `execs`).
 *
 * Allowed are the tools of the run and their helpers, and what the kernel opens to start them: the loader of a dynamic
 * binary, the interpreter of a script (of "#!/usr/bin/env NAME" also NAME, as the search path has it), and theirs.
 * A helper that is not installed is not allowed, which is no error; one that is not to be trusted is.
 */
#ifndef CK_RUN_EXECS_H
#define CK_RUN_EXECS_H

#include "policy/model.h"
#include "sys/binary.h"

struct ck_execs_set;

/* Rulesets that were made, for the next run of the same files. */
struct ck_execs {
    struct ck_binary_search *search; /* where helpers are looked for */
    struct ck_execs_set *sets;
    size_t next;
};

void ck_execs_init(struct ck_execs *execs, struct ck_binary_search *search);
void ck_execs_done(struct ck_execs *execs);

/* One tool of the run: its open file, and the entry whose helpers it may have. */
struct ck_execs_tool {
    int fd;
    bool bound; /* its helpers were given */
    const char *path;
    const struct ck_tool *tool;
    const struct ck_list *execs; /* its helpers: the entry's, or those of the subcommand */
};

/*
 * A descriptor of the ruleset in *ret_fd. Failures fill *error: CHOKE_JAIL_UNAVAILABLE where the kernel has no
 * Landlock, CHOKE_DISALLOWED where a file is not to be trusted, CHOKE_SPAWN_FAILED for want of memory or descriptors.
 */
int ck_execs_make(struct ck_execs *execs, struct ck_identity root, const struct ck_execs_tool *tools, size_t count,
                  int *ret_fd, struct choke_error *error);

#endif
