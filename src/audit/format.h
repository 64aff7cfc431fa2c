/*
 * format.h - the audit log on disk, version 1: what writers and the verifier have in common.
 *
 * A log is one file, and those it was rotated into. A record is one line of JSON without blanks,
 * written by one write(2). Its members have a fixed order: the envelope, the body, the closing.
 *
 *   {"v":1,"log":"<16 hex>","seq":N,"time":"2026-11-15T16:38:18.123456Z","kind":"intent",
 *    "prev":"<64 hex>",BODY,"hash":"<64 hex>"}
 *
 * log    a random name of the log, the same in all its files
 * seq    counts from 0 over all files
 * prev   the hash of the record before; zeros in the first of a log
 * hash   BLAKE2b-256 of the bytes of the line before the closing ,"hash":"...
 *
 * KINDS
 *
 *   begin     the first record of every file, and nowhere else: by, continues (the name of the
 *             file before, in the same directory, or null). In a file that continues another,
 *             seq and prev continue too
 *   intent    a call that is about to run
 *   outcome   how it ended; intent is the seq of its intent
 *   refused   a call that never ran
 *   repair    torn_bytes, torn_hash, reason: the bytes between the record before and this one are
 *             left by a write that was interrupted
 *   egress    a decision about a connection of a run, or the end of one; intent is the seq of the
 *             run's intent
 *   guard_begin  the program of a guard is about to run, in its cage; until its end, each intent and
 *             refused of its tools has guard, the seq of this record
 *   guard_end how it ended, with the account of every execution in its tree; guard is the seq of
 *             its guard_begin
 *
 * A TORN TAIL
 *
 *   A file is only ever appended to, so what a dying writer left is not removed. The torn bytes are
 *   all bytes between the end of the last record's line and the beginning of the repair's, newlines
 *   included: torn_bytes is their number, torn_hash their BLAKE2b-256 in hex. prev of the repair is
 *   the hash of the last record. There may be more than one line of them, if a repair was torn as
 *   well. No line among them has the closing of a record: an interrupted record lacks at least its
 *   last brace. A line that has the closing and is not a valid record was edited, whatever follows
 *   it.
 *
 *   A record that lacks only its newline counts as a record; the next writer writes the newline
 *   first.
 *
 * ROTATION
 *
 *   DIR/NAME.jsonl becomes DIR/NAME-<first seq, 12 digits>.jsonl. First the old file gets its
 *   second name. Then the new file, which already has its begin, replaces the first name. So both
 *   names may lead to one file for a moment, and the first name always leads to a file. A name that
 *   does not end in .jsonl gets the same suffix.
 *
 * Bytes that are not UTF-8 are written as {"base64":"..."} in place of a string.
 */
#ifndef CK_AUDIT_FORMAT_H
#define CK_AUDIT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define CK_AUDIT_VERSION 1
#define CK_AUDIT_LINE_MAX ((size_t)65536)   /* with the newline */
#define CK_AUDIT_TORN_MAX ((size_t)1 << 20) /* the most torn bytes that are looked at */

#define CK_AUDIT_LOG_HEX 16  /* digits of a log's name */
#define CK_AUDIT_HASH_HEX 64 /* digits of a hash */
#define CK_AUDIT_HASH_BYTES 32
#define CK_AUDIT_TIME_LENGTH 27 /* "2026-11-15T16:38:18.123456Z" */
#define CK_AUDIT_KIND_MAX 16
#define CK_AUDIT_SEQ_MAX ((UINT64_C(1) << 53) - 1) /* exact in a double, as many JSON readers use */
#define CK_AUDIT_FIRST_PREV "0000000000000000000000000000000000000000000000000000000000000000"

#define CK_AUDIT_CLOSING ",\"hash\":\"" /* then the hash, and CK_AUDIT_END */
#define CK_AUDIT_END "\"}"
#define CK_AUDIT_CLOSING_LENGTH (sizeof(CK_AUDIT_CLOSING) - 1 + CK_AUDIT_HASH_HEX + sizeof(CK_AUDIT_END) - 1)

#define CK_AUDIT_KIND_BEGIN "begin"
#define CK_AUDIT_KIND_INTENT "intent"
#define CK_AUDIT_KIND_OUTCOME "outcome"
#define CK_AUDIT_KIND_REFUSED "refused"
#define CK_AUDIT_KIND_REPAIR "repair"
#define CK_AUDIT_KIND_EGRESS "egress"
#define CK_AUDIT_KIND_GUARD_BEGIN "guard_begin"
#define CK_AUDIT_KIND_GUARD_END "guard_end"

/*
 * The name of a rotated file: NAME without ".jsonl", "-", the seq of its first record with these
 * digits, ".jsonl".
 */
#define CK_AUDIT_SUFFIX ".jsonl"
#define CK_AUDIT_ROTATED_DIGITS 12

/*
 * The name of a new file until it is the log: the log's name, a dot, these random hexadecimal
 * digits, ".new".
 */
#define CK_AUDIT_NEW_SUFFIX ".new"
#define CK_AUDIT_NEW_DIGITS 16
#define CK_AUDIT_BEGIN_MAX 2048 /* its content, a begin with at most two file names, is shorter */

/* The envelope and the closing of a record, as text. */
struct ck_envelope {
    char log[CK_AUDIT_LOG_HEX + 1];
    uint64_t seq;
    char time[CK_AUDIT_TIME_LENGTH + 1];
    char kind[CK_AUDIT_KIND_MAX + 1];
    char prev[CK_AUDIT_HASH_HEX + 1];
    char hash[CK_AUDIT_HASH_HEX + 1];
    /* offset of the body in the line: its comma, or that of the closing if it is empty */
    size_t body;
};

/*
 * Parses a line, without its newline. 0 if it is a valid record: the envelope is well-formed and
 * the hash is right. -EBADMSG if it has the closing of a record and is not valid (it was edited);
 * -EINVAL if it has no closing. Does not check that the body is JSON.
 */
int ck_line_read(const char *line, size_t length, struct ck_envelope *ret_envelope);

/* The hash, as hexadecimal text with a NUL. */
void ck_line_hash(const void *bytes, size_t length, char ret_hex[CK_AUDIT_HASH_HEX + 1]);

/* 32 bytes as hexadecimal text with a NUL: for a hash that was computed in pieces. */
void ck_line_hex(const unsigned char digest[CK_AUDIT_HASH_BYTES], char ret_hex[CK_AUDIT_HASH_HEX + 1]);

#endif
