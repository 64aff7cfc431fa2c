/*
 * filter_sandbox.c - the environment filter of a sandbox, asked many times: filter_sandbox
 * rule|make
 *
 * A list is its length in decimal and then its strings, each ended by a NUL. Answers have the same
 * form.
 * rule: a list of patterns and a list of names; the answer is a list of passes, secret or unlisted.
 * make: the variables of the host and the extras of the caller; the answer is the outcome (0 if it
 * was made), its message, and the whole environment of a tool that sets nothing.
 */
#include "policy/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS_MAX 4096

struct strings {
    const char *items[STRINGS_MAX + 1];
    size_t count;
};

static void require(bool promise, const char *strings)
{
    if (!promise) {
        (void)fprintf(stderr, "filter_sandbox: %s\n", strings);
        exit(1);
    }
}

/* One string, to be freed by the caller; NULL at the end of the input. */
static char *read_string(void)
{
    char *word = NULL;
    size_t size = 0;
    if (getdelim(&word, &size, '\0', stdin) >= 0)
        return word;
    free(word);
    return NULL;
}

static bool read_strings(struct strings *strings)
{
    char *length = read_string();
    if (!length)
        return false;
    strings->count = strtoul(length, NULL, 10);
    free(length);
    require(strings->count <= STRINGS_MAX, "too many words");
    for (size_t i = 0; i < strings->count; i++)
        require((strings->items[i] = read_string()), "the input ends in a list");
    strings->items[strings->count] = NULL;
    return true;
}

static void free_strings(struct strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free((char *)(uintptr_t)strings->items[i]);
}

static void say(const char *word)
{
    require(fwrite(word, 1, strlen(word) + 1, stdout) == strlen(word) + 1, "cannot write");
}

static void say_number(size_t number)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%zu", number);
    say(text);
}

static void rule(const struct strings *patterns, const struct strings *names)
{
    static const char *const rulings[] = {
        [CK_SANDBOX_PASSES] = "passes", [CK_SANDBOX_SECRET] = "secret", [CK_SANDBOX_UNLISTED] = "unlisted"};
    say_number(names->count);
    for (size_t i = 0; i < names->count; i++)
        say(rulings[ck_sandbox_rule(patterns->items, names->items[i], strlen(names->items[i]))]);
}

static void make(const struct strings *host, const struct strings *extras)
{
    static const char *places[] = {"/usr/bin"};
    static const struct ck_policy policy = {.search_path = {places, 1}};
    static const struct ck_tool tool = {.name = "npm"};
    const struct ck_tool *const tools[] = {&tool, NULL};
    const struct ck_sandbox_frame frame = {.policy = &policy, .tools = tools, .home = "/tmp/probe"};
    struct ck_arena arena = {0};
    struct choke_error error = {0};
    const struct ck_sandbox *sandbox = NULL;
    const char **env = NULL;
    if (ck_sandbox_make(&arena, host->items, extras->items, &sandbox, &error) == 0)
        require(ck_sandbox_environment(&arena, sandbox, &frame, &env, &error) == 0, "what passed is no environment");
    say(env ? "0" : choke_outcome_name(error.outcome));
    say(error.message);
    size_t count = 0;
    while (env && env[count])
        count++;
    say_number(count);
    for (size_t i = 0; i < count; i++)
        say(env[i]);
    ck_arena_done(&arena);
}

int main(int argc, char **argv)
{
    static struct strings first, second;
    require(argc == 2 && (strcmp(argv[1], "rule") == 0 || strcmp(argv[1], "make") == 0), "say rule or make");
    while (read_strings(&first)) {
        require(read_strings(&second), "the second list is missing");
        if (argv[1][0] == 'r')
            rule(&first, &second);
        else
            make(&first, &second);
        free_strings(&first);
        free_strings(&second);
        require(fflush(stdout) == 0, "cannot write");
    }
    return 0;
}
