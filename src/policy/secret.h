/*
 * secret.h - does a value look like a well-known credential?
 *
 * By shape only (prefix, alphabet, length), anywhere inside the value, so that
 * --header=..., URLs and assignments are seen too. Meant to have few false alarms: a commit hash, a UUID, a path or a
 * package name is no credential.
 */
#ifndef CK_POLICY_SECRET_H
#define CK_POLICY_SECRET_H

/* What it looks like ("a GitHub token"), or NULL. */
const char *ck_secret_kind(const char *value);

#endif
