/* audit_log.h - logs made in memory, for the tests of their readers. */
#ifndef TEST_AUDIT_LOG_H
#define TEST_AUDIT_LOG_H

#include "audit/format.h"
#include "audit/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE_LINES_MAX 128
#define MADE_LOG "0123456789abcdef"
#define MADE_OTHER "fedcba9876543210"

/* Lines without their newlines. A copy is shallow: lines are never changed, only replaced. */
struct made_log {
    const char *log;
    char *lines[MADE_LINES_MAX];
    size_t count;
    uint64_t seq;
    char prev[CK_AUDIT_HASH_HEX + 1];
};

/* The line of a record; covered is freed. */
static inline char *made_seal(char *covered)
{
    char hash[CK_AUDIT_HASH_HEX + 1];
    char *line = NULL;
    ck_line_hash(covered, strlen(covered), hash);
    if (asprintf(&line, "%s" CK_AUDIT_CLOSING "%s" CK_AUDIT_END, covered, hash) < 0)
        abort();
    free(covered);
    return line;
}

static inline const char *made_hash(const char *line)
{
    static char hash[CK_AUDIT_HASH_HEX + 1];
    memcpy(hash, line + strlen(line) - CK_AUDIT_HASH_HEX - 2, CK_AUDIT_HASH_HEX);
    return hash;
}

static inline char *made_record(const char *log, uint64_t seq, const char *prev, const char *kind, const char *body)
{
    char *covered = NULL;
    if (asprintf(&covered,
                 "{\"v\":1,\"log\":\"%s\",\"seq\":%" PRIu64 ",\"time\":\"2026-11-15T16:38:18.%06u"
                 "Z\",\"kind\":\"%s\","
                 "\"prev\":\"%s\"%s",
                 log, seq, (unsigned)(seq % 1000000), kind, prev, body) < 0)
        abort();
    return made_seal(covered);
}

static inline void made_add(struct made_log *made, const char *kind, const char *body)
{
    char *line = made_record(made->log, made->seq++, made->prev, kind, body);
    made->lines[made->count++] = line;
    memcpy(made->prev, made_hash(line), sizeof(made->prev));
}

/* A line that is not a record. */
static inline void made_add_raw(struct made_log *made, const char *text)
{
    made->lines[made->count++] = strdup(text);
}

static inline void made_begin(struct made_log *made, const char *log)
{
    *made = (struct made_log){.log = log, .prev = CK_AUDIT_FIRST_PREV};
    made_add(made, "begin", ",\"by\":\"chokepoint 0.1.0\",\"continues\":null");
}

/* Adds records until the log has count of them. */
static inline void made_usual(struct made_log *made, const char *log, size_t records)
{
    made_begin(made, log);
    while (made->count < records) {
        char body[256];
        (void)snprintf(body, sizeof(body), ",\"tool\":{\"name\":\"git\"},\"argv\":[\"git\",\"log\",\"J*\",\"-%zu\"]",
                       made->count);
        made_add(made, "intent", body);
    }
}

static inline void made_free(struct made_log *made)
{
    for (size_t i = 0; i < made->count; i++)
        free(made->lines[i]);
    *made = (struct made_log){0};
}

static inline struct ck_head made_head(const struct made_log *made, size_t index)
{
    struct ck_head head = {.seq = index};
    memcpy(head.log, made->log, CK_AUDIT_LOG_HEX);
    memcpy(head.hash, made_hash(made->lines[index]), CK_AUDIT_HASH_HEX);
    return head;
}

static inline void feed(struct ck_verify *verify, const char *text, size_t length, uint64_t number, bool has_newline)
{
    struct ck_envelope envelope;
    const struct ck_line line = {
        .text = text, .length = length, .file = "log", .number = number, .has_newline = has_newline};
    (void)ck_verify_line(verify, &line, &envelope);
}

static inline void feed_all(struct ck_verify *verify, const struct made_log *made, size_t from)
{
    for (size_t i = from; i < made->count && !ck_verify_is_over(verify); i++)
        feed(verify, made->lines[i], strlen(made->lines[i]), i + 1, true);
}

static inline struct ck_damage judged(const struct made_log *made, const struct ck_head_list *heads)
{
    struct ck_verify verify;
    struct ck_damage damage;
    ck_verify_init(&verify, heads);
    feed_all(&verify, made, 0);
    ck_verify_damage(&verify, &damage);
    return damage;
}

#endif
