/*
 * native_ops.h - the native jail as a list of operations. The list is made before any process
 * exists; the warden executes it.
 *
 * A program is one block of bytes without pointers. It refers to its parts by offsets from its
 * start; 0 means nothing. The library builds it (native.c). A warden executes its operations once,
 * when it is made, and keeps the result: namespaces and a root for every run of the same tools
 * (keeper/native_jail.c). What differs between runs is in the plan: the repository, the scratch
 * directory, /proc.
 *
 * Inside the jail:
 *
 *  /usr /lib /etc ...  of the host, read-only; nothing in them can be executed or mapped as code
 *  /usr/lib ...        can be mapped as code where the proof allows it (libraries.h)
 *  code                the tool, its helpers, their loaders and other libraries, each bound separately; where
 *                      /usr/lib is no code, also the plug-ins of interpreters (plugins.h)
 *  /work               the root of the request; or empty, and the root is at its own path. Nothing in
 *                      the root can be executed, unless the entry has workspace_code
 *  other directories   `reads` of the policy, and the git directory of the root, at their own paths
 *  /tmp                empty, removed after the run; HOME is /tmp/probe, /dev/shm links to /tmp/shm
 *  /proc               only processes of the run, read-only, without the list of the user's keys
 *  /dev                null zero full random urandom; they can be used but not changed
 *  /.home              for guard: HOME and /dev/shm of the run; /tmp is then shared
 *  /.state             for guard: HOME of a cage with state directories, which are at their names in it
 *  127.0.0.1 ::1       with loopback, for the tool's own servers; each run then has its own network
 *  127.0.0.1:3128      with egress, the gate to the proxy; each run then has its own network
 */
#ifndef CK_JAIL_NATIVE_OPS_H
#define CK_JAIL_NATIVE_OPS_H

#include "base/workspace.h"
#include "sys/version.h"

#include <stddef.h>
#include <stdint.h>

#define CK_JAIL_WORK "/work"
#define CK_JAIL_TMP "/tmp"
#define CK_JAIL_SCRATCH "/tmp/probe"
#define CK_JAIL_SHM "/tmp/shm"
/*
 * In a cage, and for a tool that is called from one, /tmp is a directory of the guard. HOME and
 * /dev/shm are elsewhere then, because what the cage writes must not configure a tool.
 */
#define CK_JAIL_PRIVATE "/.home"
#define CK_JAIL_PRIVATE_SCRATCH "/.home/probe"
#define CK_JAIL_PRIVATE_SHM "/.home/shm"
#define CK_JAIL_STATE "/.state" /* HOME of a cage whose profile has state directories: they are in it */
#define CK_JAIL_DOOR "/.door"   /* the file that is mounted at the path of each tool in a cage */
#define CK_JAIL_GATE_PORT 3128
#define CK_JAIL_REFUSED_PROGRAM "/usr/bin/true"  /* what a proof tries to run, and must not */
#define CK_JAIL_STARTED_PROGRAM "/usr/bin/false" /* what a proof of libraries runs; it must end with 1 */
#define CK_JAIL_OLD_ROOT ".old" /* for mounts before they are moved to their place; empty when the tool starts */

/*
 * The root of a proof. Not a tree with programs: Landlock knows files and not places, so a rule for
 * the root would cover such a tree at its own place, too.
 */
#define CK_JAIL_PROOF_ROOT "/etc"

/* Paths inside are relative to the new root; paths of the host are absolute. */
enum ck_native_op_kind {
    CK_NATIVE_OP_DIRECTORY = 1, /* inside */
    CK_NATIVE_OP_FILE,          /* inside; its content is the text `outside`, or nothing */
    CK_NATIVE_OP_TEXT,          /* inside; a file with the text `outside`, which the host does not have */
    CK_NATIVE_OP_LINK,          /* inside; a symlink to the text `outside` */
    CK_NATIVE_OP_BIND,          /* inside, outside: a file or tree of the host, read-only, nothing in it executable */
    CK_NATIVE_OP_BIND_CODE,     /* the same, but it may be executed or mapped as code */
    CK_NATIVE_OP_BIND_DEVICE,   /* a device node that can be used; its mode and owner cannot be changed */
    CK_NATIVE_OP_BIND_TMP,      /* as BIND, with a path inside that is beneath /tmp: each run has a new /tmp */
    CK_NATIVE_OP_BIND_TMP_CODE, /* as BIND_CODE, beneath such a path */
    CK_NATIVE_OP_COPY_CODE,     /* inside, outside: a changed copy of a file, read-only; it may be executed */
    CK_NATIVE_OP_BIND_WRITABLE, /* as BIND, a directory with its inode; it can be written */
    CK_NATIVE_OP_DOOR,          /* inside: CK_JAIL_DOOR is mounted over this file, and may be executed */
    CK_NATIVE_OP_READ_ONLY, /* inside: a name in the root of the request, which becomes read-only when that is mounted */
    CK_NATIVE_OP_BIND_PLUGIN, /* as BIND_CODE, a file with its inode; left out if it is not that file any more */
};

/*
 * A copy of a file with other bytes at some offsets. The offsets are those of this version; another
 * version is not copied.
 */
#define CK_NATIVE_PATCHES_MAX 3
#define CK_NATIVE_PATCH_BYTES 128

struct ck_native_patch {
    uint64_t at;
    uint32_t bytes;
    unsigned char data[CK_NATIVE_PATCH_BYTES];
};

struct ck_native_copy {
    struct ck_version version;
    uint32_t patches_count;
    struct ck_native_patch patches[CK_NATIVE_PATCHES_MAX];
};

struct ck_native_op {
    uint32_t op;
    uint32_t inside;
    uint32_t outside;
    uint32_t copy_at; /* only of CK_NATIVE_OP_COPY_CODE: struct ck_native_copy */
    /* of a directory or plug-in that was checked: nothing else is mounted there; inode 0: not checked */
    uint64_t device, inode;
};

struct ck_native_program {
    uint32_t size_bytes;
    uint32_t uid, gid;
    uint32_t ops_at, ops_count;       /* struct ck_native_op */
    uint32_t execs_at, execs_count;   /* a uint32_t offset for each path inside that may be executed */
    uint32_t filter_at, filter_count; /* struct sock_filter */
    uint32_t root_at;                 /* path inside of the root, absolute */
    uint32_t tmp_options_at;          /* mount options of /tmp: "mode=0755,size=..." */
    uint64_t landlock_fs, landlock_net, landlock_scoped; /* what Landlock restricts; all 0: no Landlock */
    uint32_t workspace_code;                             /* files beneath the root can be executed and mapped as code */
    uint32_t loopback;                                   /* the tool may use sockets on loopback */
    uint32_t gate_port;             /* with egress: port of the listener on loopback inside; 0: no sockets */
    uint32_t gate_reports_attempts; /* init reports direct attempts: keeper/direct_attempts.c */
    uint32_t proof_loader_at;       /* of a proof with libraries: the loader inside; 0: without */
    /*
     * Not 0: init names refused executions (keeper/exec_names.c). The filter notifies it of every
     * execution without this key.
     */
    uint64_t exec_key;
    uint32_t why;                 /* with a key: init names everything else that is refused, too (keeper/why.c) */
    uint32_t learn;               /* the system's trees are code, and init notes what is executed (keeper/learn.c) */
    uint32_t guarded;             /* /tmp is a directory of the guard: CK_JAIL_PRIVATE */
    uint32_t door_at, door_bytes; /* of a cage: the program of the doors; 0: no cage */
    uint32_t no_new_code;         /* memory that was written cannot become code, where the kernel has that */
};

/*
 * Where the warden keeps a BIND_TMP operation while it has no run: name in a directory of the root.
 * The operation's number makes it unique.
 */
#define CK_JAIL_KEPT ".kept"

/* Has each run its own network? Otherwise the warden's is enough: no run has sockets. */
static inline int ck_native_has_network(const struct ck_native_program *program)
{
    return program->gate_port != 0 || program->loopback != 0;
}

/*
 * Is the filter installed in each run's init? The warden makes networks and, in a jail that names
 * all refusals, opens files: the filter would refuse the one, and nobody would answer the other.
 */
static inline int ck_native_filters_late(const struct ck_native_program *program)
{
    return ck_native_has_network(program) || program->why != 0;
}

/* The text at an offset; NULL for 0. */
static inline const char *ck_native_text(const struct ck_native_program *program, uint32_t at)
{
    return at != 0 ? (const char *)program + at : NULL;
}

/* The directory in which each run has a new file system, for HOME and /dev/shm, and usually /tmp. */
static inline const char *ck_native_private(const struct ck_native_program *program)
{
    return program->guarded != 0 ? CK_JAIL_PRIVATE : CK_JAIL_TMP;
}

static inline int ck_native_is_cage(const struct ck_native_program *program)
{
    return program->door_bytes != 0;
}

/* The operations of a program, ops_count of them. */
static inline const struct ck_native_op *ck_native_ops(const struct ck_native_program *program)
{
    return (const void *)((const char *)program + program->ops_at);
}

/* The path inside of the root of the request. */
static inline const char *ck_native_root(const struct ck_native_program *program)
{
    return (const char *)program + program->root_at; /* never 0 */
}

/* Whether a path inside is beneath the /tmp of the run. */
static inline int ck_native_in_tmp(const char *path)
{
    return path[0] == '/' && path[1] == 't' && path[2] == 'm' && path[3] == 'p' && path[4] == '/';
}

/* The layers of a jail. Each is proven by an attempt to get through it (keeper/prove.c). */
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
    CK_JAIL_LAYER_EGRESS,           /* only with a gate: nothing but the gate can be reached */
    CK_JAIL_LAYER_LOOPBACK,         /* only with loopback: nothing but loopback can be reached */
    CK_JAIL_LAYER_REPORTS_ATTEMPTS, /* not a protection: with a gate, direct attempts can be seen */
    CK_JAIL_LAYER_LIBRARIES,        /* only with libraries as code: the loader cannot be executed as a program */
    CK_JAIL_LAYER_NAMES_EXECS,      /* not a protection: refused executions can be seen */
    CK_JAIL_LAYERS,
};

#endif
