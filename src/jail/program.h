/*
 * program.h - writes the program of a cage (cage.h). Pure: looks at nothing, so what it makes can be compared to the
 * letter in a test.
 */
#ifndef CK_JAIL_PROGRAM_H
#define CK_JAIL_PROGRAM_H

#include "base/arena.h"
#include "jail/cage.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

struct ck_program_step {
    enum ck_cage_op op;
    const char *inside;
    const char *outside;
};

/* Zero-filled it is empty. What it points to is in the arena. */
struct ck_program {
    struct ck_arena arena;
    struct ck_program_step *steps;
    size_t steps_count, steps_capacity;
    const char **execs;
    size_t execs_count, execs_capacity;
    bool no_memory;
};

struct ck_program_settings {
    uint32_t uid, gid;
    const struct sock_filter *filter;
    size_t filter_count;
    const char *tmp_options;
    int landlock_abi;   /* 0: none */
    uint32_t gate_port; /* 0: no egress */
    bool gate_named;
};

/* The text is copied. outside may be NULL. A step that is there already is not added again. */
void ck_program_add(struct ck_program *program, enum ck_cage_op op, const char *inside, const char *outside);

/* The directories that lead to path (inside, without '/' at its start), but not path itself. */
void ck_program_lead_to(struct ck_program *program, const char *path);

/* A path inside, from '/' on, that may be executed. */
void ck_program_allow(struct ck_program *program, const char *path);

/* All of it as one block in the arena; NULL when out of memory, then or before. */
const struct ck_cage_program *ck_program_pack(struct ck_program *program, const struct ck_program_settings *settings);

void ck_program_done(struct ck_program *program);

#endif
