/*
 * job.c - the jobs of a context that are not finished, by their numbers, and what is reported of them.
 */
#include "addon.h"

#include <stdlib.h>

static struct addon_job **bucket(struct addon_context *self, double id)
{
    return &self->jobs[(uint64_t)id % ADDON_BUCKETS];
}

struct addon_job *addon_job_find(struct addon_context *self, double id)
{
    struct addon_job *job = *bucket(self, id);

    while (job && job->id != id)
        job = job->next;
    return job;
}

struct addon_job *addon_job_add(struct addon_context *self, double id, size_t high_water)
{
    struct addon_job **place = bucket(self, id);
    struct addon_job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    *job = (struct addon_job){.next = *place, .owner = self, .id = id, .high_water = high_water};
    *place = job;
    self->job_count++;
    return job;
}

void addon_job_remove(struct addon_job *job)
{
    struct addon_job **place = bucket(job->owner, job->id);

    while (*place != job)
        place = &(*place)->next;
    *place = job->next;
    job->owner->job_count--;
    free(job);
}

/* An array of the batch, made when it gets its first item. */
static napi_value *opened(napi_env env, struct addon_batch *batch, napi_value *array)
{
    if (!*array && !batch->failed)
        *array = addon_array(env);
    return array;
}

static void append(napi_env env, struct addon_batch *batch, napi_value *array, uint32_t *count, napi_value value)
{
    addon_append(env, array, count, value);
    if (!*array)
        batch->failed = true;
}

void addon_job_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    struct addon_job *job = data;
    napi_env env = job->owner->env;
    struct addon_batch *batch = job->owner->batch;

    if (!batch)
        return;
    napi_value *chunks = opened(env, batch, &batch->chunks);
    append(env, batch, chunks, &batch->chunk_count, addon_number(env, job->id));
    append(env, batch, chunks, &batch->chunk_count, addon_number(env, stream));
    append(env, batch, chunks, &batch->chunk_count, addon_buffer(env, bytes, length));
    job->unread += length;
    if (job->job && !job->paused && job->unread >= job->high_water) {
        job->paused = true;
        choke_pause(job->job, CHOKE_STDOUT | CHOKE_STDERR);
    }
}

void addon_job_consume(struct addon_job *job, size_t bytes)
{
    job->unread -= bytes < job->unread ? bytes : job->unread;
    if (job->paused && job->unread <= job->high_water / 2) {
        job->paused = false;
        choke_resume(job->job, CHOKE_STDOUT | CHOKE_STDERR);
    }
}

void addon_job_event(void *data, const struct choke_event *event)
{
    struct addon_context *self = data;
    struct addon_batch *batch = self->batch;
    const struct addon_job *job = event->job ? choke_job_data(event->job) : NULL;
    napi_env env = self->env;

    if (!batch)
        return;
    napi_value fields = addon_object(env);
    for (size_t i = 0; i < event->field_count; i++)
        addon_put(env, &fields, event->fields[i].key, addon_text(env, event->fields[i].value));
    napi_value *events = opened(env, batch, &batch->events);
    append(env, batch, events, &batch->event_count, addon_number(env, job ? job->id : 0));
    append(env, batch, events, &batch->event_count, addon_number(env, event->level));
    append(env, batch, events, &batch->event_count, addon_text(env, event->name));
    append(env, batch, events, &batch->event_count, fields);
}

/* The result of one job. If it cannot be made (a Buffer of several GiB), null: the job is not lost. */
static void append_result(napi_env env, struct addon_batch *batch, const struct addon_job *job)
{
    napi_handle_scope scope;
    napi_value result, exception;
    bool pending = false;

    if (napi_open_handle_scope(env, &scope) != napi_ok) {
        batch->failed = true;
        return;
    }
    result = addon_result(env, choke_job_result(job->job));
    if (!result && napi_is_exception_pending(env, &pending) == napi_ok && pending)
        napi_get_and_clear_last_exception(env, &exception);
    append(env, batch, &batch->finished, &batch->finished_count, addon_number(env, job->id));
    append(env, batch, &batch->finished, &batch->finished_count, result ? result : addon_null(env));
    napi_close_handle_scope(env, scope);
}

size_t addon_job_collect(struct addon_context *self)
{
    struct addon_batch *batch = self->batch;
    struct choke_job *finished;
    size_t count = 0;

    while ((finished = choke_next(self->context))) {
        struct addon_job *job = choke_job_data(finished);
        opened(self->env, batch, &batch->finished); /* outside of the scope of one result */
        append_result(self->env, batch, job);
        addon_job_remove(job);
        choke_job_free(finished);
        count++;
    }
    return count;
}

static void put_array(napi_env env, napi_value *object, const char *key, napi_value array)
{
    if (array)
        addon_put(env, object, key, array);
}

napi_value addon_job_batch(napi_env env, struct addon_batch *batch)
{
    if (!batch->chunks && !batch->events && !batch->finished)
        return NULL;
    napi_value object = addon_object(env);
    put_array(env, &object, "chunks", batch->chunks);
    put_array(env, &object, "events", batch->events);
    put_array(env, &object, "finished", batch->finished);
    return object;
}
