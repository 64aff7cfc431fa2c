/*
 * secret.h - does a value look like a well-known credential?
 *
 * By shape only (prefix, alphabet, length), anywhere inside the value, so that
 * --header=..., URLs and assignments are seen too. Meant to have few false alarms: a commit hash, a UUID, a path or a
 * package name is no credential.
 */
#ifndef CK_POLICY_SECRET_H
#define CK_POLICY_SECRET_H

#include "base/quote.h"

/* What it looks like ("a GitHub token"), or NULL. */
const char *ck_secret_kind(const char *value);

/*
 * For a message: the bytes escaped, or what they look like where they could be a credential. In a buffer of
 * CK_QUOTE_MAX; CK_SECRET_QUOTE's lives to the end of the enclosing block.
 */
const char *ck_secret_quote(char *buffer, const char *text);
#define CK_SECRET_QUOTE(text) ck_secret_quote((char[CK_QUOTE_MAX]){0}, (text))

#endif
