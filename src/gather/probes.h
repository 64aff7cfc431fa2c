/*
 * probes.h - what gather looks for. Probes are data: policy/probes.yaml, embedded when the command is built, or a file
 * that the caller names (and that is distrusted as a policy is: not inside the repository, not for others to write).
 *
 *   version: 1
 *   probes:
 *     - name: vulnerabilities          # ^[a-z][a-z0-9_]{0,63}$, unique; also the name that the library knows it by
 *       layer: supply                  # repository, static, supply, index or runtime: how the document is grouped
 *       why: One sentence.
 *       tool: grype                    # of the policy; every call is of this tool but where a call names its own
 *       applies_when: ["Dockerfile"]   # globs over the files of the repository, any of them; left out: always
 *       opens: [".gitignore"]          # globs: what its tool opens by itself; left out: any file. Where one of them is a
 *                                      # FIFO or a device, which the tool would wait for, the probe is skipped
 *       needs: [sbom]                  # probes that must be ok before; their output can be used as stdin
 *       output: grype                  # the reader of what it prints (evidence.h)
 *       timeout_s: 300                 # for each call; left out: what the policy says
 *       egress: []                     # hosts; the policy's entry has to grant them
 *       prepare: trace                 # code that is asked before each call (prepare.h); left out: none
 *       git: true                      # skipped where the directory is no git repository of its own; left out: false
 *       max_output_mib: 32             # of each stream of a call, 1 to 64; left out: 16
 *       calls:                         # one after the other; one that gives no answer ends the probe
 *         - id: scan                   # as a name; unique in the probe
 *           tool: jq                   # left out: the probe's
 *           argv: [grype, -o, json]    # begins with the tool
 *           stdin: {probe: sbom, call: scan}   # or {text: "..."}; left out: nothing
 *           timeout_s: 30              # left out: the probe's
 *           may_fail: [1]              # exit statuses besides 0 that are answers
 *           keeps: true                # what it writes into its overlay is kept for the reader (ck_answer.changes_fd)
 *
 * Words in argv, each a whole argument:
 *   {file}    the first of the files that applies_when matches, in the order of their bytes, from the root
 *   {files}   all of them, an argument each, CK_PROBE_FILES_MAX at most
 * They are for a probe with applies_when only; what a probe prepares may have more. A path that begins with a dash gets
 * "./" before it. Any other argument that is small letters in braces is an error; braces elsewhere are what they are.
 *
 * Globs are compared with the whole path from the root, byte by byte: "*" and "?" do not match a slash, "[a-z]" and
 * "[!a-z]" are one byte, and a leading "**" with a slash stands for any number of directories, none included. Only regular
 * files count, and nothing beneath a .git. Where there are more files than are looked at, a probe that needs none of their
 * names applies, or a crowd of files would keep it from the one behind them.
 *
 * A file that does not keep to this does not load, and says the line and the column.
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

/* What a call gets to read. At most one of text and probe is set. */
struct ck_probe_stdin {
    const char *text;
    const char *probe; /* a probe named in needs */
    const char *call;  /* of that probe */
};

struct ck_probe_call {
    struct ck_yaml_place position;
    const char *id;
    const char *tool;        /* NULL: the probe's */
    const char *const *argv; /* NULL-terminated */
    struct ck_probe_stdin input;
    unsigned timeout_s; /* 0: the probe's */
    const int *may_fail;
    uint32_t may_fail_count;
    bool keeps; /* its tool's workspace is overlay, and the reader wants what was written there */
};

struct ck_probe {
    struct ck_yaml_place position; /* in the file, for messages */
    const char *name;
    enum ck_probe_layer layer;
    const char *why;
    const char *tool;
    const char *const *applies_when; /* NULL-terminated; empty: always */
    const char *const *opens;        /* NULL-terminated; empty: nothing */
    const char *const *needs;
    const char *const *egress;
    const char *output;
    const char *prepare;     /* NULL: nothing */
    unsigned timeout_s;      /* 0: what the policy says */
    unsigned max_output_mib; /* never 0 */
    bool git;
    const struct ck_probe_call *calls;
    uint32_t call_count;
};

struct ck_probes {
    const struct ck_probe *items; /* in the order of the file */
    uint32_t count;
    struct ck_arena arena; /* of all that items point at */
};

/* Pure: what the text says. */
int ck_probes_parse(const struct ck_yaml_source *source, struct ck_probes *ret_probes, struct choke_error *error);

/* path NULL: the embedded ones. root is the repository, which must not supply them; NULL where there is none. */
int ck_probes_load(const char *path, const char *root, struct ck_probes *ret_probes, struct choke_error *error);
void ck_probes_done(struct ck_probes *probes); /* zero-filled is fine */

const char *ck_probes_layer_name(enum ck_probe_layer layer);

#endif
