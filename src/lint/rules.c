/*
 * rules.c - loads the rule files. See rules.h.
 *
 * A table of the keys (rules_schema.c) reads a rule file into structs. They are in the arena, with
 * what is derived from them: the index from names to rules, and the prefilter. The queries are
 * compiled later (program.c).
 */
#include "lint/rules.h"

#include "base/error.h"
#include "base/quote.h"
#include "lint/prefilter.h"
#include "lint/program.h"
#include "lint/rules_schema.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The files of lint/, embedded by tools/gen/embed.py. */
#define EMBEDDED(name) \
    extern const unsigned char ck_lint_##name##_text[]; \
    extern const size_t ck_lint_##name##_length
EMBEDDED(python);
EMBEDDED(javascript);
EMBEDDED(c);
EMBEDDED(bash);

#define ARENA_MAX_BYTES ((size_t)8 << 20) /* many times what the embedded files need */

/* The words are those of the rule files, so they are in the tables of rules_schema.c. */
const char *ck_lint_severity_name(enum ck_lint_severity severity)
{
    return ck_lint_rules_severities()[severity];
}

const char *ck_lint_group_name(enum ck_lint_group group)
{
    return ck_lint_rules_groups()[group];
}

/* ---- checks ------------------------------------------------------------------------------ */

static int fault(const char *file, const struct ck_lint_rule *rule, struct choke_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* An error at the place of a rule in its file. Returns a negative errno. */
static int fault(const char *file, const struct ck_lint_rule *rule, struct choke_error *error, const char *format, ...)
{
    /* Leaves room in the message for the file, the place and the id. */
    char reason[CHOKE_MESSAGE_MAX / 2];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    return ck_yaml_error(&ck_lint_rules_format, file, rule->place, error, "rule '%s': %s", CK_QUOTE(rule->id), reason);
}

/* Sets the bits of the queries that the rule names. */
static int find_queries(const char *file, const struct ck_lint_ruleset *ruleset, struct ck_lint_rule *rule,
                        struct choke_error *error)
{
    for (uint32_t i = 0; i < rule->find.count; i++) {
        uint32_t at = 0;
        while (at < ruleset->queries_count && strcmp(ruleset->queries[at].name, rule->find.items[i]) != 0)
            at++;
        if (at == ruleset->queries_count)
            return fault(file, rule, error, "there is no query '%s'", CK_QUOTE(rule->find.items[i]));
        rule->queries |= (uint32_t)1 << at;
    }
    return 0;
}

/* What the table of keys cannot express. */
static int check_condition(const char *file, const struct ck_lint_condition *condition, struct choke_error *error)
{
    bool compares = condition->test == CK_TEST_ONE_OF || condition->test == CK_TEST_NONE_OF;
    if (!condition->keyword && condition->position < 0)
        return ck_yaml_error(&ck_lint_rules_format, file, condition->place, error,
                             "a condition needs a keyword or a position");
    if (compares != (condition->values.count > 0))
        return ck_yaml_error(&ck_lint_rules_format, file, condition->place, error,
                             "'values' is for the tests one-of and none-of, and these need it");
    return 0;
}

/* Waivers and severities name a rule by its id, so the id must be unique. */
static int check_rule(const char *file, const struct ck_lint_ruleset *ruleset, struct ck_lint_rule *rule,
                      struct choke_error *error)
{
    for (uint32_t i = 0; i < ruleset->rules_count; i++)
        if (&ruleset->rules[i] != rule && strcmp(ruleset->rules[i].id, rule->id) == 0)
            return fault(file, rule, error, "two rules have this id");
    int r = find_queries(file, ruleset, rule, error);
    for (uint32_t i = 0; r == 0 && i < rule->when_count; i++)
        r = check_condition(file, &rule->when[i], error);
    return r;
}

/* Also numbers the rules: the order decides which of several is reported. */
static int check_ruleset(const char *file, struct ck_lint_ruleset *ruleset, struct choke_error *error)
{
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < ruleset->rules_count; i++) {
        ruleset->rules[i].order = i;
        r = check_rule(file, ruleset, &ruleset->rules[i], error);
    }
    return r;
}

/* ---- the index and the prefilter --------------------------------------------------------- */

/* An entry of the index while it is sorted. */
struct named_rule {
    const char *name;
    const struct ck_lint_rule *rule;
};

/* For qsort, which is not stable: the order in the file decides among equal names. */
static int compare_entries(const void *left, const void *right)
{
    const struct named_rule *a = left;
    const struct named_rule *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->rule->order > b->rule->order) - (a->rule->order < b->rule->order);
}

/* One entry for each name of each rule; NULL when memory ran out. The entries stay in the arena. */
static struct named_rule *collect_names(struct ck_arena *arena, struct ck_lint_ruleset *ruleset)
{
    for (uint32_t i = 0; i < ruleset->rules_count; i++)
        ruleset->names_count += ruleset->rules[i].names.count;
    struct named_rule *entries = ck_arena_array(arena, ruleset->names_count, sizeof(*entries));
    uint32_t at = 0;
    for (uint32_t i = 0; entries && i < ruleset->rules_count; i++)
        for (uint32_t name = 0; name < ruleset->rules[i].names.count; name++)
            entries[at++] = (struct named_rule){ruleset->rules[i].names.items[name], &ruleset->rules[i]};
    return entries;
}

/*
 * Sorts by name and then by order, so that ck_lint_rules_about gives the rules in the order of the
 * file.
 */
static int index_names(struct ck_arena *arena, struct ck_lint_ruleset *ruleset, struct choke_error *error)
{
    struct named_rule *entries = collect_names(arena, ruleset);
    ruleset->names = ck_arena_array(arena, ruleset->names_count, sizeof(*ruleset->names));
    ruleset->about = ck_arena_array(arena, ruleset->names_count, sizeof(*ruleset->about));
    if (!entries || !ruleset->names || !ruleset->about)
        return ck_error_oom(error);
    qsort(entries, ruleset->names_count, sizeof(*entries), compare_entries);
    for (uint32_t i = 0; i < ruleset->names_count; i++) {
        ruleset->names[i] = entries[i].name;
        ruleset->about[i] = entries[i].rule;
    }
    return 0;
}

/* Binary search for the first entry of the name; the others follow it. */
uint32_t ck_lint_rules_about(const struct ck_lint_program *program, const char *name,
                             const struct ck_lint_rule *const **ret_rules)
{
    const struct ck_lint_ruleset *ruleset = program->ruleset;
    uint32_t low = 0;
    for (uint32_t high = ruleset->names_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(ruleset->names[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t end = low;
    while (end < ruleset->names_count && strcmp(ruleset->names[end], name) == 0)
        end++;
    *ret_rules = &ruleset->about[low];
    return end - low;
}

/* Only Python has lookups, so they also select its way of reading strings and comments. */
static int make_prefilter(const char *file, struct ck_arena *arena, struct ck_lint_ruleset *ruleset,
                          struct choke_error *error)
{
    int r = ck_prefilter_new(arena, &ruleset->prefilter, error);
    if (r == 0 && ruleset->lookups.count > 0)
        r = ck_prefilter_read_python(ruleset->prefilter, arena, ruleset->lookups.items, ruleset->lookups.count, error);
    for (uint32_t i = 0; r == 0 && i < ruleset->rules_count; i++)
        for (uint32_t word = 0; r == 0 && word < ruleset->rules[i].triggers.count; word++) {
            /*
             * The prefilter does not know the rule, so its reason is put into a message that names
             * it.
             */
            struct choke_error reason = {0};
            r = ck_prefilter_add(ruleset->prefilter, arena, ruleset->rules[i].triggers.items[word], &reason);
            if (r < 0)
                return fault(file, &ruleset->rules[i], error, "%s", reason.message);
        }
    return r;
}

/* ---- grammars ---------------------------------------------------------------------------- */

/* A grammar has the rules of one file only. */
static int take_grammars(struct ck_lint_rules *rules, const struct ck_lint_ruleset *ruleset, struct choke_error *error)
{
    for (uint32_t i = 0; i < ruleset->grammars.count; i++) {
        const struct ck_grammar *grammar = ck_grammar_find(ruleset->grammars.items[i]);
        if (!grammar || rules->by_grammar[grammar->id])
            return ck_error_set(error, CHOKE_INVALID, EINVAL,
                                "rules '%s': unknown grammar '%s', or it has rules already", CK_QUOTE(ruleset->file),
                                CK_QUOTE(ruleset->grammars.items[i]));
        rules->by_grammar[grammar->id] = ruleset;
    }
    return 0;
}

/* ---- files ------------------------------------------------------------------------------- */

/*
 * Reads one rule file, checks it, and derives the index and the prefilter. On failure the caller
 * frees all rules, also what this file has added.
 */
static int add_file(struct ck_lint_rules *rules, const char *file, const char *text, size_t length,
                    struct choke_error *error)
{
    const struct ck_yaml_source source = {file, text, length};
    struct ck_lint_ruleset *ruleset = ck_arena_alloc(&rules->arena, sizeof(*ruleset));
    if (!ruleset)
        return ck_error_oom(error);
    /* rulesets has room for one file for each grammar, and a grammar has one file only. */
    if (rules->rulesets_count == CK_GRAMMARS)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "rules '%s': there are more files than grammars",
                            CK_QUOTE(file));
    int r = ck_yaml_read(&ck_lint_rules_format, &source, &rules->arena, ruleset, error);
    if (r < 0)
        return r;
    /* Added before the checks: nothing removes it, since a failure frees all. */
    rules->rulesets[rules->rulesets_count++] = ruleset;
    ruleset->file = file;
    for (uint32_t i = 0; i < ruleset->rules_count; i++)
        for (uint32_t other = 0; other + 1 < rules->rulesets_count; other++)
            for (uint32_t at = 0; at < rules->rulesets[other]->rules_count; at++)
                if (strcmp(rules->rulesets[other]->rules[at].id, ruleset->rules[i].id) == 0)
                    return fault(file, &ruleset->rules[i], error, "another file has a rule with this id");
    r = check_ruleset(file, ruleset, error);
    if (r == 0)
        r = index_names(&rules->arena, ruleset, error);
    if (r == 0)
        r = make_prefilter(file, &rules->arena, ruleset, error);
    return r < 0 ? r : take_grammars(rules, ruleset, error);
}

/* NULL when memory ran out. */
static struct ck_lint_rules *new_rules(void)
{
    struct ck_lint_rules *rules = calloc(1, sizeof(*rules));
    if (!rules)
        return NULL;
    rules->arena.max_bytes = ARENA_MAX_BYTES;
    rules->programs = ck_lint_programs_new();
    if (!rules->programs) {
        free(rules);
        return NULL;
    }
    return rules;
}

int ck_lint_rules_parse(const char *name, const char *text, size_t length, struct ck_lint_rules **ret_rules,
                        struct choke_error *error)
{
    struct ck_lint_rules *rules = new_rules();
    if (!rules)
        return ck_error_oom(error);
    int r = add_file(rules, name, text, length, error);
    if (r < 0)
        ck_lint_rules_free(rules);
    else
        *ret_rules = rules;
    return r;
}

int ck_lint_rules_load(struct ck_lint_rules **ret_rules, struct choke_error *error)
{
    const struct {
        const char *name;
        const unsigned char *text;
        size_t length;
    } files[] = {
        {"lint/python.yaml", ck_lint_python_text, ck_lint_python_length},
        {"lint/javascript.yaml", ck_lint_javascript_text, ck_lint_javascript_length},
        {"lint/c.yaml", ck_lint_c_text, ck_lint_c_length},
        {"lint/bash.yaml", ck_lint_bash_text, ck_lint_bash_length},
    };
    struct ck_lint_rules *rules = new_rules();
    if (!rules)
        return ck_error_oom(error);
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(files) / sizeof(files[0]); i++)
        r = add_file(rules, files[i].name, (const char *)files[i].text, files[i].length, error);
    if (r < 0)
        ck_lint_rules_free(rules);
    else
        *ret_rules = rules;
    return r;
}

void ck_lint_rules_free(struct ck_lint_rules *rules)
{
    if (!rules)
        return;
    /* First: the programs point into the arena. */
    ck_lint_programs_free(rules->programs);
    ck_arena_done(&rules->arena);
    free(rules);
}

const struct ck_lint_rule *ck_lint_rules_find(const struct ck_lint_rules *rules, const char *id)
{
    for (uint32_t i = 0; i < rules->rulesets_count; i++)
        for (uint32_t at = 0; at < rules->rulesets[i]->rules_count; at++)
            if (strcmp(rules->rulesets[i]->rules[at].id, id) == 0)
                return &rules->rulesets[i]->rules[at];
    return NULL;
}
