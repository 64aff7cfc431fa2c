/* json_file.c - see json_file.h. */
#include "front/json_file.h"

#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ck_json_file_load(struct ck_json_file *file, int directory_fd, const char *path, int more_flags, size_t max_bytes,
                      char why[CK_TEXT_SAFE_MAX])
{
    struct stat status = {0};

    CK_FD fd = ck_file_open(directory_fd, path, more_flags, &status);
    int r = fd < 0 ? fd : ck_fd_read_text(fd, max_bytes, &file->text, &file->length);
    file->modified = status.st_mtime;
    if (r == -EFBIG)
        (void)snprintf(why, CK_TEXT_SAFE_MAX, "it has more than %zu MiB", max_bytes >> 20);
    else if (fd == -EINVAL)
        (void)snprintf(why, CK_TEXT_SAFE_MAX, "it is not a regular file");
    else if (r < 0)
        (void)snprintf(why, CK_TEXT_SAFE_MAX, "%s", strerror(-r));
    return r;
}

/* Depth is checked first: the parser calls itself for each level. */
int ck_json_file_parse(struct ck_json_file *file, char why[CK_TEXT_SAFE_MAX])
{
    json_error_t fault;

    if (!ck_json_is_deep(file->text, file->length))
        file->value = json_loadb(file->text, file->length, JSON_ALLOW_NUL, &fault);
    if (file->value)
        return 0;
    (void)snprintf(why, CK_TEXT_SAFE_MAX, "it is not JSON, or not complete");
    return -EINVAL;
}

void ck_json_file_done(struct ck_json_file *file)
{
    json_decref(file->value);
    free(file->text);
    *file = (struct ck_json_file){0};
}
