/*
 * cage.h - the native jails of a context: one program for each set of files that runs are made of.
 */
#ifndef CK_RUN_CAGE_H
#define CK_RUN_CAGE_H

#include "jail/native.h"
#include "run/execs.h"
#include "run/plan.h"

struct ck_cages_entry;

struct ck_cages {
    struct ck_search *search;
    struct ck_cages_entry *entries;
    size_t next;
    uint64_t last_number;
};

void ck_cages_init(struct ck_cages *cages, struct ck_search *search);
void ck_cages_done(struct ck_cages *cages);

/*
 * The jail for a run of these tools and their helpers, and in ret_inside where each tool is in it (in arena). Failures
 * fill *error.
 */
int ck_cages_find(struct ck_cages *cages, struct ck_identity root, const struct ck_execs_tool *tools, size_t count,
                  struct ck_arena *arena, struct ck_cage_image *ret_image, const char **ret_inside,
                  struct choke_error *error);

#endif
