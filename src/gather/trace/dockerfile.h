/*
 * dockerfile.h - rewrites a Dockerfile so that it names nothing that a daemon could fetch. Pure.
 *
 * The builder has no option that forbids fetching, and the author of the Dockerfile chose the
 * names. So the file itself is not built. A new one is written from it, instruction by instruction,
 * one line each:
 *
 *   - FROM and COPY --from name the whole id of an image, a stage of this file by a name or a
 *     number given here, or "scratch". 64 hexadecimal digits are not a valid name of a repository,
 *     and the name of a stage is not either: it ends in a dash.
 *   - ADD has no colon, no variable and no escape, so it has no URL.
 *   - no line continues in the next, none is a comment or a directive, and none is ONBUILD.
 *
 * That nothing is fetched depends on the new text only, not on how the old file is parsed here. A
 * file with something that cannot be written this way is not built, and the reason is reported. The
 * daemon says which image a name means, by `docker image inspect`: the builder would ask the same.
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

/* Returns NULL and the reason if the file must not be built, or when out of memory. */
struct ck_dockerfile *ck_dockerfile_read(const char *text, size_t length, char ret_reason[CK_DOCKERFILE_NAME_MAX]);
void ck_dockerfile_free(struct ck_dockerfile *dockerfile); /* NULL is fine */

/*
 * The names of images in it, each once; NULL-terminated. They have letters, digits and "._/:@-",
 * and do not begin with a dash.
 */
const char *const *ck_dockerfile_names(const struct ck_dockerfile *dockerfile);

/*
 * The text to build. ids has the id for each name: CK_DOCKERFILE_ID_DIGITS lower-case hexadecimal
 * digits. The caller frees the text. NULL: out of memory, or an id is not valid.
 */
char *ck_dockerfile_write(const struct ck_dockerfile *dockerfile, const char *const *ids);

#endif
