/*
 * area.h - where calls may work: the root of the server, narrowed by the roots of the client.
 *
 * Must: hold each area by a descriptor, so that a directory that is replaced by a symlink after the
 * client named it leads nowhere. Must not: let a root of the client add anything to the server's.
 */
#ifndef CK_MCP_AREA_H
#define CK_MCP_AREA_H

#include "chokepoint.h"

#include <jansson.h>
#include <limits.h>

#define CK_MCP_AREAS_MAX 32
#define CK_MCP_AREA_NAME_MAX 40 /* "/proc/self/fd/2147483647" */

/* Zero-filled with fd -1: none. */
struct ck_mcp_area {
    int fd;       /* O_PATH; owned */
    char *path;   /* as resolved; owned */
    bool is_root; /* the server's own root: no tool can replace it, so its path is its name */
};

struct ck_mcp_areas {
    struct ck_mcp_area items[CK_MCP_AREAS_MAX];
    size_t count;
    bool narrowed; /* the client has named roots; then no item means that none is within the root */
};

/* The server's own root. */
struct ck_mcp_root {
    int fd;
    char path[PATH_MAX]; /* as resolved */
};

int ck_mcp_root_open(struct ck_mcp_root *root, const char *path, struct choke_error *error);

/*
 * Replaces the areas by those parts of the root that are in a root of the client. roots: the array
 * of "roots/list". NULL, or none in it: not narrowed. Returns 0, or a negative errno and *error.
 */
int ck_mcp_areas_set(struct ck_mcp_areas *areas, const struct ck_mcp_root *root, const json_t *roots,
                     struct choke_error *error);
void ck_mcp_areas_done(struct ck_mcp_areas *areas);

/*
 * The area for a call in cwd: the one that has it if it is absolute, else the first. Returns 0 and a
 * copy, or a negative errno and *error (CHOKE_CWD) if the roots of the client leave nothing.
 */
int ck_mcp_area_choose(const struct ck_mcp_areas *areas, const struct ck_mcp_root *root, const char *cwd,
                       struct ck_mcp_area *ret_area, struct choke_error *error);
void ck_mcp_area_done(struct ck_mcp_area *area);

/* The name of the area for the library; for a part of the root the descriptor decides, not a path. */
const char *ck_mcp_area_name(const struct ck_mcp_area *area, char name[CK_MCP_AREA_NAME_MAX]);

#endif
