/*
 * handover.h - which descriptors of a caller in the cage its tool gets.
 *
 * A tool has its own jail, and a descriptor must not be a way out of it, nor a way for the cage to put
 * code into it. Pipes, terminals, harmless devices, and files that cannot be mapped as code are given
 * directly. The bytes of others are copied, as far as they are streams.
 */
#ifndef CK_GUARD_HANDOVER_H
#define CK_GUARD_HANDOVER_H

enum ck_handover {
    CK_HANDOVER_DIRECT,
    CK_HANDOVER_COPIED, /* a socket, or a file that could be mapped as code */
    CK_HANDOVER_REFUSED
};

enum ck_handover ck_handover_of(int fd);

/* What it is, for a message: "a directory". */
const char *ck_handover_name(int fd);

#endif
