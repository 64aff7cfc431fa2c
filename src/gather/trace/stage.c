/* stage.c - makes the directory with strace for the container; see stage.h. */
#include "gather/trace/stage.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((off_t)256 << 20)  /* of one file; strace and its libraries are far smaller */
#define COPIED_MAX ((size_t)1 << 20) /* bytes of one sendfile call */

/* The witness as a program, embedded at build time. */
extern const unsigned char ck_witness_image_text[];
extern const size_t ck_witness_image_length;

/* errno must be set. Returns it as a negative number. */
static int fail(struct choke_error *error, const char *what, const char *subject)
{
    int errnum = errno;
    return ck_error_set(error, CHOKE_SPAWN_FAILED, errnum, "cannot %s '%s': %s", what, CK_QUOTE(subject),
                        strerror(errnum));
}

/* fchmod sets the mode: the caller's umask may remove what the container's user needs. */
static int make_file(int directory_fd, const char *name, int *ret_fd)
{
    /*
     * O_EXCL: a second file of that name is EEXIST, which copy_part relies on. O_RDWR: patch_loader
     * maps it.
     */
    CK_FD fd = openat(directory_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd < 0 || fchmod(fd, 0555) < 0)
        return -1;
    *ret_fd = ck_fd_take(&fd);
    return 0;
}

/* Stops at the end of the file, also if it became shorter since its size was read. */
static int copy_bytes(int from_fd, int to_fd, off_t length)
{
    while (length > 0) {
        ssize_t copied = sendfile(to_fd, from_fd, NULL, COPIED_MAX);
        if (copied < 0 && errno != EINTR)
            return -1;
        if (copied == 0)
            break;
        length -= copied > 0 ? copied : 0;
    }
    return 0;
}

/* ret_fd may be NULL: then the copy is closed. */
static int copy_file(const char *path, int directory_fd, const char *name, int *ret_fd, struct choke_error *error)
{
    struct stat status;
    CK_FD from_fd = ck_file_open(AT_FDCWD, path, 0, &status);
    CK_FD to_fd = -1;
    /* For fail below; EINVAL is the reason for a file that is too large. */
    errno = from_fd < 0 ? -from_fd : EINVAL;
    if (from_fd < 0)
        return fail(error, "read", path);
    if (status.st_size > FILE_MAX)
        return fail(error, "copy", path);
    if (make_file(directory_fd, name, &to_fd) < 0 || copy_bytes(from_fd, to_fd, status.st_size) < 0)
        return fail(error, "copy", path);
    if (ret_fd)
        *ret_fd = ck_fd_take(&to_fd);
    return 0;
}

/* ---- the loader ---- */

/* Empties each path in bytes that ends with ending. Returns their number. */
static size_t blank_paths(char *bytes, size_t length, const char *ending)
{
    /* With the NUL, so that only the end of a string matches. */
    size_t count = 0, size = strlen(ending) + 1;
    for (char *at = bytes; (at = memmem(at, length - (size_t)(at - bytes), ending, size)); at += size) {
        char *start = at;
        /* Back to the beginning of the string. */
        while (start > bytes && start[-1] != '\0')
            start--;
        /* Not an absolute path: other strings of the loader may have the same ending. */
        if (*start != '/')
            continue;
        *start = '\0';
        count++;
    }
    return count;
}

/*
 * The GNU loader reads /etc/ld.so.preload and /etc/ld.so.cache whatever its options and environment
 * are. Both would come from the image. In the copy their names are empty, and an empty name is
 * ENOENT in every file system. The loader of musl reads neither. A GNU loader without these names
 * is not used.
 */
static int patch_loader(int fd, const char *path, struct choke_error *error)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || status.st_size <= 0)
        return fail(error, "read", path);
    size_t length = (size_t)status.st_size;
    /* Shared, so that the changes are in the copied file. */
    char *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return fail(error, "read", path);
    /* A symbol version that only the GNU C library has. */
    bool gnu = !!memmem(bytes, length, "GLIBC_PRIVATE", strlen("GLIBC_PRIVATE"));
    bool patched = blank_paths(bytes, length, ".so.preload") > 0 && blank_paths(bytes, length, ".so.cache") > 0;
    (void)munmap(bytes, length);
    errno = ENOTSUP;
    return gnu && !patched ? fail(error, "remove the paths of preload and cache from", path) : 0;
}

static int copy_loader(const char *path, int stage_fd, struct choke_error *error)
{
    CK_FD fd = -1;
    int r = copy_file(path, stage_fd, "loader", &fd, error);
    return r < 0 ? r : patch_loader(fd, path, error);
}

/* The same mode as the other files; it is the entry point of the container. */
static int write_witness(int directory_fd, struct choke_error *error)
{
    CK_FD fd = -1;
    if (make_file(directory_fd, "witness", &fd) < 0)
        return fail(error, "make", "witness");
    int r = ck_fd_write_all(fd, ck_witness_image_text, ck_witness_image_length);
    errno = -r;
    return r < 0 ? fail(error, "write", "witness") : 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A library for one kind of processor is next to the generic one; the generic one is enough. */
static bool is_hwcaps(const char *path)
{
    return !!strstr(path, "/glibc-hwcaps/");
}

/* The names are fixed: strace and loader next to the witness, every library in lib. */
static int copy_part(const struct choke_tool_part *part, int stage_fd, int lib_fd, struct choke_error *error)
{
    /* A library that strace needs was not found on this machine. */
    if (!part->path) {
        errno = ENOENT;
        return fail(error, "find", part->name);
    }
    if (strcmp(part->role, "tool") == 0)
        return copy_file(part->path, stage_fd, "strace", NULL, error);
    if (strcmp(part->role, "interpreter") == 0)
        return copy_loader(part->path, stage_fd, error);
    if (is_hwcaps(part->path))
        return 0;
    int r = copy_file(part->path, lib_fd, base_name(part->name), NULL, error);
    return r == -EEXIST ? 0 : r; /* needed by its name and by its path */
}

/* fchmod sets the modes, because mkdir applies the umask. */
static int fill(const struct choke_tool_parts *parts, int stage_fd, const char *path, struct choke_error *error)
{
    if (mkdirat(stage_fd, "lib", 0700) < 0)
        return fail(error, "make", path);
    CK_FD lib_fd = openat(stage_fd, "lib", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (lib_fd < 0 || fchmod(lib_fd, 0755) < 0 || fchmod(stage_fd, 0755) < 0)
        return fail(error, "make", path);
    int r = write_witness(stage_fd, error);
    for (size_t i = 0; r == 0 && i < parts->count; i++)
        r = copy_part(&parts->items[i], stage_fd, lib_fd, error);
    return r;
}

/* choke_tool_parts finds strace as the policy does, with its interpreter and libraries. */
int ck_trace_stage_make(struct choke_context *context, struct ck_temporary *ret_stage, struct choke_error *error)
{
    struct choke_tool_parts *parts = NULL;
    struct ck_temporary stage = {0};
    int r = choke_tool_parts(context, "strace", &parts, error);
    if (r < 0)
        return r;
    r = ck_temporary_make(CK_TEMPORARY_TRACE, &stage);
    if (r < 0) {
        errno = -r;
        (void)fail(error, "make a directory in", "/tmp");
    } else {
        r = fill(parts, stage.fd, stage.path, error);
    }
    if (r == 0)
        *ret_stage = stage;
    else
        ck_temporary_remove(&stage);
    choke_tool_parts_free(parts);
    return r;
}
