/*
 * errkind.h - what an errno says about the machine: an answer, or a moment.
 *
 * Only an answer may decide something that lasts: that a jail does not hold here, that no cgroup may be made. What is
 * about resources, and whatever is not known to be an answer, ends this one run; the next one asks again (docs/adr/0038).
 * Used on both sides of the wire, so without a C library.
 */
#ifndef CK_BASE_ERRKIND_H
#define CK_BASE_ERRKIND_H

#include <errno.h>

enum ck_errkind {
    CK_ERRKIND_REFUSED,   /* not permitted, or not supported: the same answer the next time */
    CK_ERRKIND_ABSENT,    /* a name is not there: an answer where it was looked for, a race where it had been found */
    CK_ERRKIND_TRANSIENT, /* no memory, no process, no descriptor, no namespace, no time; killed; anything else */
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
    case EPROTO: /* accepted, and yet it does not hold */
    case EPROTONOSUPPORT:
    case EAFNOSUPPORT:
    case ENOPROTOOPT:
        return CK_ERRKIND_REFUSED;
    case ENOENT:
    case ENOTDIR:
    case ENXIO:
        return CK_ERRKIND_ABSENT;
    default:
        return CK_ERRKIND_TRANSIENT;
    }
}

#endif
