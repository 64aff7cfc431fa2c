/*
 * bash.h - the parts of the resolver for Bash: what a script sets and which commands get input
 * (bash_bind.c), the values of a word (bash_word.c), what a command finally runs (bash_command.c),
 * and the interface (bash_resolve.c).
 *
 * The name of a command is that of the program it finally runs: `sudo env A=1 bash -c x` is "sh",
 * and so is every other shell. "xargs.sh" is a shell that runs for each of many. "sh.stdin" is a
 * shell that reads its script from a pipe or similar. "sh.fetched" is downloaded text that is run
 * as a command. "su" is a program whose option -c takes a line for a shell. "source" also stands
 * for the dot command. A function of the script hides a command of the same name.
 */
#ifndef CK_LINT_LANG_BASH_H
#define CK_LINT_LANG_BASH_H

#include "lint/lang/scopes.h"

/*
 * Variables and functions have separate names in Bash: the first scope has the variables, the
 * second the functions.
 */
#define CK_BASH_VARIABLES 0
#define CK_BASH_FUNCTIONS 1

#define CK_BASH_UNKNOWN '\001' /* in a value: a part that is not known */
#define CK_BASH_WORDS_MAX 256  /* of a command; later words are not examined */

enum ck_bash_kind {
    CK_BASH_OTHER, /* 0: a type that the resolver does not know */
    CK_BASH_COMMAND,
    CK_BASH_COMMAND_NAME,
    CK_BASH_PIPELINE,
    CK_BASH_REDIRECTED, /* a statement with its redirections */
    CK_BASH_HEREDOC,
    CK_BASH_FILE_REDIRECT,
    CK_BASH_HERESTRING,
    CK_BASH_FUNCTION,
    CK_BASH_ASSIGNMENT,
    CK_BASH_LOOP, /* for x in ... */
    CK_BASH_VARIABLE,
    CK_BASH_WORD,
    CK_BASH_RAW,        /* '...' */
    CK_BASH_ANSI,       /* $'...' */
    CK_BASH_STRING,     /* "..." */
    CK_BASH_TRANSLATED, /* $"...", which contains a string */
    CK_BASH_CONCATENATION,
    CK_BASH_EXPANSION,    /* $x and ${x} */
    CK_BASH_SUBSTITUTION, /* $(...) */
    CK_BASH_PROCESS,      /* <(...) */
};

extern const struct ck_kind ck_bash_kinds[];

/* begin of struct ck_lint_resolver. */
int ck_bash_bind(struct ck_lint_source *source);

/* The values of a word after expansion, each as one text. open: other values are possible. */
void ck_bash_values(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *values);

/* Its only value; NULL if there are several, or none is known. */
const char *ck_bash_value(struct ck_scopes *scopes, TSNode node);

enum ck_bash_script {
    CK_BASH_SCRIPT_NONE,  /* it would read its standard input */
    CK_BASH_SCRIPT_FILE,  /* a file, or not known */
    CK_BASH_SCRIPT_TEXT,  /* the argument of -c */
    CK_BASH_SCRIPT_STDIN, /* its standard input, or a process in place of a file */
};

struct ck_bash_command {
    TSNode words[CK_BASH_WORDS_MAX]; /* the name and the arguments */
    uint32_t count, first;           /* first: index of the command that finally runs */
    bool many;                       /* runs once for each item of xargs or find */
    bool past_functions;             /* run by a program, which cannot call its functions */
    bool found;                      /* false: it only asks about a command (command -v) */
    bool herestring;                 /* it has input: <<< text */
    bool cut;                        /* it has more words */
};

void ck_bash_command(struct ck_scopes *scopes, TSNode node, struct ck_bash_command *ret_command);

/*
 * For a shell or a program like su: where its script comes from. *ret_text is the word that is the
 * script or names it, else the word of the shell.
 */
enum ck_bash_script ck_bash_script(struct ck_scopes *scopes, const struct ck_bash_command *command, TSNode *ret_text);

bool ck_bash_is_shell(const char *name);
bool ck_bash_is_like_su(const char *name);

/* The part after the last slash. */
const char *ck_bash_base(const char *value);

/* A file name of standard input or another descriptor: /dev/stdin, /dev/fd/3. */
bool ck_bash_is_descriptor(const char *value);

#endif
