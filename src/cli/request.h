/*
 * request.h - the options that make a request. run carries the request out; policy explain shows
 * what would happen.
 *
 *   1. CK_REQUEST_PRESET     the values before options are parsed.
 *   2. ck_options_parse      with CK_REQUEST_OPTIONS in the command's option table.
 *   3. ck_request_check      an error here is a usage error.
 *   4. ck_request_build      argv and options to a struct choke_request.
 *   5. ck_request_done
 */
#ifndef CK_CLI_REQUEST_H
#define CK_CLI_REQUEST_H

#include "chokepoint.h"
#include "cli/options.h"

struct ck_request_options {
    const char *cwd;              /* NULL: "." */
    const char *root;             /* NULL: cwd */
    uint64_t timeout_ms;          /* CHOKE_TIMEOUT_FROM_POLICY: not given */
    const char *probe;            /* NULL: none */
    struct ck_string_list egress; /* HOST or HOST:PORT each */
    struct ck_string_list env;    /* NAME=VALUE each */
    const char *stdin_name;       /* "-": standard input; NULL: no input */
    size_t max_output_bytes;      /* CK_REQUEST_NOT_GIVEN: the default */
    size_t keep_head_bytes;       /* CK_REQUEST_NOT_GIVEN: none */
    int jail;                     /* enum choke_jail */
    bool require_jail;
    bool overlay;     /* an overlay in place of a writable root */
    const char *keep; /* NULL: changes are not copied */
    bool sandbox;
    const char *policy; /* NULL: the default one */
};

/* More than any number of bytes that is accepted on a command line. */
#define CK_REQUEST_NOT_GIVEN SIZE_MAX

#define CK_REQUEST_PRESET \
    { \
        .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY, .max_output_bytes = CK_REQUEST_NOT_GIVEN, \
        .keep_head_bytes = CK_REQUEST_NOT_GIVEN \
    }

extern const struct ck_choice ck_request_jails[];

/* The rows. The command's struct must begin with a struct ck_request_options. */
/* clang-format off */
#define CK_REQUEST_TARGET(field) .offset = offsetof(struct ck_request_options, field)
#define CK_REQUEST_OPTIONS \
    {"--cwd", "DIR", "run the tool in DIR (default: .)", CK_OPTION_STRING, CK_OFFER_DIRECTORIES, CK_REQUEST_TARGET(cwd)}, \
    {"--root", "DIR", "the only directory a jailed tool sees (default: --cwd)", CK_OPTION_STRING, CK_OFFER_DIRECTORIES, \
     CK_REQUEST_TARGET(root)}, \
    {"--timeout", "SECONDS", "how long the tool may run (default: the policy's limit)", CK_OPTION_SECONDS, \
     CK_REQUEST_TARGET(timeout_ms)}, \
    {"--probe", "NAME", "record the call under this name; --env is refused", CK_OPTION_STRING, CK_REQUEST_TARGET(probe)}, \
    {"--egress", "HOST[:PORT]", "a host the tool may reach; needs a jail", CK_OPTION_STRINGS, \
     CK_REQUEST_TARGET(egress)}, \
    {"--env", "NAME=VALUE", "set a variable that the policy grants", CK_OPTION_STRINGS, CK_REQUEST_TARGET(env)}, \
    {"--stdin", "FILE|-", "the tool's input; -: standard input (default: none)", CK_OPTION_STRING, CK_OFFER_FILES, \
     CK_REQUEST_TARGET(stdin_name)}, \
    {"--max-output", "BYTES", "keep this much of each stream's end (default: 67108864)", CK_OPTION_BYTES, \
     CK_REQUEST_TARGET(max_output_bytes)}, \
    {"--keep-head", "BYTES", "of a stream that is cut, also keep this much of its beginning", CK_OPTION_BYTES, \
     CK_REQUEST_TARGET(keep_head_bytes)}, \
    {"--jail", "auto|native|bwrap|none", "the jail (default: from the tool's route)", CK_OPTION_CHOICE, \
     CK_REQUEST_TARGET(jail), .choices = ck_request_jails}, \
    {"--require-jail", NULL, "refuse rather than run without a jail", CK_OPTION_FLAG, \
     CK_REQUEST_TARGET(require_jail)}, \
    {"--overlay", NULL, "leave the root as it is: list what the tool wrote, and what runs later", CK_OPTION_FLAG, \
     CK_REQUEST_TARGET(overlay)}, \
    {"--keep", "DIR", "copy the tool's changes to DIR (workspace: overlay, or --overlay)", CK_OPTION_STRING, CK_OFFER_DIRECTORIES, \
     CK_REQUEST_TARGET(keep)}, \
    {"--sandbox", NULL, "for untrusted code: requires a jail, passes no secret", CK_OPTION_FLAG, \
     CK_REQUEST_TARGET(sandbox)}, \
    {"--policy", "FILE", "use this policy, not the default one", CK_OPTION_STRING, CK_OFFER_FILES, CK_REQUEST_TARGET(policy)}
/* clang-format on */

/* What the request points to, besides argv and the options. */
struct ck_request {
    struct choke_request request;
    char *root;         /* absolute; owned */
    char *cwd;          /* absolute; owned; NULL: request.cwd is relative to the root */
    int stdin_fd;       /* of --stdin FILE; -1: none */
    bool stdin_is_fifo; /* the caller must use ck_feed_begin */
};

/* Checks the command line itself. Returns 0, or a negative errno and *error. */
int ck_request_check(const struct ck_request_options *given, char *const *argv, struct choke_error *error);

/*
 * argv and what given points to must live as long as the request. Returns 0, or a negative errno
 * and *error. Call ck_request_done in either case.
 */
int ck_request_build(struct ck_request *ret_request, const struct ck_request_options *given, char *const *argv,
                     struct choke_error *error);
void ck_request_done(struct ck_request *request);

#endif
