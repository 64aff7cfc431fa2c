/*
 * as_user.c - become another user and execute a program: as_user UID GID PROGRAM [ARGUMENT...]
 *
 * The user has no supplementary groups. Python can do the same, but it then forks a copy of itself
 * (no vfork), which takes longer than most of the commands under test.
 */
#include <grp.h>
#include <stdlib.h>
#include <unistd.h>

#define CANNOT 126

int main(int argc, char **argv)
{
    if (argc < 4) {
        return CANNOT;
    }
    uid_t uid = (uid_t)strtoul(argv[1], NULL, 10);
    gid_t gid = (gid_t)strtoul(argv[2], NULL, 10);
    if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) {
        return CANNOT;
    }
    (void)execvp(argv[3], argv + 3);
    return CANNOT;
}
