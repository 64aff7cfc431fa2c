/*
 * result_json.c - see result_json.h. Field names and their order are a contract with scripts.
 */
#include "front/result_json.h"

#include "front/jansson.h"

/*
 * "bytes" is what the tool wrote; the text may be less ("truncated"). After JSON lines there is no
 * text.
 */
json_t *ck_result_json_stream(const struct choke_capture *capture, bool with_text)
{
    json_t *object = json_object();
    int bad = 0;

    if (with_text)
        bad |= ck_jansson_set_data(object, capture->data, capture->length);
    bad |= json_object_set_new(object, "bytes", json_integer((json_int_t)capture->total_bytes));
    bad |= json_object_set_new(object, "truncated", json_boolean(capture->truncated));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* With a fraction: the clock has microseconds. */
static json_t *milliseconds(uint64_t us)
{
    return json_real((double)us / 1000.0);
}

/* Sets "outcome", "exit_code" and so on, up to the streams. */
static int set_ending(json_t *object, const struct choke_result *result, json_t *out, json_t *err)
{
    int bad = 0;

    bad |= json_object_set_new(object, "outcome", ck_jansson_text(choke_outcome_name(result->outcome)));
    /* Null unless the tool exited by itself: -1 or 0 could be mistaken for a status. */
    bad |= json_object_set_new(object, "exit_code",
                               result->outcome == CHOKE_EXITED ? json_integer(result->exit_code) : json_null());
    bad |= json_object_set_new(object, "signal", result->signal != 0 ? json_integer(result->signal) : json_null());
    bad |= json_object_set_new(object, "stdout", out);
    bad |= json_object_set_new(object, "stderr", err);
    bad |= json_object_set_new(object, "output_incomplete", json_boolean(result->output_incomplete));
    return bad;
}

static int set_cost(json_t *object, const struct choke_result *result)
{
    int bad = 0;

    bad |= json_object_set_new(object, "duration_ms", milliseconds(result->duration_us));
    bad |= json_object_set_new(object, "user_ms", milliseconds(result->user_us));
    bad |= json_object_set_new(object, "system_ms", milliseconds(result->system_us));
    bad |= json_object_set_new(object, "max_rss_kib", json_integer((json_int_t)result->max_rss_kib));
    return bad;
}

/* The limits that the policy set, except the time, and the mechanism that enforced each. */
static json_t *limits_array(const struct choke_result *result)
{
    json_t *array = json_array();
    int bad = 0;

    for (size_t i = 0; i < result->limit_count; i++) {
        const struct choke_limit *limit = &result->limits[i];
        json_t *object = json_object();
        bad |= json_object_set_new(object, "name", ck_jansson_text(limit->name));
        bad |= json_object_set_new(object, "value", json_integer((json_int_t)limit->value));
        bad |= json_object_set_new(object, "mechanism", ck_jansson_text(limit->mechanism));
        bad |= json_array_append_new(array, object);
    }
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

/* limit_hit: the limit that the run reached; null for none, or none that can be detected. */
static int set_limits(json_t *object, const struct choke_result *result)
{
    int bad = 0;

    bad |= json_object_set_new(object, "limits", limits_array(result));
    bad |= json_object_set_new(object, "limit_hit", ck_jansson_text(result->limit_hit));
    return bad;
}

/* Null: the changes are not known. An empty array: nothing was changed. */
static json_t *changes_array(const struct choke_result *result)
{
    if (!result->changes)
        return json_null();
    json_t *array = json_array();
    int bad = 0;

    for (size_t i = 0; i < result->change_count; i++) {
        const struct choke_file_change *change = &result->changes[i];
        json_t *object = json_object();
        bad |= json_object_set_new(object, "path", ck_jansson_bytes(change->path));
        bad |= json_object_set_new(object, "kind", ck_jansson_text(change->kind));
        bad |= json_object_set_new(object, "type", ck_jansson_text(change->type));
        bad |= json_object_set_new(object, "runs_later", ck_jansson_text(change->runs_later));
        bad |= json_array_append_new(array, object);
    }
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

/*
 * The two flags say that a list or a copy is not complete, so that an absent file proves nothing.
 */
static int set_changes(json_t *object, const struct choke_result *result)
{
    int bad = 0;

    bad |= json_object_set_new(object, "changes", changes_array(result));
    bad |= json_object_set_new(object, "changes_incomplete", json_boolean(result->changes_incomplete));
    bad |= json_object_set_new(object, "kept_incomplete", json_boolean(result->kept_incomplete));
    return bad;
}

/* Null: the request had no egress, or nothing ran. */
static json_t *egress_object(const struct choke_egress *egress)
{
    if (!egress)
        return json_null();
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "rules", ck_jansson_list(egress->rules));
    bad |= json_object_set_new(object, "allowed", json_integer((json_int_t)egress->allowed));
    bad |= json_object_set_new(object, "refused", json_integer((json_int_t)egress->refused));
    bad |= json_object_set_new(object, "failed", json_integer((json_int_t)egress->failed));
    bad |= json_object_set_new(object, "sent_bytes", json_integer((json_int_t)egress->sent_bytes));
    bad |= json_object_set_new(object, "received_bytes", json_integer((json_int_t)egress->received_bytes));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* rule is what decided, also for a request that was allowed: "tools.git", "request.cwd". */
static int set_rule(json_t *object, const struct choke_result *result)
{
    int bad = 0;

    bad |= json_object_set_new(object, "jail", ck_jansson_text(result->jail));
    bad |= json_object_set_new(object, "layers", ck_jansson_list(result->layers));
    bad |= json_object_set_new(object, "kill", ck_jansson_text(result->kill));
    bad |= json_object_set_new(object, "tool", ck_jansson_tool(result->tool_name, result->tool_path));
    bad |= json_object_set_new(object, "rule", ck_jansson_text(result->rule));
    bad |= json_object_set_new(object, "error", ck_jansson_error(&result->error));
    return bad;
}

static json_t *denial_object(const struct choke_denial *denial)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "kind", ck_jansson_text(denial->kind));
    bad |= json_object_set_new(object, "path", ck_jansson_text(denial->path));
    bad |= json_object_set_new(object, "by", ck_jansson_text(denial->by));
    bad |= json_object_set_new(object, "errno", json_integer(denial->errnum));
    bad |= json_object_set_new(object, "add", ck_jansson_text(denial->add));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *denied_array(const struct choke_result *result)
{
    if (!result->denied)
        return json_null();
    json_t *array = json_array();
    int bad = 0;

    for (size_t i = 0; i < result->denied_count; i++)
        bad |= json_array_append_new(array, denial_object(&result->denied[i]));
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

/* The order of the calls is the order of the members: jansson keeps it. */
json_t *ck_result_json_make(const struct choke_result *result, json_t *out, json_t *err)
{
    json_t *object = json_object();
    int bad = set_ending(object, result, out, err);

    bad |= set_cost(object, result);
    bad |= set_rule(object, result);
    bad |= set_limits(object, result);
    bad |= set_changes(object, result);
    bad |= json_object_set_new(object, "egress", egress_object(result->egress));
    bad |= json_object_set_new(object, "unrecorded", json_boolean(result->unrecorded));
    bad |= json_object_set_new(object, "workspace_code", json_boolean(result->workspace_code));
    bad |= json_object_set_new(object, "loopback", json_boolean(result->loopback));
    bad |= json_object_set_new(object, "denied", denied_array(result));
    bad |= json_object_set_new(object, "denied_more", json_integer((json_int_t)result->denied_more));
    bad |= json_object_set_new(object, "egress_offer",
                               result->egress_offer ? ck_jansson_list(result->egress_offer) : json_null());
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}
