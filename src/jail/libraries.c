/* libraries.c - the library directories of the system as code. See libraries.h. */
#include "jail/libraries.h"

#include "base/errkind.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "jail/stub.h"
#include "sys/elf.h"
#include "sys/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/*
 * Not bin, sbin and libexec: they hold programs. Programs that are beneath these directories can be
 * mapped, as a library can, and cannot be executed. Not lib32 and libx32: the filter ends a process
 * of another architecture.
 */
static const char *const directories[] = {
    "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", "/lib", "/lib64",
};
#define DIRECTORIES (sizeof(directories) / sizeof(directories[0]))

#define COPY_MAX ((rlim_t)5 << 20) /* a loader has at most 4 MiB (stub.c), and one page more with its stub */

static bool beneath(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* A symlink is not followed: it leads to another one of the directories. 1 or 0, or a negative errno of a shortage. */
static int is_trusted(const char *path)
{
    CK_HEAP struct ck_trusted *trusted = ck_heap_own(calloc(1, sizeof(*trusted)));
    struct choke_error error = {0};
    struct stat status;
    if (!trusted)
        return -ENOMEM;
    if (lstat(path, &status) < 0)
        return ck_errkind_is_shortage(errno) ? -errno : 0;
    if (!S_ISDIR(status.st_mode))
        return 0;
    int r = ck_trust_walk(path, trusted, &error);
    ck_trust_done(trusted);
    return r == 0 ? 1 : ck_errkind_is_shortage(-r) ? r : 0;
}

int ck_libraries_add(struct ck_native_builder *program)
{
    for (size_t i = 0; i < DIRECTORIES; i++) {
        int r = is_trusted(directories[i]);
        if (r < 0)
            return r;
        if (r == 0)
            continue;
        program->libraries |= UINT32_C(1) << i;
        ck_native_program_add(program, CK_NATIVE_OP_BIND_CODE, directories[i] + 1, directories[i]);
    }
    return 0;
}

bool ck_libraries_hold(const struct ck_native_builder *program, const char *real)
{
    for (size_t i = 0; i < DIRECTORIES; i++)
        if ((program->libraries >> i & 1) != 0 && beneath(real, directories[i]))
            return true;
    return false;
}

bool ck_libraries_overlap(const char *path)
{
    for (size_t i = 0; i < DIRECTORIES; i++)
        if (strcmp(path, "/") == 0 || beneath(path, directories[i]) || beneath(directories[i], path))
            return true;
    return false;
}

bool ck_libraries_fit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur >= COPY_MAX;
}

/* ---- the proof ---- */

/* A file that cannot be opened or read is an answer about this machine; a shortage is not. errnum is positive. */
static int unsupported(int errnum)
{
    return ck_errkind_is_shortage(errnum) ? -errnum : -ENOTSUP;
}

/* The loader that a proof tries: the one that the programs of this machine have. */
static int find_proven(struct ck_arena *arena, const char **ret_loader)
{
    char interpreter[PATH_MAX];
    CK_FD fd = ck_file_open(AT_FDCWD, CK_JAIL_REFUSED_PROGRAM, 0, NULL);
    int r = fd < 0 ? fd : ck_elf_interpreter(fd, interpreter, sizeof(interpreter));
    if (r < 0)
        return unsupported(-r);
    if (interpreter[0] != '/')
        return -ENOTSUP;
    CK_HEAP char *real = ck_heap_own(realpath(interpreter, NULL));
    if (!real)
        return unsupported(errno);
    *ret_loader = ck_arena_strdup(arena, real);
    return !*ret_loader ? -ENOMEM : 0;
}

static int bind_program(struct ck_native_builder *program, const char *path, bool allowed)
{
    CK_HEAP char *real = ck_heap_own(realpath(path, NULL));
    if (!real)
        return unsupported(errno);
    if (!ck_native_is_system(real))
        return -ENOTSUP;
    ck_native_program_add(program, CK_NATIVE_OP_BIND_CODE, real + 1, real);
    if (allowed)
        ck_native_program_allow(program, real);
    return 0;
}

/*
 * Bound as code, the first program is refused by Landlock if it is executed, and by the stub if the
 * loader is. The second one is allowed: the kernel must be able to start programs with the copy.
 */
int ck_libraries_add_proof(struct ck_native_builder *program, const char **ret_loader)
{
    int r = bind_program(program, CK_JAIL_REFUSED_PROGRAM, false);
    if (r == 0)
        r = bind_program(program, CK_JAIL_STARTED_PROGRAM, true);
    return r < 0 ? r : find_proven(&program->arena, ret_loader);
}

/* ---- the loader ---- */

/* A file that was listed before as code becomes the copy: no other form of a loader may be inside. */
static bool replace_bind(struct ck_native_builder *program, const char *real, const struct ck_native_copy *copy)
{
    for (size_t i = 0; i < program->ops_count; i++) {
        struct ck_native_builder_op *op = &program->ops[i];
        if (op->op != CK_NATIVE_OP_BIND_CODE || strcmp(op->outside, real) != 0)
            continue;
        op->op = CK_NATIVE_OP_COPY_CODE;
        op->copy = copy;
        return true;
    }
    return false;
}

int ck_libraries_add_loader(struct ck_native_builder *program, const char *inside, const char *real,
                            struct ck_native_loader *loader)
{
    const char *proven;
    if (strcmp(loader->path, real) == 0)
        return 0;
    int r = find_proven(&program->arena, &proven);
    if (r < 0)
        return r;
    if (loader->path[0] != '\0' || strlen(real) >= sizeof(loader->path) || strcmp(real, proven) != 0)
        return -ENOTSUP;
    CK_FD fd = ck_file_open(AT_FDCWD, real, 0, NULL);
    struct ck_native_copy *copy = ck_arena_alloc(&program->arena, sizeof(*copy));
    if (fd < 0 || !copy)
        return fd < 0 ? unsupported(-fd) : -ENOMEM;
    r = ck_stub_make(fd, copy);
    if (r < 0)
        return unsupported(-r);
    loader->version = copy->version;
    memcpy(loader->path, real, strlen(real) + 1);
    if (!replace_bind(program, real, copy))
        ck_native_program_add_copy(program, inside, real, copy);
    return 0;
}

/* A static program that may be at any address has no DT_SONAME. */
int ck_libraries_is_loader(int fd, struct ck_arena *arena)
{
    struct ck_elf elf;
    int r = ck_elf_read(fd, arena, &elf);
    if (r < 0)
        return ck_errkind_is_shortage(-r) ? r : 0;
    return !elf.interpreter && elf.soname;
}
