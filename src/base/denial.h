/*
 * denial.h - what a jail refused, as the first process of the run reports it to the caller.
 *
 * The report comes from our own process. The names in it were read from memory of the tool, which
 * may have changed them meanwhile. What is refused does not depend on them.
 */
#ifndef CK_BASE_DENIAL_H
#define CK_BASE_DENIAL_H

#include <stdint.h>

#define CK_DENIALS_MAX 64
#define CK_DENIALS_LEARN_MAX 256 /* in a run of `policy learn` */
/* The head and all records. Few of the records are long, so they have different lengths. */
#define CK_DENIALS_BYTES 32768
#define CK_DENIAL_PATH_MAX 4096
#define CK_DENIAL_BY_MAX 256
/* Each record begins at a multiple of this. */
#define CK_DENIAL_ALIGNMENT 8

enum ck_denial_kind {
    CK_DENIAL_EXEC = 1, /* a file was not executed */
    CK_DENIAL_MAP,      /* and so on: a file was not mapped as code */
    CK_DENIAL_OPEN,     /* not opened for reading; ENOENT: if it exists on the host */
    CK_DENIAL_WRITE,    /* not opened for writing, created, renamed or removed; ENOENT as above */
    CK_DENIAL_CONNECT,  /* no socket, or no connection; the path is its text */
    /* In a run of `policy learn` also what was not refused, without an errno: */
    CK_DENIAL_LEARNED,           /* a file was executed */
    CK_DENIAL_LEARNED_WORKSPACE, /* and so on: by code beneath the root */
    CK_DENIAL_LEARNED_CODE,      /* a file beneath the root was executed, or mapped as code */
};

/* Followed by the records, as many bytes as it says. */
struct ck_denials_head {
    uint32_t wire_kind; /* CK_WIRE_DENIED */
    uint32_t bytes;
    uint32_t count;
    uint32_t reserved;
    uint64_t more; /* refusals that have no record: there were too many, or no room was left */
};

/* Followed by the path and by the file that the process was executing, both without a NUL. */
struct ck_denial_record {
    uint64_t device, inode; /* of the file; 0: not known */
    uint32_t kind;          /* enum ck_denial_kind */
    uint32_t error;         /* errno that the tool got */
    uint32_t path_length;
    uint32_t by_length;
};

#endif
