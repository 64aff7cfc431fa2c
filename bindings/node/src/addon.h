/*
 * addon.h - the Node-API addon: the public header as one JavaScript class.
 *
 * The addon is thin. It converts arguments and results, and keeps memory safe whatever JavaScript
 * does. Promises, AbortSignal, iteration, defaults and errors are in JavaScript (../lib).
 *
 * How it waits. A thread for each context polls choke_fd and nothing else (poller.c). When the
 * descriptor is readable it calls `onReadable` of the context's object in the JavaScript thread,
 * and waits until that has dispatched: the descriptor is level-triggered. Every choke_* call is made
 * by the JavaScript thread. libuv is not used, so the addon depends on Node-API 8 alone.
 *
 * What it gives back. A call of the library reports output, events and finished jobs by callbacks or
 * in a loop. They are collected in a batch, which the method returns. So the addon calls no
 * JavaScript function while the library is at work. Should any run even so (a setter that a program
 * put on Array.prototype), `busy` refuses its calls.
 *
 * Who lives how long. JavaScript's object owns the context. While a job is not finished, the addon
 * has a strong reference to the object. A context ends by close(), by the garbage collection of its
 * object, or with its environment (the program or a worker thread ends): then by discard, which
 * does not wait.
 */
#ifndef ADDON_H
#define ADDON_H

#define NAPI_VERSION 8
#include <node_api.h>

#include <chokepoint.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---- value.c: JavaScript values. A napi_value is NULL after a failure; then an exception waits. */

/* True if status is good. Else an exception waits. */
bool addon_ok(napi_env env, napi_status status);

napi_value addon_null(napi_env env);
napi_value addon_boolean(napi_env env, bool truth);
napi_value addon_number(napi_env env, double number);
napi_value addon_text(napi_env env, const char *text);                /* null for NULL */
napi_value addon_bytes(napi_env env, const char *text);               /* {base64} if it is not UTF-8 */
napi_value addon_list(napi_env env, const char *const *items);        /* [] for NULL */
napi_value addon_buffer(napi_env env, const void *data, size_t size); /* a Buffer with a copy */
napi_value addon_object(napi_env env);
napi_value addon_array(napi_env env);

/* These do nothing if the object or the value is NULL, and set *object to NULL if they fail. */
void addon_put(napi_env env, napi_value *object, const char *key, napi_value value);
void addon_append(napi_env env, napi_value *array, uint32_t *count, napi_value value);

/* Throws an Error with outcome and errno. Always NULL. */
napi_value addon_throw(napi_env env, int status, const struct choke_error *error);
napi_value addon_throw_type(napi_env env, const char *what, const char *expected);

/* ---- result.c */

napi_value addon_result(napi_env env, const struct choke_result *result);
napi_value addon_decision(napi_env env, const struct choke_decision *decision);

/* ---- request.c: what JavaScript passed, as the library needs it */

struct addon_memory; /* a list of allocations that are freed together */

struct addon_request {
    struct choke_request request;
    struct addon_memory *memory;
};

/* False if something is wrong; then an exception waits. Call done in any case. */
bool addon_request_read(napi_env env, napi_value object, struct addon_request *request);
void addon_request_done(struct addon_request *request);

struct addon_options {
    struct choke_options options;
    bool events; /* the caller wants them */
    struct addon_memory *memory;
};

bool addon_options_read(napi_env env, napi_value object, struct addon_options *options);
void addon_options_done(struct addon_options *options);

/* ---- poller.c */

struct addon_poller {
    pthread_t thread;
    bool runs;
    int choke_fd;
    int wake_fd; /* an eventfd: continue, or stop */
    atomic_bool stop;
    atomic_bool posted; /* JavaScript was called and has not dispatched yet */
    napi_threadsafe_function function;
};

/* 0 or a negative errno. function stays the caller's. */
int addon_poller_start(struct addon_poller *poller, int choke_fd, napi_threadsafe_function function);
void addon_poller_go_on(struct addon_poller *poller); /* after a dispatch */
void addon_poller_stop(struct addon_poller *poller);  /* waits for the thread; harmless if none runs */

/* ---- job.c */

struct addon_context;

struct addon_job {
    struct addon_job *next; /* in its bucket */
    struct addon_context *owner;
    struct choke_job *job;
    double id;         /* JavaScript's number for it */
    size_t high_water; /* unread bytes at which it pauses; 0: output is not passed on */
    size_t unread;
    bool paused;
};

/* What one call of the library reported. Arrays are NULL while they are empty. */
struct addon_batch {
    napi_value chunks;   /* id, stream, Buffer, id, ... */
    napi_value events;   /* id or 0, level, name, fields, id, ... */
    napi_value finished; /* id, result or null, id, ... */
    uint32_t chunk_count, event_count, finished_count;
    bool failed; /* something is missing in it */
};

#define ADDON_BUCKETS 256

struct addon_context {
    napi_env env;
    napi_ref object;               /* weak; strong while a job is not finished */
    struct choke_context *context; /* NULL: closed */
    struct addon_poller poller;
    napi_threadsafe_function function; /* NULL: the first job has not been started */
    struct addon_job *jobs[ADDON_BUCKETS];
    size_t job_count;
    struct addon_batch *batch; /* during a call of the library */
    bool hooked;               /* the environment's end calls us */
};

struct addon_job *addon_job_find(struct addon_context *self, double id);
struct addon_job *addon_job_add(struct addon_context *self, double id, size_t high_water); /* NULL: no memory */
void addon_job_remove(struct addon_job *job);
void addon_job_output(void *data, enum choke_stream stream, const void *bytes, size_t length);
void addon_job_event(void *data, const struct choke_event *event); /* data is the context */
void addon_job_consume(struct addon_job *job, size_t bytes);

/* Moves finished jobs into the batch. Returns how many. */
size_t addon_job_collect(struct addon_context *self);

/* The batch as an object, or undefined if it is empty. */
napi_value addon_job_batch(napi_env env, struct addon_batch *batch);

#endif
