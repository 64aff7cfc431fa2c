/*
 * secret.h - does a value look like a well-known credential?
 *
 * By shape only (prefix, alphabet, length), anywhere inside the value, so that --header=..., URLs
 * and assignments are found too. It should give few false alarms: a commit hash, a UUID, a path or
 * a package name is not a credential.
 */
#ifndef CK_POLICY_SECRET_H
#define CK_POLICY_SECRET_H

#include "base/quote.h"

/* What it looks like ("a GitHub token"), or NULL. */
const char *ck_secret_kind(const char *value);

/* The same for list[index]. The element before it may say what it is: --token VALUE. */
const char *ck_secret_kind_at(const char *const *list, size_t index);

/* text, or "[redacted: KIND]" in the buffer if kind is not NULL. */
#define CK_SECRET_SHOWN_MAX 96
const char *ck_secret_show(char buffer[CK_SECRET_SHOWN_MAX], const char *text, const char *kind);

/*
 * For a message: the escaped bytes, or what they look like if they could be a credential. buffer
 * has CK_QUOTE_MAX bytes; that of CK_SECRET_QUOTE lives to the end of the enclosing block.
 */
const char *ck_secret_quote(char *buffer, const char *text);
#define CK_SECRET_QUOTE(text) ck_secret_quote((char[CK_QUOTE_MAX]){0}, (text))

#endif
