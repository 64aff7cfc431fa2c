/*
 * capture.c - see capture.h.
 *
 * Memory grows fourfold up to the cap, so that a small output costs little and a large one few moves. If there is no
 * memory to grow, the ring stays at the size it has: the result is then truncated earlier, and says so.
 */
#include "run/capture.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES ((size_t)4096)
#define MARKER_BYTES (sizeof CK_TRUNCATED_MARKER - 1)

void ck_capture_init(struct ck_capture *capture, size_t cap)
{
    *capture = (struct ck_capture){.cap = cap};
}

void ck_capture_done(struct ck_capture *capture)
{
    free(capture->data);
    *capture = (struct ck_capture){0};
}

static void grow(struct ck_capture *capture)
{
    size_t size = capture->size == 0 ? FIRST_BYTES : capture->size * 4;
    if (size > capture->cap || size < capture->size)
        size = capture->cap;
    char *data = realloc(capture->data, size + 1);
    if (data == NULL)
        return;
    capture->data = data;
    capture->size = size;
}

char *ck_capture_room(struct ck_capture *capture, size_t *ret_room)
{
    if (capture->at == capture->size && capture->total_bytes == capture->size && capture->size < capture->cap)
        grow(capture);
    if (capture->at == capture->size)
        capture->at = 0;
    *ret_room = capture->size - capture->at;
    return capture->data != NULL ? capture->data + capture->at : NULL;
}

void ck_capture_add(struct ck_capture *capture, size_t length)
{
    capture->at += length;
    capture->total_bytes += length;
}

void ck_capture_copy(struct ck_capture *capture, const char *data, size_t length)
{
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

static void swap_blocks(char *a, char *b, size_t length)
{
    char spare[16384];
    while (length > 0) {
        size_t n = length < sizeof spare ? length : sizeof spare;
        memcpy(spare, a, n);
        memcpy(a, b, n);
        memcpy(b, spare, n);
        a += n;
        b += n;
        length -= n;
    }
}

/*
 * Brings data[first] to the front, in place: the shorter side is swapped to where it belongs, and what is left is a
 * smaller case of the same.
 */
static void rotate(char *data, size_t size, size_t first)
{
    size_t left = first, right = size - first;
    while (left > 0 && right > 0) {
        if (left <= right) {
            swap_blocks(data, data + left, left);
            data += left;
            right -= left;
        } else {
            swap_blocks(data + left - right, data + left, right);
            left -= right;
        }
    }
}

int ck_capture_take(struct ck_capture *capture, struct choke_capture *ret)
{
    *ret = (struct choke_capture){.total_bytes = capture->total_bytes};
    if (capture->data == NULL) {
        ret->truncated = capture->total_bytes > 0;
        ret->data = calloc(1, 1);
        return ret->data == NULL ? -ENOMEM : 0;
    }
    if (capture->total_bytes > capture->size) {
        rotate(capture->data, capture->size, capture->at % capture->size);
        memcpy(capture->data, CK_TRUNCATED_MARKER, MARKER_BYTES);
        ret->truncated = true;
        ret->length = capture->size;
    } else {
        ret->length = (size_t)capture->total_bytes;
    }
    capture->data[ret->length] = '\0';
    ret->data = capture->data;
    *capture = (struct ck_capture){0};
    return 0;
}

void ck_capture_free(struct choke_capture *taken)
{
    /* The public field is const for readers; the memory is ours. */
    free((void *)(uintptr_t)taken->data);
    *taken = (struct choke_capture){0};
}
