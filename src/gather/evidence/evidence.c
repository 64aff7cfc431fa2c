/*
 * evidence.c - the kinds of output that gather can read. A probe names one of them. A new kind
 * needs a reader and a line here.
 */
#include "gather/evidence/evidence.h"

#include "gather/evidence/common.h"

#include <string.h>

/* The names are those in policy/probes.yaml and in files of users, so they must not change. */
static const struct ck_evidence_kind kinds[] = {
    {"git", ck_evidence_read_git},
    {"node", ck_evidence_read_node},
    {"patterns", ck_evidence_read_patterns},
    {"ast-grep", ck_evidence_read_ast_grep},
    {"semgrep", ck_evidence_read_semgrep},
    {"gitleaks", ck_evidence_read_gitleaks},
    {"cyclonedx", ck_evidence_read_cyclonedx},
    {"grype", ck_evidence_read_grype},
    {"scip", ck_evidence_read_scip},
    {"tree-sitter", ck_evidence_read_tree_sitter},
    {"trace", ck_evidence_read_trace},
    {"lines", ck_evidence_read_lines},
    {"documents", ck_evidence_read_documents},
    {"tests", ck_evidence_read_tests},
};

const struct ck_evidence_kind *ck_evidence_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

void ck_evidence_done(struct ck_evidence *evidence)
{
    json_decref(evidence->document);
    *evidence = (struct ck_evidence){0};
}
