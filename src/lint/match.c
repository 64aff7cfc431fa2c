/*
 * match.c - applies the rules to a syntax tree. See match.h.
 *
 * A match of a query has one @name. The index of rules gives the rules for what it resolves to. The
 * conditions of each are checked, and the first rule in the order of the file that holds is
 * reported. A condition has three values, because an argument may be spread from something that is
 * not visible in the file. Each test decides what the third value means for it.
 */
#include "lint/match.h"

#include "base/clock.h"
#include "lint/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_MAX 64 /* bytes of a name before ".*" in a rule */

/*
 * Matches in progress at one time. For each node the cursor goes through all of them, so without a
 * bound a chain of a million calls would take hours. If the bound is reached the file is reported
 * as not scanned in full.
 */
#define IN_PROGRESS_MAX 256
#define MATCH_MAX_MICROSECONDS ((uint64_t)5000000) /* for one file, with its names and conditions */
#define DEPTH_MAX ((uint32_t)60000)                /* fits in 16 bits, see is_too_deep */
#define LEVELS_PER_BYTE 4                          /* more than any grammar nests for a byte */
#define MATCHES_FIRST 64                           /* room of the array when it is first needed */

/* ---- conditions -------------------------------------------------------------------------- */

/* text may contain a NUL, so lengths are compared. */
static bool has_value(const struct ck_lint_strings *values, const char *text, size_t length)
{
    for (uint32_t i = 0; i < values->count; i++)
        if (strlen(values->items[i]) == length && memcmp(values->items[i], text, length) == 0)
            return true;
    return false;
}

/* True only if every value that the argument may have is in the list. */
static bool surely_one_of(struct ck_lint_source *source, TSNode value, const struct ck_lint_strings *values)
{
    struct ck_constant constant = {.kind = CK_CONSTANT_NOT};
    source->grammar->resolver->constant(source, value, &constant);
    if (constant.kind == CK_CONSTANT_TEXT)
        return has_value(values, constant.text, constant.length);
    struct ck_lint_names names = {.count = 0};
    source->grammar->resolver->names(source, value, &names);
    for (uint32_t i = 0; i < names.count; i++)
        if (!has_value(values, names.items[i], strlen(names.items[i])))
            return false;
    return names.count > 0 && !names.open;
}

/* CK_CONSTANT_TRUE, _FALSE, or _NOT where it is not known. An empty text counts as false. */
static enum ck_constant_kind truth_of(struct ck_lint_source *source, TSNode value)
{
    struct ck_constant constant = {.kind = CK_CONSTANT_NOT};
    source->grammar->resolver->constant(source, value, &constant);
    if (constant.kind == CK_CONSTANT_TEXT)
        return constant.length > 0 ? CK_CONSTANT_TRUE : CK_CONSTANT_FALSE;
    return constant.kind;
}

/*
 * "Unknown" counts as a match only for the tests that look for doubt (unsure, variable), and for
 * none-of.
 */
static bool condition_holds(struct ck_lint_source *source, TSNode arguments, const struct ck_lint_condition *condition)
{
    TSNode value = {0};
    enum ck_argument there =
        source->grammar->resolver->argument(source, arguments, condition->keyword, condition->position, &value);
    bool present = there == CK_ARGUMENT_PRESENT;
    bool unknown = there == CK_ARGUMENT_UNKNOWN;
    switch (condition->test) {
    case CK_TEST_TRUTHY:
        return present && truth_of(source, value) == CK_CONSTANT_TRUE;
    case CK_TEST_FALSY:
        return there == CK_ARGUMENT_ABSENT || (present && truth_of(source, value) == CK_CONSTANT_FALSE);
    case CK_TEST_UNSURE:
    case CK_TEST_VARIABLE:
        return unknown || (present && truth_of(source, value) == CK_CONSTANT_NOT);
    case CK_TEST_PRESENT:
        return present;
    case CK_TEST_ABSENT:
        return there == CK_ARGUMENT_ABSENT;
    case CK_TEST_CONSTANT:
        return present && truth_of(source, value) != CK_CONSTANT_NOT;
    case CK_TEST_ONE_OF:
        return present && surely_one_of(source, value, &condition->values);
    case CK_TEST_NONE_OF:
        return !present || !surely_one_of(source, value, &condition->values);
    }
    return false;
}

/* A rule with conditions is about calls. A name without arguments does not meet them. */
static bool rule_holds(struct ck_lint_source *source, const struct ck_lint_rule *rule, uint32_t query,
                       const TSNode *arguments)
{
    /* Bit i: the rule is for query i of its file. */
    if ((rule->queries >> query & 1) == 0)
        return false;
    for (uint32_t i = 0; i < rule->when_count; i++)
        if (!arguments || !condition_holds(source, *arguments, &rule->when[i]))
            return false;
    return true;
}

/* ---- one match --------------------------------------------------------------------------- */

/* What a match captured. @arguments and @site are optional in a query. */
struct capture_set {
    TSNode name, arguments, site;
    bool has_name, has_arguments, has_site;
};

/* A capture that no query has is UINT32_MAX in the program, which is never an index. */
static struct capture_set take_captures(const struct ck_lint_program *program, const TSQueryMatch *match)
{
    struct capture_set set = {0};
    for (uint16_t i = 0; i < match->capture_count; i++) {
        const TSQueryCapture *capture = &match->captures[i];
        if (capture->index == program->capture_name) {
            set.name = capture->node;
            set.has_name = true;
        } else if (capture->index == program->capture_arguments) {
            set.arguments = capture->node;
            set.has_arguments = true;
        } else if (capture->index == program->capture_site) {
            set.site = capture->node;
            set.has_site = true;
        }
    }
    return set;
}

/* The first rule of the file that holds for the name and comes before *best. */
static void choose_rule(struct ck_lint_source *source, uint32_t query, const struct capture_set *captures,
                        const char *name, struct ck_lint_match *best)
{
    const struct ck_lint_rule *const *rules;
    uint32_t count = ck_lint_rules_about(source->program, name, &rules);
    for (uint32_t i = 0; i < count; i++) {
        /* Rules are in the order of the file, so no later one can come before *best. */
        if (best->rule && best->rule->order <= rules[i]->order)
            return;
        if (rule_holds(source, rules[i], query, captures->has_arguments ? &captures->arguments : NULL)) {
            best->rule = rules[i];
            best->resolved = name;
            return;
        }
    }
}

/* "sh.ls" is also "sh.*": some modules make a function of each name that is asked of them. */
static void choose_member_rule(struct ck_lint_source *source, uint32_t query, const struct capture_set *captures,
                               const char *name, struct ck_lint_match *best)
{
    char any[MODULE_MAX + sizeof(".*")];
    const char *dot = strrchr(name, '.');

    if (!dot || (size_t)(dot - name) >= MODULE_MAX)
        return;
    (void)snprintf(any, sizeof(any), "%.*s.*", (int)(dot - name), name);
    choose_rule(source, query, captures, any, best);
    if (best->resolved == any)
        best->resolved = name;
}

/* Resolves @name and finds the rule for it. False if no rule holds. */
static bool evaluate_match(struct ck_lint_source *source, const TSQueryMatch *match, struct ck_lint_match *ret_match)
{
    struct capture_set captures = take_captures(source->program, match);
    uint32_t query = source->program->pattern_query[match->pattern_index];
    struct ck_lint_names names = {.count = 0};
    *ret_match =
        (struct ck_lint_match){.name = captures.name, .site = captures.has_site ? captures.site : captures.name};
    if (!captures.has_name)
        return false;
    source->grammar->resolver->names(source, captures.name, &names);
    for (uint32_t i = 0; i < names.count; i++) {
        choose_rule(source, query, &captures, names.items[i], ret_match);
        choose_member_rule(source, query, &captures, names.items[i], ret_match);
    }
    choose_rule(source, query, &captures, "*", ret_match);
    /* A rule about anything: the report shows what it is, as far as that is known. */
    if (ret_match->rule && strcmp(ret_match->resolved, "*") == 0)
        ret_match->resolved = names.count > 0 ? names.items[0] : ck_lint_source_text(source, captures.name);
    return !!ret_match->rule;
}

/* ---- all of them ------------------------------------------------------------------------- */

/*
 * Not in the arena: the old array would stay there each time it grows. False when memory ran out.
 */
static bool add_match(struct ck_lint_matches *matches, const struct ck_lint_match *match)
{
    if (matches->count == matches->capacity) {
        uint32_t capacity = matches->capacity > 0 ? matches->capacity * 2 : MATCHES_FIRST;
        struct ck_lint_match *items = reallocarray(matches->items, capacity, sizeof(*items));
        if (!items)
            return false;
        matches->items = items;
        matches->capacity = capacity;
    }
    matches->items[matches->count++] = *match;
    return true;
}

/* By the first byte, then by the end. */
static int compare_locations(TSNode a, TSNode b)
{
    uint32_t left = ts_node_start_byte(a), right = ts_node_start_byte(b);
    if (left == right) {
        left = ts_node_end_byte(a);
        right = ts_node_end_byte(b);
    }
    return (left > right) - (left < right);
}

/* Equal names are next to each other, the rule that is first in its file before the others. */
static int compare_names(const void *left, const void *right)
{
    const struct ck_lint_match *a = left;
    const struct ck_lint_match *b = right;
    int order = compare_locations(a->name, b->name);
    return order != 0 ? order : (a->rule->order > b->rule->order) - (a->rule->order < b->rule->order);
}

/* The order of the report. Several names may share a site. */
static int compare_sites(const void *left, const void *right)
{
    const struct ck_lint_match *a = left;
    const struct ck_lint_match *b = right;
    int order = compare_locations(a->site, b->site);
    return order != 0 ? order : compare_names(left, right);
}

/* Two queries may match the same @name. The rule that comes first in its file is kept. */
static void sort_matches(struct ck_lint_matches *matches)
{
    uint32_t unique = 0;
    if (matches->count == 0)
        return;
    qsort(matches->items, matches->count, sizeof(*matches->items), compare_names);
    for (uint32_t i = 1; i < matches->count; i++)
        if (compare_locations(matches->items[unique].name, matches->items[i].name) != 0)
            matches->items[++unique] = matches->items[i];
    matches->count = unique + 1;
    qsort(matches->items, matches->count, sizeof(*matches->items), compare_sites);
}

/*
 * The query cursor of tree-sitter stores the depth of a node in 16 bits, and misses nodes that are
 * deeper. Each byte of a source adds few levels, so a small file is not checked.
 */
static bool is_too_deep(const struct ck_lint_source *source)
{
    uint32_t depth = 0, deepest = 0;
    if (source->length < DEPTH_MAX / LEVELS_PER_BYTE)
        return false;
    TSTreeCursor cursor = ts_tree_cursor_new(source->root);
    for (bool more = true; more;) {
        if (ts_tree_cursor_goto_first_child(&cursor)) {
            deepest = ++depth > deepest ? depth : deepest;
            continue;
        }
        while (more && !ts_tree_cursor_goto_next_sibling(&cursor)) {
            more = ts_tree_cursor_goto_parent(&cursor);
            depth--;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return deepest > DEPTH_MAX;
}

int ck_lint_match_all(struct ck_lint_source *source, TSQueryCursor *cursor, struct ck_lint_matches *ret_matches)
{
    struct ck_lint_matches matches = {0};
    TSQueryMatch match;
    /*
     * The timeout of the cursor stops a long search between two matches. The deadline also bounds
     * the time for names and conditions, and says afterwards whether the time was over.
     */
    uint64_t deadline_ns = ck_clock_now_ns() + MATCH_MAX_MICROSECONDS * 1000;
    ts_query_cursor_set_match_limit(cursor, IN_PROGRESS_MAX);
    ts_query_cursor_set_timeout_micros(cursor, MATCH_MAX_MICROSECONDS);
    ts_query_cursor_exec(cursor, source->program->query, source->root);
    while (ck_clock_now_ns() < deadline_ns && ts_query_cursor_next_match(cursor, &match)) {
        struct ck_lint_match one;
        if (evaluate_match(source, &match, &one) && !add_match(&matches, &one)) {
            ck_lint_matches_done(&matches);
            return -ENOMEM;
        }
    }
    matches.too_deep = ts_query_cursor_did_exceed_match_limit(cursor) || is_too_deep(source);
    matches.timed_out = ck_clock_now_ns() >= deadline_ns;
    sort_matches(&matches);
    *ret_matches = matches;
    return 0;
}

void ck_lint_matches_done(struct ck_lint_matches *matches)
{
    free(matches->items);
    *matches = (struct ck_lint_matches){0};
}
