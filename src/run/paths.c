/* paths.c - see paths.h. */
#include "run/paths.h"

#include "base/errkind.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "run/guarded.h"
#include "sys/beneath.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

/* ---- the check ---- */

static int refuse(const struct ck_plan_sources *sources, struct ck_plan *plan, const struct ck_path_use *use,
                  int errnum)
{
    char shown[CK_QUOTE_MAX], rule[CK_RULE_MAX];
    unsigned line = ck_args_line(use->tool, use->subcommand);
    bool out = errnum == EXDEV || errnum == ELOOP;
    (void)ck_quote(shown, sizeof(shown), use->path, use->length);
    (void)ck_error_set(&plan->verdict.error, CHOKE_DISALLOWED, errnum, "argument %zu: '%s' %s%s (line %u of %s)",
                       use->argument, shown,
                       out ? "leads out of the root, and " : "must be beneath the root, and cannot be checked: ",
                       out ? "must stay beneath it" : ck_beneath_strerror(errnum), line,
                       CK_QUOTE(ck_policy_tool_file(sources->policy, use->tool)));
    plan->verdict.error.line = line;
    ck_args_rule(rule, use->tool, use->subcommand, use->operand ? "operands" : "options");
    return ck_plan_refuse(plan, NULL, rule);
}

/*
 * What follows /work in a path that is not beneath the root, or NULL. SOURCE of a mount is a path
 * for a service on the host, which knows no /work.
 */
static const char *after_work(const struct ck_plan *plan, const struct ck_path_use *use, const char *text)
{
    char root[PATH_MAX];
    if (use->type == CK_TYPE_MOUNT || ck_beneath_path(plan->root_fd, root, sizeof(root)) < 0 ||
        ck_path_beneath(root, text))
        return NULL;
    const char *rest = ck_path_beneath(CK_JAIL_WORK, text);
    return rest && rest[0] == '\0' ? "." : rest;
}

/* The path was accepted; where is it from the root? */
static int note(struct ck_plan *plan, const char *text, struct ck_plan_path *ret_path)
{
    char place[PATH_MAX];
    int r = ck_beneath_locate(plan->root_fd, text, place, sizeof(place));
    /* It was removed or replaced after the check: the tool gets the spelling of the request. */
    if (r < 0)
        return ck_errkind_is_shortage(-r) ? r : 0;
    ret_path->from_root = ck_arena_strdup(&plan->arena, place);
    return !ret_path->from_root ? -ENOMEM : 0;
}

/*
 * Beneath another directory that the cage and its tools can write. If it is not, the first answer
 * counts.
 */
static int stays_elsewhere(const struct ck_guarded *guarded, const struct ck_plan *plan, const struct ck_path_use *use,
                           int first)
{
    int r = ck_guarded_path_stays(guarded, plan, use->path, use->length, use->type != CK_TYPE_INSIDE);
    return r == -EXDEV ? first : r;
}

static int check_path(struct ck_plan *plan, const struct ck_guarded *guarded, const struct ck_path_use *use,
                      struct ck_plan_path *ret_path)
{
    bool must_exist = use->type != CK_TYPE_INSIDE;
    int r =
        plan->guarded_cwd ? -EXDEV : ck_beneath_stays(plan->root_fd, plan->cwd_fd, use->path, use->length, must_exist);
    if (r < 0 && plan->guarded_cwd && use->length > 0 && use->path[0] == '/')
        r = ck_beneath_stays(plan->root_fd, plan->root_fd, use->path, use->length, must_exist);
    if (r < 0 && guarded && !ck_errkind_is_shortage(-r))
        return stays_elsewhere(guarded, plan, use, r);
    if (ck_errkind_is_shortage(-r) || use->length == 0 || use->path[0] != '/' || use->length >= PATH_MAX)
        return r;
    const char *text = ck_arena_memdup(&plan->arena, use->path, use->length);
    if (!text)
        return -ENOMEM;
    if (r == 0)
        return note(plan, text, ret_path);
    const char *rest = after_work(plan, use, text);
    if (!rest)
        return r;
    r = ck_beneath_stays(plan->root_fd, plan->root_fd, rest, strlen(rest), must_exist);
    *ret_path = (struct ck_plan_path){.from_root = rest, .from_work = true};
    return r;
}

int ck_paths_check(const struct ck_plan_sources *sources, struct ck_plan *plan)
{
    const struct ck_parsed_args *parsed = &plan->verdict.parsed;
    if (parsed->paths_count == 0)
        return 0;
    plan->paths = ck_arena_array(&plan->arena, parsed->paths_count, sizeof(*plan->paths));
    if (!plan->paths)
        return -ENOMEM;
    for (size_t i = 0; i < parsed->paths_count; i++) {
        int r = check_path(plan, sources->guarded, &parsed->paths[i], &plan->paths[i]);
        if (ck_errkind_is_shortage(-r))
            return r;
        if (r < 0)
            return refuse(sources, plan, &parsed->paths[i], -r);
    }
    return 0;
}

/* ---- the spelling ---- */

/*
 * The index of the argument that holds path. The strings of the parsed arguments belong to the
 * caller, those of plan->argv are copies: so the position is found by address among the first.
 */
static size_t argument_of(const struct ck_parsed_args *parsed, const char *path)
{
    size_t i = 0;
    while (i < parsed->argc && (uintptr_t)path - (uintptr_t)parsed->argv[i] > strlen(parsed->argv[i]))
        i++;
    return i;
}

static int remember(struct ck_plan *plan, size_t at, const char *asked)
{
    size_t count = plan->verdict.parsed.paths_count;
    if (!plan->respelled)
        plan->respelled = ck_arena_array(&plan->arena, count, sizeof(*plan->respelled));
    const char *copy = ck_arena_strdup(&plan->arena, asked);
    if (!plan->respelled || !copy)
        return -ENOMEM;
    plan->respelled[plan->respelled_count++] = (struct ck_plan_respelled){.position = at, .asked = copy};
    return 0;
}

static int respell(struct ck_plan *plan, const struct ck_path_use *use, const char *view, const char *from_root)
{
    const struct ck_parsed_args *parsed = &plan->verdict.parsed;
    size_t at = argument_of(parsed, use->path);
    if (at == parsed->argc)
        return 0;
    const char *asked = parsed->argv[at];
    bool is_root = strcmp(from_root, ".") == 0;
    plan->argv[at] = ck_arena_printf(&plan->arena, "%.*s%s%s%s%s", (int)(use->path - asked), asked,
                                     strcmp(view, "/") == 0 && !is_root ? "" : view, is_root ? "" : "/",
                                     is_root ? "" : from_root, use->path + use->length);
    if (!plan->argv[at])
        return -ENOMEM;
    return strcmp(plan->argv[at], asked) == 0 ? 0 : remember(plan, at, asked);
}

bool ck_paths_any_from_work(const struct ck_plan *plan)
{
    for (size_t i = 0; plan->paths && i < plan->verdict.parsed.paths_count; i++)
        if (plan->paths[i].from_work)
            return true;
    return false;
}

int ck_paths_respell(struct ck_plan *plan, const char *view, bool in_place)
{
    const struct ck_parsed_args *parsed = &plan->verdict.parsed;
    int r = 0;
    for (size_t i = 0; r == 0 && plan->paths && i < parsed->paths_count; i++)
        if (plan->paths[i].from_root && (plan->paths[i].from_work || !in_place))
            r = respell(plan, &parsed->paths[i], view, plan->paths[i].from_root);
    return r;
}
