/*
 * fuzz_tree.c - files of a tree that the linter reads, in any bytes: its configuration, its
 * .gitignore, its waivers.
 *
 * The first byte chooses which. No crash; an error has line and column; what is kept is whole; a
 * path that is left out stays left out when asked again.
 */
#include "promise.h"

#include "lint/config.h"
#include "lint/ignore.h"
#include "lint/waiver.h"

#include <errno.h>
#include <string.h>

static void fuzz_config(const char *text, size_t length)
{
    struct ck_lint_config config;
    struct choke_error error = {0};
    int r = ck_lint_config_parse("fuzz", text, length, &config, &error);
    require(r == 0 || r == -ENOMEM || (r == -EINVAL && error.line >= 1 && error.column >= 1));
    for (size_t i = 0; r == 0 && i < config.module_count; i++) {
        require(config.modules[i].path[0] != '/' && config.modules[i].place.line >= 1);
        require(!config.modules[i].adr || strlen(config.modules[i].adr) == 4);
        require(ck_lint_config_allows(&config, config.modules[i].path));
    }
    for (size_t i = 0; r == 0 && i < config.choice_count; i++)
        require(config.choices[i].rule);
    if (r == 0)
        (void)ck_ignore_matches_within(config.exclude, "a/b.py", false);
    ck_lint_config_done(&config);
}

/* The patterns end at a NUL; the path follows. */
static void fuzz_ignore(const char *text, size_t length)
{
    struct ck_arena arena = {0};
    const struct ck_ignore *ignore = NULL;
    size_t patterns = strnlen(text, length);
    const char *path = patterns < length ? text + patterns + 1 : "a/b";
    int r = ck_ignore_parse(&arena, NULL, 0, text, patterns, &ignore);
    require(r == 0 || r == -E2BIG || r == -ENOMEM);
    if (r == 0 && path[0] != '\0' && strlen(path) < 4096) {
        bool ignored = ck_ignore_matches(ignore, path, false);
        require(ignored == ck_ignore_matches(ignore, path, false));
        require(!ignored || ck_ignore_matches_within(ignore, path, false));
    }
    ck_arena_done(&arena);
}

static void fuzz_waiver(const char *text, size_t length)
{
    struct ck_waiver waiver;
    const struct ck_lint_comment comment = {.text = text, .length = (uint32_t)length};
    ck_waiver_parse(&comment, &waiver);
    require(waiver.rule_count <= CK_WAIVER_MAX_RULES);
    if (waiver.fault)
        return;
    require(strlen(waiver.adr) == 4 && waiver.rule_count > 0);
    for (unsigned i = 0; i < waiver.rule_count; i++)
        require(waiver.rules[i][0] != '\0' && ck_waiver_serves(&waiver, waiver.rules[i], &waiver.location));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size);
    require(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] == 'c')
        fuzz_config(text, size - 1);
    else if (data[0] == 'i')
        fuzz_ignore(text, size - 1);
    else
        fuzz_waiver(text, size - 1);
    free(text);
    return 0;
}
