/* args_policy.h - the policy that the tests of the argument reader share, and one call of the
 * reader. */
#ifndef TEST_ARGS_POLICY_H
#define TEST_ARGS_POLICY_H

#include "policy/args.h"
#include "policy/load.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define A(...) ((const char *const[]){__VA_ARGS__, NULL})
#define ENTRY(name) "  - name: " name "\n    why: w\n    adr: '0001'\n    route: direct\n"

/* clang-format off */
static const char policy_text[] =
    "version: 1\nsearch_path: [/usr/bin]\ntools:\n"
    ENTRY("open")
    ENTRY("closed")
    "    args: {}\n"
    ENTRY("flat")
    "    version_args: [version, --porcelain]\n"
    "    args:\n"
    "      options: [--flag, -f, -g, -q, --value=, -v=, --num=<number>, -n=<number>, --name=<name>,\n"
    "        '--pick=a|b|trace=<name>', '-p=a|b', '--opt[=]', '-o[=]', '--optnum[=<number>]', '-M[=<number>]',\n"
    "        '--when[=never|always]', '--pair <any> <any>', '--mix <number> <name>', '-<number>',\n"
    "        --in=<inside>, -I=<inside>, --have=<existing>, --mount=<mount>, '-y <any>']\n"
    "      deny: [--pre, -z, --pre-glob]\n"
    "      operands: any\n"
    ENTRY("bare")
    "    args: {options: [-a], operands: none}\n"
    ENTRY("digits")
    "    args: {operands: number}\n"
    ENTRY("names")
    "    args: {operands: name}\n"
    ENTRY("paths")
    "    args: {options: [-e=], operands: inside}\n"
    ENTRY("files")
    "    args: {operands: existing}\n"
    ENTRY("images")
    "    args: {operands: existing, schemes: [oci-dir, sbom]}\n"
    ENTRY("mounts")
    "    args: {operands: mount}\n"
    ENTRY("early")
    "    args: {options: [-a, -b=, -i], order: options_first, operands: any}\n"
    ENTRY("no-end")
    "    args: {bundles: false, options: [-name <any>], deny: [--], operands: inside}\n"
    ENTRY("single")
    "    args: {bundles: false, options: [-a, -b, -c=, -word, --long], operands: none}\n"
    ENTRY("search")
    "    args:\n"
    "      options: [-e=, --regexp=, --files, -i, '-x[=]', -A=<number>]\n"
    "      operands: inside\n"
    "      first: any\n"
    "      first_unless: [-e, --regexp, --files]\n"
    ENTRY("program")
    "    args: {options: [-n], operands: none, first: any}\n"
    ENTRY("must")
    "    args:\n"
    "      options: [--network=none, '--cap=ALL|SYS', -s=off, --yes, --yes-not, -q]\n"
    "      require: [--network=none, --cap=ALL, --cap=SYS, -s=off, --yes]\n"
    ENTRY("prefix")
    "    args: {options: [--net=, --network=none], require: [--network=none]}\n"
    ENTRY("inject")
    "    args: {inject: [-c, a=b], options: [-q], operands: any}\n"
    ENTRY("fixed")
    "    version_args: [-V]\n"
    "    args: {exact: [[--version], [-p, process.version]]}\n"
    ENTRY("mixed")
    "    args: {exact: [[--help, all]], options: [-q], inject: [--safe]}\n"
    ENTRY("tree")
    "    version_args: [version]\n"
    "    args:\n"
    "      sets:\n"
    "        - {name: common, options: [-p, --stat, -U=<number>]}\n"
    "      options: [--no-pager, -C=]\n"
    "      inject: [-c, core.x=y]\n"
    "      deny: [--exec-path, -c]\n"
    "      subcommands:\n"
    "        - name: log\n"
    "          options: ['@common', '-<number>', --since=]\n"
    "          inject: [--no-ext-diff, --no-textconv]\n"
    "          deny: [--output]\n"
    "          operands: inside\n"
    "        - name: image inspect\n"
    "          options: [-f=]\n"
    "          operands: name\n"
    "        - name: image\n"
    "          options: [--list]\n"
    "        - name: run\n"
    "          options: [--rm, --network=none, -v=<mount>]\n"
    "          require: [--network=none]\n"
    "          order: options_first\n"
    "          operands: any\n"
    "          first: name\n"
    "        - name: run fast\n"
    "          options: [--loud]\n"
    ENTRY("trace")
    "    args: {options: [-f, -e=<name>], command: after_options, inject: [-o, log]}\n"
    ENTRY("strict")
    "    args: {options: [-w], require: [-w], command: after_options}\n"
    ENTRY("wrap")
    "    args: {options: [-w], command: after_options}\n"
    "  - {name: helper, why: w, adr: '0001', route: jail}\n";
/* clang-format on */

static struct ck_policy *policy;

static inline int load_policy(void **state)
{
    (void)state;
    struct choke_error error = {0};
    int r = ck_policy_parse("p.yaml", policy_text, strlen(policy_text), &policy, &error);
    if (r < 0)
        print_error("%s\n", error.message);
    return r;
}

static inline int free_policy(void **state)
{
    (void)state;
    ck_policy_free(policy);
    return 0;
}

/* The first line of the policy with this text. */
static inline unsigned line_of(const char *text)
{
    const char *at = strstr(policy_text, text);
    assert_non_null(at);
    unsigned line = 1;
    for (const char *p = policy_text; p < at; p++)
        line += *p == '\n';
    return line;
}

static inline void read_args(const char *const *argv, struct ck_arena *arena, struct ck_parsed_args *ret_parsed)
{
    const struct ck_tool *tool = ck_policy_find(policy, argv[0]);
    assert_non_null(tool);
    memset(ret_parsed, 0xa5, sizeof(*ret_parsed));
    assert_int_equal(ck_args_parse(policy, tool, argv, arena, ret_parsed), 0);
}

#endif
