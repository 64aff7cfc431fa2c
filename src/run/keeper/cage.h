/*
 * cage.h - what the init of a cage adds to that of a jail: it counts what becomes of executions, and
 * connects doors with the guard (docs/adr/0100).
 */
#ifndef CK_RUN_KEEPER_CAGE_H
#define CK_RUN_KEEPER_CAGE_H

#include "run/keeper/exec_names.h"

#include <stdbool.h>
#include <stdint.h>

/* What the kernel will do with an execution, as far as can be known before. */
enum ck_cage_fate {
    CK_CAGE_CARRIER, /* a listed file */
    CK_CAGE_DOOR,
    CK_CAGE_WORKSPACE, /* a file beneath the root, with workspace_code */
    CK_CAGE_REFUSED,
    CK_CAGE_NOT_FOUND,
    CK_CAGE_FAILED,
};

/* An answer of ck_cage_connect: the notification has been answered. Every other one is an errno, or 0. */
#define CK_CAGE_ANSWERED 1

/*
 * Can this kernel install a descriptor and answer at once (from Linux 5.14)? 0, or -EOPNOTSUPP: then
 * no door could connect, and the cage must not be used.
 */
long ck_cage_check(int listener_fd);

/* The file could not be opened, with this negative errno. */
enum ck_cage_fate ck_cage_fate_of_error(long error);

/* A file that nothing refuses; fd is open with O_PATH. Whether it is a door is asked separately. */
enum ck_cage_fate ck_cage_fate_of_file(const struct ck_exec_names *names, int fd);

/* Is it the file that is mounted at the path of each tool? */
bool ck_cage_is_door(const struct ck_native_jail *jail, const struct ck_exec_names_file *file);

/*
 * After the program that tried something, which is in names->by, those of its parents: "/usr/bin/dash" that
 * "/usr/bin/make" called is "/usr/bin/dash//usr/bin/make", because no path has two slashes. A program that
 * was called by itself is named once. What does not fit is left out.
 */
void ck_cage_append_parents(struct ck_exec_names *names, uint32_t pid);

/* One more execution with this fate. A door counts as failed until it connects. */
void ck_cage_count(const struct ck_native_jail *jail, enum ck_cage_fate fate);

/*
 * A process asks for a connection to the guard (base/door_wire.h). It gets one end of a socket pair
 * if its program is a door, and the other is sent through caller_fd. The answer to the notification:
 * a negative errno, or CK_CAGE_ANSWERED.
 */
int32_t ck_cage_connect(const struct ck_exec_names *names, int listener_fd, int caller_fd,
                        const struct seccomp_notif *asked);

#endif
