/*
 * looks.c - see looks.h. One document at a time is in memory as JSON; a look keeps what the report
 * shows of it.
 */
#include "report/looks.h"

#include "base/fd.h"
#include "base/file.h"
#include "front/json_file.h"
#include "front/text.h"
#include "report/compare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH_MAX 8 /* of directories */
#define INDEX_NAME "index.json"
#define FAILED_NAME "failed"

/* One directory while it is read. */
struct directory {
    const char *path;
    const json_t *index; /* "repositories" of the nearest index.json above; NULL: none */
    unsigned depth;
    int fd;
};

static int out_of_memory(struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
}

/* ---- one file ---- */

/* Returns 0, or a negative errno and why in words. */
static int load(const char *path, json_t **ret_value, time_t *ret_modified, char why[CK_TEXT_SAFE_MAX])
{
    struct ck_json_file file = {0};

    int r = ck_json_file_load(&file, AT_FDCWD, path, 0, CK_LOOKS_BYTES_MAX, why);
    if (r == 0)
        r = ck_json_file_parse(&file, why);
    *ret_modified = file.modified;
    *ret_value = json_incref(file.value);
    ck_json_file_done(&file);
    return r;
}

static int add_loss(struct ck_looks *looks, uint32_t name, uint32_t reason, struct choke_error *error)
{
    struct ck_looks_loss *grown = reallocarray(looks->losses, looks->loss_count + 1, sizeof(*grown));

    if (!grown)
        return out_of_memory(error);
    looks->losses = grown;
    grown[looks->loss_count++] = (struct ck_looks_loss){name, reason};
    return 0;
}

/* The repository that an entry of an index, or a failure of a fleet, names. */
static uint32_t repository_of(struct ck_looks *looks, const json_t *entry)
{
    const json_t *text = json_object_get(entry, "path");
    return ck_strings_json(&looks->strings, text ? text : json_object_get(entry, "url"), CK_STRINGS_LONG);
}

/* The entry of a file in the index, which is by names without the ending. */
static const json_t *entry_of(const json_t *index, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);

    return length > 5 ? json_object_getn(index, name, length - 5) : NULL;
}

static int add_look(struct ck_looks *looks, const char *path, const json_t *document, const json_t *entry,
                    time_t modified, struct choke_error *error)
{
    struct tm parts;

    if (looks->count == CK_LOOKS_MAX)
        return ck_text_error(error, CHOKE_INVALID, E2BIG, "there are more than %d documents", CK_LOOKS_MAX);
    /* Grown by doubling: a look is not small. */
    if ((looks->count & (looks->count - 1)) == 0) {
        size_t wanted = looks->count > 0 ? looks->count * 2 : 1;
        struct ck_look *grown = reallocarray(looks->items, wanted, sizeof(*grown));
        if (!grown)
            return out_of_memory(error);
        looks->items = grown;
    }
    struct ck_look *look = &looks->items[looks->count++];
    *look = (struct ck_look){.file = ck_strings_add(&looks->strings, path, strlen(path), CK_STRINGS_LONG)};
    if (gmtime_r(&modified, &parts))
        (void)strftime(look->date, sizeof(look->date), "%Y-%m-%dT%H:%M:%SZ", &parts);
    int r = ck_look_read(look, document, &looks->strings, error);
    look->name = repository_of(looks, entry);
    if (look->name == 0)
        look->name = look->root;
    return r;
}

/* named: by the caller, so it must be a document. */
static int read_file(struct ck_looks *looks, const char *path, const json_t *index, bool named,
                     struct choke_error *error)
{
    json_t *document = NULL;
    time_t modified = 0;
    char why[CK_TEXT_SAFE_MAX];
    struct choke_error fault = {0};

    int r = load(path, &document, &modified, why);
    if (r == 0 && !ck_look_is_document(document)) {
        (void)snprintf(why, sizeof(why), "it is not a document of 'chokepoint gather'");
        r = named ? -EINVAL : 1;
    } else if (r == 0) {
        r = add_look(looks, path, document, entry_of(index, path), modified, &fault);
        (void)snprintf(why, sizeof(why), "%.*s", (int)sizeof(why) - 1, fault.message);
        if (r < 0)
            ck_look_done(&looks->items[--looks->count]);
    }
    json_decref(document);
    if (r >= 0)
        return 0;
    if (named || r == -ENOMEM || r == -E2BIG)
        return ck_text_error(error, CHOKE_INVALID, -r, "cannot read '%s': %s", CK_TEXT_SAFE(path), why);
    uint32_t name = ck_strings_add(&looks->strings, path, strlen(path), CK_STRINGS_LONG);
    return add_loss(looks, name, ck_strings_add(&looks->strings, why, strlen(why), CK_STRINGS_SHORT), error);
}

/* A file of failed/ in a fleet: why a repository has no document. */
static int read_failure(struct ck_looks *looks, const char *path, struct choke_error *error)
{
    json_t *failure = NULL;
    time_t modified = 0;
    char why[CK_TEXT_SAFE_MAX];
    int r = 0;

    if (load(path, &failure, &modified, why) == 0 && json_is_string(json_object_get(failure, "message")))
        r = add_loss(looks, repository_of(looks, failure),
                     ck_strings_json(&looks->strings, json_object_get(failure, "message"), CK_STRINGS_SHORT), error);
    json_decref(failure);
    return r;
}

/* ---- directories ---- */

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Hidden names are those of files that are being written. */
static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool ends_in_json(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static int read_directory(struct ck_looks *looks, const struct directory *directory, struct choke_error *error);

static int read_entry(struct ck_looks *looks, const struct directory *directory, const struct dirent *entry,
                      struct choke_error *error)
{
    char path[PATH_MAX];
    const char *slash = strrchr(directory->path, '/');
    bool is_failed = strcmp(slash ? slash + 1 : directory->path, FAILED_NAME) == 0;
    int length = snprintf(path, sizeof(path), "%s/%s", directory->path, entry->d_name);
    unsigned char type = ck_file_type(directory->fd, entry);

    if (length < 0 || (size_t)length >= sizeof(path))
        return 0;
    if (type == DT_DIR) {
        const struct directory below = {path, directory->index, directory->depth + 1, -1};
        return below.depth < DEPTH_MAX ? read_directory(looks, &below, error) : 0;
    }
    if ((type != DT_REG && type != DT_LNK) || !ends_in_json(entry->d_name) || strcmp(entry->d_name, INDEX_NAME) == 0)
        return 0;
    if (is_failed && directory->index)
        return read_failure(looks, path, error);
    return read_file(looks, path, directory->index, false, error);
}

/* The index of a directory is for it and what is beneath it. */
static json_t *read_index(const struct directory *directory)
{
    char path[PATH_MAX];
    char why[CK_TEXT_SAFE_MAX];
    json_t *whole = NULL;
    time_t modified;

    int length = snprintf(path, sizeof(path), "%s/" INDEX_NAME, directory->path);
    if (length < 0 || (size_t)length >= sizeof(path) || load(path, &whole, &modified, why) < 0)
        return NULL;
    json_t *index = json_object_get(whole, "repositories");
    if (json_is_object(index))
        json_incref(index);
    else
        index = NULL;
    json_decref(whole);
    return index;
}

/* In the order of the names, so that the same directory makes the same report. */
static int read_directory(struct ck_looks *looks, const struct directory *directory, struct choke_error *error)
{
    struct dirent **entries = NULL;
    int r = 0;

    CK_FD fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int count = fd < 0 ? -1 : scandirat(fd, ".", &entries, is_visible, compare_names);
    if (count < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "cannot read '%s': %s", CK_TEXT_SAFE(directory->path),
                             strerror(errno));
    json_t *own = read_index(directory);
    const struct directory here = {directory->path, own ? own : directory->index, directory->depth, fd};
    for (int i = 0; i < count; i++) {
        if (r == 0)
            r = read_entry(looks, &here, entries[i], error);
        free(entries[i]);
    }
    free(entries);
    json_decref(own);
    return r;
}

static int read_path(struct ck_looks *looks, const char *path, struct choke_error *error)
{
    struct stat status;
    char trimmed[PATH_MAX];

    if (stat(path, &status) < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "cannot read '%s': %s", CK_TEXT_SAFE(path), strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return read_file(looks, path, NULL, true, error);
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    (void)snprintf(trimmed, sizeof(trimmed), "%.*s", (int)length, path);
    return read_directory(looks, &(struct directory){.path = trimmed, .fd = -1}, error);
}

/* ---- all of them ---- */

static int compare_looks(const void *left, const void *right, void *data)
{
    const struct ck_look *a = left, *b = right;
    int order = strcmp(ck_strings_text(data, a->name), ck_strings_text(data, b->name));

    if (order == 0)
        order = strcmp(a->date, b->date);
    /* The same document, found twice: the order of the files. */
    return order != 0 ? order : strcmp(ck_strings_text(data, a->file), ck_strings_text(data, b->file));
}

/* A repository has one look of a date: the same document may be given twice. */
static void drop_repeated(struct ck_looks *looks)
{
    size_t kept = 0;

    for (size_t i = 0; i < looks->count; i++) {
        struct ck_look *last = kept > 0 ? &looks->items[kept - 1] : NULL;
        if (last && last->name == looks->items[i].name && strcmp(last->date, looks->items[i].date) == 0)
            ck_look_done(last);
        else
            last = &looks->items[kept++];
        *last = looks->items[i];
    }
    looks->count = kept;
}

size_t ck_looks_next(const struct ck_looks *looks, size_t at)
{
    while (at < looks->count && !looks->items[at].latest)
        at++;
    return at;
}

const struct ck_look *ck_looks_before(const struct ck_looks *looks, size_t at)
{
    return at > 0 && looks->items[at - 1].name == looks->items[at].name ? &looks->items[at - 1] : NULL;
}

static int compare_all(struct ck_looks *looks, struct choke_error *error)
{
    for (size_t i = 0; i < looks->count; i++)
        looks->items[i].latest = i + 1 == looks->count || looks->items[i + 1].name != looks->items[i].name;
    for (size_t i = ck_looks_next(looks, 0); i < looks->count; i = ck_looks_next(looks, i + 1)) {
        struct ck_compare_counts counts;
        looks->repositories++;
        if (!ck_looks_before(looks, i))
            continue;
        if (ck_compare(&looks->items[i - 1], &looks->items[i], &looks->strings, &counts) < 0)
            return out_of_memory(error);
        looks->compared++;
        looks->fresh += counts.fresh;
        looks->gone += counts.gone;
        looks->unchecked += counts.unchecked;
    }
    return 0;
}

int ck_looks_read(struct ck_looks *looks, const char *const *paths, struct choke_error *error)
{
    int r = 0;

    for (; r == 0 && *paths; paths++)
        r = read_path(looks, *paths, error);
    if (r < 0)
        return r;
    if (looks->strings.failed)
        return out_of_memory(error);
    if (looks->count == 0)
        return ck_text_error(error, CHOKE_INVALID, ENOENT,
                             "there is no document of 'chokepoint gather' in what was given");
    qsort_r(looks->items, looks->count, sizeof(*looks->items), compare_looks, &looks->strings);
    drop_repeated(looks);
    return compare_all(looks, error);
}

void ck_looks_done(struct ck_looks *looks)
{
    for (size_t i = 0; i < looks->count; i++)
        ck_look_done(&looks->items[i]);
    free(looks->items);
    free(looks->losses);
    ck_strings_done(&looks->strings);
    *looks = (struct ck_looks){0};
}
