/* build.c - reads a Dockerfile and writes the one that is built; see build.h. */
#include "gather/trace/build.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID_PREFIX "sha256:" /* of docker's image ids */

void ck_trace_build_init(struct ck_trace_build *build)
{
    *build = (struct ck_trace_build){.fd = -1};
}

/* May be called again, and after init only. */
void ck_trace_build_done(struct ck_trace_build *build)
{
    ck_fd_close(&build->fd);
    ck_dockerfile_free(build->dockerfile);
    ck_trace_build_init(build);
}

/* ---- the Dockerfile ---- */

/*
 * Follows no symlink, as the walk that found the file. One byte more than allowed shows the parser
 * that the file is too long.
 */
static long read_beneath(const char *root, const char *path, char text[CK_DOCKERFILE_MAX + 1])
{
    CK_FD root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        return -errno;
    CK_FD fd =
        ck_file_resolve(root_fd, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    return fd < 0 ? fd : ck_fd_read_all(fd, text, CK_DOCKERFILE_MAX + 1);
}

/* The Dockerfile is parsed here, before the daemon is asked: it says which images to ask for. */
int ck_trace_build_read(struct ck_trace_build *build, const char *root, const char *path, struct choke_error *error)
{
    char reason[CK_DOCKERFILE_NAME_MAX];
    CK_HEAP char *text = ck_heap_own(malloc(CK_DOCKERFILE_MAX + 1));
    long length = text ? read_beneath(root, path, text) : -ENOMEM;
    if (length < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "cannot read the Dockerfile: %s",
                            strerror((int)-length));
    /* NULL, or that of an earlier call. */
    ck_dockerfile_free(build->dockerfile);
    build->dockerfile = ck_dockerfile_read(text, (size_t)length, reason);
    return build->dockerfile
               ? 0
               : ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "the Dockerfile is not built: %s", reason);
}

/* ---- the images ---- */

/* The line of one image: its id, and its ONBUILD instructions. */
static int take_base(const char *line, size_t length, const char *name, char ret_id[CK_DOCKERFILE_ID_DIGITS + 1],
                     struct choke_error *error)
{
    /* "sha256:", 64 digits, a space, and the ONBUILD instructions as JSON. */
    size_t prefix = strlen(ID_PREFIX), id = prefix + CK_DOCKERFILE_ID_DIGITS;
    if (length <= id || memcmp(line, ID_PREFIX, prefix) != 0 || line[id] != ' ')
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "cannot parse docker's output about the image '%s'",
                            name);
    memcpy(ret_id, line + prefix, CK_DOCKERFILE_ID_DIGITS);
    ret_id[CK_DOCKERFILE_ID_DIGITS] = '\0';
    const char *orders = line + id + 1;
    size_t left = length - id - 1;
    /* Templates of docker print an absent list as "", "[]" or "null". */
    bool none =
        left == 0 || (left == 2 && memcmp(orders, "[]", 2) == 0) || (left == 4 && memcmp(orders, "null", 4) == 0);
    return none ? 0
                : ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL,
                               "the image '%s' adds instructions to builds on it (ONBUILD)", name);
}

/* docker prints one line for each local image, in the order of the names. */
static int take_bases(const struct ck_answer *bases, const char *const *names,
                      char ids[CK_DOCKERFILE_NAMES_MAX][CK_DOCKERFILE_ID_DIGITS + 1], struct choke_error *error)
{
    if (!bases)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL,
                            "the images that the Dockerfile names were not looked up");
    const char *at = bases->out, *end = bases->out + bases->out_length;
    size_t said = 0;
    /* Only the first line of docker's message, and only printable bytes. */
    while (said < bases->err_length && (unsigned char)bases->err[said] >= ' ')
        said++;
    if (bases->exit_code != 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL,
                            "the build would fetch an image that is not on this machine: %.*s",
                            (int)(said < 300 ? said : 300), bases->err);
    for (size_t i = 0; names[i]; i++) {
        const char *line_end = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (!line_end)
            return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "cannot parse docker's output about the image '%s'",
                                names[i]);
        int r = take_base(at, (size_t)(line_end - at), names[i], ids[i], error);
        if (r < 0)
            return r;
        at = line_end + 1;
    }
    /* One line per name and nothing else: otherwise ids and names would not fit together. */
    return at == end ? 0
                     : ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "docker lists more images than were asked for");
}

/* A sealed memfd: the builder reads exactly this text, and nothing can change it. */
int ck_trace_build_write(struct ck_trace_build *build, const struct ck_answer *bases, struct choke_error *error)
{
    char ids[CK_DOCKERFILE_NAMES_MAX][CK_DOCKERFILE_ID_DIGITS + 1];
    const char *by_name[CK_DOCKERFILE_NAMES_MAX];
    if (!build->dockerfile || build->fd >= 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "the Dockerfile was not read");
    int r = take_bases(bases, ck_dockerfile_names(build->dockerfile), ids, error);
    if (r < 0)
        return r;
    /* Only the first ids are set; ck_dockerfile_write reads one per name. */
    for (size_t i = 0; i < CK_DOCKERFILE_NAMES_MAX; i++)
        by_name[i] = ids[i];
    char *text = ck_dockerfile_write(build->dockerfile, by_name);
    if (!text)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "out of memory for the Dockerfile");
    build->fd = ck_sealed_write("Dockerfile", CK_SEALED_DATA, text, strlen(text));
    free(text);
    return build->fd >= 0 ? 0
                          : ck_error_set(error, CHOKE_SPAWN_FAILED, EINVAL, "cannot write the Dockerfile: %s",
                                         strerror(-build->fd));
}
