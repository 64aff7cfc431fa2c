/*
 * db_add.c - see db_add.h. Statements are a table; a row is filled member by member, in the order of
 * the columns.
 */
#include "fleet/db_add.h"

#include "front/fingerprint.h"
#include "front/shown.h"
#include "front/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 1
#define SHORT CK_FLEET_DB_ADD_SHORT
#define LONG CK_FLEET_DB_ADD_LONG

enum statement {
    BEGIN,
    COMMIT,
    ROLLBACK,
    LOOK,
    KNOWN,
    REPOSITORY,
    FIND,
    REMOVE,
    DOCUMENT,
    LATEST,
    NO_FAILURE,
    FAILURE,
    TOOL,
    PROBE,
    FINDING,
    PACKAGE,
    EXECUTABLE,
    EGRESS,
    STATEMENTS
};

static const char *const texts[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [LOOK] = "INSERT INTO looks (fleet, begun, directory) VALUES (?, ?, ?)"
             " ON CONFLICT (fleet) DO UPDATE SET directory = excluded.directory RETURNING id",
    [KNOWN] = "SELECT id FROM repositories WHERE name = ? AND place = ?",
    [REPOSITORY] = "INSERT INTO repositories (name, place) VALUES (?, ?)"
                   " ON CONFLICT (name) DO UPDATE SET place = excluded.place RETURNING id",
    [FIND] =
        "SELECT d.sha256 FROM documents d JOIN repositories r ON r.id = d.repository WHERE r.name = ? AND d.look = ?",
    [REMOVE] = "DELETE FROM documents WHERE look = ? AND repository = ?",
    [DOCUMENT] =
        "INSERT INTO documents (look, repository, sha256, latest, gathered, chokepoint, commit_id, cancelled, files,"
        " files_incomplete, duration_ms, critical, high, medium, low, info, findings_cut, packages_total)"
        " VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
    [LATEST] = "UPDATE documents SET latest = 1 - latest WHERE repository = ?1 AND latest <> (id = (SELECT d.id"
               " FROM documents d JOIN looks l ON l.id = d.look WHERE d.repository = ?1"
               " ORDER BY l.begun DESC, l.id DESC LIMIT 1))",
    [NO_FAILURE] = "DELETE FROM failures WHERE look = ? AND repository = ?",
    [FAILURE] = "INSERT INTO failures SELECT ?1, ?2, ?3, ?4, ?5"
                " WHERE NOT EXISTS (SELECT 1 FROM documents WHERE look = ?1 AND repository = ?2)"
                " ON CONFLICT (look, repository) DO UPDATE SET stage = excluded.stage, message = excluded.message,"
                " at = excluded.at WHERE (stage, message, at) IS NOT (excluded.stage, excluded.message, excluded.at)",
    [TOOL] = "INSERT INTO tools VALUES (?, ?, ?, ?, ?, ?)",
    [PROBE] = "INSERT INTO probes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [FINDING] = "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PACKAGE] = "INSERT INTO packages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [EXECUTABLE] = "INSERT INTO executables VALUES (?, ?, ?, ?, ?)",
    [EGRESS] = "INSERT INTO egress VALUES (?, ?, ?, ?, ?, ?, ?)",
};

static const char *const severities[] = {"critical", "high", "medium", "low", "info"};
#define SEVERITIES (sizeof(severities) / sizeof(severities[0]))

struct ck_fleet_db_add {
    struct ck_fleet_db *db;
    sqlite3_stmt *statements[STATEMENTS];
    int64_t document; /* that is being added */
    bool no_memory;
};

/* One row while it is filled. */
struct row {
    struct ck_fleet_db_add *add;
    sqlite3_stmt *statement;
    int at; /* the last column that was filled */
};

int ck_fleet_db_add_begin(struct ck_fleet_db_add **ret_add, struct ck_fleet_db *db, struct choke_error *error)
{
    struct ck_fleet_db_add *add = calloc(1, sizeof(*add));

    *ret_add = add;
    if (!add)
        return ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
    add->db = db;
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(db->handle, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &add->statements[i], NULL) !=
            SQLITE_OK)
            return ck_fleet_db_fail(db, error);
    return 0;
}

void ck_fleet_db_add_end(struct ck_fleet_db_add *add)
{
    if (!add)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        (void)sqlite3_finalize(add->statements[i]);
    free(add);
}

/* ---- a row ---- */

static struct row begin(struct ck_fleet_db_add *add, enum statement number)
{
    return (struct row){.add = add, .statement = add->statements[number]};
}

static void set_number(struct row *row, int64_t number)
{
    (void)sqlite3_bind_int64(row->statement, ++row->at, number);
}

/* Takes text; NULL is null. */
static void set_taken(struct row *row, char *text)
{
    if (sqlite3_bind_text(row->statement, ++row->at, text, -1, free) != SQLITE_OK)
        row->add->no_memory = true;
}

static void set_json(struct row *row, const json_t *value, size_t most)
{
    char *text;

    if (ck_shown_json(value, most, &text) < 0)
        row->add->no_memory = true;
    set_taken(row, text);
}

static void set_text(struct row *row, const json_t *object, const char *member, size_t most)
{
    set_json(row, json_object_get(object, member), most);
}

/* For text of this program, and of a name in a directory. */
static void set_own(struct row *row, const char *text)
{
    char *shown = ck_shown_text(text, strlen(text), LONG);

    if (!shown)
        row->add->no_memory = true;
    set_taken(row, shown);
}

static void set_list(struct row *row, const json_t *array, const char *separator)
{
    char *text;

    if (ck_shown_list(array, separator, SHORT, LONG, &text) < 0)
        row->add->no_memory = true;
    set_taken(row, text);
}

static void set_integer(struct row *row, const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);

    row->at++; /* what is not bound is null */
    if (json_is_integer(value))
        (void)sqlite3_bind_int64(row->statement, row->at, json_integer_value(value));
}

static void set_real(struct row *row, const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);

    row->at++;
    if (json_is_number(value))
        (void)sqlite3_bind_double(row->statement, row->at, json_number_value(value));
}

/* ret_id: what RETURNING returned; NULL: nothing does. */
static int end(struct row *row, int64_t *ret_id, struct choke_error *error)
{
    int r = row->add->no_memory ? SQLITE_NOMEM : sqlite3_step(row->statement);

    if (r == SQLITE_ROW && ret_id) {
        *ret_id = sqlite3_column_int64(row->statement, 0);
        r = sqlite3_step(row->statement);
    }
    if (row->add->no_memory)
        r = ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
    else
        r = r == SQLITE_DONE ? 0 : ck_fleet_db_fail(row->add->db, error);
    (void)sqlite3_reset(row->statement);
    (void)sqlite3_clear_bindings(row->statement);
    row->add->no_memory = false;
    return r;
}

static int run(struct ck_fleet_db_add *add, enum statement number, struct choke_error *error)
{
    struct row row = begin(add, number);
    return end(&row, NULL, error);
}

/* A row that a document lists. */
static struct row begin_item(struct ck_fleet_db_add *add, enum statement number, size_t n)
{
    struct row row = begin(add, number);

    set_number(&row, add->document);
    set_number(&row, (int64_t)n);
    return row;
}

/* ---- findings ---- */

static size_t severity_of(const json_t *finding)
{
    const char *text = json_string_value(json_object_get(finding, "severity"));

    for (size_t i = 0; text && i < SEVERITIES; i++)
        if (strcmp(text, severities[i]) == 0)
            return i;
    return SEVERITIES - 1;
}

static const char *string_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

/* The probes and rules that find credentials, as docs/probes name them. */
static bool is_secret_of(const char *probe, const char *rule)
{
    return strcmp(probe, "gitleaks") == 0 || strcmp(probe, "gitleaks_history") == 0 ||
           strncmp(rule, "secret", strlen("secret")) == 0 || strcmp(rule, "private_key") == 0;
}

static bool is_secret(const json_t *finding, const char *probe)
{
    const json_t *seen;
    size_t i;

    if (is_secret_of(probe, string_of(finding, "id")))
        return true;
    json_array_foreach(json_object_get(finding, "seen_by"), i, seen)
    {
        if (is_secret_of(string_of(seen, "probe"), string_of(seen, "id")))
            return true;
    }
    return false;
}

/* A document without fingerprints: rule, path and message, which survive a move of the line. */
static void set_fingerprint(struct row *row, const json_t *finding)
{
    char made[CK_FINGERPRINT_SIZE];
    const char *const parts[] = {string_of(finding, "id"), string_of(finding, "path"), string_of(finding, "message")};

    if (json_is_string(json_object_get(finding, "fingerprint"))) {
        set_text(row, finding, "fingerprint", SHORT);
        return;
    }
    ck_fingerprint_make(made, parts, sizeof(parts) / sizeof(parts[0]));
    set_own(row, made);
}

static void set_seen_by(struct row *row, const json_t *finding, const char *probe)
{
    json_t *names = json_array();
    const json_t *seen;
    size_t i;

    json_array_foreach(json_object_get(finding, "seen_by"), i, seen)
    {
        (void)json_array_append(names, json_object_get(seen, "probe"));
    }
    if (probe[0] != '\0')
        (void)json_array_append_new(names, json_string_nocheck(probe));
    set_list(row, names, ", ");
    json_decref(names);
}

/* probe: whose own list it is; "": the finding says who saw it. */
static int add_finding(struct ck_fleet_db_add *add, size_t n, const json_t *finding, const char *probe,
                       struct choke_error *error)
{
    struct row row = begin_item(add, FINDING, n);

    set_fingerprint(&row, finding);
    set_own(&row, severities[severity_of(finding)]);
    set_text(&row, finding, "id", SHORT);
    set_text(&row, finding, "message", SHORT);
    set_text(&row, finding, "path", LONG);
    set_integer(&row, finding, "line");
    set_text(&row, finding, "commit", SHORT);
    set_text(&row, finding, "place", SHORT);
    set_text(&row, finding, "source", SHORT);
    set_seen_by(&row, finding, probe);
    set_number(&row, is_secret(finding, probe));
    return end(&row, NULL, error);
}

/* What is done with each finding of a document. */
typedef int (*take_finding)(struct ck_fleet_db_add *add, size_t n, const json_t *finding, const char *probe,
                            struct choke_error *error);

static int each_in(struct ck_fleet_db_add *add, const json_t *array, const char *probe, size_t *n, take_finding take,
                   struct choke_error *error)
{
    const json_t *finding;
    size_t i;
    int r = 0;

    json_array_foreach(array, i, finding)
    {
        if (r == 0 && json_is_object(finding))
            r = take(add, (*n)++, finding, probe, error);
    }
    return r;
}

/* The list of all findings; of a document without one, what each probe found by itself. */
static int add_findings(struct ck_fleet_db_add *add, const json_t *document, struct choke_error *error)
{
    const json_t *merged = json_object_get(document, "findings"), *probe;
    size_t i, n = 0;
    int r = 0;

    if (json_is_array(merged))
        return each_in(add, merged, "", &n, add_finding, error);
    json_array_foreach(json_object_get(document, "probes"), i, probe)
    {
        if (r == 0)
            r = each_in(add, json_object_get(json_object_get(probe, "evidence"), "findings"), string_of(probe, "name"),
                        &n, add_finding, error);
    }
    return r;
}

static void count_in(const json_t *array, int64_t counts[SEVERITIES])
{
    const json_t *finding;
    size_t i;

    json_array_foreach(array, i, finding)
    {
        if (json_is_object(finding))
            counts[severity_of(finding)]++;
    }
}

static void count_findings(const json_t *document, int64_t counts[SEVERITIES])
{
    const json_t *merged = json_object_get(document, "findings"), *probe;
    size_t i;

    count_in(merged, counts);
    if (json_is_array(merged))
        return;
    json_array_foreach(json_object_get(document, "probes"), i, probe)
    {
        count_in(json_object_get(json_object_get(probe, "evidence"), "findings"), counts);
    }
}

/* ---- tools and probes ---- */

static int add_tools(struct ck_fleet_db_add *add, const json_t *document, struct choke_error *error)
{
    const json_t *tool;
    size_t i;
    int r = 0;

    json_array_foreach(json_object_get(document, "tools"), i, tool)
    {
        struct row row = begin_item(add, TOOL, i);
        set_text(&row, tool, "name", SHORT);
        set_text(&row, tool, "path", LONG);
        set_text(&row, tool, "version", SHORT);
        set_text(&row, tool, "sha256", SHORT);
        if ((r = end(&row, NULL, error)) < 0)
            break;
    }
    return r;
}

static int add_probe(struct ck_fleet_db_add *add, size_t n, const json_t *probe, struct choke_error *error)
{
    struct row row = begin_item(add, PROBE, n);
    const json_t *found = json_object_get(probe, "found");

    set_text(&row, probe, "name", SHORT);
    set_text(&row, probe, "layer", SHORT);
    set_text(&row, probe, "tool", SHORT);
    set_text(&row, probe, "state", SHORT);
    set_text(&row, probe, "reason", SHORT);
    set_text(&row, probe, "install", SHORT);
    set_text(&row, probe, "headline", SHORT);
    set_integer(&row, found, "count");
    set_text(&row, found, "noun", SHORT);
    set_real(&row, json_object_get(probe, "timing"), "duration_ms");
    return end(&row, NULL, error);
}

/* "pkg:npm/left-pad@1.3.0": npm. */
static void set_ecosystem(struct row *row, const json_t *package)
{
    const char *purl = string_of(package, "purl");
    size_t length = strncmp(purl, "pkg:", 4) == 0 ? strcspn(purl + 4, "/") : 0;

    set_taken(row, length > 0 && length < 32 ? ck_shown_text(purl + 4, length, SHORT) : NULL);
}

static int add_packages(struct ck_fleet_db_add *add, const json_t *packages, size_t *n, struct choke_error *error)
{
    const json_t *package;
    size_t i;
    int r = 0;

    json_array_foreach(packages, i, package)
    {
        struct row row = begin_item(add, PACKAGE, (*n)++);
        set_text(&row, package, "name", SHORT);
        set_text(&row, package, "version", SHORT);
        set_ecosystem(&row, package);
        set_text(&row, package, "purl", LONG);
        set_list(&row, json_object_get(package, "licences"), ", ");
        set_text(&row, package, "path", LONG);
        if ((r = end(&row, NULL, error)) < 0)
            break;
    }
    return r;
}

static int add_executables(struct ck_fleet_db_add *add, const json_t *programs, size_t *n, struct choke_error *error)
{
    const json_t *program;
    size_t i;
    int r = 0;

    json_array_foreach(programs, i, program)
    {
        struct row row = begin_item(add, EXECUTABLE, (*n)++);
        set_text(&row, program, "path", LONG);
        set_list(&row, json_object_get(program, "argv"), " ");
        set_text(&row, program, "error", SHORT);
        if ((r = end(&row, NULL, error)) < 0)
            break;
    }
    return r;
}

static int add_egress(struct ck_fleet_db_add *add, const json_t *sockets, size_t *n, struct choke_error *error)
{
    const json_t *attempt;
    size_t i;
    int r = 0;

    json_array_foreach(sockets, i, attempt)
    {
        struct row row = begin_item(add, EGRESS, (*n)++);
        set_text(&row, attempt, "call", SHORT);
        set_text(&row, attempt, "family", SHORT);
        set_text(&row, attempt, "address", LONG);
        set_integer(&row, attempt, "port");
        set_text(&row, attempt, "error", SHORT);
        if ((r = end(&row, NULL, error)) < 0)
            break;
    }
    return r;
}

/* Lists are known by their members, so a probe of another name may have them too. */
static int add_probes(struct ck_fleet_db_add *add, const json_t *document, struct choke_error *error)
{
    const json_t *probe;
    size_t i, packages = 0, executables = 0, egress = 0;
    int r = 0;

    json_array_foreach(json_object_get(document, "probes"), i, probe)
    {
        const json_t *evidence = json_object_get(probe, "evidence");
        r = add_probe(add, i, probe, error);
        if (r == 0)
            r = add_packages(add, json_object_get(evidence, "packages"), &packages, error);
        if (r == 0)
            r = add_executables(add, json_object_get(evidence, "programs"), &executables, error);
        if (r == 0)
            r = add_egress(add, json_object_get(evidence, "sockets"), &egress, error);
        if (r < 0)
            break;
    }
    return r;
}

/* ---- the whole ---- */

bool ck_fleet_db_add_is_document(const json_t *document)
{
    return json_integer_value(json_object_get(document, "format")) == FORMAT &&
           json_is_array(json_object_get(document, "probes")) &&
           json_is_object(json_object_get(document, "repository"));
}

int ck_fleet_db_add_look(struct ck_fleet_db_add *add, const char *fleet, const char *begun, const char *directory,
                         int64_t *ret_look, struct choke_error *error)
{
    struct row row = begin(add, LOOK);

    set_own(&row, fleet);
    set_own(&row, begun);
    set_own(&row, directory);
    return end(&row, ret_look, error);
}

int ck_fleet_db_add_find(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source,
                         char ret_sha256[CK_FLEET_DB_ADD_SHA256_SIZE], struct choke_error *error)
{
    struct row row = begin(add, FIND);

    set_own(&row, source->name);
    set_number(&row, source->look);
    int step = add->no_memory ? SQLITE_NOMEM : sqlite3_step(row.statement);
    ret_sha256[0] = '\0';
    const char *found = step == SQLITE_ROW ? (const char *)sqlite3_column_text(row.statement, 0) : NULL;
    if (found)
        (void)snprintf(ret_sha256, CK_FLEET_DB_ADD_SHA256_SIZE, "%s", found);
    int r = step == SQLITE_ROW || step == SQLITE_DONE ? step == SQLITE_ROW : ck_fleet_db_fail(add->db, error);
    (void)sqlite3_reset(row.statement);
    return r;
}

/* Of an index that somebody damaged only the name is sure. */
static void set_place(struct row *row, const struct ck_fleet_db_source *source)
{
    bool is_text = json_is_string(source->place) || json_is_object(source->place);
    char *text = NULL;

    if (is_text && ck_shown_json(source->place, LONG, &text) < 0)
        row->add->no_memory = true;
    if (text)
        set_taken(row, text);
    else
        set_own(row, source->name);
}

static int set_repository(struct ck_fleet_db_add *add, enum statement number, const struct ck_fleet_db_source *source,
                          int64_t *ret_id, struct choke_error *error)
{
    struct row row = begin(add, number);

    set_own(&row, source->name);
    set_place(&row, source);
    return end(&row, ret_id, error);
}

/* What is there already is not written again: a collect without news writes nothing. */
static int add_repository(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source, int64_t *ret_id,
                          struct choke_error *error)
{
    int r = set_repository(add, KNOWN, source, ret_id, error);
    return r == 0 && *ret_id == 0 ? set_repository(add, REPOSITORY, source, ret_id, error) : r;
}

/* A statement about one repository in one look. */
static int run_for(struct ck_fleet_db_add *add, enum statement number, int64_t look, int64_t repository,
                   struct choke_error *error)
{
    struct row row = begin(add, number);

    set_number(&row, look);
    set_number(&row, repository);
    return end(&row, NULL, error);
}

static int64_t packages_total(const json_t *document)
{
    const json_t *probe;
    size_t i;
    int64_t total = 0;

    json_array_foreach(json_object_get(document, "probes"), i, probe)
    {
        int64_t number = json_integer_value(json_object_get(json_object_get(probe, "evidence"), "packages_total"));
        if (number < 0 || __builtin_add_overflow(total, number, &total))
            return INT64_MAX;
    }
    return total;
}

static int add_head(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source, int64_t repository,
                    const json_t *document, struct choke_error *error)
{
    struct row row = begin(add, DOCUMENT);
    const json_t *looked_at = json_object_get(document, "repository"), *timing = json_object_get(document, "timing");
    int64_t counts[SEVERITIES] = {0};

    set_number(&row, source->look);
    set_number(&row, repository);
    set_own(&row, source->sha256);
    set_text(&row, timing, "date", SHORT);
    set_text(&row, document, "chokepoint", SHORT);
    set_text(&row, document, "commit", SHORT);
    set_number(&row, json_is_true(json_object_get(document, "cancelled")));
    set_integer(&row, looked_at, "files");
    set_number(&row, json_is_true(json_object_get(looked_at, "files_incomplete")));
    set_real(&row, timing, "duration_ms");
    count_findings(document, counts);
    for (size_t i = 0; i < SEVERITIES; i++)
        set_number(&row, counts[i]);
    set_number(&row, json_is_true(json_object_get(json_object_get(document, "findings_summary"), "cut")));
    set_number(&row, packages_total(document));
    return end(&row, &add->document, error);
}

static int add_latest(struct ck_fleet_db_add *add, int64_t repository, struct choke_error *error)
{
    struct row row = begin(add, LATEST);

    set_number(&row, repository);
    return end(&row, NULL, error);
}

static int add_parts(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source, const json_t *document,
                     struct choke_error *error)
{
    int64_t repository = 0;

    int r = add_repository(add, source, &repository, error);
    if (r == 0)
        r = run_for(add, REMOVE, source->look, repository, error);
    if (r == 0)
        r = run_for(add, NO_FAILURE, source->look, repository, error);
    if (r == 0)
        r = add_head(add, source, repository, document, error);
    if (r == 0)
        r = add_findings(add, document, error);
    if (r == 0)
        r = add_tools(add, document, error);
    if (r == 0)
        r = add_probes(add, document, error);
    return r == 0 ? add_latest(add, repository, error) : r;
}

/* After a failure nothing of it is left; what the failure was has been noted before. */
static int finish(struct ck_fleet_db_add *add, int r, struct choke_error *error)
{
    if (r == 0)
        r = run(add, COMMIT, error);
    if (r < 0)
        (void)run(add, ROLLBACK, NULL);
    return r;
}

int ck_fleet_db_add_document(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source,
                             const json_t *document, struct choke_error *error)
{
    int r = run(add, BEGIN, error);
    return r == 0 ? finish(add, add_parts(add, source, document, error), error) : r;
}

static int add_failure(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source, const json_t *failure,
                       struct choke_error *error)
{
    int64_t repository = 0;

    int r = add_repository(add, source, &repository, error);
    if (r < 0)
        return r;
    struct row row = begin(add, FAILURE);
    set_number(&row, source->look);
    set_number(&row, repository);
    set_text(&row, failure, "stage", SHORT);
    set_text(&row, failure, "message", SHORT);
    set_text(&row, failure, "at", SHORT);
    return end(&row, NULL, error);
}

int ck_fleet_db_add_failure(struct ck_fleet_db_add *add, const struct ck_fleet_db_source *source, const json_t *failure,
                            struct choke_error *error)
{
    int r = run(add, BEGIN, error);
    return r == 0 ? finish(add, add_failure(add, source, failure, error), error) : r;
}
