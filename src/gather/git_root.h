/* git_root.h - is a directory a git repository of its own, that can be looked at without leaving it? */
#ifndef CK_GATHER_GIT_ROOT_H
#define CK_GATHER_GIT_ROOT_H

/* NULL where it is one, with a work tree or bare; else why not, in a few words. Nothing of git is run or believed. */
const char *ck_git_root_problem(int root_fd);

#endif
