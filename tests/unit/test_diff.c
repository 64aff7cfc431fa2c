/* test_diff.c - every key of the policy has its rule, and every rule its kind. */
#include "diff_cases.h"

#include "policy/describe.h"
#include "policy/diff.h"
#include "policy/load.h"
#include "policy/schema.h"

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

#define W CHOKE_CHANGE_WIDENS
#define N CHOKE_CHANGE_NARROWS
#define O CHOKE_CHANGE_NEUTRAL

/* Every key is here, with a value that can be changed. */
static const char base[] = "version: 1\n"
                           "adr_dir: docs/adr\n"
                           "search_path: [/usr/bin, /bin]\n"
                           "locked: false\n"
                           "roots: [/srv/a, /srv/b]\n"
                           "guard:\n"
                           "  why: A script is run.\n"
                           "  adr: \"0006\"\n"
                           "  programs: [sh]\n"
                           "  carriers: [sh, cat]\n"
                           "  catalog: [sh, cat]\n"
                           "  inject: [--batch]\n"
                           "  state: [.agent]\n"
                           "  state_data: [.agent/log*]\n"
                           "  read_only: [.git]\n"
                           "  may_refuse: [getconf]\n"
                           "  egress: [guard.example.org]\n"
                           "  env: [TERM]\n"
                           "  set_env: [{name: CI, value: one}]\n"
                           "  workspace: overlay\n"
                           "  workspace_code: false\n"
                           "  jit: false\n"
                           "  shipped: [ci]\n"
                           "  profiles:\n"
                           "    - name: build\n"
                           "      why: It is built.\n"
                           "      adr: \"0007\"\n"
                           "      programs: [bash]\n"
                           "      carriers: [bash]\n"
                           "      catalog: [bash]\n"
                           "      inject: [--norc]\n"
                           "      state: [.cache/build]\n"
                           "      state_data: [\".cache/build/log/**\"]\n"
                           "      read_only: [.hg]\n"
                           "      may_refuse: [lscpu]\n"
                           "      egress: [build.example.org]\n"
                           "      env: [COLORTERM]\n"
                           "      set_env: [{name: BUILD, value: all}]\n"
                           "      workspace: rw\n"
                           "      workspace_code: true\n"
                           "      jit: true\n"
                           "tools:\n"
                           "  - name: git\n"
                           "    why: History is read.\n"
                           "    adr: \"0001\"\n"
                           "    route: external\n"
                           "    required: false\n"
                           "    platforms: [linux]\n"
                           "    install: {apt: git, brew: git-brew, npm: git-npm, url: \"https://git.example.org\"}\n"
                           "    version_args: [--version]\n"
                           "    env: [LANGUAGE]\n"
                           "    set_env: [{name: GIT_PAGER, value: cat}]\n"
                           "    credentials: refuse\n"
                           "    limits: {timeout_s: 60, memory_mib: 512, processes: 32, cpu_s: 30, "
                           "file_size_mib: 64, open_files: 128, egress_mib: 16, egress_connections: 32}\n"
                           "    path: /usr/bin/git\n"
                           "    sha256: \"0123456789012345678901234567890123456789012345678901234567890123\"\n"
                           "    execs: [less]\n"
                           "    uses: [shell]\n"
                           "    egress: [git.example.org]\n"
                           "    workspace: ro\n"
                           "    workspace_code: false\n"
                           "    loopback: false\n"
                           "    require_jail: false\n"
                           "    reads: [/opt/a]\n"
                           "    root_at: work\n"
                           "    args:\n"
                           "      options: [-C=<inside>]\n"
                           "      inject: [--no-pager]\n"
                           "      deny: [--exec-path]\n"
                           "      exact: [[--help]]\n"
                           "      sets: [{name: common, options: [--stat]}]\n"
                           "      subcommands:\n"
                           "        - name: log\n"
                           "          options: [\"@common\", -n=<number>, --mode=a, -e=]\n"
                           "          inject: [--no-ext-diff]\n"
                           "          require: [--mode=a]\n"
                           "          deny: [--output]\n"
                           "          operands: inside\n"
                           "          first: any\n"
                           "          first_unless: [-e]\n"
                           "          order: mixed\n"
                           "          execs: [more]\n"
                           "          uses: [node-scripts]\n"
                           "          workspace: rw\n"
                           "          workspace_code: false\n"
                           "          loopback: true\n"
                           "          require_jail: true\n"
                           "          egress: [log.example.org]\n"
                           "          env: [TZ]\n"
                           "          set_env: [{name: GIT_EDITOR, value: vi}]\n"
                           "          limits: {timeout_s: 50, memory_mib: 500, processes: 20, cpu_s: 20, "
                           "file_size_mib: 50, open_files: 100, egress_mib: 10, egress_connections: 20}\n"
                           "        - name: show\n"
                           "        - name: scan\n"
                           "          operands: existing\n"
                           "          schemes: [dir]\n"
                           "  - name: rg\n"
                           "    why: Text is searched.\n"
                           "    adr: \"0002\"\n"
                           "    route: direct\n"
                           "    args:\n"
                           "      options: [-q, --kind=x, -f=]\n"
                           "      require: [--kind=x]\n"
                           "      operands: name\n"
                           "      first: number\n"
                           "      first_unless: [-f]\n"
                           "      order: options_first\n"
                           "      bundles: false\n"
                           "  - name: syft\n"
                           "    why: Packages are listed.\n"
                           "    adr: \"0002\"\n"
                           "    route: direct\n"
                           "    args:\n"
                           "      operands: existing\n"
                           "      schemes: [file]\n"
                           "  - name: strace\n"
                           "    why: Calls are traced.\n"
                           "    adr: \"0003\"\n"
                           "    route: direct\n"
                           "    args: {command: after_options}\n"
                           "  - name: jq\n"
                           "    why: JSON is filtered.\n"
                           "    adr: \"0004\"\n"
                           "    route: direct\n";

static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at || strstr(at + 1, from))
        fail_msg("the base must hold '%s' once", from);
    size_t size = strlen(text) + strlen(to) + 1;
    char *result = malloc(size);
    assert_non_null(result);
    (void)snprintf(result, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return result;
}

/* ---- what each key's change is called ---------------------------------------------------- */

struct row {
    const char *key; /* in the schema */
    const char *from;
    const char *to;
    enum choke_change_kind there; /* from the base */
    enum choke_change_kind back;  /* to it */
    const char *field;            /* of the change, as it is reported */
};

#define OTHER_SHA "\"9123456789012345678901234567890123456789012345678901234567890123\""
#define LINE(text) "    " text "\n"
#define SET(name) \
    "sets: [{name: " name \
    ", options: [--stat]}]\n      subcommands:\n        - name: log\n          options: [\"@" name "\""
#define SUB(text) "          " text "\n"

static const struct row rows[] = {
    {"adr_dir", "adr_dir: docs/adr", "adr_dir: adr", O, O, "adr_dir"},
    {"search_path", "[/usr/bin, /bin]", "[/usr/bin]", N, W, "search_path"},
    {"search_path", "[/usr/bin, /bin]", "[/bin, /usr/bin]", W, W, "search_path"},
    {"search_path", "[/usr/bin, /bin]", "[/usr/bin, /bin, /opt/bin]", W, N, "search_path"},
    {"search_path", "[/usr/bin, /bin]", "[/opt/bin, /usr/bin, /bin]", W, W, "search_path"},
    {"locked", "locked: false\n", "locked: true\n", N, W, "locked"},
    {"roots", "roots: [/srv/a, /srv/b]\n", "", W, N, "roots"},
    {"roots", "[/srv/a, /srv/b]", "[/srv/a]", N, W, "roots"},
    {"roots", "[/srv/a, /srv/b]", "[/srv/b/c]", N, W, "roots"},
    {"roots", "[/srv/a, /srv/b]", "[/srv/a, /srv/bc]", W, W, "roots"},
    {"roots", "[/srv/a, /srv/b]", "[/srv]", W, N, "roots"},
    {"roots", "[/srv/a, /srv/b]", "[/srv/b, /srv/a]", O, O, "roots"},
    {"roots", "[/srv/a, /srv/b]", "[/srv/a, /srv/b, /srv/b/c]", O, O, "roots"},
    {"upstream", "locked: false\n", "upstream: environment\n", W, W, "upstream"},
    {"upstream", "locked: false\n", "upstream: {url: http://p.example.org:3128}\n", W, W, "upstream"},
    {"upstream", "locked: false\n", "upstream: {url: http://p.example.org:3128, credentials_file: /etc/p}\n", W, W,
     "upstream"},

    {"guard.why", "why: A script", "why: No script", O, O, "guard.why"},
    {"guard.adr", "adr: \"0006\"", "adr: \"0008\"", O, O, "guard.adr"},
    {"guard.programs", "programs: [sh]", "programs: [sh, cat]", W, N, "guard.programs"},
    {"guard.programs", "  programs: [sh]\n", "", W, N, "guard.programs"},
    {"guard.carriers", "carriers: [sh, cat]", "carriers: [sh]", W, W, "guard.carriers"},
    {"guard.catalog", "catalog: [sh, cat]", "catalog: [sh, cat, make]", W, N, "guard.catalog"},
    {"guard.inject", "[--batch]", "[--batch, --all]", W, W, "guard.inject"},
    {"guard.state", "[.agent]", "[.agent, .other]", W, N, "guard.state"},
    {"guard.state_data", "[.agent/log*]", "[.agent/log*, .agent/other]", W, N, "guard.state_data"},
    {"guard.read_only", "[.git]", "[.git, .svn]", N, W, "guard.read_only"},
    {"guard.may_refuse", "[getconf]", "[getconf, sudo]", W, N, "guard.may_refuse"},
    {"guard.egress", "[guard.example.org]", "[guard.example.org, \"*.guard.example.org\"]", W, N, "guard.egress"},
    {"guard.egress", "[guard.example.org]", "[\"guard.example.org:443\"]", N, W, "guard.egress"},
    {"guard.env", "[TERM]", "[TERM, TZ]", W, N, "guard.env"},
    {"guard.set_env.name", "name: CI,", "name: CJ,", W, W, "guard.set_env"},
    {"guard.set_env.value", "value: one", "value: two", W, W, "guard.set_env"},
    {"guard.set_env.when", "value: one", "value: one, when: offline", W, W, "guard.set_env"},
    {"guard.workspace", "  workspace: overlay\n", "  workspace: rw\n  # overlay\n", W, N, "guard.workspace"},
    {"guard.workspace", "  workspace: overlay\n", "", W, N, "guard.workspace"},
    {"guard.workspace_code", "\n  workspace_code: false\n", "\n  workspace_code: true\n", W, N, "guard.workspace_code"},
    {"guard.jit", "jit: false", "jit: true # too", W, N, "guard.jit"},
    {"guard.shipped", "shipped: [ci]", "shipped: []", N, W, "guard.shipped"},
    {"guard.profiles.name", "name: build", "name: other", W, W, "guard.profiles"},
    {"guard.profiles.why", "It is built.", "It was built.", O, O, "guard.profiles.build.why"},
    {"guard.profiles.adr", "adr: \"0007\"", "adr: \"0008\"", O, O, "guard.profiles.build.adr"},
    {"guard.profiles.programs", "programs: [bash]", "programs: [bash, sh]", W, N, "guard.profiles.build.programs"},
    {"guard.profiles.carriers", "carriers: [bash]", "carriers: [bash, sh]", W, W, "guard.profiles.build.carriers"},
    {"guard.profiles.catalog", "catalog: [bash]", "catalog: [bash, make]", W, N, "guard.profiles.build.catalog"},
    {"guard.profiles.inject", "[--norc]", "[--norc, -e]", W, W, "guard.profiles.build.inject"},
    {"guard.profiles.state", "[.cache/build]", "[.cache]", W, W, "guard.profiles.build.state"},
    {"guard.profiles.state_data", "[\".cache/build/log/**\"]", "[\".cache/build/**\"]", W, W,
     "guard.profiles.build.state_data"},
    {"guard.profiles.read_only", "[.hg]", "[.hg, .svn]", N, W, "guard.profiles.build.read_only"},
    {"guard.profiles.may_refuse", "[lscpu]", "[lscpu, su]", W, N, "guard.profiles.build.may_refuse"},
    {"guard.profiles.egress", "[build.example.org]", "[]", N, W, "guard.profiles.build.egress"},
    {"guard.profiles.env", "[COLORTERM]", "[]", N, W, "guard.profiles.build.env"},
    {"guard.profiles.set_env.name", "name: BUILD", "name: BUILT", W, W, "guard.profiles.build.set_env"},
    {"guard.profiles.set_env.value", "value: all", "value: some", W, W, "guard.profiles.build.set_env"},
    {"guard.profiles.set_env.when", "value: all", "value: all, when: offline", W, W, "guard.profiles.build.set_env"},
    {"guard.profiles.workspace", "      workspace: rw\n      workspace_code",
     "      workspace: overlay\n      workspace_code", N, W, "guard.profiles.build.workspace"},
    {"guard.profiles.workspace", "      workspace: rw\n      workspace_code", "      workspace_code", O, O,
     "guard.profiles.build.workspace"},
    {"guard.profiles.workspace_code", "workspace_code: true", "workspace_code: false # here", N, W,
     "guard.profiles.build.workspace_code"},
    {"guard.profiles.jit", "jit: true", "jit: false # here", N, W, "guard.profiles.build.jit"},

    {"tools.name", "name: jq", "name: yq", W, W, "tools"},
    {"tools.why", "why: JSON is filtered.", "why: Text is filtered.", O, O, "why"},
    {"tools.adr", "adr: \"0004\"", "adr: \"0005\"", O, O, "adr"},
    {"tools.route", "route: external", "route: direct", W, N, "route"},
    {"tools.route", "route: external", "route: jail", N, W, "route"},
    {"tools.required", "required: false", "required: true", O, O, "required"},
    {"tools.platforms", "platforms: [linux]", "platforms: [linux, macos]", W, N, "platforms"},
    {"tools.platforms", "platforms: [linux]", "platforms: [macos]", W, W, "platforms"},
    {"tools.platforms", LINE("platforms: [linux]"), "", W, N, "platforms"},
    {"tools.install.apt", "apt: git", "apt: git-core", O, O, "install.apt"},
    {"tools.install.brew", "brew: git-brew", "brew: git", O, O, "install.brew"},
    {"tools.install.npm", "npm: git-npm", "npm: git", O, O, "install.npm"},
    {"tools.install.url", ", url: \"https://git.example.org\"", "", O, O, "install.url"},
    {"tools.version_args", "version_args: [--version]", "version_args: [-v]", W, W, "version_args"},
    {"tools.version_args", LINE("version_args: [--version]"), "", N, W, "version_args"},
    {"tools.env", "env: [LANGUAGE]", "env: [LANGUAGE, TZ]", W, N, "env"},
    {"tools.set_env.name", "name: GIT_PAGER", "name: GIT_SSH_VARIANT", W, W, "set_env"},
    {"tools.set_env.value", "value: cat", "value: less", W, W, "set_env"},
    {"tools.set_env.when", "value: cat", "value: cat, when: offline", W, W, "set_env"},
    {"tools.credentials", "credentials: refuse", "credentials: allow", W, N, "credentials"},
    {"tools.limits.timeout_s", "timeout_s: 60", "timeout_s: 61", W, N, "limits.timeout_s"},
    {"tools.limits.timeout_s", "timeout_s: 60, ", "", W, N, "limits.timeout_s"},
    {"tools.limits.memory_mib", "memory_mib: 512", "memory_mib: 1024", W, N, "limits.memory_mib"},
    {"tools.limits.memory_mib", "memory_mib: 512, ", "", W, N, "limits.memory_mib"},
    {"tools.limits.processes", "processes: 32", "processes: 33", W, N, "limits.processes"},
    {"tools.limits.cpu_s", "cpu_s: 30", "cpu_s: 31", W, N, "limits.cpu_s"},
    {"tools.limits.file_size_mib", "file_size_mib: 64", "file_size_mib: 65", W, N, "limits.file_size_mib"},
    {"tools.limits.open_files", "open_files: 128", "open_files: 1024", W, N, "limits.open_files"},
    {"tools.limits.open_files", ", open_files: 128", "", W, N, "limits.open_files"},
    {"tools.limits.egress_mib", "egress_mib: 16", "egress_mib: 17", W, N, "limits.egress_mib"},
    {"tools.limits.egress_connections", ", egress_connections: 32", "", W, N, "limits.egress_connections"},
    {"tools.path", "path: /usr/bin/git", "path: /opt/git", W, W, "path"},
    {"tools.path", LINE("path: /usr/bin/git"), "", W, N, "path"},
    {"tools.sha256", SHA, OTHER_SHA, W, W, "sha256"},
    {"tools.sha256", LINE("sha256: " SHA), "", W, N, "sha256"},
    {"tools.execs", "execs: [less]", "execs: [less, more]", W, N, "execs"},
    {"tools.execs", "execs: [less]", "execs: []", N, W, "execs"},
    {"tools.execs", "execs: [less]", "execs: [less, sed]", O, O, "execs"}, /* the set has it */
    {"tools.execs", LINE("execs: [less]"), "", N, W, "execs"},             /* the set still closes the list */
    {"tools.execs", LINE("execs: [less]") LINE("uses: [shell]"), "", W, W, "execs"},
    {"tools.uses", "uses: [shell]", "uses: [shell, c-compiler]", W, N, "uses"},
    {"tools.uses", LINE("uses: [shell]"), "", N, W, "uses"},
    {"tools.egress", "egress: [git.example.org]", "egress: [git.example.org, b.example.org]", W, N, "egress"},
    {"tools.workspace", "workspace: ro", "workspace: rw", W, N, "workspace"},
    {"tools.workspace", "workspace: ro", "workspace: overlay", W, W, "workspace"},
    {"tools.workspace_code", "workspace: ro\n    workspace_code: false", "workspace: ro\n    workspace_code: true", W,
     W, "workspace_code"},
    {"tools.loopback", "loopback: false", "loopback: true", W, W, "loopback"},
    {"tools.require_jail", "require_jail: false", "require_jail: true", N, W, "require_jail"},
    {"tools.reads", "reads: [/opt/a]", "reads: [/opt/a, /opt/b]", W, N, "reads"},
    {"tools.reads", "reads: [/opt/a]", "reads: [/opt/a/b]", W, W, "reads"},
    {"tools.root_at", "root_at: work", "root_at: own", W, W, "root_at"},
    {"tools.egress", "egress: [git.example.org]", "egress: [\"*.example.org\"]", W, N, "egress"},
    {"tools.egress", "egress: [git.example.org]", "egress: [\"git.example.org:443\"]", N, W, "egress"},
    {"tools.egress", "egress: [git.example.org]", "egress: [git.example.org opaque]", W, N, "egress"},
    {"tools.egress", "egress: [git.example.org]", "egress: [git.example.org, 192.0.2.0/24]", W, N, "egress"},

    {"tools.args.sets.name", SET("common"), SET("usual"), O, O, "args.sets"},
    {"tools.args.sets.options", "options: [--stat]}", "options: [--stat, --numstat]}", W, N,
     "args.subcommands.log.options"},
    {"tools.args.options", "options: [-C=<inside>]", "options: [-C=<inside>, --bare]", W, N, "args.options"},
    {"tools.args.options", "options: [-C=<inside>]", "options: [-C=<existing>]", N, W, "args.options"},
    {"tools.args.inject", "inject: [--no-pager]", "inject: [--paginate]", W, W, "args.inject"},
    {"tools.args.inject", "      inject: [--no-pager]\n", "", W, W, "args.inject"},
    {"tools.args.require", "      require: [--kind=x]\n", "", W, N, "args.require"},
    {"tools.args.deny", "deny: [--exec-path]", "deny: []", W, N, "args.deny"},
    {"tools.args.operands", "operands: name", "operands: any", W, N, "args.operands"},
    {"tools.args.operands", "operands: name", "operands: mount", W, W, "args.operands"},
    {"tools.args.first", "first: number", "first: inside", W, W, "args.first"},
    {"tools.args.schemes", "schemes: [file]", "schemes: [file, dir]", W, N, "args.schemes"},
    {"tools.args.schemes", "      schemes: [file]\n", "", N, W, "args.schemes"},
    {"tools.args.first_unless", "first_unless: [-f]", "first_unless: [-f, -q]", W, N, "args.first_unless"},
    {"tools.args.order", "order: options_first", "order: mixed", W, W, "args.order"},
    {"tools.args.exact", "exact: [[--help]]", "exact: [[--help], [--help, log]]", W, N, "args.exact"},
    {"tools.args.bundles", "bundles: false", "bundles: true", W, W, "args.bundles"},
    {"tools.args.command", "args: {command: after_options}", "args: {operands: none}", W, W, "args.command"},
    {"tools.args.subcommands.name", "- name: show", "- name: diff", W, W, "args.subcommands"},
    {"tools.args.subcommands.name", "        - name: show\n", "", N, W, "args.subcommands"},
    {"tools.args.subcommands.options", "-n=<number>", "-n=", W, N, "args.subcommands.log.options"},
    {"tools.args.subcommands.options", ", -n=<number>", "", N, W, "args.subcommands.log.options"},
    {"tools.args.subcommands.inject", "inject: [--no-ext-diff]", "inject: []", W, W, "args.subcommands.log.inject"},
    {"tools.args.subcommands.require", SUB("require: [--mode=a]"), "", W, N, "args.subcommands.log.require"},
    {"tools.args.subcommands.deny", "deny: [--output]", "deny: [--output, --out]", N, W, "args.subcommands.log.deny"},
    {"tools.args.subcommands.operands", "operands: inside", "operands: existing", N, W,
     "args.subcommands.log.operands"},
    {"tools.args.subcommands.first", "first: any", "first: name", N, W, "args.subcommands.log.first"},
    {"tools.args.subcommands.schemes", "schemes: [dir]", "schemes: [dir, file]", W, N, "args.subcommands.scan.schemes"},
    {"tools.args.subcommands.first_unless", "first_unless: [-e]", "first_unless: [-e, -n]", N, W,
     "args.subcommands.log.first_unless"},
    {"tools.args.subcommands.order", "order: mixed", "order: options_first", W, W, "args.subcommands.log.order"},
    {"tools.args.subcommands.execs", "          execs: [more]", "          execs: [more, less]", W, N,
     "args.subcommands.log.execs"},
    {"tools.args.subcommands.execs", "          execs: [more]\n", "", W, W, "args.subcommands.log.execs"},
    {"tools.args.subcommands.uses", "uses: [node-scripts]", "uses: []", N, W, "args.subcommands.log.uses"},
    {"tools.args.subcommands.uses", SUB("uses: [node-scripts]"), "", W, W, "args.subcommands.log.uses"},
    {"tools.args.subcommands.execs", "          execs: [more]\n", SUB("execs: []"), N, W, "args.subcommands.log.execs"},
    {"tools.args.subcommands.workspace", SUB("workspace: rw"), SUB("workspace: ro"), N, W,
     "args.subcommands.log.workspace"},
    {"tools.args.subcommands.workspace", SUB("workspace: rw"), "", N, W, "args.subcommands.log.workspace"},
    {"tools.args.subcommands.workspace_code", SUB("workspace_code: false"), SUB("workspace_code: true"), W, W,
     "args.subcommands.log.workspace_code"},
    {"tools.args.subcommands.workspace_code", SUB("workspace_code: false"), "", O, O,
     "args.subcommands.log.workspace_code"},
    {"tools.args.subcommands.loopback", "loopback: true", "loopback: false", W, W, "args.subcommands.log.loopback"},
    {"tools.args.subcommands.loopback", SUB("loopback: true"), "", W, W, "args.subcommands.log.loopback"},
    {"tools.args.subcommands.require_jail", SUB("require_jail: true"), SUB("require_jail: false"), W, N,
     "args.subcommands.log.require_jail"},
    {"tools.args.subcommands.require_jail", SUB("require_jail: true"), "", W, N, "args.subcommands.log.require_jail"},
    {"tools.args.subcommands.egress", "[log.example.org]", "[]", N, W, "args.subcommands.log.egress"},
    {"tools.args.subcommands.egress", SUB("egress: [log.example.org]"), "", W, W, "args.subcommands.log.egress"},
    {"tools.args.subcommands.env", "env: [TZ]", "env: [TZ, COLUMNS]", W, N, "args.subcommands.log.env"},
    {"tools.args.subcommands.set_env.name", "name: GIT_EDITOR", "name: GIT_SSH_VARIANT", W, W,
     "args.subcommands.log.set_env"},
    {"tools.args.subcommands.set_env.value", "value: vi", "value: ed", W, W, "args.subcommands.log.set_env"},
    {"tools.args.subcommands.set_env.when", "value: vi", "value: vi, when: offline", W, W,
     "args.subcommands.log.set_env"},
    {"tools.args.subcommands.limits.timeout_s", "timeout_s: 50", "timeout_s: 51", W, N,
     "args.subcommands.log.limits.timeout_s"},
    {"tools.args.subcommands.limits.memory_mib", "memory_mib: 500", "memory_mib: 600", W, N,
     "args.subcommands.log.limits.memory_mib"},
    {"tools.args.subcommands.limits.processes", "processes: 20", "processes: 21", W, N,
     "args.subcommands.log.limits.processes"},
    {"tools.args.subcommands.limits.cpu_s", "cpu_s: 20", "cpu_s: 21", W, N, "args.subcommands.log.limits.cpu_s"},
    {"tools.args.subcommands.limits.file_size_mib", "file_size_mib: 50", "file_size_mib: 51", W, N,
     "args.subcommands.log.limits.file_size_mib"},
    {"tools.args.subcommands.limits.open_files", "open_files: 100", "open_files: 101", W, N,
     "args.subcommands.log.limits.open_files"},
    {"tools.args.subcommands.limits.egress_mib", "egress_mib: 10", "egress_mib: 11", W, N,
     "args.subcommands.log.limits.egress_mib"},
    {"tools.args.subcommands.limits.egress_connections", "egress_connections: 20", "egress_connections: 21", W, N,
     "args.subcommands.log.limits.egress_connections"},
};

/* The worst kind among the changes of the field; 0 if it has none. */
static enum choke_change_kind worst(const struct ck_policy *before, const struct ck_policy *after, const char *field)
{
    struct ck_arena arena = {0};
    struct choke_change *changes;
    size_t count;
    enum choke_change_kind kind = 0;
    assert_int_equal(ck_policy_diff(before, after, &arena, &changes, &count), 0);
    for (size_t i = 0; i < count; i++)
        if (strcmp(changes[i].field, field) == 0 && changes[i].kind > kind)
            kind = changes[i].kind;
    ck_arena_done(&arena);
    return kind;
}

static void each_change_has_its_kind(void **state)
{
    (void)state;
    struct ck_policy *whole = must_parse(base);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = replaced(base, rows[i].from, rows[i].to);
        struct ck_policy *changed = must_parse(text);
        enum choke_change_kind there = worst(whole, changed, rows[i].field);
        enum choke_change_kind back = worst(changed, whole, rows[i].field);
        if (there != rows[i].there || back != rows[i].back)
            fail_msg("%s: '%s' to '%s' is %d there and %d back", rows[i].key, rows[i].from, rows[i].to, there, back);
        ck_policy_free(changed);
        free(text);
    }
    ck_policy_free(whole);
}

/* ---- no key is forgotten ----------------------------------------------------------------- */

typedef void (*visit_fn)(void *data, const char *path);

/* Calls visit for each key with a scalar value or a list of scalars. */
static void walk(const cyaml_schema_value_t *schema, const char *path, visit_fn visit, void *data)
{
    while (schema->type == CYAML_SEQUENCE && schema->sequence.entry->type == CYAML_MAPPING)
        schema = schema->sequence.entry;
    if (schema->type != CYAML_MAPPING) {
        visit(data, path);
        return;
    }
    for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key; field++) {
        char inner[256];
        (void)snprintf(inner, sizeof(inner), "%s%s%s", path, path[0] != '\0' ? "." : "", field->key);
        walk(&field->value, inner, visit, data);
    }
}

/* How a policy is written, not what it grants: the loader has applied it. */
static bool is_applied(const char *path)
{
    return strcmp(path, "extends") == 0 || strcmp(path, "catalog") == 0 || strcmp(path, "remove") == 0 ||
           strncmp(path, "grant.", 6) == 0;
}

static void require_row(void *data, const char *path)
{
    size_t *seen = data;
    ++*seen;
    if (is_applied(path) || strcmp(path, "version") == 0) /* no other one can be loaded: version_has_a_rule_too */
        return;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].key, path) == 0)
            return;
    fail_msg("the key '%s' has no row here: give it a rule in diff.c or diff_args.c, and a row", path);
}

static void every_key_of_the_schema_has_a_rule(void **state)
{
    size_t seen = 0;
    (void)state;
    walk(&ck_policy_schema, "", require_row, &seen);
    assert_true(seen > 40);
}

static void version_has_a_rule_too(void **state)
{
    (void)state;
    struct ck_policy *before = must_parse(base);
    struct ck_policy *after = must_parse(base);
    after->version = 2;
    assert_int_equal(worst(before, after, "version"), W);
    ck_policy_free(before);
    ck_policy_free(after);
}

static void require_member(void *data, const char *path)
{
    char key[64];
    const json_t *at = data;
    for (const char *rest = is_applied(path) ? "" : path; *rest != '\0';) {
        size_t length = strcspn(rest, ".");
        (void)snprintf(key, sizeof(key), "%.*s", (int)length, rest);
        if (json_is_array(at))
            at = json_array_get(at, 0);
        at = json_object_get(at, key);
        if (!at)
            fail_msg("'%s' of '%s' is not in the JSON of a policy: describe.c must tell it", key, path);
        rest += length + (rest[length] == '.');
    }
}

static void every_key_of_the_schema_is_in_the_json(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_policy *policy = must_parse(base);
    const char *text = ck_policy_json(policy, &arena);
    assert_non_null(text);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    walk(&ck_policy_schema, "", require_member, json);
    assert_int_equal(json_integer_value(json_object_get(json, "format")), 1);
    json_decref(json);
    ck_arena_done(&arena);
    ck_policy_free(policy);
}

/* ---- what is no change ------------------------------------------------------------------- */

static size_t count_changes(const char *before_text, const char *after_text, enum choke_change_kind least)
{
    struct ck_policy *before = must_parse(before_text);
    struct ck_policy *after = must_parse(after_text);
    struct ck_arena arena = {0};
    struct choke_change *changes;
    size_t count, found = 0;
    assert_int_equal(ck_policy_diff(before, after, &arena, &changes, &count), 0);
    for (size_t i = 0; i < count; i++)
        found += changes[i].kind >= least;
    ck_arena_done(&arena);
    ck_policy_free(before);
    ck_policy_free(after);
    return found;
}

static void a_policy_does_not_differ_from_itself(void **state)
{
    (void)state;
    assert_int_equal(count_changes(base, base, O), 0);
}

static void a_set_is_no_change_of_what_is_allowed(void **state)
{
    (void)state;
    char *text = replaced(base, SET("common"), "subcommands:\n        - name: log\n          options: [--stat");
    assert_int_equal(count_changes(base, text, N), 0);
    assert_int_equal(count_changes(text, base, N), 0);
    assert_true(count_changes(base, text, O) > 0);
    free(text);
}

static void order_of_a_list_is_no_change(void **state)
{
    (void)state;
    char *text = replaced(base, "[-q, --kind=x, -f=]", "[-f=, -q, --kind=x]");
    assert_int_equal(count_changes(base, text, O), 0);
    free(text);
}

/* ---- what hides in a combination --------------------------------------------------------- */

static void combinations_that_widen(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(widening); i++)
        if (count_changes(widening[i].before, widening[i].after, W) == 0)
            fail_msg("nothing widens in case %zu, to %s", i, widening[i].after);
}

static void combinations_that_narrow(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(narrowing); i++) {
        if (count_changes(narrowing[i].before, narrowing[i].after, W) != 0)
            fail_msg("something widens in case %zu, to %s", i, narrowing[i].after);
        if (count_changes(narrowing[i].before, narrowing[i].after, N) == 0)
            fail_msg("nothing narrows in case %zu, to %s", i, narrowing[i].after);
        if (count_changes(narrowing[i].after, narrowing[i].before, W) == 0)
            fail_msg("nothing widens in case %zu seen from the other side", i);
    }
}

/* The reason is for a reviewer, if the two values do not show it. */
static void a_widening_that_does_not_look_like_one_says_why(void **state)
{
    (void)state;
    struct ck_policy *before = must_parse(TOOL "    workspace: overlay\n");
    struct ck_policy *after = must_parse(TOOL);
    struct ck_arena arena = {0};
    struct choke_change *changes;
    size_t count;
    assert_int_equal(ck_policy_diff(before, after, &arena, &changes, &count), 0);
    assert_int_equal(count, 1);
    assert_non_null(strstr(changes[0].why, "with '--jail none'"));
    assert_non_null(strstr(changes[0].why, "refused before"));
    assert_int_equal(ck_policy_diff(after, after, &arena, &changes, &count), 0);
    ck_arena_done(&arena);
    ck_policy_free(before);
    ck_policy_free(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_has_its_kind),
        cmocka_unit_test(every_key_of_the_schema_has_a_rule),
        cmocka_unit_test(version_has_a_rule_too),
        cmocka_unit_test(every_key_of_the_schema_is_in_the_json),
        cmocka_unit_test(a_policy_does_not_differ_from_itself),
        cmocka_unit_test(a_set_is_no_change_of_what_is_allowed),
        cmocka_unit_test(order_of_a_list_is_no_change),
        cmocka_unit_test(combinations_that_widen),
        cmocka_unit_test(combinations_that_narrow),
        cmocka_unit_test(a_widening_that_does_not_look_like_one_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
