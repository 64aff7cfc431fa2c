/*
 * fuzz_diff.c - two policies and a command line, each ended by a NUL byte: the promises of the
 * comparison must hold.
 *
 *   - a policy does not differ from itself;
 *   - what narrows in one direction widens in the other, and neutral is neutral in both;
 *   - if nothing widens, no request with this command line is granted more on any machine.
 */
#include "../unit/grant_world.h"
#include "promise.h"

#include "policy/diff.h"
#include "policy/load.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64

struct changes {
    struct choke_change *items;
    size_t count;
};

static struct changes compare(struct ck_arena *arena, const struct ck_policy *before, const struct ck_policy *after)
{
    struct changes changes = {0};
    require(ck_policy_diff(before, after, arena, &changes.items, &changes.count) == 0);
    for (size_t i = 0; i < changes.count; i++) {
        const struct choke_change *change = &changes.items[i];
        require(change->kind >= CHOKE_CHANGE_NEUTRAL && change->kind <= CHOKE_CHANGE_WIDENS);
        require(change->field[0] != '\0' && (change->before || change->after));
        /* The section guard and its profiles are no tools, and cite records. */
        require((!change->tool) == (!change->adr) || strncmp(change->field, "guard.", 6) == 0);
    }
    return changes;
}

static bool same(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

/* The same change seen from the other side. */
static const struct choke_change *turned(const struct changes *changes, const struct choke_change *change)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct choke_change *other = &changes->items[i];
        if (same(other->tool, change->tool) && same(other->field, change->field) &&
            same(other->before, change->after) && same(other->after, change->before))
            return other;
    }
    return NULL;
}

static void check_directions(const struct changes *there, const struct changes *back)
{
    require(there->count == back->count);
    for (size_t i = 0; i < there->count; i++) {
        const struct choke_change *change = &there->items[i];
        const struct choke_change *other = turned(back, change);
        require(other);
        if (change->kind == CHOKE_CHANGE_NARROWS)
            require(other->kind == CHOKE_CHANGE_WIDENS);
        else
            require((change->kind == CHOKE_CHANGE_NEUTRAL) == (other->kind == CHOKE_CHANGE_NEUTRAL));
    }
}

/* For the called tool: the first variable that a caller may pass, and the first destination. */
static void fill(struct choke_request *request, const struct ck_tool *tool, const char **env, const char **egress)
{
    static char variable[1100];
    if (tool->env.count > 0) {
        (void)snprintf(variable, sizeof(variable), "%s=1", tool->env.items[0]);
        env[0] = variable;
    }
    if (tool->egress.count > 0)
        egress[0] = tool->egress.items[0];
    request->env = env;
    request->egress = egress;
}

static unsigned form_of(const char *const *argv)
{
    unsigned form = 0;
    for (; *argv; argv++)
        form += (unsigned)strlen(*argv);
    return form & 15;
}

/*
 * The command line in each jail. Every bit of form adds something to the request. The command line
 * decides which of them an input tries: trying all would cost most of the speed.
 */
static void check_grants(struct ck_policy *before, struct ck_policy *after, const char *const *argv)
{
    const struct ck_tool *tool = ck_policy_find(after, argv[0]);
    struct world world = {.before = before, .after = after, .seed = 5};
    unsigned form = form_of(argv);
    for (int jail = CHOKE_JAIL_DEFAULT; tool && jail <= CHOKE_JAIL_NONE; jail++) {
        const char *env[2] = {NULL}, *egress[2] = {NULL};
        struct choke_request request = {.argv = argv,
                                        .root = "/r",
                                        .cwd = ".",
                                        .timeout_ms = (form & 1) != 0 ? 1000 : CHOKE_TIMEOUT_FROM_POLICY,
                                        .jail = (enum choke_jail)jail,
                                        .require_jail = (form & 2) != 0,
                                        .keep_path = (form & 4) != 0 ? "/k" : NULL};
        if ((form & 8) != 0)
            fill(&request, tool, env, egress);
        require(!world_excess(&world, &request));
    }
}

/* On this platform, and on the other one. */
static void check_platforms(struct ck_policy *before, struct ck_policy *after, const char *const *argv)
{
    for (int turn = 0; turn < 2; turn++) {
        check_grants(before, after, argv);
        world_swap_platforms(before);
        world_swap_platforms(after);
    }
}

static bool widens(const struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].kind == CHOKE_CHANGE_WIDENS)
            return true;
    return false;
}

static void check_pair(struct ck_policy *one, struct ck_policy *other, const char *const *argv)
{
    struct ck_arena arena = {0};
    require(compare(&arena, one, one).count == 0);
    require(compare(&arena, other, other).count == 0);
    struct changes there = compare(&arena, one, other);
    struct changes back = compare(&arena, other, one);
    check_directions(&there, &back);
    if (argv[0] && !widens(&there))
        check_platforms(one, other, argv);
    if (argv[0] && !widens(&back))
        check_platforms(other, one, argv);
    ck_arena_done(&arena);
}

/* Up to the next NUL, or to the end. */
static const char *part(const char **at, const char *end, size_t *ret_length)
{
    const char *start = *at;
    const char *stop = memchr(start, '\0', (size_t)(end - start));
    *ret_length = (size_t)((stop ? stop : end) - start);
    *at = stop ? stop + 1 : end;
    return start;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct choke_error error;
    struct ck_policy *before = NULL, *after = NULL;
    size_t old_length, new_length;
    char *copy = malloc(size + 1); /* so that the last argument ends, too */
    require(copy);
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    const char *at = copy, *end = copy + size;
    const char *old_text = part(&at, end, &old_length);
    const char *new_text = part(&at, end, &new_length);
    const char *argv[WORDS_MAX + 1] = {NULL};
    for (size_t count = 0, length; count < WORDS_MAX && at < end; count++)
        argv[count] = part(&at, end, &length);
    if (ck_policy_parse("old", old_text, old_length, &before, &error) == 0 &&
        ck_policy_parse("new", new_text, new_length, &after, &error) == 0)
        check_pair(before, after, argv);
    ck_policy_free(before);
    ck_policy_free(after);
    free(copy);
    return 0;
}
