/*
 * rg.h - the records that rg prints with --null, --with-filename, --no-heading and --line-number:
 * "PATH\0LINE:TEXT\n". A path may contain anything but a NUL, also a newline; the text has neither.
 */
#ifndef CK_GATHER_EVIDENCE_RG_H
#define CK_GATHER_EVIDENCE_RG_H

#include "gather/evidence/evidence.h"

struct ck_rg_reader {
    const char *at, *end;
    uint64_t problems; /* what is no record */
    bool incomplete;   /* output was lost */
};

/* The pieces belong to the answer; a leading "./" of the path is left out. */
struct ck_rg_record {
    const char *path, *text;
    size_t path_length, text_length;
    uint64_t line;
};

void ck_rg_begin(struct ck_rg_reader *reader, const struct ck_answer *answer);
bool ck_rg_next(struct ck_rg_reader *reader, struct ck_rg_record *ret_record);

/* The next name of `rg --files --null`; false at the end. It is NUL-terminated. */
bool ck_rg_next_file(struct ck_rg_reader *reader, const char **ret_path);

#endif
