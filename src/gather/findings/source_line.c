/*
 * source_line.c - see source_line.h.
 */
#include "gather/findings/source_line.h"

#include "base/fd.h"
#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((size_t)4 << 20)      /* larger files are not searched either */
#define TOTAL_BYTES_MAX ((uint64_t)256 << 20) /* findings may be in as many files as a repository likes */
#define WORD_MAX 16                           /* a word as long as this may be a key */

/* ---- reading ---- */

static void forget(struct ck_source_lines *lines)
{
    free(lines->text);
    lines->text = NULL;
    lines->length = lines->offset = 0;
    lines->line = 1;
}

/* O_NONBLOCK: a FIFO must not be waited for; its type is checked after that. */
static void load(struct ck_source_lines *lines)
{
    struct stat status;
    CK_FD fd = ck_file_resolve(lines->root_fd, lines->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);

    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || (uint64_t)status.st_size > FILE_BYTES_MAX ||
        lines->bytes_read + (uint64_t)status.st_size > TOTAL_BYTES_MAX)
        return;
    if (ck_fd_read_text(fd, FILE_BYTES_MAX, &lines->text, &lines->length) < 0)
        lines->text = NULL;
    lines->bytes_read += lines->length;
}

/* False if the file has fewer lines. */
static bool seek(struct ck_source_lines *lines, uint64_t line)
{
    if (line < lines->line) {
        lines->line = 1;
        lines->offset = 0;
    }
    while (lines->line < line) {
        const char *end = memchr(lines->text + lines->offset, '\n', lines->length - lines->offset);
        if (!end)
            return false;
        lines->offset = (size_t)(end - lines->text) + 1;
        lines->line++;
    }
    return lines->offset < lines->length;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\v' || byte == '\f' || byte == '\0';
}

bool ck_source_lines_get(struct ck_source_lines *lines, const char *path, uint64_t line, char dst[CK_SOURCE_LINE_MAX])
{
    if (lines->root_fd < 0 || line == 0 || strlen(path) >= sizeof(lines->path))
        return false;
    if (strcmp(path, lines->path) != 0) {
        forget(lines);
        (void)snprintf(lines->path, sizeof(lines->path), "%s", path);
        load(lines);
    }
    if (!lines->text || !seek(lines, line))
        return false;
    const char *begin = lines->text + lines->offset;
    const char *end = memchr(begin, '\n', lines->length - lines->offset);
    end = end ? end : lines->text + lines->length;
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    size_t length = (size_t)(end - begin);
    length = length < CK_SOURCE_LINE_MAX ? length : CK_SOURCE_LINE_MAX - 1;
    for (size_t i = 0; i < length; i++)
        dst[i] = begin[i] == '\0' ? ' ' : begin[i];
    dst[length] = '\0';
    return true;
}

void ck_source_lines_done(struct ck_source_lines *lines)
{
    forget(lines);
}

/* ---- credentials ---- */

/* Where the first separator after a word is; the length of the line if there is none. */
static size_t first_separator(const char *line)
{
    size_t at = 0;

    while (line[at] != '\0' && !isalnum((unsigned char)line[at]))
        at++;
    return at + strcspn(line + at, "=:\"'`(,");
}

/* Replaces each word that may be a key: the separators of its parts are '_', '-' and '.'. */
static size_t drop_long_words(char *line, size_t length)
{
    size_t used = 0, word = 0;

    for (size_t i = 0; i <= length; i++) {
        bool part =
            i < length && (isalnum((unsigned char)line[i]) || strchr("+/", line[i]) || (unsigned char)line[i] > 0x7f);
        if (part) {
            word++;
            continue;
        }
        if (word >= WORD_MAX) {
            memcpy(line + used, "...", 3);
            used += 3;
        } else {
            memmove(line + used, line + i - word, word);
            used += word;
        }
        word = 0;
        if (i < length)
            line[used++] = line[i];
    }
    return used;
}

void ck_source_line_mask(char *line)
{
    size_t length = strlen(line);
    size_t separator = first_separator(line);
    size_t kept = drop_long_words(line, separator);

    /* Everything after the separator may be the value. */
    if (separator < length && kept + 4 < CK_SOURCE_LINE_MAX) {
        char mark = line[separator];
        bool assigns = mark == '=' || mark == ':';
        (void)snprintf(line + kept, CK_SOURCE_LINE_MAX - kept, "%s...", assigns ? (mark == '=' ? "= " : ": ") : "");
    } else {
        line[kept] = '\0';
    }
}
