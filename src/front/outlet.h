/*
 * outlet.h - writes to a descriptor with a reader that may be slow, stuck or gone.
 *
 * While a tool runs, SIGINT and similar signals arrive through a descriptor, so a write that blocks
 * would also block the exit. An outlet waits for its reader only until wake_fd is readable or the
 * deadline has passed. It never changes the flags of the descriptor, which other processes may
 * share.
 */
#ifndef CK_FRONT_OUTLET_H
#define CK_FRONT_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_outlet {
    int fd;
    int wake_fd;          /* readable: stop waiting; -1: none */
    uint64_t deadline_ms; /* monotonic; no waiting from then on; 0: none */
    int error;            /* the first errno of a write; everything after it is dropped */
    bool cut;             /* the reader was too slow: some output and everything after it was dropped */
};

#define CK_OUTLET(descriptor) ((struct ck_outlet){.fd = (descriptor), .wake_fd = -1})

void ck_outlet_write(struct ck_outlet *outlet, const void *data, size_t length);
void ck_outlet_print(struct ck_outlet *outlet, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The outlet stops waiting timeout_ms from now. */
void ck_outlet_deadline(struct ck_outlet *outlet, uint64_t timeout_ms);

#endif
