/* place.c - see place.h. */
#include "cli/place.h"

#include "base/errkind.h"
#include "base/fd.h"
#include "base/file.h"
#include "front/text.h"

#include <fcntl.h>
#include <string.h>

int ck_place_check(const char *path, struct choke_error *error)
{
    struct choke_context *context = NULL;
    CK_FD fd = ck_file_open_parent(AT_FDCWD, path);
    /* Without the directory the file cannot be made either, and whoever makes it says so. */
    if (fd < 0 && !ck_errkind_is_shortage(-fd))
        return 0;
    if (fd < 0)
        return ck_text_error(error, CHOKE_INVALID, -fd, "cannot open the directory of '%s': %s", CK_TEXT_SAFE(path),
                             strerror(-fd));
    int r = choke_context_new(NULL, &context, error);
    if (r == 0)
        r = choke_locked_directory(context, fd, error);
    choke_context_free(context);
    return r;
}
