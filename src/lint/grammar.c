/* grammar.c - the table of languages, and how a file is assigned to one. See grammar.h. */
#include "lint/grammar.h"

#include "lint/lang/resolve.h"

#include <string.h>

/* tools/grammars.sh compiles these. tree-sitter ships no header that declares them. */
extern const TSLanguage *tree_sitter_python(void);
extern const TSLanguage *tree_sitter_javascript(void);
extern const TSLanguage *tree_sitter_typescript(void);
extern const TSLanguage *tree_sitter_tsx(void);
extern const TSLanguage *tree_sitter_c(void);
extern const TSLanguage *tree_sitter_bash(void);

/* A compound literal outside of a function has static storage. */
#define STRINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/*
 * In the order of enum ck_grammar_id. A .h file may be C++; what the grammar of C cannot read there
 * is a syntax error, and is reported. JSX is part of the grammar of JavaScript.
 */
const struct ck_grammar ck_grammars[CK_GRAMMARS] = {
    {CK_GRAMMAR_PYTHON, "python", STRINGS(".py", ".pyi", ".pyw"), STRINGS("python", "pypy"), tree_sitter_python,
     &ck_python_resolver},
    {CK_GRAMMAR_JAVASCRIPT, "javascript", STRINGS(".js", ".mjs", ".cjs", ".jsx"),
     STRINGS("node", "nodejs", "bun", "qjs"), tree_sitter_javascript, &ck_js_resolver},
    {CK_GRAMMAR_TYPESCRIPT, "typescript", STRINGS(".ts", ".mts", ".cts"), STRINGS("deno", "ts-node"),
     tree_sitter_typescript, &ck_js_resolver},
    {CK_GRAMMAR_TSX, "tsx", STRINGS(".tsx"), STRINGS("tsx"), tree_sitter_tsx, &ck_js_resolver},
    {CK_GRAMMAR_C, "c", STRINGS(".c", ".h"), STRINGS("tcc"), tree_sitter_c, &ck_c_resolver},
    {CK_GRAMMAR_BASH, "bash", STRINGS(".sh", ".bash", ".ksh", ".zsh"),
     STRINGS("sh", "bash", "dash", "ksh", "zsh", "ash"), tree_sitter_bash, &ck_bash_resolver},
};

const struct ck_grammar *ck_grammar_find(const char *name)
{
    for (size_t i = 0; i < CK_GRAMMARS; i++)
        if (strcmp(ck_grammars[i].name, name) == 0)
            return &ck_grammars[i];
    return NULL;
}

/* The part from the last dot of the last name; case matters. */
static const struct ck_grammar *by_extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    /* Not before the slash: "a.py/readme" has no extension. */
    const char *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < CK_GRAMMARS; i++)
        for (const char *const *one = ck_grammars[i].extensions; *one; one++)
            if (strcmp(*one, dot) == 0)
                return &ck_grammars[i];
    return NULL;
}

/* "python3.11" is python: digits and dots may follow the name. */
static bool is_interpreter(const char *word, size_t length, const char *name)
{
    size_t name_length = strlen(name);
    if (length < name_length || memcmp(word, name, name_length) != 0)
        return false;
    /* After "sh" a letter must not follow, or "shfmt" would be a shell. */
    for (size_t i = name_length; i < length; i++)
        if (!strchr("0123456789.-", word[i]))
            return false;
    return true;
}

/* word is not NUL-terminated: it is a part of the first line. */
static const struct ck_grammar *by_interpreter(const char *word, size_t length)
{
    for (size_t i = 0; i < CK_GRAMMARS; i++)
        for (const char *const *one = ck_grammars[i].interpreters; *one; one++)
            if (is_interpreter(word, length, *one))
                return &ck_grammars[i];
    return NULL;
}

/* The next word of the line without its directories; 0 at the end of the line. */
static size_t next_word(const char **at, const char *end, const char **ret_word)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    const char *word = *at;
    for (; *at < end && **at != ' ' && **at != '\t'; ++*at)
        if (**at == '/')
            word = *at + 1;
    *ret_word = word;
    return (size_t)(*at - word);
}

/* Skips the options and assignments of env: "#!/usr/bin/env -S python3 -u". */
static const struct ck_grammar *by_first_line(const char *text, size_t length)
{
    if (length < 2 || memcmp(text, "#!", 2) != 0)
        return NULL;
    const char *end = memchr(text, '\n', length);
    const char *at = text + 2;
    const char *word;
    /* text may be cut after FIRST_LINE_BYTES (lint.c), before the end of the line. */
    end = end ? end : text + length;
    size_t word_length = next_word(&at, end, &word);
    /* env runs the first word that is neither an option nor an assignment. */
    if (word_length == 3 && memcmp(word, "env", 3) == 0)
        do
            word_length = next_word(&at, end, &word);
        while (word_length > 0 && (word[0] == '-' || memchr(word, '=', word_length)));
    return by_interpreter(word, word_length);
}

/* The extension decides where there is one, so that most files need not be read for it. */
const struct ck_grammar *ck_grammar_of(const char *path, const char *text, size_t length)
{
    const struct ck_grammar *grammar = by_extension(path);
    if (!grammar && text)
        grammar = by_first_line(text, length);
    return grammar;
}
