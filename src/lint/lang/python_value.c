/* python_value.c - constants, arguments and names of Python expressions. See python_value.h. */
#include "lint/lang/python_value.h"

#include "lint/lang/python_fold.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096 /* of a string; names are short, so longer ones do not matter */

/* The last is the name of the module in Python 2. */
static const char *const builtin_modules[] = {"builtins", "__builtins__", "__builtin__"};

const char *ck_python_canonical(const char *name)
{
    for (size_t i = 0; i < sizeof(builtin_modules) / sizeof(builtin_modules[0]); i++) {
        size_t length = strlen(builtin_modules[i]);
        if (strncmp(name, builtin_modules[i], length) != 0)
            continue;
        /* Any other byte here is a longer name that only begins alike: "builtins_x". */
        if (name[length] == '\0')
            return "builtins";
        if (name[length] == '.')
            return name + length + 1;
    }
    return name;
}

const char *ck_python_name(struct ck_lint_source *source, const char *text, uint32_t length)
{
    char folded[CK_PYTHON_FOLD_MAX];
    size_t folded_length = 0;
    uint32_t ascii = 0;
    /* Nearly all names are ASCII, and need no folding. */
    while (ascii < length && (unsigned char)text[ascii] < 0x80)
        ascii++;
    if (ascii < length)
        folded_length = ck_python_fold(text, length, folded);
    /*
     * Not foldable: the name stays as it is written. It cannot equal an ASCII name of a rule then.
     */
    return folded_length > 0 ? ck_arena_memdup(source->arena, folded, folded_length)
                             : ck_arena_memdup(source->arena, text, length);
}

const char *ck_python_identifier(struct ck_lint_source *source, TSNode node)
{
    uint32_t start = ts_node_start_byte(node);
    return ck_python_name(source, source->text + start, ts_node_end_byte(node) - start);
}

static TSNode field(TSNode node, TSFieldId id)
{
    return ts_node_child_by_field_id(node, id);
}

/* ---- strings ----------------------------------------------------------------------------- */

/* A string literal without its quotes and escapes. bytes has room for TEXT_MAX. */
struct text {
    char *bytes;
    uint32_t length;
    bool failed; /* too long, or not known */
};

/* Adds bytes, or sets failed if they do not fit. */
static void put(struct text *text, const char *bytes, uint32_t length)
{
    if (text->length + length > TEXT_MAX) {
        text->failed = true;
        return;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

/* As UTF-8, the encoding of the source and of the names in rules. */
static void put_character(struct text *text, unsigned long code)
{
    char bytes[4];
    uint32_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (code > 0x10ffff) {
        text->failed = true;
        return;
    }
    for (uint32_t i = length; i > 1; i--, code >>= 6)
        bytes[i - 1] = (char)(0x80 | (code & 0x3f));
    /* The marks of the first byte: 0xc0, 0xe0, 0xf0 for two, three, four bytes. */
    bytes[0] = (char)(length == 1 ? code : (0xf00u >> length & 0xff) | code);
    put(text, bytes, length);
}

/*
 * Reads the digits of an escape, and returns how many bytes it took. If it is malformed Python
 * refuses the file: sets failed and takes the rest.
 */
static uint32_t put_number(struct text *text, const char *at, uint32_t left, uint32_t digits, int base)
{
    /* The eight digits of \U and a NUL, so that strtoul does not read on. */
    char number[9] = {0};
    char *end;
    uint32_t count = digits < left ? digits : left;
    memcpy(number, at, count);
    unsigned long code = strtoul(number, &end, base);
    uint32_t used = (uint32_t)(end - number);
    /*
     * \x, \u and \U need all their digits; an octal escape has one to three. strtoul skips blanks
     * at the start, so the first byte is checked.
     */
    if (used == 0 || (base == 16 && used != digits) || !strchr("+-0123456789abcdefABCDEF", number[0])) {
        text->failed = true;
        return left;
    }
    put_character(text, code);
    return used;
}

/* Reads an escape after its backslash. Returns how many bytes it took. */
static uint32_t put_escape(struct text *text, const char *at, uint32_t left)
{
    /* One meaning for each letter, at the same index. */
    static const char plain[] = "\\'\"abfnrtv";
    static const char meant[] = "\\'\"\a\b\f\n\r\t\v";
    const char *found = memchr(plain, at[0], sizeof(plain) - 1);
    if (found) {
        put(text, &meant[found - plain], 1);
        return 1;
    }
    switch (at[0]) {
    /* A backslash at the end of a line joins the lines. */
    case '\n':
        return 1;
    case 'x':
        return 1 + put_number(text, at + 1, left - 1, 2, 16);
    case 'u':
        return 1 + put_number(text, at + 1, left - 1, 4, 16);
    case 'U':
        return 1 + put_number(text, at + 1, left - 1, 8, 16);
    case '0' ... '7':
        return put_number(text, at, left, 3, 8);
    default: /* Python keeps the backslash of an unknown escape; \N{...} is not decoded */
        text->failed = text->failed || at[0] == 'N' || at[0] == '\r';
        put(text, "\\", 1);
        return 0;
    }
}

/* Adds what is between the quotes. In a raw string a backslash is a plain character. */
static void put_contents(struct text *text, const char *at, uint32_t length, bool raw)
{
    for (uint32_t i = 0; i < length && !text->failed;) {
        if (raw || at[i] != '\\' || i + 1 == length)
            put(text, &at[i++], 1);
        else
            i += 1 + put_escape(text, at + i + 1, length - i - 1);
    }
}

/* Adds one literal. An f-string without a field is a plain string. */
static void put_string(struct ck_lint_source *source, TSNode node, struct text *text)
{
    uint32_t count = ts_node_child_count(node);
    TSNode start = ts_node_child(node, 0);
    TSNode end = count > 1 ? ts_node_child(node, count - 1) : start;
    /*
     * Two or three children: the quotes, and the content if there is any. More children are the
     * fields of an f-string. Their values are not known.
     */
    if (count < 2 || count > 3 || ts_node_symbol(start) != ck_python_symbols()->string_start_ ||
        ts_node_symbol(end) != ck_python_symbols()->string_end_ ||
        (count == 3 && ts_node_symbol(ts_node_child(node, 1)) != ck_python_symbols()->string_content_)) {
        text->failed = true;
        return;
    }
    uint32_t from = ts_node_end_byte(start);
    const char *prefix = source->text + ts_node_start_byte(start);
    size_t prefix_length = from - ts_node_start_byte(start);
    /* string_start is the prefix with the quotes: rb""". */
    bool raw = memchr(prefix, 'r', prefix_length) || memchr(prefix, 'R', prefix_length);
    if (memchr(prefix, '`', prefix_length)) { /* Python 2: an expression */
        text->failed = true;
        return;
    }
    put_contents(text, source->text + from, ts_node_start_byte(end) - from, raw);
}

static void put_expression(struct ck_lint_source *source, TSNode node, unsigned depth, struct text *text);

/* "sys" "tem": adjacent literals are one string. Comments may be between them. */
static void put_concatenated(struct ck_lint_source *source, TSNode node, struct text *text)
{
    uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count && !text->failed && i < TEXT_MAX; i++) {
        TSNode part = ts_node_named_child(node, i);
        if (ts_node_symbol(part) == ck_python_symbols()->string_)
            put_string(source, part, text);
        else
            text->failed = ts_node_symbol(part) != ck_python_symbols()->comment_;
    }
}

/* "sys" + "tem". Any other operator makes a text that is not known. */
static void put_sum(struct ck_lint_source *source, TSNode node, unsigned depth, struct text *text)
{
    TSNode sign = field(node, ck_python_fields()->operator_);
    if (ts_node_is_null(sign) || !ck_lint_source_is(source, sign, "+")) {
        text->failed = true;
        return;
    }
    put_expression(source, field(node, ck_python_fields()->left_), depth + 1, text);
    put_expression(source, field(node, ck_python_fields()->right_), depth + 1, text);
}

/*
 * Adds the text of an expression. failed once set stays set, so callers need no check between
 * parts.
 */
static void put_expression(struct ck_lint_source *source, TSNode node, unsigned depth, struct text *text)
{
    const struct ck_python_symbols *is = ck_python_symbols();
    TSSymbol symbol = ts_node_is_null(node) ? 0 : ts_node_symbol(node);
    text->failed = text->failed || depth > CK_RESOLVE_DEPTH;
    if (text->failed)
        return;
    if (symbol == is->string_)
        put_string(source, node, text);
    else if (symbol == is->concatenated_string_)
        put_concatenated(source, node, text);
    else if (symbol == is->binary_operator_)
        put_sum(source, node, depth, text);
    else if (symbol == is->parenthesized_expression_)
        put_expression(source, ts_node_named_child(node, 0), depth + 1, text);
    else if (symbol == is->identifier_)
        put_expression(source, ck_python_only_value(source, node), depth + 1, text);
    else
        text->failed = true;
}

/*
 * Expressions that may be a text. 1 + 2 is one of them too: put_expression fails at the numbers,
 * and the value stays unknown.
 */
static bool is_text(TSSymbol symbol)
{
    const struct ck_python_symbols *is = ck_python_symbols();
    return symbol == is->string_ || symbol == is->concatenated_string_ || symbol == is->binary_operator_;
}

/* Leaves *ret_constant as it is (CK_CONSTANT_NOT) if the text is not known. */
static void constant_text(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_constant *ret_constant)
{
    char bytes[TEXT_MAX];
    struct text text = {.bytes = bytes};
    put_expression(source, node, depth, &text);
    if (text.failed)
        return;
    ret_constant->text = ck_arena_memdup(source->arena, bytes, text.length);
    ret_constant->length = text.length;
    ret_constant->kind = ret_constant->text ? CK_CONSTANT_TEXT : CK_CONSTANT_NOT;
}

/* ---- truth ------------------------------------------------------------------------------- */

/* The kind of a value that is known to be true or false. */
static enum ck_constant_kind known(bool truth)
{
    return truth ? CK_CONSTANT_TRUE : CK_CONSTANT_FALSE;
}

/* A number is false if all its digits are 0, in every base. 0e5 is not worked out. */
static enum ck_constant_kind truth_of_number(const struct ck_lint_source *source, TSNode node)
{
    const char *at = source->text + ts_node_start_byte(node);
    uint32_t length = ts_node_end_byte(node) - ts_node_start_byte(node);
    /* Skips the mark of the base. */
    uint32_t i = length > 1 && at[0] == '0' && strchr("xXbBoO", at[1]) ? 2 : 0;
    for (; i < length; i++)
        if (!strchr("0_.jJ", at[i]))
            return strchr("eE", at[i]) && at[0] == '0' ? CK_CONSTANT_NOT : CK_CONSTANT_TRUE;
    return CK_CONSTANT_FALSE;
}

/* A container is true if it has an item. A splat may be empty, so it decides nothing. */
static enum ck_constant_kind truth_of_container(TSNode node)
{
    /*
     * Ends at the first child that is not a comment. The limit is for a file with many comments:
     * ts_node_named_child counts from the start each time.
     */
    for (uint32_t i = 0; i < ts_node_named_child_count(node) && i < TEXT_MAX; i++) {
        TSSymbol symbol = ts_node_symbol(ts_node_named_child(node, i));
        if (symbol == ck_python_symbols()->list_splat_ || symbol == ck_python_symbols()->dictionary_splat_)
            return CK_CONSTANT_NOT;
        if (symbol != ck_python_symbols()->comment_)
            return CK_CONSTANT_TRUE;
    }
    return CK_CONSTANT_FALSE;
}

/* "not x": the opposite. An empty text is false. */
static enum ck_constant_kind truth_of_not(struct ck_lint_source *source, TSNode node, unsigned depth)
{
    struct ck_constant inner = {.kind = CK_CONSTANT_NOT};
    ck_python_constant(source, ts_node_named_child(node, 0), depth + 1, &inner);
    if (inner.kind == CK_CONSTANT_TEXT)
        return known(inner.length == 0);
    return inner.kind == CK_CONSTANT_NOT ? CK_CONSTANT_NOT : known(inner.kind == CK_CONSTANT_FALSE);
}

/* Is an expression that is not a text true or false? A function (lambda) is true. */
static enum ck_constant_kind truth_of(struct ck_lint_source *source, TSNode node, TSSymbol symbol, unsigned depth)
{
    const struct ck_python_symbols *is = ck_python_symbols();
    if (symbol == is->true_ || symbol == is->lambda_)
        return CK_CONSTANT_TRUE;
    if (symbol == is->false_ || symbol == is->none_)
        return CK_CONSTANT_FALSE;
    if (symbol == is->integer_ || symbol == is->float_)
        return truth_of_number(source, node);
    if (symbol == is->list_ || symbol == is->tuple_ || symbol == is->dictionary_ || symbol == is->set_)
        return truth_of_container(node);
    return symbol == is->not_operator_ ? truth_of_not(source, node, depth) : CK_CONSTANT_NOT;
}

void ck_python_constant(struct ck_lint_source *source, TSNode node, unsigned depth, struct ck_constant *ret_constant)
{
    const struct ck_python_symbols *is = ck_python_symbols();
    TSSymbol symbol = ts_node_is_null(node) ? 0 : ts_node_symbol(node);
    *ret_constant = (struct ck_constant){.kind = CK_CONSTANT_NOT};
    if (depth > CK_RESOLVE_DEPTH || symbol == 0)
        return;
    if (is_text(symbol))
        constant_text(source, node, depth, ret_constant);
    else if (symbol == is->parenthesized_expression_)
        ck_python_constant(source, ts_node_named_child(node, 0), depth + 1, ret_constant);
    /* (x := value) is the value. */
    else if (symbol == is->named_expression_)
        ck_python_constant(source, field(node, ck_python_fields()->value_), depth + 1, ret_constant);
    else if (symbol == is->identifier_)
        ck_python_constant(source, ck_python_only_value(source, node), depth + 1, ret_constant);
    else
        ret_constant->kind = truth_of(source, node, symbol, depth);
}

/* ---- arguments --------------------------------------------------------------------------- */

static enum ck_argument find_argument(struct ck_lint_source *source, TSNode arguments, const char *keyword,
                                      int32_t position, unsigned depth, TSNode *ret_value);

/*
 * Is this key of a dict the keyword? *ret_known is false if the key cannot be worked out. Depth may
 * start again at 1: a constant never leads back to arguments.
 */
static bool is_key(struct ck_lint_source *source, TSNode key, const char *keyword, bool *ret_known)
{
    struct ck_constant constant = {.kind = CK_CONSTANT_NOT};
    ck_python_constant(source, key, 1, &constant);
    *ret_known = constant.kind != CK_CONSTANT_NOT;
    return constant.kind == CK_CONSTANT_TEXT && constant.text && constant.length == strlen(keyword) &&
           memcmp(constant.text, keyword, constant.length) == 0;
}

/*
 * The value of the keyword in **node. Only a literal or dict(...) at this place is known to lack
 * it: a dict in a variable may have been changed since.
 */
static enum ck_argument find_in_mapping(struct ck_lint_source *source, TSNode node, const char *keyword, unsigned depth,
                                        TSNode *ret_value)
{
    const struct ck_python_symbols *is = ck_python_symbols();
    enum ck_argument found = CK_ARGUMENT_ABSENT;
    TSSymbol symbol = ts_node_is_null(node) ? 0 : ts_node_symbol(node);
    if (depth > CK_RESOLVE_DEPTH || symbol == 0)
        return CK_ARGUMENT_UNKNOWN;
    if (symbol == is->parenthesized_expression_)
        return find_in_mapping(source, ts_node_named_child(node, 0), keyword, depth + 1, ret_value);
    if (symbol == is->identifier_) {
        found = find_in_mapping(source, ck_python_only_value(source, node), keyword, depth + 1, ret_value);
        return found == CK_ARGUMENT_PRESENT ? found : CK_ARGUMENT_UNKNOWN;
    }
    /* dict(shell=True): the arguments of that call are the entries. */
    if (symbol == is->call_ && ck_lint_source_is(source, field(node, ck_python_fields()->function_), "dict"))
        return find_argument(source, field(node, ck_python_fields()->arguments_), keyword, -1, depth + 1, ret_value);
    if (symbol != is->dictionary_)
        return CK_ARGUMENT_UNKNOWN;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode entry = ts_tree_cursor_current_node(&cursor);
        bool key_known = true;
        enum ck_argument there = CK_ARGUMENT_ABSENT;
        if (ts_node_symbol(entry) == is->dictionary_splat_)
            there = find_in_mapping(source, ts_node_named_child(entry, 0), keyword, depth + 1, ret_value);
        else if (ts_node_symbol(entry) == is->pair_ &&
                 is_key(source, field(entry, ck_python_fields()->key_), keyword, &key_known)) {
            *ret_value = field(entry, ck_python_fields()->value_);
            there = CK_ARGUMENT_PRESENT;
        }
        /*
         * The last entry of a key counts, as in Python. An entry that is not known does not hide
         * one that is present: a rule must still see shell=True.
         */
        if (there == CK_ARGUMENT_PRESENT || (found != CK_ARGUMENT_PRESENT && there == CK_ARGUMENT_UNKNOWN))
            found = there;
        else if (!key_known && found == CK_ARGUMENT_ABSENT)
            found = CK_ARGUMENT_UNKNOWN;
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* The search for one argument in a list of arguments. */
struct argument_search {
    const char *keyword;  /* NULL: by position only */
    int32_t position, at; /* position -1: by keyword only; at: positional ones seen so far */
    unsigned depth;
    bool spread;            /* positions after *args are not known */
    enum ck_argument found; /* so far; zero is CK_ARGUMENT_ABSENT */
};

/* Examines one child of the list: a keyword, **mapping, *sequence, or a positional argument. */
static void check_argument(struct ck_lint_source *source, TSNode node, struct argument_search *search,
                           TSNode *ret_value)
{
    const struct ck_python_symbols *is = ck_python_symbols();
    TSSymbol symbol = ts_node_symbol(node);
    enum ck_argument there = CK_ARGUMENT_ABSENT;
    TSNode value = {0};
    if (symbol == is->keyword_argument_) {
        TSNode name = field(node, ck_python_fields()->name_);
        value = field(node, ck_python_fields()->value_);
        if (search->keyword && !ts_node_is_null(name) && ck_lint_source_is(source, name, search->keyword))
            there = CK_ARGUMENT_PRESENT;
    } else if (symbol == is->dictionary_splat_) {
        if (search->keyword)
            there = find_in_mapping(source, ts_node_named_child(node, 0), search->keyword, search->depth, &value);
    } else if (symbol == is->list_splat_) {
        search->spread = true;
        /* A position before the star was examined already. */
        there = search->position >= 0 && search->at <= search->position ? CK_ARGUMENT_UNKNOWN : CK_ARGUMENT_ABSENT;
    } else if (symbol != is->comment_) {
        value = node;
        if (!search->spread && search->at++ == search->position)
            there = CK_ARGUMENT_PRESENT;
    }
    if (there == CK_ARGUMENT_PRESENT && !ts_node_is_null(value))
        *ret_value = value;
    if (there == CK_ARGUMENT_PRESENT || (search->found == CK_ARGUMENT_ABSENT && there == CK_ARGUMENT_UNKNOWN))
        search->found = there;
}

/* See ck_lint_resolver.argument. depth is for dict(**dict(...)), which comes back here. */
static enum ck_argument find_argument(struct ck_lint_source *source, TSNode arguments, const char *keyword,
                                      int32_t position, unsigned depth, TSNode *ret_value)
{
    struct argument_search search = {.keyword = keyword, .position = position, .depth = depth};
    if (ts_node_is_null(arguments) || depth > CK_RESOLVE_DEPTH)
        return CK_ARGUMENT_UNKNOWN;
    /* f(x for x in y): the grammar has no list of arguments then. */
    if (ts_node_symbol(arguments) == ck_python_symbols()->generator_expression_) {
        *ret_value = arguments;
        return position == 0 ? CK_ARGUMENT_PRESENT : CK_ARGUMENT_ABSENT;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(arguments);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && search.found != CK_ARGUMENT_PRESENT;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(node))
            check_argument(source, node, &search, ret_value);
    }
    ts_tree_cursor_delete(&cursor);
    return search.found;
}

enum ck_argument ck_python_argument(struct ck_lint_source *source, TSNode arguments, const char *keyword,
                                    int32_t position, TSNode *ret_value)
{
    return find_argument(source, arguments, keyword, position, 0, ret_value);
}

/* ---- the encoding ------------------------------------------------------------------------ */

/* Encodings that contain ASCII, by the start of their names in Python; lower case, with "-". */
static const char *const usual_encodings[] = {"utf-8",     "utf8",     "ascii", "us-ascii",    "latin-1", "latin1",
                                              "iso-8859-", "iso8859-", "cp125", "windows-125", "koi8-r"};

/*
 * Compares as Python does: case does not matter, and "_" is "-". The start is enough: utf-8-sig,
 * iso-8859-15. Not usual is for example utf-7, in which ASCII bytes can be other letters.
 */
static bool is_usual_encoding(const char *name, size_t length)
{
    /* A longer name is cut, which is enough to compare the start. */
    char word[32] = {0};
    for (size_t i = 0; i < length && i < sizeof(word) - 1; i++) {
        word[i] = name[i] == '_' ? '-' : name[i];
        if (word[i] >= 'A' && word[i] <= 'Z')
            word[i] = (char)(word[i] - 'A' + 'a');
    }
    for (size_t i = 0; i < sizeof(usual_encodings) / sizeof(usual_encodings[0]); i++)
        if (strncmp(word, usual_encodings[i], strlen(usual_encodings[i])) == 0)
            return true;
    return false;
}

/* The encoding that one of the first two lines declares (PEP 263); NULL if it declares none. */
static const char *declared_encoding(const char *text, const char *end, size_t *ret_length)
{
    /* From the regular expression in PEP 263: coding[:=][ \t]*([-_.a-zA-Z0-9]+). */
    static const char letters[] = "-_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    /* "coding", a sign, and at least one byte of the name. */
    for (const char *at = text; at + 7 < end; at++) {
        if (memcmp(at, "coding", 6) != 0 || (at[6] != ':' && at[6] != '='))
            continue;
        const char *name = at + 7;
        while (name < end && (*name == ' ' || *name == '\t'))
            name++;
        size_t length = 0;
        while (name + length < end && memchr(letters, name[length], sizeof(letters) - 1))
            length++;
        if (length > 0) {
            *ret_length = length;
            return name;
        }
    }
    return NULL;
}

bool ck_python_readable(const char *text, size_t length)
{
    const char *end = text + length;
    for (int i = 0; i < 2 && text < end; i++) {
        const char *line_end = text;
        while (line_end < end && *line_end != '\n' && *line_end != '\r')
            line_end++;
        while (text < line_end && (*text == ' ' || *text == '\t' || *text == '\f'))
            text++;
        /* Python looks at the second line only if the first is blank or a comment. */
        if (text < line_end && *text != '#')
            return true;
        size_t name_length;
        const char *name = declared_encoding(text, line_end, &name_length);
        if (name)
            return is_usual_encoding(name, name_length);
        /* \n, \r and \r\n end a line in Python. */
        text = line_end + (line_end + 1 < end && line_end[0] == '\r' && line_end[1] == '\n' ? 2 : 1);
    }
    return true;
}
