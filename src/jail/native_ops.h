/*
 * native_ops.h - the native jail as a list of operations: built before any process exists, carried out by it.
 *
 * A program is one block of bytes without pointers; what it names stands at an offset from its start, 0 for nothing.
 * The library builds it (native.c), the keeper's warden carries out its steps once, when it is made, and keeps what
 * they made: namespaces and a root that every run of the same tool begins from (keeper/native_jail.c). What differs from run
 * to run, the repository, the scratch directory, /proc, is in the plan.
 *
 * Inside:
 *   /usr /lib /etc ...  of the host, read-only, and nothing in them can be executed or mapped as code
 *   the tool, its helpers, their loaders and libraries, each file by itself, as code
 *   /work               the root of the request
 *   /tmp                empty, gone with the run; /tmp/probe is HOME, /dev/shm leads to /tmp/shm
 *   /proc               of the run's own processes, read-only, without the list of the user's keys
 *   /dev                null zero full random urandom: to be used, not to be changed
 *   127.0.0.1:3128      with egress, the way to the proxy; each run has a network of its own then, in which nobody else is
 */
#ifndef CK_JAIL_NATIVE_OPS_H
#define CK_JAIL_NATIVE_OPS_H

#include "base/workspace.h"

#include <stddef.h>
#include <stdint.h>

#define CK_JAIL_WORK "/work"
#define CK_JAIL_TMP "/tmp"
#define CK_JAIL_SCRATCH "/tmp/probe"
#define CK_JAIL_SHM "/tmp/shm"
#define CK_JAIL_GATE_PORT 3128
#define CK_JAIL_OLD_ROOT ".old" /* for what stands there until it is in its place; empty when the tool starts */

/* Paths of the inside are relative to the new root, those of the host begin with '/'. */
enum ck_native_op_kind {
    CK_NATIVE_OP_DIRECTORY = 1, /* inside */
    CK_NATIVE_OP_FILE,          /* inside; holds the text at outside, or nothing */
    CK_NATIVE_OP_LINK,          /* inside; leads to the text at outside */
    CK_NATIVE_OP_BIND,          /* inside, outside: the host's file or tree, read-only, nothing in it executable */
    CK_NATIVE_OP_BIND_CODE,     /* the same, as code */
    CK_NATIVE_OP_BIND_DEVICE,   /* a device node that may be used; its mode and owner are fixed */
};

struct ck_native_op {
    uint32_t op;
    uint32_t inside;
    uint32_t outside;
};

struct ck_native_program {
    uint32_t size_bytes;
    uint32_t uid, gid;
    uint32_t ops_at, ops_count;                          /* struct ck_native_op */
    uint32_t execs_at, execs_count;                      /* uint32_t each, of paths inside that may be executed */
    uint32_t filter_at, filter_count;                    /* struct sock_filter */
    uint32_t tmp_options_at;                             /* of the mount of /tmp: "mode=0755,size=..." */
    uint64_t landlock_fs, landlock_net, landlock_scoped; /* what is handled; 0 everywhere: no Landlock */
    uint32_t
        gate_port; /* with egress: where the one listener is, on loopback inside; 0: no egress, and no socket at all */
    uint32_t
        gate_reports_attempts; /* the filter asks, and init tells who tries another way: keeper/direct_attempts.c */
};

/* The text at an offset, NULL for 0. */
static inline const char *ck_native_text(const struct ck_native_program *program, uint32_t at)
{
    return at != 0 ? (const char *)program + at : NULL;
}

/* What the jail consists of; each is proven by trying to get through it (keeper/prove.c). */
enum ck_jail_layer {
    CK_JAIL_LAYER_USER_NS,
    CK_JAIL_LAYER_MOUNT_NS,
    CK_JAIL_LAYER_PID_NS,
    CK_JAIL_LAYER_NET_NS,
    CK_JAIL_LAYER_IPC_NS,
    CK_JAIL_LAYER_UTS_NS,
    CK_JAIL_LAYER_CGROUP_NS,
    CK_JAIL_LAYER_NAMESPACES,
    CK_JAIL_LAYER_FRESH_ROOT = CK_JAIL_LAYER_NAMESPACES,
    CK_JAIL_LAYER_LANDLOCK,
    CK_JAIL_LAYER_EXECS,
    CK_JAIL_LAYER_SECCOMP,
    CK_JAIL_LAYER_NO_CAPABILITIES,
    CK_JAIL_LAYER_NO_NEW_PRIVS,
    CK_JAIL_LAYER_EGRESS,           /* of a jail with a gate only: nothing but the gate can be reached */
    CK_JAIL_LAYER_REPORTS_ATTEMPTS, /* no wall: of a jail with a gate, it could be seen from inside what was tried */
    CK_JAIL_LAYERS,
};

#endif
