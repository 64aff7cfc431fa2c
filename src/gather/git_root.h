/* git_root.h - is a directory a complete git repository, which can be read without leaving it? */
#ifndef CK_GATHER_GIT_ROOT_H
#define CK_GATHER_GIT_ROOT_H

/*
 * Returns NULL if it is one, with a work tree or bare; else a short reason. It does not run git and
 * does not trust the repository's data.
 */
const char *ck_git_root_problem(int root_fd);

#endif
