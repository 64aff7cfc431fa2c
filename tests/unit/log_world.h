/*
 * log_world.h - a file system in memory, and several writers of a log in it. Their steps can be put into any order.
 *
 * Each writer runs the library's code on its own stack. Before it does anything to the file system it stops, and
 * the test says which writer continues, which dies there, and which write is cut short.
 */
#ifndef CK_TEST_LOG_WORLD_H
#define CK_TEST_LOG_WORLD_H

#include "audit/log.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define WORLD_LOG "log.jsonl"
#define WORLD_INODES 24
#define WORLD_NAMES 24
#define WORLD_TEXT 8192
#define WORLD_WRITERS 3
#define WORLD_APPENDS 2
#define WORLD_STACK ((size_t)512 << 10)

enum step {
    STEP_OPEN,
    STEP_LOCK,
    STEP_UNLOCK,
    STEP_LOOK,
    STEP_APPEND,
    STEP_MAKE,
    STEP_LINK,
    STEP_RENAME,
    STEP_REMOVE,
    STEP_SWEEP
};

/* The result of a step. */
enum fate {
    FATE_DONE,  /* it is done */
    FATE_DIE,   /* the writer dies before it */
    FATE_CUT,   /* of an append: a part is written, then the writer dies */
    FATE_SHORT, /* of an append: a part is written, and the writer gets the count */
    FATE_FAIL,  /* it is refused, and the writer gets the error */
};

struct inode {
    char text[WORLD_TEXT];
    size_t length;
    int locked_by; /* a writer; -1: nobody */
};

struct name {
    char text[NAME_MAX + 1];
    int inode; /* -1: the name is free */
};

struct writer {
    int number;
    ucontext_t context;
    char *stack;
    void *fake_stack; /* AddressSanitizer's */
    jmp_buf end;
    bool done;
    bool killed;
    enum step next;
    int inode; /* that the step is about; -1: none */
    const char *text;
    size_t length;
    enum fate fate;
    size_t part;      /* of the append: how much of it is written */
    uint64_t history; /* the results that it has got */
    struct ck_log log;
    struct ck_record record;
    int appends; /* how many it is to make */
    int results[WORLD_APPENDS];
    bool returned[WORLD_APPENDS];
};

struct world {
    struct inode inodes[WORLD_INODES];
    int inode_count;
    struct name names[WORLD_NAMES];
    struct writer writers[WORLD_WRITERS + 1]; /* the last one looks after the others, and never stops */
    int writer_count;
    struct writer *running; /* NULL: the world's holder */
    ucontext_t holder;
    void *fake_stack;
    uint64_t max_bytes;
};

extern const struct ck_audit_file_ops world_files;

/* An empty world with writers that have not begun. */
void world_start(struct world *world, int writers, int appends, uint64_t max_bytes);
/* Ends all that is under way. */
void world_end(struct world *world);
/* No world will be started again. */
void world_free(struct world *world);

/* Each writer goes up to its first step; in a world without a log, with one that has a record, with an empty file. */
void world_set_out(struct world *world);
void world_make_log(struct world *world);
void world_make_empty(struct world *world);

/* One more record, by a writer that never stops; tag is its content. */
int world_append(struct world *world, const char *tag, struct choke_error *error);

/* Has the writer a next step that it can do now? */
bool world_can_go(const struct world *world, const struct writer *writer);
/* Does the step with this result, and returns when the writer is before another one. */
void world_go(struct world *world, struct writer *writer, enum fate fate, size_t part);

int world_find(const struct world *world, const char *name); /* -1 */

/* The same number for two worlds that will continue in the same way. */
uint64_t world_digest(const struct world *world);

#endif
