/*
 * mcp.h - a server of the Model Context Protocol over one context of the library.
 *
 * Must: write nothing but messages to out_fd; end everything that it started when its input ends;
 * judge every call by the policy, the root and the jail of its options. Must not: let a client
 * choose or weaken any of these.
 */
#ifndef CK_MCP_MCP_H
#define CK_MCP_MCP_H

#include "chokepoint.h"

struct ck_mcp_options {
    struct choke_options context; /* the policy and the log; on_event is set by the server */
    const char *root;             /* the only directory that calls may work in */
    enum choke_jail jail;
    bool require_jail;
    const char *const *egress; /* NULL-terminated: the most that a call may ask for; NULL: nothing */
    int in_fd;
    int out_fd;
};

/*
 * Serves until the input ends, a signal arrives or the client does not read any more. Returns 0, the
 * number of the signal, or a negative errno and *error if the server cannot begin.
 */
int ck_mcp_serve(const struct ck_mcp_options *options, struct choke_error *error);

#endif
