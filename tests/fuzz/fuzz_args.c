/*
 * fuzz_args.c - any entry and any arguments, read by args.c and by a model that shares no code with
 * it.
 *
 * The input: a byte of switches; a byte that gives the types of operands; two lists of options for
 * the tool and for its subcommand, each as a count and that number of bytes, which pick from the
 * pool; then the arguments, one per line.
 *
 * The two must agree on what is allowed. For an allowed vector: the tool's vector is the caller's
 * with the injected arguments at their positions, reading it twice gives the same, and every path
 * that the model sees is listed for the plan.
 */
#include "promise.h"

#include "policy/args.h"
#include "policy/load.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PICKS 12
#define MAX_ARGUMENTS 48
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum kind { ANY, NUMBER, NAME, INSIDE, CHOICE };
enum form { FLAG, VALUE, OPTIONAL, TWO_WORDS, DIGITS };

struct option {
    const char *text;
    const char *name;
    enum form form;
    enum kind kind;
};

static const struct option pool[] = {
    {"--flag", "--flag", FLAG, ANY},
    {"--fl", "--fl", FLAG, ANY},
    {"--flag-more=", "--flag-more", VALUE, ANY},
    {"-f", "-f", FLAG, ANY},
    {"-g", "-g", FLAG, ANY},
    {"-1", "-1", FLAG, ANY},
    {"-v=", "-v", VALUE, ANY},
    {"--value=", "--value", VALUE, ANY},
    {"--num=<number>", "--num", VALUE, NUMBER},
    {"-n=<number>", "-n", VALUE, NUMBER},
    {"--name=<name>", "--name", VALUE, NAME},
    {"--in=<inside>", "--in", VALUE, INSIDE},
    {"-i=<inside>", "-i", VALUE, INSIDE},
    {"--pick=a|b|t=<number>", "--pick", VALUE, CHOICE},
    {"-p=a|b|t=<number>", "-p", VALUE, CHOICE},
    {"--opt[=]", "--opt", OPTIONAL, ANY},
    {"--optnum[=<number>]", "--optnum", OPTIONAL, NUMBER},
    {"-o[=<number>]", "-o", OPTIONAL, NUMBER},
    {"--pair <any> <number>", "--pair", TWO_WORDS, NUMBER},
    {"-w <any> <number>", "-w", TWO_WORDS, NUMBER},
    {"-<number>", "-", DIGITS, ANY},
};

enum { BUNDLES_OFF = 1, EARLY = 2, HAS_FIRST = 4, UNLESS = 8, SUBCOMMANDS = 16, COMMAND = 32 };

struct level {
    const struct option *options[MAX_PICKS];
    size_t count;
    int operands; /* a kind, or -1 for none */
    bool early;
    bool has_first;
    bool unless; /* -v makes the first operand like the others */
};

struct entry {
    struct level tool;
    struct level sub;
    bool bundles;
    bool subcommands;
    bool command;
};

struct input {
    const uint8_t *data;
    size_t size;
};

static uint8_t take_byte(struct input *input)
{
    if (input->size == 0)
        return 0;
    input->size--;
    return *input->data++;
}

/* ---- the entry --------------------------------------------------------------------------- */

static const struct option *find(const struct level *level, const char *name, size_t length)
{
    for (size_t i = 0; i < level->count; i++)
        if (strlen(level->options[i]->name) == length && memcmp(level->options[i]->name, name, length) == 0)
            return level->options[i];
    return NULL;
}

static void take_level(struct input *input, struct level *level)
{
    size_t count = take_byte(input) % (MAX_PICKS + 1);
    for (size_t i = 0; i < count; i++) {
        const struct option *option = &pool[take_byte(input) % COUNT(pool)];
        if (!find(level, option->name, strlen(option->name)))
            level->options[level->count++] = option;
    }
}

static void take_entry(struct input *input, struct entry *entry)
{
    static const int kinds[] = {-1, ANY, NUMBER, NAME, INSIDE};
    uint8_t switches = take_byte(input);
    uint8_t types = take_byte(input);
    take_level(input, &entry->tool);
    take_level(input, &entry->sub);
    entry->bundles = (switches & BUNDLES_OFF) == 0;
    entry->subcommands = (switches & SUBCOMMANDS) != 0;
    entry->command = (switches & COMMAND) != 0 && !entry->subcommands;
    struct level *level = entry->subcommands ? &entry->sub : &entry->tool;
    entry->tool.operands = -1;
    level->operands = entry->command ? -1 : kinds[types % COUNT(kinds)];
    level->early = (switches & EARLY) != 0 || entry->command;
    level->has_first = (switches & HAS_FIRST) != 0 && !entry->command;
    level->unless = level->has_first && (switches & UNLESS) != 0 && find(level, "-v", 2);
}

static void write_level(FILE *text, const struct level *level)
{
    static const char *const names[] = {"any", "number", "name", "inside"};
    (void)fputs("options: [", text);
    for (size_t i = 0; i < level->count; i++)
        (void)fprintf(text, "%s'%s'", i > 0 ? ", " : "", level->options[i]->text);
    (void)fputs("], deny: [--pre, -z]", text);
    if (level->operands >= 0)
        (void)fprintf(text, ", operands: %s", names[level->operands]);
    if (level->has_first)
        (void)fprintf(text, ", first: any%s", level->unless ? ", first_unless: [-v]" : "");
    if (level->early)
        (void)fputs(", order: options_first", text);
}

static struct ck_policy *make_policy(const struct entry *entry)
{
    static const char inner[] =
        "  - {name: inner, why: w, adr: '0001', route: direct, args: {options: [-q], operands: number}}\n";
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    require(stream);
    (void)fprintf(stream, "version: 1\nsearch_path: [/bin]\ntools:\n%s", inner);
    (void)fputs("  - {name: tool, why: w, adr: '0001', route: direct, args: {inject: [-c, x=y], ", stream);
    write_level(stream, &entry->tool);
    (void)fprintf(stream, "%s%s", entry->bundles ? "" : ", bundles: false",
                  entry->command ? ", command: after_options" : "");
    if (entry->subcommands) {
        (void)fputs(", subcommands: [{name: sub, inject: [--safe], ", stream);
        write_level(stream, &entry->sub);
        (void)fputs("}, {name: sub two}]", stream);
    }
    (void)fputs("}}\n", stream);
    require(fclose(stream) == 0);
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    if (ck_policy_parse("fuzz", text, length, &policy, &error) != 0) {
        (void)fprintf(stderr, "%s\n%s", error.message, text);
        abort();
    }
    free(text);
    return policy;
}

/* ---- the model --------------------------------------------------------------------------- */

struct model {
    const struct entry *entry;
    char **at; /* the next argument */
    size_t paths;
    bool saw_v;
};

static bool all_of(const char *text, const char *signs)
{
    return strspn(text, signs) == strlen(text);
}

static bool fits(struct model *model, enum kind kind, const char *text)
{
    static const char digits[] = "0123456789";
    static const char alpha[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char most[sizeof(alpha) + 16];
    switch (kind) {
    case ANY:
        return true;
    case NUMBER:
        return *text != '\0' && all_of(text, digits);
    case NAME:
        (void)snprintf(most, sizeof(most), "%s./:@+,%%-", alpha);
        return *text != '\0' && strchr(alpha, *text) && all_of(text, most) && !strstr(text, "..");
    case INSIDE:
        model->paths++;
        return *text != '\0' && !strstr(text, "://");
    case CHOICE:
        return strcmp(text, "a") == 0 || strcmp(text, "b") == 0 ||
               (strncmp(text, "t=", 2) == 0 && fits(model, NUMBER, text + 2));
    }
    return false;
}

/* The values of an option that was found; attached is NULL if it has no attached value. */
static bool take_values(struct model *model, const struct option *option, const char *attached, bool by_letter)
{
    if (strcmp(option->name, "-v") == 0)
        model->saw_v = true;
    if (option->form == FLAG || option->form == DIGITS)
        return !attached;
    if (option->form == TWO_WORDS) {
        if (attached || !model->at[0] || !model->at[1])
            return false;
        model->at += 2;
        return fits(model, NUMBER, model->at[-1]);
    }
    if (!attached && option->form == OPTIONAL)
        return true;
    if (!attached) {
        attached = *model->at++;
        return attached && (attached[0] != '-' || attached[1] == '\0') && fits(model, option->kind, attached);
    }
    return fits(model, option->kind, attached) &&
           (!by_letter || attached[0] != '=' || fits(model, option->kind, attached + 1));
}

static bool take_option(struct model *model, const struct level *level, const char *word)
{
    bool bundle = model->entry->bundles && word[1] != '-';
    if (find(level, "-", 1) && all_of(word + 1, "0123456789"))
        return true;
    if (!bundle) {
        size_t length = strcspn(word, "=");
        const struct option *option = length > 1 ? find(level, word, length) : NULL;
        return option && take_values(model, option, word[length] == '=' ? word + length + 1 : NULL, false);
    }
    for (word++; *word != '\0'; word++) {
        const char name[] = {'-', *word};
        const struct option *option = find(level, name, 2);
        if (!option)
            return false;
        if (option->form != FLAG)
            return take_values(model, option, word[1] != '\0' ? word + 1 : NULL, true);
        (void)take_values(model, option, NULL, true);
    }
    return true;
}

/* Options of the level up to the first argument that is not an option; that one is not consumed. */
static bool take_options(struct model *model, const struct level *level)
{
    while (*model->at && (*model->at)[0] == '-' && (*model->at)[1] != '\0' && strcmp(*model->at, "--") != 0) {
        const char *word = *model->at++;
        if (!take_option(model, level, word))
            return false;
    }
    return true;
}

static bool take_operands(struct model *model, const struct level *level)
{
    const char *held = NULL;
    bool ended = false;
    for (size_t count = 0;; count++) {
        if (!ended && !take_options(model, level))
            return false;
        if (!ended && *model->at && strcmp(*model->at, "--") == 0) {
            ended = true;
            model->at++;
        }
        if (!*model->at)
            break;
        const char *operand = *model->at++;
        ended = ended || level->early;
        if (count == 0 && level->has_first)
            held = operand;
        else if (level->operands < 0 || !fits(model, (enum kind)level->operands, operand))
            return false;
    }
    if (!held || !level->unless || !model->saw_v)
        return true;
    return level->operands >= 0 && fits(model, (enum kind)level->operands, held);
}

static bool take_inner(struct model *model)
{
    static const struct option q = {"-q", "-q", FLAG, ANY};
    static const struct entry inner = {.tool = {.options = {&q}, .count = 1, .operands = NUMBER}, .bundles = true};
    model->entry = &inner;
    return take_operands(model, &inner.tool);
}

static bool allows(struct model *model)
{
    const struct entry *entry = model->entry;
    if (!entry->subcommands && !entry->command)
        return take_operands(model, &entry->tool);
    if (!take_options(model, &entry->tool) || !*model->at)
        return false;
    if (entry->command) {
        if (strcmp(*model->at, "--") == 0 && !*++model->at)
            return false;
        const char *name = *model->at++;
        if (strcmp(name, "tool") == 0)
            return false; /* nested commands are left to the unit tests */
        return strcmp(name, "inner") == 0 && take_inner(model);
    }
    if (strcmp(*model->at, "sub") != 0)
        return false;
    model->at++;
    if (*model->at && strcmp(*model->at, "two") == 0)
        return !*++model->at || (strcmp(*model->at, "--") == 0 && !model->at[1]);
    model->saw_v = false;
    return take_operands(model, &entry->sub);
}

/* ---- the promises ------------------------------------------------------------------------ */

/* The caller's arguments in their order, with the injected ones at their positions between them. */
static void check_vector(const struct entry *entry, char **arguments, const struct ck_parsed_args *parsed)
{
    size_t out = 0;
    require(strcmp(parsed->argv[out++], "tool") == 0);
    require(strcmp(parsed->argv[out], "-c") == 0 && strcmp(parsed->argv[out + 1], "x=y") == 0);
    out += 2;
    bool seen = !entry->subcommands;
    for (size_t i = 0; arguments[i]; i++) {
        require(parsed->argv[out++] == arguments[i]);
        if (seen || !parsed->argv[out] || parsed->argv[out] == arguments[i + 1])
            continue;
        require(strcmp(parsed->argv[out++], "--safe") == 0 && strcmp(arguments[i], "sub") == 0);
        seen = true;
    }
    require(out == parsed->argc && !parsed->argv[out]);
}

static void check_refusal(const struct ck_parsed_args *parsed)
{
    require(strncmp(parsed->rule, "tools.", 6) == 0 && strstr(parsed->rule, ".args."));
    require(parsed->message[0] != '\0' && parsed->line > 0 && parsed->tool);
    for (const char *at = parsed->message; *at != '\0'; at++)
        require((unsigned char)*at >= 0x20 && *at != 0x7f);
}

static void check(const struct entry *entry, const struct ck_policy *policy, char **arguments)
{
    const char *argv[MAX_ARGUMENTS + 2] = {"tool"};
    for (size_t i = 0; arguments[i]; i++)
        argv[i + 1] = arguments[i];
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed, again;
    const struct ck_tool *tool = ck_policy_find(policy, "tool");
    require(ck_args_parse(policy, tool, argv, &arena, &parsed) == 0);
    require(ck_args_parse(policy, tool, argv, &arena, &again) == 0);
    require(parsed.refused == again.refused && parsed.argc == again.argc && parsed.paths_count == again.paths_count);
    struct model model = {.entry = entry, .at = arguments};
    bool itself = entry->command && parsed.nested_count > 0 && parsed.nested[0].tool == tool;
    bool allowed = allows(&model);
    require(itself || allowed == !parsed.refused);
    if (parsed.refused) {
        check_refusal(&parsed);
    } else if (!itself) {
        check_vector(entry, arguments, &parsed);
        require(parsed.paths_count == model.paths);
    }
    ck_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct entry entry = {0};
    take_entry(&input, &entry);
    char *text = calloc(input.size + 1, 1);
    require(text);
    if (input.size > 0)
        memcpy(text, input.data, input.size);
    char *arguments[MAX_ARGUMENTS + 1] = {0};
    size_t count = 0;
    for (char *line = input.size > 0 ? text : NULL, *next; line && count < MAX_ARGUMENTS; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        arguments[count++] = line;
    }
    struct ck_policy *policy = make_policy(&entry);
    check(&entry, policy, arguments);
    ck_policy_free(policy);
    free(text);
    return 0;
}
