/*
 * cmd_policy_init.c - "chokepoint policy init": writes a commented start of a policy.
 *
 * The file is created and never opened: O_EXCL fails for whatever has the name already, a dangling
 * symlink and a FIFO included.
 */
#include "base/fd.h"
#include "cli/parse.h"
#include "cli/place.h"
#include "cli/review.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Others may read it, nobody else may write it: a run refuses a policy that others can change. */
#define FILE_MODE 0644

/* Without the comments it is the smallest policy that extends; a test tries the comments too. */
static const char start[] =
    "# A policy that builds on the default one of chokepoint. chokepoint-policy(5) has every key.\n"
    "#\n"
    "# `chokepoint policy check FILE` looks for mistakes. `chokepoint policy diff default FILE` shows what this file\n"
    "# widens and narrows. `chokepoint policy show --yaml FILE` prints the whole policy that it makes. Use it with\n"
    "# `chokepoint run --policy FILE -- TOOL`; it must be outside of the root.\n"
    "version: 1\n"
    "\n"
    "# The tools that are built in, as they are in the release that reads this file.\n"
    "extends: default\n"
    "\n"
    "# Where your decision records (NNNN-TITLE.md) are, relative to this file.\n"
    "#adr_dir: docs/adr\n"
    "\n"
    "# The proxy of your network, if hosts are reached only through one. The file has USER:PASSWORD and mode 0600.\n"
    "#upstream: {url: \"http://proxy.example.org:3128\", credentials_file: /home/me/proxy-credentials}\n"
    "\n"
    "# Tools of the default policy that nobody may run.\n"
    "#remove: [docker, strace]\n"
    "\n"
    "# More for a tool of the default policy: egress, env, execs, uses, reads and options, nothing else. With\n"
    "# 'subcommand' it is for that subcommand alone. 'policy diff' calls it covered only with an 'adr' that is new.\n"
    "#grant:\n"
    "#  - name: npm\n"
    "#    subcommand: ci\n"
    "#    why: Packages are installed from our registry.\n"
    "#    adr: \"0001\"\n"
    "#    egress: [registry.example.org]\n"
    "#  - name: git\n"
    "#    subcommand: status\n"
    "#    why: A reviewer sees what is staged.\n"
    "#    adr: \"0001\"\n"
    "#    options: [--verbose]\n"
    "\n"
    "# Your own tools. An entry with the name of a tool of the default policy replaces it.\n"
    "#tools:\n"
    "#  - name: shellcheck\n"
    "#    why: Shell scripts of the repository are checked for mistakes.\n"
    "#    adr: \"0002\"\n"
    "#    route: external\n"
    "#    install: {apt: shellcheck, brew: shellcheck}\n"
    "#    version_args: [--version]\n"
    "#    args:\n"
    "#      options: [\"--format=json|gcc|tty\", \"-s=sh|bash\"]\n"
    "#      operands: inside\n"
    "#    execs: []\n"
    "#    limits: {timeout_s: 60}\n";

struct init_options {
    bool help;
};

static const struct ck_option init_options[] = {
    {.name = "--help", .help = "show this help", .offset = offsetof(struct init_options, help)},
    {.name = NULL},
};

/* A part of a policy must not stay: it could be valid, and allow something else than the whole. */
static int write_start(const char *path, struct choke_error *error)
{
    CK_FD fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (fd < 0 && errno == EEXIST)
        return ck_text_error(error, CHOKE_INVALID, EEXIST, "'%s' exists already; it is not changed",
                             CK_TEXT_SAFE(path));
    if (fd < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "cannot create '%s': %s", CK_TEXT_SAFE(path),
                             strerror(errno));
    int r = ck_fd_write_all(fd, start, sizeof(start) - 1);
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    if (r == 0)
        return 0;
    (void)unlink(path);
    return ck_text_error(error, CHOKE_INVALID, -r, "cannot write '%s': %s", CK_TEXT_SAFE(path), strerror(-r));
}

static int run_init(char *const *args)
{
    struct init_options given = {0};
    const struct ck_parse parse = {&ck_command_policy_init, &given, &given.help, NULL, 1, 1};
    struct ck_string_list files;
    struct choke_error error = {0};

    int status = ck_parse_words(&parse, args, &files);
    const char *path = status < 0 ? files.items[0] : NULL;
    ck_options_free_words(&files);
    if (status >= 0)
        return status;
    if (ck_place_check(path, &error) < 0 || write_start(path, &error) < 0) {
        (void)fprintf(stderr, "chokepoint: %s\n", error.message);
        return CK_EXIT_REFUSED;
    }
    (void)printf("%s: written; the comments in it say what to do next\n", CK_TEXT_SAFE(path));
    return ck_cli_flush_stdout();
}

const struct ck_command ck_command_policy_init = {
    .name = "policy init",
    .operands = "FILE",
    .summary = "write the start of a policy that extends the default one",
    .details = "FILE must not exist. Exit status: 0 written; 125 it exists already, or cannot be written.\n",
    .operand = CK_OPERAND_FILE,
    .options = init_options,
    .run = run_init,
};
