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
 *       needs: [sbom]                  # probes that must be ok before; their output can be used as stdin
 *       output: grype                  # the reader of what it prints (evidence.h)
 *       timeout_s: 300                 # for each call; left out: what the policy says
 *       egress: []                     # hosts; the policy's entry has to grant them
 *       calls:                         # one after the other
 *         - id: scan                   # unique in the probe
 *           argv: [grype, -o, json]    # {root}, {file} ... : see "words" below
 *           stdin: {probe: sbom, call: scan}   # or {text: "..."}; left out: nothing
 *           may_fail: [1]              # exit statuses besides 0 that are answers
 *           keeps: true                # what it writes into its overlay is kept for the reader (ck_answer.kept_fd)
 *
 * A file that does not keep to this does not load, and says the line and the column.
 */
#ifndef CK_GATHER_PROBES_H
#define CK_GATHER_PROBES_H

#include "chokepoint.h"

enum ck_probe_layer {
    CK_LAYER_REPOSITORY,
    CK_LAYER_STATIC,
    CK_LAYER_SUPPLY,
    CK_LAYER_INDEX,
    CK_LAYER_RUNTIME,
    CK_LAYER_COUNT
};

/* What a call gets to read. At most one of text and probe is set. */
struct ck_probe_stdin {
    const char *text;
    const char *probe; /* a probe named in needs */
    const char *call;  /* of that probe */
};

struct ck_probe_call {
    const char *id;
    const char *const *argv; /* NULL-terminated */
    struct ck_probe_stdin input;
    const int *may_fail;
    unsigned may_fail_count;
    bool keeps; /* its tool's workspace is overlay, and the reader wants what was written there */
};

struct ck_probe {
    const char *name;
    enum ck_probe_layer layer;
    const char *why;
    const char *tool;
    const char *const *applies_when; /* NULL-terminated; empty: always */
    const char *const *needs;
    const char *const *egress;
    const char *output;
    unsigned timeout_s; /* 0: what the policy says */
    const struct ck_probe_call *calls;
    size_t call_count;
};

struct ck_probes {
    const struct ck_probe *items; /* in the order of the file */
    size_t count;
    void *storage;
};

/* path NULL: the embedded ones. root is the repository, which must not supply them; NULL where there is none. */
int ck_probes_load(const char *path, const char *root, struct ck_probes *ret_probes, struct choke_error *error);
void ck_probes_done(struct ck_probes *probes); /* zero-filled is fine */

const char *ck_probe_layer_name(enum ck_probe_layer layer);

#endif
