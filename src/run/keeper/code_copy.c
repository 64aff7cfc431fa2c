/*
 * code_copy.c - puts a changed copy of a file over that file, inside a jail. See code_copy.h.
 *
 * The file has its own mount, which is read-only and not noexec. So the tool can neither change it
 * nor, if it sees the file system that holds it, execute it there.
 */
#include "run/keeper/code_copy.h"

#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define NAME ".loader-"

static long write_all(int fd, const unsigned char *data, size_t bytes, uint64_t at)
{
    while (bytes > 0) {
        long written = CK_RAW4(pwrite64, fd, data, bytes, at);
        if (written == -EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? written : -EIO;
        data += written;
        at += (uint64_t)written;
        bytes -= (size_t)written;
    }
    return 0;
}

static long check_version(int fd, const struct ck_version *wanted)
{
    struct stat status = {0};
    long r = CK_RAW2(fstat, fd, &status);
    const struct ck_version found = ck_version_of(&status);
    return r < 0 ? r : ck_version_equal(&found, wanted) ? 0 : -ESTALE;
}

/* The second look finds a file that was changed while it was copied. */
static long copy_file(int from_fd, int to_fd, const struct ck_native_copy *copy)
{
    size_t bytes = (size_t)copy->version.size;
    long r = check_version(from_fd, &copy->version);
    if (r < 0)
        return r;
    long memory = CK_RAW6(mmap, NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, from_fd, 0);
    if (memory < 0 && memory > -4096)
        return memory;
    r = write_all(to_fd, (const unsigned char *)memory, bytes, 0);
    (void)CK_RAW2(munmap, memory, bytes);
    if (r == 0)
        r = check_version(from_fd, &copy->version);
    for (uint32_t i = 0; i < copy->patches_count && r == 0; i++)
        r = write_all(to_fd, copy->patches[i].data, copy->patches[i].bytes, copy->patches[i].at);
    return r;
}

/* The mount of one file, in no place yet. */
static long open_mount(int directory_fd, const char *name)
{
    const struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
                                    .attr_clr = MOUNT_ATTR_NOEXEC};
    long tree = CK_RAW3(open_tree, directory_fd, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0)
        return tree;
    long r = CK_RAW5(mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr));
    if (r == 0)
        return tree;
    ck_nolibc_close((int)tree);
    return r;
}

static long make_copy(int from_fd, int directory_fd, const char *name, const struct ck_native_copy *copy)
{
    long fd = CK_RAW4(openat, directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0555);
    if (fd < 0)
        return fd;
    long r = copy_file(from_fd, (int)fd, copy);
    ck_nolibc_close((int)fd);
    return r < 0 ? r : open_mount(directory_fd, name);
}

long ck_code_copy_write(int directory_fd, const char *name, const unsigned char *data, size_t bytes)
{
    long fd = CK_RAW4(openat, directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0555);
    if (fd < 0)
        return fd;
    long r = write_all((int)fd, data, bytes, 0);
    ck_nolibc_close((int)fd);
    return r;
}

long ck_code_copy_mount(int directory_fd, const char *name, int root_fd, const char *inside)
{
    long tree = open_mount(directory_fd, name);
    if (tree < 0)
        return tree;
    long r = CK_RAW5(move_mount, tree, "", root_fd, inside, MOVE_MOUNT_F_EMPTY_PATH);
    ck_nolibc_close((int)tree);
    return r;
}

long ck_code_copy_place(const struct ck_native_program *program, uint32_t number, const char *from,
                        const struct ck_code_copy_place *place)
{
    const struct ck_native_op *operation = &ck_native_ops(program)[number];
    const struct ck_native_copy *copy = (const void *)((const char *)program + operation->copy_at);
    char name[sizeof(NAME) + 16];
    (void)ck_nolibc_append_number(ck_nolibc_append_text(name, NAME), (long)number);
    long from_fd = CK_RAW4(openat, place->from_fd, from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (from_fd < 0)
        return from_fd;
    long tree = make_copy((int)from_fd, place->directory_fd, name, copy);
    ck_nolibc_close((int)from_fd);
    if (tree < 0)
        return tree;
    const char *inside = ck_native_text(program, operation->inside);
    long r = CK_RAW5(move_mount, tree, "", place->root_fd, inside, MOVE_MOUNT_F_EMPTY_PATH);
    ck_nolibc_close((int)tree);
    return r;
}
