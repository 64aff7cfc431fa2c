/*
 * probes.c - loads the probes: the keys as tables for base/yaml.h, and the checks that a table
 * cannot express; see probes.h.
 */
#include "gather/probes.h"

#include "base/quote.h"
#include "front/text.h"
#include "gather/evidence/evidence.h"
#include "gather/inside.h"
#include "gather/prepare.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1 << 20)   /* bytes of a file with probes */
#define ARENA_MAX ((size_t)32 << 20) /* for everything that is parsed from it */
#define TEXT_MAX 16384               /* bytes of one text */
#define NAME_MAX_BYTES 64
#define VERSION 1     /* of the format; no other is accepted */
#define OUTPUT_MIB 16 /* of each stream, if the probe does not say */
#define OUTPUT_MIB_MAX 64
#define TIMEOUT_S_MAX 86400 /* a day */

/* policy/probes.yaml, written by tools/gen/embed.py. */
extern const unsigned char ck_probes_default_text[];
extern const size_t ck_probes_default_length;

/* The top level of the file; the YAML reader fills it by the tables below. */
struct probes_file {
    unsigned version;
    struct ck_probe *probes;
    uint32_t count;
};

/* ---- the keys ---- */

/* The order is that of the enum; the YAML reader wants a NULL at the end. */
static const char *const layers[] = {[CK_PROBE_LAYER_REPOSITORY] = "repository", [CK_PROBE_LAYER_STATIC] = "static",
                                     [CK_PROBE_LAYER_SUPPLY] = "supply",         [CK_PROBE_LAYER_INDEX] = "index",
                                     [CK_PROBE_LAYER_RUNTIME] = "runtime",       [CK_PROBE_LAYER_COUNT] = NULL};

const char *ck_probes_layer_name(enum ck_probe_layer layer)
{
    return layers[layer];
}

/* The name becomes a part of file names (--keep) and of records, so few characters are allowed. */
static bool is_name(const char *text)
{
    size_t length = strlen(text);
    return text[0] >= 'a' && text[0] <= 'z' && length <= NAME_MAX_BYTES &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

static const struct ck_yaml_form name_form = {is_name, "a name of a-z, 0-9 and '_', a letter first, 64 at most"};

/* Where the YAML reader stores a value, and the number of items of a list. */
#define AT(type, member) .offset = offsetof(struct type, member)
#define COUNT(type, member) .count_offset = offsetof(struct type, member)

/* Which of the three may be combined is checked by check_input. */
static const struct ck_yaml_key stdin_keys[] = {
    {"text", CK_YAML_TEXT, AT(ck_probe_stdin, text), .max = FILE_MAX},
    {"probe", CK_YAML_TEXT, AT(ck_probe_stdin, probe), .form = &name_form},
    {"call", CK_YAML_TEXT, AT(ck_probe_stdin, call), .form = &name_form},
    {.name = NULL},
};

/* 0 is not in may_fail: it is always an answer. Exit statuses end at 255. */
static const struct ck_yaml_key call_keys[] = {
    {"id", CK_YAML_TEXT, .required = true, AT(ck_probe_call, id), .form = &name_form},
    {"tool", CK_YAML_TEXT, AT(ck_probe_call, tool)},
    {"argv", CK_YAML_TEXTS, .required = true, AT(ck_probe_call, argv)},
    {"stdin", CK_YAML_RECORD, AT(ck_probe_call, input), .keys = stdin_keys},
    {"timeout_s", CK_YAML_NUMBER, AT(ck_probe_call, timeout_s), .min = 1, .max = TIMEOUT_S_MAX},
    {"may_fail", CK_YAML_NUMBERS, AT(ck_probe_call, may_fail), COUNT(ck_probe_call, may_fail_count), .min = 1,
     .max = 255},
    {"keeps", CK_YAML_FLAG, AT(ck_probe_call, keeps)},
    {.name = NULL},
};

/* The safe default: without `opens`, any FIFO or device in the repository makes the probe skip. */
static const char *const any_file[] = {"**/*", NULL};

static const struct ck_yaml_key probe_keys[] = {
    {"name", CK_YAML_TEXT, .required = true, AT(ck_probe, name), .form = &name_form},
    {"layer", CK_YAML_CHOICE, .required = true, AT(ck_probe, layer), .choices = layers},
    {"why", CK_YAML_TEXT, .required = true, AT(ck_probe, why)},
    {"tool", CK_YAML_TEXT, .required = true, AT(ck_probe, tool)},
    {"applies_when", CK_YAML_TEXTS, AT(ck_probe, applies_when)},
    {"opens", CK_YAML_TEXTS, AT(ck_probe, opens), .absent_texts = any_file},
    {"needs", CK_YAML_TEXTS, AT(ck_probe, needs)},
    {"egress", CK_YAML_TEXTS, AT(ck_probe, egress)},
    {"output", CK_YAML_TEXT, AT(ck_probe, output)},
    {"prepare", CK_YAML_TEXT, AT(ck_probe, prepare), .form = &name_form},
    {"inside", CK_YAML_TEXT, AT(ck_probe, inside), .form = &name_form},
    {"timeout_s", CK_YAML_NUMBER, AT(ck_probe, timeout_s), .min = 1, .max = TIMEOUT_S_MAX},
    {"max_output_mib", CK_YAML_NUMBER, AT(ck_probe, max_output_mib), .min = 1, .max = OUTPUT_MIB_MAX},
    {"git", CK_YAML_FLAG, AT(ck_probe, git)},
    {"calls", CK_YAML_RECORDS, AT(ck_probe, calls), COUNT(ck_probe, call_count), .not_empty = true,
     .max_entries = CK_PROBE_CALLS_MAX, .keys = call_keys, .size = sizeof(struct ck_probe_call)},
    {.name = NULL},
};

static const struct ck_yaml_key file_keys[] = {
    {"version", CK_YAML_NUMBER, .required = true, AT(probes_file, version), .min = VERSION, .max = VERSION},
    {"probes", CK_YAML_RECORDS, .required = true, AT(probes_file, probes), COUNT(probes_file, count), .not_empty = true,
     .max_entries = CK_PROBES_MAX, .keys = probe_keys, .size = sizeof(struct ck_probe)},
    {.name = NULL},
};

static const struct ck_yaml_format format = {
    .what = "probes", .keys = file_keys, .max_bytes = FILE_MAX, .text_max = TEXT_MAX};

/* ---- checks beyond the tables ---- */

/* What the checks need. */
struct probes_check {
    const char *file;              /* for messages */
    const struct ck_probe *probes; /* all of them */
    size_t count;
    struct choke_error *error;
};

/* An error with the line and column of the probe or the call that it is about. */
#define FAULT(check, about, ...) ck_yaml_error(&format, (check)->file, (about)->position, (check)->error, __VA_ARGS__)

/* The first one with the name; NULL if unknown. */
static const struct ck_probe *find(const struct probes_check *check, const char *name)
{
    for (size_t i = 0; i < check->count; i++)
        if (strcmp(check->probes[i].name, name) == 0)
            return &check->probes[i];
    return NULL;
}

/* Pointers in the list are never NULL before its end. */
static bool contains(const char *const *list, const char *arg)
{
    while (*list && strcmp(*list, arg) != 0)
        list++;
    return !!*list;
}

static const struct ck_probe_call *find_call(const struct ck_probe *probe, const char *id)
{
    for (size_t i = 0; i < probe->call_count; i++)
        if (strcmp(probe->calls[i].id, id) == 0)
            return &probe->calls[i];
    return NULL;
}

/* Letters and '_' only, so that "{1..3}" or "{}" stay literal. */
static bool is_placeholder(const char *argument)
{
    size_t length = strlen(argument);
    return length > 2 && argument[0] == '{' && argument[length - 1] == '}' &&
           strspn(argument + 1, "abcdefghijklmnopqrstuvwxyz_") == length - 2;
}

static int check_placeholders(const struct probes_check *check, const struct ck_probe *probe,
                              const struct ck_probe_call *call)
{
    for (const char *const *arg = call->argv; *arg; arg++) {
        if (!is_placeholder(*arg))
            continue;
        bool files = strcmp(*arg, CK_PROBE_FILE) == 0 || strcmp(*arg, CK_PROBE_FILES) == 0;
        if (!files && probe->prepare) /* the preparation has its own placeholders */
            continue;
        if (!files)
            return FAULT(check, call, "call '%s': unknown placeholder %s; use {file} or {files}", call->id, *arg);
        /* Without a glob there is no match that could replace it. */
        if (!probe->applies_when[0])
            return FAULT(check, call, "call '%s': %s needs applies_when to say which files", call->id, *arg);
    }
    return 0;
}

/*
 * stdin may only come from a probe in needs: the schedule guarantees that such a probe has ended.
 */
static int check_input(const struct probes_check *check, const struct ck_probe *probe, const struct ck_probe_call *call)
{
    const struct ck_probe_stdin *input = &call->input;

    /* Exactly one form: both of probe and call, or a text, or none. */
    if (!input->probe != !input->call || (input->probe && input->text))
        return FAULT(check, call, "call '%s': stdin must be a text, or a probe and its call", call->id);
    if (!input->probe)
        return 0;
    if (!contains(probe->needs, input->probe))
        return FAULT(check, call, "call '%s': stdin is from '%s', which is not in needs", call->id, input->probe);
    /* check_needs reports an unknown probe, so it is not an error here. */
    const struct ck_probe *other = find(check, input->probe);
    if (other && !find_call(other, input->call))
        return FAULT(check, call, "call '%s': probe '%s' has no call '%s'", call->id, input->probe, input->call);
    return 0;
}

/* argv[0] must be the tool, so that a reader of the file sees which tool each call runs. */
static int check_call(const struct probes_check *check, const struct ck_probe *probe, const struct ck_probe_call *call)
{
    const char *tool = call->tool ? call->tool : probe->tool;

    /* find_call returns the first call with that id: another one means a duplicate. */
    if (find_call(probe, call->id) != call)
        return FAULT(check, call, "two calls of '%s' have the id '%s'", probe->name, call->id);
    if (!call->argv[0] || strcmp(call->argv[0], tool) != 0)
        return FAULT(check, call, "call '%s': argv must begin with the tool, '%s'", call->id, CK_QUOTE(tool));
    int r = check_placeholders(check, probe, call);
    return r < 0 ? r : check_input(check, probe, call);
}

/* Only existence; cycles are found by check_cycles, after all probes are known to exist. */
static int check_needs(const struct probes_check *check, const struct ck_probe *probe)
{
    for (const char *const *need = probe->needs; *need; need++)
        if (!find(check, *need))
            return FAULT(check, probe, "probe '%s' needs '%s', which does not exist", probe->name, CK_QUOTE(*need));
    return 0;
}

/* Either code of the command answers the probe, or calls and a reader of their output do. */
static int check_inside(const struct probes_check *check, const struct ck_probe *probe)
{
    if (!probe->inside && (!probe->output || probe->call_count == 0))
        return FAULT(check, probe, "probe '%s' needs 'calls' and 'output', or 'inside'", probe->name);
    if (!probe->inside)
        return 0;
    if (probe->output || probe->call_count > 0 || probe->prepare)
        return FAULT(check, probe, "probe '%s': with 'inside' there is no 'output', 'prepare' or 'calls'", probe->name);
    if (!ck_inside_find(probe->inside))
        return FAULT(check, probe, "probe '%s': unknown code '%s' for 'inside'", probe->name, CK_QUOTE(probe->inside));
    return 0;
}

static int check_probe(const struct probes_check *check, const struct ck_probe *probe)
{
    if (find(check, probe->name) != probe)
        return FAULT(check, probe, "two probes have the name '%s'", probe->name);
    int r = check_inside(check, probe);
    if (r < 0)
        return r;
    if (probe->output && !ck_evidence_find(probe->output))
        return FAULT(check, probe, "probe '%s': unknown output '%s'", probe->name, CK_QUOTE(probe->output));
    if (probe->prepare && !ck_gather_find_preparation(probe->prepare))
        return FAULT(check, probe, "probe '%s': unknown preparation '%s'", probe->name, probe->prepare);
    r = check_needs(check, probe);
    for (size_t i = 0; r == 0 && i < probe->call_count; i++)
        r = check_call(check, probe, &probe->calls[i]);
    return r;
}

/*
 * Each round settles the probes that need only settled ones. If a round settles none, the rest is a
 * cycle.
 */
static int check_cycles(const struct probes_check *check)
{
    bool settled[CK_PROBES_MAX] = {false};
    const struct ck_probe *left;
    bool moved;

    do {
        moved = false;
        left = NULL;
        for (size_t i = 0; i < check->count; i++) {
            bool ready = true;
            for (const char *const *need = check->probes[i].needs; ready && *need; need++)
                ready = settled[find(check, *need) - check->probes];
            moved = moved || (ready && !settled[i]);
            settled[i] = settled[i] || ready;
            left = settled[i] || left ? left : &check->probes[i];
        }
    } while (moved && left);
    return left ? FAULT(check, left, "probe '%s' needs itself, through the probes that it needs", left->name) : 0;
}

/*
 * Stops at the first fault, as the YAML reader does. check_cycles relies on all needs being found.
 */
static int check_all(const char *file, struct probes_file *filled, struct choke_error *error)
{
    struct probes_check check = {.file = file, .probes = filled->probes, .count = filled->count, .error = error};
    int r = 0;

    for (size_t i = 0; r == 0 && i < filled->count; i++) {
        /* 0 means that the key is absent: its minimum is 1. */
        if (filled->probes[i].max_output_mib == 0)
            filled->probes[i].max_output_mib = OUTPUT_MIB;
        r = check_probe(&check, &filled->probes[i]);
    }
    return r < 0 ? r : check_cycles(&check);
}

int ck_probes_parse(const struct ck_yaml_source *source, struct ck_probes *ret_probes, struct choke_error *error)
{
    struct ck_arena arena = {.max_bytes = ARENA_MAX};
    struct probes_file filled = {0};
    int r = ck_yaml_read(&format, source, &arena, &filled, error);

    if (r == 0)
        r = check_all(source->file, &filled, error);
    if (r < 0) {
        ck_text_redact(error); /* the message may quote the file */
        ck_arena_done(&arena);
        return r;
    }
    *ret_probes = (struct ck_probes){.items = filled.probes, .count = filled.count, .arena = arena};
    return 0;
}

/* choke_read_trusted refuses a file that others may write, or that is inside the repository. */
int ck_probes_load(const char *path, const char *root, struct ck_probes *ret_probes, struct choke_error *error)
{
    struct ck_yaml_source source = {"policy/probes.yaml", (const char *)ck_probes_default_text,
                                    ck_probes_default_length};
    char *text = NULL;

    if (!path)
        return ck_probes_parse(&source, ret_probes, error);
    int r = choke_read_trusted(path, root, FILE_MAX, &text, &source.length, error);
    source.file = path;
    source.text = text;
    if (r == 0)
        r = ck_probes_parse(&source, ret_probes, error);
    free(text);
    return r;
}

void ck_probes_done(struct ck_probes *probes)
{
    ck_arena_done(&probes->arena);
    *probes = (struct ck_probes){0};
}
