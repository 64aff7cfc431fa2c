/*
 * request.h - the options that make a request, for every command that takes one: run carries it out, policy explain
 * shows what would become of it.
 *
 *   1. CK_REQUEST_PRESET     what the fields hold before options are read.
 *   2. ck_options_parse      with CK_REQUEST_OPTIONS among the rows of the command's table.
 *   3. ck_request_check      a fault here is one of usage.
 *   4. ck_request_build      argv and options into a struct choke_request.
 *   5. ck_request_done
 */
#ifndef CK_CLI_REQUEST_H
#define CK_CLI_REQUEST_H

#include "chokepoint.h"
#include "cli/options.h"

struct ck_request_options {
    const char *cwd;
    const char *root;
    uint64_t timeout_ms;
    const char *probe;
    struct ck_words egress;
    struct ck_words env;
    const char *stdin_name;
    size_t max_output_bytes;
    int jail;
    bool require_jail;
    const char *policy;
};

#define CK_REQUEST_PRESET \
    { \
        .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY, .max_output_bytes = CHOKE_DEFAULT_OUTPUT_BYTES \
    }

extern const struct ck_choice ck_request_jails[];

/* The rows; type is the command's struct, and field the struct ck_request_options in it. */
#define CK_REQUEST_OPTIONS(type, field) \
    {.name = "--cwd", \
     .metavar = "DIR", \
     .help = "run the tool there (default: .)", \
     .kind = CK_OPTION_WORD, \
     .offer = CK_OFFER_DIRECTORIES, \
     .offset = offsetof(type, field.cwd)}, \
        {.name = "--root", \
         .metavar = "DIR", \
         .help = "what the call may not leave (default: --cwd)", \
         .kind = CK_OPTION_WORD, \
         .offer = CK_OFFER_DIRECTORIES, \
         .offset = offsetof(type, field.root)}, \
        {.name = "--timeout", \
         .metavar = "SECONDS", \
         .help = "default: the policy's limit for the tool", \
         .kind = CK_OPTION_SECONDS, \
         .offset = offsetof(type, field.timeout_ms)}, \
        {.name = "--probe", \
         .metavar = "NAME", \
         .help = "a probe's call: no --env", \
         .kind = CK_OPTION_WORD, \
         .offset = offsetof(type, field.probe)}, \
        {.name = "--egress", \
         .metavar = "HOST[:PORT]", \
         .help = "a host the tool may reach; needs a jail", \
         .kind = CK_OPTION_WORDS, \
         .offset = offsetof(type, field.egress)}, \
        {.name = "--env", \
         .metavar = "NAME=VALUE", \
         .help = "a variable that the policy grants", \
         .kind = CK_OPTION_WORDS, \
         .offset = offsetof(type, field.env)}, \
        {.name = "--stdin", \
         .metavar = "FILE|-", \
         .help = "input; - passes this command's own (default: none)", \
         .kind = CK_OPTION_WORD, \
         .offer = CK_OFFER_FILES, \
         .offset = offsetof(type, field.stdin_name)}, \
        {.name = "--max-output", \
         .metavar = "BYTES", \
         .help = "keep the last of each stream (default: 67108864)", \
         .kind = CK_OPTION_BYTES, \
         .offset = offsetof(type, field.max_output_bytes)}, \
        {.name = "--jail", \
         .metavar = "auto|native|bwrap|none", \
         .help = "the cage (default: by the tool's route)", \
         .kind = CK_OPTION_CHOICE, \
         .offset = offsetof(type, field.jail), \
         .choices = ck_request_jails}, \
        {.name = "--require-jail", \
         .help = "refuse rather than run without a jail", \
         .kind = CK_OPTION_FLAG, \
         .offset = offsetof(type, field.require_jail)}, \
    { \
        .name = "--policy", .metavar = "FILE", .help = "this policy, not the embedded one", .kind = CK_OPTION_WORD, \
        .offer = CK_OFFER_FILES, .offset = offsetof(type, field.policy) \
    }

struct ck_request {
    struct choke_request request;
    char *root;
    char *cwd;
    int stdin_fd; /* of --stdin FILE; -1: none */
};

/* Is something wrong with the command line itself? 0, or a negative errno and *error. */
int ck_request_check(const struct ck_request_options *given, char *const *argv, struct choke_error *error);

/* argv and what given points at must live as long. 0, or a negative errno and *error; ck_request_done in either case. */
int ck_request_build(struct ck_request *ret_request, const struct ck_request_options *given, char *const *argv,
                     struct choke_error *error);
void ck_request_done(struct ck_request *request);

#endif
