/*
 * area.c - see area.h.
 *
 * A root of the client is a file URI. It is resolved, and then opened again from the descriptor of
 * the server's root, beneath it and without symlinks: the first step only finds the text of the
 * path, the second decides.
 */
#include "mcp/area.h"

#include "base/fd.h"
#include "base/file.h"
#include "base/path.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)

int ck_mcp_root_open(struct ck_mcp_root *root, const char *path, struct choke_error *error)
{
    if (!realpath(path, root->path) || (root->fd = open(root->path, DIRECTORY)) < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "--root '%s': %s", CK_TEXT_SAFE(path), strerror(errno));
    return 0;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The path of "file:///path" or "file://localhost/path", decoded. False: another kind of URI. */
static bool decode_uri(const char *uri, char path[PATH_MAX])
{
    static const char *const starts[] = {"file://localhost/", "file:///"};
    size_t used = 0;

    const char *at = NULL;
    for (size_t i = 0; i < 2 && !at; i++)
        if (strncmp(uri, starts[i], strlen(starts[i])) == 0)
            at = uri + strlen(starts[i]) - 1;
    for (; at && *at != '\0' && *at != '?' && *at != '#' && used < PATH_MAX - 1; at++) {
        int high = *at == '%' ? digit_of(at[1]) : -1;
        int low = high >= 0 ? digit_of(at[2]) : -1;
        if (*at == '%' && low < 0)
            return false;
        /* A NUL would end the path for the kernel, not for the client. */
        if (low >= 0 && high * 16 + low == 0)
            return false;
        path[used++] = (char)(low >= 0 ? high * 16 + low : *at);
        at += low >= 0 ? 2 : 0;
    }
    path[used] = '\0';
    return at && used > 0 && used < PATH_MAX - 1;
}

/* -ENOENT: the URI names nothing within the root, so it adds no area. */
static int open_area(const struct ck_mcp_root *root, const char *uri, struct ck_mcp_area *ret_area)
{
    char path[PATH_MAX], resolved[PATH_MAX];

    if (!decode_uri(uri, path) || !realpath(path, resolved))
        return -ENOENT;
    const char *beneath = ck_path_beneath(root->path, resolved);
    /* A client's root around the server's: what they share is the server's. */
    if (!beneath && ck_path_beneath(resolved, root->path)) {
        beneath = "";
        memcpy(resolved, root->path, strlen(root->path) + 1);
    }
    if (!beneath)
        return -ENOENT;
    int fd = ck_file_resolve(root->fd, beneath[0] != '\0' ? beneath : ".", DIRECTORY,
                             RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    if (fd < 0)
        return -ENOENT;
    *ret_area = (struct ck_mcp_area){fd, strdup(resolved), false};
    if (ret_area->path)
        return 0;
    ck_fd_close(&ret_area->fd);
    return -ENOMEM;
}

int ck_mcp_areas_set(struct ck_mcp_areas *areas, const struct ck_mcp_root *root, const json_t *roots,
                     struct choke_error *error)
{
    size_t index;
    json_t *item;

    ck_mcp_areas_done(areas);
    /* A client without any root has no wish; the inspector is one. */
    areas->narrowed = roots && !(json_is_array(roots) && json_array_size(roots) == 0);
    if (roots && !json_is_array(roots))
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "'roots' must be an array");
    json_array_foreach(roots, index, item)
    {
        const char *uri = json_string_value(json_object_get(item, "uri"));
        if (!uri)
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "a root must be an object with a 'uri'");
        if (areas->count == CK_MCP_AREAS_MAX)
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "too many roots; at most %d are used", CK_MCP_AREAS_MAX);
        int r = open_area(root, uri, &areas->items[areas->count]);
        if (r == -ENOMEM)
            return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
        areas->count += r == 0;
    }
    return 0;
}

void ck_mcp_areas_done(struct ck_mcp_areas *areas)
{
    for (size_t i = 0; i < areas->count; i++)
        ck_mcp_area_done(&areas->items[i]);
    *areas = (struct ck_mcp_areas){0};
}

static int copy_area(const struct ck_mcp_area *area, struct ck_mcp_area *ret_area, struct choke_error *error)
{
    *ret_area = (struct ck_mcp_area){fcntl(area->fd, F_DUPFD_CLOEXEC, 0), strdup(area->path), area->is_root};
    if (ret_area->fd >= 0 && ret_area->path)
        return 0;
    int errnum = ret_area->fd < 0 ? errno : ENOMEM;
    ck_mcp_area_done(ret_area);
    return ck_text_error(error, CHOKE_SPAWN_FAILED, errnum, "cannot hold the root: %s", strerror(errnum));
}

int ck_mcp_area_choose(const struct ck_mcp_areas *areas, const struct ck_mcp_root *root, const char *cwd,
                       struct ck_mcp_area *ret_area, struct choke_error *error)
{
    char *path = (char *)(uintptr_t)root->path;
    if (!areas->narrowed)
        return copy_area(&(struct ck_mcp_area){root->fd, path, true}, ret_area, error);
    if (areas->count == 0)
        return ck_text_error(error, CHOKE_CWD, EPERM,
                             "none of the client's roots is within the server's root '%s', so nothing can be run; add "
                             "a root within it, or start the server with another --root",
                             CK_TEXT_SAFE(root->path));
    /* Only a choice: whether cwd really is in the area is decided by the library. */
    size_t chosen = 0;
    for (size_t i = 0; cwd && cwd[0] == '/' && i < areas->count; i++)
        if (ck_path_beneath(areas->items[i].path, cwd)) {
            chosen = i;
            break;
        }
    return copy_area(&areas->items[chosen], ret_area, error);
}

void ck_mcp_area_done(struct ck_mcp_area *area)
{
    ck_fd_close(&area->fd);
    free(area->path);
    *area = (struct ck_mcp_area){.fd = -1};
}

const char *ck_mcp_area_name(const struct ck_mcp_area *area, char name[CK_MCP_AREA_NAME_MAX])
{
    if (area->is_root)
        return area->path;
    (void)snprintf(name, CK_MCP_AREA_NAME_MAX, "/proc/self/fd/%d", area->fd);
    return name;
}
