/*
 * width.h - which of two rules lets more through.
 *
 * Pure, and strict in one direction: CK_WIDTH_NARROWER and CK_WIDTH_SAME are proven, all that cannot be decided is
 * CK_WIDTH_OTHER. Whoever guards a policy treats OTHER like WIDER.
 */
#ifndef CK_POLICY_WIDTH_H
#define CK_POLICY_WIDTH_H

#include "policy/model.h"

/* How the second of the two is, seen from the first. */
enum ck_width {
    CK_WIDTH_SAME = 1, /* lets the same through */
    CK_WIDTH_NARROWER, /* lets through less, and nothing new */
    CK_WIDTH_WIDER,    /* lets through all that the first does, and more */
    CK_WIDTH_OTHER,    /* neither is known to contain the other */
};

enum ck_width ck_width_of_types(enum ck_type before, enum ck_type after);

/* Two options of the same name. */
enum ck_width ck_width_of_options(const struct ck_arg_option *before, const struct ck_arg_option *after);

/*
 * What a tool may execute; NULL: the policy gives no list. Without one the tool executes anything where there is no
 * jail, and in a jail itself and its interpreter. An empty list is less than that in both places; any other list is
 * less in the first and more in the second.
 */
enum ck_width ck_width_of_execs(const struct ck_list *before, const struct ck_list *after);

/* Is every destination that inner names one that outer names: "a.example.com:443" in "*.example.com"? */
bool ck_width_destination_within(const char *inner, const char *outer);

#endif
