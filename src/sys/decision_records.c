/*
 * decision_records.c - reads a directory of decision records.
 *
 * The directory may come from a pull request. So symlinks are not followed, only regular files are
 * opened, and size and number have limits.
 */
#include "sys/decision_records.h"

#include "base/fd.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDS_MAX 10000
#define RECORD_MAX_BYTES ((size_t)1 << 20)
#define ALL_MAX_BYTES ((size_t)64 << 20) /* of all files together: a sparse file takes no room on disk, but does here */

static void close_directory(DIR **directory)
{
    if (*directory)
        (void)closedir(*directory);
}

/* "0010-git.md" */
static bool is_record(const char *name)
{
    size_t length = strlen(name);
    return strspn(name, "0123456789") == 4 && name[4] == '-' && length > 8 && strcmp(name + length - 3, ".md") == 0;
}

/*
 * Returns 0 or -ENOMEM; an errno about the file goes into *errnum. *left is the number of bytes
 * that may still be read.
 */
static int read_record(struct ck_arena *arena, int directory_fd, struct ck_decision_record *record, size_t *left,
                       int *errnum)
{
    struct stat status;
    CK_FD fd = ck_file_open(directory_fd, record->name, O_NOFOLLOW, &status);
    if (fd == -ELOOP || fd == -EINVAL) /* a link, or not a regular file */
        return 0;
    if (fd < 0) {
        *errnum = -fd;
        return 0;
    }
    size_t length = (size_t)status.st_size;
    if (length > RECORD_MAX_BYTES || length > *left) {
        *errnum = EFBIG;
        return 0;
    }
    *left -= length;
    char *bytes = ck_arena_alloc(arena, length + 1);
    if (!bytes)
        return -ENOMEM;
    long got = ck_fd_read_all(fd, bytes, length);
    if (got < 0) {
        *errnum = (int)-got;
        return 0;
    }
    record->regular = true;
    record->bytes = bytes;
    record->length = (size_t)got;
    return 0;
}

static int compare_records(const void *left, const void *right)
{
    const struct ck_decision_record *a = left;
    const struct ck_decision_record *b = right;
    return strcmp(a->name, b->name);
}

static int list_records(struct ck_arena *arena, DIR *directory, struct ck_decision_record *items,
                        struct ck_decision_records *records)
{
    const struct dirent *entry;
    size_t left = ALL_MAX_BYTES;
    while (errno = 0, !!(entry = readdir(directory))) {
        if (!is_record(entry->d_name))
            continue;
        if (records->count == RECORDS_MAX) {
            records->errnum = E2BIG;
            return 0;
        }
        struct ck_decision_record *record = &items[records->count++];
        record->name = ck_arena_strdup(arena, entry->d_name);
        record->number = ck_arena_memdup(arena, entry->d_name, 4);
        if (!record->name || !record->number ||
            read_record(arena, dirfd(directory), record, &left, &records->errnum) < 0)
            return -ENOMEM;
    }
    /* The rest of the directory is not known: an old record would look like a new one. */
    if (errno != 0)
        records->errnum = errno;
    return 0;
}

int ck_decision_records_read(struct ck_arena *arena, const char *file, const char *directory,
                             struct ck_decision_records *ret_records)
{
    *ret_records = (struct ck_decision_records){0};
    const char *slash = strrchr(file, '/');
    const char *path = directory[0] == '/' || !slash
                           ? ck_arena_strdup(arena, directory)
                           : ck_arena_printf(arena, "%.*s%s", (int)(slash - file + 1), file, directory);
    struct ck_decision_record *items = ck_arena_array(arena, RECORDS_MAX, sizeof(*items));
    if (!path || !items)
        return -ENOMEM;
    ret_records->directory = path;
    ret_records->items = items;
    __attribute__((cleanup(close_directory))) DIR *stream = opendir(path);
    if (!stream) {
        ret_records->errnum = errno;
        return 0;
    }
    int r = list_records(arena, stream, items, ret_records);
    if (r == 0)
        qsort(items, ret_records->count, sizeof(*items), compare_records);
    return r;
}

static bool is_of(const struct ck_decision_record *record, const char *number)
{
    return record->regular && record->length > 0 && strcmp(record->number, number) == 0;
}

bool ck_decision_records_have(const struct ck_decision_records *records, const char *number)
{
    for (size_t i = 0; i < records->count; i++)
        if (is_of(&records->items[i], number))
            return true;
    return false;
}

static bool has_bytes(const struct ck_decision_records *records, const char *number,
                      const struct ck_decision_record *wanted)
{
    for (size_t i = 0; i < records->count; i++) {
        const struct ck_decision_record *record = &records->items[i];
        if (is_of(record, number) && record->length == wanted->length &&
            memcmp(record->bytes, wanted->bytes, wanted->length) == 0)
            return true;
    }
    return false;
}

bool ck_decision_records_amended(const struct ck_decision_records *before, const struct ck_decision_records *after,
                                 const char *number)
{
    for (size_t i = 0; i < after->count; i++)
        if (is_of(&after->items[i], number) && !has_bytes(before, number, &after->items[i]))
            return true;
    return false;
}
