/* native_jail.h - the namespaces, the root and the mounts of the native jail, in its warden. */
#ifndef CK_RUN_KEEPER_NATIVE_JAIL_H
#define CK_RUN_KEEPER_NATIVE_JAIL_H

#include "jail/native_ops.h"
#include "run/keeper/init.h"

#include <stdbool.h>
#include <stdint.h>

#define CK_NATIVE_JAIL_EXECS_MAX 384 /* tools and helpers (run/helper_files.h), loaders and interpreters */

/*
 * Landlock rights that no rule grants on a writable tree: EXECUTE (bit 0), MAKE_CHAR (6),
 * MAKE_BLOCK (11), IOCTL_DEV (15).
 */
#define CK_NATIVE_JAIL_NEVER_ALLOWED (UINT64_C(1) | UINT64_C(1) << 6 | UINT64_C(1) << 11 | UINT64_C(1) << 15)

/* The namespaces and the root that the warden of a jail is in. */
struct ck_native_jail_file {
    uint64_t device, inode;
    bool directory;
};

struct ck_native_jail {
    const struct ck_native_program *program;
    struct ck_init_status *init_status;
    char *denials;      /* CK_DENIALS_BYTES after it, shared too: what was refused (exec_names.c); or NULL */
    int listener_fd;    /* with denials: of the filter that the warden has, if it has one */
    uint32_t failed_op; /* operation of the program, from 1; 0: something else failed */
    int exec_fds[CK_NATIVE_JAIL_EXECS_MAX];
    struct ck_native_jail_file exec_files[CK_NATIVE_JAIL_EXECS_MAX]; /* what they are open on */
    struct ck_native_jail_file door;                                 /* of a cage: the file of every door */
    int host_ns_fd, root_ns_fd; /* mount namespaces: the one with the host's tree, the one of the jail */
    bool work_mounted;          /* a repository is mounted at its place; the next three fields say which */
    uint64_t work_device, work_inode;
    uint32_t work_mode;
    bool tmp_mounted, overlay_mounted; /* mounts of one run */
    bool stale_mounted;                /* mounts of the previous run, out of reach of this one */
    int below_tmp_fd;                  /* the directory that /tmp is mounted on */
    bool rules_ready;                  /* rules_fd is a Landlock ruleset for the next run */
    int rules_fd;
    bool null_ready; /* null_fd is the /dev/null inside, opened for one run: no other run shares its flags */
    int null_fd;
};

/*
 * Moves the calling process to a new user namespace with one user and one group, the same inside
 * and outside.
 */
long ck_native_jail_enter_userns(uint32_t uid, uint32_t gid);

/*
 * Moves the calling warden to new namespaces, then builds the root by the program. 0 or a negative
 * errno; after a failure the warden must run nothing.
 */
long ck_native_jail_enter_namespaces(struct ck_native_jail *jail);
long ck_native_jail_build(struct ck_native_jail *jail, int program_fd);

/*
 * Parts of the set-up that native_tmp.c needs too. A file or directory that exists is fine: the
 * place is there, which is all that a mount needs.
 */
long ck_native_jail_make_file(int root_fd, const char *path, const char *text);
long ck_native_jail_make_directory(int root_fd, const char *path);

/* Copies a tree, sets attributes, and mounts it at a path that exists beneath to_fd. */
long ck_native_jail_bind_tree(int from_fd, const char *from, unsigned flags, uint64_t attributes, int to_fd,
                              const char *to);

/* The same for an operation: a directory that was checked must still be that directory (-ESTALE). */
long ck_native_jail_bind(const struct ck_native_op *operation, const char *outside, uint64_t attributes, int root_fd,
                         const char *to);

/*
 * Makes the mounts of a run and creates its init, which creates the tool. The pid of init, or a
 * negative errno and run->failed_stage.
 */
long ck_native_jail_create(struct ck_init_run *run);

/* The parts of it, for an init that is prepared: the repository at its place, and the init. */
long ck_native_jail_place_root(const struct ck_init_run *run);
long ck_native_jail_create_init(struct ck_init_run *run);

/*
 * When nothing of the run but its init is left: moves its mounts out of reach, and makes those of
 * the next run. After a negative errno there must be no next run.
 */
long ck_native_jail_reset(struct ck_native_jail *jail);

/*
 * Unmounts what ck_native_jail_reset moved out of reach (jail->stale_mounted). It waits for the
 * kernel.
 */
long ck_native_jail_unmount_stale(struct ck_native_jail *jail);

#endif
