/*
 * landlock.h - rulesets for what a process and its descendants may execute, or do with files at
 * all.
 *
 * A ruleset is built here, before the process exists. The process applies it just before it
 * executes the tool, and nothing it starts can remove it. A rule is about a file, not a name: a
 * link to it or another name of it is the same file, a copy is not.
 */
#ifndef CK_SYS_LANDLOCK_H
#define CK_SYS_LANDLOCK_H

/*
 * A ruleset without rules: nothing on a file system may be executed. A descriptor, or a negative
 * errno: -ENOSYS if the kernel has no Landlock, -EOPNOTSUPP if it was disabled at boot, -EPERM if a
 * seccomp filter forbids it.
 */
int ck_landlock_new(void);

/* Allows an open file to be executed; O_PATH is enough. Returns 0 or a negative errno. */
int ck_landlock_allow(int ruleset_fd, int file_fd);

/*
 * From this ABI (Linux 6.2) on, truncating a file needs a right. Before it a file could be emptied
 * without a right to write.
 */
#define CK_LANDLOCK_FULL_ABI 3
#define CK_LANDLOCK_SCOPE_ABI 6 /* from here on signals and abstract sockets are restricted */

/* The ABI of the running kernel, or a negative errno as above. */
int ck_landlock_abi(void);

/*
 * A ruleset that restricts everything this kernel's Landlock can restrict. Without rules nothing
 * may be read, written or executed, no TCP port used, and no process outside signalled.
 */
int ck_landlock_new_full(void);

enum ck_landlock_grant {
    CK_LANDLOCK_GRANT_LIST,    /* directories beneath it can be listed */
    CK_LANDLOCK_GRANT_READ,    /* and files read */
    CK_LANDLOCK_GRANT_WRITE,   /* and everything else, except executing and making device nodes */
    CK_LANDLOCK_GRANT_DEVICE,  /* this file: read and write */
    CK_LANDLOCK_GRANT_EXECUTE, /* this file: read and execute */
};

/*
 * Grants rights on an open file, or on a directory and everything beneath it; O_PATH is enough.
 * Returns 0 or a negative errno.
 */
int ck_landlock_grant(int ruleset_fd, int fd, enum ck_landlock_grant grant);

#endif
