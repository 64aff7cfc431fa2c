/*
 * scip.c - reads the code index of scip-typescript. It is a file in protocol buffers encoding. The
 * reader walks over it without decoding everything: it needs the paths of the documents and how
 * much is in each.
 *
 *   Index     1 metadata, 2 document (many), 3 external symbol (many)
 *   Metadata  2 tool: 1 name, 2 version
 *   Document  1 path, 2 occurrence (many), 3 symbol (many), 4 language
 *   Occurrence  3 roles, of which bit 0 is a definition
 *
 * Other fields are skipped. Messages are nested at most three deep here, so there is no recursion.
 */
#include "gather/evidence/common.h"

#include "base/fd.h"
#include "base/file.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_NAME "index.scip" /* in the directory of the tool's changes */
#define INDEX_MAX ((size_t)256 << 20)

/* The rest of a message. */
struct index_message {
    const unsigned char *at, *end; /* both NULL: no such field */
};

struct index_field {
    uint64_t number;            /* of the field, as listed above */
    uint64_t value;             /* of a varint */
    struct index_message bytes; /* of a string or a message; empty for other types */
};

/* Seven bits per byte, lowest first; the high bit says that more follow. Ten bytes at most. */
static bool read_varint(struct index_message *message, uint64_t *ret_value)
{
    uint64_t value = 0;
    /* A number with more than 64 bits is not valid: the loop ends without a value. */
    for (unsigned shift = 0; shift < 64 && message->at < message->end; shift += 7) {
        unsigned char byte = *message->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

/* False if the message ends before: the length comes from the file and may be anything. */
static bool take_bytes(struct index_message *message, uint64_t length, struct index_message *ret_bytes)
{
    if (length > (uint64_t)(message->end - message->at))
        return false;
    *ret_bytes = (struct index_message){message->at, message->at + length};
    message->at += length;
    return true;
}

/* 1: a field; 0: the end; -1: not a valid message. */
static int next_field(struct index_message *message, struct index_field *ret_field)
{
    struct index_message ignored;
    uint64_t key, length;

    if (message->at == message->end)
        return 0;
    *ret_field = (struct index_field){0};
    if (!read_varint(message, &key))
        return -1;
    ret_field->number = key >> 3;
    /*
     * The wire types: 0 varint, 1 eight bytes, 2 a length and bytes, 5 four bytes. 3 and 4 are
     * groups, which are obsolete.
     */
    switch (key & 7) {
    case 0:
        return read_varint(message, &ret_field->value) ? 1 : -1;
    case 1:
        return take_bytes(message, 8, &ignored) ? 1 : -1;
    case 2:
        return read_varint(message, &length) && take_bytes(message, length, &ret_field->bytes) ? 1 : -1;
    case 5:
        return take_bytes(message, 4, &ignored) ? 1 : -1;
    default:
        return -1;
    }
}

static json_t *text_of(struct index_message bytes)
{
    return ck_evidence_text((const char *)bytes.at, (size_t)(bytes.end - bytes.at));
}

/* What is collected from the whole file. */
struct index {
    struct ck_evidence_list documents; /* one per source file */
    json_t *languages;                 /* counts by name */
    json_int_t symbols, definitions, occurrences, external;
    struct index_message version; /* of scip-typescript; points into the file */
};

/* Returns 0, or -1 if it is not a valid message. */
static int read_occurrence(struct index *index, struct index_message occurrence)
{
    struct index_field field;
    int r;

    while ((r = next_field(&occurrence, &field)) > 0)
        if (field.number == 3)
            index->definitions += (json_int_t)(field.value & 1);
    index->occurrences++;
    return r;
}

/* json_string checks UTF-8: a name that is not valid counts as unknown. */
static void count_language(struct index *index, struct index_message language)
{
    char name[32] = "(unknown)";
    size_t length = language.at ? (size_t)(language.end - language.at) : 0;

    if (length > 0 && length < sizeof(name) && !memchr(language.at, '\0', length)) {
        memcpy(name, language.at, length);
        name[length] = '\0';
    }
    json_t *valid = json_string(name);
    ck_evidence_count(index->languages, valid ? name : "(unknown)", 1);
    json_decref(valid);
}

/* Fields may come in any order, so path and language are used only after the last one. */
static int read_document(struct index *index, struct index_message message)
{
    struct index_message path = {0}, language = {0};
    json_int_t symbols = 0, before = index->occurrences;
    struct index_field field;
    int r;

    while ((r = next_field(&message, &field)) > 0) {
        if (field.number == 1)
            path = field.bytes;
        else if (field.number == 4)
            language = field.bytes;
        else if (field.number == 3)
            symbols++;
        else if (field.number == 2 && read_occurrence(index, field.bytes) < 0)
            return -1;
    }
    if (r < 0)
        return -1;
    index->symbols += symbols;
    count_language(index, language);
    json_t *document = json_object();
    int bad = ck_evidence_set(document, "path", path.at ? text_of(path) : json_string(""));
    bad |= ck_evidence_set(document, "symbols", json_integer(symbols));
    bad |= ck_evidence_set(document, "occurrences", json_integer(index->occurrences - before));
    index->documents.failed |= bad != 0;
    ck_evidence_list_add(&index->documents, document);
    return 0;
}

/* Only the version of the tool is used. The result of the inner loop is 0 here, or it returned. */
static int read_metadata(struct index *index, struct index_message message)
{
    struct index_field field, tool;
    int r;

    while ((r = next_field(&message, &field)) > 0) {
        if (field.number != 2)
            continue;
        while ((r = next_field(&field.bytes, &tool)) > 0)
            if (tool.number == 2)
                index->version = tool.bytes;
        if (r < 0)
            return -1;
    }
    return r;
}

/* Fields with another number are skipped by next_field. */
static int read_index(struct index *index, struct index_message message)
{
    struct index_field field;
    int r;

    while ((r = next_field(&message, &field)) > 0) {
        if (field.number == 1 && read_metadata(index, field.bytes) < 0)
            return -1;
        if (field.number == 2 && read_document(index, field.bytes) < 0)
            return -1;
        index->external += field.number == 3;
    }
    return r;
}

static int set_index(json_t *document, struct index *index)
{
    int bad = ck_evidence_set(document, "version", index->version.at ? text_of(index->version) : json_null());
    bad |= ck_evidence_set_counts(document, "languages", index->languages);
    bad |= ck_evidence_set(document, "symbols", json_integer(index->symbols));
    bad |= ck_evidence_set(document, "definitions", json_integer(index->definitions));
    bad |= ck_evidence_set(document, "occurrences", json_integer(index->occurrences));
    bad |= ck_evidence_set(document, "external_symbols", json_integer(index->external));
    return bad | ck_evidence_set_list(document, "documents", &index->documents);
}

int ck_evidence_read_scip_file(const void *bytes, size_t length, struct ck_evidence *ret_evidence,
                               struct choke_error *error)
{
    const struct index_message message = {bytes, (const unsigned char *)bytes + length};
    struct index index = {.languages = json_object()};
    json_t *document = json_object();
    /* Checked at the end: everything must be freed in either case. */
    int read = read_index(&index, message);
    int bad = set_index(document, &index);

    ret_evidence->findings = index.documents.total;
    ret_evidence->noun = "file";
    ck_evidence_headline(ret_evidence, "%llu file%s, %lld symbols, %lld occurrences",
                         (unsigned long long)index.documents.total, index.documents.total == 1 ? "" : "s",
                         (long long)index.symbols, (long long)index.occurrences);
    ck_evidence_list_done(&index.documents);
    json_decref(index.languages);
    if (read < 0) {
        json_decref(document);
        return ck_evidence_not_understood(error, "scip-typescript", "the index ends in the middle of a field");
    }
    return ck_evidence_take(ret_evidence, document, bad, error);
}

/* ---- the file ---- */

/* One message for both: not a regular file, and too large. */
static int no_file(struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, EFBIG, "'%s' is not a regular file of at most %zu MiB", INDEX_NAME,
                         INDEX_MAX >> 20);
}

/*
 * The tool wrote the file, or something else in its place: a symlink is not opened, and a FIFO is
 * not waited for.
 */
static int read_kept(int changes_fd, char **ret_bytes, size_t *ret_length, struct choke_error *error)
{
    CK_FD fd = changes_fd < 0 ? -ENOENT : ck_file_open(changes_fd, INDEX_NAME, O_NOFOLLOW, NULL);

    if (fd == -EINVAL)
        return no_file(error);
    if (fd < 0)
        return ck_text_error(error, CHOKE_INVALID, ENOENT, "scip-typescript did not write '%s'", INDEX_NAME);
    int r = ck_fd_read_text(fd, INDEX_MAX, ret_bytes, ret_length);
    if (r == -EFBIG)
        return no_file(error);
    return r < 0 ? ck_text_error(error, CHOKE_INVALID, -r, "cannot read '%s'", INDEX_NAME) : 0;
}

CK_EVIDENCE_READER(scip)
{
    const struct ck_answer *answer = ck_evidence_find_answer(answers, count, "index");
    char *bytes = NULL;
    size_t length = 0;

    int r = read_kept(answer ? answer->changes_fd : -1, &bytes, &length, error);
    if (r == 0)
        r = ck_evidence_read_scip_file((const unsigned char *)bytes, length, ret_evidence, error);
    free(bytes);
    return r;
}
