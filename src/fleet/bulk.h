/*
 * bulk.h - whether a directory has outgrown its bounds while another process writes into it. What a server sends can unpack
 * to much more: a thousand names for one object, each of them a file.
 */
#ifndef CK_FLEET_BULK_H
#define CK_FLEET_BULK_H

#include <stdbool.h>
#include <stdint.h>

#define CK_BULK_LOOK_MS 1000 /* between two looks, at least */

struct ck_bulk {
    const char *path; /* not owned */
    uint64_t bytes_max, files_max;
    uint64_t next_ms; /* when it is looked at again */
};

/*
 * Walks through the directory if it is time for it, and takes at most a tenth of the time for that. False also if the directory
 * cannot be read: whoever needs it finds out.
 */
bool ck_bulk_is_exceeded(struct ck_bulk *bulk);

#endif
