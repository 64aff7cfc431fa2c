/*
 * scan.c - scans one file. See scan.h.
 *
 * The steps are in the order of their cost: the size and bytes of the file, its words
 * (prefilter.h), the parse, the names, the rules. Most files end at the second step.
 *
 * libtree-sitter ends the process when memory runs out, and offers no other way. The limit on the
 * size of a file, and the few files that are scanned at one time, keep its need small.
 */
#include "lint/scan.h"

#include "base/error.h"
#include "base/quote.h"
#include "lint/match.h"
#include "lint/prefilter.h"
#include "lint/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARSE_MAX_MICROSECONDS ((uint64_t)5000000) /* a normal file takes milliseconds */
#define WORK_MAX_BYTES ((size_t)64 << 20)          /* for the resolver, per file */
#define COMMENTS_MAX 10000                         /* of a file; later waivers have no effect */

/* For one thread. The parser and the cursor are reused, which saves their allocations per file. */
struct ck_lint_scanner {
    const struct ck_lint_rules *rules;
    TSParser *parser;
    TSQueryCursor *cursor;
};

/* By enum ck_lint_skip. They appear in the report. */
static const char *const skip_reasons[] = {
    [CK_LINT_SCANNED] = "scanned",
    [CK_LINT_SKIP_LARGE] = "larger than 4 MiB",
    [CK_LINT_SKIP_BINARY] = "binary",
    [CK_LINT_SKIP_ENCODING] = "not UTF-8",
    [CK_LINT_SKIP_DEEP] = "nested too deeply to be scanned in full",
    [CK_LINT_SKIP_MEMORY] = "takes too much memory to resolve",
    [CK_LINT_SKIP_TIME] = "takes too long to parse",
};

const char *ck_lint_skip_reason(enum ck_lint_skip skip)
{
    _Static_assert(CK_LINT_FILE_MAX_BYTES == (size_t)4 << 20, "the reason for a large file names the limit");
    return skip_reasons[skip];
}

int ck_lint_scanner_new(const struct ck_lint_rules *rules, struct ck_lint_scanner **ret_scanner,
                        struct choke_error *error)
{
    struct ck_lint_scanner *scanner = calloc(1, sizeof(*scanner));
    if (!scanner)
        return ck_error_oom(error);
    scanner->rules = rules;
    /* No check for NULL: see the top of this file. */
    scanner->parser = ts_parser_new();
    scanner->cursor = ts_query_cursor_new();
    ts_parser_set_timeout_micros(scanner->parser, PARSE_MAX_MICROSECONDS);
    *ret_scanner = scanner;
    return 0;
}

void ck_lint_scanner_free(struct ck_lint_scanner *scanner)
{
    if (!scanner)
        return;
    ts_query_cursor_delete(scanner->cursor);
    ts_parser_delete(scanner->parser);
    free(scanner);
}

void ck_lint_scan_done(struct ck_lint_scan *scan)
{
    ck_arena_done(&scan->arena);
    *scan = (struct ck_lint_scan){0};
}

/* ---- places ------------------------------------------------------------------------------ */

/*
 * The position up to which characters are counted. The next place is likely further on, and a line
 * may be the whole file: to count from its start each time would take quadratic time.
 */
struct counted {
    uint32_t line_start, byte, characters;
};

/* Starts and ends are counted apart, because each of them mostly increases. */
struct columns {
    struct counted start, end;
};

/*
 * Counts the characters before a place on its line: all bytes but the continuation bytes of UTF-8.
 */
static uint32_t count_characters(const struct ck_lint_source *source, struct counted *counted, uint32_t byte,
                                 uint32_t byte_column)
{
    /* Another line, or a place before the last one: starts again at the start of the line. */
    if (counted->line_start != byte - byte_column || counted->byte > byte)
        *counted = (struct counted){byte - byte_column, byte - byte_column, 0};
    for (; counted->byte < byte; counted->byte++)
        counted->characters += ((unsigned char)source->text[counted->byte] & 0xc0) != 0x80;
    return counted->characters;
}

/* tree-sitter counts rows and bytes from 0. Reports count from 1, and have characters too. */
static struct ck_lint_location location_of(const struct ck_lint_source *source, struct columns *columns, TSNode node)
{
    TSPoint start = ts_node_start_point(node);
    TSPoint end = ts_node_end_point(node);
    return (struct ck_lint_location){
        .line = start.row + 1,
        .column = count_characters(source, &columns->start, ts_node_start_byte(node), start.column) + 1,
        .byte_column = start.column + 1,
        .end_line = end.row + 1,
        .end_column = count_characters(source, &columns->end, ts_node_end_byte(node), end.column) + 1,
        .end_byte_column = end.column + 1,
    };
}

/* The line on which the node begins. A line that is too long is cut between two characters. */
static const char *line_of(const struct ck_lint_source *source, struct ck_arena *arena, TSNode node,
                           uint32_t *ret_length)
{
    uint32_t start = ts_node_start_byte(node) - ts_node_start_point(node).column;
    const char *line = source->text + start;
    uint32_t left = source->length - start;
    /* One byte more than the maximum, to see below whether the line is too long. */
    uint32_t length = left > CK_LINT_LINE_MAX ? CK_LINT_LINE_MAX + 1 : left;
    const char *newline = memchr(line, '\n', length);
    if (newline)
        length = (uint32_t)(newline - line);
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length > CK_LINT_LINE_MAX) {
        length = CK_LINT_LINE_MAX;
        while (length > 0 && ((unsigned char)line[length] & 0xc0) == 0x80)
            length--;
    }
    *ret_length = length;
    return ck_arena_memdup(arena, line, length);
}

/* ---- what is kept ------------------------------------------------------------------------ */

/* False when memory ran out, here or when the name was resolved. */
static bool keep_finding(const struct ck_lint_source *source, struct columns *columns,
                         const struct ck_lint_match *match, struct ck_lint_scan *scan)
{
    struct ck_lint_finding *finding = &scan->findings[scan->findings_count];
    finding->rule = match->rule;
    finding->location = location_of(source, columns, match->site);
    finding->name = match->resolved ? ck_arena_strdup(&scan->arena, match->resolved) : NULL;
    finding->source = line_of(source, &scan->arena, match->site, &finding->source_length);
    scan->findings_count++;
    return finding->name && finding->source;
}

/* Copies all out of the tree and its arena, which are freed after the scan. */
static int keep_findings(const struct ck_lint_source *source, const struct ck_lint_matches *matches,
                         struct ck_lint_scan *scan)
{
    uint32_t count = matches->count < CK_LINT_FINDINGS_MAX ? matches->count : CK_LINT_FINDINGS_MAX;
    struct columns columns = {0};
    scan->findings_dropped = matches->count - count;
    scan->findings = ck_arena_array(&scan->arena, count, sizeof(*scan->findings));
    if (!scan->findings)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (!keep_finding(source, &columns, &matches->items[i], scan))
            return -ENOMEM;
    return 0;
}

/* An upper bound of the comments with a marker, to allocate them at once. */
static uint32_t count_markers(const struct ck_lint_source *source)
{
    uint32_t count = 0;
    const char *end = source->text + source->length;
    for (const char *at = source->text; count < COMMENTS_MAX; at++, count++) {
        at = memmem(at, (size_t)(end - at), CK_LINT_MARKER, strlen(CK_LINT_MARKER));
        if (!at)
            break;
    }
    return count;
}

/*
 * Keeps the comments that contain a marker, each once. A marker outside of a comment (in a string)
 * does not count.
 */
static int keep_comments(const struct ck_lint_source *source, struct ck_lint_scan *scan)
{
    uint32_t markers = count_markers(source);
    uint32_t last_end = 0;
    struct columns columns = {0};
    const char *end = source->text + source->length;
    scan->comments = ck_arena_array(&scan->arena, markers, sizeof(*scan->comments));
    if (!scan->comments)
        return -ENOMEM;
    for (const char *at = source->text; markers > 0; markers--, at++) {
        at = memmem(at, (size_t)(end - at), CK_LINT_MARKER, strlen(CK_LINT_MARKER));
        /* at is not NULL: count_markers found this many in the same way. */
        uint32_t byte = (uint32_t)(at - source->text);
        TSNode node = ts_node_descendant_for_byte_range(source->root, byte, byte + 1);
        if (!ck_lint_node_is(node, "comment") || ts_node_start_byte(node) < last_end)
            continue;
        last_end = ts_node_end_byte(node);
        struct ck_lint_comment *comment = &scan->comments[scan->comments_count++];
        comment->location = location_of(source, &columns, node);
        comment->length = last_end - ts_node_start_byte(node);
        comment->text = ck_arena_memdup(&scan->arena, source->text + ts_node_start_byte(node), comment->length);
        if (!comment->text)
            return -ENOMEM;
    }
    return 0;
}

/*
 * Finds the first syntax error in the tree: descends into the first child that has an error, down
 * to an ERROR node or a token that the parser inserted (missing).
 */
static void note_broken(const struct ck_lint_source *source, struct ck_lint_scan *scan)
{
    TSTreeCursor cursor = ts_tree_cursor_new(source->root);
    TSNode node = source->root;
    scan->broken = ts_node_has_error(source->root);
    while (scan->broken && !ts_node_is_missing(node) && !ck_lint_node_is(node, "ERROR")) {
        if (!ts_tree_cursor_goto_first_child(&cursor))
            break;
        while (!ts_node_has_error(ts_tree_cursor_current_node(&cursor)) &&
               !ts_node_is_missing(ts_tree_cursor_current_node(&cursor)) && ts_tree_cursor_goto_next_sibling(&cursor))
            continue;
        node = ts_tree_cursor_current_node(&cursor);
    }
    scan->broken_line = scan->broken ? ts_node_start_point(node).row + 1 : 0;
    ts_tree_cursor_delete(&cursor);
}

/* ---- one file ---------------------------------------------------------------------------- */

/*
 * The order is by cost. The resolver decides last whether the language reads these bytes as we do.
 */
static enum ck_lint_skip check_bytes(const struct ck_grammar *grammar, const char *text, size_t length)
{
    if (length > CK_LINT_FILE_MAX_BYTES)
        return CK_LINT_SKIP_LARGE;
    if (memchr(text, '\0', length))
        return CK_LINT_SKIP_BINARY;
    if (!ck_quote_utf8_valid(text, length))
        return CK_LINT_SKIP_ENCODING;
    bool (*readable)(const char *, size_t) = grammar->resolver->readable;
    return !readable || readable(text, length) ? CK_LINT_SCANNED : CK_LINT_SKIP_ENCODING;
}

/* An unused waiver is a finding too, so a file with a marker is always parsed. */
static bool is_worth_parsing(const struct ck_lint_ruleset *ruleset, const char *text, size_t length)
{
    return ruleset && (ck_prefilter_may_match(ruleset->prefilter, text, length) ||
                       memmem(text, length, CK_LINT_MARKER, strlen(CK_LINT_MARKER)));
}

/* Findings are kept also when the file was not scanned in full. Then skip says why. */
static int scan_tree(struct ck_lint_scanner *scanner, struct ck_lint_source *source, struct ck_lint_scan *scan)
{
    __attribute__((cleanup(ck_lint_matches_done))) struct ck_lint_matches matches = {0};
    note_broken(source, scan);
    int r = source->grammar->resolver->begin(source);
    if (r < 0) { /* the arena has a limit, so this is the file and not the machine */
        scan->skip = CK_LINT_SKIP_MEMORY;
        return 0;
    }
    r = ck_lint_match_all(source, scanner->cursor, &matches);
    if (r == 0)
        r = keep_findings(source, &matches, scan);
    if (r == 0)
        r = keep_comments(source, scan);
    if (matches.too_deep || source->exhausted)
        scan->skip = CK_LINT_SKIP_DEEP;
    if (matches.timed_out)
        scan->skip = CK_LINT_SKIP_TIME;
    return r;
}

/* The arena of the resolver is freed at the end of this function. */
static int scan_parsed(struct ck_lint_scanner *scanner, const struct ck_lint_program *program, TSTree *tree,
                       const char *text, size_t length, struct ck_lint_scan *scan)
{
    __attribute__((cleanup(ck_arena_done))) struct ck_arena work = {.max_bytes = WORK_MAX_BYTES};
    struct ck_lint_source source = {.text = text,
                                    .length = (uint32_t)length,
                                    .root = ts_tree_root_node(tree),
                                    .grammar = program->grammar,
                                    .program = program,
                                    .arena = &work};
    scan->parsed = true;
    return scan_tree(scanner, &source, scan);
}

/* The queries are compiled here, when a file of the language is first parsed. */
static int parse_and_scan(struct ck_lint_scanner *scanner, const struct ck_grammar *grammar, const char *text,
                          size_t length, struct ck_lint_scan *scan, struct choke_error *error)
{
    const struct ck_lint_program *program;
    int r = ck_lint_program_get(scanner->rules, grammar, &program, error);
    if (r < 0)
        return r;
    /* After a timeout the parser would otherwise resume the file before. */
    ts_parser_reset(scanner->parser);
    if (!ts_parser_set_language(scanner->parser, grammar->language()))
        return ck_error_set(error, CHOKE_NONE, ENOTSUP, "libtree-sitter cannot read the grammar of %s", grammar->name);
    TSTree *tree = ts_parser_parse_string(scanner->parser, NULL, text, (uint32_t)length);
    if (!tree) { /* only after a timeout: a language is set */
        scan->skip = CK_LINT_SKIP_TIME;
        return 0;
    }
    r = scan_parsed(scanner, program, tree, text, length, scan);
    ts_tree_delete(tree);
    return r < 0 ? ck_error_oom(error) : 0;
}

int ck_lint_scan(struct ck_lint_scanner *scanner, const struct ck_grammar *grammar, const char *text, size_t length,
                 struct ck_lint_scan *ret_scan, struct choke_error *error)
{
    struct ck_lint_scan scan = {.skip = check_bytes(grammar, text, length)};
    int r = 0;
    if (scan.skip == CK_LINT_SCANNED && is_worth_parsing(scanner->rules->by_grammar[grammar->id], text, length))
        r = parse_and_scan(scanner, grammar, text, length, &scan, error);
    if (r < 0)
        ck_lint_scan_done(&scan);
    else
        *ret_scan = scan;
    return r;
}
