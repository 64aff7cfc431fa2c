/* native_shown.c - see native_shown.h. docs/adr/0055 has the reasons. */
#include "jail/native_shown.h"

#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"

#include <errno.h>
#include <string.h>

/* What the jail makes itself, for each run or to build the root. */
static const char *const own[] = {
    "/proc",         "/dev",      "/.old",         "/.tool",    "/.cover", ("/" CK_JAIL_KEPT),
    CK_JAIL_SCRATCH, CK_JAIL_SHM, CK_JAIL_PRIVATE, CK_JAIL_DOOR};

const char *ck_native_shown_cover(const char *path)
{
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (ck_path_beneath(own[i], path))
            return own[i];
    return NULL;
}

/* ---- directories ---- */

static int refuse_shown(const char *path, const char *cover, struct choke_error *error)
{
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, EBUSY,
                        "directory '%s' cannot be shown in a jail, which has its own '%s'; move it elsewhere",
                        CK_QUOTE(path), cover);
}

static int add_at(struct ck_native_builder *program, const struct ck_native_directory *shown, const char *path,
                  const struct ck_native_wanted *wanted, struct choke_error *error)
{
    const char *cover = ck_native_shown_cover(path);
    bool in_tmp = ck_native_in_tmp(path);
    /* Without a new root every path is that of the host. */
    if (cover && !wanted->in_place)
        return refuse_shown(path, cover, error);
    /* The cage can replace every directory in the /tmp of guard. */
    if ((strcmp(path, CK_JAIL_TMP) == 0 || (in_tmp && wanted->guard)) && !wanted->in_place)
        return refuse_shown(path, CK_JAIL_TMP, error);
    /* /work is free if the root is elsewhere. */
    if (!wanted->root && !wanted->in_place && ck_path_beneath(CK_JAIL_WORK, path))
        return refuse_shown(path, CK_JAIL_WORK, error);
    if (ck_native_is_system(path))
        return 0; /* a part of the system's trees, which every jail shows */
    if (!in_tmp) {
        ck_native_program_add_parents(program, path + 1);
        ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, path + 1, NULL);
    }
    ck_native_program_add_op(
        program, &(const struct ck_native_builder_op){.op = in_tmp ? CK_NATIVE_OP_BIND_TMP : CK_NATIVE_OP_BIND,
                                                      .inside = path + 1,
                                                      .outside = shown->real,
                                                      .device = shown->device,
                                                      .inode = shown->inode});
    return 0;
}

/* A symlink, so that what may be executed at the real path may be executed at this one, too. */
static int add_link(struct ck_native_builder *program, const struct ck_native_directory *shown,
                    const struct ck_native_wanted *wanted, struct choke_error *error)
{
    if (ck_native_in_tmp(shown->path) || ck_native_shown_cover(shown->path))
        return add_at(program, shown, shown->path, wanted, error);
    /* The tree that is bound there has the symlink of the host. */
    if (ck_native_is_system(shown->path) || ck_native_shown_has(program, shown->path))
        return 0;
    ck_native_program_add_parents(program, shown->path + 1);
    ck_native_program_add(program, CK_NATIVE_OP_LINK, shown->path + 1, shown->real);
    return 0;
}

int ck_native_shown_add(struct ck_native_builder *program, const struct ck_native_wanted *wanted,
                        struct choke_error *error)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < wanted->shown_count; i++) {
        const struct ck_native_directory *shown = &wanted->shown[i];
        r = add_at(program, shown, shown->real, wanted, error);
        /* Scripts name their interpreter by the path that the policy has, which may be a symlink. */
        if (r == 0 && !wanted->in_place && strcmp(shown->path, shown->real) != 0)
            r = add_link(program, shown, wanted, error);
    }
    return r;
}

bool ck_native_shown_has(const struct ck_native_builder *program, const char *path)
{
    for (size_t i = 0; i < program->ops_count; i++) {
        const struct ck_native_builder_op *operation = &program->ops[i];
        size_t length = strlen(operation->inside);
        /* A directory that was checked has an inode. So has a plug-in, which is a file. */
        if (operation->inode != 0 && operation->op != CK_NATIVE_OP_BIND_PLUGIN && path[0] == '/' &&
            strncmp(path + 1, operation->inside, length) == 0 && (path[1 + length] == '/' || path[1 + length] == '\0'))
            return true;
    }
    return false;
}

/* ---- the root ---- */

static int refuse_root(const char *root, const char *what, const char *path, struct choke_error *error)
{
    return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, EBUSY,
                        "the root '%s' cannot be at its own path in a jail: %s '%s' there; use another root, or "
                        "'root_at: work'",
                        CK_QUOTE(root), what, path);
}

/* Is the operation's path the root, or beneath it? inside has no leading '/'. */
static bool is_covered_by(const char *root, const char *inside)
{
    size_t length = strlen(root + 1);
    return strncmp(inside, root + 1, length) == 0 && (inside[length] == '/' || inside[length] == '\0');
}

int ck_native_shown_place_root(struct ck_native_builder *program, const char *root, struct choke_error *error)
{
    const char *cover = ck_native_shown_cover(root);
    if (cover)
        return refuse_root(root, "the jail has its own", cover, error);
    if (strcmp(root, "/") == 0 || strcmp(root, CK_JAIL_TMP) == 0)
        return refuse_root(root, "it would cover", root, error);
    /*
     * The root is mounted last. A repository that covered a part of the system would decide what
     * the tool finds there.
     */
    for (size_t i = 0; i < program->ops_count; i++)
        if (program->ops[i].op != CK_NATIVE_OP_DIRECTORY && is_covered_by(root, program->ops[i].inside))
            return refuse_root(root, "it would cover", CK_QUOTE(program->ops[i].inside), error);
    /* In a tree that is bound the directory exists. In /tmp each run makes it. */
    if (ck_native_is_system(root) || ck_native_in_tmp(root) || ck_native_shown_has(program, root))
        return 0;
    ck_native_program_add_parents(program, root + 1);
    ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, root + 1, NULL);
    return 0;
}
