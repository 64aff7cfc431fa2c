/*
 * release.h - pure: finds the version in what a tool printed about itself.
 */
#ifndef CK_READY_RELEASE_H
#define CK_READY_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

#define CK_RELEASE_MAX 96 /* with its NUL */

/*
 * The first word that looks like a version ("2.39.5" of "git version 2.39.5", "1.6" of "jq-1.6",
 * "18.19.0" of "v18.19.0"); else the first line that is not empty, shortened. Bytes that control a
 * terminal are escaped. False if there is neither.
 */
bool ck_release_find(const char *text, size_t length, char ret_release[CK_RELEASE_MAX]);

#endif
