/*
 * pin.h - checks a tool against the SHA-256 that the policy pins (R5).
 *
 * What is checked is what is executed. A binary is hashed from the descriptor that is executed
 * later. A lease holds it from before the check until that descriptor is closed, so that no one
 * writes to it in between. A script is read by its interpreter, so it is copied into a sealed
 * memory file while it is hashed, and the copy is executed.
 *
 * Digests are remembered by device, inode, size, mtime and ctime.
 */
#ifndef CK_SYS_PIN_H
#define CK_SYS_PIN_H

#include "chokepoint.h"

#include <stddef.h>

#define CK_PIN_SCRIPT_MAX ((uint64_t)64 << 20)

struct ck_pin;

/* Zero-filled is empty. */
struct ck_pin_cache {
    struct ck_pin *items;
    size_t count;
    size_t next; /* the slot to replace when there is no room */
};

void ck_pin_cache_done(struct ck_pin_cache *pins);

/*
 * Checks *fd, an open and readable file, against the digest. For a script *fd is closed and becomes
 * the copy. A failure has the outcome CHOKE_DISALLOWED, or CHOKE_SPAWN_FAILED if memory or
 * descriptors are missing.
 */
int ck_pin_check(struct ck_pin_cache *pins, const char *path, const char *sha256, bool script, int *fd,
                 struct choke_error *error);

#endif
