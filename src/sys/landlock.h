/*
 * landlock.h - the files that a process and its descendants may execute; or all that they may do with files.
 *
 * A ruleset is built here, before the process exists; the process takes it on just before it executes the tool, and
 * nothing it starts can get rid of it. What is allowed is a file, not a name: a link to it or another name of it is the
 * same file, a copy is not.
 */
#ifndef CK_SYS_LANDLOCK_H
#define CK_SYS_LANDLOCK_H

/*
 * An empty ruleset: nothing on a file system may be executed. A descriptor, or a negative errno: -ENOSYS where the
 * kernel has no Landlock, -EOPNOTSUPP where it was switched off at boot, -EPERM where a seccomp filter forbids it.
 */
int ck_landlock_new(void);

/* Lets an open file be executed; O_PATH is enough. 0 or a negative errno. */
int ck_landlock_allow(int ruleset_fd, int file_fd);

/* From this ABI (Linux 6.2) on there is a right for cutting a file short, so nothing can be written without one. */
#define CK_LANDLOCK_FULL_ABI 3
#define CK_LANDLOCK_SCOPE_ABI 6 /* from here on signals and abstract sockets are bounded */

/* Of the running kernel; or a negative errno, as above. */
int ck_landlock_abi(void);

/*
 * A ruleset that bounds everything this kernel's Landlock can bound: an empty one lets nothing be read, written or
 * executed, no TCP port be used, and no process outside be signalled.
 */
int ck_landlock_new_full(void);

enum ck_landlock_grant {
    CK_LANDLOCK_GRANT_LIST,    /* directories beneath it can be listed */
    CK_LANDLOCK_GRANT_READ,    /* and files be read */
    CK_LANDLOCK_GRANT_WRITE,   /* and everything else, but executing and making device nodes */
    CK_LANDLOCK_GRANT_DEVICE,  /* this file: reading and writing */
    CK_LANDLOCK_GRANT_EXECUTE, /* this file: reading and executing */
};

/* Of an open file or directory, and all that is beneath it; O_PATH is enough. 0 or a negative errno. */
int ck_landlock_grant(int ruleset_fd, int fd, enum ck_landlock_grant grant);

#endif
