/* learn_record.h - the decision record that a learned entry cites (R83). */
#ifndef CK_API_LEARN_RECORD_H
#define CK_API_LEARN_RECORD_H

#include "api/context.h"
#include "policy/learn_entry.h"

/* The number after the last one in adr_dir of the context's policy; "0001" if that has none. */
int ck_learn_record_number(const struct choke_context *context, struct ck_arena *arena, const char **ret_number,
                           struct choke_error *error);

/* Fills record and record_path: what is to be written, and where. 0 or -ENOMEM. */
int ck_learn_record_write(const struct choke_context *context, const struct ck_learn_entry *entry,
                          struct ck_arena *arena, struct choke_learned *learned);

#endif
