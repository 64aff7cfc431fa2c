/* redact.c - replaces messages and texts that have a credential in them. See redact.h. */
#include "api/redact.h"

#include "base/error.h"
#include "base/quote.h"
#include "policy/secret.h"

#include <string.h>

#define PREFIX_BYTES 64 /* of a path: if a message has these, it quotes the path */

/*
 * A message quotes only the beginning of a long path. That may have a part of a credential which is
 * too short to be recognised. So the whole path is checked.
 */
static const char *kind_of_path(const char *path, const char *message)
{
    const char *kind = path ? ck_secret_kind(path) : NULL;
    if (!kind)
        return NULL;
    char quoted[CK_QUOTE_MAX];
    (void)ck_quote(quoted, sizeof(quoted), path, strlen(path));
    /* CK_QUOTE_MAX is larger. A shorter path has its NUL before that. */
    quoted[PREFIX_BYTES] = '\0';
    return strstr(message, quoted) ? kind : NULL;
}

/* The whole message is replaced, because the credential may be anywhere in it, also in part. */
void ck_redact_error(struct choke_error *error, const struct choke_request *request)
{
    if (error->outcome == CHOKE_NONE)
        return;
    const char *kind = ck_secret_kind(error->message);
    if (!kind && request)
        kind = kind_of_path(request->root, error->message);
    if (!kind && request)
        kind = kind_of_path(request->cwd, error->message);
    if (!kind && request)
        kind = kind_of_path(request->keep_path, error->message);
    if (!kind)
        return;
    /* ck_error_set clears them. */
    unsigned line = error->line, column = error->column;
    (void)ck_error_set(error, error->outcome, error->errnum,
                       "%s; the given text looks like %s and is not shown; use another name",
                       error->errnum != 0 ? strerror(error->errnum) : choke_outcome_name(error->outcome), kind);
    error->line = line;
    error->column = column;
}

const char *ck_redact_copy(struct ck_arena *arena, const char *text)
{
    char shown[CK_SECRET_SHOWN_MAX];
    return text ? ck_arena_strdup(arena, ck_secret_show(shown, text, ck_secret_kind(text))) : NULL;
}

/* An argument is judged with the one before it: the value of "--token" is one by its name. */
const char *const *ck_redact_list(struct ck_arena *arena, const char *const *list)
{
    char shown[CK_SECRET_SHOWN_MAX];
    size_t count = 0;
    while (list && list[count])
        count++;
    const char **copies = list ? ck_arena_array(arena, count + 1, sizeof(*copies)) : NULL;
    for (size_t i = 0; copies && i < count; i++) {
        copies[i] = ck_arena_strdup(arena, ck_secret_show(shown, list[i], ck_secret_kind_at(list, i)));
        if (!copies[i])
            return NULL;
    }
    return copies;
}

const char *choke_credential_kind(const char *text)
{
    return text ? ck_secret_kind(text) : NULL;
}
