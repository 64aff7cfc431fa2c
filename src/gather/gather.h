/*
 * gather.h - one gather: the probes and their results. coordinate.c fills it, view/document.c
 * writes it as JSON, view/table.c shows it while it runs and view/summary.c at the end.
 */
#ifndef CK_GATHER_GATHER_H
#define CK_GATHER_GATHER_H

#include "gather/evidence/evidence.h"
#include "gather/probes.h"

#include <stdio.h>
#include <time.h>

/*
 * The names (ck_gather_probe_state_name) are stable: ok failed timeout tool_missing skipped refused
 * cancelled.
 */
enum ck_probe_state {
    CK_PROBE_STATE_WAITING, /* for a slot, or for a probe that it needs */
    CK_PROBE_STATE_RUNNING,
    CK_PROBE_STATE_OK,
    CK_PROBE_STATE_FAILED,
    CK_PROBE_STATE_TIMEOUT,
    CK_PROBE_STATE_TOOL_MISSING,
    CK_PROBE_STATE_SKIPPED, /* no file for it, not selected, or a probe that it needs is not ok */
    CK_PROBE_STATE_REFUSED, /* by the policy, or because no jail is available */
    CK_PROBE_STATE_CANCELLED
};

/* One call that was made. Its constant strings belong to the probe. */
struct ck_call_report {
    const char *id;
    char **argv;         /* as it was called, with placeholders replaced */
    const char *outcome; /* choke_outcome_name */
    int exit_code;       /* -1 unless the outcome is "exited" */
    char *rule;          /* what decided; NULL: not known */
    char *jail;          /* NULL if nothing ran */
    char **layers;       /* NULL-terminated */
    uint64_t duration_us, user_us, system_us, max_rss_kib;
    uint64_t out_bytes, err_bytes; /* that the tool wrote, also what was not kept */
    bool truncated;                /* of one of the streams, the beginning is lost */
};

struct ck_probe_report {
    const struct ck_probe *probe;
    enum ck_probe_state state;
    char *reason;  /* why it is not ok, in one line; NULL if it is ok */
    char *install; /* tool_missing: the command that installs it, or NULL */
    struct ck_call_report *calls;
    size_t call_count;
    bool files_cut;                /* more files matched than its calls were given */
    bool blocked;                  /* skipped because of a FIFO or a device: it applies all the same */
    struct ck_evidence evidence;   /* document is NULL unless ok */
    uint64_t started_us, ended_us; /* since the start of the gather; 0 if it did not run */
};

/* A tool that a probe used, as the library found it. */
struct ck_tool_used {
    const char *name;
    char *path;
    char *version; /* NULL: not known */
    char *sha256;  /* NULL: not known */
};

struct ck_gathering {
    const char *root;                /* as resolved */
    struct ck_probe_report *reports; /* one per probe, in file order */
    size_t count;
    struct ck_tool_used *tools; /* sorted by name */
    size_t tool_count;
    json_t *findings;  /* of all probes, merged and ranked (findings/findings.h); NULL: none yet */
    bool findings_cut; /* a probe had more than its list holds */
    bool has_baseline;
    size_t findings_known; /* those that a baseline has */
    time_t started_at;
    size_t file_count; /* files of the repository, as far as they were counted */
    bool files_incomplete;
    bool cancelled;
    int keep_error; /* the first negative errno of --keep; 0: none */
    uint64_t duration_us;
    uint64_t own_cpu_us;  /* of the coordinator itself */
    const char *document; /* the file that the document was written to; NULL: none */
};

const char *ck_gather_probe_state_name(enum ck_probe_state state);

/* ---- document.c: docs/gather.schema.json ---- */

/*
 * The whole document, or NULL when out of memory. Times are in separate members ("timing"), so the
 * rest is byte-identical for the same repository and tools.
 */
json_t *ck_document_make(const struct ck_gathering *gathering);

/* The commit that is checked out, from the snapshot probe; NULL if it is not known. */
const char *ck_gather_commit(const struct ck_gathering *gathering);

/* ---- sarif.c ---- */

/* The findings as SARIF 2.1.0, or NULL when out of memory. */
json_t *ck_gather_sarif_make(const struct ck_gathering *gathering);

/* ---- table.c ---- */

/*
 * A live table on a terminal: at most 80 columns wide, redrawn in place. *ret_table is NULL if fd
 * is not a terminal, or one that cannot move its cursor (TERM=dumb); the other functions ignore
 * that NULL.
 *
 * No function blocks, whatever happens to the terminal. now_us counts from the start of the gather,
 * as the times of the reports do. More than ten calls a second are cheap, and so is a call without
 * a change.
 */
struct ck_table;
int ck_table_new(const struct ck_gathering *gathering, int fd, struct ck_table **ret_table, struct choke_error *error);
void ck_table_draw(struct ck_table *table, uint64_t now_us);
void ck_table_free(struct ck_table *table); /* draws once more; the table stays on the screen */

/* ---- summary.c ---- */

/* The text for people at the end. */
int ck_summary_write(const struct ck_gathering *gathering, FILE *out, bool colour);

#endif
