/*
 * cmd_policy_show.c - "chokepoint policy show": the library's JSON, or a table for people made from
 * it.
 *
 * The table has one line per tool with a short form of its grants. The JSON and the policy file
 * have every option.
 */
#include "cli/review.h"
#include "front/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 100 /* where the last column is wrapped */
#define INDENT 46   /* the column where the grants begin */

/* ---- the last column --------------------------------------------------------------------- */

/* A longer list is only counted, to keep the table short. */
#define NAMES_MAX 3

/* Every piece begins with "; ". print_tool removes the first one. */
static void print_count(FILE *out, const json_t *list, const char *what)
{
    size_t count = json_array_size(list);

    if (count > 0)
        (void)fprintf(out, "; %zu %s%s", count, what, count == 1 ? "" : "s");
}

/* The text goes to a buffer first and is wrapped at the end. */
static void print_names(FILE *out, const char *label, const json_t *list)
{
    size_t index;
    const json_t *entry;

    if (json_array_size(list) == 0)
        return;
    (void)fprintf(out, "; %s", label);
    json_array_foreach(list, index, entry)
    {
        /* set_env lists objects with a name and a value; the others list strings. */
        const json_t *name = json_is_object(entry) ? json_object_get(entry, "name") : entry;
        (void)fprintf(out, "%s %s", index > 0 ? "," : "", json_string_value(name));
    }
}

/* "exact" lists whole argument vectors. An empty vector allows the tool without arguments. */
static void print_vectors(FILE *out, const json_t *vectors)
{
    size_t index;
    const json_t *vector;

    if (json_array_size(vectors) > NAMES_MAX) {
        print_count(out, vectors, "whole argument vector");
        return;
    }
    json_array_foreach(vectors, index, vector)
    {
        size_t at;
        const json_t *word;
        (void)fprintf(out, "; exactly");
        json_array_foreach(vector, at, word)(void) fprintf(out, " %s", json_string_value(word));
        if (json_array_size(vector) == 0)
            (void)fputs(" nothing", out);
    }
}

/* "operands" always has a value in the library's JSON; "first" is null without a rule for it. */
static void print_operands(FILE *out, const json_t *args)
{
    const char *operands = json_string_value(json_object_get(args, "operands"));
    const char *first = json_string_value(json_object_get(args, "first"));

    if (first)
        (void)fprintf(out, "; first operand %s", first);
    if (strcmp(operands, "none") != 0)
        (void)fprintf(out, "; operands %s", operands);
}

/* Null: the entry has no args at all, so arguments are not restricted. */
static void print_args(FILE *out, const json_t *args)
{
    if (json_is_null(args)) {
        (void)fputs("; any argument", out);
        return;
    }
    print_vectors(out, json_object_get(args, "exact"));
    print_names(out, "subcommands", json_object_get(args, "subcommands"));
    print_count(out, json_object_get(args, "options"), "option");
    print_operands(out, args);
    if (!json_is_null(json_object_get(args, "command")))
        (void)fputs("; a command of the policy", out);
    print_count(out, json_object_get(args, "inject"), "injected argument");
    print_names(out, "only with", json_object_get(args, "require"));
}

/* Without the time limit, which has its own column. */
static void print_limits(FILE *out, const json_t *limits)
{
    static const struct {
        const char *key;
        const char *before;
        const char *after;
    } rows[] = {{"memory_mib", "", " MiB of memory"},
                {"processes", "", " processes"},
                {"cpu_s", "", " s of CPU time"},
                {"file_size_mib", "files of ", " MiB"},
                {"open_files", "", " open files"},
                {"egress_mib", "", " MiB each way through the proxy"},
                {"egress_connections", "", " connections through the proxy"}};
    const char *lead = "; at most ";

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const json_t *value = json_object_get(limits, rows[i].key);
        if (!json_is_integer(value))
            continue;
        (void)fprintf(out, "%s%s%lld%s", lead, rows[i].before, (long long)json_integer_value(value), rows[i].after);
        lead = ", ";
    }
}

/*
 * The keys that a subcommand may have, too. An empty "execs" forbids all programs. null: the entry
 * says nothing about them, or the subcommand has the tool's.
 */
static void print_keys(FILE *out, const json_t *owner)
{
    const json_t *execs = json_object_get(owner, "execs");
    const json_t *variables = json_object_get(owner, "set_env");

    if (json_is_array(execs) && json_array_size(execs) == 0 && json_array_size(json_object_get(owner, "uses")) == 0)
        (void)fputs("; executes nothing", out);
    print_names(out, "executes", execs);
    print_names(out, "uses", json_object_get(owner, "uses"));
    if (json_is_true(json_object_get(owner, "workspace_code")))
        (void)fputs("; executes every file beneath the root", out);
    if (json_is_true(json_object_get(owner, "loopback")))
        (void)fputs("; its own loopback", out);
    if (json_is_true(json_object_get(owner, "require_jail")))
        (void)fputs("; only in a jail", out);
    print_names(out, "env", json_object_get(owner, "env"));
    if (json_array_size(variables) > NAMES_MAX)
        print_count(out, variables, "variable");
    else
        print_names(out, "sets", variables);
    print_names(out, "egress", json_object_get(owner, "egress"));
}

/* What a subcommand has in place of the tool's; nothing for one that has nothing of its own. */
static int print_subcommand(FILE *out, const json_t *subcommand)
{
    static const char *const lists[] = {"uses", "env", "set_env", "egress"};
    char *text = NULL;
    size_t length = 0;
    const json_t *workspace = json_object_get(subcommand, "workspace");
    const json_t *seconds = json_object_get(json_object_get(subcommand, "limits"), "timeout_s");

    FILE *keys = open_memstream(&text, &length);
    if (!keys)
        return -ENOMEM;
    print_keys(keys, subcommand);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const json_t *list = json_object_get(subcommand, lists[i]);
        if (json_is_array(list) && json_array_size(list) == 0)
            (void)fprintf(keys, "; no %s", lists[i]);
    }
    if (json_is_string(workspace))
        (void)fprintf(keys, "; workspace %s", json_string_value(workspace));
    if (json_is_integer(seconds))
        (void)fprintf(keys, "; %lld s", (long long)json_integer_value(seconds));
    print_limits(keys, json_object_get(subcommand, "limits"));
    int r = fclose(keys) == 0 ? 0 : -ENOMEM;
    if (r == 0 && length > 2)
        (void)fprintf(out, "; %s: (%s)", json_string_value(json_object_get(subcommand, "name")), text + 2);
    free(text);
    return r;
}

static int print_grants(FILE *out, const json_t *tool)
{
    size_t index;
    const json_t *subcommand;

    print_keys(out, tool);
    print_names(out, "reads", json_object_get(tool, "reads"));
    if (strcmp(json_string_value(json_object_get(tool, "root_at")), "own") == 0)
        (void)fputs("; root at its own path", out);
    if (strcmp(json_string_value(json_object_get(tool, "credentials")), "allow") == 0)
        (void)fputs("; credentials", out);
    if (json_is_string(json_object_get(tool, "path")))
        (void)fprintf(out, "; at %s", json_string_value(json_object_get(tool, "path")));
    if (json_is_string(json_object_get(tool, "sha256")))
        (void)fputs("; pinned by sha256", out);
    print_limits(out, json_object_get(tool, "limits"));
    json_array_foreach(json_object_get(json_object_get(tool, "args"), "subcommands"), index, subcommand)
    {
        if (print_subcommand(out, subcommand) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Wraps at spaces. A word that is longer than a line gets its own line. */
static void print_broken(FILE *out, const char *text)
{
    int column = INDENT;

    for (const char *word = text; *word != '\0';) {
        int length = (int)strcspn(word, " ");
        if (column > INDENT && column + 1 + length > COLUMNS) {
            (void)fprintf(out, "\n%*s", INDENT, "");
            column = INDENT;
        }
        (void)fputs(column > INDENT ? " " : "", out);
        ck_text_print(out, word, (size_t)length);
        column += length + (column > INDENT);
        word += length;
        word += strspn(word, " ");
    }
    (void)fputc('\n', out);
}

/* ---- the table --------------------------------------------------------------------------- */

/* The grants are made in memory first, because their length decides where the lines are wrapped. */
static int print_tool(FILE *out, const json_t *tool)
{
    char *text = NULL;
    size_t length = 0;
    char limit[24] = "-";
    const json_t *seconds = json_object_get(json_object_get(tool, "limits"), "timeout_s");

    FILE *grants = open_memstream(&text, &length);
    if (!grants)
        return -ENOMEM;
    print_args(grants, json_object_get(tool, "args"));
    int r = print_grants(grants, tool);
    if (fclose(grants) != 0 || r < 0) {
        free(text);
        return -ENOMEM;
    }
    if (json_is_integer(seconds))
        (void)snprintf(limit, sizeof(limit), "%lld s", (long long)json_integer_value(seconds));
    (void)fprintf(out, "%-16s %-8s %-4s %-4s %9s ", json_string_value(json_object_get(tool, "name")),
                  json_string_value(json_object_get(tool, "route")),
                  json_is_true(json_object_get(tool, "required")) ? "yes" : "no",
                  json_string_value(json_object_get(tool, "adr")), limit);
    print_broken(out, length > 2 ? text + 2 : "no argument"); /* without the first "; " */
    free(text);
    return 0;
}

/* A word, or a mapping with a URL; null for none. */
static void print_upstream(FILE *out, const json_t *upstream)
{
    const json_t *file = json_object_get(upstream, "credentials_file");

    if (json_is_string(upstream))
        (void)fputs("\nupstream: egress goes through the proxy that HTTPS_PROXY names", out);
    if (json_is_object(upstream))
        (void)fprintf(out, "\nupstream: egress goes through %s",
                      CK_TEXT_SAFE(json_string_value(json_object_get(upstream, "url"))));
    if (json_is_string(file))
        (void)fprintf(out, ", with credentials from %s", CK_TEXT_SAFE(json_string_value(file)));
}

/* What the cage has, of the section or of a profile; each piece begins with "; ". */
static void print_cage(FILE *out, const json_t *cage)
{
    print_names(out, "program", json_object_get(cage, "programs"));
    print_names(out, "carriers", json_object_get(cage, "carriers"));
    print_names(out, "from the catalogue", json_object_get(cage, "catalog"));
    print_names(out, "injects", json_object_get(cage, "inject"));
    print_names(out, "keeps", json_object_get(cage, "state"));
    print_names(out, "of that only data", json_object_get(cage, "state_data"));
    print_names(out, "read-only in the root", json_object_get(cage, "read_only"));
    print_names(out, "may be refused", json_object_get(cage, "may_refuse"));
    print_names(out, "egress", json_object_get(cage, "egress"));
    print_names(out, "env", json_object_get(cage, "env"));
    print_names(out, "sets", json_object_get(cage, "set_env"));
    (void)fprintf(out, "; workspace %s", json_string_value(json_object_get(cage, "workspace")));
    if (json_is_true(json_object_get(cage, "workspace_code")))
        (void)fputs("; executes every file beneath the root", out);
    if (json_is_true(json_object_get(cage, "jit")))
        (void)fputs("; makes code while it runs", out);
}

/* One row: its columns are those of print_tool. */
static int print_cage_row(const char *name, const json_t *cage)
{
    char *text = NULL;
    size_t length = 0;
    const char *adr = json_string_value(json_object_get(cage, "adr"));

    FILE *out = open_memstream(&text, &length);
    if (!out)
        return -ENOMEM;
    print_cage(out, cage);
    int r = fclose(out) == 0 ? 0 : -ENOMEM;
    if (r == 0) {
        (void)printf("%-30s %-14s ", CK_TEXT_SAFE(name), adr ? adr : "-");
        print_broken(stdout, text + 2);
    }
    free(text);
    return r;
}

/* Nothing if the policy has no such section. The catalogue has profiles, and no section of its own. */
static int print_guard(const json_t *guard, bool is_catalog)
{
    size_t index;
    const json_t *profile;

    if (!json_is_object(guard))
        return 0;
    (void)printf("\n%-30s %-14s %s\n", "GUARD", "ADR", "THE CAGE HAS");
    int r = is_catalog ? 0 : print_cage_row("(without --profile)", guard);
    json_array_foreach(json_object_get(guard, "profiles"), index, profile)
    {
        r = r < 0 ? r : print_cage_row(json_string_value(json_object_get(profile, "name")), profile);
    }
    json_array_foreach(json_object_get(guard, "shipped"), index, profile)(void)
        fprintf(stdout, "%s %s", index > 0 ? "," : "where it is locked, also the profiles of the build:",
                CK_TEXT_SAFE(json_string_value(profile)));
    if (json_array_size(json_object_get(guard, "shipped")) > 0)
        (void)putchar('\n');
    return r;
}

/* The widths are those of print_tool; together they are INDENT columns. */
static void print_head(FILE *out, const json_t *policy)
{
    size_t index;
    const json_t *entry;

    size_t count = json_array_size(json_object_get(policy, "tools"));
    (void)fprintf(out, "%s: %zu tool%s, searched for in",
                  CK_TEXT_SAFE(json_string_value(json_object_get(policy, "file"))), count, count == 1 ? "" : "s");
    json_array_foreach(json_object_get(policy, "search_path"), index, entry)(void)
        fprintf(out, "%s %s", index > 0 ? "," : "", CK_TEXT_SAFE(json_string_value(entry)));
    if (json_is_true(json_object_get(policy, "locked")))
        (void)fputs("\nlocked: as the machine's policy it binds everyone but root", out);
    json_array_foreach(json_object_get(policy, "roots"), index, entry)(void)
        fprintf(out, "%s %s", index > 0 ? "," : "\nroots:", CK_TEXT_SAFE(json_string_value(entry)));
    print_upstream(out, json_object_get(policy, "upstream"));
    (void)fprintf(out, "\n\n%-16s %-8s %-4s %-4s %9s %s\n", "TOOL", "ROUTE", "MUST", "ADR", "LIMIT", "MAY BE GIVEN");
}

/* clang-format does not know jansson's foreach macro, hence the odd line breaks. */
static int print_table(const json_t *policy, bool is_catalog, struct choke_error *error)
{
    size_t index;
    const json_t *tool;

    print_head(stdout, policy);
    json_array_foreach(json_object_get(policy, "tools"), index,
                       tool) if (print_tool(stdout, tool) < 0) return ck_text_error(error, CHOKE_NONE, ENOMEM,
                                                                                    "out of memory");
    if (print_guard(json_object_get(policy, "guard"), is_catalog) < 0)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    return 0;
}

/* The text is the library's own JSON, so it can be parsed unless memory runs out. */
static int show(const struct ck_review_options *given, const char *text, bool is_catalog, struct choke_error *error)
{
    if (given->json || given->yaml) {
        /* YAML ends with a newline, JSON does not. */
        (void)printf(given->yaml ? "%s" : "%s\n", text);
        return 0;
    }
    json_t *policy = json_loads(text, 0, NULL);
    if (!policy)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    int r = print_table(policy, is_catalog, error);
    json_decref(policy);
    return r;
}

/* The word `catalog` is the catalogue of this build; a file of that name is `./catalog`. */
static bool is_catalog(const char *operand)
{
    return operand && strcmp(operand, "catalog") == 0;
}

static int open_shown(const char *operand, struct choke_policy **ret_policy, struct choke_error *error)
{
    if (is_catalog(operand))
        return choke_policy_open_catalog(ret_policy, error);
    return ck_review_open(operand, ret_policy, error);
}

/* text belongs to policy and is freed with it. */
static int run_show(char *const *args)
{
    struct ck_review_options given = {0};
    const char *operands[CK_REVIEW_OPERANDS_MAX];
    struct choke_policy *policy = NULL;
    const char *text;
    struct choke_error error = {0};

    int status = ck_review_parse(&ck_command_policy_show, args, 0, 1, &given, operands);
    if (status >= 0)
        return status;
    if (given.json && given.yaml) {
        (void)ck_text_error(&error, CHOKE_INVALID, EINVAL, "--json and --yaml exclude each other");
        return ck_review_usage(&ck_command_policy_show, true, &error);
    }
    int (*const text_of)(struct choke_policy *, const char **, struct choke_error *) =
        given.yaml ? choke_policy_yaml : choke_policy_json;
    if (open_shown(operands[0], &policy, &error) < 0 || text_of(policy, &text, &error) < 0 ||
        show(&given, text, is_catalog(operands[0]), &error) < 0)
        status = ck_review_failure(&given, &error);
    else
        status = ck_cli_flush_stdout();
    choke_policy_free(policy);
    return status;
}

const struct ck_command ck_command_policy_show = {
    .name = "policy show",
    .operands = "[FILE]",
    .summary = "show the tools of a policy and what each is granted",
    .details = "Without FILE the default policy is shown: the machine's if there is one, else the embedded one.\n"
               "The word default is the embedded policy, and catalog is the catalogue, whose entries a policy\n"
               "takes by their names, with the profiles of guard; files of these names are ./default and\n"
               "./catalog. --json has every field; chokepoint.h describes it. --yaml prints a policy that allows\n"
               "the same, as one file: what FILE extends, takes from the catalogue and grants is in its entries.\n",
    .operand = CK_OPERAND_FILE,
    .options = ck_review_show_options,
    .run = run_show,
};
