/*
 * native.h - the jail without a helper binary (R32, R33): what is in it, for a given set of files.
 */
#ifndef CK_JAIL_NATIVE_H
#define CK_JAIL_NATIVE_H

#include "chokepoint.h"

#include <stdbool.h>
#include <stddef.h>

/* A file that may be executed inside: the tool, a tool that it runs for the caller, a helper. */
struct ck_native_file {
    int fd;
    const char *path;   /* where it was found on the host */
    bool directory;     /* what is in it may be mapped as code, and not executed: plugins */
    const char *inside; /* made: where it is inside; lives in the caller's memory */
};

struct ck_native_wanted {
    struct ck_native_file *files;
    size_t count;
    const char *const *search; /* for "#!/usr/bin/env NAME" */
    size_t search_count;
    bool in_place;          /* there is no root of its own: every file is where it is on the host */
    bool tracing;           /* the files trace each other: strace */
    bool egress;            /* there is a gate, and sockets to reach it */
    bool reports_attempts;  /* with it: who tries another way is told */
    struct ck_arena *arena; /* for the made paths */
};

/* Pure: is it beneath one of the system's trees, which are in the jail at their own places? The path has no link in it. */
bool ck_native_is_system(const char *path);

/*
 * The program as a sealed memory file. 0, or a negative errno and *error: CHOKE_JAIL_UNAVAILABLE, or CHOKE_SPAWN_FAILED for
 * want of memory or descriptors.
 */
int ck_native_make(const struct ck_native_wanted *wanted, int *ret_fd, struct choke_error *error);

#endif
