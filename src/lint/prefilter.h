/*
 * prefilter.h - decides quickly whether a text can hold a finding at all. To parse a text takes a
 * hundred times as long as to look for words.
 *
 * A trigger is a set of words that must all occur, whole and in any order: a finding about
 * os.system needs "os" and "system". A text that does not have all words of any trigger is not
 * parsed. That is only sound if a rule cannot match without its words, so each rule names its own
 * triggers (rules.h).
 *
 * Words in comments and strings count like others, except in Python (ck_prefilter_read_python).
 * There comments do not count. A string counts only if it looks like a name and the text also has a
 * word that looks things up by name.
 */
#ifndef CK_LINT_PREFILTER_H
#define CK_LINT_PREFILTER_H

#include "chokepoint.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_prefilter;

/* The result is in the arena. */
int ck_prefilter_new(struct ck_arena *arena, struct ck_prefilter **ret_prefilter, struct choke_error *error);

/*
 * Adds a trigger: words separated by spaces, each of letters, digits and underscores. "a+b" means b
 * right after a, with no word between them. "*" makes a prefilter that passes every text.
 */
int ck_prefilter_add(struct ck_prefilter *prefilter, struct ck_arena *arena, const char *trigger,
                     struct choke_error *error);

/*
 * Reads texts as Python. lookups are the words that find a thing by its name in a string (getattr).
 */
int ck_prefilter_read_python(struct ck_prefilter *prefilter, struct ck_arena *arena, const char *const *lookups,
                             uint32_t lookups_count, struct choke_error *error);

bool ck_prefilter_may_match(const struct ck_prefilter *prefilter, const char *text, size_t length);

#endif
