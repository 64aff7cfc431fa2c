/* native_tmp.c - see native_tmp.h. */
#include "run/keeper/native_tmp.h"

#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>

/* The name in CK_JAIL_KEPT: the address of the operation tells its number. */
static const char *kept_name(const struct ck_native_program *program, const struct ck_native_op *operation,
                             char name[32])
{
    char *end = ck_nolibc_append_text(name, CK_JAIL_KEPT "/");
    *ck_nolibc_append_number(end, operation - ck_native_ops(program)) = '\0';
    return name;
}

long ck_native_tmp_keep(const struct ck_native_program *program, const struct ck_native_op *operation,
                        uint64_t attributes, int root_fd)
{
    char name[32];
    const char *outside = (const char *)program + operation->outside;
    struct stat found = {0};
    long r = CK_RAW4(newfstatat, AT_FDCWD, outside, &found, 0);
    if (r == 0)
        r = ck_native_jail_make_directory(root_fd, CK_JAIL_KEPT);
    if (r < 0)
        return r;
    const char *kept = kept_name(program, operation, name);
    r = S_ISDIR(found.st_mode) ? ck_native_jail_make_directory(root_fd, kept)
                               : ck_native_jail_make_file(root_fd, kept, NULL);
    return r < 0 ? r : ck_native_jail_bind(operation, outside, attributes, root_fd, kept);
}

long ck_native_tmp_make(const char *path)
{
    char part[PATH_MAX];
    size_t length = 0;
    for (; path[length] != '\0'; length++) {
        if (length + 1 >= sizeof(part))
            return -ENAMETOOLONG;
        part[length] = path[length];
        part[length + 1] = '\0';
        bool last = path[length + 1] == '\0' || path[length + 1] == '/';
        long r = last && length > sizeof(CK_JAIL_TMP) - 1 ? ck_native_jail_make_directory(AT_FDCWD, part) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* Of a path: the bytes before the next '/' or the end; false: they are no name. */
static bool take_name(const char **at, char name[NAME_MAX + 1])
{
    size_t length = 0;
    while (**at == '/')
        ++*at;
    for (; **at != '\0' && **at != '/' && length < NAME_MAX; ++*at)
        name[length++] = **at;
    name[length] = '\0';
    return length > 0 && (**at == '\0' || **at == '/');
}

static bool more(const char *at)
{
    while (*at == '/')
        at++;
    return *at != '\0';
}

long ck_native_tmp_open(const char *path, bool make)
{
    char name[NAME_MAX + 1];
    long fd = ck_nolibc_open("/", O_PATH | O_DIRECTORY);
    while (fd >= 0 && more(path)) {
        long r = take_name(&path, name) ? 0 : -ENAMETOOLONG;
        if (r == 0 && make)
            r = ck_native_jail_make_directory((int)fd, name);
        /* In "/", which is read-only, nothing has to be made. */
        r = r == -EROFS ? 0 : r;
        if (r == 0)
            r = CK_RAW4(openat, fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
        ck_nolibc_close((int)fd);
        fd = r;
    }
    return fd;
}

/*
 * A copy of the mount that ck_native_tmp_keep made, with the same attributes. The warden works in
 * "/". A file is in a directory that was bound before it.
 */
static long bind_in_tmp(const struct ck_native_program *program, const struct ck_native_op *operation)
{
    char name[32], place[PATH_MAX];
    const char *inside = (const char *)program + operation->inside;
    size_t length = 0;
    place[0] = '/';
    for (; inside[length] != '\0' && length + 2 < sizeof(place); length++)
        place[length + 1] = inside[length];
    if (inside[length] != '\0')
        return -ENAMETOOLONG;
    place[length + 1] = '\0';
    long r = operation->op == CK_NATIVE_OP_BIND_TMP ? ck_native_tmp_make(place) : 0;
    return r < 0 ? r : ck_native_jail_bind_tree(AT_FDCWD, kept_name(program, operation, name), 0, 0, AT_FDCWD, place);
}

long ck_native_tmp_bind_all(const struct ck_native_program *program)
{
    const struct ck_native_op *ops = ck_native_ops(program);
    long r = 0;
    for (uint32_t i = 0; i < program->ops_count && r == 0; i++)
        if (ops[i].op == CK_NATIVE_OP_BIND_TMP || ops[i].op == CK_NATIVE_OP_BIND_TMP_CODE)
            r = bind_in_tmp(program, &ops[i]);
    return r;
}
