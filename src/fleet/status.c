/* status.c - `fleet status` and `fleet cancel`; see fleet.h. */
#include "fleet/area.h"
#include "fleet/claim.h"
#include "fleet/fleet.h"
#include "fleet/slurm.h"
#include "front/text.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct fleet_tally {
    size_t total, done, failed, running;
    size_t lost; /* begun by a process that is gone: the next run does them */
};

static void count(const struct ck_fleet_area *area, const struct ck_fleet_list *list, struct fleet_tally *ret_tally)
{
    struct ck_claims claims = {.fd = area->claims_fd};
    char holder[CK_CLAIM_HOLDER_SIZE];

    *ret_tally = (struct fleet_tally){.total = list->count};
    ck_claim_self_local(claims.self);
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->items[i].name;
        if (ck_fleet_area_has_document(area, name))
            ret_tally->done++;
        else if (ck_claim_holder(&claims, name, holder) && ck_claim_is_live(&claims, holder))
            ret_tally->running++;
        else if (ck_fleet_area_has_failed(area, name))
            ret_tally->failed++;
        else if (ck_claim_holder(&claims, name, holder))
            ret_tally->lost++;
    }
}

static void print(const struct ck_fleet_area *area, const struct fleet_tally *tally, FILE *out)
{
    size_t pending = tally->total - tally->done - tally->failed - tally->running;
    const char *begun = json_string_value(json_object_get(area->about, "begun"));

    (void)fprintf(out, "%s: %zu %s, begun %s\n", CK_TEXT_SAFE(area->path), tally->total,
                  tally->total == 1 ? "repository" : "repositories", CK_TEXT_SAFE(begun ? begun : "?"));
    (void)fprintf(out, "  done     %zu\n  failed   %zu\n  running  %zu\n  pending  %zu", tally->done, tally->failed,
                  tally->running, pending);
    if (tally->lost > 0)
        (void)fprintf(out, " (%zu were begun by a process that is gone)", tally->lost);
    (void)fprintf(out, "\n%s", ck_fleet_area_is_cancelled(area) ? "  cancelled\n" : "");
}

static void print_json(const struct ck_fleet_area *area, const struct fleet_tally *tally, FILE *out)
{
    size_t pending = tally->total - tally->done - tally->failed - tally->running;
    json_t *value =
        json_pack("{s:i, s:s, s:O?, s:I, s:I, s:I, s:I, s:I, s:b}", "format", 1, "id", area->id, "begun",
                  json_object_get(area->about, "begun"), "repositories", (json_int_t)tally->total, "done",
                  (json_int_t)tally->done, "failed", (json_int_t)tally->failed, "running", (json_int_t)tally->running,
                  "pending", (json_int_t)pending, "cancelled", ck_fleet_area_is_cancelled(area));
    (void)json_dumpf(value, out, JSON_COMPACT);
    (void)fputc('\n', out);
    json_decref(value);
}

int ck_fleet_status(const char *path, bool json, FILE *out, struct choke_error *error)
{
    struct ck_fleet_area area;
    struct ck_fleet_list list = {0};
    struct fleet_tally tally;
    int r = ck_fleet_area_open(&area, path, error);

    if (r == 0)
        r = ck_fleet_area_list(&area, &list, error);
    if (r == 0) {
        count(&area, &list, &tally);
        (json ? print_json : print)(&area, &tally, out);
    }
    ck_fleet_list_done(&list);
    ck_fleet_area_done(&area);
    return r;
}

int ck_fleet_cancel(const char *path, struct ck_session *session, struct choke_error *error)
{
    struct ck_fleet_area area;
    int r = ck_fleet_area_open(&area, path, error);

    if (r == 0 && (r = ck_fleet_area_cancel(&area, true)) < 0)
        r = ck_text_error(error, CHOKE_NONE, -r, "cannot write to '%s': %s", CK_TEXT_SAFE(path), strerror(-r));
    if (r == 0 && faccessat(area.fd, "slurm", F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        r = ck_session_begin(session, error);
        if (r == 0)
            r = ck_slurm_cancel_all(&area, session, error);
        ck_session_end(session);
    }
    ck_fleet_area_done(&area);
    return r;
}
