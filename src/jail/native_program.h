/*
 * native_program.h - writes the program of a cage (native_ops.h). Pure: looks at nothing, so what it makes can be compared to the
 * letter in a test.
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
};

/* Zero-filled it is empty. What it points to is in the arena. */
struct ck_native_builder {
    struct ck_arena arena;
    struct ck_native_builder_op *ops;
    size_t ops_count, ops_capacity;
    const char **execs;
    size_t execs_count, execs_capacity;
    bool no_memory;
};

struct ck_native_program_settings {
    uint32_t uid, gid;
    const struct sock_filter *filter;
    size_t filter_count;
    const char *tmp_options;
    int landlock_abi;   /* 0: none */
    uint32_t gate_port; /* 0: no egress */
    bool gate_reports_attempts;
};

/* The text is copied. outside may be NULL. A step that is there already is not added again. */
void ck_native_program_add(struct ck_native_builder *program, enum ck_native_op_kind op, const char *inside,
                           const char *outside);

/* The directories that lead to path (inside, without '/' at its start), but not path itself. */
void ck_native_program_add_parents(struct ck_native_builder *program, const char *path);

/* A path inside, from '/' on, that may be executed. */
void ck_native_program_allow(struct ck_native_builder *program, const char *path);

/* All of it as one block in the arena; NULL when out of memory, then or before. */
const struct ck_native_program *ck_native_program_pack(struct ck_native_builder *program,
                                                       const struct ck_native_program_settings *settings);

void ck_native_program_done(struct ck_native_builder *program);

#endif
