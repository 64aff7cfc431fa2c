/*
 * grammars.c - which files tree-sitter can parse: `prepare: grammars`.
 *
 * tree-sitter ends at the first file whose language it has no grammar for, and prints nothing about
 * the others. So the first call of the probe, `grammars`, lists the grammars, and the files of the
 * call `parse` are those that one of them names by the end of a file name, or by the whole name, as
 * tree-sitter does. The list looks like this, a paragraph for each grammar:
 *
 *   file_types: ["py", "pyi"]
 */
#include "base/error.h"
#include "gather/evidence/common.h"
#include "gather/prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TYPES_LABEL "file_types: ["

/* The arguments of the call `parse`; the texts belong to the coordinator. */
struct grammars {
    const char **argv;
};

/* Does a line with the types of a grammar have this one? length: of type. */
static bool names_type(const char *line, size_t line_length, const char *type, size_t length)
{
    const char *at = line, *end = line + line_length;
    while (length > 0 && (at = memmem(at, (size_t)(end - at), type, length))) {
        /* Between quotes: nothing else of this line has these. */
        if (at > line && at[-1] == '"' && at + length < end && at[length] == '"')
            return true;
        at += length;
    }
    return false;
}

/* The number of lines about types in a text; those that have the type are added to *ret_named. */
static size_t count_types_in(const char *at, size_t left, const char *type, size_t *ret_named)
{
    size_t lines = 0;
    while (left > 0) {
        size_t length = ck_evidence_line(at, left);
        bool types = length > strlen(TYPES_LABEL) && memcmp(at, TYPES_LABEL, strlen(TYPES_LABEL)) == 0;
        lines += types;
        *ret_named += types && type && names_type(at, length, type, strlen(type));
        length += length < left ? 1 : 0;
        at += length;
        left -= length;
    }
    return lines;
}

/* type may be NULL. 0.26 prints the list on stderr, earlier versions on stdout. */
static size_t count_types(const struct ck_answer *list, const char *type, size_t *ret_named)
{
    return count_types_in(list->out, list->out_length, type, ret_named) +
           count_types_in(list->err, list->err_length, type, ret_named);
}

static bool has_grammar(const struct ck_answer *list, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t named = 0;
    (void)count_types(list, name, &named);
    if (dot)
        (void)count_types(list, dot + 1, &named);
    return named > 0;
}

/* Keeps what is before the files, and the files that a grammar names. */
static int setup_parse(struct grammars *grammars, const struct ck_answer *list, struct ck_call_setup *setup,
                       struct choke_error *error)
{
    size_t count = 0, used = 0, none = 0;
    bool files = false;
    while (setup->argv[count])
        count++;
    if (count_types(list, NULL, &none) == 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, ENOENT,
                            "tree-sitter has no grammar: the config.json that its entry in the policy names lists "
                            "none; install some, as docs/tools.md says");
    free(grammars->argv);
    grammars->argv = calloc(count + 1, sizeof(*grammars->argv));
    if (!grammars->argv)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, ENOMEM, "out of memory");
    size_t before = 0;
    for (size_t i = 0; i < count; i++) {
        if (files && !has_grammar(list, setup->argv[i])) {
            setup->left_out++;
            continue;
        }
        grammars->argv[used++] = setup->argv[i];
        if (!files)
            before = used;
        files = files || strcmp(setup->argv[i], "--") == 0;
    }
    setup->skip = used == before;
    setup->argv = grammars->argv;
    return 0;
}

static int begin(struct choke_context *context, void **ret_state, struct choke_error *error)
{
    (void)context;
    *ret_state = calloc(1, sizeof(struct grammars));
    return *ret_state ? 0 : ck_error_set(error, CHOKE_SPAWN_FAILED, ENOMEM, "out of memory");
}

static int setup(void *state, const struct ck_answer *answers, size_t count, struct ck_call_setup *call_setup,
                 struct choke_error *error)
{
    const struct ck_answer *list = ck_evidence_find_ok_answer(answers, count, "grammars");
    if (strcmp(call_setup->call->id, "parse") != 0)
        return 0;
    if (!list)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "the call 'grammars' has no answer");
    return setup_parse(state, list, call_setup, error);
}

static void end(void *state)
{
    struct grammars *grammars = state;
    if (grammars)
        free(grammars->argv);
    free(grammars);
}

const struct ck_preparation ck_preparation_grammars = {.name = "grammars", .begin = begin, .setup = setup, .end = end};
