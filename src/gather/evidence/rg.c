/*
 * rg.c - see rg.h.
 */
#include "gather/evidence/rg.h"

#include "gather/evidence/common.h"

#include <string.h>

void ck_rg_begin(struct ck_rg_reader *reader, const struct ck_answer *answer)
{
    *reader = (struct ck_rg_reader){.at = answer->out, .end = answer->out + answer->out_length};
    if (answer->out_truncated) { /* in the middle of a record: continue with the next */
        reader->incomplete = true;
        reader->at += ck_evidence_line(reader->at, answer->out_length);
        reader->at += reader->at < reader->end ? 1 : 0;
    }
}

/*
 * Parses the digits after a path's NUL. Returns the number of bytes used; 0 if it is not a record.
 */
static size_t read_line_number(const char *at, size_t left, uint64_t *ret_line)
{
    size_t used = 0;

    *ret_line = 0;
    /* 18 digits fit into 64 bits. */
    while (used < left && used < 18 && at[used] >= '0' && at[used] <= '9')
        *ret_line = *ret_line * 10 + (uint64_t)(at[used++] - '0');
    return used > 0 && used < left && at[used] == ':' ? used + 1 : 0;
}

static const char *without_dot(const char *path, size_t length)
{
    return length > 2 && memcmp(path, "./", 2) == 0 ? path + 2 : path;
}

/* The NUL after the path is the only safe separator: a path may contain newlines and colons. */
bool ck_rg_next(struct ck_rg_reader *reader, struct ck_rg_record *ret_record)
{
    const char *nul;

    while (reader->at < reader->end && (nul = memchr(reader->at, '\0', (size_t)(reader->end - reader->at)))) {
        const char *begin = reader->at;
        uint64_t line;
        size_t used = read_line_number(nul + 1, (size_t)(reader->end - nul - 1), &line);
        /* If it is not a record, used is 0 and the line is skipped. */
        const char *text = nul + 1 + used;
        size_t length = ck_evidence_line(text, (size_t)(reader->end - text));
        reader->at = text + length + (text + length < reader->end ? 1 : 0);
        if (used == 0) {
            reader->problems++;
            continue;
        }
        const char *path = without_dot(begin, (size_t)(nul - begin));
        *ret_record = (struct ck_rg_record){
            .path = path, .path_length = (size_t)(nul - path), .line = line, .text = text, .text_length = length};
        return true;
    }
    return false;
}

bool ck_rg_next_file(struct ck_rg_reader *reader, const char **ret_path)
{
    size_t left = (size_t)(reader->end - reader->at);
    const char *nul = left > 0 ? memchr(reader->at, '\0', left) : NULL;

    if (!nul)
        return false;
    *ret_path = without_dot(reader->at, (size_t)(nul - reader->at));
    reader->at = nul + 1;
    return true;
}
