/*
 * config.c - reads the configuration of a tree. See config.h.
 *
 * The keys are tables for base/yaml.h. What a table cannot express is checked after reading.
 */
#include "lint/config.h"

#include "base/error.h"
#include "base/quote.h"

#include <string.h>

#define ADR_DIGITS 4  /* as in the file names: 0003-title.md */
#define TEXT_MAX 1024 /* bytes of one text in the file */

/* An entry of 'exclude'. why is required, so that each exclusion has a reason; nothing reads it. */
struct exclusion {
    struct ck_yaml_place place;
    const char *path, *why;
};

/*
 * What is in the file, filled by the tables of keys below. Its lists are in the arena of the
 * configuration, so they are passed on without a copy.
 */
struct config_file {
    int version; /* the index in versions */
    const char *adr_dir;
    struct ck_lint_module *modules;
    struct exclusion *exclude;
    struct ck_lint_choice *choices;
    uint32_t module_count, exclude_count, choice_count;
};

/* ---- forms ------------------------------------------------------------------------------- */

/* "3" is refused: the number must be the one in the file name. */
static bool is_record_number(const char *text)
{
    return strspn(text, "0123456789") == ADR_DIGITS && text[ADR_DIGITS] == '\0';
}

/* A relative path without "." and "..": it cannot leave the top, and each file has one spelling. */
static bool is_path_from_top(const char *text)
{
    bool good = text[0] != '/';
    for (const char *part = text; good && *part;) {
        size_t length = strcspn(part, "/");
        good = !(length == 1 && part[0] == '.') && !(length == 2 && part[0] == '.' && part[1] == '.');
        part += length + (part[length] == '/');
    }
    return good;
}

/* The texts go into messages: "it must be ...". */
static const struct ck_yaml_form number_form = {is_record_number, "the number of a record, as in \"0003\""};
static const struct ck_yaml_form path_form = {is_path_from_top,
                                              "a path from the top of the tree, without '.' and '..'"};

/* ---- keys -------------------------------------------------------------------------------- */

#define AT(type, member) .offset = offsetof(struct type, member)

static const char *const versions[] = {"1", NULL}; /* a word, so that "1" in quotes is valid too */
/* The index is the value that is stored. CHOKE_SEVERITY_NOTE is 1, so 0 is free for "off". */
static const char *const severities[] = {[0] = "off",
                                         [CHOKE_SEVERITY_NOTE] = "note",
                                         [CHOKE_SEVERITY_WARNING] = "warning",
                                         [CHOKE_SEVERITY_ERROR] = "error",
                                         NULL};

static const struct ck_yaml_key module_keys[] = {
    {"path", CK_YAML_TEXT, .required = true, AT(ck_lint_module, path), .form = &path_form},
    {"adr", CK_YAML_TEXT, AT(ck_lint_module, adr), .form = &number_form},
    {"why", CK_YAML_TEXT, AT(ck_lint_module, why)},
    {.name = NULL},
};

static const struct ck_yaml_key exclusion_keys[] = {
    /* A pattern, not a path: take_exclude checks it. */
    {"path", CK_YAML_TEXT, .required = true, AT(exclusion, path)},
    {"why", CK_YAML_TEXT, .required = true, AT(exclusion, why)},
    {.name = NULL},
};

/* For CK_YAML_PAIRS: the first takes the key, the second the value. Such a table needs no end. */
static const struct ck_yaml_key choice_keys[] = {
    {"rule", CK_YAML_TEXT, AT(ck_lint_choice, rule)},
    {"severity", CK_YAML_CHOICE, AT(ck_lint_choice, severity), .choices = severities},
};

static const struct ck_yaml_key file_keys[] = {
    {"version", CK_YAML_CHOICE, .required = true, AT(config_file, version), .choices = versions},
    /* No form: the records may be outside of the tree. */
    {"adr_dir", CK_YAML_TEXT, AT(config_file, adr_dir)},
    {"chokepoints", CK_YAML_RECORDS, AT(config_file, modules),
     .count_offset = offsetof(struct config_file, module_count), .keys = module_keys,
     .size = sizeof(struct ck_lint_module)},
    {"exclude", CK_YAML_RECORDS, AT(config_file, exclude), .count_offset = offsetof(struct config_file, exclude_count),
     .keys = exclusion_keys, .size = sizeof(struct exclusion)},
    {"severities", CK_YAML_PAIRS, AT(config_file, choices), .count_offset = offsetof(struct config_file, choice_count),
     .keys = choice_keys, .size = sizeof(struct ck_lint_choice)},
    {.name = NULL},
};

const struct ck_yaml_format ck_lint_config_format = {.what = "configuration",
                                                     .keys = file_keys,
                                                     .max_bytes = CK_LINT_CONFIG_MAX_BYTES,
                                                     .text_max = TEXT_MAX,
                                                     .may_be_empty = true};

/* ---- reading ----------------------------------------------------------------------------- */

/* A module that may create processes needs a reason: a decision record or a sentence. */
static int take_modules(struct ck_lint_config *config, const struct config_file *file, struct choke_error *error)
{
    for (uint32_t i = 0; i < file->module_count; i++)
        if (!file->modules[i].adr && !file->modules[i].why)
            return ck_yaml_error(&ck_lint_config_format, config->file, file->modules[i].place, error,
                                 "say 'adr' or 'why' this module may create processes");
    config->modules = file->modules;
    config->module_count = file->module_count;
    return 0;
}

/* Makes one list of patterns, as if they were a .gitignore at the top (base_length 0). */
static int take_exclude(struct ck_lint_config *config, const struct config_file *file, struct choke_error *error)
{
    struct ck_ignore *exclude = ck_arena_alloc(&config->arena, sizeof(*exclude));
    if (exclude)
        exclude->patterns = ck_arena_array(&config->arena, file->exclude_count, sizeof(*exclude->patterns));
    if (!exclude || !exclude->patterns)
        return ck_error_oom(error);
    for (uint32_t i = 0; i < file->exclude_count; i++) {
        const struct exclusion *entry = &file->exclude[i];
        struct ck_ignore_pattern *pattern = &exclude->patterns[i];
        if (!ck_ignore_pattern(&config->arena, entry->path, strlen(entry->path), pattern))
            return ck_yaml_error(&ck_lint_config_format, config->file, entry->place, error,
                                 "'%s' is not a pattern of .gitignore", CK_QUOTE(entry->path));
        /* ck_ignore_pattern returns true without a text when memory ran out. */
        if (!pattern->text)
            return ck_error_oom(error);
    }
    exclude->count = file->exclude_count;
    config->exclude = exclude;
    return 0;
}

int ck_lint_config_parse(const char *file, const char *text, size_t length, struct ck_lint_config *ret_config,
                         struct choke_error *error)
{
    const struct ck_yaml_source source = {file, text, length};
    struct config_file filled = {0};
    *ret_config = (struct ck_lint_config){0};
    /* Messages about the configuration may come later, when the caller's string is gone. */
    ret_config->file = ck_arena_strdup(&ret_config->arena, file);
    if (!ret_config->file)
        return ck_error_oom(error);
    int r = ck_yaml_read(&ck_lint_config_format, &source, &ret_config->arena, &filled, error);
    if (r == 0)
        r = take_modules(ret_config, &filled, error);
    if (r == 0 && filled.exclude)
        r = take_exclude(ret_config, &filled, error);
    ret_config->adr_dir = filled.adr_dir;
    ret_config->choices = filled.choices;
    ret_config->choice_count = filled.choice_count;
    return r;
}

void ck_lint_config_done(struct ck_lint_config *config)
{
    ck_arena_done(&config->arena);
    *config = (struct ck_lint_config){0};
}

/* ---- what it says ------------------------------------------------------------------------ */

bool ck_lint_config_allows(const struct ck_lint_config *config, const char *path)
{
    for (size_t i = 0; i < config->module_count; i++) {
        const char *module = config->modules[i].path;
        size_t length = strlen(module);
        /*
         * base/yaml.h refuses an empty text, so there is a last byte. Without the slash "src/run"
         * would also allow "src/runner.c".
         */
        bool beneath = module[length - 1] == '/' && strncmp(module, path, length) == 0;
        if (beneath || strcmp(module, path) == 0)
            return true;
    }
    return false;
}

enum choke_severity ck_lint_config_severity(const struct ck_lint_config *config, const char *rule,
                                            enum choke_severity severity)
{
    for (size_t i = 0; i < config->choice_count; i++)
        if (strcmp(config->choices[i].rule, rule) == 0)
            return config->choices[i].severity;
    return severity;
}
