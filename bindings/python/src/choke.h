/*
 * choke.h - the extension module chokepoint._choke: the public header as Python objects.
 *
 * The module is thin. It converts arguments and results, releases the interpreter's lock (GIL) around
 * calls that work, and keeps memory safe whatever Python code does: wrong types, calls from
 * callbacks, other threads, a fork, objects that are dropped in any order. Everything else (asyncio,
 * exceptions, logging, defaults) is in Python, in the package beside it.
 *
 * Only the limited API of Python 3.9 is used, so one binary serves 3.9 and later.
 */
#ifndef CHOKE_PYTHON_H
#define CHOKE_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <chokepoint.h>

/* A context. `busy` is true while a thread is inside the library with it and without the lock. */
struct py_context {
    PyObject_HEAD struct choke_context *context; /* NULL: closed */
    PyObject *jobs;                              /* a set: those that are not finished; it keeps them alive */
    PyObject *finished;                          /* a list: finished, not yet taken by Python */
    PyObject *on_event;                          /* called as on_event(level, name, fields); or NULL */
    PyObject *failure;                           /* an exception that on_event raised, for the call that is under way */
    int level;                                   /* events below this enum choke_level are not passed on; 0: none is */
    bool busy;
};

/* A job, until it is finished; then its result as a dict. */
struct py_job {
    PyObject_HEAD struct py_context *owner;
    struct choke_job *job; /* NULL: finished, or the context is closed */
    PyObject *result;      /* a dict; NULL: not finished */
    PyObject *chunks;      /* a list of (stream, bytes) that Python has not taken; NULL: it does not stream */
    size_t queued_bytes;   /* in chunks */
    bool paused;
    bool lost; /* no memory for a chunk: the stream has a gap */
    uint64_t timeout_ms;
    PyObject *waiter; /* whatever Python attached to it */
};

/* What Python passed for a request, as the library needs it. Zero-filled is empty. */
struct py_request {
    struct choke_request request;
    PyObject *kept;        /* a list of the bytes that the pointers point to */
    const char **lists[3]; /* argv, egress, env */
};

extern PyObject *py_error_type; /* chokepoint._choke.CallError */

/* ---- request.c ---- */

/* Fills *ret from the 16 arguments of start, run and explain. False and an exception if one is wrong. */
bool py_request_parse(PyObject *args, struct py_request *ret);
void py_request_done(struct py_request *request);

/* A path or None. *ret_bytes is a new reference or NULL for None; false and an exception. */
bool py_path(PyObject *object, PyObject **ret_bytes);

/* NULL-terminated strings from a sequence of str, bytes or os.PathLike; the bytes go into kept. */
const char **py_strings(PyObject *sequence, const char *what, PyObject *kept);

/* ---- convert.c ---- */

PyObject *py_text(const char *text);                      /* None for NULL */
PyObject *py_text_list(const char *const *items);         /* [] for NULL */
PyObject *py_error_dict(const struct choke_error *error); /* None if there is none */

/* Takes over value. After the first failure it does nothing more, and *dict is NULL. */
void py_put(PyObject **dict, const char *key, PyObject *value);

/* The same for a list. */
void py_add(PyObject **list, PyObject *value);

int py_result_init(void); /* once, before the first result; -1 and an exception */
PyObject *py_result(const struct choke_result *result);
PyObject *py_decision(const struct choke_decision *decision);

/* Raises CallError(message, outcome, errno). NULL. */
PyObject *py_raise(const struct choke_error *error, int status);

/* ---- context.c, job.c ---- */

PyObject *py_context_type(void); /* new references */
PyObject *py_job_type(void);
extern PyTypeObject *py_job_class;

/* Enters the library: -1 and an exception if the context is closed or in use. */
int py_context_enter(struct py_context *self);

/* Leaves it. -1 and the exception if a callback raised one. */
int py_context_leave(struct py_context *self);

struct py_job *py_job_new(struct py_context *owner, bool streams);
void py_job_output(void *data, enum choke_stream stream, const void *bytes, size_t length);

/* The choke_job is finished: keeps its result and frees it. */
int py_job_finish(struct py_job *self);

/* ---- reports.c, policy.c ---- */

PyObject *py_doctor(PyObject *object, PyObject *args);
PyObject *py_lint(PyObject *module, PyObject *args);
PyObject *py_audit_verify(PyObject *module, PyObject *args);
PyObject *py_audit_head(PyObject *module, PyObject *args);
PyObject *py_audit_keygen(PyObject *module, PyObject *args);
PyObject *py_policy_type(void);

#endif
