/*
 * waiver.c - reads waivers. See waiver.h.
 *
 * A malformed waiver must not pass as an ordinary comment: its author believes that it works, and a
 * reviewer must see that it does not.
 */
#include "lint/waiver.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGITS "0123456789"
#define NUMBER_LENGTH 4 /* digits of ADR-0003 */
#define BLANKS " \t"

/* ---- records ----------------------------------------------------------------------------- */

/* The number at the start of text, or -1. */
static int number_of(const char *text)
{
    int number = 0;
    for (int i = 0; i < NUMBER_LENGTH; i++) {
        /* A NUL ends here too, so a short text is not read beyond its end. */
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

/*
 * NNNN-*.md. A symlink does not count, nor an empty file: the decision must be written down here.
 */
static bool is_adr(int directory_fd, const char *name)
{
    struct stat status;
    size_t length = strlen(name);
    return number_of(name) >= 0 && name[NUMBER_LENGTH] == '-' && length > 3 && strcmp(name + length - 3, ".md") == 0 &&
           fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_size > 0;
}

void ck_lint_adrs_read(int base_fd, const char *adr_dir, struct ck_lint_adrs *ret_adrs)
{
    *ret_adrs = (struct ck_lint_adrs){.configured = !!adr_dir};
    if (!adr_dir)
        return;
    CK_FD fd = openat(base_fd, adr_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        ret_adrs->errnum = errno;
        return;
    }
    /* The stream owns the descriptor now, and closedir closes it. */
    int directory_fd = ck_fd_take(&fd);
    /*
     * An error of readdir ends the list early. A waiver is then unfounded, which is the safe side.
     */
    for (const struct dirent *entry; (entry = readdir(stream));) {
        int number = number_of(entry->d_name);
        if (is_adr(directory_fd, entry->d_name))
            ret_adrs->have[number / 8] |= (unsigned char)(1U << (number % 8));
    }
    (void)closedir(stream);
}

bool ck_lint_adrs_have(const struct ck_lint_adrs *adrs, const char *number)
{
    int n = number_of(number);
    return n >= 0 && (adrs->have[n / 8] >> (n % 8) & 1) != 0;
}

/* ---- waivers ----------------------------------------------------------------------------- */

/* The next word, which ends at a blank, a comma or the end of the line. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, BLANKS ",");
    return strcspn(*at, BLANKS ",\r\n");
}

/* at has no NUL after the word. */
static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(at, word, length) == 0;
}

/* "ADR-0003", perhaps followed by punctuation. */
static bool is_citation(const char *at, size_t length)
{
    return length >= 4 + NUMBER_LENGTH && memcmp(at, "ADR-", 4) == 0 && strspn(at + 4, DIGITS) == NUMBER_LENGTH &&
           (length == 4 + NUMBER_LENGTH || (length == 5 + NUMBER_LENGTH && strchr(":;.", at[length - 1])));
}

/* Returns NULL, or what is wrong. */
static const char *add_rule(struct ck_waiver *waiver, const char *at, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz" DIGITS "-";
    if (strspn(at, letters) < length || length >= CK_WAIVER_ID_MAX)
        return "a rule's name has only lower-case letters, digits and dashes";
    if (waiver->rule_count == CK_WAIVER_MAX_RULES)
        return "it names too many rules";
    memcpy(waiver->rules[waiver->rule_count], at, length);
    waiver->rules[waiver->rule_count++][length] = '\0';
    return NULL;
}

/*
 * Reads what follows the marker: "allow", the rules, the record. Text after the record is free.
 * Returns NULL, or what is wrong.
 */
static const char *parse(struct ck_waiver *waiver, const char *at)
{
    size_t length = next_word(&at);
    if (!is_word(at, length, "allow"))
        return "'allow' must follow";
    at += length;
    for (;;) {
        length = next_word(&at);
        /* 0: the end of the line. A waiver cannot go on in the next line of a comment. */
        if (length == 0 || is_citation(at, length))
            break;
        const char *fault = add_rule(waiver, at, length);
        if (fault)
            return fault;
        at += length;
    }
    if (length == 0)
        return "it cites no decision record";
    if (waiver->rule_count == 0)
        return "it names no rule";
    memcpy(waiver->adr, at + 4, NUMBER_LENGTH);
    return NULL;
}

void ck_waiver_parse(const struct ck_lint_comment *comment, struct ck_waiver *ret_waiver)
{
    const char *marker = strstr(comment->text, CK_LINT_MARKER);
    *ret_waiver = (struct ck_waiver){.location = comment->location};
    /* NULL: a NUL byte in the comment hides the marker from strstr. */
    ret_waiver->fault = !marker ? "it cannot be read" : parse(ret_waiver, marker + strlen(CK_LINT_MARKER));
    /* A second one in a block comment would be ignored, so it is refused. */
    if (!ret_waiver->fault && strstr(marker + 1, CK_LINT_MARKER))
        ret_waiver->fault = "the same comment has a second waiver";
}

bool ck_waiver_serves(struct ck_waiver *waiver, const char *rule, const struct ck_lint_location *location)
{
    uint32_t first = waiver->location.line, last = waiver->location.end_line;
    /*
     * The finding begins or ends on a line of the comment: a call over several lines may have the
     * waiver after its last bracket.
     */
    bool here = (location->line >= first && location->line <= last) ||
                (location->end_line >= first && location->end_line <= last);
    if (!here || waiver->fault)
        return false;
    for (unsigned i = 0; i < waiver->rule_count; i++)
        if (strcmp(waiver->rules[i], rule) == 0) {
            waiver->used[i] = true;
            return true;
        }
    return false;
}
