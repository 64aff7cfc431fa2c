/*
 * build_records.h - the decision records of this build, by number and digest.
 *
 * The entries of the embedded policy cite them. Their texts are documents of the project and need
 * not be installed.
 */
#ifndef CK_API_BUILD_RECORDS_H
#define CK_API_BUILD_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

struct ck_build_record {
    const char *number; /* four digits */
    const char *sha256; /* of the file, 64 lower-case hexadecimal digits */
};

/* Made by tools/gen/build-records.py. */
extern const struct ck_build_record ck_build_records[];
extern const size_t ck_build_records_count;

/* Is there a record with this number? */
bool ck_build_records_have(const char *number);

/* Is it the text of a record, of whatever number? */
bool ck_build_records_contain(const char *bytes, size_t length);

#endif
