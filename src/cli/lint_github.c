/*
 * lint_github.c - prints findings as GitHub workflow commands, which become annotations.
 *
 * A line that begins with "::" is a command. A path or a name from a repository must stay inside
 * its value: newlines, percent signs, and in properties also colons and commas, are written as %XX.
 */
#include "cli/cli.h"
#include "cli/lint.h"
#include "front/text.h"

#include <string.h>

#define PATH_SHOWN 4096

/*
 * special: the bytes to write as %XX. Others that a terminal would interpret are escaped by
 * ck_text_print.
 */
static void print_value(const char *text, const char *special)
{
    while (*text != '\0') {
        size_t plain = strcspn(text, special);
        ck_text_print(stdout, text, plain);
        text += plain;
        if (*text != '\0')
            (void)printf("%%%02X", (unsigned)(unsigned char)*text++);
    }
}

/* Paths are relative to the top of the tree: annotations are about files of the repository. */
static void print_annotation(const struct choke_lint_finding *finding)
{
    static const char *const commands[] = {
        [CHOKE_SEVERITY_NOTE] = "notice", [CHOKE_SEVERITY_WARNING] = "warning", [CHOKE_SEVERITY_ERROR] = "error"};
    char path[PATH_SHOWN];

    (void)printf("::%s file=", commands[finding->severity]);
    /* In a property a colon or a comma would end the value. */
    print_value(ck_text_safe(path, sizeof(path), finding->name), "%\r\n:,");
    if (finding->line != 0)
        (void)printf(",line=%u,endLine=%u", finding->line, finding->end_line);
    /* Columns are valid within one line only. */
    if (finding->line != 0 && finding->end_line == finding->line)
        (void)printf(",col=%u,endColumn=%u", finding->column, finding->end_column);
    (void)printf(",title=%s::", finding->rule->id);
    print_value(finding->message, "%\r\n");
    (void)putchar(' ');
    print_value(finding->rule->instead, "%\r\n");
    (void)putchar('\n');
}

int ck_lint_github(const struct choke_lint_report *report, const struct ck_lint_marks *marks, int status)
{
    for (size_t i = 0; i < report->finding_count; i++)
        if (!marks->items[i].known)
            print_annotation(&report->findings[i]);
    int written = ck_cli_flush_stdout();
    return written != 0 ? written : status;
}
