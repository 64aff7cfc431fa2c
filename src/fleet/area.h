/*
 * area.h - the directory of a fleet, `fleet run --out DIR`.
 *
 *   fleet.json            what this fleet is: never changed
 *   index.json            which repository a name means
 *   documents/NAME.json   the document of gather
 *   failed/NAME.json      why there is none
 *   claims/NAME~N         who works on it (claim.h)
 *   policy.yaml, probes.yaml   the copies of --policy and --probes
 *   slurm/                what the engine slurm has submitted
 *   cancel                `fleet cancel` was called
 *
 * Every file appears whole. DIR belongs to the caller, and nobody else may write it: what is in it
 * decides what is run.
 */
#ifndef CK_FLEET_AREA_H
#define CK_FLEET_AREA_H

#include "chokepoint.h"
#include "fleet/list.h"

#include <jansson.h>
#include <limits.h>

#define CK_FLEET_ID_SIZE 17

struct ck_fleet_area {
    char path[PATH_MAX]; /* as resolved */
    int fd, documents_fd, failed_fd, claims_fd;
    char id[CK_FLEET_ID_SIZE];
    json_t *about; /* fleet.json */
};

#define CK_FLEET_AREA_NONE ((struct ck_fleet_area){.fd = -1, .documents_fd = -1, .failed_fd = -1, .claims_fd = -1})

/* What the directory gets a copy of, so that every worker uses the same. */
enum ck_fleet_file { CK_FLEET_FILE_POLICY, CK_FLEET_FILE_PROBES, CK_FLEET_FILES };

/* What must be the same each time that a fleet is run. */
struct ck_fleet_settings {
    const char *const *only;           /* NULL-terminated; NULL: all probes */
    const char *texts[CK_FLEET_FILES]; /* of the files; NULL: what is embedded */
};

/* Of a fleet that exists. Call done in either case; for an area that was never opened use CK_FLEET_AREA_NONE. */
int ck_fleet_area_open(struct ck_fleet_area *area, const char *path, struct choke_error *error);

/* Makes it if it is missing; -EEXIST if it is there with other settings. */
int ck_fleet_area_make(struct ck_fleet_area *area, const char *path, const struct ck_fleet_settings *settings,
                       struct choke_error *error);
void ck_fleet_area_done(struct ck_fleet_area *area);

/* The probes that were chosen, in fleet.json; the caller frees the list, not its strings. NULL: all. */
int ck_fleet_area_only(const struct ck_fleet_area *area, const char ***ret_only, struct choke_error *error);

/* The path of the copy; NULL: there is none. */
const char *ck_fleet_area_file(const struct ck_fleet_area *area, enum ck_fleet_file file, char dst[PATH_MAX]);

/* Adds list to index.json. What was in it stays if it has a result, or with keep: others may be at work on it. */
int ck_fleet_area_index(const struct ck_fleet_area *area, const struct ck_fleet_list *list, bool keep,
                        struct choke_error *error);

/* The repositories of index.json; they have valid names. */
int ck_fleet_area_list(const struct ck_fleet_area *area, struct ck_fleet_list *ret_list, struct choke_error *error);

bool ck_fleet_area_has_document(const struct ck_fleet_area *area, const char *name);
bool ck_fleet_area_has_failed(const struct ck_fleet_area *area, const char *name);

/* The text of failed/NAME.json as an object; NULL: there is none. */
json_t *ck_fleet_area_failure(const struct ck_fleet_area *area, const char *name);

/* Both return 0 or a negative errno. A document replaces a failure. */
int ck_fleet_area_write_document(const struct ck_fleet_area *area, const char *name, const json_t *document);
int ck_fleet_area_write_failure(const struct ck_fleet_area *area, const struct ck_fleet_entry *entry, const char *stage,
                                const char *message);

void ck_fleet_area_drop_failure(const struct ck_fleet_area *area, const char *name);

/* Removes files that killed processes have left half, if nobody writes any more. */
void ck_fleet_area_tidy(const struct ck_fleet_area *area);

/* `fleet cancel`. */
int ck_fleet_area_cancel(const struct ck_fleet_area *area, bool on);
bool ck_fleet_area_is_cancelled(const struct ck_fleet_area *area);

#endif
