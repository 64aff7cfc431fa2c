/*
 * fuzz_audit.c - any bytes as an audit log, and as heads and keys. The first byte says how complete
 * a log the rest is:
 *
 *   's'   lines without hashes, which are appended: each line is a record, the chain may be wrong
 *   'c'   bodies of records, a valid chain is made around them; a line that begins with '!' is kept;
 *         a letter before a body is its kind
 *   else  the log as it is
 *
 * What must hold: a record that is returned is JSON without control bytes, also if its hash is
 * right; proven records follow each other without a gap; a valid log is valid with its own head,
 * too, and not without its last line.
 */
#include "promise.h"

#include "audit/format.h"
#include "audit/head.h"

#include "chokepoint.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct seen {
    uint64_t proven;
    uint64_t next_seq;
};

static bool harmless(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return true;
}

static bool see_record(void *data, const struct choke_audit_record *record)
{
    struct seen *seen = data;
    json_t *parsed = json_loadb(record->text, record->length, 0, NULL);
    require(parsed && harmless(record->text, record->length));
    require((uint64_t)json_integer_value(json_object_get(parsed, "seq")) == record->seq ||
            json_object_size(parsed) > 6);
    json_decref(parsed);
    require(strlen(record->hash) == CK_AUDIT_HASH_HEX && strlen(record->log) == CK_AUDIT_LOG_HEX && record->line > 0);
    if (record->proven) {
        require(seen->proven == 0 || record->seq == seen->next_seq);
        seen->next_seq = record->seq + 1;
        seen->proven++;
    }
    return true;
}

static void check_report(const struct choke_audit_report *report, const struct seen *seen)
{
    require(report->records == seen->proven && (!!report->head) == (report->records > 0));
    require(strcmp(choke_damage_name(report->damage), "?") != 0);
    require((report->damage == CHOKE_DAMAGE_NONE) == (report->message[0] == '\0'));
    require(harmless(report->message, strlen(report->message)));
    require(report->damage != CHOKE_DAMAGE_NONE || report->records > 0);
    require(report->gaps_count == 0 || report->damage == CHOKE_DAMAGE_NONE);
    for (size_t i = 0; i < report->gaps_count; i++)
        require(report->gaps[i].seq >= report->first_seq && report->gaps[i].seq < report->first_seq + report->records &&
                harmless(report->gaps[i].message, strlen(report->gaps[i].message)));
}

/* What the log proves, with or without a head; head is replaced by that of the log. */
static enum choke_damage verify(const char *text, size_t length, char head[CHOKE_AUDIT_HEAD_MAX], bool unproven)
{
    char path[64];
    struct seen seen = {0};
    struct choke_audit_report *report = NULL;
    int fd = memfd_create("log", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, text, length) == (ssize_t)length);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const struct choke_audit_query query = {
        .paths = (const char *const[]){path, NULL},
        .heads = head[0] != '\0' ? (const char *const[]){head, NULL} : NULL,
        .unproven = unproven,
        .on_record = see_record,
        .data = &seen,
        .struct_size = sizeof(query),
        .complete = !unproven,
    };
    require(choke_audit_verify(&query, &report, NULL) == 0);
    check_report(report, &seen);
    enum choke_damage damage = report->damage;
    (void)snprintf(head, CHOKE_AUDIT_HEAD_MAX, "%s", report->head ? report->head : "");
    choke_audit_report_free(report);
    (void)close(fd);
    return damage;
}

static void check_log(const char *text, size_t length)
{
    char head[CHOKE_AUDIT_HEAD_MAX] = "", none[CHOKE_AUDIT_HEAD_MAX] = "";
    enum choke_damage damage = verify(text, length, head, false);
    require(verify(text, length, none, true) == damage && strcmp(head, none) == 0);
    if (damage != CHOKE_DAMAGE_NONE)
        return;
    require(verify(text, length, head, false) == CHOKE_DAMAGE_NONE);
    size_t shorter = length - (text[length - 1] == '\n');
    while (shorter > 0 && text[shorter - 1] != '\n')
        shorter--;
    require(verify(text, shorter, head, false) == CHOKE_DAMAGE_CUT);
}

/* ---- logs that get further ---- */

/* covered with its hash appended. */
static void put_sealed(FILE *out, const char *covered, size_t length)
{
    char hash[CK_AUDIT_HASH_HEX + 1];
    ck_line_hash(covered, length, hash);
    (void)fwrite(covered, 1, length, out);
    (void)fprintf(out, CK_AUDIT_CLOSING "%s" CK_AUDIT_END "\n", hash);
}

struct chain {
    uint64_t seq;
    char prev[CK_AUDIT_HASH_HEX + 1];
};

/* A body begins with its comma, so that a letter before it can be its kind. */
static const struct {
    char letter;
    const char *kind;
} kinds[] = {{'r', "repair"}, {'g', "guard_begin"}, {'e', "guard_end"}, {'o', "outcome"}, {'f', "refused"}};

static void put_chained(FILE *out, struct chain *chain, const char *body, size_t length)
{
    char *covered = NULL;
    const char *kind = chain->seq == 0 ? "begin" : "intent";
    for (size_t i = 0; length > 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (body[0] == kinds[i].letter) {
            kind = kinds[i].kind;
            body++;
            length--;
            break;
        }
    if (length > 0 && body[0] == '!') {
        (void)fprintf(out, "%.*s\n", (int)length - 1, body + 1);
        return;
    }
    int size = asprintf(&covered,
                        "{\"v\":1,\"log\":\"0123456789abcdef\",\"seq\":%" PRIu64
                        ",\"time\":\"2026-11-15T16:38:18.000000Z\",\"kind\":\"%s\",\"prev\":\"%s\"%.*s",
                        chain->seq, kind, chain->prev, (int)length, body);
    require(size > 0);
    put_sealed(out, covered, (size_t)size);
    ck_line_hash(covered, (size_t)size, chain->prev);
    chain->seq++;
    free(covered);
}

static void check_made(char mode, const char *text, size_t length)
{
    char *made = NULL;
    size_t size = 0;
    struct chain chain = {.prev = CK_AUDIT_FIRST_PREV};
    FILE *out = open_memstream(&made, &size);
    require(out);
    for (const char *at = text, *end = text + length; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if (mode == 's')
            put_sealed(out, at, (size_t)(stop - at));
        else
            put_chained(out, &chain, at, (size_t)(stop - at));
        at = stop + 1;
    }
    require(fclose(out) == 0);
    if (size > 0)
        check_log(made, size);
    free(made);
}

/* ---- heads and keys ---- */

static void check_text(const char *text)
{
    struct ck_head head, again;
    struct choke_error error = {0};
    char written[CK_HEAD_TEXT_MAX];
    unsigned char key[CK_PUBLIC_BYTES];
    if (ck_head_parse(text, NULL, &head, &error) == 0) {
        ck_head_format(&head, written);
        require(strstr(text, written));
        require(ck_head_parse(written, NULL, &again, &error) == 0 && again.seq == head.seq);
    } else {
        require(error.message[0] != '\0' && harmless(error.message, strlen(error.message)));
    }
    if (ck_key_parse_public(text, key, &error) < 0)
        require(harmless(error.message, strlen(error.message)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    require(copy);
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    check_text(copy);
    if (size > 0 && (copy[0] == 's' || copy[0] == 'c'))
        check_made(copy[0], copy + 1, size - 1);
    else if (size > 0)
        check_log(copy, size);
    free(copy);
    return 0;
}
