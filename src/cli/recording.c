/* recording.c - where calls are recorded; see recording.h. */
#include "cli/recording.h"

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

void ck_recording_set(const struct ck_recording *recording, struct choke_options *options)
{
    options->audit_sync = (enum choke_audit_sync)recording->audit_sync;
    options->audit_max_bytes = recording->audit_max_bytes;
    options->audit_path = recording->audit;
    options->audit_log = recording->no_audit ? CHOKE_AUDIT_OFF
                         : recording->audit  ? CHOKE_AUDIT_NAMED
                                             : CHOKE_AUDIT_DEFAULT;
}
