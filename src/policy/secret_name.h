/*
 * secret_name.h - finds a value that is a secret by its name: password=..., X-API-Key: ..., --token
 * ....
 *
 * A credential with a format is found by the format (secret.c). This is for the others: the name
 * says that a secret follows, and the value must look like one, not like a pattern, a placeholder,
 * a path, a type or a word.
 */
#ifndef CK_POLICY_SECRET_NAME_H
#define CK_POLICY_SECRET_NAME_H

/* at is an '=' or ':' in text. What its value looks like, or NULL. */
const char *ck_secret_name_assigned(const char *text, const char *at);

/* option and value are two consecutive arguments. */
const char *ck_secret_name_option(const char *option, const char *value);

#endif
