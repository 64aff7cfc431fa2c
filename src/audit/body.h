/*
 * body.h - checks the JSON body of a record, and reads the body of a repair.
 */
#ifndef CK_AUDIT_BODY_H
#define CK_AUDIT_BODY_H

#include "audit/format.h"

#include <stdbool.h>

/*
 * Is the body of a record valid? It is empty, or a comma and members of a JSON object, exactly as a
 * writer of this format writes them: whole numbers; no blank between tokens; no control character
 * (DEL and C1 included) and no other hidden character (base/glyph.h), unless escaped; no half of a
 * surrogate pair; no NUL; no name twice in an object. The envelope and the closing are fixed text,
 * so they need no check; their names must not be used again in the body.
 */
bool ck_body_is_json(const char *body, size_t length);

/*
 * The bytes and the hash that a repair vouches for. False if the body does not begin with these two
 * members. The body begins with a comma.
 */
bool ck_body_read_repair(const char *body, size_t length, uint64_t *ret_bytes, char ret_hash[CK_AUDIT_HASH_HEX + 1]);

#endif
