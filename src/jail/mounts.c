/* mounts.c - lists what a program of the native jail mounts, as text. See mounts.h. */
#include "jail/mounts.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char *bind_line(struct ck_arena *arena, const char *how, const char *inside, const char *outside)
{
    return strcmp(inside, outside + 1) == 0 ? ck_arena_printf(arena, "%s /%s", how, inside)
                                            : ck_arena_printf(arena, "%s /%s <- %s", how, inside, outside);
}

/* *ret_line is NULL for an operation that only makes a mount point. False: no memory. */
static bool describe(const struct ck_native_program *program, const struct ck_native_op *operation,
                     struct ck_arena *arena, const char **ret_line)
{
    const char *inside = ck_native_text(program, operation->inside);
    const char *outside = ck_native_text(program, operation->outside);
    *ret_line = NULL;
    switch ((enum ck_native_op_kind)operation->op) {
    case CK_NATIVE_OP_DIRECTORY:
        return true;
    case CK_NATIVE_OP_FILE:
        if (!outside)
            return true;
        *ret_line = ck_arena_printf(arena, "copy /%s", inside);
        break;
    case CK_NATIVE_OP_TEXT:
        *ret_line = ck_arena_printf(arena, "text /%s", inside);
        break;
    case CK_NATIVE_OP_LINK:
        *ret_line = ck_arena_printf(arena, "link /%s -> %s", inside, outside);
        break;
    case CK_NATIVE_OP_BIND:
        if (strcmp(inside, "proc") == 0)
            return true; /* each run mounts its own /proc over it */
        *ret_line = bind_line(arena, "ro", inside, outside);
        break;
    case CK_NATIVE_OP_BIND_TMP:
        *ret_line = bind_line(arena, "ro", inside, outside);
        break;
    case CK_NATIVE_OP_BIND_CODE:
    case CK_NATIVE_OP_BIND_PLUGIN:
    case CK_NATIVE_OP_BIND_TMP_CODE:
        *ret_line = bind_line(arena, "code", inside, outside);
        break;
    case CK_NATIVE_OP_COPY_CODE:
        *ret_line = bind_line(arena, "loader", inside, outside);
        break;
    case CK_NATIVE_OP_BIND_WRITABLE:
        *ret_line = bind_line(arena, "rw", inside, outside);
        break;
    case CK_NATIVE_OP_READ_ONLY:
        *ret_line = ck_arena_printf(arena, "read-only %s in the root", inside);
        break;
    case CK_NATIVE_OP_DOOR:
        *ret_line = ck_arena_printf(arena, "door /%s", inside);
        break;
    case CK_NATIVE_OP_BIND_DEVICE:
        *ret_line = bind_line(arena, "device", inside, outside);
        break;
    }
    return !!*ret_line;
}

/*
 * A listed program in a library directory has no mount of its own: Landlock allows it by file. False:
 * no memory.
 */
static bool describe_execs(const struct ck_native_program *program, struct ck_arena *arena, const char **lines,
                           size_t *count)
{
    const struct ck_native_op *ops = ck_native_ops(program);
    const uint32_t *execs = (const void *)((const char *)program + program->execs_at);
    for (uint32_t i = 0; i < program->execs_count; i++) {
        const char *path = ck_native_text(program, execs[i]);
        uint32_t k = 0;
        while (k < program->ops_count && strcmp(ck_native_text(program, ops[k].inside), path + 1) != 0)
            k++;
        if (k < program->ops_count)
            continue;
        lines[*count] = ck_arena_printf(arena, "exec %s", path);
        if (!lines[(*count)++])
            return false;
    }
    return true;
}

const char **ck_mounts_list(const struct ck_native_program *program, const char *root, enum ck_workspace workspace,
                            struct ck_arena *arena)
{
    static const char *const names[] = {
        [CK_WORKSPACE_RO] = "ro", [CK_WORKSPACE_RW] = "rw", [CK_WORKSPACE_OVERLAY] = "overlay"};
    const struct ck_native_op *ops = ck_native_ops(program);
    /* Three lines more than operations and programs, and the NULL at the end. */
    const char **lines = ck_arena_array(arena, program->ops_count + program->execs_count + 4u, sizeof(*lines));
    size_t count = 0;
    if (!lines)
        return NULL;
    for (uint32_t i = 0; i < program->ops_count; i++) {
        if (!describe(program, &ops[i], arena, &lines[count]))
            return NULL;
        count += lines[count] ? 1 : 0;
    }
    if (!describe_execs(program, arena, lines, &count))
        return NULL;
    lines[count++] = program->guarded != 0 ? "tmpfs " CK_JAIL_PRIVATE : "tmpfs " CK_JAIL_TMP;
    lines[count++] = "proc /proc";
    const char *how = names[workspace];
    if (program->workspace_code != 0)
        how = ck_arena_printf(arena, "%s+code", how);
    lines[count] = how ? bind_line(arena, how, ck_native_root(program) + 1, root) : NULL;
    return !lines[count] ? NULL : lines;
}
