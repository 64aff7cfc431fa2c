/*
 * landlock.h - the files that a process and its descendants may execute.
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

#endif
