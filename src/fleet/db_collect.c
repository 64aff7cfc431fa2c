/* db_collect.c - see db_collect.h. */
#include "fleet/db_collect.h"

#include "base/fd.h"
#include "base/file.h"
#include "base/hex.h"
#include "fleet/db_add.h"
#include "fleet/db_schema.h"
#include "front/json_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOCUMENTS "documents"
#define FAILED "failed"
#define INDEX_BYTES_MAX ((size_t)256 << 20) /* 100,000 long paths have 25 MB */
#define SMALL_BYTES_MAX ((size_t)1 << 20)

/* One directory while it is collected. */
struct area {
    const char *path;
    int fd;
    struct ck_json_file about, index; /* fleet.json, index.json */
    int64_t look;
    struct ck_fleet_db_add *add;
    struct ck_fleet_db_summary *summary;
};

/* One file of documents/ or failed/. */
struct entry {
    char name[NAME_MAX + 1]; /* without .json */
    char path[NAME_MAX + 16];
    const json_t *place; /* NULL: the index does not have it */
};

/* ---- a directory ---- */

static int read_part(const struct area *area, struct ck_json_file *file, const char *name, size_t max_bytes,
                     struct choke_error *error)
{
    char why[CK_TEXT_SAFE_MAX];

    int r = ck_json_file_load(file, area->fd, name, O_NOFOLLOW, max_bytes, why);
    if (r == -ENOENT)
        return ck_text_error(error, CHOKE_INVALID, ENOENT,
                             "'%s' is not a directory of 'chokepoint fleet run': it has no %s",
                             CK_TEXT_SAFE(area->path), name);
    if (r == 0)
        r = ck_json_file_parse(file, why);
    return r == 0 ? 0
                  : ck_text_error(error, CHOKE_INVALID, -r, "cannot read '%s/%s': %s", CK_TEXT_SAFE(area->path), name,
                                  why);
}

/* Digits where the form has them: a date that is compared as text must have one form. */
static bool has_form(const char *text, const char *form)
{
    size_t i = 0;

    for (; text && form[i] != '\0'; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return text && text[i] == '\0';
}

static bool is_identity(const char *text)
{
    size_t length = text ? strspn(text, "0123456789abcdef") : 0;
    return length == 16 && text[length] == '\0';
}

static int check_parts(const struct area *area, struct choke_error *error)
{
    if (!is_identity(json_string_value(json_object_get(area->about.value, "id"))) ||
        !has_form(json_string_value(json_object_get(area->about.value, "begun")), "0000-00-00T00:00:00Z"))
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "'%s/fleet.json' has no 'id' or no date 'begun'",
                             CK_TEXT_SAFE(area->path));
    if (!json_is_object(json_object_get(area->index.value, "repositories")))
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "'%s/index.json' has no 'repositories'",
                             CK_TEXT_SAFE(area->path));
    return 0;
}

static int open_area(struct area *area, struct choke_error *error)
{
    struct stat status;

    area->fd = open(area->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (area->fd < 0 || fstat(area->fd, &status) < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "cannot read '%s': %s", CK_TEXT_SAFE(area->path),
                             strerror(errno));
    if (status.st_uid != geteuid())
        return ck_text_error(error, CHOKE_INVALID, EPERM, "'%s' belongs to another user", CK_TEXT_SAFE(area->path));
    int r = read_part(area, &area->about, "fleet.json", SMALL_BYTES_MAX, error);
    if (r == 0)
        r = read_part(area, &area->index, "index.json", INDEX_BYTES_MAX, error);
    return r == 0 ? check_parts(area, error) : r;
}

static void close_area(struct area *area)
{
    ck_json_file_done(&area->about);
    ck_json_file_done(&area->index);
    ck_fd_close(&area->fd);
}

/* ---- its files ---- */

/* The writing of the others goes on, so a file that is wrong is reported, and the next one read. */
static int report_unread(struct area *area, const struct entry *entry, const char *why)
{
    (void)fprintf(stderr, "chokepoint: warning: '%s/%s' is not collected: %s\n", CK_TEXT_SAFE(area->path),
                  CK_TEXT_SAFE(entry->path), why);
    area->summary->unread++;
    return 0;
}

static struct ck_fleet_db_source source_of(const struct area *area, const struct entry *entry, const char *sha256)
{
    return (struct ck_fleet_db_source){area->look, entry->name, entry->place, sha256};
}

static void digest(const struct ck_json_file *file, char sha256[CK_FLEET_DB_ADD_SHA256_SIZE])
{
    unsigned char hash[crypto_hash_sha256_BYTES];

    (void)crypto_hash_sha256(hash, (const unsigned char *)file->text, file->length);
    ck_hex_encode(sha256, hash, sizeof(hash));
}

static int add_if_changed(struct area *area, const struct entry *entry, struct ck_json_file *file,
                          struct choke_error *error)
{
    char sha256[CK_FLEET_DB_ADD_SHA256_SIZE], before[CK_FLEET_DB_ADD_SHA256_SIZE], why[CK_TEXT_SAFE_MAX];

    digest(file, sha256);
    const struct ck_fleet_db_source source = source_of(area, entry, sha256);
    int found = ck_fleet_db_add_find(area->add, &source, before, error);
    if (found < 0)
        return found;
    if (strcmp(before, sha256) == 0) {
        area->summary->unchanged++;
        return 0;
    }
    if (ck_json_file_parse(file, why) < 0)
        return report_unread(area, entry, why);
    if (!ck_fleet_db_add_is_document(file->value))
        return report_unread(area, entry, "it is not a document of 'chokepoint gather' that this version reads");
    int r = ck_fleet_db_add_document(area->add, &source, file->value, error);
    if (r == 0)
        *(found > 0 ? &area->summary->replaced : &area->summary->added) += 1;
    return r;
}

static int take_document(struct area *area, const struct entry *entry, struct choke_error *error)
{
    struct ck_json_file file = {0};
    char why[CK_TEXT_SAFE_MAX];

    int r = ck_json_file_load(&file, area->fd, entry->path, O_NOFOLLOW, CK_FLEET_DB_COLLECT_BYTES_MAX, why);
    if (r == -ELOOP || r == -EINVAL)
        r = report_unread(area, entry, "it is not a regular file");
    else if (r < 0)
        r = report_unread(area, entry, why);
    else if (!entry->place)
        r = report_unread(area, entry, "index.json does not have it");
    else
        r = add_if_changed(area, entry, &file, error);
    ck_json_file_done(&file);
    return r;
}

/* A later try may have succeeded: then the document counts. */
static bool has_document(const struct area *area, const struct entry *entry)
{
    char path[NAME_MAX + 32];

    (void)snprintf(path, sizeof(path), DOCUMENTS "/%s.json", entry->name);
    return faccessat(area->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int take_failure(struct area *area, const struct entry *entry, struct choke_error *error)
{
    struct ck_json_file file = {0};
    char why[CK_TEXT_SAFE_MAX];
    const struct ck_fleet_db_source source = source_of(area, entry, NULL);
    int r = 0;

    if (has_document(area, entry))
        return 0;
    if (ck_json_file_load(&file, area->fd, entry->path, O_NOFOLLOW, SMALL_BYTES_MAX, why) < 0 ||
        ck_json_file_parse(&file, why) < 0)
        r = report_unread(area, entry, why);
    else if (!entry->place)
        r = report_unread(area, entry, "index.json does not have it");
    else
        r = ck_fleet_db_add_failure(area->add, &source, file.value, error);
    area->summary->failures++;
    ck_json_file_done(&file);
    return r;
}

/* Hidden names are those of files that are being written. */
static int is_complete(const struct dirent *item)
{
    size_t length = strlen(item->d_name);
    return item->d_name[0] != '.' && length > 5 && strcmp(item->d_name + length - 5, ".json") == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static struct entry entry_of(const struct area *area, const char *directory, const char *file_name)
{
    struct entry entry = {.place = NULL};
    const json_t *known = json_object_get(area->index.value, "repositories");

    (void)snprintf(entry.name, sizeof(entry.name), "%.*s", (int)strlen(file_name) - 5, file_name);
    (void)snprintf(entry.path, sizeof(entry.path), "%s/%s", directory, file_name);
    known = json_object_get(known, entry.name);
    entry.place = json_object_get(known, "path");
    if (!entry.place)
        entry.place = json_object_get(known, "url");
    return entry;
}

typedef int (*take)(struct area *area, const struct entry *entry, struct choke_error *error);

/* In the order of the names, so that the same directory makes the same database. */
static int each_file(struct area *area, const char *directory, take take_one, struct choke_error *error)
{
    struct dirent **items = NULL;
    int r = 0;

    CK_FD fd = openat(area->fd, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    int count = fd < 0 ? -1 : scandirat(fd, ".", &items, is_complete, compare_names);
    if (count < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "cannot read '%s/%s': %s", CK_TEXT_SAFE(area->path),
                             directory, strerror(errno));
    for (int i = 0; i < count; i++) {
        const struct entry entry = entry_of(area, directory, items[i]->d_name);
        if (r == 0)
            r = take_one(area, &entry, error);
        free(items[i]);
    }
    free(items);
    return r;
}

/* ---- all of them ---- */

static int collect_area(struct area *area, struct choke_error *error)
{
    char real[PATH_MAX];

    if (!realpath(area->path, real))
        return ck_text_error(error, CHOKE_INVALID, errno, "cannot read '%s': %s", CK_TEXT_SAFE(area->path),
                             strerror(errno));
    int r =
        ck_fleet_db_add_look(area->add, json_string_value(json_object_get(area->about.value, "id")),
                             json_string_value(json_object_get(area->about.value, "begun")), real, &area->look, error);
    if (r == 0)
        r = each_file(area, FAILED, take_failure, error);
    return r == 0 ? each_file(area, DOCUMENTS, take_document, error) : r;
}

static int collect_into(struct ck_fleet_db *db, const char *const *directories, struct ck_fleet_db_summary *summary,
                        struct choke_error *error)
{
    struct ck_fleet_db_add *add = NULL;

    int r = ck_fleet_db_add_begin(&add, db, error);
    for (; r == 0 && *directories; directories++) {
        struct area area = {.path = *directories, .fd = -1, .add = add, .summary = summary};
        r = open_area(&area, error);
        if (r == 0)
            r = collect_area(&area, error);
        close_area(&area);
    }
    ck_fleet_db_add_end(add);
    return r;
}

/* Nothing is made for a directory of another kind. */
static int check_areas(const char *const *directories, struct choke_error *error)
{
    int r = 0;

    for (; r == 0 && *directories; directories++) {
        struct area area = {.path = *directories, .fd = -1};
        r = open_area(&area, error);
        close_area(&area);
    }
    return r;
}

/* The usual place is for nothing else, so whatever is there may be set aside. */
static int open_database(struct ck_fleet_db *db, const char *const *directories, const char *into,
                         struct choke_error *error)
{
    char usual[PATH_MAX];

    if (into)
        return ck_fleet_db_open(db, into, false, error);
    int length = snprintf(usual, sizeof(usual), "%s/" CK_FLEET_DB_NAME, directories[0]);
    if (length < 0 || (size_t)length >= sizeof(usual))
        return ck_text_error(error, CHOKE_INVALID, ENAMETOOLONG, "'%s': %s", CK_TEXT_SAFE(directories[0]),
                             strerror(ENAMETOOLONG));
    return ck_fleet_db_open(db, usual, true, error);
}

static int collect_once(struct ck_fleet_db *db, const char *const *directories, const char *into,
                        struct ck_fleet_db_summary *summary, struct choke_error *error)
{
    int r = open_database(db, directories, into, error);

    summary->made = db->made;
    summary->migrated = !db->made && db->version > 0 && db->version < CK_FLEET_DB_SCHEMA_VERSION;
    return r == 0 ? collect_into(db, directories, summary, error) : r;
}

/* A page that is damaged may be found only when it is read: then once more, from the beginning. */
int ck_fleet_db_collect(const char *const *directories, const char *into, struct ck_fleet_db_summary *summary,
                        struct choke_error *error)
{
    struct ck_fleet_db db = {0};

    int r = check_areas(directories, error);
    if (r == 0)
        r = collect_once(&db, directories, into, summary, error);
    if (r == -EBADMSG && db.is_ours && db.aside[0] == '\0') {
        r = ck_fleet_db_set_aside(&db, error);
        *summary = (struct ck_fleet_db_summary){0};
        if (r == 0)
            r = collect_once(&db, directories, into, summary, error);
    }
    (void)snprintf(summary->aside, sizeof(summary->aside), "%s", db.aside);
    /* The empty journal is removed. */
    if (r == 0)
        (void)ck_fleet_db_run(&db, "PRAGMA journal_mode = DELETE", NULL);
    ck_fleet_db_close(&db);
    return r;
}
