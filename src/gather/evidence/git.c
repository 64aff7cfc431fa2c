/*
 * git.c - reads the snapshot: which commit is checked out, where it came from, what is changed and
 * what is tracked.
 *
 * There is one call per question, and each may fail by itself: a bare repository has no status, one
 * without commits has no log, and a directory that is not a repository has nothing. What could not
 * be asked is null, never a guess.
 */
#include "gather/evidence/url.h"

#include "gather/evidence/common.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED_MAX 100   /* paths and names that only illustrate a count */
#define EXTENSION_MAX 16 /* bytes of an extension, with a NUL */

/* The answers of all calls, to pass them as one argument. */
struct answers {
    const struct ck_answer *items;
    size_t count;
};

/* NULL also for a call that ended with 128: git could not answer the question. */
static const struct ck_answer *find_ok(const struct answers *all, const char *id)
{
    return ck_evidence_find_ok_answer(all->items, all->count, id);
}

/* One piece of bytes up to end; end itself is skipped. */
static bool next_piece(const char **at, size_t *left, char end, const char **ret_piece, size_t *ret_length)
{
    if (*left == 0)
        return false;
    const char *stop = memchr(*at, end, *left);
    size_t length = stop ? (size_t)(stop - *at) : *left;

    *ret_piece = *at;
    *ret_length = length;
    length += stop ? 1 : 0;
    *at += length;
    *left -= length;
    return true;
}

/* piece is not NUL-terminated. */
static bool equals(const char *piece, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(piece, text, length) == 0;
}

/* ---- what kind of repository ---- */

/* Neither word: a version of git that does not know the option repeats it. */
static json_t *bool_or_null(const char *piece, size_t length)
{
    return equals(piece, length, "true") ? json_true() : equals(piece, length, "false") ? json_false() : json_null();
}

/* The answers of rev-parse, one per line, in the order of the options. */
static int set_kind(json_t *document, const struct ck_answer *kind)
{
    static const char *const names[] = {"bare", "work_tree", "shallow", "object_format"};
    const char *at = kind ? kind->out : "", *piece;
    size_t left = kind ? kind->out_length : 0, length;
    int bad = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool there = next_piece(&at, &left, '\n', &piece, &length);
        json_t *value = !there ? json_null() : i < 3 ? bool_or_null(piece, length) : ck_evidence_text(piece, length);
        bad |= ck_evidence_set(document, names[i], value);
    }
    /* --git-dir and --git-common-dir differ only in a linked work tree. */
    const char *common;
    size_t common_length;
    bool linked = next_piece(&at, &left, '\n', &piece, &length) &&
                  next_piece(&at, &left, '\n', &common, &common_length) &&
                  (length != common_length || memcmp(piece, common, length) != 0);
    return bad | ck_evidence_set(document, "linked_worktree", kind ? json_boolean(linked) : json_null());
}

/* ---- the commit ---- */

/* %P lists the parents with spaces between them; a root commit has an empty field. */
static json_t *count_fields(const char *piece, size_t length)
{
    json_int_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += piece[i] != ' ' && (i == 0 || piece[i - 1] == ' ');
    return json_integer(count);
}

/* The format of the call separates the fields with NULs: a subject may contain anything else. */
static int set_commit(json_t *document, const struct ck_answer *head)
{
    static const char *const names[] = {"commit", "tree", "parents", "authored", "committed", "subject"};
    const char *at = head ? head->out : "", *piece;
    size_t left = head ? head->out_length : 0, length;
    int bad = 0;

    /* git log ends the record with a newline. */
    if (left > 0 && at[left - 1] == '\n')
        left--;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool there = next_piece(&at, &left, '\0', &piece, &length);
        json_t *value = !there ? json_null() : i == 2 ? count_fields(piece, length) : ck_evidence_text(piece, length);
        bad |= ck_evidence_set(document, names[i], value);
    }
    return bad;
}

/* If the output was cut, its beginning is what was lost. */
static json_t *first_line(const struct ck_answer *answer)
{
    if (!answer || answer->out_truncated)
        return json_null();
    return ck_evidence_text(answer->out, ck_evidence_line(answer->out, answer->out_length));
}

/* At most 19 digits. strtoll returns the largest number for a larger one. */
static json_t *number_of(const struct ck_answer *answer)
{
    char digits[24];
    size_t length = answer ? ck_evidence_line(answer->out, answer->out_length) : 0;

    if (length == 0 || length >= sizeof(digits) - 4)
        return json_null();
    memcpy(digits, answer->out, length);
    digits[length] = '\0';
    if (strspn(digits, "0123456789") != length)
        return json_null();
    return json_integer((json_int_t)strtoll(digits, NULL, 10));
}

/* shortlog prints one line per author. */
static json_t *lines_of(const struct ck_answer *answer)
{
    json_int_t count = 0;
    if (!answer || answer->out_truncated)
        return json_null();
    for (size_t i = 0; i < answer->out_length; i++)
        count += answer->out[i] == '\n';
    return json_integer(count);
}

/*
 * Dates in the form of git's %cI sort as bytes only within one time zone, so git sorts them: the
 * last line is the oldest root commit.
 */
static json_t *last_line(const struct ck_answer *answer)
{
    if (!answer || answer->out_length == 0)
        return json_null();
    size_t end = answer->out_length;
    if (answer->out[end - 1] == '\n')
        end--;
    size_t begin = end;
    while (begin > 0 && answer->out[begin - 1] != '\n')
        begin--;
    return ck_evidence_text(answer->out + begin, end - begin);
}

/* Each is null if its call failed, for example in a repository without commits. */
static int set_history(json_t *document, const struct answers *all)
{
    int bad = ck_evidence_set(document, "branch", first_line(find_ok(all, "branch")));
    bad |= ck_evidence_set(document, "describe", first_line(find_ok(all, "describe")));
    bad |= ck_evidence_set(document, "commits", number_of(find_ok(all, "count")));
    bad |= ck_evidence_set(document, "first_committed", last_line(find_ok(all, "roots")));
    return bad | ck_evidence_set(document, "authors", lines_of(find_ok(all, "authors")));
}

/* Other refs, such as refs/stash, are not counted. */
static int set_refs(json_t *document, const struct ck_answer *refs)
{
    static const char *const prefixes[] = {"refs/heads/", "refs/tags/", "refs/remotes/"};
    static const char *const names[] = {"branches", "tags", "remote_branches"};
    json_int_t counts[3] = {0};
    const char *at = refs ? refs->out : "", *piece;
    size_t left = refs ? refs->out_length : 0, length;
    int bad = 0;

    while (next_piece(&at, &left, '\n', &piece, &length))
        for (size_t i = 0; i < 3; i++)
            counts[i] += length >= strlen(prefixes[i]) && memcmp(piece, prefixes[i], strlen(prefixes[i])) == 0;
    for (size_t i = 0; i < 3; i++)
        bad |= ck_evidence_set(document, names[i], refs ? json_integer(counts[i]) : json_null());
    return bad;
}

/* ---- remotes ---- */

/* "NAME\tURL (fetch)" */
static json_t *read_remote(const char *line, size_t length)
{
    static const char fetch[] = " (fetch)";
    const char *tab = memchr(line, '\t', length);
    size_t suffix = sizeof(fetch) - 1;

    /* git also lists each remote as "(push)"; those lines are skipped. */
    if (!tab || length < suffix || memcmp(line + length - suffix, fetch, suffix) != 0)
        return NULL;
    size_t name_length = (size_t)(tab - line), url_length = length - name_length - 1;
    if (url_length < suffix)
        return NULL;
    char *url = ck_evidence_copy(tab + 1, url_length - suffix);
    if (!url)
        return NULL;
    /* A password in the URL must not reach the document. */
    ck_evidence_url_strip(url);
    json_t *remote = json_object();
    int bad = ck_evidence_set(remote, "name", ck_evidence_text(line, name_length));
    bad |= ck_evidence_set(remote, "url", ck_evidence_text(url, strlen(url)));
    free(url);
    if (!bad)
        return remote;
    json_decref(remote);
    return NULL;
}

/* An empty list if the call failed: a repository without remotes looks the same. */
static int set_remotes(json_t *document, const struct ck_answer *remotes)
{
    struct ck_evidence_list list CK_CLEANUP_LIST = {0};
    const char *at = remotes ? remotes->out : "", *piece;
    size_t left = remotes ? remotes->out_length : 0, length;

    while (next_piece(&at, &left, '\n', &piece, &length)) {
        json_t *remote = read_remote(piece, length);
        if (remote)
            ck_evidence_list_add(&list, remote);
    }
    return ck_evidence_set_list(document, "remotes", &list);
}

/* ---- what is changed ---- */

/* git status --porcelain=v2 -z. */
struct changes {
    json_int_t staged, unstaged, untracked, conflicts; /* a file may be both staged and unstaged */
    json_t *paths;                                     /* the first LISTED_MAX */
};

static void note_path(json_t *paths, const char *path, size_t length)
{
    if (json_array_size(paths) < LISTED_MAX)
        (void)json_array_append_new(paths, ck_evidence_text(path, length));
}

/* The path of an entry comes after a fixed number of fields. */
static void note_entry(struct changes *changes, const char *entry, size_t length)
{
    /* "1" is an ordinary change, "2" a rename or a copy, "u" a conflict; "?" has only the path. */
    size_t fields = entry[0] == '1' ? 8 : entry[0] == '2' ? 9 : entry[0] == 'u' ? 10 : 1, at = 0;

    for (; fields > 0 && at < length; at++)
        fields -= entry[at] == ' ';
    note_path(changes->paths, entry + at, length - at);
}

static void read_entry(struct changes *changes, const char *entry, size_t length)
{
    switch (entry[0]) {
    case '1':
    case '2':
        /* "1 XY ...": X is the index, Y the work tree, "." is unchanged. */
        changes->staged += length > 3 && entry[2] != '.';
        changes->unstaged += length > 3 && entry[3] != '.';
        break;
    case 'u':
        changes->conflicts++;
        break;
    case '?':
        changes->untracked++;
        break;
    /* Headers ("#") and entries that are not asked for. */
    default:
        return;
    }
    note_entry(changes, entry, length);
}

/* *ret_clean says what git knows; files that git is set not to check are counted elsewhere. */
static json_t *changes_of(const struct ck_answer *status, bool *ret_clean)
{
    struct changes changes = {.paths = json_array()};
    json_t *object = json_object();
    const char *at = status->out, *piece;
    size_t left = status->out_length, length;

    while (next_piece(&at, &left, '\0', &piece, &length)) {
        if (length == 0)
            continue;
        read_entry(&changes, piece, length);
        if (piece[0] == '2') /* the next piece is the old path of a rename */
            (void)next_piece(&at, &left, '\0', &piece, &length);
    }
    *ret_clean = changes.staged + changes.unstaged + changes.untracked + changes.conflicts == 0;
    int bad = ck_evidence_set(object, "staged", json_integer(changes.staged));
    bad |= ck_evidence_set(object, "unstaged", json_integer(changes.unstaged));
    bad |= ck_evidence_set(object, "untracked", json_integer(changes.untracked));
    bad |= ck_evidence_set(object, "conflicts", json_integer(changes.conflicts));
    bad |= ck_evidence_set(object, "paths", changes.paths);
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- what is tracked ---- */

/* git ls-tree -r -l -z. */
struct tracked {
    json_int_t files, bytes, links, executables; /* links and executables are files too */
    json_t *extensions;                          /* counts by name */
    struct ck_evidence_list submodules;
};

/*
 * The extension of the last name in lower case; "" for none. A long or unusual one counts as none:
 * it would be a name, not a kind of file.
 */
static void extension_of(const char *path, size_t length, char ret_extension[EXTENSION_MAX])
{
    size_t begin = length, used = 0;

    ret_extension[0] = '\0';
    while (begin > 0 && path[begin - 1] != '.' && path[begin - 1] != '/')
        begin--;
    /* No dot, or the dot begins the name: ".gitignore" has no extension. */
    if (begin < 2 || path[begin - 1] == '/' || path[begin - 2] == '/' || length - begin >= EXTENSION_MAX)
        return;
    for (size_t i = begin; i < length; i++)
        if (isalnum((unsigned char)path[i]))
            ret_extension[used++] = (char)tolower((unsigned char)path[i]);
    ret_extension[used] = '\0';
}

static json_t *submodule(const char *path, size_t length, const char *commit, size_t commit_length)
{
    json_t *object = json_object();
    int bad = ck_evidence_set(object, "path", ck_evidence_path(path, length));
    bad |= ck_evidence_set(object, "commit", ck_evidence_text(commit, commit_length));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* "100644 blob OBJECT    SIZE\tPATH" */
static void read_tracked(struct tracked *tracked, const char *entry, size_t length)
{
    const char *tab = memchr(entry, '\t', length);
    char extension[EXTENSION_MAX], mode[8], object[65], size[24];
    char head[160];

    if (!tab || (size_t)(tab - entry) >= sizeof(head))
        return;
    size_t path_length = length - (size_t)(tab - entry) - 1;
    memcpy(head, entry, (size_t)(tab - entry));
    head[tab - entry] = '\0';
    /* An object id has 40 digits, or 64 with SHA-256. The size of a submodule is "-". */
    if (sscanf(head, "%7s %*15s %64s %20s", mode, object, size) != 3)
        return;
    /* Modes of git: 160000 is a submodule, 120000 a symlink, 100755 an executable. */
    if (strcmp(mode, "160000") == 0) {
        ck_evidence_list_add(&tracked->submodules, submodule(tab + 1, path_length, object, strlen(object)));
        return;
    }
    tracked->files++;
    tracked->links += strcmp(mode, "120000") == 0;
    tracked->executables += strcmp(mode, "100755") == 0;
    /* Both limits keep the sum from overflowing. */
    if (strlen(size) < 16 && tracked->bytes < INT64_MAX / 2)
        tracked->bytes += (json_int_t)strtoull(size, NULL, 10);
    extension_of(tab + 1, path_length, extension);
    ck_evidence_count(tracked->extensions, extension[0] ? extension : "(none)", 1);
}

/* incomplete: the beginning of the list was cut, so all counts are too low. */
static int set_tracked(json_t *document, const struct ck_answer *tree)
{
    struct tracked tracked = {.extensions = json_object()};
    json_t *summary = json_object();
    const char *at = tree->out, *piece;
    size_t left = tree->out_length, length;

    while (next_piece(&at, &left, '\0', &piece, &length))
        read_tracked(&tracked, piece, length);
    int bad = ck_evidence_set(summary, "files", json_integer(tracked.files));
    bad |= ck_evidence_set(summary, "bytes", json_integer(tracked.bytes));
    bad |= ck_evidence_set(summary, "links", json_integer(tracked.links));
    bad |= ck_evidence_set(summary, "executables", json_integer(tracked.executables));
    bad |= ck_evidence_set_counts(summary, "extensions", tracked.extensions);
    bad |= ck_evidence_set(summary, "incomplete", json_boolean(tree->out_truncated));
    bad |= ck_evidence_set(document, "tracked", summary);
    bad |= ck_evidence_set_list(document, "submodules", &tracked.submodules);
    ck_evidence_list_done(&tracked.submodules);
    json_decref(tracked.extensions);
    return bad;
}

/* ---- what is hidden ---- */

/* Files that git or other tools pass over. */
struct hidden {
    struct ck_evidence_list list;
    json_t *counts;
};

/* message is one of two fixed texts, so it is not escaped. */
static void add_hidden(struct hidden *hidden, const char *id, const char *message, const char *path, size_t length)
{
    const struct ck_evidence_location location = {id, "medium", path, length, 0};

    ck_evidence_count(hidden->counts, id, 1);
    if (!ck_evidence_list_wants(&hidden->list, &location))
        return;
    json_t *item = json_object();
    int bad = ck_evidence_set(item, "id", json_string(id));
    bad |= ck_evidence_set(item, "severity", json_string(location.severity));
    bad |= ck_evidence_set(item, "message", json_string(message));
    bad |= ck_evidence_set(item, "path", ck_evidence_path(path, length));
    hidden->list.failed |= bad != 0;
    ck_evidence_list_add(&hidden->list, item);
}

/* Files that are tracked and also ignored: tools that respect .gitignore skip them. */
static void add_ignored(struct hidden *hidden, const struct ck_answer *ignored)
{
    const char *at = ignored ? ignored->out : "", *piece;
    size_t left = ignored ? ignored->out_length : 0, length;

    while (next_piece(&at, &left, '\0', &piece, &length))
        add_hidden(hidden, "tracked-but-ignored", "tracked, but a search that respects .gitignore skips it", piece,
                   length);
}

/*
 * "H PATH": a lower-case letter means "assume unchanged", S means "skip worktree". Returns the
 * number of files that git does not compare.
 */
static uint64_t add_unwatched(struct hidden *hidden, const struct ck_answer *flags)
{
    const char *at = flags ? flags->out : "", *piece;
    size_t left = flags ? flags->out_length : 0, length;
    uint64_t count = 0;

    while (next_piece(&at, &left, '\0', &piece, &length)) {
        /* An upper-case letter other than S is a file that git compares as usual. */
        if (length < 3 || piece[1] != ' ' || (piece[0] != 'S' && !islower((unsigned char)piece[0])))
            continue;
        add_hidden(hidden, "told-unchanged", "git is set not to check whether this file changed", piece + 2,
                   length - 2);
        count++;
    }
    return count;
}

/* unwatched is returned separately: it changes what "clean" means in the headline. */
static int set_hidden(json_t *document, const struct answers *all, uint64_t *ret_count, uint64_t *ret_unwatched)
{
    struct hidden hidden = {.counts = json_object()};

    add_ignored(&hidden, find_ok(all, "ignored"));
    *ret_unwatched = add_unwatched(&hidden, find_ok(all, "flags"));
    *ret_count = hidden.list.total;
    int bad = ck_evidence_set_counts(document, "by_id", hidden.counts);
    bad |= ck_evidence_set_list(document, "findings", &hidden.list);
    ck_evidence_list_done(&hidden.list);
    json_decref(hidden.counts);
    return bad;
}

/* ---- the whole ---- */

/* branch is null for a detached HEAD. */
static void write_headline(struct ck_evidence *evidence, const json_t *document, const char *state)
{
    const char *commit = json_string_value(json_object_get(document, "commit"));
    const char *branch = json_string_value(json_object_get(document, "branch"));
    json_int_t commits = json_integer_value(json_object_get(document, "commits"));

    if (!commit)
        ck_evidence_headline(evidence, "no commits yet%s", state);
    else
        ck_evidence_headline(evidence, "%.40s at %.7s, %lld commit%s%s", branch ? branch : "detached", commit,
                             (long long)commits, commits == 1 ? "" : "s", state);
}

/* The directory looks like a repository, but git does not accept it; its message says why. */
static int set_no_repository(const struct ck_answer *kind, struct ck_evidence *ret_evidence, struct choke_error *error)
{
    size_t length = kind ? ck_evidence_line(kind->err, kind->err_length) : 0;
    json_t *document = json_object();
    int bad = ck_evidence_set(document, "repository", json_false());

    bad |= ck_evidence_set(document, "reason", kind ? ck_evidence_text(kind->err, length) : json_null());
    ck_evidence_headline(ret_evidence, "git cannot read it%s%.*s", length > 0 ? ": " : "", (int)length,
                         length > 0 ? kind->err : "");
    return ck_evidence_take(ret_evidence, document, bad, error);
}

CK_EVIDENCE_READER(git)
{
    const struct answers all = {answers, count};
    const struct ck_answer *kind = find_ok(&all, "kind"), *status = find_ok(&all, "status"),
                           *tree = find_ok(&all, "tree");
    uint64_t unwatched = 0;
    bool clean = false;

    /* "kind" is the first question; without its answer no other one makes sense. */
    if (!kind)
        return set_no_repository(ck_evidence_find_answer(answers, count, "kind"), ret_evidence, error);
    json_t *document = json_object();
    int bad = ck_evidence_set(document, "repository", json_true());
    bad |= set_kind(document, kind) | set_commit(document, find_ok(&all, "head")) | set_history(document, &all);
    bad |= set_refs(document, find_ok(&all, "refs")) | set_remotes(document, find_ok(&all, "remotes"));
    bad |= ck_evidence_set(document, "changes", status ? changes_of(status, &clean) : json_null());
    bad |= tree ? set_tracked(document, tree) : ck_evidence_set(document, "tracked", json_null());
    bad |= set_hidden(document, &all, &ret_evidence->findings, &unwatched);
    ret_evidence->noun = ret_evidence->findings > 0 ? "hidden file" : NULL;
    const char *state = !status          ? ""
                        : !clean         ? ", with changes"
                        : unwatched == 0 ? ", clean"
                                         : ", clean as far as git checks";
    write_headline(ret_evidence, document, state);
    return ck_evidence_take(ret_evidence, document, bad, error);
}
