/*
 * learn_into.h - adds what a call needs to the text of a policy (R83). Pure.
 *
 * The rest of the text stays as it is, with its comments. Members are added at the beginning of a
 * list, keys before the key `route`, which every entry has.
 */
#ifndef CK_POLICY_LEARN_INTO_H
#define CK_POLICY_LEARN_INTO_H

#include "chokepoint.h"
#include "policy/learn_entry.h"
#include "policy/model.h"

/* What the entry of the text lacks. */
struct ck_learn_missing {
    bool call;           /* its arguments do not allow the call */
    bool workspace;      /* the key is not given, and the tool writes or runs code of the repository */
    bool workspace_code; /* the key is not given */
};

/* The text of a policy. */
struct ck_learn_text {
    const char *file; /* for messages */
    const char *text;
    size_t length;
};

struct ck_learn_change {
    const struct ck_learn_entry *entry; /* its lists have nothing that the entry of the text has already */
    const struct ck_tool *tool;         /* the entry of the text; NULL: it has none with that name */
    struct ck_learn_missing missing;
    bool answered; /* questions are added as grants; else as comments */
};

/*
 * Adds a whole entry, or what the entry of that name lacks. *ret_text is text->text itself if nothing
 * is to be added. -EINVAL and *error if the text is written in a way that cannot be added to.
 */
int ck_learn_into(const struct ck_learn_text *text, const struct ck_learn_change *change, struct ck_arena *arena,
                  const char **ret_text, struct choke_error *error);

#endif
