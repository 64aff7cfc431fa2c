/*
 * result.c - a result and a decision as objects: the members that the command prints as JSON
 * (src/cli/report.c, explain.c), in camelCase. Output is a Buffer here; ../lib makes text of it.
 */
#include "addon.h"

static napi_value number_or_null(napi_env env, bool given, double number)
{
    return given ? addon_number(env, number) : addon_null(env);
}

static napi_value capture(napi_env env, const struct choke_capture *from)
{
    napi_value object = addon_object(env);

    addon_put(env, &object, "data", addon_buffer(env, from->data, from->length));
    addon_put(env, &object, "bytes", addon_number(env, (double)from->total_bytes));
    addon_put(env, &object, "truncated", addon_boolean(env, from->truncated));
    return object;
}

static napi_value tool(napi_env env, const char *name, const char *path)
{
    napi_value object = addon_object(env);

    addon_put(env, &object, "name", addon_text(env, name));
    addon_put(env, &object, "path", addon_bytes(env, path));
    return object;
}

static napi_value error_or_null(napi_env env, const struct choke_error *error)
{
    if (error->outcome == CHOKE_NONE)
        return addon_null(env);
    napi_value object = addon_object(env);
    addon_put(env, &object, "code", addon_text(env, choke_outcome_name(error->outcome)));
    addon_put(env, &object, "message", addon_text(env, error->message));
    return object;
}

static napi_value limits(napi_env env, const struct choke_result *result)
{
    napi_value array = addon_array(env);
    uint32_t count = 0;

    for (size_t i = 0; array && i < result->limit_count; i++) {
        napi_value object = addon_object(env);
        addon_put(env, &object, "name", addon_text(env, result->limits[i].name));
        addon_put(env, &object, "value", addon_number(env, (double)result->limits[i].value));
        addon_put(env, &object, "mechanism", addon_text(env, result->limits[i].mechanism));
        addon_append(env, &array, &count, object);
    }
    return array;
}

static napi_value change(napi_env env, const struct choke_file_change *from)
{
    napi_value object = addon_object(env);

    addon_put(env, &object, "path", addon_bytes(env, from->path));
    addon_put(env, &object, "kind", addon_text(env, from->kind));
    addon_put(env, &object, "type", addon_text(env, from->type));
    addon_put(env, &object, "runsLater", addon_text(env, from->runs_later));
    return object;
}

/* There can be 100000 changes, so each has its own scope of handles. */
static napi_value changes(napi_env env, const struct choke_result *result)
{
    if (!result->changes)
        return addon_null(env);
    napi_value array = addon_array(env);
    uint32_t count = 0;

    for (size_t i = 0; array && i < result->change_count; i++) {
        napi_handle_scope scope;
        if (!addon_ok(env, napi_open_handle_scope(env, &scope)))
            return NULL;
        addon_append(env, &array, &count, change(env, &result->changes[i]));
        napi_close_handle_scope(env, scope);
    }
    return array;
}

static napi_value egress(napi_env env, const struct choke_egress *from)
{
    if (!from)
        return addon_null(env);
    napi_value object = addon_object(env);
    addon_put(env, &object, "rules", addon_list(env, from->rules));
    addon_put(env, &object, "allowed", addon_number(env, (double)from->allowed));
    addon_put(env, &object, "refused", addon_number(env, (double)from->refused));
    addon_put(env, &object, "failed", addon_number(env, (double)from->failed));
    addon_put(env, &object, "sentBytes", addon_number(env, (double)from->sent_bytes));
    addon_put(env, &object, "receivedBytes", addon_number(env, (double)from->received_bytes));
    return object;
}

static napi_value denied(napi_env env, const struct choke_result *result)
{
    if (!result->denied)
        return addon_null(env);
    napi_value array = addon_array(env);
    uint32_t count = 0;

    for (size_t i = 0; array && i < result->denied_count; i++) {
        const struct choke_denial *from = &result->denied[i];
        napi_value object = addon_object(env);
        addon_put(env, &object, "kind", addon_text(env, from->kind));
        addon_put(env, &object, "path", addon_text(env, from->path));
        addon_put(env, &object, "by", addon_text(env, from->by));
        addon_put(env, &object, "errno", addon_number(env, from->errnum));
        addon_put(env, &object, "add", addon_text(env, from->add));
        addon_append(env, &array, &count, object);
    }
    return array;
}

static void put_ending(napi_env env, napi_value *object, const struct choke_result *result)
{
    addon_put(env, object, "outcome", addon_text(env, choke_outcome_name(result->outcome)));
    addon_put(env, object, "exitCode", number_or_null(env, result->outcome == CHOKE_EXITED, result->exit_code));
    addon_put(env, object, "signal", number_or_null(env, result->signal != 0, result->signal));
    addon_put(env, object, "stdout", capture(env, &result->out));
    addon_put(env, object, "stderr", capture(env, &result->err));
    addon_put(env, object, "outputIncomplete", addon_boolean(env, result->output_incomplete));
    addon_put(env, object, "durationMs", addon_number(env, (double)result->duration_us / 1000));
    addon_put(env, object, "userMs", addon_number(env, (double)result->user_us / 1000));
    addon_put(env, object, "systemMs", addon_number(env, (double)result->system_us / 1000));
    addon_put(env, object, "maxRssKib", addon_number(env, (double)result->max_rss_kib));
}

/* In the order of the JSON. */
napi_value addon_result(napi_env env, const struct choke_result *result)
{
    napi_value object = addon_object(env);

    put_ending(env, &object, result);
    addon_put(env, &object, "jail", addon_text(env, result->jail));
    addon_put(env, &object, "layers", addon_list(env, result->layers));
    addon_put(env, &object, "kill", addon_text(env, result->kill));
    addon_put(env, &object, "tool", tool(env, result->tool_name, result->tool_path));
    addon_put(env, &object, "rule", addon_text(env, result->rule));
    addon_put(env, &object, "error", error_or_null(env, &result->error));
    addon_put(env, &object, "limits", limits(env, result));
    addon_put(env, &object, "limitHit", addon_text(env, result->limit_hit));
    addon_put(env, &object, "changes", changes(env, result));
    addon_put(env, &object, "changesIncomplete", addon_boolean(env, result->changes_incomplete));
    addon_put(env, &object, "keptIncomplete", addon_boolean(env, result->kept_incomplete));
    addon_put(env, &object, "egress", egress(env, result->egress));
    addon_put(env, &object, "unrecorded", addon_boolean(env, result->unrecorded));
    addon_put(env, &object, "workspaceCode", addon_boolean(env, result->workspace_code));
    addon_put(env, &object, "loopback", addon_boolean(env, result->loopback));
    addon_put(env, &object, "denied", denied(env, result));
    addon_put(env, &object, "deniedMore", addon_number(env, (double)result->denied_more));
    addon_put(env, &object, "egressOffer",
              result->egress_offer ? addon_list(env, result->egress_offer) : addon_null(env));
    return object;
}

napi_value addon_decision(napi_env env, const struct choke_decision *decision)
{
    bool allowed = decision->outcome == CHOKE_NONE;
    napi_value object = addon_object(env);

    addon_put(env, &object, "decision", addon_text(env, allowed ? "allowed" : "refused"));
    addon_put(env, &object, "outcome", addon_text(env, allowed ? NULL : choke_outcome_name(decision->outcome)));
    addon_put(env, &object, "rule", addon_text(env, decision->rule));
    addon_put(env, &object, "tool", tool(env, decision->tool_name, decision->tool_path));
    addon_put(env, &object, "argv", addon_list(env, decision->argv));
    addon_put(env, &object, "env", addon_list(env, decision->env));
    addon_put(env, &object, "root", addon_bytes(env, decision->root));
    addon_put(env, &object, "cwd", addon_bytes(env, decision->cwd));
    addon_put(env, &object, "timeoutMs", number_or_null(env, decision->timeout_ms != 0, (double)decision->timeout_ms));
    addon_put(env, &object, "jail", addon_text(env, decision->jail));
    addon_put(env, &object, "layers", addon_list(env, decision->layers));
    addon_put(env, &object, "mounts", addon_list(env, decision->mounts));
    addon_put(env, &object, "jailArgv", addon_list(env, decision->jail_argv));
    addon_put(env, &object, "egress", addon_list(env, decision->egress));
    addon_put(env, &object, "error", error_or_null(env, &decision->error));
    addon_put(env, &object, "workspaceCode", addon_boolean(env, decision->workspace_code));
    addon_put(env, &object, "loopback", addon_boolean(env, decision->loopback));
    addon_put(env, &object, "via", addon_text(env, decision->via));
    return object;
}
