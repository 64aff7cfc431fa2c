/*
 * redact.h - no credential in what a caller, an event or a record is told (R15, docs/adr/0042).
 *
 * Arguments and variables that look like one are refused by the judge. Every other string of a request (directories,
 * the directory to keep, a destination) is used as it is and hidden here, where a message, an event or a decision leaves
 * the library.
 */
#ifndef CK_API_REDACT_H
#define CK_API_REDACT_H

#include "base/arena.h"
#include "chokepoint.h"

/* The message is replaced where it has a credential in it, or the beginning of a path of the request that has one. */
void ck_redact_error(struct choke_error *error, const struct choke_request *request);

/* Copies without credentials; NULL where there is no memory, or nothing to copy. */
const char *ck_redact_copy(struct ck_arena *arena, const char *text);
const char *const *ck_redact_list(struct ck_arena *arena, const char *const *list);

#endif
