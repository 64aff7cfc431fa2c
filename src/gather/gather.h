/*
 * gather.h - one look at a repository: what was asked of it, and what came of it. coordinate.c fills this, document.c
 * writes it as JSON, table.c shows it while it happens and summary.c when it is over.
 */
#ifndef CK_GATHER_GATHER_H
#define CK_GATHER_GATHER_H

#include "gather/evidence/evidence.h"
#include "gather/probes.h"

#include <stdio.h>

/* The words (ck_gather_probe_state_name) are stable: ok failed timeout tool_missing skipped refused cancelled. */
enum ck_probe_state {
    CK_PROBE_STATE_WAITING, /* for a place, or for a probe that it needs */
    CK_PROBE_STATE_RUNNING,
    CK_PROBE_STATE_OK,
    CK_PROBE_STATE_FAILED,
    CK_PROBE_STATE_TIMEOUT,
    CK_PROBE_STATE_TOOL_MISSING,
    CK_PROBE_STATE_SKIPPED, /* nothing in the repository for it, not asked for, or what it needs is not ok */
    CK_PROBE_STATE_REFUSED, /* by the policy, or for want of a jail */
    CK_PROBE_STATE_CANCELLED
};

/* One call that was made. Strings belong to the finding's probe. */
struct ck_call_report {
    const char *id;
    char **argv;         /* as it was called, with its words filled in */
    const char *outcome; /* choke_outcome_name */
    int exit_code;
    char *rule;
    char *jail;    /* NULL where nothing ran */
    char **layers; /* NULL-terminated */
    uint64_t duration_us, user_us, system_us, max_rss_kib;
    uint64_t out_bytes, err_bytes;
    bool truncated;
};

struct ck_probe_report {
    const struct ck_probe *probe;
    enum ck_probe_state state;
    char *reason;  /* why it is not ok, in a line; NULL where it is */
    char *install; /* tool_missing: the command that installs it, or NULL */
    struct ck_call_report *calls;
    size_t call_count;
    bool files_cut;                /* more files matched than its calls were given */
    struct ck_evidence evidence;   /* document is NULL unless ok */
    uint64_t started_us, ended_us; /* since the start of all; 0 where it did not run */
};

/* A tool that a probe used, as the library found it. */
struct ck_tool_used {
    const char *name;
    char *path;
    char *version;
    char *sha256;
};

struct ck_gathering {
    const char *root;                /* as resolved */
    struct ck_probe_report *reports; /* one for each probe, in the order of the file */
    size_t count;
    struct ck_tool_used *tools; /* by name */
    size_t tool_count;
    size_t file_count; /* of the repository, as far as they were counted */
    bool files_incomplete;
    bool cancelled;
    int keep_error; /* the first negative errno of what could not be kept for the caller; 0: none */
    uint64_t duration_us;
    uint64_t own_cpu_us;  /* of the coordinator itself */
    const char *document; /* the file that it was written to; NULL: none */
};

const char *ck_gather_probe_state_name(enum ck_probe_state state);

/* ---- document.c: docs/gather.schema.json ---- */

/* The whole document, or NULL when out of memory. Times stand in members of their own ("timing"), so that what remains is
 * byte-identical for the same repository and tools. */
json_t *ck_document_make(const struct ck_gathering *gathering);

/* What the snapshot says is checked out; NULL where there is no commit, or none that is known. */
const char *ck_gather_commit(const struct ck_gathering *gathering);

/* ---- table.c ---- */

/*
 * A live table on a terminal: at most 80 columns wide, redrawn in place. *ret_table is NULL where fd is no terminal or one
 * that cannot move its cursor (TERM=dumb); the other two take that NULL and do nothing.
 *
 * Neither blocks, whatever becomes of the terminal. now_us is since the start of all, as the times of the reports are;
 * more than ten calls a second are cheap, and so is one where nothing changed.
 */
struct ck_table;
int ck_table_new(const struct ck_gathering *gathering, int fd, struct ck_table **ret_table, struct choke_error *error);
void ck_table_draw(struct ck_table *table, uint64_t now_us);
void ck_table_free(struct ck_table *table); /* draws once more and leaves that standing */

/* ---- summary.c ---- */

/* What a person wants to read at the end: colour only where asked for. */
int ck_summary_write(const struct ck_gathering *gathering, FILE *out, bool colour);

#endif
