/*
 * rules.h - what is looked for. Rules are data: one YAML file per language in lint/, embedded when the library is
 * built.
 *
 *   grammars: [javascript, typescript, tsx]   # which grammars this file is for
 *   queries:                       # where to look: tree-sitter queries, each with a name
 *     - name: call
 *       query: (call_expression function: (_) @name arguments: (_) @arguments) @site
 *       grammars: [tsx]            # where it holds; left out: in all of the file's
 *   lookups: [getattr]             # words that find a thing by its name in a string, for a language whose strings and
 *                                  # comments the prefilter passes over (Python); left out: all words count
 *   rules:
 *     - id: js-child-process       # unique among all files; [a-z0-9-]
 *       group: process             # process: creates one (allowed in the named modules); shell: through a shell;
 *                                  # code: executes text as code; data: builds objects from data; unclear: cannot tell
 *       severity: error            # error, warning or note
 *       why: One sentence.         # shown with a finding
 *       instead: One sentence.     # what to call
 *       find: [call, new]          # the names of the queries it is about
 *       names: [child_process.exec]   # what @name must resolve to, any of them. "?.popen" is the method popen of
 *                                  # something unknown; "*" is anything, known or not
 *       when:                      # conditions on @arguments; all must hold
 *         - {keyword: shell, position: 2, test: truthy}
 *       triggers: ["child_process exec"]   # for the prefilter: a file without all the words of one of these cannot
 *                                  # hold a finding of this rule. Words are separated by spaces, and are whole words of
 *                                  # letters, digits and underscores; "a+b": b right after a. "*": every file is parsed
 *
 * In a query @name is what is resolved, @arguments the list of arguments (optional), @site what the finding points at
 * (@name where it is left out). Of several rules that match one site, the first in its file is reported.
 *
 * A condition is about the argument of that keyword, else the one at that position (from 0; left out: none). What a
 * keyword is depends on the language: a keyword argument, a property of an object literal, an option's argument.
 * Tests:
 *   truthy, falsy      it is surely true; it is surely false, or absent
 *   unsure             it may be present, and whether it is true cannot be told
 *   present, absent    it is surely there; it is surely not
 *   constant, variable it is there and known; it is there, or may be, and is not known
 *   one-of, none-of    it is surely one of `values`; it is absent or not surely one of them. A value is compared with
 *                      what the argument resolves to as a name, and with its text where it is a string
 *
 * A file that does not keep to this does not load, and the message has the line and column. The tests load every file.
 */
#ifndef CK_LINT_RULES_H
#define CK_LINT_RULES_H

#include "chokepoint.h"

#include "base/arena.h"
#include "base/yaml.h"
#include "lint/grammar.h"

#include <stdbool.h>
#include <stdint.h>

struct ck_prefilter;

enum ck_lint_severity { CK_LINT_NOTE, CK_LINT_WARNING, CK_LINT_ERROR };

enum ck_lint_group {
    CK_LINT_PROCESS,
    CK_LINT_SHELL,
    CK_LINT_CODE,
    CK_LINT_DATA,
    CK_LINT_UNCLEAR,
};

enum ck_lint_test {
    CK_TEST_TRUTHY,
    CK_TEST_FALSY,
    CK_TEST_UNSURE,
    CK_TEST_PRESENT,
    CK_TEST_ABSENT,
    CK_TEST_CONSTANT,
    CK_TEST_VARIABLE,
    CK_TEST_ONE_OF,
    CK_TEST_NONE_OF,
};

struct ck_lint_strings {
    const char *const *items; /* NULL-terminated */
    uint32_t count;
};

struct ck_lint_condition {
    struct ck_yaml_place place;
    const char *keyword; /* NULL: by position only */
    int position;        /* -1: by keyword only */
    enum ck_lint_test test;
    struct ck_lint_strings values;
};

struct ck_lint_rule {
    struct ck_yaml_place place;
    const char *id, *why, *instead;
    enum ck_lint_group group;
    enum ck_lint_severity severity;
    struct ck_lint_strings find, names, triggers;
    struct ck_lint_condition *when;
    uint32_t when_count;
    uint32_t queries; /* bit i: query i of its file */
    uint32_t order;   /* its place in its file */
};

struct ck_lint_query {
    struct ck_yaml_place place;
    const char *name, *text;
    struct ck_lint_strings grammars;
};

/*
 * One file of rules. names and about go together: rule about[i] is about names[i]; sorted, and by order among equals.
 */
struct ck_lint_ruleset {
    const char *file; /* for messages; not copied */
    struct ck_lint_strings grammars, lookups;
    struct ck_lint_query *queries;
    uint32_t queries_count;
    struct ck_lint_rule *rules;
    uint32_t rules_count;
    const char **names;
    const struct ck_lint_rule **about;
    uint32_t names_count;
    struct ck_prefilter *prefilter; /* prefilter.h */
};

struct ck_lint_program; /* program.h */
struct ck_lint_programs;

/* Immutable once it is loaded: threads may share it. */
struct ck_lint_rules {
    struct ck_arena arena;
    struct ck_lint_ruleset *rulesets[CK_GRAMMARS];
    uint32_t rulesets_count;
    const struct ck_lint_ruleset *by_grammar[CK_GRAMMARS]; /* NULL: no rules */
    struct ck_lint_programs *programs;                     /* compiled when they are wanted; they have a lock */
};

/* The embedded files. */
int ck_lint_rules_load(struct ck_lint_rules **ret_rules, struct choke_error *error);

/* From a text that is no file of ours; for tests. name is used in messages. */
int ck_lint_rules_parse(const char *name, const char *text, size_t length, struct ck_lint_rules **ret_rules,
                        struct choke_error *error);

void ck_lint_rules_free(struct ck_lint_rules *rules);

/* NULL where there is none of that id. */
const struct ck_lint_rule *ck_lint_rules_find(const struct ck_lint_rules *rules, const char *id);

/* The rules about a name, in the order of their file; 0 where there are none. */
uint32_t ck_lint_rules_about(const struct ck_lint_program *program, const char *name,
                             const struct ck_lint_rule *const **ret_rules);

const char *ck_lint_severity_name(enum ck_lint_severity severity); /* "error" */
const char *ck_lint_group_name(enum ck_lint_group group);          /* "process" */

#endif
