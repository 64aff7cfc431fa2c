/*
 * body.h - what a reader needs of the JSON in a line.
 */
#ifndef CK_AUDIT_BODY_H
#define CK_AUDIT_BODY_H

#include "audit/format.h"

#include <stdbool.h>

/*
 * Is the body of a record, which is empty or begins with a comma, members of a JSON object, of what a writer of this format
 * writes: whole numbers, no blank between the tokens, no control character as it is (DEL and the C1 set among them) nor one
 * that changes the direction of text, no half of a surrogate pair, no NUL, no name twice in an object? The envelope and the
 * closing are fixed text, and JSON by that; their names are not used again.
 */
bool ck_body_is_json(const char *body, size_t length);

/* What a repair vouches for. False where its body, which begins with a comma, does not begin with the two. */
bool ck_body_read_repair(const char *body, size_t length, uint64_t *ret_bytes, char ret_hash[CK_AUDIT_HASH_HEX + 1]);

#endif
