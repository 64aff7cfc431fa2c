/*
 * source_line.h - the lines that findings are about. gather reads them itself: most tools are asked
 * not to print them, and the others cut them.
 *
 * The repository is hostile: no symlink is followed, nothing but a regular file is read, and what
 * is read of one repository is bounded.
 */
#ifndef CK_GATHER_FINDINGS_SOURCE_LINE_H
#define CK_GATHER_FINDINGS_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_SOURCE_LINE_MAX 4096 /* bytes of a line that are looked at, with the NUL */

/* One file at a time. Zero-filled, but for root_fd, is ready. */
struct ck_source_lines {
    int root_fd; /* -1: nothing is read */
    char path[4096];
    char *text; /* of path; NULL: it cannot be read */
    size_t length;
    uint64_t line; /* the line that begins at offset */
    size_t offset;
    uint64_t bytes_read; /* of all files */
};

/*
 * Writes the line of a file, without blanks at its ends, as text: a NUL in it is a space. False if
 * it cannot be read. Asking in the order of paths and lines reads each file once.
 */
bool ck_source_lines_get(struct ck_source_lines *lines, const char *path, uint64_t line, char dst[CK_SOURCE_LINE_MAX]);
void ck_source_lines_done(struct ck_source_lines *lines);

/*
 * Pure: replaces what may be a credential by "...". Kept is only what is before the first
 * separator, and of that no long word: "api_key = ...".
 */
void ck_source_line_mask(char *line);

#endif
