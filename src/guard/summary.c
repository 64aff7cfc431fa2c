/* summary.c - see summary.h. */
#include "guard/summary.h"

#include "base/fd.h"
#include "front/jansson.h"
#include "front/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_MAX 40 /* lines about files, on a terminal */

/* Init counts in the cage, and we count here: neither can be told by the tree. */
const char *ck_guard_summary_difference(const struct ck_guard_summary *summary)
{
    const struct choke_guard_counts *counts = &summary->counts;
    const struct ck_guard_calls *calls = &summary->calls;
    if (!summary->result->jail)
        return NULL;
    if (counts->attempts == 0)
        return "the cage has not reported its counts";
    if (counts->attempts !=
        counts->door + counts->carrier + counts->workspace + counts->refused + counts->not_found + counts->failed)
        return "the executions in the cage are not the sum of what became of them";
    if (counts->unexpected != 0)
        return "a door was executed that was not seen";
    if (counts->door != counts->connections || counts->connections != counts->received)
        return "the doors that were executed are not the connections that have arrived";
    /*
     * A door that was told to wait connects once more and says so, or it would be counted twice. A filter
     * that a carrier installed can make a door believe that, and then its only connection is not counted.
     */
    if (calls->ran + calls->refused + calls->malformed > counts->received)
        return "more calls have arrived than doors were executed";
    return calls->unrecorded > 0 ? "the log lacks records, so it does not account for every execution" : NULL;
}

/* ---- text ---- */

static void print_count(uint64_t count, const char *what, const char **separator)
{
    if (count == 0)
        return;
    (void)fprintf(stderr, "%s%" PRIu64 " %s", *separator, count, what);
    *separator = ", ";
}

static bool is_beneath(const char *root, const char *path)
{
    size_t length = root ? strlen(root) : 0;
    return length > 0 && strncmp(path, root, length) == 0 && path[length] == '/';
}

/* Is it a program of the system that PROGRAM can do without, as its profile says? A copy with such a name is not. */
static bool is_expected(const json_t *cage, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t index;
    json_t *item;
    if (strncmp(path, "/usr/", strlen("/usr/")) != 0 && strncmp(path, "/bin/", strlen("/bin/")) != 0)
        return false;
    json_array_foreach(json_object_get(cage, "may_refuse"), index, item)
    {
        if (strcmp(json_string_value(item), name) == 0)
            return true;
    }
    return false;
}

static void print_denials(const struct choke_result *result, const char *root, const json_t *cage)
{
    uint64_t expected = 0;
    for (size_t i = 0; i < result->denied_count; i++) {
        const struct choke_denial *denial = &result->denied[i];
        if (is_expected(cage, denial->path)) {
            expected++;
            continue;
        }
        (void)fprintf(stderr, "chokepoint: refused: %s, by %s; ",
                      denial->path[0] != '\0' ? denial->path : "a file whose name could not be read", denial->by);
        if (denial->add)
            (void)fprintf(stderr, "add  %s  to the entry of what calls it, or an entry of its own for a door\n",
                          denial->add);
        else if (is_beneath(root, denial->path))
            (void)fputs("call a script by its interpreter, as in 'sh FILE'; other files beneath the root need "
                        "'workspace_code' in 'guard' of the policy\n",
                        stderr);
        else
            (void)fputs("ask the owner of the policy\n", stderr);
    }
    if (expected > 0)
        (void)fprintf(stderr, "chokepoint: refused: %" PRIu64 " that the program can do without\n", expected);
    if (result->denied_more > 0)
        (void)fprintf(stderr, "chokepoint: refused: %" PRIu64 " more, which are not listed\n", result->denied_more);
}

static void print_secrets(const struct choke_guard *guard)
{
    struct choke_guard_secret secret;
    for (size_t i = 0; choke_guard_secret(guard, i, &secret); i++)
        (void)fprintf(stderr, "chokepoint: '%s' was added to %" PRIu64 " requests for %s port %u\n", secret.header,
                      secret.requests, secret.host, secret.port);
}

/* Only what would run; the report has everything. */
static void print_changes(const struct ck_guard_summary *summary)
{
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < summary->changes_count; i++) {
        const struct choke_file_change *change = &summary->changes[i];
        if (!change->runs_later)
            continue;
        if (shown < SHOWN_MAX)
            (void)fprintf(stderr, "chokepoint: left, and may run later: %s %s (%s)\n", change->kind,
                          CK_TEXT_SAFE(change->path), change->runs_later);
        *(shown < SHOWN_MAX ? &shown : &more) += 1;
    }
    if (more > 0)
        (void)fprintf(stderr, "chokepoint: left, and may run later: %zu more; --report lists them\n", more);
    if (summary->changes_incomplete)
        (void)fputs("chokepoint: not everything that the program left could be looked at\n", stderr);
}

void ck_guard_summary_print(const struct ck_guard_summary *summary)
{
    json_t *cage = summary->description ? json_loads(summary->description, 0, NULL) : NULL;
    const struct choke_guard_counts *counts = &summary->counts;
    const char *separator = ": ";
    print_denials(summary->result, summary->root, cage);
    json_decref(cage);
    print_changes(summary);
    (void)fprintf(stderr, "chokepoint: %" PRIu64 " executions", counts->attempts);
    print_count(counts->carrier, "in the cage", &separator);
    print_count(counts->door, "through doors", &separator);
    print_count(counts->workspace, "of files beneath the root", &separator);
    print_count(counts->refused, "refused", &separator);
    print_count(counts->not_found, "not found", &separator);
    print_count(counts->failed, "failed", &separator);
    (void)fputs("\n", stderr);
    if (summary->calls.refused > 0)
        (void)fprintf(stderr, "chokepoint: %" PRIu64 " calls of tools were refused\n", summary->calls.refused);
    print_secrets(summary->guard);
    if (summary->calls.unrecorded > 0)
        (void)fprintf(stderr, "chokepoint: %" PRIu64 " %s a record%s%s\n", summary->calls.unrecorded,
                      summary->calls.unrecorded == 1 ? "call lacks" : "calls lack", summary->unrecorded_by ? ": " : "",
                      summary->unrecorded_by ? CK_TEXT_SAFE(summary->unrecorded_by) : "");
    const char *difference = ck_guard_summary_difference(summary);
    if (difference)
        (void)fprintf(stderr, "chokepoint: the counts differ: %s\n", difference);
}

/* ---- JSON ---- */

static json_t *denials_of(const struct choke_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < result->denied_count; i++) {
        const struct choke_denial *denial = &result->denied[i];
        json_t *one =
            json_pack("{s:s, s:o, s:o, s:i, s:o}", "kind", denial->kind, "path", ck_jansson_bytes(denial->path), "by",
                      ck_jansson_bytes(denial->by), "errno", denial->errnum, "add", ck_jansson_text(denial->add));
        if (!one || json_array_append_new(list, one) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *secrets_of(const struct choke_guard *guard)
{
    json_t *list = json_array();
    struct choke_guard_secret secret;
    for (size_t i = 0; list && choke_guard_secret(guard, i, &secret); i++) {
        json_t *one = json_pack("{s:s, s:i, s:s, s:I}", "host", secret.host, "port", secret.port, "header",
                                secret.header, "requests", (json_int_t)secret.requests);
        if (!one || json_array_append_new(list, one) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *changes_of(const struct ck_guard_summary *summary)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < summary->changes_count; i++) {
        const struct choke_file_change *change = &summary->changes[i];
        json_t *one = json_pack("{s:o, s:s, s:s, s:o}", "path", ck_jansson_bytes(change->path), "kind", change->kind,
                                "type", change->type, "runs_later", ck_jansson_text(change->runs_later));
        if (!one || json_array_append_new(list, one) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *make(const struct ck_guard_summary *summary)
{
    const struct choke_guard_counts *counts = &summary->counts;
    const struct choke_result *result = summary->result;
    const char *difference = ck_guard_summary_difference(summary);
    json_t *executions = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "attempts", (json_int_t)counts->attempts,
                                   "door", (json_int_t)counts->door, "carrier", (json_int_t)counts->carrier,
                                   "workspace", (json_int_t)counts->workspace, "refused", (json_int_t)counts->refused,
                                   "not_found", (json_int_t)counts->not_found, "failed", (json_int_t)counts->failed);
    json_t *calls = json_pack("{s:I, s:I, s:I, s:I}", "ran", (json_int_t)summary->calls.ran, "refused",
                              (json_int_t)summary->calls.refused, "malformed", (json_int_t)summary->calls.malformed,
                              "abandoned", (json_int_t)summary->calls.abandoned);
    return json_pack(
        "{s:s, s:o, s:i, s:o, s:o, s:I, s:o, s:I, s:o, s:b, s:o, s:o}", "outcome", choke_outcome_name(result->outcome),
        "program", ck_jansson_tool(result->tool_name, result->tool_path), "status", summary->status, "executions",
        executions, "calls", calls, "unrecorded", (json_int_t)summary->calls.unrecorded, "denied", denials_of(result),
        "denied_more", (json_int_t)result->denied_more, "changes", changes_of(summary), "changes_incomplete",
        summary->changes_incomplete, "secrets", secrets_of(summary->guard), "difference", ck_jansson_text(difference));
}

/*
 * The program may have had the file, or its name: then what it wrote there follows our text, or has taken its place.
 * Only a regular file can be shortened, and only there it is needed.
 */
static int write_text(const char *text, int fd, const char *path)
{
    struct stat ours, there;
    (void)!ftruncate(fd, 0);
    int r = ck_fd_write_all(fd, text, strlen(text));
    if (r == 0)
        r = ck_fd_write_all(fd, "\n", 1);
    if (r < 0)
        return r;
    if (fstat(fd, &ours) < 0)
        return -errno;
    return lstat(path, &there) == 0 && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino ? 0 : -ESTALE;
}

int ck_guard_summary_write(const struct ck_guard_summary *summary, int fd, const char *path, struct choke_error *error)
{
    json_t *value = make(summary);
    char *text = value ? json_dumps(value, JSON_INDENT(2)) : NULL;
    json_decref(value);
    if (!text)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "cannot write the report '%s': out of memory",
                             CK_TEXT_SAFE(path));
    int r = write_text(text, fd, path);
    free(text);
    if (r == -ESTALE)
        return ck_text_error(
            error, CHOKE_NONE, ESTALE,
            "the report '%s' is not that of guard: the file was replaced or removed meanwhile; keep it "
            "where the program cannot write",
            CK_TEXT_SAFE(path));
    return r == 0 ? 0
                  : ck_text_error(error, CHOKE_NONE, -r, "cannot write the report '%s': %s", CK_TEXT_SAFE(path),
                                  strerror(-r));
}
