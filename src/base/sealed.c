/* sealed.c - see sealed.h. */
#include "base/sealed.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* New in Linux 6.3; older headers lack them. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

int ck_sealed_create(const char *name, enum ck_sealed_kind kind)
{
    /*
     * A program says MFD_EXEC, because the sysctl vm.memfd_noexec can make "not executable" the
     * default.
     */
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create(name, flags | (kind == CK_SEALED_PROGRAM ? MFD_EXEC : MFD_NOEXEC_SEAL));
    if (fd < 0 && errno == EINVAL) /* a kernel before 6.3 knows neither flag */
        fd = memfd_create(name, flags);
    return fd < 0 ? -errno : fd;
}

int ck_sealed_finish(int fd)
{
    /* F_SEAL_SEAL: the set of seals is final. A seal can never be removed. */
    if (lseek(fd, 0, SEEK_SET) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return -errno;
    return 0;
}

int ck_sealed_write(const char *name, enum ck_sealed_kind kind, const void *data, size_t length)
{
    CK_FD fd = ck_sealed_create(name, kind);
    int r = fd < 0 ? fd : ck_fd_write_all(fd, data, length);
    if (r == 0)
        r = ck_sealed_finish(fd);
    return r < 0 ? r : ck_fd_take(&fd);
}
