/* name.c - makes and recognises the names of the files of a log. See name.h. */
#include "audit/name.h"

#include "audit/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX_LENGTH (sizeof(CK_AUDIT_SUFFIX) - 1)

/* The length of the name without its suffix. */
static size_t stem_of(const char *name)
{
    size_t length = strlen(name);
    bool ends = length > SUFFIX_LENGTH && strcmp(name + length - SUFFIX_LENGTH, CK_AUDIT_SUFFIX) == 0;
    return ends ? length - SUFFIX_LENGTH : length;
}

/* Leading zeros, so that a listing of the directory is in the order of the records. */
int ck_name_rotated(const char *name, uint64_t first_seq, char ret_name[NAME_MAX + 1])
{
    int length = snprintf(ret_name, NAME_MAX + 1, "%.*s-%0*" PRIu64 CK_AUDIT_SUFFIX, (int)stem_of(name), name,
                          CK_AUDIT_ROTATED_DIGITS, first_seq);
    return length < 0 || length > NAME_MAX ? -ENAMETOOLONG : 0;
}

int ck_name_new(const char *name, const char *digits, char ret_name[NAME_MAX + 1])
{
    int length = snprintf(ret_name, NAME_MAX + 1, "%s.%s" CK_AUDIT_NEW_SUFFIX, name, digits);
    return length < 0 || length > NAME_MAX ? -ENAMETOOLONG : 0;
}

/* Exactly the form that ck_name_new makes, because such files are removed (files.c, sweep). */
bool ck_name_is_new(const char *candidate, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(candidate, name, length) != 0 || candidate[length] != '.')
        return false;
    const char *digits = candidate + length + 1;
    return strspn(digits, "0123456789abcdef") == CK_AUDIT_NEW_DIGITS &&
           strcmp(digits + CK_AUDIT_NEW_DIGITS, CK_AUDIT_NEW_SUFFIX) == 0;
}

/* More digits than usual are a seq with more digits; fewer are not ours. */
bool ck_name_is_rotated(const char *candidate, const char *name)
{
    size_t stem = stem_of(name);
    if (strncmp(candidate, name, stem) != 0 || candidate[stem] != '-')
        return false;
    const char *digits = candidate + stem + 1;
    size_t count = strspn(digits, "0123456789");
    return count >= CK_AUDIT_ROTATED_DIGITS && strcmp(digits + count, CK_AUDIT_SUFFIX) == 0;
}
