/*
 * helper-tables.c - helper-tables FILE > tables.c: writes policy/helpers.yaml as C tables.
 *
 * It runs when the library is built, so a mistake in the file is a build error with its place.
 */
#include "base/error.h"
#include "base/path.h"
#include "base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES 65536
#define SETS_MAX 32
#define NAME_MAX_BYTES 24 /* policy/helper_sets.c compares no longer names */

struct set {
    struct ck_yaml_place place;
    const char *name;
    const char *why;
    const char *const *names;
    const char *const *files;
    const char *const *directories;
};

struct sets {
    struct set *items;
    uint32_t count;
};

/* As in `execs`, but for "[", which is a program's name, too. */
static bool is_name(const char *text)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    return strcmp(text, "[") == 0 ||
           (text[0] != '\0' && !strchr("._+-", text[0]) && strspn(text, alphabet) == strlen(text));
}

/* A pattern does not cross a component, and a path does not go up. */
static bool is_path(const char *text)
{
    return text[0] == '/' && text[1] != '\0' && !strstr(text, "//") && !strstr(text, "/.") && !strpbrk(text, "?[\\") &&
           text[strlen(text) - 1] != '/';
}

static const struct ck_yaml_key set_keys[] = {
    {"name", CK_YAML_TEXT, .required = true, .offset = offsetof(struct set, name), .max = NAME_MAX_BYTES},
    {"why", CK_YAML_TEXT, .required = true, .offset = offsetof(struct set, why)},
    {"names", CK_YAML_TEXTS, .offset = offsetof(struct set, names)},
    {"files", CK_YAML_TEXTS, .offset = offsetof(struct set, files)},
    {"directories", CK_YAML_TEXTS, .offset = offsetof(struct set, directories)},
    {.name = NULL},
};

static const struct ck_yaml_key keys[] = {
    {"sets", CK_YAML_RECORDS, .required = true, .not_empty = true, .offset = offsetof(struct sets, items),
     .count_offset = offsetof(struct sets, count), .max_entries = SETS_MAX, .keys = set_keys,
     .size = sizeof(struct set)},
    {.name = NULL},
};

static const struct ck_yaml_format format = {
    .what = "helpers", .keys = keys, .max_bytes = FILE_MAX_BYTES, .text_max = 256};

static int check_texts(const char *file, const struct set *set, const char *const *texts, bool (*accepts)(const char *),
                       struct choke_error *error)
{
    for (size_t i = 0; texts[i]; i++) {
        if (!accepts(texts[i]))
            return ck_yaml_error(&format, file, set->place, error, "'%s' in set '%s' is not valid", texts[i],
                                 set->name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(texts[i], texts[k]) == 0)
                return ck_yaml_error(&format, file, set->place, error, "'%s' is twice in set '%s'", texts[i],
                                     set->name);
    }
    return 0;
}

static int check(const char *file, const struct sets *sets, struct choke_error *error)
{
    for (uint32_t i = 0; i < sets->count; i++) {
        const struct set *set = &sets->items[i];
        int r = check_texts(file, set, set->names, is_name, error);
        if (r == 0)
            r = check_texts(file, set, set->files, is_path, error);
        if (r == 0)
            r = check_texts(file, set, set->directories, is_path, error);
        if (r == 0 && !set->names[0] && !set->files[0] && !set->directories[0])
            r = ck_yaml_error(&format, file, set->place, error, "set '%s' is empty", set->name);
        for (uint32_t k = 0; r == 0 && k < i; k++)
            if (strcmp(set->name, sets->items[k].name) == 0)
                r = ck_yaml_error(&format, file, set->place, error, "set '%s' is there twice", set->name);
        if (r < 0)
            return r;
    }
    return 0;
}

/* The file has no quote, backslash or control character in its texts, but '"' might come. */
static void put_text(const char *text, const char *end)
{
    (void)putchar('"');
    for (; *text != '\0'; text++)
        (void)printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    (void)printf("%s\", ", end);
}

static uint32_t put_texts(const char *const *texts, const char *end)
{
    uint32_t count = 0;
    for (; texts[count]; count++)
        put_text(texts[count], end);
    return count;
}

static void write_tables(const struct sets *sets)
{
    uint32_t counts[SETS_MAX];
    (void)printf("/* Generated at build time by tools/gen/helper-tables.c. */\n#include \"policy/helper_sets.h\"\n");
    for (uint32_t i = 0; i < sets->count; i++) {
        (void)printf("static const char *a%u[] = {", i);
        counts[i] = put_texts(sets->items[i].names, "") + put_texts(sets->items[i].files, "") +
                    put_texts(sets->items[i].directories, "/");
        (void)printf("NULL};\n");
    }
    (void)printf("const struct ck_helper_set ck_helper_sets[] = {\n");
    for (uint32_t i = 0; i < sets->count; i++) {
        (void)printf("{");
        put_text(sets->items[i].name, "");
        put_text(sets->items[i].why, "");
        (void)printf("{a%u, %u}},\n", i, counts[i]);
    }
    (void)printf("};\nconst uint32_t ck_helper_sets_count = %u;\n", sets->count);
}

int main(int argc, char **argv)
{
    static char text[FILE_MAX_BYTES + 1];
    struct ck_arena arena = {0};
    struct sets sets = {0};
    struct choke_error error = {0};
    FILE *in = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!in) {
        (void)fprintf(stderr, "usage: helper-tables FILE\n");
        return 1;
    }
    const struct ck_yaml_source source = {.file = argv[1], .text = text, .length = fread(text, 1, sizeof(text), in)};
    (void)fclose(in);
    int r = ck_yaml_read(&format, &source, &arena, &sets, &error);
    if (r == 0)
        r = check(argv[1], &sets, &error);
    if (r == 0)
        write_tables(&sets);
    else
        (void)fprintf(stderr, "%s\n", error.message);
    ck_arena_done(&arena);
    return r == 0 && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
