/*
 * program.c - compiles queries. See program.h.
 *
 * All queries of a grammar are joined into one. To run a query costs one walk over the tree,
 * whether it has one pattern or twenty.
 */
#include "lint/program.h"

#include "base/error.h"
#include "base/quote.h"
#include "lint/rules_schema.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CAPTURES 3 /* @name, @arguments, @site */

struct ck_lint_programs {
    pthread_mutex_t lock;                      /* for all members: threads compile on demand */
    struct ck_arena arena;                     /* what the programs point to */
    struct ck_lint_program items[CK_GRAMMARS]; /* query is NULL until it is first needed */
};

struct ck_lint_programs *ck_lint_programs_new(void)
{
    struct ck_lint_programs *programs = calloc(1, sizeof(*programs));
    if (programs && pthread_mutex_init(&programs->lock, NULL) != 0) {
        free(programs);
        return NULL;
    }
    return programs;
}

void ck_lint_programs_free(struct ck_lint_programs *programs)
{
    if (!programs)
        return;
    for (size_t i = 0; i < CK_GRAMMARS; i++)
        if (programs->items[i].query)
            ts_query_delete(programs->items[i].query);
    ck_arena_done(&programs->arena);
    (void)pthread_mutex_destroy(&programs->lock);
    free(programs);
}

/* ---- queries ----------------------------------------------------------------------------- */

static bool has_string(const struct ck_lint_strings *strings, const char *wanted)
{
    for (uint32_t i = 0; i < strings->count; i++)
        if (strcmp(strings->items[i], wanted) == 0)
            return true;
    return false;
}

/* Is the query for this grammar? Without a list it is for all grammars of its file. */
static bool query_holds(const struct ck_lint_query *query, const struct ck_grammar *grammar)
{
    return query->grammars.count == 0 || has_string(&query->grammars, grammar->name);
}

/* Joins all queries for the grammar into one text. starts[i] is where query i begins. */
static char *join_queries(struct ck_arena *arena, const struct ck_lint_ruleset *ruleset,
                          const struct ck_grammar *grammar, uint32_t *starts)
{
    char *text = ck_arena_strdup(arena, "");
    for (uint32_t i = 0; text && i < ruleset->queries_count; i++) {
        starts[i] = (uint32_t)strlen(text);
        if (query_holds(&ruleset->queries[i], grammar))
            text = ck_arena_printf(arena, "%s%s\n", text, ruleset->queries[i].text);
    }
    return text;
}

/*
 * The query that contains this byte of the joined text. A query that was left out starts where the
 * next does, so the last that starts at or before the byte is the right one.
 */
static uint32_t query_at(const uint32_t *starts, uint32_t count, uint32_t offset)
{
    uint32_t at = count - 1;
    while (at > 0 && starts[at] > offset)
        at--;
    return at;
}

/*
 * Says which query of the file is wrong, and where in it. Tests load all files, so users do not see
 * this.
 */
static int bad_query(const struct ck_lint_ruleset *ruleset, const uint32_t *starts, uint32_t offset,
                     struct choke_error *error)
{
    uint32_t at = query_at(starts, ruleset->queries_count, offset);
    return ck_error_set(error, CHOKE_NONE, EINVAL, "rules '%s': query '%s': error at byte %u, or an unknown capture",
                        CK_QUOTE(ruleset->file), CK_QUOTE(ruleset->queries[at].name), offset - starts[at]);
}

/* tree-sitter numbers captures in the order in which they occur, so they are looked up by name. */
static void find_captures(struct ck_lint_program *program)
{
    static const char *const strings[CAPTURES] = {"name", "arguments", "site"};
    uint32_t *captures[CAPTURES] = {&program->capture_name, &program->capture_arguments, &program->capture_site};
    for (size_t i = 0; i < CAPTURES; i++) {
        *captures[i] = UINT32_MAX;
        for (uint32_t at = 0; at < ts_query_capture_count(program->query); at++) {
            uint32_t length;
            const char *name = ts_query_capture_name_for_id(program->query, at, &length);
            if (length == strlen(strings[i]) && memcmp(name, strings[i], length) == 0)
                *captures[i] = at;
        }
    }
}

/*
 * tree-sitter does not evaluate predicates (#eq?) itself. Conditions belong in the rules here, and
 * a query with a predicate would match too much, so it is refused.
 */
static int check_patterns(struct ck_lint_program *program, const uint32_t *starts, struct choke_error *error)
{
    /* Counts the captures that are known. One more in the query is misspelled. */
    uint32_t known = 0;
    known += program->capture_name != UINT32_MAX;
    known += program->capture_arguments != UINT32_MAX;
    known += program->capture_site != UINT32_MAX;
    if (program->capture_name == UINT32_MAX || ts_query_capture_count(program->query) != known)
        return bad_query(program->ruleset, starts, 0, error);
    for (uint32_t i = 0; i < ts_query_pattern_count(program->query); i++) {
        uint32_t steps;
        uint32_t offset = ts_query_start_byte_for_pattern(program->query, i);
        (void)ts_query_predicates_for_pattern(program->query, i, &steps);
        if (steps != 0)
            return bad_query(program->ruleset, starts, offset, error);
        program->pattern_query[i] = query_at(starts, program->ruleset->queries_count, offset);
    }
    return 0;
}

/* ---- programs ---------------------------------------------------------------------------- */

/* On failure program->query may be set. The caller deletes it. */
static int compile(struct ck_arena *arena, struct ck_lint_program *program, struct choke_error *error)
{
    uint32_t starts[CK_LINT_QUERIES_MAX] = {0};
    uint32_t offset;
    TSQueryError kind;
    char *text = join_queries(arena, program->ruleset, program->grammar, starts);
    if (!text)
        return ck_error_oom(error);
    program->query = ts_query_new(program->grammar->language(), text, (uint32_t)strlen(text), &offset, &kind);
    if (!program->query)
        return bad_query(program->ruleset, starts, offset, error);
    uint32_t patterns = ts_query_pattern_count(program->query);
    program->pattern_query = ck_arena_array(arena, patterns, sizeof(*program->pattern_query));
    find_captures(program);
    return !program->pattern_query ? ck_error_oom(error) : check_patterns(program, starts, error);
}

int ck_lint_program_get(const struct ck_lint_rules *rules, const struct ck_grammar *grammar,
                        const struct ck_lint_program **ret_program, struct choke_error *error)
{
    struct ck_lint_programs *programs = rules->programs;
    struct ck_lint_program *program = &programs->items[grammar->id];
    int r = 0;
    (void)pthread_mutex_lock(&programs->lock);
    if (!program->query) {
        /*
         * Assigned only when it is complete: a failure leaves query NULL, and the next call tries
         * again.
         */
        struct ck_lint_program fresh = {.ruleset = rules->by_grammar[grammar->id], .grammar = grammar};
        r = compile(&programs->arena, &fresh, error);
        if (r == 0)
            *program = fresh;
        else if (fresh.query)
            ts_query_delete(fresh.query);
    }
    (void)pthread_mutex_unlock(&programs->lock);
    if (r == 0)
        *ret_program = program;
    return r;
}
