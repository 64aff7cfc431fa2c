/*
 * cmd_audit_head.c - "chokepoint audit head" and "audit keygen": heads and keys, which are stored
 * where the writer of the log cannot change them.
 */
#include "cli/audit.h"
#include "cli/parse.h"
#include "cli/place.h"

/* For both commands; keygen has no --sign, so its key stays NULL. */
struct head_options {
    const char *key; /* NULL: the head is not signed */
    bool help;
};

static const struct ck_option head_options[] = {
    {"--sign", "KEY", "sign it with this secret key, a file that 'audit keygen' made", CK_OPTION_STRING, CK_OFFER_FILES,
     .offset = offsetof(struct head_options, key)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, .offset = offsetof(struct head_options, help)},
    {.name = NULL},
};

static const struct ck_option keygen_options[] = {
    {"--help", NULL, "show this help", CK_OPTION_FLAG, .offset = offsetof(struct head_options, help)},
    {.name = NULL},
};

/*
 * The head is the last complete record, and only this record is read. So one file is enough, and
 * nothing is verified here: 'audit verify' does that.
 */
static int print_head(const struct head_options *given, struct ck_string_list *files)
{
    char path[PATH_MAX];
    char head[CHOKE_AUDIT_HEAD_MAX];
    struct choke_error error = {0};
    const char *const *paths = ck_audit_paths(files, path, &error);

    if (!paths || choke_audit_head(paths[0], given->key, head, &error) < 0)
        return ck_audit_unreadable(&error);
    (void)puts(head);
    return ck_cli_flush_stdout();
}

/* ck_options_done is not called: only options of kind STRINGS own memory. */
static int run_head(char *const *args)
{
    struct head_options given = {0};
    const struct ck_parse parse = {&ck_command_audit_head, &given, &given.help, .most = 1};
    struct ck_string_list files;

    int status = ck_parse_words(&parse, args, &files);
    if (status < 0)
        status = print_head(&given, &files);
    ck_options_free_words(&files);
    return status;
}

/* key is the public key. The secret key is only ever in the file. */
static int make_key(const char *path)
{
    char key[CHOKE_AUDIT_KEY_MAX];
    struct choke_error error = {0};

    if (ck_place_check(path, &error) < 0 || choke_audit_keygen(path, key, &error) < 0)
        return ck_audit_unreadable(&error);
    (void)puts(key);
    return ck_cli_flush_stdout();
}

/* Exactly one operand: there is no default place for a secret key. */
static int run_keygen(char *const *args)
{
    struct head_options given = {0};
    const struct ck_parse parse = {&ck_command_audit_keygen, &given, &given.help, .least = 1, .most = 1};
    struct ck_string_list files;

    int status = ck_parse_words(&parse, args, &files);
    if (status < 0)
        status = make_key(files.items[0]);
    ck_options_free_words(&files);
    return status;
}

const struct ck_command ck_command_audit_head = {
    .name = "audit head",
    .operands = "[FILE]",
    .summary = "print the head of an audit log, to store elsewhere",
    .details = "Later 'audit verify --head' proves that the log still has this record and all before it.\n"
               "Exit status: 0; 2 the log, or the key, cannot be read.\n",
    .operand = CK_OPERAND_FILE,
    .options = head_options,
    .run = run_head,
};

const struct ck_command ck_command_audit_keygen = {
    .name = "audit keygen",
    .operands = "FILE",
    .summary = "make a key pair to sign heads with: FILE and FILE.pub",
    .details =
        "FILE is the secret key, readable by its owner only; keep it where the writer of the log cannot read it.\n"
        "Both files must be new. The public key is printed.\n"
        "Exit status: 0; 2 a file exists, or cannot be written.\n",
    .operand = CK_OPERAND_FILE,
    .options = keygen_options,
    .run = run_keygen,
};
