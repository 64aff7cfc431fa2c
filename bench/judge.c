/*
 * judge.c - the cost of judging a request, of loading a policy and of a look at the caller, without
 * anything else.
 *
 * It uses the internals of the library: these are no calls of the public interface, and
 * choke_explain also opens directories. The line protocol is the worker's (worker.h):
 *
 *     judge REQUEST CALLS    one of the requests below, by the default policy
 *     load FILE TIMES        a policy file, or "default"
 *     bare FILE TIMES        the same file through libyaml alone
 *     caller look CALLS      what each start does to see who its caller is
 */
#include "reply.h"

#include "policy/judge.h"
#include "policy/load.h"
#include "sys/caller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static const char *const git_log[] = {"git",  "log",        "-p", "--stat", "-n", "20", "--since=2020-01-01",
                                      "HEAD", "--no-color", "--", "src",    NULL};
static const char *const rg_search[] = {"rg",   "-n",     "-i",   "--hidden", "--no-heading", "-A", "3",      "-B",
                                        "3",    "-g",     "*.c",  "-g",       "*.h",          "-e", "malloc", "-e",
                                        "free", "--sort", "path", "-w",       "src",          NULL};
static const char *const docker_run[] = {
    "docker", "run",  "--rm", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges",
    "alpine", "true", NULL};

static const struct {
    const char *name;
    const char *const *argv;
} requests[] = {{"git", git_log}, {"rg", rg_search}, {"docker", docker_run}};

static struct ck_policy *parse(const char *file, const void *text, size_t length)
{
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    if (ck_policy_parse(file, text, length, &policy, &error) < 0)
        fail("ck_policy_parse", error.message);
    return policy;
}

/* A refusal takes less time, so a refused request would give a wrong figure. */
static void judge(const struct ck_policy *policy, const char *const *argv)
{
    struct choke_request request = {.argv = argv, .root = "/", .cwd = ".", .timeout_ms = 1000};
    struct ck_arena arena = {0};
    struct ck_verdict verdict;
    if (ck_judge(policy, &request, &arena, &verdict) < 0 || verdict.outcome != CHOKE_NONE)
        fail(argv[0], verdict.error.message);
    ck_arena_done(&arena);
}

static void command_judge(const struct ck_policy *policy, const char *name, uint64_t calls)
{
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (strcmp(requests[i].name, name) != 0)
            continue;
        uint64_t start = now_ns();
        for (uint64_t call = 0; call < calls; call++)
            judge(policy, requests[i].argv);
        reply(calls, now_ns() - start);
        return;
    }
    fail("no such request", name);
}

static char *read_file(const char *path, size_t *ret_length)
{
    char *text = malloc(CK_POLICY_MAX_BYTES);
    FILE *file = fopen(path, "re");
    if (!text || !file)
        fail(path, strerror(errno));
    *ret_length = fread(text, 1, CK_POLICY_MAX_BYTES, file);
    (void)fclose(file);
    return text;
}

/* Freeing is not part of the figure. */
static void command_load(const char *path, uint64_t times)
{
    size_t length = ck_policy_default_length;
    bool embedded = strcmp(path, "default") == 0;
    char *text = embedded ? NULL : read_file(path, &length);
    uint64_t wall_ns = 0;
    for (uint64_t i = 0; i < times; i++) {
        uint64_t start = now_ns();
        struct ck_policy *policy = parse(path, embedded ? (const void *)ck_policy_default_text : text, length);
        wall_ns += now_ns() - start;
        ck_policy_free(policy);
    }
    free(text);
    reply(times, wall_ns);
}

/* The events of libyaml, and nothing made of them: the least that a parse can cost. */
static void parse_bare(const char *text, size_t length)
{
    yaml_parser_t parser;
    bool ended = false;
    if (yaml_parser_initialize(&parser) == 0)
        fail("yaml_parser_initialize", "no memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (!ended) {
        yaml_event_t event;
        if (yaml_parser_parse(&parser, &event) == 0)
            fail("yaml_parser_parse", parser.problem);
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

static void command_bare(const char *path, uint64_t times)
{
    size_t length = 0;
    char *text = read_file(path, &length);
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < times; i++)
        parse_bare(text, length);
    reply(times, now_ns() - start);
    free(text);
}

static void command_caller(uint64_t calls)
{
    struct ck_caller_proc caller_proc;
    struct ck_caller first, now;
    ck_caller_proc_init(&caller_proc);
    if (ck_caller_inspect(&caller_proc, &first) < 0)
        fail("ck_caller_inspect", "no descriptor or memory");
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < calls; i++)
        if (ck_caller_inspect(&caller_proc, &now) < 0 || !ck_caller_same(&first, &now))
            fail("ck_caller_inspect", "the caller has changed");
    reply(calls, now_ns() - start);
    ck_caller_proc_done(&caller_proc);
}

int main(void)
{
    struct ck_policy *policy = parse("default policy", ck_policy_default_text, ck_policy_default_length);
    char line[4096];
    printf("{\"ready\": true}\n");
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        char *rest = NULL;
        const char *command = strtok_r(line, " \n", &rest);
        const char *what = strtok_r(NULL, " \n", &rest);
        const char *count = strtok_r(NULL, " \n", &rest);
        if (!count)
            fail("words are missing", command ? command : "(empty line)");
        if (strcmp(command, "judge") == 0)
            command_judge(policy, what, strtoull(count, NULL, 10));
        else if (strcmp(command, "load") == 0)
            command_load(what, strtoull(count, NULL, 10));
        else if (strcmp(command, "bare") == 0)
            command_bare(what, strtoull(count, NULL, 10));
        else if (strcmp(command, "caller") == 0)
            command_caller(strtoull(count, NULL, 10));
        else
            fail("no such command", command);
        (void)fflush(stdout);
    }
    ck_policy_free(policy);
    return 0;
}
