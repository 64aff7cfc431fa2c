/* recording.c - where calls are recorded; see recording.h. */
#include "cli/recording.h"

#include "cli/audit.h"
#include "front/text.h"

#include <errno.h>

/* The default, batched, is the value 0 of the enum: see enum choke_audit_sync. */
const struct ck_choice ck_recording_syncs[] = {{"none", CHOKE_AUDIT_SYNC_NONE},
                                               {"batched", CHOKE_AUDIT_SYNC_BATCHED},
                                               {"every", CHOKE_AUDIT_SYNC_EVERY},
                                               {NULL, 0}};

int ck_recording_check(const struct ck_recording *recording, struct choke_error *error)
{
    if (recording->audit && recording->no_audit)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "--audit and --no-audit exclude each other");
    return 0;
}

/* Without a default path the command fails: it must not run silently without a record. */
int ck_recording_set(struct ck_recording *recording, struct choke_options *options, struct choke_error *error)
{
    struct choke_error cause;

    options->audit_sync = (enum choke_audit_sync)recording->audit_sync;
    options->audit_max_bytes = recording->audit_max_bytes;
    /* NULL: no log. */
    options->audit_path = recording->no_audit ? NULL : recording->audit;
    if (recording->no_audit || recording->audit)
        return 0;
    /* Filled by the next call. */
    options->audit_path = recording->path;
    if (ck_audit_default(recording->path, &cause) == 0)
        return 0;
    return ck_text_error(error, CHOKE_SPAWN_FAILED, cause.errnum,
                         "%s; name one with --audit FILE, or run without one with --no-audit", cause.message);
}
