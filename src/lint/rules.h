/*
 * rules.h - the rules: what the linter looks for. Rules are data, one YAML file per language in
 * lint/, embedded when the library is built.
 *
 *   grammars: [javascript, typescript, tsx]   # which grammars this file is for
 *   queries:                       # where to look: tree-sitter queries, each with a name
 *     - name: call
 *       query: (call_expression function: (_) @name arguments: (_) @arguments) @site
 *       grammars: [tsx]            # for these only; left out: for all of the file
 *   lookups: [getattr]             # words that find a thing by its name in a string, for languages
 *                                  # whose strings and comments the prefilter skips (Python); left
 *                                  # out: all words count
 *   rules:
 *     - id: js-child-process       # unique among all files; [a-z0-9-]
 *       group: process             # process: creates one (allowed in the modules of the
 *                                  # configuration); shell: uses a shell; code: executes text as
 *                                  # code; data: builds objects from data; unclear: cannot decide
 *       severity: error            # error, warning or note
 *       why: One sentence.         # shown with a finding
 *       instead: One sentence.     # what to call
 *       find: [call, new]          # the names of its queries
 *       names: [child_process.exec]   # @name must resolve to one of them. "?.popen" is the method
 *                                  # popen of something unknown; "sh.*" is any member of sh;
 *                                  # "*" is anything, known or not
 *       when:                      # conditions on @arguments; all must hold
 *         - {keyword: shell, position: 2, test: truthy}
 *       triggers: ["child_process exec"]   # for the prefilter: only a file with all words of one
 *                                  # trigger can have a finding of this rule. Words are separated
 *                                  # by spaces and have letters, digits and underscores; "a+b": b
 *                                  # right after a. "*": every file is parsed
 *
 * In a query @name is what is resolved, @arguments the list of arguments (optional), and @site what
 * the finding points at (left out: @name). If several rules match one site, the first in its file
 * is reported.
 *
 * A condition is about the argument of that keyword, or if there is none, the one at that position
 * (from 0; left out: none). The language defines what a keyword is: a keyword argument, a property
 * of an object literal, the argument of an option. Tests:
 *   truthy, falsy      it is certainly true; it is certainly false, or absent
 *   unsure             it may be present, and it is not known whether it is true
 *   present, absent    it is certainly there; it is certainly not
 *   constant, variable it is there and known; it is there, or may be, and is not known
 *   one-of, none-of    it is certainly one of `values`; it is absent or not certainly one. A
 *                      value is compared with what the argument resolves to as a name, and with its
 *                      text if it is a string
 *
 * A file that breaks these rules does not load, and the message has line and column. The tests load
 * every file.
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
    const char *id, *why, *instead; /* as in the file */
    enum ck_lint_group group;
    enum ck_lint_severity severity;
    struct ck_lint_strings find, names, triggers; /* as in the file */
    struct ck_lint_condition *when;               /* all must hold */
    uint32_t when_count;
    uint32_t queries; /* bit i: query i of its file */
    uint32_t order;   /* its place in its file */
};

struct ck_lint_query {
    struct ck_yaml_place place;
    const char *name, *text;
    struct ck_lint_strings grammars; /* count 0: for all grammars of the file */
};

/*
 * One rule file. Rule about[i] is about names[i]. Both are sorted by name, and by order among equal
 * names.
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

/* Does not change after loading, so threads may share it. */
struct ck_lint_rules {
    struct ck_arena arena;
    struct ck_lint_ruleset *rulesets[CK_GRAMMARS];
    uint32_t rulesets_count;
    const struct ck_lint_ruleset *by_grammar[CK_GRAMMARS]; /* NULL: no rules */
    struct ck_lint_programs *programs;                     /* compiled on demand, under a lock */
};

/* Loads the embedded files. */
int ck_lint_rules_load(struct ck_lint_rules **ret_rules, struct choke_error *error);

/* Loads one text that is not an embedded file; for tests. name is used in messages. */
int ck_lint_rules_parse(const char *name, const char *text, size_t length, struct ck_lint_rules **ret_rules,
                        struct choke_error *error);

void ck_lint_rules_free(struct ck_lint_rules *rules);

/* NULL if the id is unknown. */
const struct ck_lint_rule *ck_lint_rules_find(const struct ck_lint_rules *rules, const char *id);

/* Finds the rules about a name, in the order of their file. Returns how many. */
uint32_t ck_lint_rules_about(const struct ck_lint_program *program, const char *name,
                             const struct ck_lint_rule *const **ret_rules);

const char *ck_lint_severity_name(enum ck_lint_severity severity); /* "error" */
const char *ck_lint_group_name(enum ck_lint_group group);          /* "process" */

#endif
