/*
 * heap.h - memory with an owner, for what is too large for a stack.
 *
 * A thread of the host program may have a stack of 64 KiB, and the library must fit into it: no
 * frame is larger than two paths (the build fails on one that is), and anything larger comes from
 * here. CK_HEAP declares a pointer that is freed at the end of its block:
 *
 *   CK_HEAP char *text = ck_heap_own(malloc(size));
 */
#ifndef CK_BASE_HEAP_H
#define CK_BASE_HEAP_H

#include <stdlib.h>
#include <string.h>

#define CK_HEAP __attribute__((cleanup(ck_heap_free)))

/*
 * Returns its argument. clang's analyzer does not know that a cleanup attribute frees, and would
 * report every use as a leak. It does not track a pointer through a function that it does not see.
 */
void *ck_heap_own(void *allocated);

/*
 * Takes a pointer to a pointer of any type. It is copied, because one pointer type may not be read
 * as another.
 */
static inline void ck_heap_free(void *pointer)
{
    void *taken;
    memcpy(&taken, pointer, sizeof(taken));
    free(taken);
}

#endif
