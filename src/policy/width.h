/*
 * width.h - which of two rules allows more.
 *
 * Pure, and strict in one direction: CK_WIDTH_NARROWER and CK_WIDTH_SAME are proven; what cannot be
 * decided is CK_WIDTH_OTHER. A reviewer must treat OTHER like WIDER.
 */
#ifndef CK_POLICY_WIDTH_H
#define CK_POLICY_WIDTH_H

#include "policy/model.h"

/* The second rule, compared with the first. */
enum ck_width {
    CK_WIDTH_SAME = 1, /* allows the same */
    CK_WIDTH_NARROWER, /* allows less, and nothing new */
    CK_WIDTH_WIDER,    /* allows all that the first does, and more */
    CK_WIDTH_OTHER,    /* neither is known to contain the other */
};

enum ck_width ck_width_of_types(enum ck_type before, enum ck_type after);

/* Two options of the same name. */
enum ck_width ck_width_of_options(const struct ck_arg_option *before, const struct ck_arg_option *after);

/* Does outer name every destination that inner names: "a.example.com:443" in "*.example.com"? */
bool ck_width_destination_within(const char *inner, const char *outer);

#endif
