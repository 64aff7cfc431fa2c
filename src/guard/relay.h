/*
 * relay.h - copies one stream of a call between a descriptor of the cage and a pipe of the tool.
 *
 * Nothing here waits. Flags of the cage's descriptor are not changed: its processes share them.
 */
#ifndef CK_GUARD_RELAY_H
#define CK_GUARD_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CK_GUARD_RELAY_BYTES 65536

struct ck_guard_relay {
    int cage_fd; /* -1: the relay has ended */
    int pipe_fd; /* -1: nothing more is copied */
    int left_fd; /* of a file: the tool's end, to see what it has not read; -1: none */
    bool to_tool;
    bool socket; /* cage_fd is one; else a file */
    char *buffer;
    size_t at, end; /* what is read and not yet written */
};

/*
 * Takes cage_fd. *ret_tool_fd is the tool's end. 0 or a negative errno, and cage_fd is closed.
 */
int ck_guard_relay_begin(struct ck_guard_relay *relay, int cage_fd, bool to_tool, int *ret_tool_fd);

/* The descriptor that it waits for, and whether to read from it; -1: none. */
int ck_guard_relay_waits_for(const struct ck_guard_relay *relay, bool *ret_reads);

/* Copies what can be copied now. True: nothing more is to come. */
bool ck_guard_relay_move(struct ck_guard_relay *relay);

/*
 * The tool has ended. Of a file, what it has not read is left for the next process, as if the tool had
 * read the file itself.
 */
void ck_guard_relay_end(struct ck_guard_relay *relay);

#endif
