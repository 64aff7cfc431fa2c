/* learn_grants.h - what a learning run did, as grants, questions and comments of an entry (R83). */
#ifndef CK_API_LEARN_GRANTS_H
#define CK_API_LEARN_GRANTS_H

#include "api/context.h"
#include "policy/learn_entry.h"

/*
 * Fills uses, execs, asked_uses, asked_execs, code and notes of the entry from the records that the
 * context has. root: of the request; nothing beneath it is granted by a path. uses: the sets that the
 * entry has already. 0 or -ENOMEM.
 */
int ck_learn_grants(struct choke_context *context, struct ck_identity root, const struct ck_list *uses,
                    struct ck_arena *arena, struct ck_learn_entry *entry);

#endif
