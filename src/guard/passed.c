/* passed.c - see passed.h. Everything that the library opens is close-on-exec. */
#include "guard/passed.h"

#include "base/fd.h"
#include "front/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STREAMS 3

static int copy(struct choke_guard_inherited *inherited, int number)
{
    int fd = fcntl(number, F_DUPFD_CLOEXEC, STREAMS);
    if (fd < 0)
        return -errno;
    inherited->numbers[inherited->fd_count] = number;
    inherited->fds[inherited->fd_count++] = fd;
    return 0;
}

static bool is_passed(int number)
{
    struct stat status;
    int flags = fcntl(number, F_GETFD), mode = fcntl(number, F_GETFL);
    return number >= STREAMS && flags >= 0 && (flags & FD_CLOEXEC) == 0 && mode >= 0 && (mode & O_PATH) == 0 &&
           fstat(number, &status) == 0 && !S_ISDIR(status.st_mode);
}

static int copy_others(struct choke_guard_inherited *inherited, DIR *listing)
{
    for (const struct dirent *entry; (entry = readdir(listing));) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);
        if (end == entry->d_name || !is_passed((int)number))
            continue;
        int r = inherited->fd_count == CHOKE_GUARD_FDS ? -E2BIG : copy(inherited, (int)number);
        if (r < 0)
            return r;
    }
    return 0;
}

int ck_guard_passed_take(struct choke_guard_inherited *inherited, struct choke_error *error)
{
    int r = 0;
    for (int number = 0; number < STREAMS && r == 0; number++)
        r = copy(inherited, number);
    DIR *listing = r == 0 ? opendir("/proc/self/fd") : NULL;
    if (listing) {
        r = copy_others(inherited, listing);
        (void)closedir(listing);
    } else if (r == 0) {
        r = -errno;
    }
    if (r == -E2BIG)
        return ck_text_error(error, CHOKE_INVALID, E2BIG,
                             "the program can be given %d descriptors, and more are open; close some", CHOKE_GUARD_FDS);
    return r == 0 ? 0
                  : ck_text_error(error, CHOKE_SPAWN_FAILED, -r, "cannot copy the descriptors of the program: %s",
                                  strerror(-r));
}
