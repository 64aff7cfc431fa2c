/* learn_record.c - see learn_record.h. */
#include "api/learn_record.h"

#include "base/error.h"
#include "base/quote.h"
#include "sys/decision_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LAST 9999 /* four digits */

/* NULL: the policy has none. That of the embedded policy is a directory of the sources. */
static const char *directory_of(const struct choke_context *context)
{
    return context->from_file ? context->policy->adr_dir : NULL;
}

int ck_learn_record_number(const struct choke_context *context, struct ck_arena *arena, const char **ret_number,
                           struct choke_error *error)
{
    const char *directory = directory_of(context);
    struct ck_decision_records records = {0};
    unsigned long last = 0;
    if (directory && ck_decision_records_read(arena, context->policy->file, directory, &records) < 0)
        return ck_error_oom(error);
    for (size_t i = 0; i < records.count; i++) {
        unsigned long number = strtoul(records.items[i].number, NULL, 10);
        last = number > last ? number : last;
    }
    if (last >= LAST)
        return ck_error_set(error, CHOKE_INVALID, ERANGE, "no number is free in '%s'; use --adr NNNN",
                            CK_QUOTE(directory));
    *ret_number = ck_arena_printf(arena, "%04lu", last + 1);
    return *ret_number ? 0 : ck_error_oom(error);
}

int ck_learn_record_write(const struct choke_context *context, const struct ck_learn_entry *entry,
                          struct ck_arena *arena, struct choke_learned *learned)
{
    const char *directory = directory_of(context);
    const char *name = ck_denied_show(arena, entry->name);
    const char *why = ck_denied_show(arena, entry->why);
    if (!name || !why)
        return -ENOMEM;
    learned->record_path = ck_arena_printf(arena, "%s/%s-%s.md", directory ? directory : "docs/adr", entry->adr, name);
    learned->record = ck_arena_printf(
        arena,
        "# %s %s\n\nStatus: proposed.\n\n**Context.** %s\n\n"
        "**Decision.** An entry for `%s`: which calls, which helpers, what it may write.\n\n"
        "**Consequences.** What the tool can do to the machine and to the repository, how much of that the entry\n"
        "prevents, and what else was considered.\n",
        entry->adr, name, why, name);
    return learned->record_path && learned->record ? 0 : -ENOMEM;
}
