/*
 * dockerfile.h - what a build would have the daemon fetch. Pure.
 *
 * The builder has no option that forbids it, and whoever wrote the Dockerfile chose the address. So the file is read before
 * it is built, by somebody who must not be fooled: where two readings of a line are possible, both count. A line that begins
 * with FROM counts also where it may be the rest of the line before; a word that is split by the end of a line counts by
 * either of the marks that a Dockerfile can choose for that.
 */
#ifndef CK_GATHER_DOCKERFILE_H
#define CK_GATHER_DOCKERFILE_H

#include <stdbool.h>
#include <stddef.h>

#define CK_DOCKERFILE_MAX ((size_t)1 << 20)
#define CK_DOCKERFILE_NAME_MAX 256

/* An image that is wanted, "debian:12" or "debian@sha256:...", without what docker takes for granted. False: not here. */
typedef bool (*ck_dockerfile_fn)(void *data, const char *image);

/*
 * Asks for every image that FROM and COPY --from name, but for "scratch" and the file's own stages. False, and what would
 * be fetched in words, where one is not here, where ADD names an address, or where it cannot be told.
 */
bool ck_dockerfile_fetches_nothing(const char *text, size_t length, ck_dockerfile_fn is_here, void *data,
                                   char ret_words[CK_DOCKERFILE_NAME_MAX]);

/* The one spelling of an image's name: "docker.io/library/debian" is "debian:latest". False where it is none. */
bool ck_dockerfile_image(const char *name, size_t length, char ret_image[CK_DOCKERFILE_NAME_MAX]);

#endif
