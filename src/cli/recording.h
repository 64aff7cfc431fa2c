/*
 * recording.h - the audit options, for every command that makes calls.
 *
 *   1. CK_RECORDING_PRESET   the values before options are parsed.
 *   2. CK_RECORDING_OPTIONS  rows for the command's option table.
 *   3. ck_recording_check    an error here is a usage error.
 *   4. ck_recording_set      copies them to the options of the context.
 */
#ifndef CK_CLI_RECORDING_H
#define CK_CLI_RECORDING_H

#include "chokepoint.h"
#include "cli/options.h"

struct ck_recording {
    const char *audit; /* --audit FILE; NULL: not given */
    bool no_audit;
    int audit_sync;         /* enum choke_audit_sync */
    size_t audit_max_bytes; /* 0: the log is never rotated */
};

/* A log of this size is read in a third of a second. */
#define CK_RECORDING_PRESET \
    { \
        .audit_max_bytes = (size_t)64 << 20 \
    }

extern const struct ck_choice ck_recording_syncs[];

/* The rows. recording is the name of the member in the command's struct type. */
/* clang-format off */
/* A member name cannot be in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define CK_RECORDING_TARGET(type, recording, field) .offset = offsetof(struct type, recording.field)
#define CK_RECORDING_OPTIONS(type, recording) \
    {"--audit", "FILE", "record the call in FILE (default: see chokepoint(1))", CK_OPTION_STRING, CK_OFFER_FILES, \
     CK_RECORDING_TARGET(type, recording, audit)}, \
    {"--no-audit", NULL, "do not record the call", CK_OPTION_FLAG, CK_RECORDING_TARGET(type, recording, no_audit)}, \
    {"--audit-sync", "none|batched|every", "how durable a record is (default: batched)", CK_OPTION_CHOICE, \
     CK_RECORDING_TARGET(type, recording, audit_sync), .choices = ck_recording_syncs}, \
    {"--audit-max", "BYTES", "rotate the log at this size; 0: never (default: 67108864)", CK_OPTION_BYTES, \
     CK_RECORDING_TARGET(type, recording, audit_max_bytes)}
/* NOLINTEND(bugprone-macro-parentheses) */
/* clang-format on */

/* Returns 0, or a negative errno and *error if two options exclude each other. */
int ck_recording_check(const struct ck_recording *recording, struct choke_error *error);

/* Without --audit and --no-audit: the default log. */
void ck_recording_set(const struct ck_recording *recording, struct choke_options *options);

#endif
