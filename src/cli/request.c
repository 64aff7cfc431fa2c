/*
 * request.c - builds a request from options. It handles what the library would read differently
 * from the command line: relative directories, and an output limit of 0.
 */
#include "cli/request.h"

#include "base/path.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct ck_choice ck_request_jails[] = {{"auto", CHOKE_JAIL_AUTO},
                                             {"native", CHOKE_JAIL_NATIVE},
                                             {"bwrap", CHOKE_JAIL_BWRAP},
                                             {"none", CHOKE_JAIL_NONE},
                                             {NULL, 0}};

static size_t output_cap(const struct ck_request_options *given)
{
    return given->max_output_bytes != CK_REQUEST_NOT_GIVEN ? given->max_output_bytes : CHOKE_DEFAULT_OUTPUT_BYTES;
}

static size_t head_bytes(const struct ck_request_options *given)
{
    return given->keep_head_bytes != CK_REQUEST_NOT_GIVEN ? given->keep_head_bytes : 0;
}

/* These checks need no file system, so that a mistake on the command line is found first. */
int ck_request_check(const struct ck_request_options *given, char *const *argv, struct choke_error *error)
{
    size_t cap = output_cap(given);

    /* The library would read 0 as its default. */
    if (cap < CHOKE_MIN_OUTPUT_BYTES)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--max-output is too small; give %zu bytes or more",
                             CHOKE_MIN_OUTPUT_BYTES);
    if (head_bytes(given) > cap - CHOKE_MIN_OUTPUT_BYTES)
        return ck_text_error(error, CHOKE_INVALID, EINVAL,
                             "--keep-head is too large for an output of %zu bytes; give %zu bytes or less", cap,
                             cap - CHOKE_MIN_OUTPUT_BYTES);
    if (!argv[0])
        return ck_text_error(error, CHOKE_INVALID, EINVAL,
                             "no tool is named; write '-- TOOL ARG...' after the options");
    return 0;
}

/* Relative to the current directory. Symlinks are kept. */
static int absolute_path(const char *path, char **ret_path, struct choke_error *error)
{
    if (path[0] == '/') {
        *ret_path = strdup(path);
        return *ret_path ? 0 : ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    }
    char *here = getcwd(NULL, 0);
    if (!here)
        return ck_text_error(error, CHOKE_CWD, errno, "cannot find the current directory: %s", strerror(errno));
    /* Without "/." at the end; here is passed on to the caller. */
    if (strcmp(path, ".") == 0) {
        *ret_path = here;
        return 0;
    }
    int length = asprintf(ret_path, "%s/%s", here, path);
    free(here);
    if (length >= 0)
        return 0;
    *ret_path = NULL;
    return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
}

/*
 * Is path, relative to the current directory, inside the root? This only decides what a relative
 * path refers to; the library makes the decision about access.
 */
static bool leads_beneath(const char *path, const char *root)
{
    /* NULL if it does not exist; then the answer is no. */
    char *resolved = realpath(path, NULL);
    char *real = realpath(root, NULL);
    bool beneath = resolved && real && ck_path_beneath(real, resolved);

    free(resolved);
    free(real);
    return beneath;
}

/*
 * Without --root the root is the directory itself, and "." names it through any symlinks. With
 * --root a relative directory refers to the current directory if that is inside the root, or if the
 * path leads into the root ("--root repo --cwd repo/src"). Else it refers to the root, as in the
 * library.
 */
static int set_directories(struct ck_request *request, const struct ck_request_options *given,
                           struct choke_error *error)
{
    const char *cwd = given->cwd ? given->cwd : ".";

    int r = absolute_path(given->root ? given->root : cwd, &request->root, error);
    if (r < 0)
        return r;
    request->request.root = request->root;
    request->request.cwd = ".";
    if (!given->root)
        return 0;
    if (cwd[0] != '/' && !leads_beneath(".", request->root) && !leads_beneath(cwd, request->root)) {
        request->request.cwd = cwd;
        return 0;
    }
    /* The library accepts an absolute directory if it is inside the root. */
    r = absolute_path(cwd, &request->cwd, error);
    request->request.cwd = request->cwd;
    return r;
}

/* The file was opened with O_NONBLOCK; a tool expects that its input blocks. */
static int set_blocking(int fd, struct choke_error *error)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return ck_text_error(error, CHOKE_NONE, errno, "cannot pass --stdin to the tool: %s", strerror(errno));
    return 0;
}

/*
 * Opens with O_NONBLOCK, because there is no deadline yet. A FIFO stays nonblocking for
 * ck_feed_begin.
 */
static int set_stdin(struct ck_request *request, const char *name, struct choke_error *error)
{
    struct stat status;

    if (!name)
        return 0;
    request->request.stdin_kind = CHOKE_STDIN_FD;
    /* Not owned, so request->stdin_fd stays -1 and nothing is closed. */
    if (strcmp(name, "-") == 0) {
        request->request.stdin_fd = STDIN_FILENO;
        return 0;
    }
    /* O_NOCTTY: a terminal must not become the controlling one. */
    request->stdin_fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (request->stdin_fd < 0 || fstat(request->stdin_fd, &status) < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "cannot open '%s' for --stdin: %s", CK_TEXT_SAFE(name),
                             strerror(errno));
    if (S_ISDIR(status.st_mode))
        return ck_text_error(error, CHOKE_INVALID, EISDIR, "'%s' for --stdin is a directory; name a file",
                             CK_TEXT_SAFE(name));
    request->stdin_is_fifo = S_ISFIFO(status.st_mode);
    request->request.stdin_fd = request->stdin_fd;
    return request->stdin_is_fifo ? 0 : set_blocking(request->stdin_fd, error);
}

int ck_request_build(struct ck_request *ret_request, const struct ck_request_options *given, char *const *argv,
                     struct choke_error *error)
{
    /* Set first: ck_request_done is called after a failure too. */
    *ret_request = (struct ck_request){.stdin_fd = -1};
    ret_request->request = (struct choke_request){
        .argv = (const char *const *)argv,
        .timeout_ms = given->timeout_ms,
        .probe = given->probe,
        .egress = given->egress.items,
        .env = given->env.items,
        .stdin_fd = -1,
        .max_output_bytes = output_cap(given),
        .jail = (enum choke_jail)given->jail,
        .require_jail = given->require_jail,
        .keep_path = given->keep,
        .struct_size = sizeof(struct choke_request),
        .overlay = given->overlay,
        .sandbox = given->sandbox,
        .keep_head_bytes = head_bytes(given),
    };
    int r = set_directories(ret_request, given, error);
    return r < 0 ? r : set_stdin(ret_request, given->stdin_name, error);
}

void ck_request_done(struct ck_request *request)
{
    if (request->stdin_fd >= 0)
        (void)close(request->stdin_fd);
    free(request->root);
    free(request->cwd);
    *request = (struct ck_request){.stdin_fd = -1};
}
