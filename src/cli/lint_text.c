/*
 * lint_text.c - prints findings in the form of compiler messages, with the source line and a mark
 * under the position.
 *
 * Paths and source lines come from the repository. Every byte that a terminal would interpret is
 * escaped, and the mark is placed by what is shown, not by the original bytes.
 */
#include "cli/cli.h"
#include "cli/lint.h"
#include "front/text.h"

#include <string.h>
#include <unistd.h>

#define SOURCE_MAX 256 /* the library keeps fewer bytes of a line */
#define SHOWN_MAX (4 * SOURCE_MAX + 8)
#define PATH_SHOWN 4096 /* bytes of a path with its escapes */
#define REASONS_MAX 16  /* different reasons for skipping; more are counted together */
#define GUTTER 6        /* columns of a line number */

/* Escapes around a word; empty strings without a terminal or with NO_COLOR. */
struct lint_colours {
    const char *severity[CHOKE_SEVERITY_ERROR + 1]; /* by enum; the severities begin at 1 */
    const char *strong;                             /* for the position */
    const char *dim;                                /* for the gutter and the rule */
    const char *end;
};

static struct lint_colours choose_colours(void)
{
    if (!ck_text_colour(STDOUT_FILENO))
        return (struct lint_colours){.severity = {"", "", "", ""}, .strong = "", .dim = "", .end = ""};
    return (struct lint_colours){
        .severity = {"", "\033[36m", "\033[33m", "\033[31m"}, .strong = "\033[1m", .dim = "\033[2m", .end = "\033[0m"};
}

/* ---- the line and the mark ---- */

/*
 * A part of the source as it is shown. A tab is one space, so that the mark is correct on every
 * terminal.
 */
static const char *show(char *dst, size_t size, const char *source, size_t length)
{
    char part[SOURCE_MAX];

    if (length >= sizeof(part))
        length = sizeof(part) - 1;
    memcpy(part, source, length);
    part[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (part[i] == '\t')
            part[i] = ' ';
    return ck_text_safe(dst, size, part);
}

/* Each character counts as one column, except bytes that continue one. */
static int columns(const char *shown)
{
    int count = 0;

    for (; *shown != '\0'; shown++)
        count += (*shown & 0xc0) != 0x80;
    return count;
}

/*
 * The number of bytes to mark: to the end of the finding, or of the line if it has several lines.
 */
static size_t marked_bytes(const struct choke_lint_finding *finding, size_t left)
{
    size_t span = left;

    if (finding->end_line == finding->line && finding->end_byte_column >= finding->byte_column)
        span = finding->end_byte_column - finding->byte_column;
    return span < left ? span : left;
}

/*
 * The parts before, in and after the mark are escaped separately, because an escape has more
 * columns than the byte that it replaces.
 */
static void print_source(const struct lint_colours *colours, const struct choke_lint_finding *finding)
{
    char before[SHOWN_MAX];
    char marked[SHOWN_MAX];
    char after[SHOWN_MAX];
    size_t length = strlen(finding->source);
    size_t at = finding->source_at < length ? finding->source_at : length;
    size_t span = marked_bytes(finding, length - at);

    (void)show(before, sizeof(before), finding->source, at);
    (void)show(marked, sizeof(marked), finding->source + at, span);
    (void)show(after, sizeof(after), finding->source + at + span, length - at - span);
    (void)printf("%s%*u |%s %s%s%s\n", colours->dim, GUTTER, finding->line, colours->end, before, marked, after);
    (void)printf("%s%*s |%s %*s%s^", colours->dim, GUTTER, "", colours->end, columns(before), "",
                 colours->severity[finding->severity]);
    /* "^" marks the first column, "~" the others. */
    for (int i = columns(marked); i > 1; i--)
        (void)putchar('~');
    (void)printf("%s\n", colours->end);
}

/* source is NULL for a finding about a whole file. The last line says what to do instead. */
static void print_finding(const struct lint_colours *colours, const struct choke_lint_finding *finding)
{
    char path[PATH_SHOWN];

    (void)printf("%s%s:", colours->strong, ck_text_safe(path, sizeof(path), finding->path));
    if (finding->line != 0)
        (void)printf("%u:%u:", finding->line, finding->column);
    (void)printf("%s %s%s:%s ", colours->end, colours->severity[finding->severity],
                 choke_severity_name(finding->severity), colours->end);
    ck_text_print(stdout, finding->message, strlen(finding->message));
    (void)printf(" %s[%s]%s\n", colours->dim, finding->rule->id, colours->end);
    if (finding->source)
        print_source(colours, finding);
    (void)printf("%*s = ", GUTTER, "");
    ck_text_print(stdout, finding->rule->instead, strlen(finding->rule->instead));
    (void)putchar('\n');
}

/* ---- the end ---- */

static void print_count(const char *separator, size_t count, const char *label)
{
    (void)printf("%s%zu %s%s", separator, count, label, count == 1 ? "" : "s");
}

/*
 * "; skipped: 3 (a symbolic link), 1 (not a regular file)": each reason once, in the order of its
 * first path.
 */
static void print_skips(const struct choke_lint_report *report)
{
    const char *reasons[REASONS_MAX] = {0};
    size_t counts[REASONS_MAX] = {0};
    size_t used = 0;
    size_t others = 0;

    for (size_t i = 0; i < report->skip_count; i++) {
        size_t at = 0;
        while (at < used && strcmp(reasons[at], report->skips[i].reason) != 0)
            at++;
        if (at == REASONS_MAX) {
            others++;
            continue;
        }
        used += at == used;
        reasons[at] = report->skips[i].reason;
        counts[at]++;
    }
    for (size_t i = 0; i < used; i++)
        (void)printf("%s%zu (%s)", i == 0 ? "; skipped: " : ", ", counts[i], CK_TEXT_SAFE(reasons[i]));
    if (others > 0)
        (void)printf(", %zu for other reasons", others);
}

/* Parts with a count of 0 are left out, except the first four. */
static void print_summary(const struct choke_lint_report *report, const struct ck_lint_marks *marks)
{
    print_count("", report->file_count, "file");
    print_count(": ", marks->errors, "error");
    print_count(", ", marks->warnings, "warning");
    print_count(", ", marks->notes, "note");
    if (report->finding_dropped > 0)
        (void)printf(", and %zu more that are not shown", report->finding_dropped);
    if (marks->has_baseline)
        (void)printf("; %zu known from the baseline", marks->known);
    if (report->waived > 0)
        (void)printf("; %zu waived", report->waived);
    if (report->allowed > 0)
        (void)printf("; %zu in allowed modules", report->allowed);
    if (report->ignored > 0)
        (void)printf("; excluded by .gitignore: %zu", report->ignored);
    if (report->excluded > 0)
        (void)printf("; excluded by the configuration: %zu", report->excluded);
    print_skips(report);
    (void)putchar('\n');
}

int ck_lint_text(const struct choke_lint_report *report, const struct ck_lint_marks *marks, bool verbose, int status)
{
    struct lint_colours colours = choose_colours();
    char path[PATH_SHOWN];

    for (size_t i = 0; i < report->finding_count; i++)
        if (!marks->items[i].known)
            print_finding(&colours, &report->findings[i]);
    for (size_t i = 0; verbose && i < report->skip_count; i++)
        (void)printf("%s: skipped: %s\n", ck_text_safe(path, sizeof(path), report->skips[i].path),
                     CK_TEXT_SAFE(report->skips[i].reason));
    print_summary(report, marks);
    int written = ck_cli_flush_stdout();
    return written != 0 ? written : status;
}
