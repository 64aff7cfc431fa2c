/*
 * arena.c - the blocks of an arena.
 *
 * Blocks are chained, newest first, and double in size up to 256 KiB. A larger request gets its own
 * block.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK_BYTES ((size_t)2048)
#define MAX_BLOCK_BYTES ((size_t)256 << 10)
/*
 * libc takes a block of this size from the kernel, which has zeroed it. So no page of it is touched
 * before it is used. A smaller one may be memory that was used before.
 */
#define LARGE_BLOCK_BYTES ((size_t)128 << 10)

struct ck_arena_block {
    struct ck_arena_block *next; /* the one before it; NULL in the first */
    size_t used;                 /* bytes of data, always aligned */
    size_t size;                 /* bytes of data */
    bool zeroed;                 /* what is not used yet is zero */
    alignas(max_align_t) unsigned char data[];
};

/* Rounded up, so that the next allocation is aligned for any type. */
static size_t aligned(size_t bytes)
{
    return (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

/* The rest of the block before it is never used again. */
static struct ck_arena_block *add_block(struct ck_arena *arena, size_t need)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK_BYTES;
    if (size > MAX_BLOCK_BYTES)
        size = MAX_BLOCK_BYTES;
    if (size < need)
        size = need;
    size_t total;
    if (__builtin_add_overflow(arena->total_bytes, size, &total) || (arena->max_bytes != 0 && total > arena->max_bytes))
        return NULL;
    bool large = size >= LARGE_BLOCK_BYTES;
    struct ck_arena_block *block = large ? calloc(1, sizeof(*block) + size) : malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    *block = (struct ck_arena_block){.next = arena->blocks, .size = size, .zeroed = large};
    arena->blocks = block;
    arena->total_bytes = total;
    return block;
}

static void *fail(struct ck_arena *arena)
{
    arena->failed = true;
    return NULL;
}

void *ck_arena_alloc(struct ck_arena *arena, size_t bytes)
{
    /* so that rounding up, doubling and adding the header of a block cannot overflow */
    if (bytes > SIZE_MAX / 4)
        return fail(arena);
    size_t need = aligned(bytes == 0 ? 1 : bytes);
    struct ck_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < need)
        block = add_block(arena, need);
    if (!block)
        return fail(arena);
    void *result = block->data + block->used;
    block->used += need;
    /* not the whole block: most of it is never used */
    return block->zeroed ? result : memset(result, 0, need);
}

void *ck_arena_array(struct ck_arena *arena, size_t count, size_t element_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, element_bytes, &bytes))
        return fail(arena);
    return ck_arena_alloc(arena, bytes);
}

char *ck_arena_memdup(struct ck_arena *arena, const char *text, size_t length)
{
    /* zeroed, so the NUL is there */
    char *copy = ck_arena_alloc(arena, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *ck_arena_strdup(struct ck_arena *arena, const char *text)
{
    return ck_arena_memdup(arena, text, strlen(text));
}

char *ck_arena_printf(struct ck_arena *arena, const char *format, ...)
{
    char small[256]; /* most texts fit, and are then formatted once */
    va_list args;
    va_start(args, format);
    int length = vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof(small))
        return ck_arena_memdup(arena, small, (size_t)length);
    char *text = length < 0 ? NULL : ck_arena_alloc(arena, (size_t)length + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

const char **ck_arena_strv(struct ck_arena *arena, const char *const *strings)
{
    size_t count = 0;
    while (strings && strings[count])
        count++;
    const char **copy = ck_arena_array(arena, count + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = ck_arena_strdup(arena, strings[i]);
        if (!copy[i])
            return NULL;
    }
    return copy;
}

void ck_arena_done(struct ck_arena *arena)
{
    for (struct ck_arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = (struct ck_arena){.max_bytes = arena->max_bytes};
}
