/*
 * capture.c - a ring buffer for one stream of a tool. See capture.h.
 *
 * A small output is in a block from malloc that grows fourfold. A larger one gets the whole ring at
 * once, as a mapping of which only touched pages use memory. Above the first 2 MiB the mapping asks
 * for huge pages: otherwise the page faults cost as much as the reads. The ring is a whole number
 * of pages. At the end it is put in order by moving pages instead of copying bytes, so the tool
 * cannot make the caller slow by the length of its output.
 *
 * A head (the first bytes, which are kept) is in the same memory, directly before the ring. In a
 * mapping the ring begins at a page, so that pages can be moved, and the head ends there. Up to the
 * cap the stream is one piece. Over it, the head moves by less than two pages, to the marker.
 *
 * If there is no memory to grow, the ring keeps its size. The output is then truncated earlier, and
 * the result says so. A head that would leave no room for the marker and a byte is given up.
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

void ck_capture_init(struct ck_capture *capture, size_t cap, size_t head_bytes)
{
    *capture = (struct ck_capture){.cap = cap, .head_bytes = head_bytes};
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

/* Up to a whole number of pages. False: not a size. */
static bool round_up(size_t bytes, size_t page, size_t *ret_bytes)
{
    bool bad = __builtin_add_overflow(bytes, page - 1, ret_bytes);
    *ret_bytes &= ~(page - 1);
    return !bad;
}

/*
 * The ring in its final size, plus one page: for the NUL, and for the page that order_pages splits.
 */
static void grow_to_mapping(struct ck_capture *capture)
{
    size_t page = page_bytes();
    size_t head, ring, bytes;
    if (!round_up(capture->head_bytes, page, &head) || !round_up(capture->cap - capture->head_bytes, page, &ring) ||
        __builtin_add_overflow(head, ring, &bytes) || __builtin_add_overflow(bytes, page, &bytes))
        return;
    char *data = map(bytes);
    if (!data)
        return;
    if (bytes > SMALL_PAGES_BYTES)
        (void)madvise(data + SMALL_PAGES_BYTES, bytes - SMALL_PAGES_BYTES, MADV_HUGEPAGE);
    capture->start = head - capture->head_bytes;
    memcpy(data + capture->start, capture->data, capture->size);
    free(capture->data);
    capture->data = data;
    capture->size = capture->head_bytes + ring;
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

/* The first byte after the head. The memory is full, so from here on its size does not change. */
static size_t ring_start(struct ck_capture *capture)
{
    if (capture->size < capture->head_bytes + CHOKE_MIN_OUTPUT_BYTES)
        capture->head_bytes = 0;
    return capture->head_bytes;
}

char *ck_capture_room(struct ck_capture *capture, size_t *ret_room)
{
    if (capture->total_bytes == capture->size && capture->size < capture->cap)
        grow(capture);
    if (capture->at == capture->size)
        capture->at = ring_start(capture);
    *ret_room = capture->size - capture->at;
    return capture->data ? capture->data + capture->start + capture->at : NULL;
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
    size_t ring = capture->size - capture->head_bytes;
    if (!full || length <= ring)
        return 0;
    size_t skipped = length - ring;
    capture->at = capture->head_bytes + (capture->at - capture->head_bytes + skipped) % ring;
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
 * The ring begins with its oldest byte, number `first`: first the pages from the one that holds it,
 * then the pages before it. The page of `first` is needed at both ends: at the front for the bytes
 * from `first` on, and as a copy at the end for the bytes before `first`. False: no memory, and
 * nothing was changed.
 */
static bool order_pages(struct ck_capture *capture, size_t first)
{
    size_t page = page_bytes();
    size_t split = first & ~(page - 1);
    char *ordered = map(capture->mapped_bytes);
    if (!ordered)
        return false;
    size_t head = capture->start + capture->head_bytes;
    size_t ring = capture->size - capture->head_bytes;
    size_t upper = ring - split;
    move_pages(ordered, capture->data, head);
    move_pages(ordered + head, capture->data + head + split, upper);
    move_pages(ordered + head + upper, capture->data + head, split);
    memcpy(ordered + head + ring, ordered + head, first - split);
    /*
     * mremap left holes in the old mapping. Pages that were copied instead, and the last page, are
     * still there.
     */
    (void)munmap(capture->data, capture->mapped_bytes);
    capture->data = ordered;
    return true;
}

/* The last `length` bytes of a stream that is longer than its memory, contiguous, after the head. */
static char *order(struct ck_capture *capture, size_t length)
{
    size_t head = capture->start + capture->head_bytes;
    /* A byte of the ring: length is at most the ring's size. */
    uint64_t oldest = capture->total_bytes - length - capture->head_bytes;
    if (capture->total_bytes <= capture->size)
        return capture->data + head + oldest;
    size_t ring = capture->size - capture->head_bytes;
    size_t first = (size_t)(oldest % ring);
    if (capture->mapped_bytes > 0 && order_pages(capture, first))
        return capture->data + head + first % page_bytes();
    rotate(capture->data + head, ring, first);
    return capture->data + head;
}

/* The head, the marker, and the last bytes: `length` bytes in all. */
static char *cut(struct ck_capture *capture, size_t length)
{
    char *tail = order(capture, length - capture->head_bytes);
    char *data = tail - capture->head_bytes;
    memmove(data, capture->data + capture->start, capture->head_bytes);
    memcpy(tail, CK_TRUNCATED_MARKER, MARKER_BYTES);
    return data;
}

void ck_capture_take(struct ck_capture *capture, struct ck_capture_output *ret)
{
    /* A mapped ring is rounded up to pages and may be larger than the cap. */
    size_t saved = capture->mapped_bytes > 0 ? capture->cap : capture->size;
    bool truncated = capture->total_bytes > saved;
    size_t length = truncated ? saved : (size_t)capture->total_bytes;
    char *data = length == 0 ? NULL : truncated ? cut(capture, length) : capture->data + capture->start;
    *ret = (struct ck_capture_output){.view = {.data = "", .total_bytes = capture->total_bytes, .truncated = truncated},
                                      .memory = capture->data,
                                      .mapped_bytes = capture->mapped_bytes,
                                      .short_of_memory = truncated && saved < capture->cap};
    if (data) {
        data[length] = '\0';
        ret->view.data = data;
        ret->view.length = length;
    }
    *capture = (struct ck_capture){0};
}
