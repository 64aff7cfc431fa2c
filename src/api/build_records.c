/* build_records.c - looks up the decision records of this build. See build_records.h. */
#include "api/build_records.h"

#include "sys/digest.h"

#include <string.h>

bool ck_build_records_have(const char *number)
{
    for (size_t i = 0; i < ck_build_records_count; i++)
        if (strcmp(ck_build_records[i].number, number) == 0)
            return true;
    return false;
}

bool ck_build_records_contain(const char *bytes, size_t length)
{
    char digest[CK_DIGEST_SIZE];
    ck_digest_bytes(bytes, length, digest);
    for (size_t i = 0; i < ck_build_records_count; i++)
        if (strcmp(ck_build_records[i].sha256, digest) == 0)
            return true;
    return false;
}
