/*
 * native_program.h - packs the operations of a native jail into a program (native_ops.h). Pure: it
 * reads no files, so a test compares the result exactly.
 */
#ifndef CK_JAIL_NATIVE_PROGRAM_H
#define CK_JAIL_NATIVE_PROGRAM_H

#include "base/arena.h"
#include "jail/native_ops.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

struct ck_native_builder_op {
    enum ck_native_op_kind op;
    const char *inside;
    const char *outside;
    const struct ck_native_copy *copy; /* only of CK_NATIVE_OP_COPY_CODE */
    uint64_t device, inode;            /* native_ops.h */
};

/* Zero-filled it is empty. All it points to is in the arena. */
struct ck_native_builder {
    struct ck_arena arena;
    struct ck_native_builder_op *ops;
    size_t ops_count, ops_capacity;
    const char **execs;
    size_t execs_count, execs_capacity;
    uint32_t libraries;       /* bits of jail/libraries.c: these directories are code */
    const char *proof_loader; /* struct ck_native_program */
    bool no_memory;
};

struct ck_native_program_settings {
    uint32_t uid, gid;
    const struct sock_filter *filter;
    size_t filter_count;
    const char *root; /* path inside; NULL: /work */
    const char *tmp_options;
    int landlock_abi; /* 0: no Landlock */
    bool workspace_code;
    bool loopback;
    uint32_t gate_port; /* 0: no egress */
    bool gate_reports_attempts;
    uint64_t exec_key; /* 0: refused executions are not named */
    bool why;
    bool learn;
    bool guarded;
    const unsigned char *door; /* of a cage: the program of its doors; NULL: no cage */
    size_t door_bytes;
    bool no_new_code;
};

/*
 * The texts are copied. outside may be NULL. An operation that exists already is not added again.
 */
void ck_native_program_add(struct ck_native_builder *program, enum ck_native_op_kind op, const char *inside,
                           const char *outside);

/* Adds CK_NATIVE_OP_COPY_CODE. `changed` must be in the arena of the builder. */
void ck_native_program_add_copy(struct ck_native_builder *program, const char *inside, const char *outside,
                                const struct ck_native_copy *changed);
/*
 * The same with all fields. A directory with a device and an inode was checked: it is mounted only
 * if it is still this one.
 */
void ck_native_program_add_op(struct ck_native_builder *program, const struct ck_native_builder_op *operation);

/* Adds the parent directories of path (inside, without a leading '/'), not path itself. */
void ck_native_program_add_parents(struct ck_native_builder *program, const char *path);

/* Allows the execution of an absolute path inside. */
void ck_native_program_allow(struct ck_native_builder *program, const char *path);

/* The program as one block in the arena; NULL if there was no memory, now or before. */
const struct ck_native_program *ck_native_program_pack(struct ck_native_builder *program,
                                                       const struct ck_native_program_settings *settings);

void ck_native_program_done(struct ck_native_builder *program);

#endif
