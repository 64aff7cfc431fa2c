/*
 * addon.c - the class Context of the addon, and the module; see addon.h.
 */
#include "addon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Marks our objects, so that a method that is called on another object is a TypeError. */
static const napi_type_tag context_tag = {0x8d1f0c6a55b34e27, 0xa3c29e7714f06b58};

static napi_value undefined(napi_env env)
{
    napi_value value = NULL;
    return addon_ok(env, napi_get_undefined(env, &value)) ? value : NULL;
}

/* ---- the end of a context ---- */

static void on_environment_end(void *data);

static void forget_jobs(struct addon_context *self)
{
    for (size_t i = 0; i < ADDON_BUCKETS; i++)
        while (self->jobs[i])
            addon_job_remove(self->jobs[i]);
}

/* Nothing calls us any more. The environment itself ends the function if it is ending. */
static void disconnect(struct addon_context *self, bool environment_ends)
{
    addon_poller_stop(&self->poller);
    if (self->hooked && !environment_ends)
        napi_remove_env_cleanup_hook(self->env, on_environment_end, self);
    self->hooked = false;
    if (self->function && !environment_ends)
        napi_release_threadsafe_function(self->function, napi_tsfn_release);
    self->function = NULL;
}

static void discard(struct addon_context *self, bool environment_ends)
{
    struct choke_context *context = self->context;

    self->context = NULL;
    disconnect(self, environment_ends);
    choke_context_discard(context);
    forget_jobs(self);
}

/* The program or its worker thread ends, perhaps with runs in flight. */
static void on_environment_end(void *data)
{
    discard(data, true);
}

/* The garbage collector has taken the object; then no job was running. Or the environment is gone. */
static void finalize(napi_env env, void *data, void *hint)
{
    struct addon_context *self = data;

    (void)hint;
    discard(self, false);
    if (self->object)
        napi_delete_reference(env, self->object);
    free(self);
}

/* ---- waiting ---- */

/* In the JavaScript thread: calls onReadable. env is NULL while the environment ends. */
static void call_javascript(napi_env env, napi_value function, void *data, void *item)
{
    struct addon_context *self = data;
    napi_value object = NULL, method, result;
    napi_valuetype type;

    (void)function;
    (void)item;
    if (!env || !self->context || napi_get_reference_value(env, self->object, &object) != napi_ok || !object)
        return;
    if (napi_get_named_property(env, object, "onReadable", &method) == napi_ok &&
        napi_typeof(env, method, &type) == napi_ok && type == napi_function)
        napi_call_function(env, object, method, 0, NULL, &result);
}

/* Makes function and thread, once. The order matters: see poller.c. */
static bool connect(napi_env env, struct addon_context *self)
{
    struct choke_error error = {0};
    napi_value name = NULL;

    if (self->function)
        return true;
    name = addon_text(env, "chokepoint");
    if (!name || !addon_ok(env, napi_create_threadsafe_function(env, NULL, NULL, name, 0, 1, NULL, NULL, self,
                                                                call_javascript, &self->function)))
        return false;
    if (!addon_ok(env, napi_unref_threadsafe_function(env, self->function)) ||
        !addon_ok(env, napi_add_env_cleanup_hook(env, on_environment_end, self))) {
        disconnect(self, false);
        return false;
    }
    self->hooked = true;
    int r = addon_poller_start(&self->poller, choke_fd(self->context), self->function);
    if (r < 0) {
        disconnect(self, false);
        addon_throw(env, r, &error);
    }
    return r == 0;
}

/* The first job keeps the program and the object alive, the end of the last one no longer does. */
static void hold(napi_env env, struct addon_context *self)
{
    if (self->job_count == 1) {
        napi_ref_threadsafe_function(env, self->function);
        napi_reference_ref(env, self->object, NULL);
    }
}

static void let_go(napi_env env, struct addon_context *self)
{
    if (self->job_count == 0 && self->function) {
        napi_unref_threadsafe_function(env, self->function);
        napi_reference_unref(env, self->object, NULL);
    }
}

/* ---- methods ---- */

struct call {
    struct addon_context *self;
    size_t count;
    napi_value arguments[3];
    napi_value object;
};

static struct addon_context *context_of(napi_env env, napi_value object)
{
    bool ours = false;
    void *data = NULL;

    if (napi_check_object_type_tag(env, object, &context_tag, &ours) != napi_ok || !ours ||
        napi_unwrap(env, object, &data) != napi_ok) {
        addon_throw_type(env, "this", "a context");
        return NULL;
    }
    return data;
}

/* Each method begins with this: its arguments, and a context that is open and not in use. */
static bool enter(napi_env env, napi_callback_info info, struct call *call)
{
    *call = (struct call){.count = sizeof(call->arguments) / sizeof(call->arguments[0])};
    if (!addon_ok(env, napi_get_cb_info(env, info, &call->count, call->arguments, &call->object, NULL)))
        return false;
    call->self = context_of(env, call->object);
    if (!call->self)
        return false;
    if (!call->self->context)
        napi_throw_error(env, "ERR_CHOKEPOINT", "the context is closed");
    else if (call->self->batch)
        napi_throw_error(env, "ERR_CHOKEPOINT", "the context is in use: it was called while it reports");
    else
        return true;
    return false;
}

/* The end of a call of the library: what it reported, or its exception. */
static napi_value leave(napi_env env, struct addon_context *self)
{
    struct addon_batch *batch = self->batch;
    bool pending = false;

    self->batch = NULL;
    if (napi_is_exception_pending(env, &pending) != napi_ok || pending)
        return NULL;
    if (batch->failed) {
        napi_throw_error(env, "ERR_CHOKEPOINT", "out of memory: a report of the library is lost");
        return NULL;
    }
    napi_value object = addon_job_batch(env, batch);
    return object ? object : undefined(env);
}

static bool number_of(napi_env env, napi_value value, const char *name, double *ret_number)
{
    if (napi_get_value_double(env, value, ret_number) == napi_ok && *ret_number >= 0 &&
        *ret_number <= 9007199254740991.0)
        return true;
    addon_throw_type(env, name, "a number that is not negative");
    return false;
}

/* start(id, request, highWater): begins a job; output is passed on if highWater is not 0. */
static napi_value method_start(napi_env env, napi_callback_info info)
{
    struct addon_request request = {0};
    struct addon_batch batch = {0};
    struct choke_error error = {0};
    struct call call;
    double id = 0, high_water = 0;
    int r = -ENOMEM;

    if (!enter(env, info, &call) || !number_of(env, call.arguments[0], "id", &id) ||
        !number_of(env, call.arguments[2], "highWater", &high_water))
        return NULL;
    if (addon_job_find(call.self, id))
        return addon_throw_type(env, "id", "a new number");
    if (!addon_request_read(env, call.arguments[1], &request) || !connect(env, call.self)) {
        addon_request_done(&request);
        return NULL;
    }
    struct addon_job *job = addon_job_add(call.self, id, (size_t)high_water);
    if (job) {
        request.request.job_data = job;
        request.request.output_data = job;
        request.request.on_output = high_water > 0 ? addon_job_output : NULL;
        call.self->batch = &batch;
        r = choke_start(call.self->context, &request.request, &job->job, &error);
        hold(env, call.self);
        if (r < 0) {
            addon_job_remove(job);
            let_go(env, call.self);
        }
    }
    addon_request_done(&request);
    if (r < 0) {
        call.self->batch = NULL;
        return addon_throw(env, r, &error);
    }
    return leave(env, call.self);
}

/* dispatch(budget): does what is due, for that number of microseconds. */
static napi_value method_dispatch(napi_env env, napi_callback_info info)
{
    struct addon_batch batch = {0};
    struct choke_error error = {0};
    struct call call;
    double budget = 0;

    if (!enter(env, info, &call) || !number_of(env, call.arguments[0], "budget", &budget))
        return NULL;
    call.self->batch = &batch;
    int r = choke_dispatch_for(call.self->context, (uint64_t)budget, &error);
    if (r < 0) {
        call.self->batch = NULL;
        return addon_throw(env, r, &error);
    }
    if (addon_job_collect(call.self) > 0)
        let_go(env, call.self);
    addon_poller_go_on(&call.self->poller);
    return leave(env, call.self);
}

/* cancel(id): harmless if there is no such job. */
static napi_value method_cancel(napi_env env, napi_callback_info info)
{
    struct call call;
    double id = 0;

    if (!enter(env, info, &call) || !number_of(env, call.arguments[0], "id", &id))
        return NULL;
    struct addon_job *job = addon_job_find(call.self, id);
    if (job)
        choke_cancel(job->job);
    return undefined(env);
}

static napi_value method_cancel_all(napi_env env, napi_callback_info info)
{
    struct call call;

    if (!enter(env, info, &call))
        return NULL;
    choke_cancel_all(call.self->context);
    return undefined(env);
}

/* consumed(id, bytes): so much of the output has been read. */
static napi_value method_consumed(napi_env env, napi_callback_info info)
{
    struct call call;
    double id = 0, bytes = 0;

    if (!enter(env, info, &call) || !number_of(env, call.arguments[0], "id", &id) ||
        !number_of(env, call.arguments[1], "bytes", &bytes))
        return NULL;
    struct addon_job *job = addon_job_find(call.self, id);
    if (job)
        addon_job_consume(job, (size_t)bytes);
    return undefined(env);
}

static napi_value method_explain(napi_env env, napi_callback_info info)
{
    struct addon_request request = {0};
    struct addon_batch batch = {0};
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};
    napi_value object = NULL;
    struct call call;

    if (!enter(env, info, &call))
        return NULL;
    if (addon_request_read(env, call.arguments[0], &request)) {
        call.self->batch = &batch;
        int r = choke_explain(call.self->context, &request.request, &decision, &error);
        call.self->batch = NULL;
        object = r < 0 ? addon_throw(env, r, &error) : addon_decision(env, decision);
        choke_decision_free(decision);
    }
    addon_request_done(&request);
    return object;
}

static napi_value method_policy(napi_env env, napi_callback_info info)
{
    struct choke_error error = {0};
    const char *text = NULL;
    struct call call;

    if (!enter(env, info, &call))
        return NULL;
    int r = choke_context_policy_json(call.self->context, &text, &error);
    return r < 0 ? addon_throw(env, r, &error) : addon_text(env, text);
}

/* close(): ends it. JavaScript has waited for its jobs before, so this takes a moment only. */
static napi_value method_close(napi_env env, napi_callback_info info)
{
    struct addon_batch batch = {0};
    struct call call;

    if (!enter(env, info, &call))
        return NULL;
    disconnect(call.self, false);
    call.self->batch = &batch;
    choke_context_free(call.self->context);
    call.self->context = NULL;
    if (call.self->job_count > 0)
        napi_reference_unref(env, call.self->object, NULL);
    forget_jobs(call.self);
    return leave(env, call.self);
}

/* ---- module ---- */

static struct addon_context *context_new(napi_env env, napi_value options_object)
{
    struct addon_context *self = calloc(1, sizeof(*self));
    struct addon_options options = {0};
    struct choke_error error = {0};
    int r = -ENOMEM;

    if (self && addon_options_read(env, options_object, &options)) {
        self->env = env;
        options.options.on_event = options.events ? addon_job_event : NULL;
        options.options.event_data = self;
        r = choke_context_new(&options.options, &self->context, &error);
        if (r < 0)
            addon_throw(env, r, &error);
    }
    addon_options_done(&options);
    if (r == 0)
        return self;
    free(self);
    return NULL;
}

/* new Context(options) */
static napi_value construct(napi_env env, napi_callback_info info)
{
    napi_value object = NULL, target = NULL, options = NULL;
    size_t count = 1;

    if (!addon_ok(env, napi_get_new_target(env, info, &target)) ||
        !addon_ok(env, napi_get_cb_info(env, info, &count, &options, &object, NULL)))
        return NULL;
    if (!target)
        return addon_throw_type(env, "Context", "called with new");
    struct addon_context *self = context_new(env, options);
    if (!self)
        return NULL;
    /* The finalizer owns it from here on. */
    if (!addon_ok(env, napi_wrap(env, object, self, finalize, NULL, &self->object))) {
        choke_context_discard(self->context);
        free(self);
        return NULL;
    }
    return addon_ok(env, napi_type_tag_object(env, object, &context_tag)) ? object : NULL;
}

static napi_value credential_kind(napi_env env, napi_callback_info info)
{
    napi_value argument = NULL;
    size_t count = 1, length = 0;

    if (!addon_ok(env, napi_get_cb_info(env, info, &count, &argument, NULL, NULL)))
        return NULL;
    if (napi_get_value_string_utf8(env, argument, NULL, 0, &length) != napi_ok)
        return addon_throw_type(env, "text", "a string");
    char *text = malloc(length + 1);
    napi_value kind = NULL;
    if (!text)
        napi_throw_error(env, "ERR_CHOKEPOINT", "out of memory");
    else if (addon_ok(env, napi_get_value_string_utf8(env, argument, text, length + 1, &length)))
        kind = addon_text(env, choke_credential_kind(text));
    free(text);
    return kind;
}

static bool define_context(napi_env env, napi_value exports)
{
    static const struct {
        const char *name;
        napi_callback method;
    } methods[] = {
        {"start", method_start},          {"dispatch", method_dispatch}, {"cancel", method_cancel},
        {"cancelAll", method_cancel_all}, {"consumed", method_consumed}, {"explain", method_explain},
        {"policy", method_policy},        {"close", method_close},
    };
    enum { COUNT = sizeof(methods) / sizeof(methods[0]) };
    napi_property_descriptor properties[COUNT] = {0};
    napi_value class = NULL;

    for (size_t i = 0; i < COUNT; i++) {
        properties[i].utf8name = methods[i].name;
        properties[i].method = methods[i].method;
        properties[i].attributes = napi_default_method;
    }
    return addon_ok(env,
                    napi_define_class(env, "Context", NAPI_AUTO_LENGTH, construct, NULL, COUNT, properties, &class)) &&
           addon_ok(env, napi_set_named_property(env, exports, "Context", class));
}

/* The header defines it without a prototype. */
NAPI_MODULE_EXPORT int32_t NODE_API_MODULE_GET_API_VERSION(void);

NAPI_MODULE_INIT(/* napi_env env, napi_value exports */)
{
    napi_value function = NULL;

    if (!define_context(env, exports) ||
        !addon_ok(env, napi_create_function(env, "credentialKind", NAPI_AUTO_LENGTH, credential_kind, NULL, &function)))
        return NULL;
    addon_put(env, &exports, "credentialKind", function);
    addon_put(env, &exports, "version", addon_text(env, choke_version()));
    return exports;
}
