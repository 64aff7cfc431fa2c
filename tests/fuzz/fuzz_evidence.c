/*
 * fuzz_evidence.c - any bytes as the output of a tool, for every reader. The first byte says which
 * reader, and whether the beginning was lost. The output is read, or refused with a clean message;
 * the result is bounded, and the same on a second read.
 *
 * The rest is one answer, or several with their ids: "ID\n", its bytes, "\n\377\n".
 */
#include "promise.h"

#include "gather/evidence/common.h"
#include "gather/evidence/evidence.h"

#include <limits.h>
#include <string.h>

#define ANSWERS_MAX 12
#define AS_BASE64(bytes) (((bytes) + 2) / 3 * 4)
#define TEXT_MAX AS_BASE64(CK_EVIDENCE_TEXT_MAX)
#define PATH_TEXT_MAX AS_BASE64(PATH_MAX)

static const char *const kinds[] = {"git",       "node",  "patterns", "ast-grep",    "semgrep", "gitleaks",
                                    "cyclonedx", "grype", "scip",     "tree-sitter", "trace",   "lines"};
#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static char ids[ANSWERS_MAX][16];

/* Ids have to be C strings; the rest stays and ends where it is. */
static size_t split(const char *text, size_t size, bool truncated, struct ck_answer answers[ANSWERS_MAX])
{
    static const char end[] = "\n\377\n";
    size_t count = 0;

    while (size > 0 && count < ANSWERS_MAX) {
        size_t id_length = ck_evidence_line(text, size);
        size_t retained = id_length < sizeof(ids[0]) ? id_length : sizeof(ids[0]) - 1;
        memcpy(ids[count], text, retained);
        ids[count][retained] = '\0';
        size_t used = id_length < size ? id_length + 1 : size;
        const char *stop = memmem(text + used, size - used, end, sizeof(end) - 1);
        size_t length = stop ? (size_t)(stop - (text + used)) : size - used;
        answers[count] = (struct ck_answer){.id = ids[count],
                                            .out = text + used,
                                            .out_length = length,
                                            .out_truncated = truncated,
                                            .err = text + used,
                                            .err_length = length,
                                            .changes_fd = -1};
        count++;
        used += length + (stop ? sizeof(end) - 1 : 0);
        text += used;
        size -= used;
    }
    return count;
}

static size_t most_of(const char *key, size_t most)
{
    if (strcmp(key, "base64") == 0)
        return most;
    return strcmp(key, "path") == 0 ? PATH_TEXT_MAX : TEXT_MAX;
}

/* No string is unbounded, except our own names. */
static void is_bounded(json_t *value, unsigned depth, size_t most)
{
    const char *key;
    json_t *item;
    size_t index;

    require(depth < 8);
    if (json_is_string(value))
        require(json_string_length(value) <= most);
    require(!json_is_array(value) || json_array_size(value) <= CK_EVIDENCE_ITEMS_MAX);
    require(!json_is_object(value) || json_object_size(value) <= CK_EVIDENCE_ITEMS_MAX + 1);
    json_array_foreach(value, index, item)
    {
        is_bounded(item, depth + 1, most);
    }
    json_object_foreach(value, key, item)
    {
        require(strlen(key) <= CK_EVIDENCE_TEXT_MAX);
        is_bounded(item, depth + 1, most_of(key, most));
    }
}

static void is_clean(const char *text)
{
    for (; *text != '\0'; text++)
        require((unsigned char)*text >= 0x20 && *text != 0x7f);
}

static int read_as(unsigned kind, const struct ck_answer *answers, size_t count, struct ck_evidence *evidence,
                   struct choke_error *error)
{
    if (strcmp(kinds[kind], "scip") == 0)
        return count > 0 ? ck_evidence_read_scip_file(answers[0].out, answers[0].out_length, evidence, error) : -1;
    return ck_evidence_find(kinds[kind])->read(answers, count, evidence, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ck_answer answers[ANSWERS_MAX];
    struct ck_evidence evidence = {0}, again = {0};
    struct choke_error error = {0};

    if (size < 2)
        return 0;
    unsigned kind = (data[0] & 0x7f) % KIND_COUNT;
    size_t count = split((const char *)data + 1, size - 1, data[0] >= 0x80, answers);
    int r = read_as(kind, answers, count, &evidence, &error);
    require(read_as(kind, answers, count, &again, &error) == r);
    if (r < 0) {
        require(!evidence.document);
        is_clean(error.message);
        return 0;
    }
    require(json_is_object(evidence.document) && json_equal(evidence.document, again.document));
    require(memchr(evidence.headline, '\0', sizeof(evidence.headline)));
    is_clean(evidence.headline);
    is_bounded(evidence.document, 0, TEXT_MAX);
    ck_evidence_done(&evidence);
    ck_evidence_done(&again);
    return 0;
}
