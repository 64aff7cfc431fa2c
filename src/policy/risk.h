/*
 * risk.h - what a reviewer should look at in an entry: tools and options that are known to run
 * programs or to write files.
 *
 * The table is data: policy/risks.yaml, compiled when the library is built
 * (tools/gen/risk-tables.c). Pure, and only for reviews: no run depends on it.
 */
#ifndef CK_POLICY_RISK_H
#define CK_POLICY_RISK_H

#include "policy/model.h"

/* The order is that of the choices in tools/gen/risk-tables.c. */
enum ck_risk_effect { CK_RISK_RUNS, CK_RISK_WRITES, CK_RISK_OPENS };
enum ck_risk_unless { CK_RISK_ALWAYS, CK_RISK_COMMAND, CK_RISK_WORKSPACE_CODE };

/* One row. Lists end with NULL, and may be empty. */
struct ck_risk {
    const char *const *tools;
    const char *const *subcommands; /* "." is the tool itself; empty: it and each subcommand */
    const char *const *options;     /* empty: the row is about the tool */
    const char *const *guards;
    enum ck_risk_effect effect;
    enum ck_risk_unless unless;
    const char *instead;
};

extern const struct ck_risk ck_risks[];
extern const uint32_t ck_risks_count;

/* What was found. */
struct ck_risk_use {
    const struct ck_risk *risk;
    const struct ck_subcommand *subcommand; /* NULL: the tool itself */
    const char *option;                     /* NULL: the tool itself is the risk */
};

/*
 * Does the program run the text that it is given: a shell, an interpreter? name is a name or a path.
 * env and its like are not meant: what they start must be listed itself.
 */
bool ck_risk_runs_text(const char *name);

/* Calls found for each risk of the entry, in the order of the table. */
void ck_risk_each(const struct ck_tool *tool, void (*found)(void *data, const struct ck_risk_use *use), void *data);

#endif
