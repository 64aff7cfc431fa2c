/*
 * options.h - options as a table.
 *
 * One table per command describes all its options. The parser, the help and the shell completions
 * read the same table, so they cannot disagree.
 *
 * Forms: "--name", "--name VALUE", "--name=VALUE"; no abbreviations. "--" ends the options, and so
 * does the first argument that is not an option. An option that is not repeatable may be given
 * once.
 */
#ifndef CK_CLI_OPTIONS_H
#define CK_CLI_OPTIONS_H

#include "chokepoint.h"

enum ck_option_kind {
    CK_OPTION_FLAG,    /* bool */
    CK_OPTION_STRING,  /* const char *, never empty */
    CK_OPTION_STRINGS, /* struct ck_string_list; repeatable */
    CK_OPTION_CHOICE,  /* int: the value of the chosen struct ck_choice */
    CK_OPTION_SECONDS, /* uint64_t, in milliseconds; a fraction is allowed and rounded up */
    CK_OPTION_BYTES,   /* size_t */
    CK_OPTION_COUNT    /* unsigned, at least 1 */
};

/* What the shell completes as the value. */
enum ck_option_offer { CK_OFFER_NOTHING = 0, CK_OFFER_FILES, CK_OFFER_DIRECTORIES };

struct ck_choice {
    const char *token; /* NULL ends the list */
    int value;
};

/* A NULL-terminated list; items is NULL while it is empty. */
struct ck_string_list {
    const char **items;
    size_t count;
};

/* Adds token itself, not a copy. Returns 0, or a negative errno and *error. */
int ck_options_add_word(struct ck_string_list *args, const char *token, struct choke_error *error);
void ck_options_free_words(struct ck_string_list *args);

struct ck_option {
    const char *name;    /* "--timeout"; NULL ends the table */
    const char *metavar; /* NULL for a flag */
    const char *help;    /* one line, lower case */
    enum ck_option_kind kind;
    enum ck_option_offer offer;
    size_t offset;                   /* of the field in the command's struct */
    const struct ck_choice *choices; /* for CK_OPTION_CHOICE */
    bool required;                   /* only for the usage line: the command itself says what is missing */
};

/*
 * Fills the zero-filled or preset struct at target. Returns the number of arguments that were
 * options ("--" included), or a negative errno and *error (CHOKE_INVALID). After an error, target
 * has what was given before it. Call ck_options_done in either case.
 */
int ck_options_parse(const struct ck_option *options, char *const *args, void *target, struct choke_error *error);

/*
 * The same for options that follow operands. *seen is 0 at the first call and stays for the next
 * ones: an option given before and after an operand is given twice.
 */
int ck_options_parse_more(const struct ck_option *options, char *const *args, uint64_t *seen, void *target,
                          struct choke_error *error);

void ck_options_done(const struct ck_option *options, void *target);

#endif
