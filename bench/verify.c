/*
 * verify.c - how fast a log is proven, beside how fast its bytes are hashed and nothing else.
 *
 *     make FILE BYTES     a log of records as a run writes them, at least so long
 *     verify FILE         choke_audit_verify, without a callback
 *     hash FILE           the bytes in memory already, hashed as one piece
 *
 * The line protocol is the worker's (worker.h); "runs" are bytes. Only "make" looks inside the library: to write a log by
 * runs would take longer than all else.
 */
#include "reply.h"

#include "audit/format.h"

#include "chokepoint.h"

#include <inttypes.h>
#include <sodium/crypto_generichash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_MAX_BYTES 4096

/* The content of an intent and of an outcome, of about the real length. */
static const char *const bodies[] = {
    ",\"context\":\"0123456789abcdef\",\"pid\":4711,\"probe\":\"snapshot\",\"tool\":{\"name\":\"git\",\"path\":"
    "\"/usr/bin/git\",\"sha256\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"},\"argv\":[\"git\","
    "\"log\",\"--stat\",\"-n\",\"20\",\"--since=2020-01-01\",\"HEAD\",\"--\",\"src\"],\"env\":[\"HOME\",\"LANG\",\"LC_ALL\","
    "\"PATH\"],\"root\":\"/home/user/project\",\"cwd\":\"/home/user/project\",\"policy\":{\"path\":null,\"sha256\":"
    "\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"},\"rule\":\"tools.git\",\"jail\":\"none\","
    "\"layers\":[\"no_new_privs\",\"execs\"],\"limits\":[],\"timeout_ms\":60000",
    ",\"intent\":1,\"context\":\"0123456789abcdef\",\"probe\":\"snapshot\",\"tool\":\"git\",\"outcome\":\"exited\","
    "\"exit_code\":0,\"signal\":null,\"stdout\":{\"bytes\":12345,\"hash\":"
    "\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"truncated\":false},\"stderr\":{\"bytes\":0,"
    "\"hash\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"truncated\":false},"
    "\"output_incomplete\":false,\"duration_us\":12345,\"user_us\":1234,\"system_us\":1234,\"max_rss_kib\":4096,"
    "\"kill\":\"subreaper\",\"limit_hit\":null,\"changes\":null,\"error\":null",
};

static size_t put_record(FILE *out, uint64_t seq, char hash[CK_AUDIT_HASH_HEX + 1])
{
    static const char *const kinds[] = {"intent", "outcome"};
    char line[LINE_MAX_BYTES];
    int covered = snprintf(line, sizeof(line),
                           "{\"v\":1,\"log\":\"0123456789abcdef\",\"seq\":%" PRIu64
                           ",\"time\":\"2026-11-15T16:38:18.123456Z\",\"kind\":\"%s\",\"prev\":\"%s\"%s",
                           seq, seq == 0 ? CK_AUDIT_KIND_BEGIN : kinds[seq % 2], hash, bodies[seq % 2]);
    if (covered < 0 || covered >= (int)sizeof(line))
        fail("put_record", "a line is too long");
    ck_line_hash(line, (size_t)covered, hash);
    return (size_t)fprintf(out, "%s" CK_AUDIT_CLOSING "%s" CK_AUDIT_END "\n", line, hash);
}

static void make_log(const char *path, uint64_t bytes)
{
    char hash[CK_AUDIT_HASH_HEX + 1] = CK_AUDIT_FIRST_PREV;
    uint64_t made = 0, began = now_ns();
    FILE *out = fopen(path, "we");
    if (!out)
        fail("cannot write", path);
    for (uint64_t seq = 0; made < bytes; seq++)
        made += put_record(out, seq, hash);
    if (fclose(out) != 0)
        fail("cannot write", path);
    reply(made, now_ns() - began);
}

static uint64_t size_of(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        fail("cannot read", path);
    return (uint64_t)status.st_size;
}

static void verify_log(const char *path)
{
    const struct choke_audit_query query = {.paths = (const char *const[]){path, NULL}};
    struct choke_audit_report *report = NULL;
    struct choke_error error = {0};
    uint64_t began = now_ns();
    if (choke_audit_verify(&query, &report, &error) < 0)
        fail("choke_audit_verify", error.message);
    uint64_t took = now_ns() - began;
    if (report->damage != CHOKE_DAMAGE_NONE)
        fail("the log does not hold", report->message);
    choke_audit_report_free(report);
    reply(size_of(path), took);
}

static void hash_log(const char *path)
{
    unsigned char digest[CK_AUDIT_HASH_BYTES];
    size_t size = size_of(path);
    unsigned char *bytes = malloc(size + 1);
    FILE *in = fopen(path, "re");
    if (!bytes || !in || fread(bytes, 1, size, in) != size)
        fail("cannot read", path);
    (void)fclose(in);
    uint64_t began = now_ns();
    (void)crypto_generichash(digest, sizeof(digest), bytes, size, NULL, 0);
    uint64_t took = now_ns() - began;
    free(bytes);
    reply(size, took);
}

int main(void)
{
    char line[LINE_MAX_BYTES], verb[16], path[LINE_MAX_BYTES];
    unsigned long long bytes = 0;
    (void)puts("{}");
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        int args = sscanf(line, "%15s %4095s %llu", verb, path, &bytes);
        if (args == 3 && strcmp(verb, "make") == 0)
            make_log(path, bytes);
        else if (args == 2 && strcmp(verb, "verify") == 0)
            verify_log(path);
        else if (args == 2 && strcmp(verb, "hash") == 0)
            hash_log(path);
        else
            fail("unknown command", line);
        (void)fflush(stdout);
    }
    return 0;
}
