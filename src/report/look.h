/*
 * look.h - one look at a repository: what a report takes from one document of `chokepoint gather`.
 *
 * Documents come from other machines, and what is in them from repositories: each member may be
 * missing or of another type, and then counts as absent. docs/gather.schema.json has the members;
 * those of earlier versions, without "findings" and a date, are read too.
 */
#ifndef CK_REPORT_LOOK_H
#define CK_REPORT_LOOK_H

#include "chokepoint.h"
#include "report/strings.h"

enum ck_look_severity { CK_LOOK_CRITICAL, CK_LOOK_HIGH, CK_LOOK_MEDIUM, CK_LOOK_LOW, CK_LOOK_INFO, CK_LOOK_SEVERITIES };

/* "critical" ... "info" */
const char *ck_look_severity_name(enum ck_look_severity severity);

/* What a finding is, compared with the look before. */
enum ck_look_state {
    CK_LOOK_LISTED, /* there was no look before */
    CK_LOOK_NEW,
    CK_LOOK_KNOWN,
    CK_LOOK_GONE,      /* it was in the look before, and is in the latest one no more */
    CK_LOOK_UNCHECKED, /* as gone, but not all that had seen it looked again */
};

/* Texts are numbers of the strings (strings.h). */
struct ck_look_finding {
    enum ck_look_severity severity;
    enum ck_look_state state;
    uint64_t identity; /* the same for the same finding in two looks */
    uint64_t line;     /* 0: none */
    uint32_t rule, message, path, place, source, commit, fingerprint;
    uint32_t seen_by; /* names of probes, with a comma and a space between them */
    uint32_t details; /* lines "PROBE<tab>RULE<tab>MESSAGE", for what several probes saw; else 0 */
};

struct ck_look_probe {
    uint32_t name, tool, layer, why, state, reason, install, headline;
    bool ok;
    bool nothing; /* it did not run, because there is nothing for it to look at */
    bool has_count;
    uint64_t count;             /* of what it found */
    uint64_t files, searched;   /* 0 and 0: not known */
    uint64_t listed, total;     /* findings */
    enum ck_look_severity cut;  /* the worst that its list may lack; CK_LOOK_SEVERITIES: nothing */
    bool files_cut, output_cut; /* it did not get all files; not all of its output was read */
    uint64_t duration_ms;
};

struct ck_look_call {
    uint32_t probe, tool, argv, outcome, rule, jail; /* jail: 0 if nothing ran */
    uint32_t layers;                                 /* with a space between them */
};

struct ck_look_tool {
    uint32_t name, version, path, sha256;
};

/* A list that grows by doubling. */
#define CK_LOOK_LIST(type) \
    struct { \
        type *items; \
        size_t count; \
    }

struct ck_look {
    uint32_t file, name, root, commit, version;
    char date[24];      /* "2026-11-18T21:30:05Z" */
    bool date_is_files; /* the document has none: the time of its file */
    bool latest;        /* of its repository */
    bool cancelled, files_incomplete;
    uint64_t files;
    uint64_t by_severity[CK_LOOK_SEVERITIES];
    CK_LOOK_LIST(struct ck_look_finding) findings;
    CK_LOOK_LIST(struct ck_look_probe) probes;
    CK_LOOK_LIST(struct ck_look_call) calls;
    CK_LOOK_LIST(struct ck_look_tool) tools;
};

/* Is it a document of gather, of whatever version? */
bool ck_look_is_document(const json_t *document);

/*
 * Takes what a report shows. date_of_file is used where the document has none. Returns 0 or a
 * negative errno. ck_look_done in either case.
 */
int ck_look_read(struct ck_look *look, const json_t *document, struct ck_strings *strings, struct choke_error *error);

void ck_look_done(struct ck_look *look);

#endif
