/*
 * bash.h - the parts of the resolver of Bash: what a script sets and feeds (bash_bind.c), what a word may be (bash_word.c), what a
 * command runs in the end (bash_command.c), and the port (resolve_bash.c).
 *
 * A name is that of the command which is run in the end: `sudo env A=1 bash -c x` is "sh", and so is every other shell. "xargs.sh"
 * is a shell that is run for each of many; "sh.stdin" one that reads its script from a pipe or the like; "sh.fetched"
 * the text of a download that is run as a command; "su" is what takes a line for a shell by its option -c; "source" is the
 * dot too. A function of the script hides what has its name.
 */
#ifndef CK_LINT_LANG_BASH_H
#define CK_LINT_LANG_BASH_H

#include "lint/lang/scopes.h"

/* Variables and functions have names of their own: the first scope is for the former, the second for the latter. */
#define CK_BASH_VARIABLES 0
#define CK_BASH_FUNCTIONS 1

#define CK_BASH_UNKNOWN '\001' /* stands in a value for a part that is not known */
#define CK_BASH_WORDS_MAX 256  /* of a command; those after it are not looked at */

enum ck_bash_kind {
    CK_BASH_OTHER,
    CK_BASH_COMMAND,
    CK_BASH_COMMAND_NAME,
    CK_BASH_PIPELINE,
    CK_BASH_REDIRECTED,
    CK_BASH_HEREDOC,
    CK_BASH_FILE_REDIRECT,
    CK_BASH_HERESTRING,
    CK_BASH_FUNCTION,
    CK_BASH_ASSIGNMENT,
    CK_BASH_LOOP,
    CK_BASH_VARIABLE,
    CK_BASH_WORD,
    CK_BASH_RAW,
    CK_BASH_ANSI,
    CK_BASH_STRING,
    CK_BASH_TRANSLATED,
    CK_BASH_CONCATENATION,
    CK_BASH_EXPANSION,
    CK_BASH_SUBSTITUTION,
    CK_BASH_PROCESS,
};

extern const struct ck_kind ck_bash_kinds[];

/* The begin of the resolver. */
int ck_bash_bind(struct ck_lint_source *source);

/* What a word may be once it is expanded, each as one text. open: something else as well. */
void ck_bash_values(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_lint_names *values);

/* Its one value; NULL where there are several, or none is known. */
const char *ck_bash_value(struct ck_scopes *scopes, TSNode node);

enum ck_bash_script {
    CK_BASH_SCRIPT_NONE,  /* it would read its standard input */
    CK_BASH_SCRIPT_FILE,  /* a file, or something that cannot be told */
    CK_BASH_SCRIPT_TEXT,  /* the argument of -c */
    CK_BASH_SCRIPT_STDIN, /* its standard input, or a process in place of a file */
};

struct ck_bash_command {
    TSNode words[CK_BASH_WORDS_MAX];
    uint32_t count, first; /* which word is the command that is run in the end */
    bool many;             /* for each of what xargs or find gives */
    bool past_functions;   /* what runs it does not know the script's functions */
    bool found;            /* false: it only asks about a command */
    bool herestring;
    bool cut; /* it has more words */
};

void ck_bash_command(struct ck_scopes *scopes, TSNode node, struct ck_bash_command *ret_command);

/* Of a shell, or of what is like su: where its script comes from; the word that is the script or names it, else the shell's. */
enum ck_bash_script ck_bash_script(struct ck_scopes *scopes, const struct ck_bash_command *command, TSNode *ret_text);

bool ck_bash_is_shell(const char *name);
bool ck_bash_is_like_su(const char *name);

/* The part after the last slash. */
const char *ck_bash_base(const char *value);

/* A way to say the standard input, or a descriptor, as a file. */
bool ck_bash_is_descriptor(const char *value);

#endif
