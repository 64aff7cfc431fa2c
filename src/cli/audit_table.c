/*
 * audit_table.c - the rows of "audit show"; see audit_table.h.
 *
 * An intent is kept until its outcome is read, because only the intent has the arguments. So memory
 * grows with the number of calls that run at the same time. It is limited to OPEN_MAX anyway: a log
 * may have any number of unfinished intents.
 */
#include "cli/audit_table.h"

#include "front/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define OPEN_MAX 4096
#define COMMAND_MAX 4096 /* bytes kept of a command */
#define WIDTH_MIN 60     /* rows are not cut to less than this */
#define NUMBER_SIZE 32   /* enough for 64 bits and a unit */

/* A call that has begun. All strings are owned. */
struct ck_audit_intent {
    uint64_t seq; /* of the record; its outcome names it */
    bool proven;  /* false: an earlier line of the log is damaged */
    char time[CK_AUDIT_TIME_SIZE];
    char *command; /* as it is shown */
    char *tool;    /* NULL: not known */
    char *probe;   /* NULL: none */
};

/* What print_row needs; nothing is owned. */
struct audit_row {
    uint64_t seq;
    bool proven;                     /* false: "?" after the number */
    struct ck_audit_subject subject; /* for the filter */
    const char *label;               /* in the outcome column */
    const json_t *code;              /* NULL or not an integer: "-" */
    const json_t *duration_us;       /* the same */
    const char *command;
};

void ck_audit_table_init(struct ck_audit_table *table, const struct ck_audit_filter *filter)
{
    struct winsize size;

    *table = (struct ck_audit_table){.filter = filter};
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        table->width = size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}

/* ---- one row ---- */

/* At most six columns: "9.9ms", "9999ms", "12345s". */
static const char *show_duration(char text[NUMBER_SIZE], const json_t *duration_us)
{
    json_int_t us = json_integer_value(duration_us);

    if (!json_is_integer(duration_us))
        (void)snprintf(text, NUMBER_SIZE, "-");
    else if (us < 10000)
        (void)snprintf(text, NUMBER_SIZE, "%lld.%lldms", us / 1000, us / 100 % 10);
    else if (us < 10000000)
        (void)snprintf(text, NUMBER_SIZE, "%lldms", us / 1000);
    else
        (void)snprintf(text, NUMBER_SIZE, "%llds", us / 1000000);
    return text;
}

/* "-" if it is not a number; the argument is ignored then. */
static const char *show_number(char text[NUMBER_SIZE], const json_t *number)
{
    (void)snprintf(text, NUMBER_SIZE, json_is_integer(number) ? "%lld" : "-", json_integer_value(number));
    return text;
}

/* The number of bytes of text that fill at most this many columns; each character counts as one. */
static size_t fitting(const char *text, size_t columns)
{
    size_t at = 0;

    for (size_t used = 0; text[at] != '\0'; at++)
        /* Bytes of the form 10xxxxxx continue a character of UTF-8. */
        if ((text[at] & 0xc0) != 0x80 && used++ == columns)
            break;
    return at;
}

/*
 * The last whole arguments of text that fit into this many columns; "" if not even the last one
 * fits.
 */
static const char *last_args(const char *text, size_t columns)
{
    const char *found = text + strlen(text);
    const char *at = found;

    for (size_t used = 0; at > text && used <= columns; at--) {
        used += (at[-1] & 0xc0) != 0x80;
        if (used <= columns + 1 && at[-1] == ' ')
            found = at;
    }
    return found;
}

/*
 * If the command is too long, the part after the tool's name is left out: the arguments that the
 * policy injects come first there, and the caller's own arguments follow.
 */
static void print_command(const struct ck_audit_table *table, const char *command, size_t used)
{
    static const char dots[] = "...";
    size_t room = table->width > used ? table->width - used : 0;
    /* "[probe] " before the command is kept with the tool's name. */
    const char *name = command[0] == '[' ? strstr(command, "] ") : NULL;
    const char *blank = strchr(name ? name + 2 : command, ' ');
    size_t front = blank ? (size_t)(blank + 1 - command) : strlen(command);

    /* 0: not a terminal, so nothing is cut. */
    if (table->width == 0 || fitting(command, room) == strlen(command)) {
        (void)puts(command);
        return;
    }
    const char *tail = front + sizeof(dots) < room ? last_args(command + front, room - front - sizeof(dots)) : "";
    if (tail[0] != '\0')
        (void)printf("%.*s%s %s\n", (int)front, command, dots, tail);
    else
        (void)printf("%.*s%s\n", (int)fitting(command, room - (sizeof(dots) - 1)), command, dots);
}

/* Rows are grouped by day; a new day repeats the head. */
static void print_row(struct ck_audit_table *table, const struct audit_row *row)
{
    char code[NUMBER_SIZE];
    char duration[NUMBER_SIZE];

    if (!ck_audit_filter_matches(table->filter, &row->subject))
        return;
    if (strncmp(table->day, row->subject.time, sizeof(table->day) - 1) != 0) {
        (void)snprintf(table->day, sizeof(table->day), "%s", row->subject.time);
        /* An empty line between two days. */
        (void)printf("%s%s\n", table->has_rows ? "\n" : "", table->day);
        (void)printf("%-8s  %6s  %-13s %4s %6s  %s\n", "TIME UTC", "SEQ", "OUTCOME", "CODE", "TOOK", "COMMAND");
        table->has_rows = true;
    }
    int used = printf("%.8s  %6llu%c %-13s %4s %6s  ", row->subject.time + 11, (unsigned long long)row->seq,
                      row->proven ? ' ' : '?', row->label, show_number(code, row->code),
                      show_duration(duration, row->duration_us));
    print_command(table, row->command, used > 0 ? (size_t)used : 0);
}

/* ---- the command of a call ---- */

/* A string, or a placeholder for one that is not UTF-8 or is too long. */
static void print_argument(FILE *out, const json_t *argument)
{
    const char *base64 = json_string_value(json_object_get(argument, "base64"));

    if (json_is_string(argument))
        ck_text_print_quoted(out, json_string_value(argument));
    else if (base64)
        (void)fprintf(out, "<base64:%s>", CK_TEXT_SAFE(base64));
    else
        (void)fprintf(out, "<%lld bytes>", json_integer_value(json_object_get(argument, "bytes")));
}

/* The program of a guard, not a tool. */
static bool is_of_guard(const json_t *record)
{
    const char *kind = json_string_value(json_object_get(record, "kind"));

    return kind && strncmp(kind, "guard_", 6) == 0;
}

/* "[probe] git log -1", "guard: bash x.sh". The caller frees it; NULL when out of memory. */
static char *command_of(const json_t *record, const struct ck_audit_subject *subject)
{
    const json_t *argv = json_object_get(record, "argv");
    json_int_t cut = json_integer_value(json_object_get(record, "argv_cut"));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;

    if (subject->probe)
        (void)fprintf(out, "[%s] ", CK_TEXT_SAFE(subject->probe));
    if (is_of_guard(record))
        (void)fputs("guard: ", out);
    /* ftell counts what was written to memory so far. */
    for (size_t i = 0; i < json_array_size(argv) && ftell(out) < COMMAND_MAX; i++) {
        (void)fputs(i > 0 ? " " : "", out);
        print_argument(out, json_array_get(argv, i));
    }
    /* An outcome without its intent has no arguments. */
    if (json_array_size(argv) == 0)
        (void)fputs(subject->tool ? CK_TEXT_SAFE(subject->tool) : "-", out);
    if (cut > 0)
        (void)fprintf(out, " ... and %lld more", cut);
    /* fclose does not report an error of an earlier write. */
    bool bad = ferror(out) != 0;
    if (fclose(out) == 0 && !bad)
        return text;
    free(text);
    return NULL;
}

/* ---- intents ---- */

static void free_intent(struct ck_audit_intent *intent)
{
    free(intent->command);
    free(intent->tool);
    free(intent->probe);
}

/* code and duration are NULL and shown as "-". */
static void print_unfinished(struct ck_audit_table *table, const struct ck_audit_intent *intent)
{
    const struct audit_row row = {
        .seq = intent->seq,
        .proven = intent->proven,
        .subject = {.time = intent->time, .outcome = CK_AUDIT_UNFINISHED, .tool = intent->tool, .probe = intent->probe},
        .label = CK_AUDIT_UNFINISHED,
        .command = intent->command,
    };
    print_row(table, &row);
}

/* Keeps the order of the rest: print_unfinished shows them in the order of the log. */
static void drop(struct ck_audit_table *table, size_t index)
{
    free_intent(&table->open[index]);
    table->open_count--;
    memmove(&table->open[index], &table->open[index + 1], (table->open_count - index) * sizeof(*table->open));
}

/*
 * When the list is full, the oldest intent is printed as unfinished. A later outcome for it gets a
 * row without arguments.
 */
static bool add_intent(struct ck_audit_table *table, const struct choke_audit_record *record, const json_t *parsed)
{
    struct ck_audit_subject subject = ck_audit_subject(parsed);
    struct ck_audit_intent *intent;

    if (table->open_count == OPEN_MAX) {
        print_unfinished(table, &table->open[0]);
        drop(table, 0);
    }
    /* Allocated once, at its largest size. */
    if (!table->open)
        table->open = calloc(OPEN_MAX, sizeof(*table->open));
    if (!table->open)
        return false;
    intent = &table->open[table->open_count++];
    /* Counted before its strings are made, so that ck_audit_table_done frees it after a failure. */
    *intent = (struct ck_audit_intent){.seq = record->seq, .proven = record->proven};
    (void)snprintf(intent->time, sizeof(intent->time), "%s", record->time);
    intent->command = command_of(parsed, &subject);
    intent->tool = subject.tool ? strdup(subject.tool) : NULL;
    intent->probe = subject.probe ? strdup(subject.probe) : NULL;
    return intent->command && (!subject.tool || intent->tool) && (!subject.probe || intent->probe);
}

/* open_count: not found, for example because it was in an older file. */
static size_t find_intent(const struct ck_audit_table *table, const json_t *seq)
{
    size_t index = 0;

    while (index < table->open_count &&
           (!json_is_integer(seq) || table->open[index].seq != (uint64_t)json_integer_value(seq)))
        index++;
    return index;
}

/* ---- records ---- */

static void fill_row(struct audit_row *row, const struct choke_audit_record *record, const json_t *parsed)
{
    *row = (struct audit_row){
        .seq = record->seq,
        .proven = record->proven,
        .subject = ck_audit_subject(parsed),
        .code = json_object_get(parsed, "exit_code"),
        .duration_us = json_object_get(parsed, "duration_us"),
    };
    row->subject.time = record->time; /* the library has checked its form */
}

/* An outcome, with the command of its intent if that was read; or a refused call. */
static bool add_end(struct ck_audit_table *table, const struct choke_audit_record *record, const json_t *parsed)
{
    char label[CK_TEXT_SAFE_MAX];
    struct audit_row row;
    /* A call of a guard's tool names the guard, too; but that has not ended yet. */
    size_t intent = find_intent(table, json_object_get(parsed, is_of_guard(parsed) ? "guard" : "intent"));

    fill_row(&row, record, parsed);
    char *command = intent < table->open_count ? NULL : command_of(parsed, &row.subject);
    row.command = intent < table->open_count ? table->open[intent].command : command;
    row.label = ck_text_safe(label, sizeof(label), row.subject.outcome ? row.subject.outcome : record->kind);
    if (row.command)
        print_row(table, &row);
    /* NULL: out of memory. */
    bool good = row.command;
    free(command);
    if (intent < table->open_count)
        drop(table, intent);
    return good;
}

/* What the proxy decided about a connection. */
static void add_egress(struct ck_audit_table *table, const struct choke_audit_record *record, const json_t *parsed)
{
    const char *host = json_string_value(json_object_get(parsed, "host"));
    const char *verdict = json_string_value(json_object_get(parsed, "verdict"));
    const char *reason = json_string_value(json_object_get(parsed, "reason"));
    char text[4 * CK_TEXT_SAFE_MAX];
    struct audit_row row;

    fill_row(&row, record, parsed);
    (void)snprintf(text, sizeof(text), "%s: %s %s:%lld%s%s", row.subject.tool ? CK_TEXT_SAFE(row.subject.tool) : "-",
                   verdict ? CK_TEXT_SAFE(verdict) : "-", host ? CK_TEXT_SAFE(host) : "-",
                   json_integer_value(json_object_get(parsed, "port")), reason && reason[0] != '\0' ? ", " : "",
                   reason ? CK_TEXT_SAFE(reason) : "");
    row.label = "(egress)";
    row.command = text;
    print_row(table, &row);
}

/* A record about the log itself. */
static void add_other(struct ck_audit_table *table, const struct choke_audit_record *record, const json_t *parsed)
{
    const char *before = json_string_value(json_object_get(parsed, "continues"));
    const char *reason = json_string_value(json_object_get(parsed, "reason"));
    char label[CK_TEXT_SAFE_MAX];
    char text[CK_TEXT_SAFE_MAX + 64];
    struct audit_row row;

    fill_row(&row, record, parsed);
    /* In parentheses: it is not an outcome of a call. */
    (void)snprintf(label, sizeof(label), "(%.20s)", record->kind);
    if (before)
        (void)snprintf(text, sizeof(text), "log %s continues from %s", record->log, CK_TEXT_SAFE(before));
    else
        (void)snprintf(text, sizeof(text), "log %s%s%s", record->log, reason ? ": " : "",
                       reason ? CK_TEXT_SAFE(reason) : "");
    row.label = label;
    row.command = text;
    print_row(table, &row);
}

/* Unknown kinds are shown too: a newer version may have written them. */
bool ck_audit_table_add(struct ck_audit_table *table, const struct choke_audit_record *record, const json_t *parsed)
{
    if (strcmp(record->kind, "intent") == 0 || strcmp(record->kind, "guard_begin") == 0)
        return add_intent(table, record, parsed);
    if (strcmp(record->kind, "outcome") == 0 || strcmp(record->kind, "refused") == 0 ||
        strcmp(record->kind, "guard_end") == 0)
        return add_end(table, record, parsed);
    if (strcmp(record->kind, "egress") == 0)
        add_egress(table, record, parsed);
    else
        add_other(table, record, parsed);
    return true;
}

void ck_audit_table_done(struct ck_audit_table *table)
{
    for (size_t i = 0; i < table->open_count; i++) {
        print_unfinished(table, &table->open[i]);
        free_intent(&table->open[i]);
    }
    free(table->open);
    table->open = NULL;
    table->open_count = 0;
}
