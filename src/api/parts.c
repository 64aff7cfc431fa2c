/* parts.c - the files that run when a tool runs, for callers that copy the tool elsewhere. */
#include "api/readiness.h"

#include "base/error.h"
#include "base/quote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The public struct is first: freeing the report frees the box. */
struct parts_box {
    struct choke_tool_parts report;
    struct ck_readiness readiness; /* lives as long as the report, which points into it */
    struct choke_tool_part *items; /* its own array; the text in it belongs to the readiness */
};

/* The public names of enum ck_part_role. */
static const char *role_name(enum ck_part_role role)
{
    return role == CK_PART_INTERPRETER ? "interpreter" : "library";
}

/*
 * The tool itself is the first item, so the caller has all files to copy in one list. A part that
 * was not found keeps its path NULL.
 */
static int fill(struct parts_box *box, const struct ck_readiness_tool *tool)
{
    struct choke_tool_part *items = calloc(tool->parts_count + 1, sizeof(*items));
    if (!items)
        return -ENOMEM;
    items[0] = (struct choke_tool_part){.role = "tool", .name = tool->tool->name, .path = tool->path};
    for (size_t i = 0; i < tool->parts_count; i++) {
        const struct ck_part *part = &tool->parts[i];
        items[i + 1] = (struct choke_tool_part){.role = role_name(part->role), .name = part->name, .path = part->path};
    }
    box->items = items;
    box->report = (struct choke_tool_parts){.items = items, .count = tool->parts_count + 1};
    return 0;
}

/*
 * A tool without parts is missing, or its plan was refused, or it depends on too many files. Its
 * problem says why.
 */
static int take(struct parts_box *box, const char *name, struct choke_error *error)
{
    int r = ck_readiness_check(&box->readiness, error);
    if (r < 0)
        return r;
    /* No entry has this name, or its entry is for another platform. */
    if (box->readiness.count == 0)
        return ck_error_set(error, CHOKE_DISALLOWED, EPERM, "'%s' is not a tool of the policy", CK_QUOTE(name));
    const struct ck_readiness_tool *tool = &box->readiness.tools[0];
    if (!tool->parts) {
        bool missing = strcmp(tool->state, CK_READINESS_MISSING) == 0;
        return ck_error_set(error, missing ? CHOKE_TOOL_MISSING : CHOKE_DISALLOWED, missing ? ENOENT : EPERM, "%s",
                            tool->problem);
    }
    return fill(box, tool) < 0 ? ck_error_oom(error) : 0;
}

int choke_tool_parts(struct choke_context *context, const char *name, struct choke_tool_parts **ret_parts,
                     struct choke_error *error)
{
    /* With name NULL the list would be empty; name is checked below, before it is used. */
    const char *only[] = {name, NULL};
    int r = ck_context_renew(context, error);
    if (r < 0)
        return r;
    if (!name || !ret_parts)
        return ck_error_set(error, CHOKE_INVALID, EINVAL,
                            "the name of a tool and a pointer for its parts are required");
    struct parts_box *box = calloc(1, sizeof(*box));
    if (!box)
        return ck_error_oom(error);
    box->readiness = (struct ck_readiness){.context = context, .want_parts = true, .only = only};
    r = take(box, name, error);
    /* The list is on this stack, and the readiness outlives it. */
    box->readiness.only = NULL;
    if (r == 0)
        *ret_parts = &box->report;
    else
        choke_tool_parts_free(&box->report);
    return r;
}

void choke_tool_parts_free(struct choke_tool_parts *parts)
{
    struct parts_box *box = (struct parts_box *)(void *)parts;
    if (!box)
        return;
    ck_readiness_done(&box->readiness);
    free(box->items);
    free(box);
}
