/* native_images.h - the native jails of a context: one program for each set of files. */
#ifndef CK_RUN_NATIVE_IMAGES_H
#define CK_RUN_NATIVE_IMAGES_H

#include "jail/native.h"
#include "run/execs.h"
#include "run/plan.h"

struct ck_native_images_entry;

struct ck_native_images {
    struct ck_binary_search *search;
    struct ck_native_images_entry *entries;
    size_t next;
    uint64_t last_number;
};

void ck_native_images_init(struct ck_native_images *native_images, struct ck_binary_search *search);
void ck_native_images_done(struct ck_native_images *native_images);

/* What the jail is for: the tools of a run, with their helpers. */
struct ck_native_images_wanted {
    struct ck_identity root;
    const char *state_home; /* run/plan.h */
    const char *place;      /* path inside of the root; NULL: /work */
    const struct ck_native_directory *shown;
    size_t shown_count;
    const struct ck_execs_tool *tools;
    size_t count;
    bool libraries;                      /* jail/native.h */
    bool plugins;                        /* the same */
    bool in_place;                       /* jail/native.h */
    bool workspace_code;                 /* jail/native.h */
    bool loopback;                       /* the same */
    bool egress;                         /* a separate jail with separate wardens: the others have no sockets */
    bool reports_attempts;               /* with egress: jail/native.h */
    bool names_execs;                    /* jail/native.h */
    bool why;                            /* jail/native.h */
    bool learn;                          /* jail/native.h */
    const struct ck_native_guard *guard; /* jail/native.h */
    struct ck_arena *arena;              /* for the paths that are found */
};

/*
 * The jail, and in ret_inside the path of each tool in it, valid while the context caches it. A
 * failure fills *error.
 */
int ck_native_images_find(struct ck_native_images *native_images, const struct ck_native_images_wanted *wanted,
                          struct ck_native_image *ret_image, const char **ret_inside, struct choke_error *error);

#endif
