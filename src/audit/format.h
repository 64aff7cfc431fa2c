/*
 * format.h - the audit log on disk, version 1: what its writers and its verifier have in common.
 *
 * A log is one file, and those it was rotated into. A record is one line of JSON without blanks, written by one
 * write(2). Its members stand in a fixed order: the envelope, the body, the closing.
 *
 *   {"v":1,"log":"<16 hex>","seq":N,"time":"2026-11-15T16:38:18.123456Z","kind":"intent","prev":"<64 hex>",BODY,"hash":"<64 hex>"}
 *
 * log    a random name of the log, the same in all its files
 * seq    counts from 0 over all files
 * prev   the hash of the record before; zeros in the first of a log
 * hash   BLAKE2b-256 of the bytes of the line before the closing ,"hash":"...
 *
 * KINDS
 *
 *   begin     the first record of every file, and of no other place: by, continues (the name of the file before, in the
 *             same directory, or null). In a file that continues another, seq and prev go on
 *   intent    a call that is about to be run
 *   outcome   how it ended; intent is the seq of its intent
 *   refused   a call that was never run
 *   repair    torn_bytes, torn_hash, reason: what stands between the record before and this one is what is left of a
 *             write that did not get to its end
 *   egress    a decision about a connection of a run, or the end of one; intent is the seq of the run's
 *
 * A TORN TAIL
 *
 *   A file is only ever appended to, so what a dying writer left is not taken away. The torn bytes are all those between
 *   the end of the last record's line and the beginning of the repair's, newlines included: torn_bytes of them, with
 *   torn_hash (BLAKE2b-256, hex). prev of the repair is the hash of the last record. There may be more than one line of
 *   them, if a repair was torn as well. No line among them has the closing of a record: a record that is broken off
 *   lacks at least its last brace. A line that has the closing and is no record was edited, whatever follows it.
 *
 *   A record that is whole but for its newline counts as a record for the next writer, who puts the newline first.
 *
 * ROTATION
 *
 *   DIR/NAME.jsonl becomes DIR/NAME-<first seq, 12 digits>.jsonl: first the old file gets its second name, then the new
 *   file, which has its begin already, takes the place of the first name. So both names may lead to one file for a
 *   moment, and the first always leads to one. A name that does not end in .jsonl gets the same ending.
 *
 * Bytes that are not UTF-8 stand as {"base64":"..."} where a string would.
 */
#ifndef CK_AUDIT_FORMAT_H
#define CK_AUDIT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define CK_AUDIT_VERSION 1
#define CK_AUDIT_LINE_MAX ((size_t)65536) /* with the newline */
#define CK_AUDIT_TORN_MAX ((size_t)1 << 20)

#define CK_AUDIT_LOG_HEX 16  /* digits of a log's name */
#define CK_AUDIT_HASH_HEX 64 /* digits of a hash */
#define CK_AUDIT_HASH_BYTES 32
#define CK_AUDIT_TIME_LENGTH 27 /* "2026-11-15T16:38:18.123456Z" */
#define CK_AUDIT_KIND_MAX 16
#define CK_AUDIT_SEQ_MAX ((UINT64_C(1) << 53) - 1) /* what every reader of JSON can hold */
#define CK_AUDIT_FIRST_PREV "0000000000000000000000000000000000000000000000000000000000000000"

#define CK_AUDIT_CLOSING ",\"hash\":\"" /* then the hash, and CK_AUDIT_END */
#define CK_AUDIT_END "\"}"
#define CK_AUDIT_CLOSING_LENGTH (sizeof CK_AUDIT_CLOSING - 1 + CK_AUDIT_HASH_HEX + sizeof CK_AUDIT_END - 1)

#define CK_AUDIT_KIND_BEGIN "begin"
#define CK_AUDIT_KIND_INTENT "intent"
#define CK_AUDIT_KIND_OUTCOME "outcome"
#define CK_AUDIT_KIND_REFUSED "refused"
#define CK_AUDIT_KIND_REPAIR "repair"
#define CK_AUDIT_KIND_EGRESS "egress"

/* What a rotated file is called: the name without ".jsonl", this with the seq of its first record, ".jsonl". */
#define CK_AUDIT_SUFFIX ".jsonl"
#define CK_AUDIT_ROTATED_DIGITS 12

/* A file on its way: the log's name, a dot, this many random hexadecimal digits, ".new". */
#define CK_AUDIT_NEW_SUFFIX ".new"
#define CK_AUDIT_NEW_DIGITS 16
#define CK_AUDIT_BEGIN_MAX 2048 /* what is in it, a begin, is shorter: it has two names in it */

/* The envelope and the closing of a record, as text. */
struct ck_envelope {
    char log[CK_AUDIT_LOG_HEX + 1];
    uint64_t seq;
    char time[CK_AUDIT_TIME_LENGTH + 1];
    char kind[CK_AUDIT_KIND_MAX + 1];
    char prev[CK_AUDIT_HASH_HEX + 1];
    char hash[CK_AUDIT_HASH_HEX + 1];
    size_t body; /* where in the line the body begins: a comma, or the comma of the closing where it is empty */
};

/*
 * Takes a line apart, without its newline. 0 where it is a record by itself: its envelope is in order and its hash is
 * right. -EBADMSG where it has the closing of a record and is none (it was edited); -EINVAL where it has not even that.
 * That the body is JSON is not looked at.
 */
int ck_line_read(const char *line, size_t length, struct ck_envelope *ret_envelope);

/* The hash, as hexadecimal text with a NUL. */
void ck_line_hash(const void *bytes, size_t length, char ret_hex[CK_AUDIT_HASH_HEX + 1]);

/* 32 bytes as hexadecimal text with a NUL: for a hash that was made piece by piece. */
void ck_line_hex(const unsigned char digest[CK_AUDIT_HASH_BYTES], char ret_hex[CK_AUDIT_HASH_HEX + 1]);

#endif
