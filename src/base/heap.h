/*
 * heap.h - memory with an owner, for what is too large for a stack.
 *
 * A host's thread may have a stack of 64 KiB, and all of the library has to live in it: no frame is larger than two
 * paths (the build fails on one that is), and whatever is larger comes from here. CK_HEAP declares a pointer that is freed
 * when it leaves its block:
 *
 *   CK_HEAP char *text = ck_heap_own(malloc(size));
 */
#ifndef CK_BASE_HEAP_H
#define CK_BASE_HEAP_H

#include <stdlib.h>
#include <string.h>

#define CK_HEAP __attribute__((cleanup(ck_heap_free)))

/*
 * Returns what it is given. clang's analyzer does not know that a cleanup attribute frees, and would call everything here a
 * leak; what goes through a function that it does not see is not its business any more.
 */
void *ck_heap_own(void *allocated);

/* Takes a pointer to a pointer of any type; copied, because none may be read as another. */
static inline void ck_heap_free(void *pointer)
{
    void *taken;
    memcpy(&taken, pointer, sizeof taken);
    free(taken);
}

#endif
