/*
 * denied.c - what the jail of a run refused, as the result has it (docs/adr/0054).
 *
 * The records come from the warden (base/denial.h); names in them come from the tool. Must not
 * assume that a record is complete or valid, nor show bytes as they are.
 */
#include "api/context.h"
#include "api/denied_add.h"
#include "api/redact.h"

#include "base/denial.h"
#include "base/quote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DELETED " (deleted)" /* what the kernel appends to the path of a file without a name */

const char *ck_denied_show(struct ck_arena *arena, const char *text)
{
    size_t size = strlen(text) * CK_QUOTE_PIECE_MAX + 1;
    char *quoted = ck_arena_alloc(arena, size);
    return quoted ? ck_redact_copy(arena, ck_quote(quoted, size, text, strlen(text))) : NULL;
}

/* The name of the program that tried it: the tool's name in the policy, or that of its file. */
static const char *name_of(struct ck_arena *arena, const struct choke_job *job, char *by)
{
    size_t length = strlen(by), suffix = strlen(DELETED);
    if (length == 0 || (job->inside && strcmp(by, job->inside) == 0))
        return job->result->tool_name;
    if (length > suffix && strcmp(by + length - suffix, DELETED) == 0)
        by[length - suffix] = '\0';
    const char *slash = strrchr(by, '/');
    return ck_denied_show(arena, slash ? slash + 1 : by);
}

/*
 * The program that tried it, and those that called it: "dash < make < bash". Each is a path; two slashes
 * are between two of them. *ret_first: the first alone. NULL: no memory.
 */
static const char *name_all(struct ck_arena *arena, const struct choke_job *job, char *by, const char **ret_first)
{
    const char *all = NULL;
    for (char *next; by; by = next) {
        next = strstr(by, "//");
        if (next)
            *next++ = '\0';
        const char *name = name_of(arena, job, by);
        *ret_first = all ? *ret_first : name;
        all = !name ? NULL : all ? ck_arena_printf(arena, "%s < %s", all, name) : name;
        if (!all)
            return NULL;
    }
    return all;
}

static const char *const kinds[] = {[CK_DENIAL_EXEC] = "exec",
                                    [CK_DENIAL_MAP] = "map",
                                    [CK_DENIAL_OPEN] = "open",
                                    [CK_DENIAL_WRITE] = "write",
                                    [CK_DENIAL_CONNECT] = "connect"};

const char *ck_denied_kind(uint32_t kind)
{
    return kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[kind] : NULL;
}

/*
 * Is it a refusal by the jail? A file that does not exist inside is one only if the caller finds it
 * outside; of a file that was to be made, its directory.
 */
bool ck_denied_is_refusal(const struct ck_denial_record *record, const char *text)
{
    char path[CK_DENIAL_PATH_MAX + 1];
    struct stat status;
    if (record->kind == 0 || record->kind >= sizeof(kinds) / sizeof(kinds[0]))
        return false;
    if (record->error != ENOENT)
        return true;
    if (record->path_length > CK_DENIAL_PATH_MAX)
        return false;
    memcpy(path, text, record->path_length);
    path[record->path_length] = '\0';
    char *slash = strrchr(path, '/');
    if (record->kind == CK_DENIAL_WRITE && slash)
        *slash = '\0';
    return path[0] == '\0' || lstat(path, &status) == 0;
}

/* False: no memory. */
static bool fill(struct choke_job *job, struct ck_arena *arena, const struct ck_denial_record *record, const char *text,
                 struct choke_denial *ret)
{
    char *path = ck_arena_alloc(arena, (size_t)record->path_length + 1);
    char *by = ck_arena_alloc(arena, (size_t)record->by_length + 1);
    const char *first = NULL;
    if (!path || !by)
        return false;
    memcpy(path, text, record->path_length);
    memcpy(by, text + record->path_length, record->by_length);
    path[record->path_length] = by[record->by_length] = '\0';
    *ret = (struct choke_denial){.kind = kinds[record->kind],
                                 .path = ck_denied_show(arena, path),
                                 .by = name_all(arena, job, by, &first),
                                 .errnum = (int)record->error};
    if (!ret->path || !ret->by)
        return false;
    if (record->kind == CK_DENIAL_EXEC)
        ret->add = ck_denied_add_exec(&job->context->search, job->root, path, first, arena);
    return true;
}

bool ck_denied_next(const char **at, const char *end, struct ck_denial_record *ret_record, const char **ret_text)
{
    if ((size_t)(end - *at) < sizeof(*ret_record))
        return false;
    memcpy(ret_record, *at, sizeof(*ret_record));
    size_t size = sizeof(*ret_record) + (size_t)ret_record->path_length + ret_record->by_length;
    size += -size % CK_DENIAL_ALIGNMENT;
    if (size > (size_t)(end - *at))
        return false;
    *ret_text = *at + sizeof(*ret_record);
    *at += size;
    return true;
}

/* Fills the list; returns how many are in it. ret_read: how many of the records could be read. */
static size_t read_records(struct choke_job *job, struct ck_arena *arena, const struct ck_denials_head *head,
                           const char *at, struct choke_denial *list, size_t *ret_read)
{
    const char *end = at + head->bytes;
    size_t count = 0;
    *ret_read = 0;
    struct ck_denial_record record;
    const char *text;
    while (*ret_read < head->count && ck_denied_next(&at, end, &record, &text)) {
        bool denied = ck_denied_is_refusal(&record, text);
        if (denied && !fill(job, arena, &record, text, &list[count]))
            break;
        count += denied ? 1 : 0;
        ++*ret_read;
    }
    return count;
}

void ck_denied_end(struct choke_job *job)
{
    static const struct choke_denial none[1];
    struct choke_result *result = job->result;
    const struct ck_run *run = &job->run;
    struct ck_denials_head head = {0};
    /* Nothing ran, nobody watched, or the warden that would report it is gone. */
    if (!result->jail || !job->names_execs || run->lost)
        return;
    result->denied = none;
    if (!run->denied || run->denied_bytes < sizeof(head))
        return;
    memcpy(&head, run->denied, sizeof(head));
    if (job->context->learn.jail)
        ck_learn_keep(job, run->denied + sizeof(head), run->denied_bytes - sizeof(head), head.more);
    result->denied_more = head.more;
    if (head.bytes != run->denied_bytes - sizeof(head) || head.count > CK_DENIALS_MAX)
        return;
    struct ck_arena *arena = ck_result_arena(result);
    size_t read = 0;
    struct choke_denial *list = ck_arena_array(arena, CK_DENIALS_MAX, sizeof(*list));
    if (list) {
        result->denied_count = read_records(job, arena, &head, run->denied + sizeof(head), list, &read);
        result->denied = list;
    }
    result->denied_more += head.count - read;
}
