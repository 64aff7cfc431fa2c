/*
 * clone.h - one commit of a repository on another host, by git through the door.
 *
 * The policy takes `catalog: [git-clone]` and grants the host; docs/adr/0064 has what that entry
 * refuses: other protocols, redirects, submodules, LFS, and sizes and times beyond its limits. The
 * copy is in a temporary directory of this machine (gather/temporary.h); all of it is bounded, too,
 * because a server can send a tree with a thousand names for one large object.
 */
#ifndef CK_FLEET_CLONE_H
#define CK_FLEET_CLONE_H

#include "chokepoint.h"
#include "fleet/list.h"
#include "gather/temporary.h"

struct ck_fleet_worker;

struct ck_clone {
    struct ck_temporary temporary;
    char path[CK_TEMPORARY_PATH_MAX + 16]; /* of the work tree */
};

/*
 * Returns 0 or a negative errno: -ECANCELED if what watches git was killed, or the worker was stopped. Remove it in
 * either case; a zero-filled one is ignored.
 */
int ck_clone_make(struct ck_fleet_worker *worker, const char *url, struct ck_clone *checkout,
                  struct choke_error *error);
void ck_clone_remove(struct ck_clone *checkout);

/*
 * Does the policy let each URL of the list be cloned? If not, the message has the lines of a policy
 * that does. Nothing but a temporary directory is made, and that is removed.
 */
int ck_clone_check(struct choke_context *context, const struct ck_fleet_list *list, struct choke_error *error);

#endif
