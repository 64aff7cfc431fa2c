/*
 * layer.h - pure: turns the result of a trial and facts about the machine into a message: does the
 * layer hold, why not, and what to do.
 */
#ifndef CK_READY_LAYER_H
#define CK_READY_LAYER_H

#include "sys/host.h"

/* In the order in which they are reported. */
enum ck_layer {
    CK_LAYER_NO_NEW_PRIVS,
    CK_LAYER_EXECS,
    CK_LAYER_SECCOMP,
    CK_LAYER_SUBREAPER,
    CK_LAYER_PIDFD,
    CK_LAYER_OPENAT2,
    CK_LAYER_USER,
    CK_LAYER_MOUNT,
    CK_LAYER_PID,
    CK_LAYER_NET,
    CK_LAYER_IPC,
    CK_LAYER_UTS,
    CK_LAYER_CGROUP,
    CK_LAYER_CGROUP_KILL,
    CK_LAYER_MEMORY,
    CK_LAYER_PIDS,
    CK_LAYER_CPU,
    CK_LAYER_NATIVE,
    CK_LAYER_NATIVE_DEGRADED, /* the native jail without user namespaces */
    CK_LAYER_BWRAP,
    CK_LAYER_NATIVE_EGRESS, /* with one way out, to the proxy */
    CK_LAYER_BWRAP_EGRESS,
    CK_LAYER_SEATBELT,
    CK_LAYER_GUARD, /* a cage: the native jail, and a kernel that lets init answer doors */
    CK_LAYERS,
};

/* The result of trying one layer. */
struct ck_layer_trial {
    /* 0: it holds; a positive errno; EPROTO: the kernel accepted it but does not enforce it */
    int error;
    /*
     * EXECS: the ABI of Landlock; a namespace: 1 if it was made inside a user namespace; egress: 1
     * if direct attempts are reported; guard: 1 if the kernel can refuse new code to carriers;
     * another jail: 1 if library directories are code
     */
    int value;
    enum ck_controller_version cgroup_version; /* of a controller: where it was found */
    /* why a jail does not hold; NULL: it is not in this build */
    const char *message;
};

/* A layer for the user. name and group are static text. */
struct ck_layer_message {
    const char *name;  /* "execs", "net" */
    const char *group; /* "kernel", "namespace", "cgroup", "jail" */
    char detail[96];   /* "" if there is nothing to add */
    char cause[256];   /* "" if it holds */
    char remedy[160];  /* "" if none is known */
};

/* trials has CK_LAYERS entries: a namespace can fail because another one does. */
void ck_layer_explain(enum ck_layer layer, const struct ck_layer_trial *trials, const struct ck_host *host,
                      struct ck_layer_message *ret_message);

#endif
