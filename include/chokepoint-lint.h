/*
 * chokepoint-lint.h - the part of chokepoint.h that checks sources and runs nothing. Include
 * chokepoint.h, which includes this.
 */
#ifndef CHOKEPOINT_LINT_H
#define CHOKEPOINT_LINT_H

#include "chokepoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Finds calls in the sources of a tree that create processes without chokepoint: Python,
 * JavaScript, TypeScript, C and Bash, read with a grammar and with names resolved within a file. No
 * context is needed and nothing is run.
 *
 * A tree has a top: root if it is given; else the top of the Git repository that has the first
 * path; else the working directory if the path is beneath it; else the path itself. Every path must
 * be beneath the top. No symlink is followed, so nothing outside the top is read, except the
 * configuration if you name one. The call creates threads, with all signals blocked; they have
 * ended when it returns.
 *
 * Zero-filled: all that is beneath the working directory.
 */
struct choke_lint_options {
    /* NULL-terminated: files, and directories with all in them; NULL or empty: "." */
    const char *const *paths;
    const char *root;
    /*
     * NULL: .chokepoint-lint.yaml at the top, if there is one. For a tree that you do not trust,
     * name your own file: then no file in the tree is used as the configuration. docs/lint.md has
     * its keys.
     */
    const char *config_path;
    bool no_gitignore; /* check also what .gitignore excludes; files in paths are always checked */
    unsigned jobs;     /* threads, at most 64; 0: the number of processors */
    /* May be NULL. Called by the calling thread between files; true ends the call: -ECANCELED. */
    bool (*stop)(void *data);
    void *data;
    size_t struct_size; /* see "structs that grow" in chokepoint.h */
};

/* A rule. Severities have the names of choke_severity_name. */
struct choke_lint_rule {
    const char *id;
    enum choke_severity severity; /* before the configuration changes it */
    const char *why;
    const char *instead; /* what to do about it */
};

/*
 * Lines and columns count from 1, columns in characters or in bytes. The end is the first place
 * after the finding.
 */
struct choke_lint_finding {
    enum choke_severity severity;
    const struct choke_lint_rule *rule;
    const char *path;                   /* relative to the working directory; any bytes */
    const char *name;                   /* the same from the top */
    unsigned line, column, byte_column; /* 0 where the finding is about the whole file */
    unsigned end_line, end_column, end_byte_column;
    const char *found;   /* the name that was called, resolved: "os.system"; NULL */
    const char *message; /* one line; untrusted bytes are escaped */
    const char *source;  /* the line, or the part of a long one around the place; NULL */
    unsigned source_at;  /* the byte in source at which the place begins */
};

struct choke_lint_skip {
    const char *path; /* relative to the working directory; any bytes */
    const char *reason;
};

struct choke_lint_report {
    const struct choke_lint_finding *findings; /* in the order of names and places */
    size_t finding_count;
    size_t finding_dropped; /* found too, but not listed: there were too many */
    size_t errors, warnings, notes;
    size_t waived;  /* findings with a waiver on their line */
    size_t allowed; /* processes that are created in a module where the configuration allows it */

    size_t file_count; /* files that were checked */
    uint64_t byte_count;
    /* files and directories left out by .gitignore and by the configuration */
    size_t ignored, excluded;
    const struct choke_lint_skip *skips; /* what else was skipped */
    size_t skip_count;

    const char *top;
    const char *config;                  /* the configuration file; NULL: none */
    const struct choke_lint_rule *rules; /* all rules */
    size_t rule_count;
};

/*
 * A source that could not be checked (too large, not UTF-8, not readable) is a finding, a warning.
 * A negative errno means that there is no report: a path does not exist, or the configuration is
 * not valid.
 */
CHOKE_API int choke_lint(const struct choke_lint_options *options, struct choke_lint_report **ret_report,
                         struct choke_error *error);
CHOKE_API void choke_lint_report_free(struct choke_lint_report *report); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
