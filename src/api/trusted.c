/*
 * trusted.c - reads a file that decides something, for callers that have other such files than a
 * policy.
 */
#include "chokepoint.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "sys/beneath.h"
#include "sys/rulefile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The repository must not have been able to write it. */
static int check_place(const struct ck_trusted *place, const char *path, const char *root, struct choke_error *error)
{
    CK_FD root_fd = -1;
    struct ck_identity identity;
    /* Without a root there is no repository to fear. */
    int r = root ? ck_beneath_root(root, &root_fd, error) : 0;
    if (r < 0 || !root)
        return r;
    r = ck_trust_identity_of(root_fd, &identity);
    if (r < 0)
        return ck_error_set(error, CHOKE_INVALID, -r, "'%s': %s", CK_QUOTE(root), strerror(-r));
    /*
     * Compared by device and inode of every directory on the path, so another spelling of the root
     * makes no difference.
     */
    if (!ck_trust_passes(place, identity))
        return 0;
    return ck_error_set(error, CHOKE_INVALID, EPERM,
                        "'%s': is inside the root, where the repository could have written it; move it elsewhere",
                        CK_QUOTE(path));
}

int choke_read_trusted(const char *path, const char *root, size_t max_bytes, char **ret_text, size_t *ret_length,
                       struct choke_error *error)
{
    if (!path || !ret_text || !ret_length)
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "a path and a pointer for the text are required");
    /* noun "": messages begin with the path, because the caller knows what the file is. */
    const struct ck_rulefile file = {.path = path, .noun = "", .outcome = CHOKE_INVALID, .max_bytes = max_bytes};
    struct ck_trusted place;
    char *text;
    int r = ck_rulefile_read(&file, &text, ret_length, &place, error);
    if (r < 0)
        return r;
    r = check_place(&place, path, root, error);
    ck_trust_done(&place);
    if (r < 0)
        free(text);
    else
        *ret_text = text;
    return r;
}
