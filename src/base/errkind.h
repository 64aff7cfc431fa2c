/*
 * errkind.h - what an errno says about the machine: a lasting answer, or a temporary state.
 *
 * Only an answer may decide something that lasts: that a jail does not hold here, that no cgroup
 * may be made. An errno about resources, and any errno that is not known to be an answer, ends only
 * this run; the next one tries again (docs/adr/0038). Both sides of the wire use it, so it needs no
 * C library.
 */
#ifndef CK_BASE_ERRKIND_H
#define CK_BASE_ERRKIND_H

#include <errno.h>
#include <stdbool.h>

enum ck_errkind {
    CK_ERRKIND_REFUSED, /* not permitted, or not supported: the same answer the next time */
    /* a name does not exist: an answer for a look-up, a race if it was found before */
    CK_ERRKIND_ABSENT,
    /* no memory, no process, no descriptor, no namespace, no time; killed; anything else */
    CK_ERRKIND_TRANSIENT,
};

/* errnum is positive. */
static inline enum ck_errkind ck_errkind_of(int errnum)
{
    switch (errnum) {
    case EPERM:
    case EACCES:
    case EROFS:
    case ENOSYS:
    case EOPNOTSUPP:
    case EINVAL:
    case ENODEV:
    case E2BIG:
    case ENOEXEC:
    case ENOTTY:
    case EPROTO: /* accepted but not enforced */
    case EPROTONOSUPPORT:
    case EAFNOSUPPORT:
    case ENOPROTOOPT:
        return CK_ERRKIND_REFUSED;
    /* see the enum for why these are not in the first group */
    case ENOENT:
    case ENOTDIR:
    case ENXIO:
        return CK_ERRKIND_ABSENT;
    default:
        return CK_ERRKIND_TRANSIENT;
    }
}

/*
 * Was there no memory or no descriptor? For calls that have many other answers, such as a look-up:
 * a shortage says nothing about the path. errnum is positive.
 */
static inline bool ck_errkind_is_shortage(int errnum)
{
    return errnum == ENOMEM || errnum == EMFILE || errnum == ENFILE || errnum == ENOBUFS;
}

#endif
