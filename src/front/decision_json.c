/*
 * decision_json.c - see decision_json.h.
 */
#include "front/decision_json.h"

#include "front/jansson.h"

/* 0: the decision has no timeout, for example because the request was refused. */
static json_t *timeout_or_null(const struct choke_decision *decision)
{
    return decision->timeout_ms != 0 ? json_integer((json_int_t)decision->timeout_ms) : json_null();
}

/*
 * All members are always present, so that a script needs no test for a missing one. A refused
 * request has null or an empty list for what was not decided.
 */
static int set_members(json_t *object, const struct choke_decision *decision)
{
    /* CHOKE_NONE as the outcome of a decision: nothing speaks against the run. */
    bool allowed = decision->outcome == CHOKE_NONE;
    int bad = 0;

    bad |= json_object_set_new(object, "decision", ck_jansson_text(allowed ? "allowed" : "refused"));
    bad |= json_object_set_new(object, "outcome",
                               allowed ? json_null() : ck_jansson_text(choke_outcome_name(decision->outcome)));
    bad |= json_object_set_new(object, "rule", ck_jansson_text(decision->rule));
    bad |= json_object_set_new(object, "tool", ck_jansson_tool(decision->tool_name, decision->tool_path));
    bad |= json_object_set_new(object, "argv", ck_jansson_list(decision->argv));
    bad |= json_object_set_new(object, "env", ck_jansson_list(decision->env));
    bad |= json_object_set_new(object, "root", ck_jansson_bytes(decision->root));
    bad |= json_object_set_new(object, "cwd", ck_jansson_bytes(decision->cwd));
    bad |= json_object_set_new(object, "timeout_ms", timeout_or_null(decision));
    bad |= json_object_set_new(object, "jail", ck_jansson_text(decision->jail));
    bad |= json_object_set_new(object, "layers", ck_jansson_list(decision->layers));
    bad |= json_object_set_new(object, "mounts", ck_jansson_list(decision->mounts));
    bad |= json_object_set_new(object, "jail_argv", ck_jansson_list(decision->jail_argv));
    bad |= json_object_set_new(object, "egress", ck_jansson_list(decision->egress));
    bad |= json_object_set_new(object, "error", ck_jansson_error(&decision->error));
    bad |= json_object_set_new(object, "workspace_code", json_boolean(decision->workspace_code));
    bad |= json_object_set_new(object, "loopback", json_boolean(decision->loopback));
    bad |= json_object_set_new(object, "via", ck_jansson_text(decision->via));
    return bad;
}

json_t *ck_decision_json_make(const struct choke_decision *decision)
{
    json_t *object = json_object();

    if (set_members(object, decision) == 0)
        return object;
    json_decref(object);
    return NULL;
}
