/*
 * cmd_audit_head.c - "chokepoint audit head" and "audit keygen": what is kept where who writes the log cannot reach it.
 */
#include "cli/audit.h"
#include "front/text.h"

#include <errno.h>
#include <stdlib.h>

struct head_options {
    const char *key;
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

static int wrong_count(const struct ck_command *command, size_t count)
{
    struct choke_error error;

    (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "'%s' takes %s, but got %zu argument%s", command->name,
                        command->operands, count, count == 1 ? "" : "s");
    return ck_cli_usage_error(command, &error);
}

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

static int run_head(char *const *args)
{
    struct head_options given = {0};
    struct ck_string_list files = {0};

    int status = ck_audit_parse(&ck_command_audit_head, args, &given, &given.help, &files);
    if (status < 0)
        status = files.count > 1 ? wrong_count(&ck_command_audit_head, files.count) : print_head(&given, &files);
    free(files.items);
    return status;
}

static int make_key(const char *path)
{
    char key[CHOKE_AUDIT_KEY_MAX];
    struct choke_error error = {0};

    if (choke_audit_keygen(path, key, &error) < 0)
        return ck_audit_unreadable(&error);
    (void)puts(key);
    return ck_cli_flush_stdout();
}

static int run_keygen(char *const *args)
{
    struct head_options given = {0};
    struct ck_string_list files = {0};

    int status = ck_audit_parse(&ck_command_audit_keygen, args, &given, &given.help, &files);
    if (status < 0)
        status = files.count != 1 ? wrong_count(&ck_command_audit_keygen, files.count) : make_key(files.items[0]);
    free(files.items);
    return status;
}

const struct ck_command ck_command_audit_head = {
    .name = "audit head",
    .operands = "[FILE]",
    .summary = "print the head of an audit log, to be kept elsewhere",
    .details = "Later 'audit verify --head' proves that the log still has this record, and all before it.\n"
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
        "FILE is the secret key, for its owner alone; keep it where who writes the log cannot read it. Neither file\n"
        "may exist. The public key is printed.\n"
        "Exit status: 0; 2 a file exists, or cannot be written.\n",
    .operand = CK_OPERAND_FILE,
    .options = keygen_options,
    .run = run_keygen,
};
