/* path.h - paths as text; no look at the files. */
#ifndef CK_BASE_PATH_H
#define CK_BASE_PATH_H

/*
 * What follows root in path, without the slashes between them: "" for root itself, NULL where path is not beneath it. Both
 * are absolute. A path with ".." may lead elsewhere: the text alone decides here.
 */
const char *ck_path_beneath(const char *root, const char *path);

#endif
