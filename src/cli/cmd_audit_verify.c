/*
 * cmd_audit_verify.c - "chokepoint audit verify": proven records go to standard output, unchanged
 * and line by line, so that they can be piped. Messages go to standard error.
 */
#include "cli/audit.h"
#include "cli/parse.h"
#include "front/text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_PREFIX "ckh1." /* every head begins with it; anything else is the name of a file */
#define KEY_PREFIX "ckp1."  /* the same for a public key */

struct verify_options {
    struct ck_string_list heads; /* each a head, or a file of heads */
    const char *key;             /* NULL: signatures are not checked */
    bool rotated;                /* the library finds the older files of each log */
    bool complete;               /* the library looks for what guards do not account for */
    bool quiet;                  /* no records and no notes */
    bool help;
};

#define TARGET(field) .offset = offsetof(struct verify_options, field)

static const struct ck_option verify_options[] = {
    {"--head", "HEAD", "the log must contain this head: its text, or a file of heads", CK_OPTION_STRINGS,
     CK_OFFER_FILES, TARGET(heads)},
    {"--key", "KEY", "each head must be signed with this public key, or key file", CK_OPTION_STRING, CK_OFFER_FILES,
     TARGET(key)},
    {"--rotated", NULL, "also read the files that each FILE was rotated into", CK_OPTION_FLAG, TARGET(rotated)},
    {"--complete", NULL, "every guard must have an end, and an account of every execution", CK_OPTION_FLAG,
     TARGET(complete)},
    {"--quiet", NULL, "print damage only", CK_OPTION_FLAG, TARGET(quiet)},
    {"--help", NULL, "show this help", CK_OPTION_FLAG, TARGET(help)},
    {.name = NULL},
};

/* The heads that were given, one text each. buffers own the memory. */
struct given_heads {
    const char **texts; /* NULL-terminated; they point into buffers */
    size_t count;
    char **buffers; /* one per --head */
    char *key;      /* the text of the public key; NULL: none was given */
};

/*
 * The state of print_record: continues is what the first record names, for a log that does not
 * start at record 0.
 */
struct record_printer {
    bool quiet;
    bool seen;
    char continues[CK_TEXT_SAFE_MAX];
};

/* A file of heads has one head per line; blank lines are skipped. */
static int add_lines(struct given_heads *heads, char *text, struct choke_error *error)
{
    char *rest = text;

    for (char *line; (line = strsep(&rest, "\n"));) {
        if (line[strspn(line, " \t\r")] == '\0')
            continue;
        /* Two more: the head, and the NULL that ends the list for the library. */
        const char **grown = reallocarray(heads->texts, heads->count + 2, sizeof(*grown));
        if (!grown)
            return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
        heads->texts = grown;
        grown[heads->count++] = line;
        grown[heads->count] = NULL;
    }
    return 0;
}

/*
 * On failure the caller frees what was taken so far: buffers is zero-filled, so free_heads is safe.
 */
static int take_heads(const struct verify_options *given, struct given_heads *heads, struct choke_error *error)
{
    heads->buffers = calloc(given->heads.count + 1, sizeof(*heads->buffers));
    if (!heads->buffers)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    for (size_t i = 0; i < given->heads.count; i++) {
        size_t before = heads->count;
        heads->buffers[i] = ck_audit_text(given->heads.items[i], HEAD_PREFIX, error);
        if (!heads->buffers[i] || add_lines(heads, heads->buffers[i], error) < 0)
            return -error->errnum;
        if (heads->count == before) /* an emptied file must not count as "no head was given" */
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "'%s' contains no head",
                                 CK_TEXT_SAFE(given->heads.items[i]));
    }
    heads->key = given->key ? ck_audit_text(given->key, KEY_PREFIX, error) : NULL;
    return given->key && !heads->key ? -error->errnum : 0;
}

/* count is the number of --head options. texts only point into buffers. */
static void free_heads(struct given_heads *heads, size_t count)
{
    for (size_t i = 0; heads->buffers && i < count; i++)
        free(heads->buffers[i]);
    free(heads->buffers);
    free(heads->texts);
    free(heads->key);
}

/* The first record of a file is a begin record. Its "continues" is the file before it. */
static void note_begin(struct record_printer *printer, const struct choke_audit_record *record)
{
    json_t *object = json_loadb(record->text, record->length, 0, NULL);
    /* Everything here accepts NULL, so a record that cannot be parsed gives "?". */
    const char *name = json_string_value(json_object_get(object, "continues"));

    (void)ck_text_safe(printer->continues, sizeof(printer->continues), name ? name : "?");
    json_decref(object);
    printer->seen = true;
}

/* Called for proven records only. False stops the reading: the reader of stdout is gone. */
static bool print_record(void *data, const struct choke_audit_record *record)
{
    struct record_printer *printer = data;

    if (!printer->seen)
        note_begin(printer, record);
    if (printer->quiet)
        return true;
    (void)fwrite(record->text, 1, record->length, stdout);
    (void)putchar('\n');
    return !ferror(stdout);
}

/*
 * On standard error. The first line is the result; the others say what was not checked or repaired.
 */
static void print_notes(const struct record_printer *printer, const struct choke_audit_report *report)
{
    unsigned long long last = report->first_seq + report->records - 1;

    (void)fprintf(stderr, "chokepoint: verified %llu record%s, %llu to %llu; head %s\n",
                  (unsigned long long)report->records, report->records == 1 ? "" : "s",
                  (unsigned long long)report->first_seq, last, report->head);
    if (report->first_seq > 0)
        (void)fprintf(stderr, "chokepoint: records before %llu were not checked; they are in '%s'\n",
                      (unsigned long long)report->first_seq, CK_TEXT_SAFE(printer->continues));
    if (report->repairs > 0)
        (void)fprintf(stderr, "chokepoint: %llu torn write%s found and reported by a later writer\n",
                      (unsigned long long)report->repairs, report->repairs == 1 ? " was" : "s were");
    if (report->unchecked > 0)
        (void)fprintf(stderr,
                      "chokepoint: the signature of the head was not checked; give its public key with --key\n");
    if (report->heads == 0)
        (void)fprintf(
            stderr,
            "chokepoint: no --head was given: a log that was cut at its end or rewritten also passes; store a head with 'audit head'\n");
}

/* What guards do not account for. Each is named by its record. */
static void print_gaps(const struct choke_audit_report *report)
{
    for (size_t i = 0; i < report->gaps_count; i++)
        (void)fprintf(stderr, "chokepoint: the audit log '%s' is not complete: record %llu: %s\n",
                      CK_TEXT_SAFE(report->file), (unsigned long long)report->gaps[i].seq, report->gaps[i].message);
    if (report->gaps_more > 0)
        (void)fprintf(stderr, "chokepoint: and %llu more\n", (unsigned long long)report->gaps_more);
}

static int verify(const struct verify_options *given, struct ck_string_list *files)
{
    char path[PATH_MAX];
    struct given_heads heads = {0};
    struct record_printer printer = {.quiet = given->quiet};
    struct choke_audit_report *report = NULL;
    struct choke_error error = {0};
    struct choke_audit_query query = {
        .rotated = given->rotated || files->count == 0, .on_record = print_record, .data = &printer};
    int status = 0;

    query.paths = ck_audit_paths(files, path, &error);
    bool good = query.paths && take_heads(given, &heads, &error) == 0;
    query.heads = heads.texts;
    query.public_key = heads.key;
    query.complete = given->complete;
    query.struct_size = sizeof(query);
    if (!good || choke_audit_verify(&query, &report, &error) < 0)
        status = ck_audit_unreadable(&error);
    /* Flushed before the damage is reported, so that on a terminal the records come first. */
    int written = ck_cli_flush_stdout();
    if (report && report->damage != CHOKE_DAMAGE_NONE) {
        ck_audit_report_damage(report);
        status = CK_AUDIT_BROKEN;
    } else if (report) {
        print_gaps(report);
        status = report->gaps_count > 0 ? CK_AUDIT_BROKEN : status;
        if (!given->quiet)
            print_notes(&printer, report);
    }
    choke_audit_report_free(report);
    free_heads(&heads, given->heads.count);
    /* What is wrong with the log is more important than a failed write. */
    return status == 0 ? written : status;
}

static int run_verify(char *const *args)
{
    struct verify_options given = {0};
    const struct ck_parse parse = {&ck_command_audit_verify, &given, &given.help, .most = CK_PARSE_ANY};
    struct ck_string_list files;

    int status = ck_parse_words(&parse, args, &files);
    if (status < 0)
        status = verify(&given, &files);
    ck_options_free_words(&files);
    ck_options_done(verify_options, &given);
    return status;
}

const struct ck_command ck_command_audit_verify = {
    .name = "audit verify",
    .operands = "[FILE...]",
    .summary = "prove that an audit log was not changed, and print its records",
    .details =
        "FILEs are the files of one log, in order; '-' is standard input. Default: the log that 'run' writes, with\n"
        "the files it was rotated into. Proven records go to standard output as JSON lines.\n"
        "Exit status: 0 the log is intact; 1 it is not, and the first bad line is reported with its fault, or\n"
        "with --complete what a guard does not account for;\n"
        "2 a file cannot be read, or a head is malformed or was not signed with the key.\n",
    .operand = CK_OPERAND_FILE,
    .options = verify_options,
    .run = run_verify,
};
