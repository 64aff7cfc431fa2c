/*
 * native.h - the content of the native jail for a given set of files. This jail needs no helper
 * binary (R32, R33).
 */
#ifndef CK_JAIL_NATIVE_H
#define CK_JAIL_NATIVE_H

#include "chokepoint.h"
#include "sys/version.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that may be executed inside: the tool, a tool that it runs for the caller, a helper. */
struct ck_native_file {
    int fd;
    const char *path;   /* path on the host */
    bool in_workspace;  /* beneath the root: it is there already, and what it names is not trusted */
    bool directory;     /* its files may be mapped as code, as plugins are; what may be executed is listed itself */
    const char *inside; /* result: path inside; in the memory of the caller's arena */
};

/* The loader of which a jail has a copy. The copy is valid while the file has this version. */
struct ck_native_loader {
    char path[256]; /* "": the jail has none */
    struct ck_version version;
};

struct ck_plugins;

/* A directory that the jail shows too, read-only. It was checked, so no other one is mounted. */
struct ck_native_directory {
    const char *path; /* as it was named; it is shown there, and at real */
    const char *real; /* the same without symlinks */
    uint64_t device, inode;
};

/*
 * What guard adds to a jail (docs/adr/0100). Each directory is at its path in `path`, is the one with
 * the inode, and can be written.
 */
struct ck_native_guard {
    const struct ck_native_directory *writable; /* the first is at /tmp */
    size_t writable_count;
    const char *const *doors;  /* real paths of tools that doors stand for; of a cage, NULL-terminated */
    const unsigned char *door; /* the program of the doors; NULL: no cage */
    size_t door_bytes;
    bool no_new_code; /* no carrier makes code while it runs */
    const char *const
        *read_only; /* of a cage: names in the root that are mounted read-only; NULL-terminated, or NULL */
};

struct ck_native_wanted {
    struct ck_native_file *files;
    size_t count;
    const struct ck_native_directory *shown;
    size_t shown_count;
    const char *root;          /* path inside of the root; NULL: /work */
    const char *const *search; /* for "#!/usr/bin/env NAME" */
    size_t search_count;
    bool libraries;        /* the library directories of the system are code, where that is possible */
    bool proof;            /* with what a proof of libraries tries; -ENOTSUP where they are not possible */
    bool in_place;         /* no new root: every file has its path on the host */
    bool tracing;          /* the tools may trace each other, as strace does */
    bool workspace_code;   /* files beneath the root can be executed; never with libraries */
    bool loopback;         /* with sockets on loopback */
    bool egress;           /* with a gate, and sockets to reach it */
    bool reports_attempts; /* with egress: direct attempts are reported */
    bool names_execs;      /* refused executions are named */
    bool why;              /* with names_execs: everything else that is refused, too */
    bool learn;            /* with names_execs: the system's trees are code, and executions are noted */
    const struct ck_native_guard *guard; /* a cage, or the jail of a tool that is called from one; NULL: neither */
    struct ck_arena *arena;              /* for the resulting paths */
    struct ck_native_loader *loader;     /* result: the loader that was copied; NULL: not wanted */
    struct ck_plugins *plugins;          /* result: plug-ins that are code where libraries are not; NULL: without */
};

/*
 * Whether the path is inside one of the system's trees, which have the same paths in the jail.
 * Pure. The path must have no symlink in it.
 */
bool ck_native_is_system(const char *path);

/*
 * The message about a directory in 'execs' that is not inside a system tree: a run and a review of
 * the policy say the same.
 */
#define CK_NATIVE_OUTSIDE_SYSTEM \
    "'%s' in 'execs' is a directory outside /usr, /lib, /bin and the other system trees; in a jail, code is mapped " \
    "only from directories inside these and inside 'reads'; name its files one by one"

/* Of a program of guard: PROGRAM writes beneath the root with the rights of the caller, and the name may be there. */
#define CK_NATIVE_SECOND_NAME \
    "'%s' cannot be executed under guard: it has a second name, by which the program could change it; replace it by " \
    "a copy"

/*
 * Writes the program to a sealed memory file. Returns 0, or a negative errno with *error filled:
 * CHOKE_JAIL_UNAVAILABLE, or CHOKE_SPAWN_FAILED for lack of memory or descriptors.
 */
int ck_native_make(const struct ck_native_wanted *wanted, int *ret_fd, struct choke_error *error);

#endif
