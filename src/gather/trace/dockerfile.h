/*
 * dockerfile.h - a Dockerfile in other words, in which nothing has a name that a daemon could fetch. Pure.
 *
 * The builder has no option that forbids fetching, and whoever wrote the Dockerfile chose the names. So what is built is not
 * that file but one that is written here from it, instruction by instruction, a line each:
 *
 *   - what FROM and COPY --from name is the whole id of an image, a stage of this file by a name or a number given here, or
 *     "scratch". 64 hexadecimal digits are no name of a repository, and neither is the name of a stage: it ends in a dash.
 *   - ADD has no colon, no variable and no escape, so no address.
 *   - no line goes on in the next, none is a comment or a directive, and none is ONBUILD.
 *
 * It depends on this text, and not on how the file is read here, that nothing is fetched. Where the file has something that
 * cannot be put so, it is not built, and the reason is said. Which image a name means says the daemon, by `docker image
 * inspect`, which asks the same as the builder would.
 */
#ifndef CK_GATHER_TRACE_DOCKERFILE_H
#define CK_GATHER_TRACE_DOCKERFILE_H

#include <stdbool.h>
#include <stddef.h>

#define CK_DOCKERFILE_MAX ((size_t)1 << 20)
#define CK_DOCKERFILE_NAME_MAX 256
#define CK_DOCKERFILE_NAMES_MAX 64
#define CK_DOCKERFILE_ID_DIGITS 64

struct ck_dockerfile;

/* NULL, and the reason, where it is not to be built; or where memory ran out. */
struct ck_dockerfile *ck_dockerfile_read(const char *text, size_t length, char ret_reason[CK_DOCKERFILE_NAME_MAX]);
void ck_dockerfile_free(struct ck_dockerfile *dockerfile); /* NULL is fine */

/* The names of images in it, each once; NULL behind the last. Letters, digits and "._/:@-", the first no dash. */
const char *const *ck_dockerfile_names(const struct ck_dockerfile *dockerfile);

/*
 * The text to be built. ids: for each name what it means, CK_DOCKERFILE_ID_DIGITS lower-case hexadecimal digits. The caller
 * frees it; NULL: out of memory, or something is no id.
 */
char *ck_dockerfile_write(const struct ck_dockerfile *dockerfile, const char *const *ids);

#endif
