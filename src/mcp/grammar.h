/*
 * grammar.h - the entries of the policy in a form that a model can use: calls in short, and with
 * their options.
 */
#ifndef CK_MCP_GRAMMAR_H
#define CK_MCP_GRAMMAR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* May a caller name this tool? Not one of the jails. tool: of the JSON of the policy. */
bool ck_mcp_grammar_is_callable(const json_t *tool);

/* ["git log [OPTION]... [PATH]...", ...] NULL: no memory. */
json_t *ck_mcp_grammar_calls(const json_t *tool);

/* [{"call","options","required","refused","operands","first"}, ...] NULL: no memory. */
json_t *ck_mcp_grammar_rules(const json_t *tool);

/* How options are written in a policy. */
extern const char ck_mcp_grammar_legend[];

#endif
