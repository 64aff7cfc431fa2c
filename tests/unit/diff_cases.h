/*
 * diff_cases.h - pairs of policies for which it is known whether the second grants more.
 *
 * test_diff.c checks the diff with them. test_diff_grants.c checks the simulated machines with
 * them: a proof by machines that cannot see a known widening would be worth nothing.
 */
#ifndef TEST_DIFF_CASES_H
#define TEST_DIFF_CASES_H

#define SHA "\"0123456789012345678901234567890123456789012345678901234567890123\""
#define HEAD "version: 1\nsearch_path: [/usr/bin]\ntools:\n"
#define ENTRY(name, route) "  - name: " name "\n    why: w\n    adr: \"0001\"\n    route: " route "\n"
#define TOOL HEAD ENTRY("x", "direct")
#define EXTERNAL HEAD ENTRY("x", "external")
#define BWRAP ENTRY("bwrap", "jail")
#define PATHS(list) "version: 1\nsearch_path: [" list "]\ntools:\n"

struct combination {
    const char *before;
    const char *after;
};

/* What the new policy grants to some request on some machine and the old one does not. */
static const struct combination widening[] = {
    /* in a jail nothing but itself could be executed */
    {TOOL, TOOL "    execs: [sh]\n"},
    {TOOL "    args: {subcommands: [{name: a}]}\n", TOOL "    args: {subcommands: [{name: a, execs: [sh]}]}\n"},
    {TOOL, TOOL "    args: {subcommands: [{name: a, operands: any, execs: [sh]}]}\n"},
    /* a set is what it contains */
    {TOOL, TOOL "    uses: [node-scripts]\n"},
    {TOOL "    execs: []\n", TOOL "    uses: [node-scripts]\n"},
    {TOOL "    uses: [node-scripts]\n", TOOL "    uses: [node-scripts, shell]\n"},
    {TOOL "    uses: [node-scripts]\n", TOOL "    uses: [node-scripts]\n    execs: [less]\n"},
    /* without any list it executes anything where there is no jail */
    {TOOL "    uses: [node-scripts]\n", TOOL},
    {TOOL "    uses: [node-scripts]\n    execs: []\n    args: {subcommands: [{name: a, uses: []}]}\n",
     TOOL "    uses: [node-scripts]\n    args: {subcommands: [{name: a, uses: []}]}\n"},
    /* a subcommand has more than the tool had, or than it had itself */
    {TOOL, TOOL "    args: {subcommands: [{name: a, operands: any, egress: [a.org]}]}\n"},
    {TOOL, TOOL "    args: {subcommands: [{name: a, operands: any, env: [TZ]}]}\n"},
    {TOOL "    limits: {cpu_s: 9}\n",
     TOOL "    limits: {cpu_s: 9}\n    args: {subcommands: [{name: a, limits: {}}]}\n"},
    {TOOL "    args: {subcommands: [{name: a}]}\n", TOOL "    args: {subcommands: [{name: a, workspace: rw}]}\n"},
    {TOOL "    args: {subcommands: [{name: a}]}\n", TOOL "    args: {subcommands: [{name: a, egress: [a.org]}]}\n"},
    {TOOL "    env: [TZ]\n    args: {subcommands: [{name: a, env: []}]}\n",
     TOOL "    env: [TZ]\n    args: {subcommands: [{name: a}]}\n"},
    {TOOL "    limits: {cpu_s: 9}\n    args: {subcommands: [{name: a}]}\n",
     TOOL "    limits: {cpu_s: 9}\n    args: {subcommands: [{name: a, limits: {timeout_s: 9}}]}\n"},
    {TOOL "    args: {exact: [[a]], subcommands: [{name: a, egress: [a.org]}]}\n",
     TOOL "    args: {subcommands: [{name: a, egress: [a.org]}]}\n"},
    /* with --jail none it was refused, and the default was the native jail */
    {TOOL "    workspace: overlay\n", TOOL "    workspace: ro\n"},
    {EXTERNAL "    workspace: ro\n    workspace_code: true\n", EXTERNAL "    workspace: ro\n"},
    {EXTERNAL "    workspace: ro\n", EXTERNAL "    workspace: ro\n    workspace_code: true\n"},
    {EXTERNAL "    args: {subcommands: [{name: a}]}\n",
     EXTERNAL "    args: {subcommands: [{name: a, workspace: ro, workspace_code: true}]}\n"},
    {EXTERNAL "    loopback: true\n", EXTERNAL},
    {EXTERNAL, EXTERNAL "    loopback: true\n"},
    {EXTERNAL "    args: {subcommands: [{name: a}]}\n",
     EXTERNAL "    args: {subcommands: [{name: a, loopback: true}]}\n"},
    {EXTERNAL "    require_jail: true\n", EXTERNAL},
    {EXTERNAL "    args: {subcommands: [{name: a, require_jail: true}]}\n",
     EXTERNAL "    args: {subcommands: [{name: a}]}\n"},
    /* --keep was refused */
    {TOOL "    workspace: rw\n", TOOL "    workspace: overlay\n"},
    /* it may trace what it runs */
    {TOOL ENTRY("y", "direct"), TOOL "    args: {command: after_options}\n" ENTRY("y", "direct")},
    /* other arguments than the caller's */
    {TOOL, TOOL "    args: {operands: any, inject: [--x]}\n"},
    {TOOL, TOOL "    args: {subcommands: [{name: a, inject: [--x]}]}\n"},
    {TOOL "    args: {options: [--help], inject: [--x], exact: [[--help]]}\n",
     TOOL "    args: {options: [--help], inject: [--x]}\n"},
    {TOOL "    version_args: [-V]\n    args: {options: [-V], inject: [--x]}\n",
     TOOL "    args: {options: [-V], inject: [--x]}\n"},
    /* it was allowed without change, and is a subcommand with its own helpers now */
    {TOOL "    args: {exact: [[a]], subcommands: [{name: a, execs: [sh]}]}\n",
     TOOL "    args: {subcommands: [{name: a, execs: [sh]}]}\n"},
    /* one word with a blank in it, and two words */
    {TOOL "    version_args: [a b]\n    args: {exact: [[c]]}\n",
     TOOL "    version_args: [a, b]\n    args: {exact: [[c]]}\n"},
    /* without bwrap a machine without the native jail falls to a weaker one, or to none */
    {TOOL BWRAP, TOOL},
    {TOOL BWRAP, TOOL BWRAP "    platforms: [macos]\n"},
    {TOOL BWRAP, TOOL BWRAP "    sha256: " SHA "\n"},
    {PATHS("/usr/bin, /bin") ENTRY("x", "external") BWRAP,
     PATHS("/usr/bin, /bin") ENTRY("x", "external") BWRAP "    path: /usr/bin/bwrap\n"},
    {TOOL BWRAP, TOOL ENTRY("bwrap", "external")},
    {PATHS("/usr/bin, /bin") ENTRY("x", "external") BWRAP, PATHS("/usr/bin") ENTRY("x", "external") BWRAP},
    /* with it, --jail bwrap was refused and is not */
    {TOOL ENTRY("bwrap", "external"), TOOL BWRAP},
    {TOOL, TOOL BWRAP},
    /* a caller that names no timeout had 60 s; the proxy has its own bound */
    {TOOL, TOOL "    limits: {timeout_s: 61}\n"},
    {TOOL, TOOL "    limits: {egress_connections: 10001}\n"},
    /* another file of the same name is found */
    {PATHS("/usr/bin, /bin") ENTRY("x", "direct"), PATHS("/bin") ENTRY("x", "direct")},
    {PATHS("/usr/bin, /bin") ENTRY("x", "direct"), PATHS("/usr/bin, /bin") ENTRY("x", "direct") "    path: /bin/x\n"},
    /* "-1" was a number, and satisfies a requirement now */
    {TOOL "    args: {options: [\"-<number>\", \"-1\"], require: [\"-1\"]}\n",
     TOOL "    args: {options: [\"-1\"], require: [\"-1\"]}\n"},
    /* no argument at all was refused, and is allowed now */
    {TOOL "    args: {exact: [[--version]]}\n", TOOL "    args: {}\n"},
    /* the last subcommand goes: what takes its place is the bare tool */
    {TOOL "    args: {subcommands: [{name: a}]}\n", TOOL "    args: {}\n"},
    /* "a" matches now, without the rules of "a b" */
    {TOOL "    args: {subcommands: [{name: a, operands: any}, {name: a b, options: [--x], require: "
          "[--x]}]}\n",
     TOOL "    args: {subcommands: [{name: a, operands: any}]}\n"},
    /* a place that was not in the search path */
    {TOOL, TOOL "    path: /opt/x\n"},
    {TOOL, TOOL "    path: /usr/bin/y\n"},
};

/* A diff that calls everything wider would be safe, and useless. */
static const struct combination narrowing[] = {
    {TOOL "    egress: [\"*.example.com\"]\n", TOOL "    egress: [a.example.com]\n"},
    {TOOL "    egress: [a.example.com]\n", TOOL},
    {TOOL "    env: [TZ]\n", TOOL},
    {TOOL "    credentials: allow\n", TOOL},
    {TOOL, TOOL "    path: /usr/bin/x\n"},
    {TOOL, TOOL "    sha256: " SHA "\n"},
    {TOOL, TOOL "    platforms: [linux]\n"},
    {TOOL, HEAD ENTRY("x", "external")},
    {TOOL, HEAD ENTRY("x", "jail")},
    {TOOL, HEAD "  []\n"},
    {TOOL BWRAP, HEAD BWRAP},
    {TOOL, TOOL "    limits: {timeout_s: 60, memory_mib: 64, processes: 8, egress_connections: 10000}\n"},
    {TOOL "    limits: {timeout_s: 600, cpu_s: 9}\n", TOOL "    limits: {timeout_s: 300, cpu_s: 8}\n"},
    {TOOL, TOOL "    execs: []\n"},
    {TOOL "    execs: [sh, less]\n", TOOL "    execs: [sh]\n"},
    {TOOL "    execs: [sh]\n", TOOL "    execs: []\n"},
    {TOOL "    args: {subcommands: [{name: a}]}\n", TOOL "    args: {subcommands: [{name: a, execs: []}]}\n"},
    {TOOL "    uses: [node-scripts, shell]\n", TOOL "    uses: [node-scripts]\n"},
    {TOOL "    uses: [node-scripts]\n", TOOL "    execs: [sh, node]\n"},
    {TOOL "    uses: [node-scripts]\n", TOOL "    execs: []\n"},
    {TOOL "    uses: [shell]\n    args: {subcommands: [{name: a}]}\n",
     TOOL "    uses: [shell]\n    args: {subcommands: [{name: a, uses: [], execs: []}]}\n"},
    {TOOL "    egress: [a.org]\n    args: {subcommands: [{name: a}]}\n",
     TOOL "    egress: [a.org]\n    args: {subcommands: [{name: a, egress: []}]}\n"},
    {TOOL "    args: {subcommands: [{name: a}]}\n", TOOL "    args: {subcommands: [{name: a, limits: {cpu_s: 9}}]}\n"},
    {TOOL "    workspace: rw\n    args: {subcommands: [{name: a}]}\n",
     TOOL "    workspace: rw\n    args: {subcommands: [{name: a, workspace: ro}]}\n"},
    {TOOL "    env: [TZ]\n", TOOL "    env: [TZ]\n    args: {subcommands: [{name: a, env: []}]}\n"},
    {TOOL "    workspace: rw\n", TOOL "    workspace: ro\n"},
    {TOOL "    workspace: rw\n" ENTRY("y", "direct") "    workspace: overlay\n",
     TOOL "    workspace: ro\n" ENTRY("y", "direct") "    workspace: overlay\n"},
    /* in one command with an overlay: that is refused without the native jail in any case */
    {TOOL "    workspace: rw\n    args: {command: after_options}\n" ENTRY("y", "direct") "    workspace: overlay\n",
     TOOL "    workspace: ro\n    args: {command: after_options}\n" ENTRY("y", "direct") "    workspace: overlay\n"},
    {TOOL "    version_args: [-V]\n    args: {operands: any, inject: [--x]}\n",
     TOOL "    args: {operands: any, inject: [--x]}\n"},
    {TOOL "    args: {options: [--x], exact: [[--help]]}\n", TOOL "    args: {options: [--x]}\n"},
    {PATHS("/usr/bin, /bin") ENTRY("x", "direct"), PATHS("/usr/bin") ENTRY("x", "direct")},
    {PATHS("/usr/bin, /bin") BWRAP "    path: /usr/bin/bwrap\n", PATHS("/usr/bin") BWRAP "    path: /usr/bin/bwrap\n"},
    {TOOL, TOOL "    args: {options: [--x]}\n"},
    {TOOL, TOOL "    args: {subcommands: [{name: a, operands: any, execs: []}]}\n"},
    {TOOL "    args: {operands: any}\n", TOOL "    args: {operands: any, first: inside}\n"},
    {TOOL "    args: {options: [--x, --y]}\n", TOOL "    args: {options: [--x]}\n"},
    {TOOL "    args: {options: [--x]}\n", TOOL "    args: {options: [--x], require: [--x]}\n"},
    {TOOL "    args: {options: [\"-<number>\", -a]}\n", TOOL "    args: {options: [-a]}\n"},
};

#endif
