/*
 * arena.h - memory that is freed all at once.
 *
 * A plan, a policy and a result each live in one arena: built piece by piece, then immutable, freed
 * in one call. Zero-filled is empty. Every allocation is zeroed and aligned for any type. An
 * allocation fails (NULL) when memory runs out, or when the arena would grow beyond its maximum (0:
 * no maximum).
 */
#ifndef CK_BASE_ARENA_H
#define CK_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct ck_arena_block;

struct ck_arena {
    struct ck_arena_block *blocks; /* newest first */
    size_t total_bytes;            /* of all blocks, also what is unused */
    size_t max_bytes;              /* 0: no maximum */
    bool failed;                   /* an allocation has failed */
};

/* 0 bytes give a pointer that is not NULL. The array form also fails if the product overflows. */
void *ck_arena_alloc(struct ck_arena *arena, size_t bytes);
void *ck_arena_array(struct ck_arena *arena, size_t count, size_t element_bytes);

char *ck_arena_strdup(struct ck_arena *arena, const char *text);
char *ck_arena_memdup(struct ck_arena *arena, const char *text, size_t length); /* adds a NUL */
char *ck_arena_printf(struct ck_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A copy of a NULL-terminated vector and its strings. NULL gives an empty vector. */
const char **ck_arena_strv(struct ck_arena *arena, const char *const *strings);

/* Frees everything. The arena is empty then, with the same maximum, and can be used again. */
void ck_arena_done(struct ck_arena *arena);

#endif
