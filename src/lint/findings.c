/*
 * findings.c - decides what is reported of one file. See findings.h.
 *
 * The order matters. First, a process that is created in a module where the configuration allows it
 * is not a finding. Second, a rule that is off has no findings. The waivers come last, so a waiver
 * in a module that does not need it counts as unused, and that is reported.
 */
#include "lint/findings.h"

#include "base/quote.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX_BYTES 512 /* a longer message is cut */
#define LINE_SHOWN 200        /* bytes of a source line that are kept */
#define BEFORE_SHOWN 60       /* bytes of those before the finding */

/* ---- the rules --------------------------------------------------------------------------- */

static const struct choke_lint_rule builtin_rules[CK_LINT_BUILTIN_RULES] = {
    [CK_LINT_BUILTIN_NOT_SCANNED] = {"not-scanned", CHOKE_SEVERITY_WARNING,
                                     "A source that was not scanned may contain any call.",
                                     "Make it readable text, or exclude it in the configuration with a reason."},
    [CK_LINT_BUILTIN_BROKEN_SYNTAX] = {"broken-syntax", CHOKE_SEVERITY_NOTE,
                                       "What the grammar does not understand may hide a call.",
                                       "Fix the syntax, if the language rejects it too."},
    [CK_LINT_BUILTIN_WAIVER_UNFOUNDED] =
        {"waiver-unfounded", CHOKE_SEVERITY_ERROR, "A waiver must cite a decision that is written down.",
         "Write 'chokepoint-lint: allow RULE ADR-0000' with a rule and a record that exist."},
    [CK_LINT_BUILTIN_WAIVER_UNUSED] = {"waiver-unused", CHOKE_SEVERITY_WARNING,
                                       "A waiver without a finding would hide the next one.", "Remove it."},
};

/* The public enum starts at 1, that of the rules at 0. */
static enum choke_severity public_severity(enum ck_lint_severity severity)
{
    return severity == CK_LINT_ERROR     ? CHOKE_SEVERITY_ERROR
           : severity == CK_LINT_WARNING ? CHOKE_SEVERITY_WARNING
                                         : CHOKE_SEVERITY_NOTE;
}

/* Copies the rules into one array. The strings stay in the rules. */
int ck_lint_rule_index_make(struct ck_arena *arena, const struct ck_lint_rules *loaded,
                            struct ck_lint_rule_index *ret_rule_index)
{
    size_t count = CK_LINT_BUILTIN_RULES;
    for (uint32_t i = 0; i < loaded->rulesets_count; i++)
        count += loaded->rulesets[i]->rules_count;
    struct choke_lint_rule *rules = ck_arena_array(arena, count, sizeof(*rules));
    if (!rules)
        return -ENOMEM;
    *ret_rule_index = (struct ck_lint_rule_index){.loaded = loaded, .rules = rules, .count = count};
    for (uint32_t i = 0; i < loaded->rulesets_count; i++)
        for (uint32_t j = 0; j < loaded->rulesets[i]->rules_count; j++) {
            const struct ck_lint_rule *rule = &loaded->rulesets[i]->rules[j];
            *rules++ = (struct choke_lint_rule){rule->id, public_severity(rule->severity), rule->why, rule->instead};
        }
    /* ck_lint_rule_index_builtin counts from the end. */
    memcpy(rules, builtin_rules, sizeof(builtin_rules));
    return 0;
}

const struct choke_lint_rule *ck_lint_rule_index_builtin(const struct ck_lint_rule_index *rule_index,
                                                         enum ck_lint_builtin_rule rule)
{
    return &rule_index->rules[rule_index->count - CK_LINT_BUILTIN_RULES + (size_t)rule];
}

const struct choke_lint_rule *ck_lint_rule_index_find(const struct ck_lint_rule_index *rule_index, const char *id)
{
    for (size_t i = 0; i < rule_index->count; i++)
        if (strcmp(rule_index->rules[i].id, id) == 0)
            return &rule_index->rules[i];
    return NULL;
}

/* The public form of a rule of the scanner. */
static const struct choke_lint_rule *public_rule(const struct ck_lint_rule_index *rule_index,
                                                 const struct ck_lint_rule *rule)
{
    size_t before = 0;
    for (uint32_t i = 0; i < rule_index->loaded->rulesets_count; i++) {
        const struct ck_lint_ruleset *set = rule_index->loaded->rulesets[i];
        /*
         * The index has the rules in the order of the sets, so the place in its set gives the place
         * in the index, without a search by name.
         */
        if (rule >= set->rules && rule < set->rules + set->rules_count)
            return &rule_index->rules[before + (size_t)(rule - set->rules)];
        before += set->rules_count;
    }
    return ck_lint_rule_index_find(rule_index, rule->id);
}

/* ---- one file ---------------------------------------------------------------------------- */

struct findings_builder {
    const struct ck_lint_tree_ruleset *tree_ruleset;
    struct ck_arena *arena; /* of the caller; the findings point into it */
    const struct ck_walk_file *file;
    struct ck_lint_findings *reported; /* the result */
    struct ck_waiver *waivers;         /* the valid ones; freed by ck_lint_findings_make */
    size_t waiver_count;
    bool failed; /* out of memory */
};

/*
 * Adds a finding unless its rule is off or there are too many. The message replaces the reason of
 * the rule.
 */
__attribute__((format(printf, 4, 5))) static void add(struct findings_builder *builder,
                                                      const struct choke_lint_rule *rule,
                                                      const struct ck_lint_location *location, const char *format, ...)
{
    char message_text[MESSAGE_MAX_BYTES];
    va_list list;
    enum choke_severity severity = ck_lint_config_severity(&builder->tree_ruleset->config, rule->id, rule->severity);
    /* 0 is "off". */
    if (severity == 0)
        return;
    if (builder->reported->count == CK_LINT_FINDINGS_REPORTED_MAX) {
        builder->reported->dropped++;
        return;
    }
    va_start(list, format);
    (void)vsnprintf(message_text, sizeof(message_text), format, list);
    va_end(list);
    const char *message = ck_arena_strdup(builder->arena, message_text);
    /* Checked once, at the end of ck_lint_findings_make. */
    builder->failed = builder->failed || !message;
    builder->reported->findings[builder->reported->count++] = (struct choke_lint_finding){
        .severity = severity,
        .rule = rule,
        .path = builder->file->shown,
        .name = builder->file->path,
        .line = location->line,
        .column = location->column,
        .byte_column = location->byte_column,
        .end_line = location->end_line,
        .end_column = location->end_column,
        .end_byte_column = location->end_byte_column,
        .message = message,
    };
}

/* ---- waivers ---- */

/* Says what is wrong with it: its text, the configuration, or the record. */
static void report_unfounded_waiver(struct findings_builder *builder, const struct ck_waiver *waiver)
{
    const struct choke_lint_rule *rule =
        ck_lint_rule_index_builtin(&builder->tree_ruleset->rule_index, CK_LINT_BUILTIN_WAIVER_UNFOUNDED);
    const struct ck_lint_adrs *adrs = &builder->tree_ruleset->adrs;
    if (waiver->fault)
        add(builder, rule, &waiver->location, "this waiver is not valid: %s", waiver->fault);
    else if (!adrs->configured)
        add(builder, rule, &waiver->location,
            "this waiver is not valid: the configuration has no 'adr_dir' in which to find ADR-%s", waiver->adr);
    else if (adrs->errnum != 0)
        add(builder, rule, &waiver->location, "this waiver is not valid: cannot read the directory of the records: %s",
            strerror(adrs->errnum));
    else
        add(builder, rule, &waiver->location,
            "this waiver is not valid: there is no decision record %s-*.md (a regular file, not empty)", waiver->adr);
}

/* A waiver counts only if it is well formed and its decision record exists. */
static bool is_founded(const struct findings_builder *builder, const struct ck_waiver *waiver)
{
    const struct ck_lint_adrs *adrs = &builder->tree_ruleset->adrs;
    return !waiver->fault && adrs->configured && adrs->errnum == 0 && ck_lint_adrs_have(adrs, waiver->adr);
}

/* Keeps the valid waivers. The others are findings, and waive nothing. */
static int read_waivers(struct findings_builder *builder, const struct ck_lint_scan *scan)
{
    /* One more, because calloc of nothing may return NULL. */
    builder->waivers = calloc(scan->comments_count + 1, sizeof(*builder->waivers));
    if (!builder->waivers)
        return -ENOMEM;
    for (uint32_t i = 0; i < scan->comments_count; i++) {
        struct ck_waiver *waiver = &builder->waivers[builder->waiver_count];
        ck_waiver_parse(&scan->comments[i], waiver);
        if (is_founded(builder, waiver))
            builder->waiver_count++;
        else
            report_unfounded_waiver(builder, waiver);
    }
    return 0;
}

/* Marks the waiver as used, so the order matters: only ask for findings that would be reported. */
static bool is_waived(struct findings_builder *builder, const char *rule, const struct ck_lint_location *location)
{
    bool waived = false;
    for (size_t i = 0; i < builder->waiver_count && !waived; i++)
        waived = ck_waiver_serves(&builder->waivers[i], rule, location);
    return waived;
}

/*
 * For each rule that it names. Call after all findings of the file were compared with the waivers.
 */
static void report_unused_waiver(struct findings_builder *builder, const struct ck_waiver *waiver)
{
    const struct ck_lint_rule_index *rule_index = &builder->tree_ruleset->rule_index;
    for (unsigned i = 0; i < waiver->rule_count; i++) {
        if (waiver->used[i])
            continue;
        if (!ck_lint_rule_index_find(rule_index, waiver->rules[i]))
            add(builder, ck_lint_rule_index_builtin(rule_index, CK_LINT_BUILTIN_WAIVER_UNFOUNDED), &waiver->location,
                "this waiver is not valid: there is no rule '%s'", waiver->rules[i]);
        else
            add(builder, ck_lint_rule_index_builtin(rule_index, CK_LINT_BUILTIN_WAIVER_UNUSED), &waiver->location,
                "nothing on this line needs a waiver from '%s'", waiver->rules[i]);
    }
}

/* ---- findings ---- */

/* See the top of this file for the order of the checks. */
static void report_finding(struct findings_builder *builder, const struct ck_lint_finding *found)
{
    const struct choke_lint_rule *rule = public_rule(&builder->tree_ruleset->rule_index, found->rule);
    if (found->rule->group == CK_LINT_PROCESS &&
        ck_lint_config_allows(&builder->tree_ruleset->config, builder->file->path)) {
        builder->reported->allowed++;
        return;
    }
    /* add would drop it too, but only after a waiver was marked as used. */
    if (ck_lint_config_severity(&builder->tree_ruleset->config, rule->id, rule->severity) == 0)
        return;
    if (is_waived(builder, rule->id, &found->location)) {
        builder->reported->waived++;
        return;
    }
    size_t before = builder->reported->count; /* add may drop the finding */
    if (!found->name) {
        add(builder, rule, &found->location, "%s", rule->why);
        return;
    }
    add(builder, rule, &found->location, "%s: %s", CK_QUOTE(found->name), rule->why);
    if (builder->reported->count > before) {
        builder->reported->findings[before].found = ck_arena_strdup(builder->arena, found->name);
        builder->failed = builder->failed || !builder->reported->findings[before].found;
    }
}

/* A total order, down to the message: the report must not depend on the threads or on qsort. */
int ck_lint_findings_compare(const void *left, const void *right)
{
    const struct choke_lint_finding *a = left;
    const struct choke_lint_finding *b = right;
    int order = strcmp(a->name, b->name);
    if (order != 0)
        return order;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->byte_column != b->byte_column)
        return a->byte_column < b->byte_column ? -1 : 1;
    order = strcmp(a->rule->id, b->rule->id);
    return order != 0 ? order : strcmp(a->message, b->message);
}

/* ---- the source -------------------------------------------------------------------------- */

/* Moves at back to the start of a UTF-8 character, so that a cut line stays valid text. */
static size_t at_character(const char *line, size_t length, size_t at)
{
    while (at < length && at > 0 && ((unsigned char)line[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/*
 * Keeps the part of the line around the finding. source_at is where the finding begins in it. False
 * when memory ran out.
 */
static bool keep_source(struct ck_arena *arena, struct choke_lint_finding *finding, const char *line, size_t length)
{
    size_t at = finding->byte_column > 0 ? finding->byte_column - 1 : 0;
    size_t first = 0;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (at > length)
        at = length;
    if (length > LINE_SHOWN) {
        /* A line may be a whole minified file, so only LINE_SHOWN bytes of it are kept. */
        first = at > BEFORE_SHOWN ? at_character(line, length, at - BEFORE_SHOWN) : 0;
        size_t last = length - first > LINE_SHOWN ? at_character(line, length, first + LINE_SHOWN) : length;
        length = last - first;
    }
    finding->source = ck_arena_memdup(arena, line + first, length);
    finding->source_at = (unsigned)(at - first);
    return !!finding->source;
}

/* Findings are sorted by line, so one pass over the text is enough. */
static bool keep_sources(struct ck_arena *arena, struct ck_lint_findings *reported, const char *text, size_t length)
{
    const char *line = text;
    const char *end = text + length;
    unsigned number = 1;
    for (size_t i = 0; i < reported->count; i++) {
        struct choke_lint_finding *finding = &reported->findings[i];
        for (; line < end && number < finding->line; number++) {
            const char *newline = memchr(line, '\n', (size_t)(end - line));
            line = newline ? newline + 1 : end;
        }
        const char *newline = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
        /* Line 0: the finding is about the whole file. */
        if (finding->line != 0 && !keep_source(arena, finding, line, (size_t)((newline ? newline : end) - line)))
            return false;
    }
    return true;
}

static void report_broken_syntax(struct findings_builder *builder, const struct ck_lint_scan *scan)
{
    struct ck_lint_location location = {.line = scan->broken_line,
                                        .column = 1,
                                        .byte_column = 1,
                                        .end_line = scan->broken_line,
                                        .end_column = 1,
                                        .end_byte_column = 1};
    add(builder, ck_lint_rule_index_builtin(&builder->tree_ruleset->rule_index, CK_LINT_BUILTIN_BROKEN_SYNTAX),
        &location, "syntax error; calls after this place may have been missed");
}

int ck_lint_findings_make(const struct ck_lint_tree_ruleset *tree_ruleset, struct ck_arena *arena,
                          const struct ck_lint_scanned_file *scanned, struct ck_lint_findings *ret_reported)
{
    const struct ck_lint_scan *scan = scanned->scan;
    struct findings_builder builder = {
        .tree_ruleset = tree_ruleset, .arena = arena, .file = scanned->file, .reported = ret_reported};
    /* A waiver gives at most one finding for each of its rules. One more for a syntax error. */
    size_t most = (size_t)scan->findings_count + (size_t)scan->comments_count * CK_WAIVER_MAX_RULES + 1;
    *ret_reported = (struct ck_lint_findings){.dropped = scan->findings_dropped};
    ret_reported->findings =
        ck_arena_array(arena, most < CK_LINT_FINDINGS_REPORTED_MAX ? most : CK_LINT_FINDINGS_REPORTED_MAX,
                       sizeof(*ret_reported->findings));
    if (!ret_reported->findings || read_waivers(&builder, scan) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < scan->findings_count; i++)
        report_finding(&builder, &scan->findings[i]);
    for (size_t i = 0; i < builder.waiver_count; i++)
        report_unused_waiver(&builder, &builder.waivers[i]);
    free(builder.waivers);
    if (scan->broken)
        report_broken_syntax(&builder, scan);
    if (builder.failed)
        return -ENOMEM;
    if (ret_reported->count > 1)
        qsort(ret_reported->findings, ret_reported->count, sizeof(*ret_reported->findings), ck_lint_findings_compare);
    return keep_sources(arena, ret_reported, scanned->text, scanned->length) ? 0 : -ENOMEM;
}

bool ck_lint_findings_not_scanned(const struct ck_lint_tree_ruleset *tree_ruleset, struct ck_arena *arena,
                                  const struct ck_walk_skip *skip, struct choke_lint_finding *ret_finding)
{
    const struct choke_lint_rule *rule =
        ck_lint_rule_index_builtin(&tree_ruleset->rule_index, CK_LINT_BUILTIN_NOT_SCANNED);
    enum choke_severity severity = ck_lint_config_severity(&tree_ruleset->config, rule->id, rule->severity);
    *ret_finding =
        (struct choke_lint_finding){.severity = severity, .rule = rule, .path = skip->shown, .name = skip->path};
    ret_finding->message = ck_arena_printf(arena, "not scanned: %s", skip->reason);
    return severity != 0;
}
