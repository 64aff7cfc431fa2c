/*
 * config.h - the configuration of a tree, .chokepoint-lint.yaml.
 *
 *   version: 1
 *   adr_dir: docs/adr              # the decision records; relative to this file
 *   chokepoints:                   # modules that may create processes; all other rules apply there
 *     - path: src/run/create.c     # from the top; with a slash at the end, a directory
 *       adr: "0003"                # or why: one sentence
 *   exclude:                       # what is not scanned; a pattern of .gitignore, from the top
 *     - path: tests/lint/
 *       why: The snippets contain findings on purpose.
 *   severities:
 *     python-shell-unsure: note       # error, warning, note or off
 *
 * Unknown keys, keys that are given twice and values of a wrong type are errors, with line and
 * column.
 */
#ifndef CK_LINT_CONFIG_H
#define CK_LINT_CONFIG_H

#include "chokepoint.h"

#include "base/arena.h"
#include "base/yaml.h"
#include "lint/ignore.h"

#include <stdbool.h>
#include <stddef.h>

#define CK_LINT_CONFIG_NAME ".chokepoint-lint.yaml"
#define CK_LINT_CONFIG_MAX_BYTES ((size_t)256 << 10)

/* A file or directory that may create processes. */
struct ck_lint_module {
    struct ck_yaml_place place; /* for messages */
    const char *path;
    const char *adr; /* four digits, or NULL */
    const char *why; /* NULL only where there is an adr */
};

/* The severity that the tree chose for a rule. */
struct ck_lint_choice {
    struct ck_yaml_place place;
    const char *rule;
    enum choke_severity severity; /* 0: off */
};

/* Zero-filled: the configuration of a tree without a file. */
struct ck_lint_config {
    struct ck_arena arena;
    const char *file; /* for messages; NULL where there is none */
    const char *adr_dir;
    const struct ck_ignore *exclude;
    struct ck_lint_module *modules;
    size_t module_count;
    struct ck_lint_choice *choices;
    size_t choice_count;
};

/* Call ck_lint_config_done in any case. An empty text is a valid configuration. */
int ck_lint_config_parse(const char *file, const char *text, size_t length, struct ck_lint_config *ret_config,
                         struct choke_error *error);
void ck_lint_config_done(struct ck_lint_config *config);

/* For ck_yaml_error, with a place in the file. */
extern const struct ck_yaml_format ck_lint_config_format;

/* May the file at this path, from the top, create processes? */
bool ck_lint_config_allows(const struct ck_lint_config *config, const char *path);

/* The severity of a rule after the configuration is applied; 0 where it is off. */
enum choke_severity ck_lint_config_severity(const struct ck_lint_config *config, const char *rule,
                                            enum choke_severity severity);

#endif
