/*
 * risk-tables.c - risk-tables FILE > tables.c: writes policy/risks.yaml as C tables.
 *
 * It runs when the library is built, so a mistake in the file is a build error with its place.
 */
#include "base/error.h"
#include "base/yaml.h"

#include <stdio.h>
#include <string.h>

#define FILE_MAX_BYTES 65536

struct risk {
    struct ck_yaml_place place;
    const char *const *tools;
    const char *const *subcommands;
    const char *const *options;
    const char *const *guards;
    int effect;
    int unless;
    const char *instead;
};

struct risks {
    struct risk *items;
    uint32_t count;
};

/* In the order of policy/risk.h. */
static const char *const effects[] = {"runs", "writes", "opens", NULL};
static const char *const exceptions[] = {"nothing", "command", "workspace_code", NULL};

static const struct ck_yaml_key risk_keys[] = {
    {"tools", CK_YAML_TEXTS, .required = true, .not_empty = true, .offset = offsetof(struct risk, tools)},
    {"subcommands", CK_YAML_TEXTS, .offset = offsetof(struct risk, subcommands)},
    {"options", CK_YAML_TEXTS, .offset = offsetof(struct risk, options)},
    {"guards", CK_YAML_TEXTS, .offset = offsetof(struct risk, guards)},
    {"effect", CK_YAML_CHOICE, .required = true, .offset = offsetof(struct risk, effect), .choices = effects},
    {"unless", CK_YAML_CHOICE, .offset = offsetof(struct risk, unless), .choices = exceptions},
    {"instead", CK_YAML_TEXT, .required = true, .offset = offsetof(struct risk, instead)},
    {.name = NULL},
};

static const struct ck_yaml_key keys[] = {
    {"risks", CK_YAML_RECORDS, .required = true, .not_empty = true, .offset = offsetof(struct risks, items),
     .count_offset = offsetof(struct risks, count), .keys = risk_keys, .size = sizeof(struct risk)},
    {.name = NULL},
};

static const struct ck_yaml_format format = {
    .what = "risks", .keys = keys, .max_bytes = FILE_MAX_BYTES, .text_max = 256};

static int check(const char *file, const struct risks *risks, struct choke_error *error)
{
    for (uint32_t i = 0; i < risks->count; i++)
        for (size_t k = 0; risks->items[i].options[k]; k++)
            if (risks->items[i].options[k][0] != '-')
                return ck_yaml_error(&format, file, risks->items[i].place, error, "'%s' is not an option",
                                     risks->items[i].options[k]);
    return 0;
}

static void put_text(const char *text)
{
    (void)putchar('"');
    for (; *text != '\0'; text++)
        (void)printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    (void)printf("\", ");
}

static void put_texts(const char *const *texts)
{
    (void)printf("(const char *const[]){");
    for (; *texts; texts++)
        put_text(*texts);
    (void)printf("NULL}, ");
}

static void write_tables(const struct risks *risks)
{
    (void)printf("/* Generated at build time by tools/gen/risk-tables.c. */\n#include \"policy/risk.h\"\n");
    (void)printf("const struct ck_risk ck_risks[] = {\n");
    for (uint32_t i = 0; i < risks->count; i++) {
        const struct risk *risk = &risks->items[i];
        (void)printf("{");
        put_texts(risk->tools);
        put_texts(risk->subcommands);
        put_texts(risk->options);
        put_texts(risk->guards);
        (void)printf("%d, %d, ", risk->effect, risk->unless);
        put_text(risk->instead);
        (void)printf("},\n");
    }
    (void)printf("};\nconst uint32_t ck_risks_count = %u;\n", risks->count);
}

int main(int argc, char **argv)
{
    static char text[FILE_MAX_BYTES + 1];
    struct ck_arena arena = {0};
    struct risks risks = {0};
    struct choke_error error = {0};
    FILE *in = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!in) {
        (void)fprintf(stderr, "usage: risk-tables FILE\n");
        return 1;
    }
    const struct ck_yaml_source source = {.file = argv[1], .text = text, .length = fread(text, 1, sizeof(text), in)};
    (void)fclose(in);
    int r = ck_yaml_read(&format, &source, &arena, &risks, &error);
    if (r == 0)
        r = check(argv[1], &risks, &error);
    if (r == 0)
        write_tables(&risks);
    else
        (void)fprintf(stderr, "%s\n", error.message);
    ck_arena_done(&arena);
    return r == 0 && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
