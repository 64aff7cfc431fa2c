/*
 * prefilter.h - can this text hold a finding at all? To parse takes a hundred times as long as to look for words.
 *
 * A trigger is a set of words that must all occur, whole and in any order: a finding about os.system needs "os" and "system".
 * A text that has all words of no trigger is not parsed. That is only sound where a rule cannot match without
 * its words, so each rule names its own (rules.h).
 */
#ifndef CK_LINT_PREFILTER_H
#define CK_LINT_PREFILTER_H

#include "chokepoint.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct ck_prefilter;

/* Lives in the arena. */
int ck_prefilter_new(struct ck_arena *arena, struct ck_prefilter **ret_prefilter, struct choke_error *error);

/* Words separated by spaces, or "*" for a prefilter that lets everything through. A word is letters, digits, underscores. */
int ck_prefilter_add(struct ck_prefilter *prefilter, struct ck_arena *arena, const char *trigger,
                     struct choke_error *error);

bool ck_prefilter_may_match(const struct ck_prefilter *prefilter, const char *text, size_t length);

#endif
