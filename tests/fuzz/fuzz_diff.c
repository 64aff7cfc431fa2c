/*
 * fuzz_diff.c - two policies and a command line, each ended by a NUL byte: what the comparison promises must hold.
 *
 *   - a policy does not differ from itself;
 *   - what narrows in one direction widens in the other, and what is neutral is neutral in both;
 *   - where nothing widens, the new policy accepts no arguments that the old one refuses.
 */
#include "promise.h"

#include "policy/args.h"
#include "policy/diff.h"
#include "policy/load.h"

#include <stdint.h>
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
        require(change->field[0] != '\0' && (change->before != NULL || change->after != NULL));
        require((change->tool == NULL) == (change->adr == NULL));
    }
    return changes;
}

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
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
        require(other != NULL);
        if (change->kind == CHOKE_CHANGE_NARROWS)
            require(other->kind == CHOKE_CHANGE_WIDENS);
        else
            require((change->kind == CHOKE_CHANGE_NEUTRAL) == (other->kind == CHOKE_CHANGE_NEUTRAL));
    }
}

/* A path that must stay inside: the old policy may not have asked for more than the new one does. */
static bool is_held(const struct ck_reading *reading, const struct ck_path_use *wanted)
{
    for (size_t i = 0; i < reading->paths_count; i++) {
        const struct ck_path_use *use = &reading->paths[i];
        if (use->argument == wanted->argument && use->length == wanted->length &&
            strncmp(use->path, wanted->path, use->length) == 0 &&
            (use->type == wanted->type || (use->type == CK_TYPE_EXISTING && wanted->type == CK_TYPE_INSIDE)))
            return true;
    }
    return false;
}

/* Both read the same vector; only what is injected may differ, and that widens. */
static void check_reading(const struct ck_policy *before, const struct ck_policy *after, const char *const *argv,
                          struct ck_arena *arena)
{
    struct ck_reading was, is;
    const struct ck_tool *old_tool = ck_policy_find(before, argv[0]);
    const struct ck_tool *new_tool = ck_policy_find(after, argv[0]);
    if (new_tool == NULL || !ck_tool_is_callable(new_tool))
        return;
    require(ck_args_read(after, new_tool, argv, arena, &is) == 0);
    if (is.refused)
        return;
    require(old_tool != NULL && ck_tool_is_callable(old_tool));
    require(ck_args_read(before, old_tool, argv, arena, &was) == 0);
    require(!was.refused);
    for (size_t i = 0; i < was.paths_count; i++)
        require(is_held(&is, &was.paths[i]));
}

static bool widens(const struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].kind == CHOKE_CHANGE_WIDENS)
            return true;
    return false;
}

static void check_pair(const struct ck_policy *one, const struct ck_policy *other, const char *const *argv)
{
    struct ck_arena arena = {0};
    require(compare(&arena, one, one).count == 0);
    require(compare(&arena, other, other).count == 0);
    struct changes there = compare(&arena, one, other);
    struct changes back = compare(&arena, other, one);
    check_directions(&there, &back);
    if (argv[0] != NULL && !widens(&there))
        check_reading(one, other, argv, &arena);
    if (argv[0] != NULL && !widens(&back))
        check_reading(other, one, argv, &arena);
    ck_arena_done(&arena);
}

/* Up to the next NUL, or to the end. */
static const char *part(const char **at, const char *end, size_t *ret_length)
{
    const char *start = *at;
    const char *stop = memchr(start, '\0', (size_t)(end - start));
    *ret_length = (size_t)((stop != NULL ? stop : end) - start);
    *at = stop != NULL ? stop + 1 : end;
    return start;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct choke_error error;
    struct ck_policy *before = NULL, *after = NULL;
    size_t old_length, new_length;
    char *copy = malloc(size + 1); /* so that the last word ends, too */
    require(copy != NULL);
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
