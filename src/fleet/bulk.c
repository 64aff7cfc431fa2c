/* bulk.c - see bulk.h. */
#include "fleet/bulk.h"

#include "base/clock.h"

#include <fts.h>
#include <stddef.h>
#include <sys/stat.h>

#define BLOCK_BYTES 512 /* of st_blocks, whatever the file system has */
#define PAUSE_FACTOR 9  /* of what a walk takes */

/* No symlink is followed, and no file is opened. It ends as soon as a bound is exceeded. */
static bool walk(const struct ck_bulk *bulk)
{
    char *const paths[] = {(char *)(uintptr_t)bulk->path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    uint64_t bytes = 0, files = 0;
    const FTSENT *entry;

    while (tree && bytes <= bulk->bytes_max && files <= bulk->files_max && (entry = fts_read(tree))) {
        /* A directory comes twice; what has gone meanwhile has no status. */
        if (entry->fts_info == FTS_DP || entry->fts_info == FTS_NS || entry->fts_info == FTS_ERR)
            continue;
        files++;
        if (entry->fts_statp)
            bytes += (uint64_t)entry->fts_statp->st_blocks * BLOCK_BYTES;
    }
    if (tree)
        (void)fts_close(tree);
    return bytes > bulk->bytes_max || files > bulk->files_max;
}

bool ck_bulk_is_exceeded(struct ck_bulk *bulk)
{
    uint64_t begun_ms = ck_clock_now_ms();

    if (begun_ms < bulk->next_ms)
        return false;
    bool is_exceeded = walk(bulk);
    uint64_t now_ms = ck_clock_now_ms();
    bulk->next_ms = now_ms + CK_BULK_LOOK_MS + (now_ms - begun_ms) * PAUSE_FACTOR;
    return is_exceeded;
}
