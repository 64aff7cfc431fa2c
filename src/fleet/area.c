/* area.c - see area.h. */
#include "fleet/area.h"

#include "base/atomic_file.h"
#include "base/base64.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/json.h"
#include "front/jansson.h"
#include "front/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FORMAT 1
#define INDEX_BYTES_MAX ((size_t)512 << 20)
#define FLEET_BYTES_MAX ((size_t)1 << 20)
#define FILE_NAME_SIZE (CK_FLEET_NAME_SIZE + 8)

static int fail(const struct ck_fleet_area *area, const char *what, int r, struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, -r, "%s '%s': %s", what, CK_TEXT_SAFE(area->path), strerror(-r));
}

static int out_of_memory(struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
}

static const char *file_name(char dst[FILE_NAME_SIZE], const char *name)
{
    (void)snprintf(dst, FILE_NAME_SIZE, "%s.json", name);
    return dst;
}

/* Their members in fleet.json are digests. */
static const struct {
    const char *name, *key, *what;
} files[CK_FLEET_FILES] = {
    [CK_FLEET_FILE_POLICY] = {"policy.yaml", "policy_digest", "another policy (--policy)"},
    [CK_FLEET_FILE_PROBES] = {"probes.yaml", "probes_digest", "another file of probes (--probes)"},
};

/* ---- files ---- */

/* NULL: it is missing, or not an object. *ret_errno says which. */
static json_t *read_object(int directory_fd, const char *name, size_t max_bytes, int *ret_r)
{
    CK_HEAP char *text = NULL;
    size_t length = 0;
    json_error_t fault;

    *ret_r = ck_file_read(directory_fd, name, O_NOFOLLOW, max_bytes, &text, &length);
    if (*ret_r < 0)
        return NULL;
    json_t *value = ck_json_is_deep(text, length) ? NULL : json_loadb(text, length, JSON_ALLOW_NUL, &fault);
    if (json_is_object(value))
        return value;
    json_decref(value);
    *ret_r = -EINVAL;
    return NULL;
}

/* As gather writes its document, so that the bytes are the same. */
static int write_object(int directory_fd, const char *name, const json_t *value)
{
    struct ck_atomic_file file;
    int r = ck_atomic_file_begin(&file, directory_fd, name, 0600);

    if (r < 0)
        return r;
    struct ck_outlet outlet = CK_OUTLET(file.fd);
    ck_jansson_write(&outlet, value);
    r = -outlet.error;
    if (r == 0)
        return ck_atomic_file_commit(&file);
    ck_atomic_file_drop(&file);
    return r;
}

static bool exists(int directory_fd, const char *name)
{
    char file[FILE_NAME_SIZE];
    return faccessat(directory_fd, file_name(file, name), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- opening ---- */

static int open_directory(struct ck_fleet_area *area, const char *path, struct choke_error *error)
{
    struct stat status;

    /* For messages, until it is resolved. */
    (void)snprintf(area->path, sizeof(area->path), "%s", path);
    area->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (area->fd < 0 || fstat(area->fd, &status) < 0)
        return fail(area, "cannot open the directory of the fleet", -errno, error);
    if (!realpath(path, area->path))
        return fail(area, "cannot resolve the directory of the fleet", -errno, error);
    if (status.st_uid != geteuid())
        return ck_text_error(error, CHOKE_INVALID, EPERM,
                             "'%s' belongs to another user; a fleet is run by one user, so take another directory",
                             CK_TEXT_SAFE(path));
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return ck_text_error(error, CHOKE_INVALID, EPERM,
                             "others may write '%s', and what is in it decides what is run: chmod go-w it",
                             CK_TEXT_SAFE(path));
    return 0;
}

static int open_below(const struct ck_fleet_area *area, const char *name, bool make, int *ret_fd,
                      struct choke_error *error)
{
    if (make && mkdirat(area->fd, name, 0700) < 0 && errno != EEXIST)
        return fail(area, "cannot make a directory in", -errno, error);
    *ret_fd = openat(area->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *ret_fd >= 0 ? 0 : fail(area, "cannot open a directory in", -errno, error);
}

static int open_all(struct ck_fleet_area *area, bool make, struct choke_error *error)
{
    int r = open_below(area, "documents", make, &area->documents_fd, error);
    if (r == 0)
        r = open_below(area, "failed", make, &area->failed_fd, error);
    if (r == 0)
        r = open_below(area, "claims", make, &area->claims_fd, error);
    return r;
}

static int read_about(struct ck_fleet_area *area, struct choke_error *error)
{
    int r;

    area->about = read_object(area->fd, "fleet.json", FLEET_BYTES_MAX, &r);
    if (r == -ENOENT)
        return ck_text_error(error, CHOKE_INVALID, ENOENT, "'%s' has no fleet.json: it is not the directory of a fleet",
                             CK_TEXT_SAFE(area->path));
    const char *id = json_string_value(json_object_get(area->about, "id"));
    if (!id || strlen(id) != CK_FLEET_ID_SIZE - 1 || strspn(id, "0123456789abcdef") != strlen(id) ||
        json_integer_value(json_object_get(area->about, "format")) != FORMAT)
        return ck_text_error(error, CHOKE_INVALID, EINVAL,
                             "'%s/fleet.json' is damaged, or of a later version of chokepoint",
                             CK_TEXT_SAFE(area->path));
    (void)snprintf(area->id, sizeof(area->id), "%s", id);
    return 0;
}

int ck_fleet_area_open(struct ck_fleet_area *area, const char *path, struct choke_error *error)
{
    *area = CK_FLEET_AREA_NONE;
    int r = open_directory(area, path, error);
    if (r == 0)
        r = read_about(area, error);
    return r < 0 ? r : open_all(area, false, error);
}

void ck_fleet_area_done(struct ck_fleet_area *area)
{
    json_decref(area->about);
    ck_fd_close(&area->claims_fd);
    ck_fd_close(&area->failed_fd);
    ck_fd_close(&area->documents_fd);
    ck_fd_close(&area->fd);
    *area = CK_FLEET_AREA_NONE;
}

/* ---- making ---- */

static json_t *make_about(const struct ck_fleet_settings *settings, struct choke_error *error)
{
    char begun[32], id[CK_FLEET_ID_SIZE];
    uint64_t number = 0;
    time_t now = time(NULL);
    struct tm parts;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number)) {
        (void)ck_text_error(error, CHOKE_INVALID, errno, "cannot get random bytes: %s", strerror(errno));
        return NULL;
    }
    (void)snprintf(id, sizeof(id), "%016llx", (unsigned long long)number);
    if (!gmtime_r(&now, &parts) || strftime(begun, sizeof(begun), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        begun[0] = '\0';
    json_t *about = json_pack("{s:i, s:s, s:s, s:s, s:o}", "format", FORMAT, "id", id, "begun", begun, "chokepoint",
                              choke_version(), "only", settings->only ? ck_jansson_list(settings->only) : json_null());
    for (size_t i = 0; about && i < CK_FLEET_FILES; i++) {
        char digest[CK_FINGERPRINT_SIZE];
        if (settings->texts[i])
            ck_fingerprint_make(digest, &settings->texts[i], 1);
        (void)json_object_set_new(about, files[i].key, settings->texts[i] ? json_string(digest) : json_null());
    }
    if (!about)
        (void)out_of_memory(error);
    return about;
}

/*
 * Of two that start at once one makes it: a link is only made where none is. The file is whole
 * before it gets its name.
 */
static int write_about(const struct ck_fleet_area *area, const json_t *about)
{
    char name[32];

    (void)snprintf(name, sizeof(name), ".fleet-%d", (int)getpid());
    int r = write_object(area->fd, name, about);
    if (r == 0 && linkat(area->fd, name, area->fd, "fleet.json", 0) < 0 && errno != EEXIST)
        r = -errno;
    (void)unlinkat(area->fd, name, 0);
    return r;
}

static bool is_same(const json_t *about, const json_t *wanted, const char *key)
{
    return json_equal(json_object_get(about, key), json_object_get(wanted, key)) == 1;
}

static int check_settings(const struct ck_fleet_area *area, const json_t *wanted, struct choke_error *error)
{
    const char *other = is_same(area->about, wanted, "only") ? NULL : "other probes (--only)";

    for (size_t i = 0; i < CK_FLEET_FILES; i++)
        if (!is_same(area->about, wanted, files[i].key))
            other = files[i].what;
    if (!other)
        return 0;
    return ck_text_error(error, CHOKE_INVALID, EEXIST,
                         "'%s' has a fleet with %s: take another directory, or the same options",
                         CK_TEXT_SAFE(area->path), other);
}

/* An earlier start may have ended in the middle. */
static bool is_own_name(const char *name)
{
    static const char *const own[] = {"documents", "failed", "claims", "slurm", "fleet.json"};

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    for (size_t i = 0; i < CK_FLEET_FILES; i++)
        if (strcmp(name, files[i].name) == 0)
            return true;
    return false;
}

/* A directory with other files in it is not taken: it could be a repository. */
static int check_empty(const struct ck_fleet_area *area, struct choke_error *error)
{
    CK_FD fd = openat(area->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(dup(fd));
    const struct dirent *entry;
    bool is_empty = directory;

    while (directory && is_empty && (entry = readdir(directory)))
        is_empty = entry->d_name[0] == '.' || is_own_name(entry->d_name);
    if (directory)
        (void)closedir(directory);
    return is_empty ? 0
                    : ck_text_error(error, CHOKE_INVALID, EEXIST,
                                    "'%s' has other files in it and is not the directory of a fleet",
                                    CK_TEXT_SAFE(area->path));
}

static int make_files(struct ck_fleet_area *area, const struct ck_fleet_settings *settings, const json_t *wanted,
                      struct choke_error *error)
{
    bool is_new = faccessat(area->fd, "fleet.json", F_OK, AT_SYMLINK_NOFOLLOW) < 0;
    int r = is_new ? check_empty(area, error) : 0;

    if (r == 0)
        r = open_all(area, true, error);
    /* Before fleet.json: what that says is there. */
    for (size_t i = 0; r == 0 && is_new && i < CK_FLEET_FILES; i++) {
        const char *text = settings->texts[i];
        if (text && (r = ck_atomic_file_write(area->fd, files[i].name, 0600, text, strlen(text))) < 0)
            return fail(area, "cannot write to", r, error);
    }
    if (r == 0 && is_new && (r = write_about(area, wanted)) < 0)
        return fail(area, "cannot write to", r, error);
    if (r == 0)
        r = read_about(area, error);
    return r < 0 ? r : check_settings(area, wanted, error);
}

int ck_fleet_area_make(struct ck_fleet_area *area, const char *path, const struct ck_fleet_settings *settings,
                       struct choke_error *error)
{
    *area = CK_FLEET_AREA_NONE;
    (void)snprintf(area->path, sizeof(area->path), "%s", path);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return fail(area, "cannot make the directory of the fleet", -errno, error);
    int r = open_directory(area, path, error);
    if (r < 0)
        return r;
    if (faccessat(area->fd, ".", W_OK, AT_EACCESS) < 0)
        return fail(area, "cannot write to", -errno, error);
    json_t *wanted = make_about(settings, error);
    r = wanted ? make_files(area, settings, wanted, error) : -ENOMEM;
    json_decref(wanted);
    return r;
}

int ck_fleet_area_only(const struct ck_fleet_area *area, const char ***ret_only, struct choke_error *error)
{
    const json_t *only = json_object_get(area->about, "only");
    const char **names = json_is_array(only) ? calloc(json_array_size(only) + 1, sizeof(*names)) : NULL;

    *ret_only = names;
    if (!json_is_array(only))
        return 0;
    if (!names)
        return out_of_memory(error);
    for (size_t i = 0; i < json_array_size(only); i++) {
        names[i] = json_string_value(json_array_get(only, i));
        if (!names[i])
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "'%s/fleet.json' is damaged", CK_TEXT_SAFE(area->path));
    }
    return 0;
}

const char *ck_fleet_area_file(const struct ck_fleet_area *area, enum ck_fleet_file file, char dst[PATH_MAX])
{
    if (!json_is_string(json_object_get(area->about, files[file].key)))
        return NULL;
    int length = snprintf(dst, PATH_MAX, "%s/%s", area->path, files[file].name);
    return length > 0 && length < PATH_MAX ? dst : "/nonexistent";
}

/* ---- the index ---- */

static bool has_result(const struct ck_fleet_area *area, const char *name)
{
    return ck_fleet_area_has_document(area, name) || ck_fleet_area_has_failed(area, name);
}

/* An entry that is not in the list any more stays only with its result. */
static void drop_pending(const struct ck_fleet_area *area, json_t *repositories)
{
    const char *name;
    void *next;
    json_t *value;

    json_object_foreach_safe(repositories, next, name, value)
    {
        if (!ck_fleet_name_is_valid(name) || !has_result(area, name))
            (void)json_object_del(repositories, name);
    }
}

static json_t *read_index(const struct ck_fleet_area *area)
{
    int r;
    json_t *index = read_object(area->fd, "index.json", INDEX_BYTES_MAX, &r);
    json_t *repositories = json_object_get(index, "repositories");

    if (json_is_object(repositories))
        json_incref(repositories);
    else
        repositories = NULL;
    json_decref(index);
    return repositories;
}

/* *ret_changed: something was not there, or was damaged. */
static bool add_list(json_t *repositories, const struct ck_fleet_list *list, bool *ret_changed)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct ck_fleet_entry *entry = &list->items[i];
        json_t *value = json_object();
        bool bad = json_object_set_new(value, entry->is_url ? "url" : "path", ck_jansson_bytes(entry->where)) < 0;
        if (!bad && !json_equal(value, json_object_get(repositories, entry->name))) {
            bad = json_object_set(repositories, entry->name, value) < 0;
            *ret_changed = true;
        }
        json_decref(value);
        if (bad)
            return false;
    }
    return true;
}

int ck_fleet_area_index(const struct ck_fleet_area *area, const struct ck_fleet_list *list, bool keep,
                        struct choke_error *error)
{
    json_t *repositories = read_index(area);
    bool changed = !repositories;
    int r = 0;

    if (!repositories)
        repositories = json_object();
    size_t before = json_object_size(repositories);
    if (!keep)
        drop_pending(area, repositories);
    changed = changed || json_object_size(repositories) != before;
    json_t *index = repositories && add_list(repositories, list, &changed)
                        ? json_pack("{s:i, s:O}", "format", FORMAT, "repositories", repositories)
                        : NULL;
    if (changed || !index)
        r = index ? write_object(area->fd, "index.json", index) : -ENOMEM;
    json_decref(index);
    json_decref(repositories);
    return r == 0 ? 0 : fail(area, "cannot write the index of", r, error);
}

/* The text that ck_jansson_bytes wrote; NULL: damaged, or out of memory. */
static char *text_of(const json_t *value)
{
    const char *base64 = json_string_value(json_object_get(value, "base64"));

    if (json_is_string(value))
        return strdup(json_string_value(value));
    if (!base64)
        return NULL;
    size_t length = 0;
    char *bytes = malloc(strlen(base64) + 1);
    if (bytes && ck_base64_decode(bytes, &length, base64, strlen(base64))) {
        bytes[length] = '\0';
        return bytes;
    }
    free(bytes);
    return NULL;
}

int ck_fleet_area_list(const struct ck_fleet_area *area, struct ck_fleet_list *ret_list, struct choke_error *error)
{
    json_t *repositories = read_index(area);
    const char *name;
    json_t *value;
    int r = 0;

    *ret_list = (struct ck_fleet_list){0};
    json_object_foreach(repositories, name, value)
    {
        const json_t *url = json_object_get(value, "url");
        char *where = text_of(url ? url : json_object_get(value, "path"));
        if (r == 0 && (!where || !ck_fleet_name_is_valid(name)))
            r = -EINVAL;
        if (r == 0)
            r = ck_fleet_list_add(ret_list, where, url);
        else
            free(where);
        /* A name is made of the place, so a wrong one is damage. */
        if (r == 0 && strcmp(ret_list->items[ret_list->count - 1].name, name) != 0)
            r = -EINVAL;
    }
    r = repositories ? r : -ENOENT;
    json_decref(repositories);
    return r == 0 ? 0 : fail(area, "cannot read index.json of", r, error);
}

/* ---- results ---- */

bool ck_fleet_area_has_document(const struct ck_fleet_area *area, const char *name)
{
    return exists(area->documents_fd, name);
}

bool ck_fleet_area_has_failed(const struct ck_fleet_area *area, const char *name)
{
    return exists(area->failed_fd, name);
}

json_t *ck_fleet_area_failure(const struct ck_fleet_area *area, const char *name)
{
    char file[FILE_NAME_SIZE];
    int r;
    return read_object(area->failed_fd, file_name(file, name), FLEET_BYTES_MAX, &r);
}

int ck_fleet_area_write_document(const struct ck_fleet_area *area, const char *name, const json_t *document)
{
    char file[FILE_NAME_SIZE];
    int r = write_object(area->documents_fd, file_name(file, name), document);

    if (r == 0)
        (void)unlinkat(area->failed_fd, file, 0);
    return r;
}

int ck_fleet_area_write_failure(const struct ck_fleet_area *area, const struct ck_fleet_entry *entry, const char *stage,
                                const char *message)
{
    char file[FILE_NAME_SIZE], at[32] = "";
    time_t now = time(NULL);
    struct tm parts;

    if (gmtime_r(&now, &parts))
        (void)strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", &parts);
    json_t *failure = json_pack("{s:o, s:s, s:o, s:s}", entry->is_url ? "url" : "path", ck_jansson_bytes(entry->where),
                                "stage", stage, "message", ck_jansson_text(message), "at", at);
    int r = failure ? write_object(area->failed_fd, file_name(file, entry->name), failure) : -ENOMEM;
    json_decref(failure);
    return r;
}

void ck_fleet_area_drop_failure(const struct ck_fleet_area *area, const char *name)
{
    char file[FILE_NAME_SIZE];
    (void)unlinkat(area->failed_fd, file_name(file, name), 0);
}

/* ---- tidying ---- */

static int is_half(const struct dirent *entry)
{
    return strncmp(entry->d_name, ".chokepoint-", strlen(".chokepoint-")) == 0;
}

static int is_claim(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int list(int directory_fd, int (*wanted)(const struct dirent *), struct dirent ***ret_entries)
{
    *ret_entries = NULL;
    int count = scandirat(directory_fd, ".", ret_entries, wanted, NULL);
    return count < 0 ? 0 : count;
}

static void free_list(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

/*
 * The files are listed before the claims. Whoever writes a file has a claim before and after it, so if
 * there is no claim then, each file that was listed has its name by now, or nobody writes it.
 */
static void tidy(const struct ck_fleet_area *area, int directory_fd)
{
    struct dirent **halves, **claims;
    int count = list(directory_fd, is_half, &halves);
    int claimed = count > 0 ? list(area->claims_fd, is_claim, &claims) : 0;

    for (int i = 0; claimed == 0 && i < count; i++)
        (void)unlinkat(directory_fd, halves[i]->d_name, 0);
    if (count > 0)
        free_list(claims, claimed);
    free_list(halves, count);
}

void ck_fleet_area_tidy(const struct ck_fleet_area *area)
{
    tidy(area, area->documents_fd);
    tidy(area, area->failed_fd);
}

/* ---- cancelling ---- */

int ck_fleet_area_cancel(const struct ck_fleet_area *area, bool on)
{
    if (!on)
        return unlinkat(area->fd, "cancel", 0) == 0 || errno == ENOENT ? 0 : -errno;
    return ck_atomic_file_write(area->fd, "cancel", 0600, "", 0);
}

bool ck_fleet_area_is_cancelled(const struct ck_fleet_area *area)
{
    return faccessat(area->fd, "cancel", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}
