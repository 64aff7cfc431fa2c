/*
 * test_diff_grants.c - where `policy diff` says that nothing widens, no request on any machine is granted more (R6).
 *
 * Policies are drawn at random, from a table with some values of every key. The second is the first with one to three
 * values drawn again. Requests are drawn, too, and both are held against each other by grant_world.c.
 */
#include "diff_cases.h"
#include "grant_world.h"

#include "egress/proxy.h"
#include "policy/describe.h"
#include "policy/diff.h"
#include "policy/load.h"
#include "policy/schema.h"
#include "policy/yaml_write.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy_parse.h"

#define VALUES_MAX 12
#define TEXT_BYTES 16384
#define SHA_A "\"0123456789012345678901234567890123456789012345678901234567890123\""
#define SHA_B "\"9123456789012345678901234567890123456789012345678901234567890123\""

/* ---- the values of every key ------------------------------------------------------------- */

/* The position of a key. The args of a tool have one of three shapes, with different keys. */
enum level { IN_TOP, IN_TOOL, IN_LIMITS, IN_ARGS, IN_PLAIN, IN_SUB };

struct key {
    const char *path; /* in the schema */
    enum level level;
    const char *values[VALUES_MAX]; /* in YAML; NULL: the key is absent, which is a value, too */
};

static const struct key keys[] = {
    {"version", IN_TOP, {"1"}},
    {"adr_dir", IN_TOP, {NULL, "adr", "docs/adr"}},
    {"search_path",
     IN_TOP,
     {"[/usr/bin, /bin]", "[/bin, /usr/bin]", "[/usr/bin]", "[/bin]", "[/opt/bin, /usr/bin, /bin]"}},
    {"locked", IN_TOP, {NULL, "false", "true"}},
    {"roots", IN_TOP, {NULL, NULL, "[/srv]", "[/srv/a, /srv/b]"}},
    {"upstream",
     IN_TOP,
     {NULL, NULL, NULL, "{url: \"http://p.example.org:1\"}",
      "{url: \"http://p.example.org:1\", credentials_file: /p}"}},

    /* What guard does is no request; but no other key may be taken for it, and it must load back. */
    {"guard",
     IN_TOP,
     {NULL, NULL, NULL, NULL, "{}", "{why: w, adr: \"0001\", shipped: [ci], workspace: rw, jit: true}",
      "{carriers: [x, cat], catalog: [cat], programs: [cat], inject: [-x], state: [.a/b], state_data: [\".a/b/**\"], "
      "read_only: [.git], may_refuse: [id]}",
      "{egress: [a.org], env: [TZ], set_env: [{name: CI, value: a}, {name: CJ, value: b, when: offline}], jit: false}",
      "{workspace: overlay, workspace_code: true, profiles: [{name: a, why: v, adr: \"0002\", egress: []}]}",
      "{profiles: [{name: a, why: w, adr: \"0001\", carriers: [cat], catalog: [cat]}, {name: b, why: w, adr: \"0001\"}]}"}},

    {"tools.why", IN_TOOL, {"w", "v"}},
    {"tools.adr", IN_TOOL, {"\"0001\"", "\"0002\""}},
    {"tools.route", IN_TOOL, {"direct", "external", "jail", "carrier"}},
    {"tools.required", IN_TOOL, {NULL, "true", "false"}},
    {"tools.platforms", IN_TOOL, {NULL, NULL, "[linux]", "[macos]", "[linux, macos]"}},
    {"tools.install", IN_TOOL, {NULL, "{apt: a, npm: b}", "{brew: a, url: \"https://a.example.org\"}"}},
    {"tools.version_args", IN_TOOL, {NULL, NULL, "[--version]", "[-V]", "[a]", "[a b]", "[a, b]", "[-a, \"1\"]"}},
    {"tools.env", IN_TOOL, {NULL, "[]", "[TZ]", "[TZ, COLUMNS]"}},
    {"tools.set_env",
     IN_TOOL,
     {NULL, NULL, "[{name: COLUMNS, value: \"9\"}]", "[{name: PAGER, value: cat}]",
      "[{name: PAGER, value: cat, when: offline}]", "[]"}},
    {"tools.credentials", IN_TOOL, {NULL, "refuse", "allow"}},
    {"tools.path", IN_TOOL, {NULL, NULL, NULL, "/usr/bin/x", "/bin/x", "/opt/x", "/usr/bin/y", "/usr/bin/bwrap"}},
    {"tools.sha256", IN_TOOL, {NULL, NULL, NULL, SHA_A, SHA_B}},
    {"tools.execs",
     IN_TOOL,
     {NULL, NULL, "[]", "[sh]", "[sh, less]", "[/usr/bin/sh]", "[x]",
      "[dash, env, node, nodejs, npm, npx, sh]"}}, /* what a set has */
    {"tools.uses",
     IN_TOOL,
     {NULL, NULL, NULL, "[]", "[node-scripts]", "[rust-toolchain]", "[node-scripts, rust-toolchain]"}},
    {"tools.egress", IN_TOOL, {NULL, "[]", "[a.org]", "[\"*.a.org\"]", "[\"x.a.org:443\"]", "[x.a.org, a.org]"}},
    {"tools.workspace", IN_TOOL, {NULL, "ro", "rw", "overlay"}},
    {"tools.loopback", IN_TOOL, {NULL, NULL, NULL, "false", "true"}},
    {"tools.require_jail", IN_TOOL, {NULL, NULL, NULL, "false", "true"}},
    {"tools.workspace_code", IN_TOOL, {NULL, NULL, NULL, NULL, NULL, "false", "true"}},
    {"tools.reads", IN_TOOL, {NULL, NULL, "[]", "[/opt/a]", "[/opt/a, /opt/b]"}},
    {"tools.root_at", IN_TOOL, {NULL, NULL, "work", "own"}},

    {"tools.limits.timeout_s", IN_LIMITS, {NULL, NULL, "30", "60", "90", "600"}},
    {"tools.limits.memory_mib", IN_LIMITS, {NULL, NULL, "64", "128"}},
    {"tools.limits.processes", IN_LIMITS, {NULL, NULL, "8", "16"}},
    {"tools.limits.cpu_s", IN_LIMITS, {NULL, NULL, "8", "16"}},
    {"tools.limits.file_size_mib", IN_LIMITS, {NULL, NULL, "8", "16"}},
    {"tools.limits.open_files", IN_LIMITS, {NULL, NULL, "8", "16"}},
    {"tools.limits.egress_mib", IN_LIMITS, {NULL, NULL, "8", "16"}},
    {"tools.limits.egress_connections", IN_LIMITS, {NULL, NULL, "8", "10000", "20000"}},

    {"tools.args.options",
     IN_ARGS,
     {NULL, "[-a]", "[-a, -b=]", "[-a=, --x]", "[\"-<number>\", \"-1\"]", "[-1, -a=<number>]", "[-a, --x=<inside>]",
      "[-a, --x=<existing>]", "[\"@s\", -a]", "[\"-a[=]\", -b]", "[--x=a|b, -a]"}},
    {"tools.args.sets", IN_ARGS, {NULL, NULL, "[{name: s, options: [--x]}]", "[{name: s, options: [--x, -b]}]"}},
    {"tools.args.inject", IN_ARGS, {NULL, NULL, NULL, "[]", "[-q]", "[-q, -z]"}},
    {"tools.args.require", IN_ARGS, {NULL, NULL, NULL, "[-a]", "[\"-1\"]", "[--x]"}},
    {"tools.args.deny", IN_ARGS, {NULL, NULL, "[--bad]", "[--bad, -z]"}},
    {"tools.args.exact", IN_ARGS, {NULL, NULL, NULL, "[[--help]]", "[[]]", "[[-a], [a]]", "[[-a]]"}},
    {"tools.args.bundles", IN_ARGS, {NULL, NULL, "true", "false"}},
    {"tools.args.operands", IN_PLAIN, {NULL, "none", "any", "inside", "existing", "number", "name", "mount"}},
    {"tools.args.first", IN_PLAIN, {NULL, NULL, "any", "inside", "existing", "number", "name"}},
    {"tools.args.first_unless", IN_PLAIN, {NULL, NULL, "[-a]", "[\"-1\"]"}},
    {"tools.args.schemes", IN_PLAIN, {NULL, NULL, NULL, "[a]", "[a, b]"}},
    {"tools.args.order", IN_PLAIN, {NULL, NULL, "mixed", "options_first"}},

    {"tools.args.subcommands.options", IN_SUB, {NULL, "[-a]", "[-a, -b=]", "[\"@s\"]", "[-a=<number>, -b]"}},
    {"tools.args.subcommands.inject", IN_SUB, {NULL, NULL, NULL, "[-i]"}},
    {"tools.args.subcommands.require", IN_SUB, {NULL, NULL, NULL, "[-a]"}},
    {"tools.args.subcommands.deny", IN_SUB, {NULL, NULL, "[--bad]"}},
    {"tools.args.subcommands.operands", IN_SUB, {NULL, "any", "inside", "name", "number"}},
    {"tools.args.subcommands.first", IN_SUB, {NULL, NULL, "any", "number"}},
    {"tools.args.subcommands.first_unless", IN_SUB, {NULL, NULL, NULL, "[-a]"}},
    {"tools.args.subcommands.schemes", IN_SUB, {NULL, NULL, NULL, NULL, "[a]", "[a, b]"}},
    {"tools.args.subcommands.order", IN_SUB, {NULL, NULL, "mixed", "options_first"}},
    {"tools.args.subcommands.execs", IN_SUB, {NULL, NULL, "[]", "[sh]", "[less]", "[sh, less]"}},
    {"tools.args.subcommands.uses", IN_SUB, {NULL, NULL, NULL, "[]", "[node-scripts]", "[rust-toolchain]"}},
    {"tools.args.subcommands.workspace", IN_SUB, {NULL, NULL, "ro", "rw", "overlay"}},
    {"tools.args.subcommands.workspace_code", IN_SUB, {NULL, NULL, NULL, NULL, NULL, "false", "true"}},
    {"tools.args.subcommands.loopback", IN_SUB, {NULL, NULL, NULL, NULL, NULL, "false", "true"}},
    {"tools.args.subcommands.require_jail", IN_SUB, {NULL, NULL, NULL, NULL, NULL, "false", "true"}},
    {"tools.args.subcommands.egress", IN_SUB, {NULL, NULL, "[]", "[a.org]", "[\"*.a.org\"]", "[x.a.org, a.org]"}},
    {"tools.args.subcommands.env", IN_SUB, {NULL, NULL, "[]", "[TZ]", "[TZ, COLUMNS]"}},
    {"tools.args.subcommands.set_env",
     IN_SUB,
     {NULL, NULL, NULL, "[]", "[{name: COLUMNS, value: \"9\"}]", "[{name: PAGER, value: cat}]",
      "[{name: PAGER, value: cat, when: offline}]"}},
    {"tools.args.subcommands.limits",
     IN_SUB,
     {NULL, NULL, NULL, "{}", "{timeout_s: 30}", "{timeout_s: 90, memory_mib: 64, processes: 8, cpu_s: 8}",
      "{file_size_mib: 8, open_files: 8, egress_mib: 8, egress_connections: 8}", "{memory_mib: 128}",
      "{timeout_s: 600, egress_connections: 20000}"}},
};

/* These are drawn separately: tools.name, tools.args.subcommands.name, tools.args.command. */
static const char *const names[] = {"x", "y", "t", "bwrap"};
static const char *const subcommands[] = {"a", "a b", "c"};

enum shape { NO_ARGS, PLAIN_ARGS, SUBCOMMANDS, COMMAND, SHAPES };

struct tool_draw {
    bool present;
    enum shape shape;
    bool has_sub[COUNT(subcommands)];
    unsigned char sub[COUNT(subcommands)][COUNT(keys)];
    unsigned char value[COUNT(keys)];
};

struct draw {
    unsigned char top[COUNT(keys)];
    struct tool_draw tools[COUNT(names)];
};

/* ---- chance ------------------------------------------------------------------------------ */

static uint64_t random_state;

/* Half of the policies vary the arguments of the first tool: it has many rules, and they rarely
 * meet. */
static bool arguments_only;

static unsigned pick(size_t count)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % count);
}

static size_t values_count(const struct key *key)
{
    size_t count = VALUES_MAX;
    while (count > 1 && !key->values[count - 1])
        count--;
    return count;
}

static unsigned char pick_value(size_t key)
{
    return (unsigned char)pick(values_count(&keys[key]));
}

static void draw_tool(struct tool_draw *tool, size_t which)
{
    tool->present = pick(8) != 0;
    tool->shape = which == 2 && pick(2) == 0 ? COMMAND : (enum shape)pick(SHAPES);
    for (size_t s = 0; s < COUNT(subcommands); s++)
        tool->has_sub[s] = pick(2) == 0;
    for (size_t k = 0; k < COUNT(keys); k++) {
        /* Absent is the usual value, so that differences stay visible; a limit everywhere would
         * hide the others. */
        tool->value[k] = pick(3) == 0 ? 0 : pick_value(k);
        for (size_t s = 0; s < COUNT(subcommands); s++)
            tool->sub[s][k] = pick(2) == 0 ? 0 : pick_value(k);
        if (strcmp(keys[k].path, "tools.route") == 0)
            tool->value[k] = (unsigned char)(which == 3 && pick(4) != 0 ? 2 : pick(9) == 0 ? 2 + pick(2) : pick(2));
    }
}

static void draw_policy(struct draw *draw)
{
    arguments_only = pick(2) == 0;
    for (size_t k = 0; k < COUNT(keys); k++)
        draw->top[k] = pick_value(k);
    for (size_t i = 0; i < COUNT(names); i++)
        draw_tool(&draw->tools[i], i);
    if (arguments_only) {
        draw->tools[0].present = true;
        draw->tools[0].shape = pick(3) == 0 ? SUBCOMMANDS : PLAIN_ARGS;
        for (size_t k = 0; k < COUNT(keys); k++)
            if (keys[k].level == IN_TOOL && strcmp(keys[k].path, "tools.version_args") != 0)
                draw->tools[0].value[k] = 0;
    }
}

/* Does a change of the key belong to what is drawn? */
static bool is_wanted(const struct key *key)
{
    return !arguments_only || key->level == IN_ARGS || key->level == IN_PLAIN || key->level == IN_SUB ||
           strcmp(key->path, "tools.version_args") == 0;
}

static bool fits(const struct tool_draw *tool, enum level level)
{
    switch (level) {
    case IN_TOP:
        return false;
    case IN_TOOL:
    case IN_LIMITS:
        return true;
    case IN_ARGS:
        return tool->shape != NO_ARGS;
    case IN_PLAIN:
        return tool->shape == PLAIN_ARGS;
    case IN_SUB:
        return tool->shape == SUBCOMMANDS;
    }
    return false;
}

/* Draws one thing again; what it was, for messages. */
static const char *mutate(struct draw *draw)
{
    struct tool_draw *tool = &draw->tools[arguments_only ? 0 : pick(8) == 0 ? 3 : pick(3)];
    unsigned kind = pick(24) + (arguments_only ? 1 : 0);
    size_t s = pick(COUNT(subcommands));
    if (kind == 0) {
        tool->present = !tool->present;
        return "tools.name";
    }
    if (kind == 1) {
        tool->shape = (enum shape)pick(SHAPES);
        return "tools.args";
    }
    if (kind >= 2 && kind < 8 && tool->shape == SUBCOMMANDS) {
        tool->has_sub[s] = !tool->has_sub[s];
        return "tools.args.subcommands.name";
    }
    for (;;) {
        size_t k = pick(COUNT(keys));
        if (!is_wanted(&keys[k]))
            continue;
        if (keys[k].level == IN_TOP && pick(4) == 0)
            draw->top[k] = pick_value(k);
        else if (keys[k].level == IN_SUB && fits(tool, IN_SUB))
            tool->sub[s][k] = pick_value(k);
        else if (fits(tool, keys[k].level))
            tool->value[k] = pick_value(k);
        else
            continue;
        return keys[k].path;
    }
}

/* ---- as text ----------------------------------------------------------------------------- */

struct text {
    char bytes[TEXT_BYTES];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text->bytes + text->length, sizeof(text->bytes) - text->length, format, list);
    va_end(list);
    assert_true(length >= 0 && text->length + (size_t)length < sizeof(text->bytes));
    text->length += (size_t)length;
}

/* Whose lists are longer than drawn; extend_cases.h has the rest. */
struct lengthen {
    const struct extension_draw *extension;
    size_t tool;
    size_t subcommand;               /* its index plus 1; 0: the tool itself */
    const unsigned char *tool_value; /* what the tool has, for a subcommand without its own */
};

static const char *lengthened(const struct lengthen *lengthen, const char *key, const char *value, char *buffer,
                              size_t size);

static const char *value_at(const unsigned char *value, const char *path)
{
    for (size_t k = 0; k < COUNT(keys); k++)
        if (strcmp(keys[k].path, path) == 0)
            return keys[k].values[value[k]];
    return NULL;
}

/* The keys of one level, each as "BEFORE key: value AFTER". lengthen may be NULL. */
static void put_level(struct text *text, enum level level, const unsigned char *value, const char *const around[2],
                      const struct lengthen *lengthen)
{
    char buffer[256];
    for (size_t k = 0; k < COUNT(keys); k++) {
        const char *dot = strrchr(keys[k].path, '.');
        const char *key = dot ? dot + 1 : keys[k].path;
        const char *drawn = keys[k].values[value[k]];
        if (keys[k].level != level)
            continue;
        if (lengthen)
            drawn = lengthened(lengthen, key, drawn, buffer, sizeof(buffer));
        if (drawn)
            put(text, "%s%s: %s%s", around[0], key, drawn, around[1]);
    }
}

static const char *const in_line[] = {"", ", "};

static void put_args(struct text *text, const struct tool_draw *tool, const struct lengthen *lengthen)
{
    struct lengthen inner = lengthen ? *lengthen : (struct lengthen){0};
    inner.tool_value = tool->value;
    put(text, "    args: {");
    put_level(text, IN_ARGS, tool->value, in_line, lengthen);
    if (tool->shape == PLAIN_ARGS)
        put_level(text, IN_PLAIN, tool->value, in_line, NULL);
    if (tool->shape == COMMAND)
        put(text, "command: after_options, ");
    if (tool->shape == SUBCOMMANDS) {
        put(text, "subcommands: [");
        for (size_t s = 0; s < COUNT(subcommands); s++)
            if (tool->has_sub[s]) {
                inner.subcommand = s + 1;
                put(text, "{name: %s, ", subcommands[s]);
                put_level(text, IN_SUB, tool->sub[s], in_line, lengthen ? &inner : NULL);
                put(text, "}, ");
            }
        put(text, "]");
    }
    put(text, "}\n");
}

static bool is_carrier(const struct tool_draw *tool)
{
    return strcmp(value_at(tool->value, "tools.route"), "carrier") == 0;
}

/* Most keys of a tool cannot be enforced on a carrier, and are refused. */
static void put_carrier(struct text *text, const struct tool_draw *tool)
{
    static const char *const held[] = {"why",    "adr",   "route", "required", "platforms",   "path",
                                       "sha256", "execs", "uses",  "reads",    "version_args"};
    for (size_t i = 0; i < COUNT(held); i++) {
        char path[64];
        (void)snprintf(path, sizeof(path), "tools.%s", held[i]);
        if (value_at(tool->value, path))
            put(text, "    %s: %s\n", held[i], value_at(tool->value, path));
    }
}

static void put_tool(struct text *text, const struct tool_draw *tool, const char *name, const struct lengthen *lengthen)
{
    static const char *const line[] = {"    ", "\n"};
    put(text, "  - name: %s\n", name);
    if (is_carrier(tool)) {
        put_carrier(text, tool);
        return;
    }
    put_level(text, IN_TOOL, tool->value, line, lengthen);
    put(text, "    limits: {");
    put_level(text, IN_LIMITS, tool->value, in_line, NULL);
    put(text, "}\n");
    if (tool->shape != NO_ARGS)
        put_args(text, tool, lengthen);
}

static void put_tools(struct text *text, const struct draw *draw)
{
    put(text, "tools:\n");
    size_t before = text->length;
    for (size_t i = 0; i < COUNT(names); i++)
        if (draw->tools[i].present)
            put_tool(text, &draw->tools[i], names[i], NULL);
    if (text->length == before)
        put(text, "  []\n");
}

static void put_policy(struct text *text, const struct draw *draw)
{
    static const char *const line[] = {"", "\n"};
    text->length = 0;
    put_level(text, IN_TOP, draw->top, line, NULL);
    put_tools(text, draw);
}

static struct ck_policy *parse(const struct text *text)
{
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    return ck_policy_parse("p.yaml", text->bytes, text->length, &policy, &error) == 0 ? policy : NULL;
}

/* ---- requests ---------------------------------------------------------------------------- */

#define ARGV_MAX 6

struct ask {
    struct choke_request request;
    const char *argv[ARGV_MAX + 2];
    const char *env[3];
    const char *egress[3];
};

static void draw_request(struct ask *ask)
{
    static const char *const words[] = {"a",         "y",    "-a",     "-1",
                                        "f",         "5",    "x",      "--x",
                                        "b",         "-V",   "--help", /* these are the usual ones */
                                        "c",         "t",    "-b",     "-ab",
                                        "-a1",       "-12",  "--x=a",  "--x=/etc",
                                        "--x=f",     "/etc", ".:/w",   "--",
                                        "--version", "",     "-",      "1",
                                        "name",      "-z",   "--bad",  "ghp_0123456789abcdefghijABCDEFGHIJ012345"};
    static const char *const env[] = {"TZ=UTC", "COLUMNS=80", "NODE_ENV=test", "columns=7"};
    static const char *const egress[] = {"a.org", "x.a.org", "x.a.org:443", "b.org"};
    static const uint64_t timeouts[] = {CHOKE_TIMEOUT_FROM_POLICY, CHOKE_TIMEOUT_FROM_POLICY, 1000, 45000, 100000};
    *ask = (struct ask){.request = {.root = "/r", .cwd = "."}};
    static const char *const lines[][3] = {{"-a"},  {"a"},         {"a", "b"},  {"-1"},      {"--help"},
                                           {"-V"},  {"--version"}, {"a", "-a"}, {"-a", "1"}, {"a", "b", "-a"},
                                           {"--x"}, {"y"},         {"-1", "f"}, {"f"}};
    size_t argc = pick(2) == 0 ? pick(3) : pick(ARGV_MAX);
    ask->argv[0] = arguments_only ? "x" : pick(12) == 0 ? "bwrap" : names[pick(3)];
    for (size_t i = 1; i <= argc; i++)
        ask->argv[i] = words[pick(pick(3) == 0 ? COUNT(words) : 11)];
    const char *const *line = lines[pick(COUNT(lines))];
    bool known = argc == 0 || pick(2) == 0;
    for (size_t i = 0; known && i < 3 && line[i]; i++)
        ask->argv[i + 1] = line[i];
    if (pick(6) == 0)
        ask->env[0] = env[pick(COUNT(env))];
    if (pick(6) == 0)
        ask->egress[0] = egress[pick(COUNT(egress))];
    ask->request.argv = ask->argv;
    ask->request.env = ask->env;
    ask->request.egress = ask->egress;
    ask->request.timeout_ms = timeouts[pick(COUNT(timeouts))];
    ask->request.jail = pick(3) == 0 ? CHOKE_JAIL_DEFAULT : (enum choke_jail)pick(5);
    ask->request.require_jail = pick(8) == 0;
    ask->request.sandbox = pick(8) == 0;
    ask->request.keep_path = pick(8) == 0 ? "/k" : NULL;
}

static void show_request(const struct ask *ask)
{
    print_message("#   request: jail %d%s%s%s, timeout %lld, env %s, egress %s:", (int)ask->request.jail,
                  ask->request.require_jail ? " required" : "", ask->request.sandbox ? " sandbox" : "",
                  ask->request.keep_path ? " keep" : "", (long long)ask->request.timeout_ms,
                  ask->env[0] ? ask->env[0] : "-", ask->egress[0] ? ask->egress[0] : "-");
    for (size_t i = 0; ask->argv[i]; i++)
        print_message(" '%s'", ask->argv[i]);
    print_message("\n");
}

/* ---- the property ------------------------------------------------------------------------ */

/* Or the program's first argument; the second is the seed. With the sanitizers each takes five times as long. */
#if defined(CHOKE_SANITIZED)
#define PAIRS 2000
#else
#define PAIRS 8000
#endif
#define REQUESTS 60
#define MANY_REQUESTS 30000
#define SOME_REQUESTS 2000
#define FAULTS_SHOWN 12

struct tally {
    size_t pairs, narrowed, granted, compared, faults;
};

static size_t pairs_wanted = PAIRS;
static uint64_t first_seed = UINT64_C(20240229);

/* The worst of the changes; 0 if there is none. */
static enum choke_change_kind worst(const struct ck_policy *before, const struct ck_policy *after)
{
    struct ck_arena arena = {0};
    struct choke_change *changes;
    size_t count;
    enum choke_change_kind kind = 0;
    assert_int_equal(ck_policy_diff(before, after, &arena, &changes, &count), 0);
    for (size_t i = 0; i < count; i++)
        kind = changes[i].kind > kind ? changes[i].kind : kind;
    ck_arena_done(&arena);
    return kind;
}

static void show_changes(const struct ck_policy *before, const struct ck_policy *after)
{
    struct ck_arena arena = {0};
    struct choke_change *changes;
    size_t count;
    assert_int_equal(ck_policy_diff(before, after, &arena, &changes, &count), 0);
    for (size_t i = 0; i < count; i++)
        print_message("#   %s %s %s: %s -> %s\n", choke_change_kind_name(changes[i].kind),
                      changes[i].tool ? changes[i].tool : "", changes[i].field,
                      changes[i].before ? changes[i].before : "-", changes[i].after ? changes[i].after : "-");
    ck_arena_done(&arena);
}

static void check_requests(struct tally *tally, struct ck_policy *before, struct ck_policy *after)
{
    struct world world = {.before = before, .after = after, .seed = pick(1000000)};
    bool found = false;
    for (size_t i = 0; !found && i < REQUESTS; i++) {
        struct ask ask;
        draw_request(&ask);
        const char *excess = world_excess(&world, &ask.request);
        found = !!excess;
        if (!found || tally->faults++ >= FAULTS_SHOWN)
            continue;
        print_message("# nothing widens, and yet: %s\n", excess);
        show_changes(before, after);
        show_request(&ask);
    }
    tally->granted += world.granted;
    tally->compared += world.compared;
}

/* On this platform, and on the other one. */
static void check_pair(struct tally *tally, struct ck_policy *before, struct ck_policy *after)
{
    enum choke_change_kind kind = worst(before, after);
    tally->pairs += kind != 0;
    tally->narrowed += kind == CHOKE_CHANGE_NARROWS;
    if (kind == 0 || kind == CHOKE_CHANGE_WIDENS)
        return;
    check_requests(tally, before, after);
    world_swap_platforms(before);
    world_swap_platforms(after);
    check_requests(tally, before, after);
    world_swap_platforms(before);
    world_swap_platforms(after);
}

static void what_does_not_widen_grants_no_more(void **state)
{
    static struct draw first, second;
    static struct text texts[2];
    struct tally tally = {0};
    (void)state;
    random_state = first_seed;
    while (tally.pairs < pairs_wanted) {
        draw_policy(&first);
        put_policy(&texts[0], &first);
        struct ck_policy *before = parse(&texts[0]);
        for (size_t i = 0; before && i < 16; i++) {
            second = first;
            for (unsigned changes = 1 + pick(6) / 4 + pick(6) / 5; changes > 0; changes--)
                (void)mutate(&second);
            put_policy(&texts[1], &second);
            struct ck_policy *after = parse(&texts[1]);
            if (after) {
                check_pair(&tally, before, after);
                check_pair(&tally, after, before);
            }
            ck_policy_free(after);
        }
        ck_policy_free(before);
    }
    print_message("# %zu pairs, of which %zu narrow; %zu grants on machines, of %zu asked for\n", tally.pairs,
                  tally.narrowed, tally.granted, tally.compared);
    assert_int_equal(tally.faults, 0);
    assert_true(tally.narrowed > pairs_wanted / 6); /* a diff that calls everything wider would pass, and be useless */
    assert_true(tally.granted > 50 * pairs_wanted);
}

#include "extend_cases.h"

/* ---- what is known ----------------------------------------------------------------------- */

/* Does one of many requests get more? On at least one platform. */
static bool finds_excess(const struct combination *combination, size_t requests)
{
    struct ck_policy *before = must_parse(combination->before);
    struct ck_policy *after = must_parse(combination->after);
    bool found = false;
    for (size_t i = 0; !found && i < requests; i++) {
        struct world world = {.before = before, .after = after, .seed = i};
        struct ask ask;
        draw_request(&ask);
        found = !!world_excess(&world, &ask.request);
        world_swap_platforms(before);
        world_swap_platforms(after);
    }
    ck_policy_free(before);
    ck_policy_free(after);
    return found;
}

static void known_widenings_are_seen(void **state)
{
    (void)state;
    random_state = first_seed;
    arguments_only = false;
    for (size_t i = 0; i < COUNT(widening); i++)
        if (!finds_excess(&widening[i], MANY_REQUESTS))
            fail_msg("case %zu grants no request more, to %s", i, widening[i].after);
}

static void known_narrowings_are_no_more(void **state)
{
    (void)state;
    random_state = first_seed;
    arguments_only = false;
    for (size_t i = 0; i < COUNT(narrowing); i++)
        if (finds_excess(&narrowing[i], SOME_REQUESTS))
            fail_msg("case %zu grants some request more, to %s", i, narrowing[i].after);
}

/* ---- no key is forgotten ----------------------------------------------------------------- */

/* The keys of a mapping that is drawn as one value are in that value. */
static bool is_drawn(const char *path)
{
    static const char *const apart[] = {
        "tools.name", "tools.args.command", "tools.args.subcommands.name", "extends", "catalog", "remove",
        "grant.name", "grant.subcommand"};
    for (size_t i = 0; i < COUNT(apart); i++)
        if (strcmp(apart[i], path) == 0)
            return true;
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; strncmp(path, "grant.", 6) == 0 && i < GRANT_ROWS; i++)
        if (strcmp(grant_rows[i].key, dot + 1) == 0)
            return true;
    for (size_t k = 0; k < COUNT(keys); k++) {
        size_t length = strlen(keys[k].path);
        if (strcmp(keys[k].path, path) == 0)
            return true;
        char leaf[64];
        (void)snprintf(leaf, sizeof(leaf), "%s:", dot ? dot + 1 : path);
        for (size_t v = 0; strncmp(keys[k].path, path, length) == 0 && path[length] == '.' && v < VALUES_MAX; v++)
            if (keys[k].values[v] && strstr(keys[k].values[v], leaf))
                return true;
    }
    return false;
}

static void walk(const cyaml_schema_value_t *schema, const char *path, size_t *seen)
{
    while (schema->type == CYAML_SEQUENCE && schema->sequence.entry->type == CYAML_MAPPING)
        schema = schema->sequence.entry;
    if (schema->type != CYAML_MAPPING) {
        ++*seen;
        if (!is_drawn(path))
            fail_msg("the key '%s' is never drawn: give it values in the table of keys", path);
        return;
    }
    for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key; field++) {
        char inner[256];
        (void)snprintf(inner, sizeof(inner), "%s%s%s", path, path[0] != '\0' ? "." : "", field->key);
        walk(&field->value, inner, seen);
    }
}

static void every_key_of_the_schema_is_drawn(void **state)
{
    size_t seen = 0;
    (void)state;
    walk(&ck_policy_schema, "", &seen);
    assert_true(seen > 50);
}

/* The bound without a limit that the diff assumes is the default of the proxy. */
static void the_usual_limit_is_the_one_that_holds(void **state)
{
    (void)state;
    assert_int_equal(CK_DEFAULT_EGRESS_CONNECTIONS, CK_GATE_BUDGET_DEFAULT.connections_total);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_the_schema_is_drawn),
        cmocka_unit_test(the_usual_limit_is_the_one_that_holds),
        cmocka_unit_test(known_widenings_are_seen),
        cmocka_unit_test(known_narrowings_are_no_more),
        cmocka_unit_test(what_does_not_widen_grants_no_more),
        cmocka_unit_test(what_is_written_loads_back_to_the_same),
        cmocka_unit_test(what_extends_is_as_if_written_in_one_file),
    };
    if (argc > 1)
        pairs_wanted = strtoul(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
