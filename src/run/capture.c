/*
 * capture.c - a ring buffer for one stream of a tool. See capture.h.
 *
 * A small output is in a block from malloc that grows fourfold. A larger one gets the whole ring at
 * once, as a mapping of which only touched pages use memory. Above the first 2 MiB the mapping asks
 * for huge pages: otherwise the page faults cost as much as the reads. The ring is a whole number
 * of pages. At the end it is put in order by moving pages instead of copying bytes, so the tool
 * cannot make the caller slow by the length of its output.
 *
 * If there is no memory to grow, the ring keeps its size. The output is then truncated earlier, and
 * the result says so.
 */
#include "run/capture.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)4096)
#define BLOCK_BYTES ((size_t)65536) /* the largest ring from malloc */
#define SMALL_PAGES_BYTES ((size_t)2 << 20)
#define MARKER_BYTES (sizeof(CK_TRUNCATED_MARKER) - 1)

void ck_capture_init(struct ck_capture *capture, size_t cap)
{
    *capture = (struct ck_capture){.cap = cap};
}

static void release(void *memory, size_t mapped_bytes)
{
    if (mapped_bytes > 0)
        (void)munmap(memory, mapped_bytes);
    else
        free(memory);
}

void ck_capture_done(struct ck_capture *capture)
{
    release(capture->data, capture->mapped_bytes);
    *capture = (struct ck_capture){0};
}

void ck_capture_output_done(struct ck_capture_output *saved)
{
    release(saved->memory, saved->mapped_bytes);
    *saved = (struct ck_capture_output){0};
}

/* ---- growing ---- */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/*
 * The ring in its final size, plus one page: for the NUL, and for the page that order_pages splits.
 */
static void grow_to_mapping(struct ck_capture *capture)
{
    size_t page = page_bytes();
    size_t bytes;
    if (__builtin_add_overflow(capture->cap, 2 * page - 1, &bytes))
        return;
    bytes &= ~(page - 1);
    char *data = map(bytes);
    if (!data)
        return;
    if (bytes > SMALL_PAGES_BYTES)
        (void)madvise(data + SMALL_PAGES_BYTES, bytes - SMALL_PAGES_BYTES, MADV_HUGEPAGE);
    memcpy(data, capture->data, capture->size);
    free(capture->data);
    capture->data = data;
    capture->size = bytes - page;
    capture->mapped_bytes = bytes;
}

static void grow(struct ck_capture *capture)
{
    size_t size = capture->size == 0 ? FIRST_BYTES : capture->size * 4;
    if (size > BLOCK_BYTES && capture->cap > BLOCK_BYTES) {
        grow_to_mapping(capture);
        return;
    }
    /* One byte more than the ring, for the NUL. */
    size = size < capture->cap ? size : capture->cap;
    char *data = realloc(capture->data, size + 1);
    if (!data)
        return;
    capture->data = data;
    capture->size = size;
}

char *ck_capture_room(struct ck_capture *capture, size_t *ret_room)
{
    if (capture->total_bytes == capture->size && capture->size < capture->cap)
        grow(capture);
    if (capture->at == capture->size)
        capture->at = 0;
    *ret_room = capture->size - capture->at;
    return capture->data ? capture->data + capture->at : NULL;
}

void ck_capture_add(struct ck_capture *capture, size_t length)
{
    capture->at += length;
    capture->total_bytes += length;
}

/* Bytes that a full ring would overwrite in the same copy are skipped. */
static size_t skip_lost(struct ck_capture *capture, size_t length)
{
    bool full = capture->size > 0 && capture->size >= capture->cap && capture->total_bytes >= capture->size;
    if (!full || length <= capture->size)
        return 0;
    size_t skipped = length - capture->size;
    capture->at = (capture->at + skipped) % capture->size;
    capture->total_bytes += skipped;
    return skipped;
}

void ck_capture_copy(struct ck_capture *capture, const char *data, size_t length)
{
    size_t skipped = skip_lost(capture, length);
    data += skipped;
    length -= skipped;
    while (length > 0) {
        size_t room;
        char *to = ck_capture_room(capture, &room);
        size_t n = room < length ? room : length;
        if (n == 0) {
            capture->total_bytes += length;
            return;
        }
        memcpy(to, data, n);
        ck_capture_add(capture, n);
        data += n;
        length -= n;
    }
}

/* ---- putting in order ---- */

static void reverse(char *data, size_t length)
{
    for (size_t i = 0; i < length / 2; i++) {
        char byte = data[i];
        data[i] = data[length - 1 - i];
        data[length - 1 - i] = byte;
    }
}

/*
 * Moves data[first] to the front without extra memory. It works byte by byte: for a small ring, or
 * if order_pages has no memory.
 */
static void rotate(char *data, size_t size, size_t first)
{
    reverse(data, first);
    reverse(data + first, size - first);
    reverse(data, size);
}

/* MREMAP_FIXED moves page table entries, not bytes. If the kernel refuses, the bytes are copied. */
static void move_pages(char *to, char *from, size_t bytes)
{
    if (bytes > 0 && mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
        memcpy(to, from, bytes);
}

/*
 * First the pages from the one that holds `first`, then the pages before it. The page of `first` is
 * needed at both ends: at the front for the bytes from `first` on, and as a copy at the end for the
 * bytes before `first`. False: no memory, and nothing was changed.
 */
static bool order_pages(struct ck_capture *capture, size_t first)
{
    size_t page = page_bytes();
    size_t split = first & ~(page - 1);
    char *ordered = map(capture->mapped_bytes);
    if (!ordered)
        return false;
    size_t upper = capture->size - split;
    move_pages(ordered, capture->data + split, upper);
    move_pages(ordered + upper, capture->data, split);
    memcpy(ordered + capture->size, ordered, first - split);
    /*
     * mremap left holes in the old mapping. Pages that were copied instead, and the last page, are
     * still there.
     */
    (void)munmap(capture->data, capture->mapped_bytes);
    capture->data = ordered;
    return true;
}

/* The last `length` bytes of a stream that is longer than the ring, contiguous. */
static char *order(struct ck_capture *capture, size_t length)
{
    uint64_t oldest = capture->total_bytes - length;
    if (capture->total_bytes <= capture->size)
        return capture->data + oldest;
    size_t first = (size_t)(oldest % capture->size);
    if (capture->mapped_bytes > 0 && order_pages(capture, first))
        return capture->data + first % page_bytes();
    rotate(capture->data, capture->size, first);
    return capture->data;
}

void ck_capture_take(struct ck_capture *capture, struct ck_capture_output *ret)
{
    /* A mapped ring is rounded up to pages and may be larger than the cap. */
    size_t saved = capture->mapped_bytes > 0 ? capture->cap : capture->size;
    bool truncated = capture->total_bytes > saved;
    size_t length = truncated ? saved : (size_t)capture->total_bytes;
    char *data = length == 0 ? NULL : truncated ? order(capture, length) : capture->data;
    *ret = (struct ck_capture_output){.view = {.data = "", .total_bytes = capture->total_bytes, .truncated = truncated},
                                      .memory = capture->data,
                                      .mapped_bytes = capture->mapped_bytes,
                                      .short_of_memory = truncated && saved < capture->cap};
    if (data) {
        if (truncated)
            memcpy(data, CK_TRUNCATED_MARKER, MARKER_BYTES);
        data[length] = '\0';
        ret->view.data = data;
        ret->view.length = length;
    }
    *capture = (struct ck_capture){0};
}
