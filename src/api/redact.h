/*
 * redact.h - keeps credentials out of messages, events and decisions (R15, docs/adr/0042).
 *
 * The judge refuses arguments and variables that look like one. Every other string of a request
 * (directories, the directory to keep, a destination) is used as it is, and hidden here, when a
 * message, an event or a decision leaves the library.
 */
#ifndef CK_API_REDACT_H
#define CK_API_REDACT_H

#include "base/arena.h"
#include "chokepoint.h"

/*
 * Replaces the message if it has a credential in it, or the beginning of a path of the request that
 * has one.
 */
void ck_redact_error(struct choke_error *error, const struct choke_request *request);

/* Copies without credentials; NULL if there is no memory, or nothing to copy. */
const char *ck_redact_copy(struct ck_arena *arena, const char *text);
const char *const *ck_redact_list(struct ck_arena *arena, const char *const *list);

#endif
