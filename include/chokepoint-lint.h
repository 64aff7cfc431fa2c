/*
 * chokepoint-lint.h - the part of chokepoint.h that is about sources and runs nothing. Include chokepoint.h: it has this.
 */
#ifndef CHOKEPOINT_LINT_H
#define CHOKEPOINT_LINT_H

#include "chokepoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Calls that go around the door, in the sources of a tree: Python, JavaScript, TypeScript, C and Bash, read with a grammar
 * and with names resolved within a file. No context is needed and nothing is run.
 *
 * A tree has a top: root where it is given; else the top of the Git repository in which the first path lies; else the
 * working directory where that is above it; else the path itself. Every path must lie beneath it. No link is followed, so
 * nothing outside of the top is read, but for the configuration where you name one. Threads are made, with all signals
 * blocked, and have ended when the call returns.
 *
 * Zero-filled: what lies beneath the working directory.
 */
struct choke_lint_options {
    const char *const *paths; /* NULL-terminated: files, and directories with all in them; NULL or empty: "." */
    const char *root;
    /*
     * NULL: .chokepoint-lint.yaml at the top, where there is one. Name a file of your own for a tree that you do not trust:
     * then nothing in the tree is taken for a configuration. docs/lint.md has its keys.
     */
    const char *config_path;
    bool no_gitignore; /* look also at what .gitignore leaves out; files in paths are looked at in any case */
    unsigned jobs;     /* threads, at most 64; 0: as many as there are processors */
};

/* Of the finding and of the rule itself; the words are those of choke_severity_name. */
struct choke_lint_rule {
    const char *id;
    enum choke_severity severity; /* before the configuration has its say */
    const char *why;
    const char *instead; /* what to do about it */
};

/* Lines and columns count from 1, columns in characters or in bytes; the end is the first place behind it. */
struct choke_lint_finding {
    enum choke_severity severity;
    const struct choke_lint_rule *rule;
    const char *path;                   /* as you would write it; any bytes */
    const char *name;                   /* the same from the top */
    unsigned line, column, byte_column; /* 0 where the finding is about the whole file */
    unsigned end_line, end_column, end_byte_column;
    const char *found;   /* the name that was called, resolved: "os.system"; NULL */
    const char *message; /* one line; untrusted bytes are escaped */
    const char *source;  /* the line, or the part of a long one around the place; NULL */
    unsigned source_at;  /* the byte in source at which the place begins */
};

struct choke_lint_skip {
    const char *path; /* as you would write it; any bytes */
    const char *reason;
};

struct choke_lint_report {
    const struct choke_lint_finding *findings; /* in the order of names and places */
    size_t finding_count;
    size_t finding_dropped; /* found as well, but not kept: there were too many */
    size_t errors, warnings, notes;
    size_t waived;  /* findings for which a waiver stands on the line */
    size_t allowed; /* processes that are created in a module where the configuration allows it */

    size_t file_count; /* that were looked at */
    uint64_t byte_count;
    size_t ignored, excluded;            /* files and directories left out by .gitignore and by the configuration */
    const struct choke_lint_skip *skips; /* what else was passed over */
    size_t skip_count;

    const char *top;
    const char *config;                  /* the file; NULL where there is none */
    const struct choke_lint_rule *rules; /* every rule there is */
    size_t rule_count;
};

/*
 * A source that could not be looked at (too large, not UTF-8, not readable) is a finding of its own, a warning. A negative
 * errno means that there is no report: a path that does not exist, a configuration that is not to be understood.
 */
CHOKE_API int choke_lint(const struct choke_lint_options *options, struct choke_lint_report **ret_report,
                         struct choke_error *error);
CHOKE_API void choke_lint_report_free(struct choke_lint_report *report); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
