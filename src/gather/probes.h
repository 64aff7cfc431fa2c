/*
 * probes.h - the probes of gather. They are data: policy/probes.yaml, embedded at build time, or a
 * file that the caller names. Such a file is checked like a policy: not inside the repository, not
 * writable by others.
 *
 *   version: 1
 *   probes:
 *     - name: vulnerabilities          # ^[a-z][a-z0-9_]{0,63}$, unique; the library's name too
 *       layer: supply                  # repository, static, supply, index or runtime: its group
 *       why: One sentence.
 *       tool: grype                    # of the policy; a call may name another tool
 *       applies_when: ["Dockerfile"]   # globs over the files, any of them; left out: always
 *       opens: [".gitignore"]          # globs: what its tool opens by itself; left out: any file.
 *                                      # The probe is skipped if one of them is a FIFO or a
 *                                      # device, because the tool would wait for it
 *       needs: [sbom]                  # probes that must be ok before; their output can be stdin
 *       output: grype                  # the reader of its output (evidence/evidence.h)
 *       timeout_s: 300                 # for each call; left out: the policy's limit
 *       egress: []                     # hosts; the policy's entry must grant them
 *       prepare: trace                 # code that runs before each call (prepare.h)
 *       git: true                      # skipped if the directory is not a complete git repository
 *       max_output_mib: 32             # of each stream of a call, 1 to 64; left out: 16
 *       inside: lint                   # code of the command that answers it (inside.h); then there
 *                                      # is neither output nor calls, and tool is only shown
 *       calls:                         # in order; one without an answer ends the probe
 *         - id: scan                   # as a name; unique in the probe
 *           tool: jq                   # left out: the probe's
 *           argv: [grype, -o, json]    # begins with the tool
 *           stdin: {probe: sbom, call: scan}   # or {text: "..."}; left out: nothing
 *           timeout_s: 30              # left out: the probe's
 *           may_fail: [1]              # exit statuses besides 0 that are answers
 *           keeps: true                # the reader gets its changes (ck_answer.changes_fd)
 *
 * Placeholders in argv, each a whole argument:
 *
 *   {file}    the first file that applies_when matches, in byte order, relative to the root
 *   {files}   all of them, one argument each, CK_PROBE_FILES_MAX at most
 *
 * They are allowed only in a probe with applies_when; a preparation may have more. A path that
 * begins with a dash gets "./" before it. Any other argument of lower-case letters in braces is an
 * error; braces elsewhere are literal.
 *
 * Globs match the whole path from the root, byte by byte: "*" and "?" do not match a slash, "[a-z]"
 * and "[!a-z]" match one byte, and a leading "**" with a slash matches any number of directories,
 * also none. Only regular files count, and nothing in a .git. If there are more files than the walk
 * reads, a probe that needs no file names applies anyway: otherwise many files could hide the one
 * that it applies to.
 *
 * A file with an error does not load; the message has the line and the column.
 */
#ifndef CK_GATHER_PROBES_H
#define CK_GATHER_PROBES_H

#include "base/yaml.h"

#include <errno.h>

#define CK_PROBES_MAX 64
#define CK_PROBE_CALLS_MAX 16
#define CK_PROBE_FILES_MAX 1000
#define CK_PROBE_FILE "{file}"
#define CK_PROBE_FILES "{files}"

enum ck_probe_layer {
    CK_PROBE_LAYER_REPOSITORY,
    CK_PROBE_LAYER_STATIC,
    CK_PROBE_LAYER_SUPPLY,
    CK_PROBE_LAYER_INDEX,
    CK_PROBE_LAYER_RUNTIME,
    CK_PROBE_LAYER_COUNT
};

/* The input of a call. At most one of text and probe is set. */
struct ck_probe_stdin {
    const char *text;  /* the input itself */
    const char *probe; /* a probe named in needs */
    const char *call;  /* of that probe */
};

struct ck_probe_call {
    struct ck_yaml_place position;
    const char *id;
    const char *tool;        /* NULL: the probe's */
    const char *const *argv; /* NULL-terminated */
    struct ck_probe_stdin input;
    unsigned timeout_s;  /* 0: the probe's */
    const int *may_fail; /* exit statuses besides 0 that are answers */
    uint32_t may_fail_count;
    bool keeps; /* its tool's workspace is overlay, and the reader needs the changes */
};

struct ck_probe {
    struct ck_yaml_place position; /* in the file, for messages */
    const char *name;
    enum ck_probe_layer layer;
    const char *why;                 /* one sentence */
    const char *tool;                /* of the policy */
    const char *const *applies_when; /* NULL-terminated; empty: always */
    const char *const *opens;        /* NULL-terminated; empty: nothing */
    const char *const *needs;        /* names of probes; NULL-terminated */
    const char *const *egress;       /* hosts; NULL-terminated */
    const char *output;              /* names the reader (evidence.h); NULL if inside */
    const char *prepare;             /* NULL: nothing */
    const char *inside;              /* NULL: it has calls */
    unsigned timeout_s;              /* 0: the policy's limit */
    unsigned max_output_mib;         /* never 0 */
    bool git;                        /* skipped without a complete git repository */
    const struct ck_probe_call *calls;
    uint32_t call_count;
};

struct ck_probes {
    const struct ck_probe *items; /* in file order */
    uint32_t count;
    struct ck_arena arena; /* owns everything that items point to */
};

/* Pure: parses the text. */
int ck_probes_parse(const struct ck_yaml_source *source, struct ck_probes *ret_probes, struct choke_error *error);

/*
 * path NULL: the embedded probes. root is the repository, which must not supply them; it may be
 * NULL.
 */
int ck_probes_load(const char *path, const char *root, struct ck_probes *ret_probes, struct choke_error *error);
void ck_probes_done(struct ck_probes *probes); /* zero-filled is fine */

const char *ck_probes_layer_name(enum ck_probe_layer layer);

#endif
