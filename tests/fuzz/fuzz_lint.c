/*
 * fuzz_lint.c - any bytes as a source of any language: no crash, no position outside the text, the
 * same result twice.
 *
 * The first byte chooses the language. The rules are the embedded ones. A finding must name one of
 * them, and be where its name and its line say.
 */
#include "promise.h"

#include "base/quote.h"
#include "lint/scan.h"

#include <string.h>

static uint32_t lines_in(const char *text, size_t length)
{
    uint32_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

static void check_place(const struct ck_lint_location *location, uint32_t lines)
{
    require(location->line >= 1 && location->line <= location->end_line && location->end_line <= lines);
    require(location->column >= 1 && location->column <= location->byte_column);
    require(location->end_column >= 1 && location->end_column <= location->end_byte_column);
    require(location->line < location->end_line || location->byte_column <= location->end_byte_column);
}

static void check_scan(const struct ck_lint_rules *rules, const struct ck_lint_scan *scan, uint32_t lines)
{
    require(scan->parsed || (scan->findings_count == 0 && scan->comments_count == 0 && !scan->broken));
    require(!scan->broken || (scan->broken_line >= 1 && scan->broken_line <= lines));
    for (uint32_t i = 0; i < scan->findings_count; i++) {
        const struct ck_lint_finding *finding = &scan->findings[i];
        check_place(&finding->location, lines);
        require(ck_lint_rules_find(rules, finding->rule->id) == finding->rule);
        require(finding->name[0] != '\0' && finding->source_length <= CK_LINT_LINE_MAX);
        require(strlen(finding->source) == finding->source_length && !strchr(finding->source, '\n'));
        require(ck_quote_utf8_valid(finding->source, finding->source_length));
    }
    for (uint32_t i = 0; i < scan->comments_count; i++) {
        check_place(&scan->comments[i].location, lines);
        require(strstr(scan->comments[i].text, CK_LINT_MARKER));
    }
}

static void check_same(const struct ck_lint_scan *one, const struct ck_lint_scan *other)
{
    require(one->skip == other->skip && one->findings_count == other->findings_count);
    for (uint32_t i = 0; i < one->findings_count; i++)
        require(one->findings[i].rule == other->findings[i].rule &&
                one->findings[i].location.line == other->findings[i].location.line &&
                strcmp(one->findings[i].name, other->findings[i].name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ck_lint_rules *rules;
    static struct ck_lint_scanner *scanner;
    struct ck_lint_scan scan, again;
    if (!rules)
        require(ck_lint_rules_load(&rules, NULL) == 0 && ck_lint_scanner_new(rules, &scanner, NULL) == 0);
    if (size == 0)
        return 0;
    const struct ck_grammar *grammar = &ck_grammars[data[0] % CK_GRAMMARS];
    /* A copy of exactly that size, so that the sanitizer sees a read beyond its end. */
    size_t length = size - 1;
    char *text = malloc(length > 0 ? length : 1);
    require(text);
    memcpy(text, data + 1, length);
    require(ck_lint_scan(scanner, grammar, text, length, &scan, NULL) == 0);
    require(ck_lint_scan(scanner, grammar, text, length, &again, NULL) == 0);
    check_scan(rules, &scan, lines_in(text, length));
    check_same(&scan, &again);
    ck_lint_scan_done(&scan);
    ck_lint_scan_done(&again);
    free(text);
    return 0;
}
