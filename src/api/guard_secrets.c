/*
 * guard_secrets.c - the headers that the proxy adds for PROGRAM (docs/adr/0140).
 *
 * Must not let a value leave: it is read into protected memory, and no message, record or event has
 * more than the host and the name of the header.
 */
#include "api/guard.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/quote.h"
#include "egress/authorities.h"
#include "policy/secret.h"
#include "run/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (CK_HOST_SECRET_VALUE_MAX + 2) /* a line break, and a byte that is too much */
#define AUTHORITIES_MAX_BYTES ((size_t)4 * 1024 * 1024)

/* Where systems have their authorities; the first one that exists. */
static const char *const system_authorities[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Alpine, Arch */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/ssl/cert.pem",
};

/* ---- the option -------------------------------------------------------------------------- */

static int refuse_option(const struct ck_host_secret *parsed, const char *text, const char *reason,
                         struct choke_error *error)
{
    char what[CK_HOSTNAME_MAX + CK_HOST_SECRET_NAME_MAX + 64];
    /* Someone may have written the secret itself: the text is shown only as far as it was understood. */
    if (parsed->host.text[0] != '\0')
        (void)snprintf(what, sizeof(what), "the secret for '%s'", parsed->host.text);
    else
        (void)snprintf(what, sizeof(what), "the secret '%.*s'", (int)strcspn(text, ",="), CK_QUOTE(text));
    return ck_error_set(error, CHOKE_INVALID, EINVAL, "%s is not valid: it %s", what, reason);
}

/* A secret opens nothing: the policy lists the host, and the caller asked for it. */
static int check_host(const struct choke_guard *guard, const struct ck_host_secret *parsed, struct choke_error *error)
{
    struct ck_destination wanted = {.kind = CK_DESTINATION_HOST, .port = parsed->port};
    memcpy(wanted.name, parsed->host.text, sizeof(wanted.name));
    for (size_t i = 0; i < guard->cage.egress_count; i++)
        if (ck_destination_covers(&guard->cage.egress[i], &wanted))
            return 0;
    return ck_error_set(error, CHOKE_DISALLOWED, EPERM,
                        "'%s:%u' has a secret, but is not one of the hosts that the program may reach; it must be in "
                        "'egress' of the profile, and among --egress if that is given",
                        parsed->host.text, parsed->port);
}

/* A relative path is taken from the working directory of the caller. */
static const char *make_absolute(struct choke_guard *guard, const char *path)
{
    char directory[PATH_MAX];
    if (path[0] == '/')
        return ck_arena_strdup(&guard->arena, path);
    if (!getcwd(directory, sizeof(directory)))
        return NULL;
    return ck_arena_printf(&guard->arena, "%s/%s", directory, path);
}

/* ---- files ------------------------------------------------------------------------------- */

static void list_places(const struct choke_guard *guard, struct ck_identity places[CK_GUARD_WRITABLE_MAX])
{
    for (size_t i = 0; i < guard->writable_count; i++)
        places[i] = (struct ck_identity){.device = (dev_t)guard->directories[i].device,
                                         .inode = (ino_t)guard->directories[i].inode};
}

/* Reads the value into protected memory and adds it. */
static int read_value(struct choke_guard *guard, const struct ck_host_secret *parsed, const struct ck_secret_file *file,
                      int fd, struct choke_error *error)
{
    const char *reason = NULL;
    char *value = ck_host_secret_memory(FILE_MAX);
    if (!value)
        return ck_error_oom(error);
    long length = ck_fd_read_all(fd, value, FILE_MAX);
    size_t line = length > 0 ? (size_t)length : 0;
    if (line > 0 && value[line - 1] == '\n')
        line--;
    int r = length < 0 ? (int)length : ck_host_secrets_add(guard->secrets, parsed, value, line, &reason);
    ck_host_secret_memory_done(value);
    if (reason)
        return ck_secret_file_refuse(file, EINVAL, reason, error);
    return r < 0 ? ck_secret_file_refuse(file, -r, strerror(-r), error) : 0;
}

static int take(struct choke_guard *guard, const char *text, const char **ret_path, struct choke_error *error)
{
    struct ck_host_secret parsed;
    const char *name, *reason;
    CK_FD fd = -1;
    if (ck_host_secret_parse(text, &parsed, &name, &reason) < 0)
        return refuse_option(&parsed, text, reason, error);
    if (ck_secret_kind(name))
        return refuse_option(&parsed, text, "has what looks like a credential where the name of its file must be",
                             error);
    int r = check_host(guard, &parsed, error);
    if (r < 0)
        return r;
    /* The value itself, in place of its file, has seldom a '/' and must not end in a log. */
    if (!strchr(name, '/') && faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
        return refuse_option(&parsed, text,
                             "names a file that does not exist; the name is not repeated here, because it may be the "
                             "secret itself (a file is named as ./FILE or by its path)",
                             error);
    *ret_path = make_absolute(guard, name);
    if (!*ret_path)
        return ck_error_oom(error);
    struct ck_identity places[CK_GUARD_WRITABLE_MAX];
    list_places(guard, places);
    const struct ck_secret_file file = {.path = *ret_path,
                                        .what = "a secret",
                                        .fault = CHOKE_INVALID,
                                        .root = guard->root_identity,
                                        .places = places,
                                        .places_count = guard->writable_count,
                                        .single_link = true};
    r = ck_secret_file_open(&file, &fd, error);
    return r < 0 ? r : read_value(guard, &parsed, &file, fd, error);
}

/* ---- authorities ------------------------------------------------------------------------- */

static int refuse_authorities(const char *path, int errnum, const char *why, struct choke_error *error)
{
    return ck_error_set(error, CHOKE_INVALID, errnum, "the file '%s' with authorities for hosts with a secret %s",
                        CK_QUOTE(path), why);
}

static int check_authorities(const struct choke_guard *guard, const struct ck_trusted *trusted, const char *path,
                             struct choke_error *error)
{
    struct ck_identity places[CK_GUARD_WRITABLE_MAX];
    list_places(guard, places);
    bool inside = ck_trust_passes(trusted, guard->root_identity);
    for (size_t i = 0; i < guard->writable_count; i++)
        inside = inside || ck_trust_passes(trusted, places[i]);
    if (inside)
        return refuse_authorities(path, EPERM, "is inside the root, or another directory that the program can write",
                                  error);
    if (!S_ISREG(trusted->status.st_mode))
        return refuse_authorities(path, EINVAL, "is not a regular file", error);
    if ((trusted->status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refuse_authorities(path, EPERM, "may be written by group or others", error);
    return 0;
}

/* On a path that nobody else can change: who can choose the authority can read the secrets. */
static int read_authorities(struct choke_guard *guard, const char *path, struct choke_error *error)
{
    __attribute__((cleanup(ck_trust_done))) struct ck_trusted trusted;
    char *pem = NULL;
    size_t length = 0;
    int r = ck_trust_walk(path, &trusted, error);
    if (r == -EPERM && error->message[0] != '\0') {
        error->outcome = CHOKE_INVALID;
        return r;
    }
    if (r == 0)
        r = check_authorities(guard, &trusted, path, error);
    if (r < 0)
        return error->message[0] != '\0' ? r : refuse_authorities(path, -r, strerror(-r), error);
    r = ck_file_read(trusted.parent_fd, trusted.name, O_NOFOLLOW, AUTHORITIES_MAX_BYTES, &pem, &length);
    if (r == 0)
        r = ck_authorities_read(pem, length, &guard->secrets->authorities);
    free(pem);
    return r == 0 ? 0 : refuse_authorities(path, -r, r == -EINVAL ? "has no certificate in PEM" : strerror(-r), error);
}

static int take_authorities(struct choke_guard *guard, const char *named, struct choke_error *error)
{
    const char *path = named ? make_absolute(guard, named) : NULL;
    if (named && !path)
        return ck_error_oom(error);
    for (size_t i = 0; !path && i < sizeof(system_authorities) / sizeof(*system_authorities); i++)
        if (access(system_authorities[i], F_OK) == 0)
            path = system_authorities[i];
    if (!path)
        return ck_error_set(error, CHOKE_INVALID, ENOENT,
                            "this system has no file of authorities (%s), which a secret needs; name one with "
                            "--secret-ca",
                            system_authorities[0]);
    return read_authorities(guard, path, error);
}

/* ---- all --------------------------------------------------------------------------------- */

static int describe(struct choke_guard *guard, struct choke_error *error)
{
    const struct ck_host_secrets *secrets = guard->secrets;
    const char **names = ck_arena_array(&guard->arena, secrets->count + 1, sizeof(*names));
    for (size_t i = 0; names && i < secrets->count; i++) {
        const struct ck_host_secret *secret = &secrets->items[i];
        names[i] = ck_arena_printf(&guard->arena, "%s:%u,%s", secret->host.text, secret->port, secret->name);
        if (!names[i])
            names = NULL;
    }
    guard->record.secrets = names;
    return !names ? ck_error_oom(error) : 0;
}

int ck_guard_secrets_take(struct choke_guard *guard, const struct choke_guard_request *request,
                          struct choke_error *error)
{
    size_t count = 0;
    while (request->secrets && request->secrets[count])
        count++;
    if (count == 0)
        return !request->secret_ca ? 0
                                   : ck_error_set(error, CHOKE_INVALID, EINVAL,
                                                  "authorities are named (--secret-ca), and no secret (--secret)");
    const char **files = ck_arena_array(&guard->arena, count + 1, sizeof(*files));
    guard->secrets = ck_host_secrets_new();
    if (!guard->secrets || !files)
        return ck_error_oom(error);
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = take(guard, request->secrets[i], &files[i], error);
    if (r == 0)
        r = take_authorities(guard, request->secret_ca, error);
    if (r == 0)
        r = describe(guard, error);
    guard->context->secret_files = files;
    return r;
}
