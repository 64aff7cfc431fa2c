/*
 * execs.c - makes the Landlock ruleset of the files that a run may execute. See execs.h.
 *
 * A ruleset costs about twenty system calls, because each file is followed to its loader. That is
 * more than the rest of a plan, so rulesets are cached. A cached ruleset is used again if every
 * file that it was made from has the same version. Tools and helpers are opened for each run
 * anyway. The other files were reached through directories that only root or the caller can change,
 * so a stat of their paths is enough. A ruleset is not cached if something other than a helper was
 * looked up by name in the search path, because the name could later mean another file.
 */
#include "run/execs.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/heap.h"
#include "base/quote.h"
#include "run/helper_files.h"
#include "sys/depend.h"
#include "sys/elf.h"
#include "sys/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETS_MAX 32
#define FILES_MAX (CK_HELPER_FILES_MAX + 64) /* with tools, loaders and interpreters */
#define DEPTH_MAX 5                          /* interpreters of interpreters; the kernel has the same limit */
#define FIRST_LINE_MAX 256                   /* the kernel reads this much of a script to find its interpreter */

/* A file that a ruleset was made from: one that was given, or one that was found at path. */
struct exec_file {
    struct ck_version version;
    char *path; /* NULL: given */
};

struct ck_execs_set {
    int ruleset_fd; /* -1 with files: not in use */
    struct ck_identity root;
    struct exec_file *files;
    size_t count;
};

struct maker {
    struct ck_binary_search *search;
    struct ck_identity root;
    struct choke_error *error;
    int ruleset_fd;
    bool by_name; /* a name was looked up that the next run would not look up, so the ruleset is not cached */
    struct exec_file files[FILES_MAX];
    size_t count;
    struct ck_helper_files helpers;
};

static void drop_files(struct exec_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(files[i].path);
}

static void drop_set(struct ck_execs_set *set)
{
    if (!set->files)
        return;
    drop_files(set->files, set->count);
    free(set->files);
    ck_fd_close(&set->ruleset_fd);
    *set = (struct ck_execs_set){.ruleset_fd = -1};
}

void ck_execs_init(struct ck_execs *execs, struct ck_binary_search *search)
{
    *execs = (struct ck_execs){.search = search};
}

void ck_execs_done(struct ck_execs *execs)
{
    for (size_t i = 0; execs->sets && i < SETS_MAX; i++)
        drop_set(&execs->sets[i]);
    free(execs->sets);
    *execs = (struct ck_execs){0};
}

/* ---- the given files: tools and helpers ---- */

static int add_file(struct maker *maker, int fd, const char *path)
{
    struct stat status;
    if (maker->count == FILES_MAX)
        return ck_error_set(maker->error, CHOKE_DISALLOWED, E2BIG,
                            "the tools of the run and their helpers are more than %d files", FILES_MAX);
    if (fstat(fd, &status) < 0)
        return -errno;
    struct exec_file *file = &maker->files[maker->count];
    *file = (struct exec_file){.version = ck_version_of(&status)};
    if (path && !(file->path = strdup(path)))
        return -ENOMEM;
    maker->count++;
    return 0;
}

/* A directory is listed for the jails; without one, only what is executed counts. */
static int collect_files(struct maker *maker, const struct ck_execs_tool *tools, size_t count)
{
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++)
        r = add_file(maker, tools[i].fd, NULL);
    for (size_t i = 0; i < count && r == 0; i++)
        r = ck_helper_files_open(maker->search, tools[i].tool, maker->root, &maker->helpers, maker->error);
    for (size_t i = 0; i < maker->helpers.count && r == 0; i++)
        if (!maker->helpers.items[i].directory)
            r = add_file(maker, maker->helpers.items[i].fd, NULL);
    return r;
}

/* ---- cached rulesets ---- */

/* A change of the file changes its version: device, inode, size or a time (sys/version.h). */
static bool still_there(const struct exec_file *file)
{
    struct stat status;
    if (stat(file->path, &status) < 0)
        return false;
    struct ck_version now = ck_version_of(&status);
    return ck_version_equal(&now, &file->version);
}

/* The given files come first in a set, always in the same order. */
static bool fits(const struct ck_execs_set *set, const struct maker *maker)
{
    /*
     * The root is compared too: a file inside the root is not trusted, so another root may give
     * another answer.
     */
    if (!set->files || set->root.device != maker->root.device || set->root.inode != maker->root.inode ||
        set->count < maker->count || (set->count > maker->count && !set->files[maker->count].path))
        return false;
    for (size_t i = 0; i < maker->count; i++)
        if (set->files[i].path || !ck_version_equal(&set->files[i].version, &maker->files[i].version))
            return false;
    for (size_t i = maker->count; i < set->count; i++)
        if (!still_there(&set->files[i]))
            return false;
    return true;
}

static int find_set(const struct ck_execs *execs, const struct maker *maker)
{
    for (size_t i = 0; execs->sets && i < SETS_MAX; i++)
        if (fits(&execs->sets[i], maker))
            return fcntl(execs->sets[i].ruleset_fd, F_DUPFD_CLOEXEC, 3);
    return -1;
}

/*
 * Moves the files of the maker to the cache. If memory or descriptors run out, nothing is cached,
 * and the next run makes the ruleset again.
 */
static void cache_set(struct ck_execs *execs, struct maker *maker)
{
    if (maker->count == 0)
        return;
    if (!execs->sets)
        execs->sets = calloc(SETS_MAX, sizeof(*execs->sets));
    struct exec_file *files = !execs->sets ? NULL : malloc(maker->count * sizeof(*files));
    int ruleset_fd = !files ? -1 : fcntl(maker->ruleset_fd, F_DUPFD_CLOEXEC, 3);
    if (ruleset_fd < 0) {
        free(files);
        return;
    }
    struct ck_execs_set *set = &execs->sets[execs->next++ % SETS_MAX];
    drop_set(set);
    memcpy(files, maker->files, maker->count * sizeof(*files));
    *set = (struct ck_execs_set){.ruleset_fd = ruleset_fd, .root = maker->root, .files = files, .count = maker->count};
    maker->count = 0;
}

/* ---- a new ruleset ---- */

static int allow(const struct maker *maker, int fd, const char *path)
{
    int r = ck_landlock_allow(maker->ruleset_fd, fd);
    return r == 0 ? 0
                  : ck_error_set(maker->error, CHOKE_SPAWN_FAILED, -r, "cannot allow '%s' to be executed: %s",
                                 CK_QUOTE(path), strerror(-r));
}

/*
 * follow and allow_found call each other: an interpreter has a loader, and may be a script itself.
 */
static int follow(struct maker *maker, int fd, const char *path, unsigned depth);

/* Many files have the same loader, which is allowed once. */
static bool is_allowed(const struct maker *maker, const struct ck_version *version)
{
    for (size_t i = 0; i < maker->count; i++)
        if (maker->files[i].path && ck_version_equal(&maker->files[i].version, version))
            return true;
    return false;
}

/* A missing loader or interpreter is not an error here: exec reports it. */
static int allow_found(struct maker *maker, const struct ck_binary_wanted *wanted, unsigned depth)
{
    struct ck_binary binary;
    int r = ck_binary_find(maker->search, wanted, maker->root, &binary, NULL, maker->error);
    if (r < 0 && maker->error->outcome == CHOKE_TOOL_MISSING) {
        *maker->error = (struct choke_error){0};
        return 0;
    }
    if (r < 0)
        return r;
    CK_FD fd = binary.fd;
    if (is_allowed(maker, &binary.version))
        return 0;
    r = add_file(maker, fd, binary.path);
    if (r == 0)
        r = allow(maker, fd, binary.path);
    return r < 0 ? r : follow(maker, fd, binary.path, depth + 1);
}

/*
 * line is the first line of the file. A relative interpreter depends on the working directory and
 * is not allowed.
 */
static int follow_script(struct maker *maker, char *line, unsigned depth)
{
    const char *interpreter;
    const char *argument;
    if (!ck_depend_shebang_split(line, &interpreter, &argument) || interpreter[0] != '/' || depth == DEPTH_MAX)
        return 0;
    const struct ck_binary_wanted wanted = {.name = interpreter, .path = interpreter};
    int r = allow_found(maker, &wanted, depth);
    if (r < 0 || strcmp(strrchr(interpreter, '/') + 1, "env") != 0)
        return r;
    char arguments[FIRST_LINE_MAX + 1];
    (void)snprintf(arguments, sizeof(arguments), "%s", argument);
    const char *name = ck_depend_shebang_env_program(arguments);
    if (!name || strchr(name, '/'))
        return 0;
    /* The search path is used here, so the same name may give another file in the next run. */
    maker->by_name = true;
    return allow_found(maker, &(struct ck_binary_wanted){.name = name}, depth);
}

/* Allows what the kernel opens to start this file. */
static int follow(struct maker *maker, int fd, const char *path, unsigned depth)
{
    char line[FIRST_LINE_MAX + 1] = {0};
    char loader[PATH_MAX];
    if (pread(fd, line, FIRST_LINE_MAX, 0) < 0)
        return ck_error_set(maker->error, CHOKE_DISALLOWED, errno,
                            "cannot read '%s', so its loader or interpreter is not known; make it readable",
                            CK_QUOTE(path));
    if (line[0] == '#' && line[1] == '!')
        return follow_script(maker, line, depth);
    /* The kernel does not execute a file that it cannot parse, either. */
    if (ck_elf_interpreter(fd, loader, sizeof(loader)) < 0 || loader[0] != '/' || depth == DEPTH_MAX)
        return 0;
    return allow_found(maker, &(struct ck_binary_wanted){.name = loader, .path = loader}, depth);
}

static int allow_files(struct maker *maker, const struct ck_execs_tool *tools, size_t count)
{
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        r = allow(maker, tools[i].fd, tools[i].path);
        if (r == 0)
            r = follow(maker, tools[i].fd, tools[i].path, 0);
    }
    for (size_t i = 0; i < maker->helpers.count && r == 0; i++) {
        const struct ck_helper_file *helper = &maker->helpers.items[i];
        if (helper->directory)
            continue;
        r = allow(maker, helper->fd, helper->path);
        if (r == 0)
            r = follow(maker, helper->fd, helper->path, 0);
    }
    return r;
}

static int fail_without_landlock(int r, struct choke_error *error)
{
    const char *why = r == -ENOSYS       ? "this kernel has no Landlock (it came with Linux 5.13)"
                      : r == -EOPNOTSUPP ? "Landlock was disabled at boot (lsm=)"
                                         : strerror(-r);
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, -r, "cannot enforce 'execs' of the policy entry: %s", why);
}

static int make(struct ck_execs *execs, struct maker *maker, const struct ck_execs_tool *tools, size_t count)
{
    int r = collect_files(maker, tools, count);
    if (r < 0)
        return r;
    maker->ruleset_fd = find_set(execs, maker);
    if (maker->ruleset_fd >= 0)
        return 0;
    maker->ruleset_fd = ck_landlock_new();
    if (maker->ruleset_fd < 0)
        return fail_without_landlock(maker->ruleset_fd, maker->error);
    r = allow_files(maker, tools, count);
    if (r == 0 && !maker->by_name)
        cache_set(execs, maker);
    return r;
}

int ck_execs_make(struct ck_execs *execs, struct ck_identity root, const struct ck_execs_tool *tools, size_t count,
                  int *ret_fd, struct choke_error *error)
{
    CK_HEAP struct maker *maker = ck_heap_own(malloc(sizeof(*maker)));
    if (!maker)
        return ck_error_oom(error);
    *maker = (struct maker){.search = execs->search, .root = root, .error = error, .ruleset_fd = -1};
    int r = make(execs, maker, tools, count);
    CK_FD ruleset_fd = maker->ruleset_fd;
    drop_files(maker->files, maker->count);
    ck_helper_files_done(&maker->helpers);
    if (r == 0)
        *ret_fd = ck_fd_take(&ruleset_fd);
    else if (error->outcome == CHOKE_NONE)
        (void)ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot enforce 'execs' of the policy entry: %s",
                           strerror(-r));
    return r;
}
