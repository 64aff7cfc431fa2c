/*
 * verdict.c - see verdict.h.
 *
 * In this order: a process that is created where the configuration allows it is no finding; a rule that is off is none;
 * then the waivers. So a waiver in a module that needs none is unused, and is told.
 */
#include "lint/verdict.h"

#include "base/quote.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 512
#define LINE_SHOWN 200  /* of a longer line only a part is kept */
#define BEFORE_SHOWN 60 /* how much of that stands before the place */

/* ---- the rules --------------------------------------------------------------------------- */

static const struct choke_lint_rule own_rules[CK_OWN_RULES] = {
    [CK_OWN_NOT_SCANNED] = {"not-scanned", CHOKE_SEVERITY_WARNING,
                            "A source that nobody has looked at may hold any call.",
                            "Make it readable text, or exclude it in the configuration and say why."},
    [CK_OWN_BROKEN_SYNTAX] = {"broken-syntax", CHOKE_SEVERITY_NOTE,
                              "What the grammar does not understand may hide a call.",
                              "Repair the syntax, if it is broken for the language too."},
    [CK_OWN_WAIVER_UNFOUNDED] = {"waiver-unfounded", CHOKE_SEVERITY_ERROR,
                                 "A waiver takes a finding back by a decision that is written down.",
                                 "Write 'chokepoint-lint: allow RULE ADR-0000' with a rule and a record that exist."},
    [CK_OWN_WAIVER_UNUSED] = {"waiver-unused", CHOKE_SEVERITY_WARNING,
                              "A waiver without a finding would hide the next one.", "Remove it."},
};

static enum choke_severity public_severity(enum ck_lint_severity severity)
{
    return severity == CK_LINT_ERROR     ? CHOKE_SEVERITY_ERROR
           : severity == CK_LINT_WARNING ? CHOKE_SEVERITY_WARNING
                                         : CHOKE_SEVERITY_NOTE;
}

int ck_lint_book_make(struct ck_arena *arena, const struct ck_lint_rules *loaded, struct ck_lint_book *ret_book)
{
    size_t count = CK_OWN_RULES;
    for (uint32_t i = 0; i < loaded->rulesets_count; i++)
        count += loaded->rulesets[i]->rules_count;
    struct choke_lint_rule *rules = ck_arena_array(arena, count, sizeof *rules);
    if (rules == NULL)
        return -ENOMEM;
    *ret_book = (struct ck_lint_book){.loaded = loaded, .rules = rules, .count = count};
    for (uint32_t i = 0; i < loaded->rulesets_count; i++)
        for (uint32_t j = 0; j < loaded->rulesets[i]->rules_count; j++) {
            const struct ck_lint_rule *rule = &loaded->rulesets[i]->rules[j];
            *rules++ = (struct choke_lint_rule){rule->id, public_severity(rule->severity), rule->why, rule->instead};
        }
    memcpy(rules, own_rules, sizeof own_rules);
    return 0;
}

const struct choke_lint_rule *ck_lint_book_own(const struct ck_lint_book *book, enum ck_own_rule rule)
{
    return &book->rules[book->count - CK_OWN_RULES + (size_t)rule];
}

const struct choke_lint_rule *ck_lint_book_find(const struct ck_lint_book *book, const char *id)
{
    for (size_t i = 0; i < book->count; i++)
        if (strcmp(book->rules[i].id, id) == 0)
            return &book->rules[i];
    return NULL;
}

/* The same rule as the scanner knows it. */
static const struct choke_lint_rule *book_rule(const struct ck_lint_book *book, const struct ck_lint_rule *rule)
{
    size_t before = 0;
    for (uint32_t i = 0; i < book->loaded->rulesets_count; i++) {
        const struct ck_lint_ruleset *set = book->loaded->rulesets[i];
        if (rule >= set->rules && rule < set->rules + set->rules_count)
            return &book->rules[before + (size_t)(rule - set->rules)];
        before += set->rules_count;
    }
    return ck_lint_book_find(book, rule->id);
}

/* ---- one file ---------------------------------------------------------------------------- */

struct trial {
    const struct ck_lint_law *law;
    struct ck_arena *arena;
    const struct ck_walk_file *file;
    struct ck_verdict *verdict;
    struct ck_waiver *waivers;
    size_t waiver_count;
    bool failed; /* out of memory */
};

/* Adds a finding unless its rule is off or there are too many; the message takes the place of the rule's reason. */
__attribute__((format(printf, 4, 5))) static void add(struct trial *trial, const struct choke_lint_rule *rule,
                                                      const struct ck_lint_place *place, const char *format, ...)
{
    char words[WORDS_MAX];
    va_list list;
    enum choke_severity severity = ck_lint_config_severity(&trial->law->config, rule->id, rule->severity);
    if (severity == 0)
        return;
    if (trial->verdict->count == CK_VERDICT_MAX_FINDINGS) {
        trial->verdict->dropped++;
        return;
    }
    va_start(list, format);
    (void)vsnprintf(words, sizeof words, format, list);
    va_end(list);
    const char *message = ck_arena_strdup(trial->arena, words);
    trial->failed = trial->failed || message == NULL;
    trial->verdict->findings[trial->verdict->count++] = (struct choke_lint_finding){
        .severity = severity,
        .rule = rule,
        .path = trial->file->shown,
        .name = trial->file->path,
        .line = place->line,
        .column = place->column,
        .byte_column = place->byte_column,
        .end_line = place->end_line,
        .end_column = place->end_column,
        .end_byte_column = place->end_byte_column,
        .message = message,
    };
}

/* ---- waivers ---- */

static void judge_unfounded(struct trial *trial, const struct ck_waiver *waiver)
{
    const struct choke_lint_rule *rule = ck_lint_book_own(&trial->law->book, CK_OWN_WAIVER_UNFOUNDED);
    const struct ck_lint_records *records = &trial->law->records;
    if (waiver->fault != NULL)
        add(trial, rule, &waiver->place, "this waiver does not hold: %s", waiver->fault);
    else if (!records->configured)
        add(trial, rule, &waiver->place,
            "this waiver does not hold: the configuration names no 'adr_dir' where ADR-%s could be", waiver->adr);
    else if (records->errnum != 0)
        add(trial, rule, &waiver->place, "this waiver does not hold: the directory of the records cannot be read: %s",
            strerror(records->errnum));
    else
        add(trial, rule, &waiver->place,
            "this waiver does not hold: there is no decision record %s-*.md (a regular file, not empty)", waiver->adr);
}

static bool is_founded(const struct trial *trial, const struct ck_waiver *waiver)
{
    const struct ck_lint_records *records = &trial->law->records;
    return waiver->fault == NULL && records->configured && records->errnum == 0 &&
           ck_lint_records_have(records, waiver->adr);
}

static int read_waivers(struct trial *trial, const struct ck_lint_scan *scan)
{
    trial->waivers = calloc(scan->comments_count + 1, sizeof *trial->waivers);
    if (trial->waivers == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < scan->comments_count; i++) {
        struct ck_waiver *waiver = &trial->waivers[trial->waiver_count];
        ck_waiver_parse(&scan->comments[i], waiver);
        if (is_founded(trial, waiver))
            trial->waiver_count++;
        else
            judge_unfounded(trial, waiver);
    }
    return 0;
}

static bool is_waived(struct trial *trial, const char *rule, const struct ck_lint_place *place)
{
    bool waived = false;
    for (size_t i = 0; i < trial->waiver_count && !waived; i++)
        waived = ck_waiver_serves(&trial->waivers[i], rule, place);
    return waived;
}

static void judge_unused(struct trial *trial, const struct ck_waiver *waiver)
{
    const struct ck_lint_book *book = &trial->law->book;
    for (unsigned i = 0; i < waiver->rule_count; i++) {
        if (waiver->used[i])
            continue;
        if (ck_lint_book_find(book, waiver->rules[i]) == NULL)
            add(trial, ck_lint_book_own(book, CK_OWN_WAIVER_UNFOUNDED), &waiver->place,
                "this waiver does not hold: there is no rule '%s'", waiver->rules[i]);
        else
            add(trial, ck_lint_book_own(book, CK_OWN_WAIVER_UNUSED), &waiver->place,
                "nothing on this line needs a waiver from '%s'", waiver->rules[i]);
    }
}

/* ---- findings ---- */

static void judge_finding(struct trial *trial, const struct ck_lint_finding *found)
{
    const struct choke_lint_rule *rule = book_rule(&trial->law->book, found->rule);
    if (found->rule->group == CK_LINT_PROCESS && ck_lint_config_allows(&trial->law->config, trial->file->path)) {
        trial->verdict->allowed++;
        return;
    }
    if (ck_lint_config_severity(&trial->law->config, rule->id, rule->severity) == 0)
        return;
    if (is_waived(trial, rule->id, &found->place)) {
        trial->verdict->waived++;
        return;
    }
    size_t before = trial->verdict->count;
    if (found->name == NULL) {
        add(trial, rule, &found->place, "%s", rule->why);
        return;
    }
    add(trial, rule, &found->place, "%s: %s", CK_QUOTE(found->name), rule->why);
    if (trial->verdict->count > before) {
        trial->verdict->findings[before].found = ck_arena_strdup(trial->arena, found->name);
        trial->failed = trial->failed || trial->verdict->findings[before].found == NULL;
    }
}

int ck_verdict_compare(const void *left, const void *right)
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

/* Not in the middle of a character. */
static size_t at_character(const char *line, size_t length, size_t at)
{
    while (at < length && at > 0 && ((unsigned char)line[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static bool keep_source(struct ck_arena *arena, struct choke_lint_finding *finding, const char *line, size_t length)
{
    size_t at = finding->byte_column > 0 ? finding->byte_column - 1 : 0;
    size_t first = 0;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (at > length)
        at = length;
    if (length > LINE_SHOWN) {
        first = at > BEFORE_SHOWN ? at_character(line, length, at - BEFORE_SHOWN) : 0;
        size_t last = length - first > LINE_SHOWN ? at_character(line, length, first + LINE_SHOWN) : length;
        length = last - first;
    }
    finding->source = ck_arena_memdup(arena, line + first, length);
    finding->source_at = (unsigned)(at - first);
    return finding->source != NULL;
}

/* Findings are in the order of their lines, so the text is gone through once. */
static bool keep_sources(struct ck_arena *arena, struct ck_verdict *verdict, const char *text, size_t length)
{
    const char *line = text;
    const char *end = text + length;
    unsigned number = 1;
    for (size_t i = 0; i < verdict->count; i++) {
        struct choke_lint_finding *finding = &verdict->findings[i];
        for (; line < end && number < finding->line; number++) {
            const char *newline = memchr(line, '\n', (size_t)(end - line));
            line = newline != NULL ? newline + 1 : end;
        }
        const char *newline = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
        if (finding->line != 0 &&
            !keep_source(arena, finding, line, (size_t)((newline != NULL ? newline : end) - line)))
            return false;
    }
    return true;
}

static void judge_broken(struct trial *trial, const struct ck_lint_scan *scan)
{
    struct ck_lint_place place = {.line = scan->broken_line,
                                  .column = 1,
                                  .byte_column = 1,
                                  .end_line = scan->broken_line,
                                  .end_column = 1,
                                  .end_byte_column = 1};
    add(trial, ck_lint_book_own(&trial->law->book, CK_OWN_BROKEN_SYNTAX), &place,
        "the syntax is broken here; what follows may not have been understood");
}

int ck_verdict_make(const struct ck_lint_law *law, struct ck_arena *arena, const struct ck_lint_seen *seen,
                    struct ck_verdict *ret_verdict)
{
    const struct ck_lint_scan *scan = seen->scan;
    struct trial trial = {.law = law, .arena = arena, .file = seen->file, .verdict = ret_verdict};
    size_t most = (size_t)scan->findings_count + (size_t)scan->comments_count * CK_WAIVER_MAX_RULES + 1;
    *ret_verdict = (struct ck_verdict){.dropped = scan->findings_dropped};
    ret_verdict->findings = ck_arena_array(arena, most < CK_VERDICT_MAX_FINDINGS ? most : CK_VERDICT_MAX_FINDINGS,
                                           sizeof *ret_verdict->findings);
    if (ret_verdict->findings == NULL || read_waivers(&trial, scan) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < scan->findings_count; i++)
        judge_finding(&trial, &scan->findings[i]);
    for (size_t i = 0; i < trial.waiver_count; i++)
        judge_unused(&trial, &trial.waivers[i]);
    free(trial.waivers);
    if (scan->broken)
        judge_broken(&trial, scan);
    if (trial.failed)
        return -ENOMEM;
    if (ret_verdict->count > 1)
        qsort(ret_verdict->findings, ret_verdict->count, sizeof *ret_verdict->findings, ck_verdict_compare);
    return keep_sources(arena, ret_verdict, seen->text, seen->length) ? 0 : -ENOMEM;
}

bool ck_verdict_unseen(const struct ck_lint_law *law, struct ck_arena *arena, const struct ck_walk_skip *skip,
                       struct choke_lint_finding *ret_finding)
{
    const struct choke_lint_rule *rule = ck_lint_book_own(&law->book, CK_OWN_NOT_SCANNED);
    enum choke_severity severity = ck_lint_config_severity(&law->config, rule->id, rule->severity);
    *ret_finding =
        (struct choke_lint_finding){.severity = severity, .rule = rule, .path = skip->shown, .name = skip->path};
    ret_finding->message = ck_arena_printf(arena, "nobody has looked at this: %s", skip->reason);
    return severity != 0;
}
