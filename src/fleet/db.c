/*
 * db.c - see db.h. Opening is a list of steps: where the file is, whose it is, what it is, whether it
 * is whole, and which version it has.
 */
#include "fleet/db.h"

#include "base/fd.h"
#include "base/file.h"
#include "fleet/db_schema.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_PATIENCE_MS 30000 /* for another collect, which writes one document at a time */
#define READ_PATIENCE_MS 10000
#define ASIDE_MAX 100
#define HEADER_BYTES 100
#define HEADER_FORMAT 18 /* two bytes: 1; with a write-ahead log 2 */
#define HEADER_APPLICATION 68

static const char *const beside[] = {"-journal", "-wal", "-shm"};

/* ---- where it is ---- */

/* The directory without symlinks, and the name: SQLite then finds no symlink in the path. */
static int resolve(struct ck_fleet_db *db, const char *path, struct choke_error *error)
{
    char directory[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    int length = slash ? snprintf(directory, sizeof(directory), "%.*s/", (int)(slash - path), path)
                       : snprintf(directory, sizeof(directory), ".");
    if (length < 0 || (size_t)length >= sizeof(directory) || strlen(name) > NAME_MAX - strlen("-journal"))
        return ck_text_error(error, CHOKE_INVALID, ENAMETOOLONG, "'%s': %s", CK_TEXT_SAFE(path),
                             strerror(ENAMETOOLONG));
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return ck_text_error(error, CHOKE_INVALID, EISDIR, "'%s' does not name a file", CK_TEXT_SAFE(path));
    if (!realpath(directory, real))
        return ck_text_error(error, CHOKE_INVALID, errno, "'%s': %s", CK_TEXT_SAFE(path), strerror(errno));
    length = snprintf(db->path, sizeof(db->path), "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    /* There must be room for what is put beside it. */
    if (length < 0 || (size_t)length >= sizeof(db->path) - 32)
        return ck_text_error(error, CHOKE_INVALID, ENAMETOOLONG, "'%s': %s", CK_TEXT_SAFE(path),
                             strerror(ENAMETOOLONG));
    return 0;
}

/* Whoever can write the directory can put a journal there, which SQLite would replay. */
static int check_directory(const struct ck_fleet_db *db, struct choke_error *error)
{
    char directory[PATH_MAX];
    struct stat status;

    const char *slash = strrchr(db->path, '/');
    (void)snprintf(directory, sizeof(directory), "%.*s", slash == db->path ? 1 : (int)(slash - db->path), db->path);
    if (stat(directory, &status) < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "'%s': %s", CK_TEXT_SAFE(directory), strerror(errno));
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return ck_text_error(
            error, CHOKE_INVALID, EPERM,
            "'%s' belongs to another user, who could change a database in it: use a directory of your own",
            CK_TEXT_SAFE(directory));
    if (status.st_mode & (S_IWGRP | S_IWOTH))
        return ck_text_error(
            error, CHOKE_INVALID, EPERM,
            "'%s' can be written by others, who could change a database in it: 'chmod go-w' it, or use "
            "another directory",
            CK_TEXT_SAFE(directory));
    return 0;
}

/* Why a file may not be used, in words; NULL: it may. */
static const char *why_not(const struct stat *status)
{
    if (S_ISLNK(status->st_mode))
        return "it is a symlink";
    if (!S_ISREG(status->st_mode))
        return "it is not a regular file";
    if (status->st_uid != geteuid())
        return "it belongs to another user";
    if (status->st_nlink != 1)
        return "it has several names (hard links)";
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return "it can be written by others";
    return NULL;
}

/* Returns 1 if the file exists, 0 if not, or a negative errno. */
static int check_file(const char *path, struct choke_error *error)
{
    struct stat status;

    if (lstat(path, &status) < 0)
        return errno == ENOENT
                   ? 0
                   : ck_text_error(error, CHOKE_INVALID, errno, "'%s': %s", CK_TEXT_SAFE(path), strerror(errno));
    const char *reason = why_not(&status);
    return reason ? ck_text_error(error, CHOKE_INVALID, EPERM, "'%s' is not used as a database: %s", CK_TEXT_SAFE(path),
                                  reason)
                  : 1;
}

/* The same for the file and what SQLite puts beside it. Returns whether the file exists. */
static int check_files(const struct ck_fleet_db *db, struct choke_error *error)
{
    char path[PATH_MAX + 16];

    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", db->path, beside[i]);
        int r = check_file(path, error);
        if (r < 0)
            return r;
    }
    return check_file(db->path, error);
}

static int find(struct ck_fleet_db *db, const char *path, struct choke_error *error)
{
    int r = resolve(db, path, error);
    if (r == 0)
        r = check_directory(db, error);
    return r == 0 ? check_files(db, error) : r;
}

/* ---- what SQLite says ---- */

static int fail_io(struct ck_fleet_db *db, struct choke_error *error)
{
    int errnum = sqlite3_system_errno(db->handle);

    if (sqlite3_errcode(db->handle) == SQLITE_FULL || errnum == ENOSPC || errnum == EDQUOT)
        return ck_text_error(error, CHOKE_INVALID, ENOSPC, "'%s': %s; what was collected so far is kept",
                             CK_TEXT_SAFE(db->path), strerror(ENOSPC));
    if (errnum == ENOLCK || errnum == ENOSYS)
        return ck_text_error(error, CHOKE_INVALID, errnum,
                             "'%s': the file system has no locks; use --into FILE on a local disk",
                             CK_TEXT_SAFE(db->path));
    return ck_text_error(error, CHOKE_INVALID, errnum > 0 ? errnum : EIO, "'%s': %s%s%s", CK_TEXT_SAFE(db->path),
                         db->handle ? sqlite3_errmsg(db->handle) : "no memory", errnum > 0 ? ": " : "",
                         errnum > 0 ? strerror(errnum) : "");
}

int ck_fleet_db_fail(struct ck_fleet_db *db, struct choke_error *error)
{
    const char *path = CK_TEXT_SAFE(db->path);
    int extended = sqlite3_extended_errcode(db->handle);

    if (extended == SQLITE_READONLY_ROLLBACK || extended == SQLITE_READONLY_RECOVERY)
        return ck_text_error(error, CHOKE_INVALID, EBUSY,
                             "'%s': an interrupted 'chokepoint fleet collect' left it; run that again", path);
    switch (extended & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ck_text_error(error, CHOKE_INVALID, EBUSY, "'%s': another process is writing it; try again later", path);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
        return ck_text_error(error, CHOKE_INVALID, EBADMSG,
                             "'%s' is damaged (%s); 'chokepoint fleet collect' makes it anew from the documents", path,
                             sqlite3_errmsg(db->handle));
    case SQLITE_NOMEM:
        return ck_text_error(error, CHOKE_INVALID, ENOMEM, "'%s': out of memory", path);
    default:
        return fail_io(db, error);
    }
}

int ck_fleet_db_run(struct ck_fleet_db *db, const char *sql, struct choke_error *error)
{
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : ck_fleet_db_fail(db, error);
}

/* ---- a connection ---- */

/*
 * What a crafted file could use is off before the first byte of it is read: code of triggers and
 * views, functions with effects in the schema, extensions, memory mapped from the file.
 */
static int open_handle(struct ck_fleet_db *db, int flags, struct choke_error *error)
{
    static const struct {
        int setting, value;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
    };

    if (sqlite3_open_v2(db->path, &db->handle, flags | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE, NULL) != SQLITE_OK)
        return ck_fleet_db_fail(db, error);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        if (sqlite3_db_config(db->handle, settings[i].setting, settings[i].value, NULL) != SQLITE_OK)
            return ck_text_error(error, CHOKE_INVALID, ENOSYS, "this SQLite (%s) lacks a protection",
                                 sqlite3_libversion());
    (void)sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(db->handle, SQLITE_LIMIT_TRIGGER_DEPTH, 32); /* a cascade of foreign keys counts */
    (void)sqlite3_limit(db->handle, SQLITE_LIMIT_WORKER_THREADS, 0);
    (void)sqlite3_busy_timeout(db->handle, flags & SQLITE_OPEN_READONLY ? READ_PATIENCE_MS : WRITE_PATIENCE_MS);
    return ck_fleet_db_run(db, "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0", error);
}

static int first_text(struct ck_fleet_db *db, const char *sql, char text[CK_TEXT_SAFE_MAX], struct choke_error *error)
{
    sqlite3_stmt *statement;
    int r = 0;

    if (sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW)
        r = ck_fleet_db_fail(db, error);
    else
        (void)ck_text_safe(text, CK_TEXT_SAFE_MAX, (const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    return r;
}

void ck_fleet_db_close(struct ck_fleet_db *db)
{
    (void)sqlite3_close_v2(db->handle);
    db->handle = NULL;
}

/* ---- whether it is whole ---- */

static int fail_schema(struct ck_fleet_db *db, int r, const char *why, struct choke_error *error)
{
    if (r == -EIO)
        return ck_fleet_db_fail(db, error);
    if (r == -ENOMEM)
        return ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
    if (r == -EPROTO)
        return ck_text_error(error, CHOKE_INVALID, EPROTO,
                             "'%s' was written by a later version of chokepoint: use that, or another --into FILE",
                             CK_TEXT_SAFE(db->path));
    return ck_text_error(error, CHOKE_INVALID, EBADMSG, "'%s' is not a database of 'chokepoint fleet collect': %s",
                         CK_TEXT_SAFE(db->path), why);
}

/* Sets version. An empty file is version 0. */
static int identify(struct ck_fleet_db *db, struct choke_error *error)
{
    char text[CK_TEXT_SAFE_MAX], why[CHOKE_MESSAGE_MAX] = "it is of another program";

    int r = first_text(db, "PRAGMA page_count", text, error);
    db->made = r == 0 && strcmp(text, "0") == 0;
    if (r < 0 || db->made)
        return r;
    r = first_text(db, "PRAGMA application_id", text, error);
    if (r < 0)
        return r;
    r = strtoll(text, NULL, 10) == CK_FLEET_DB_APPLICATION ? ck_fleet_db_schema_check(db->handle, why) : -ENOTUNIQ;
    if (r < 0)
        return fail_schema(db, r, why, error);
    db->version = r;
    return 0;
}

/* Every page is read, so this takes as long as the file is large. */
static int check_whole(struct ck_fleet_db *db, struct choke_error *error)
{
    char text[CK_TEXT_SAFE_MAX];

    int r = first_text(db, "PRAGMA quick_check(1)", text, error);
    if (r == 0 && strcmp(text, "ok") != 0)
        r = ck_text_error(error, CHOKE_INVALID, EBADMSG, "'%s' is damaged: %s", CK_TEXT_SAFE(db->path), text);
    return r;
}

/* The journal first: without the database it is never replayed into another one. */
int ck_fleet_db_set_aside(struct ck_fleet_db *db, struct choke_error *error)
{
    char from[PATH_MAX + 16], to[PATH_MAX + 16];
    int number = 1;

    ck_fleet_db_close(db);
    for (; number < ASIDE_MAX; number++) {
        (void)snprintf(db->aside, sizeof(db->aside), "%.*s.damaged-%d", PATH_MAX - 32, db->path, number);
        if (faccessat(AT_FDCWD, db->aside, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
            break;
    }
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        (void)snprintf(from, sizeof(from), "%s%s", db->path, beside[i]);
        (void)snprintf(to, sizeof(to), "%s%s", db->aside, beside[i]);
        if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) < 0 && errno != ENOENT)
            return ck_text_error(error, CHOKE_INVALID, errno, "cannot set '%s' aside: %s", CK_TEXT_SAFE(from),
                                 strerror(errno));
    }
    if (renameat2(AT_FDCWD, db->path, AT_FDCWD, db->aside, RENAME_NOREPLACE) < 0)
        return ck_text_error(error, CHOKE_INVALID, errno, "cannot set '%s' aside: %s", CK_TEXT_SAFE(db->path),
                             strerror(errno));
    return 0;
}

/* ---- the header ---- */

/* Returns whether the file has the header of a database of SQLite, or a negative errno. */
static int read_header(const struct ck_fleet_db *db, char header[HEADER_BYTES + 1])
{
    long got = ck_file_read_into(AT_FDCWD, db->path, O_NOFOLLOW, header, HEADER_BYTES + 1);

    return got < 0 ? (int)got : got == HEADER_BYTES && memcmp(header, "SQLite format 3", 16) == 0;
}

/* SQLite reports a damaged first page before it tells whose the file is. */
static bool is_ours(const struct ck_fleet_db *db)
{
    char header[HEADER_BYTES + 1];
    const unsigned char *id = (const unsigned char *)header + HEADER_APPLICATION;

    return read_header(db, header) > 0 &&
           ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]) == CK_FLEET_DB_APPLICATION;
}

/* ---- for collect ---- */

/* Findings tell where a repository is weak, so the file is for its owner; a journal gets the same mode. */
static int make_file(const struct ck_fleet_db *db, struct choke_error *error)
{
    CK_FD fd = open(db->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    return fd >= 0 || errno == EEXIST ? 0
                                      : ck_text_error(error, CHOKE_INVALID, errno, "cannot make '%s': %s",
                                                      CK_TEXT_SAFE(db->path), strerror(errno));
}

static int migrate(struct ck_fleet_db *db, struct choke_error *error)
{
    int from = db->made ? 0 : db->version;

    if (from == CK_FLEET_DB_SCHEMA_VERSION)
        return 0;
    int r = ck_fleet_db_run(db, "BEGIN EXCLUSIVE", error);
    if (r == 0)
        r = ck_fleet_db_schema_migrate(db, from, error);
    return r == 0 ? ck_fleet_db_run(db, "COMMIT", error) : r;
}

/* A journal that is emptied, not removed: a shared directory makes and removes names slowly. */
static int open_once(struct ck_fleet_db *db, struct choke_error *error)
{
    char mode[CK_TEXT_SAFE_MAX];

    db->made = false;
    db->version = 0;
    int r = make_file(db, error);
    if (r == 0)
        r = open_handle(db, SQLITE_OPEN_READWRITE, error);
    if (r == 0)
        r = identify(db, error);
    if (r == 0)
        r = first_text(db, "PRAGMA journal_mode = TRUNCATE", mode, error);
    if (r == 0 && strcmp(mode, "truncate") != 0)
        r = ck_text_error(error, CHOKE_INVALID, EBUSY, "'%s': another process is reading it; try again later",
                          CK_TEXT_SAFE(db->path));
    if (r == 0)
        r = ck_fleet_db_run(db, "PRAGMA synchronous = FULL; PRAGMA cache_size = -32768", error);
    if (r == 0 && !db->made)
        r = check_whole(db, error);
    return r == 0 ? migrate(db, error) : r;
}

int ck_fleet_db_open(struct ck_fleet_db *db, const char *path, bool may_replace, struct choke_error *error)
{
    int r = find(db, path, error);

    if (r < 0)
        return r;
    r = open_once(db, error);
    db->is_ours = r == 0 || is_ours(db);
    if (r != -EBADMSG)
        return r;
    if (!db->is_ours && !may_replace)
        return ck_text_error(
            error, CHOKE_INVALID, EBADMSG,
            "'%s' is not a database of 'chokepoint fleet collect', or no longer one: remove it, or use "
            "another --into FILE",
            CK_TEXT_SAFE(db->path));
    r = ck_fleet_db_set_aside(db, error);
    return r == 0 ? open_once(db, error) : r;
}

/* ---- for query ---- */

/* SQLite would make files beside a database with a write-ahead log, to read it. */
static int check_header(const struct ck_fleet_db *db, struct choke_error *error)
{
    char header[HEADER_BYTES + 1];
    int r = read_header(db, header);

    if (r < 0)
        return ck_text_error(error, CHOKE_INVALID, -r, "'%s': %s", CK_TEXT_SAFE(db->path), strerror(-r));
    if (r > 0 && (header[HEADER_FORMAT] != 1 || header[HEADER_FORMAT + 1] != 1))
        return ck_text_error(error, CHOKE_INVALID, EINVAL,
                             "'%s' has a write-ahead log; run 'chokepoint fleet collect' first",
                             CK_TEXT_SAFE(db->path));
    return 0;
}

int ck_fleet_db_open_to_read(struct ck_fleet_db *db, const char *path, struct choke_error *error)
{
    int r = find(db, path, error);

    if (r < 0)
        return r;
    if (r == 0)
        return ck_text_error(error, CHOKE_INVALID, ENOENT, "there is no '%s'; 'chokepoint fleet collect' makes it",
                             CK_TEXT_SAFE(path));
    r = check_header(db, error);
    if (r == 0)
        r = open_handle(db, SQLITE_OPEN_READONLY, error);
    if (r == 0)
        r = identify(db, error);
    if (r == 0 && db->version < CK_FLEET_DB_SCHEMA_VERSION)
        r = ck_text_error(error, CHOKE_INVALID, EPROTO,
                          "'%s' is of an earlier version; run 'chokepoint fleet collect' first",
                          CK_TEXT_SAFE(db->path));
    return r == 0 ? ck_fleet_db_run(db, "PRAGMA query_only = ON", error) : r;
}
