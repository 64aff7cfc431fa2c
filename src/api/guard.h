/* guard.h - a program in its cage, and the tools that its doors stand for. */
#ifndef CK_API_GUARD_H
#define CK_API_GUARD_H

#include "api/context.h"
#include "egress/host_secret.h"
#include "overlay/snapshot.h"
#include "run/guarded.h"

#define CK_GUARD_WRITABLE_MAX 32

/* A tool of the policy, and the file at whose path its door is. */
struct ck_guard_tool {
    const struct ck_tool *tool;
    const char *file;
};

/* A state directory of the profile. */
struct ck_kept_state {
    const char *name; /* beneath HOME */
    const char *real; /* on the host */
    int fd;
    struct ck_snapshot *before; /* NULL: not taken */
};

struct choke_guard {
    struct choke_context *context;
    struct ck_arena arena;
    struct choke_job *job; /* PROGRAM's; NULL once it is freed */
    const char *root;
    const char *description; /* of the cage, as JSON */
    int root_fd;
    struct ck_identity root_identity;
    struct ck_scratch_pool scratch_pool;
    struct ck_scratch tmp;
    struct ck_scratch home;       /* what is HOME in the cage, if the profile has state */
    const char *store;            /* the directory of the profile; NULL: it has no state */
    struct ck_kept_state *states; /* all with a descriptor of their own */
    size_t states_count;
    const struct ck_list *data;      /* what of it is only data */
    struct ck_snapshot *root_before; /* NULL: not taken */
    struct ck_changes changes;
    bool changes_listed;
    struct ck_guard_tool *tools; /* those with a door */
    size_t tools_count;
    struct ck_native_directory directories[CK_GUARD_WRITABLE_MAX];
    struct ck_guarded_directory writable[CK_GUARD_WRITABLE_MAX]; /* the same ones */
    size_t writable_count;
    struct ck_guarded cage; /* for PROGRAM */
    struct ck_guarded tool_calls;
    choke_door_fn on_door;
    void *door_data;
    struct ck_audit_guard record;                     /* of its guard_begin and guard_end */
    struct ck_identity places[CK_GUARD_WRITABLE_MAX]; /* of the writable directories, for record */
    uint64_t received;                                /* connections, each door once */
    uint64_t calls;                                   /* that became jobs */
    struct ck_host_secrets *secrets;                  /* that the proxy adds for PROGRAM; NULL: none */
};

/* ---- guard_secrets.c ---- */

/*
 * Reads the secrets of the request: guard->secrets, and what the record says of them. After the
 * egress of the cage and its writable directories. 0, or a negative errno and *error, which never
 * quotes a value.
 */
int ck_guard_secrets_take(struct choke_guard *guard, const struct choke_guard_request *request,
                          struct choke_error *error);

/* ---- guard_state.c ---- */

/*
 * Opens the state directories and makes a HOME: directories and writable. name NULL: of the section. 0,
 * or a negative errno and *error. Nothing if the profile has none.
 */
int ck_guard_state_open(struct choke_guard *guard, const struct ck_profile *profile, const char *name,
                        struct choke_error *error);

/* No name of read_only may be a symlink. 0, or a negative errno and *error. */
int ck_guard_state_check_read_only(const struct choke_guard *guard, const struct ck_list *names,
                                   struct choke_error *error);

/* Remembers what is in them and in the root, before the program runs. */
int ck_guard_state_note(struct choke_guard *guard, struct choke_error *error);
void ck_guard_state_done(struct choke_guard *guard);

/* ---- guard_tools.c ---- */

/*
 * Decides which tools of the policy have a door: cage.native.doors, and tools. 0, or a negative errno
 * and *error.
 */
int ck_guard_tools_find(struct choke_guard *guard, const struct ck_policy *policy, struct choke_error *error);

/* The tool that a call is for; NULL: none of the doors. */
const struct ck_tool *ck_guard_tools_choose(const struct choke_guard *guard, const struct choke_guard_call *call);

#endif
