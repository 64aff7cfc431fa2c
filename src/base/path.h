/* path.h - paths as text; the files are not looked at. */
#ifndef CK_BASE_PATH_H
#define CK_BASE_PATH_H

/*
 * Returns what follows root in path, without the slashes between them: "" for root itself, NULL if
 * path is not beneath it. Both are absolute. Only the text is compared: a path with ".." in it may
 * lead elsewhere, so the caller must exclude that.
 */
const char *ck_path_beneath(const char *root, const char *path);

#endif
