/*
 * context.c - a context: starts jobs, waits, dispatches, closes.
 *
 * The lock is released in every call that works. A context is for one thread at a time, so `busy`
 * marks that a thread is inside; it is read and written with the lock held. Another thread, or a
 * callback, that calls then gets RuntimeError instead of undefined behaviour.
 */
#include "choke.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define SIGNAL_POLL_MS 100 /* a signal that came just before poll(2) is noticed after this */

int py_context_enter(struct py_context *self)
{
    if (!self->context) {
        PyErr_SetString(PyExc_ValueError, "the context is closed");
        return -1;
    }
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the context is in use: by another thread, or by the call whose callback "
                                            "this is; use one context for each thread");
        return -1;
    }
    self->busy = true;
    return 0;
}

int py_context_leave(struct py_context *self)
{
    self->busy = false;
    if (!self->failure)
        return 0;
    PyObject *failure = self->failure;
    self->failure = NULL;
    if (!PyErr_Occurred())
        PyErr_SetObject((PyObject *)Py_TYPE(failure), failure);
    Py_DECREF(failure);
    return -1;
}

/* The first exception of a callback is kept for the call that is under way. */
static void keep_failure(struct py_context *self)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback && value)
        (void)PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    if (self->failure)
        Py_XDECREF(value);
    else
        self->failure = value;
}

/* Called by the library, without the lock. */
static void on_event(void *data, const struct choke_event *event)
{
    struct py_context *self = data;
    if (self->level == 0 || (int)event->level < self->level || !self->on_event)
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *fields = PyDict_New();
    for (size_t i = 0; fields && i < event->field_count; i++)
        py_put(&fields, event->fields[i].key, py_text(event->fields[i].value));
    PyObject *answer =
        fields ? PyObject_CallFunction(self->on_event, "isO", (int)event->level, event->name, fields) : NULL;
    if (!answer)
        keep_failure(self);
    Py_XDECREF(answer);
    Py_XDECREF(fields);
    PyGILState_Release(state);
}

/* ---- life ---- */

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *policy, *audit, *callback;
    int audit_log, audit_sync;
    unsigned long long audit_max;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "OOiiKO", &policy, &audit, &audit_log, &audit_sync, &audit_max, &callback))
        return NULL;
    struct py_context *self = (struct py_context *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    PyObject *policy_bytes = NULL, *audit_bytes = NULL;
    if (!self || !py_path(policy, &policy_bytes) || !py_path(audit, &audit_bytes))
        goto failed;
    self->jobs = PySet_New(NULL);
    self->finished = PyList_New(0);
    Py_INCREF(callback);
    self->on_event = callback;
    if (!self->jobs || !self->finished)
        goto failed;
    struct choke_options options = {.policy_path = policy_bytes ? PyBytes_AsString(policy_bytes) : NULL,
                                    .on_event = on_event,
                                    .event_data = self,
                                    .audit_path = audit_bytes ? PyBytes_AsString(audit_bytes) : NULL,
                                    .audit_log = (enum choke_audit_log)audit_log,
                                    .audit_sync = (enum choke_audit_sync)audit_sync,
                                    .audit_max_bytes = audit_max};
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    int r;
    Py_BEGIN_ALLOW_THREADS r = choke_context_new(&options, &context, &error);
    Py_END_ALLOW_THREADS self->context = context;
    if (r < 0) {
        (void)py_raise(&error, r);
        goto failed;
    }
    Py_XDECREF(policy_bytes);
    Py_XDECREF(audit_bytes);
    return (PyObject *)self;
failed:
    Py_XDECREF(policy_bytes);
    Py_XDECREF(audit_bytes);
    Py_XDECREF((PyObject *)self);
    return NULL;
}

static int context_traverse(PyObject *object, visitproc visit, void *arg)
{
    struct py_context *self = (struct py_context *)object;
    Py_VISIT(self->jobs);
    Py_VISIT(self->finished);
    Py_VISIT(self->on_event);
    Py_VISIT(self->failure);
    Py_VISIT((PyObject *)Py_TYPE(object));
    return 0;
}

/* Jobs that were not finished have no result, and must not use the context any more. */
static void forget_jobs(struct py_context *self)
{
    PyObject *jobs = self->jobs;
    self->jobs = NULL;
    if (!jobs)
        return;
    for (PyObject *job = PySet_Pop(jobs); job; job = PySet_Pop(jobs)) {
        ((struct py_job *)job)->job = NULL;
        Py_DECREF(job);
    }
    PyErr_Clear(); /* the KeyError of an empty set */
    Py_DECREF(jobs);
}

/* Without waiting: this runs wherever the last reference is dropped. */
static int context_clear(PyObject *object)
{
    struct py_context *self = (struct py_context *)object;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    choke_context_discard(self->context);
    self->context = NULL;
    forget_jobs(self);
    Py_CLEAR(self->finished);
    Py_CLEAR(self->on_event);
    Py_CLEAR(self->failure);
    PyErr_Restore(type, value, traceback);
    return 0;
}

static void context_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    (void)context_clear(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF((PyObject *)type);
}

static PyObject *context_close(PyObject *object, PyObject *unused)
{
    struct py_context *self = (struct py_context *)object;
    (void)unused;
    if (!self->context)
        Py_RETURN_NONE;
    if (py_context_enter(self) < 0)
        return NULL;
    struct choke_context *context = self->context;
    Py_BEGIN_ALLOW_THREADS choke_context_free(context);
    Py_END_ALLOW_THREADS self->context = NULL;
    forget_jobs(self);
    self->jobs = PySet_New(NULL);
    /* A callback that raised must not keep a context from being closed. */
    if (py_context_leave(self) < 0)
        PyErr_WriteUnraisable(object);
    if (!self->jobs)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- jobs ---- */

/* Takes what is finished from the library. -1 and an exception. */
static int take_finished(struct py_context *self)
{
    int r = 0;
    for (struct choke_job *job = choke_next(self->context); job; job = choke_next(self->context)) {
        struct py_job *python = choke_job_data(job);
        Py_INCREF(python);
        if (py_job_finish(python) < 0 || PyList_Append(self->finished, (PyObject *)python) < 0)
            r = -1;
        if (PySet_Discard(self->jobs, (PyObject *)python) < 0)
            r = -1;
        Py_DECREF(python);
    }
    return r;
}

/* Without the lock. -1 and an exception. */
static int launch(struct py_context *self, struct py_job *job, const struct choke_request *request)
{
    struct choke_error error = {0};
    int r;
    Py_BEGIN_ALLOW_THREADS r = choke_start(self->context, request, &job->job, &error);
    Py_END_ALLOW_THREADS if (r < 0)
    {
        (void)py_raise(&error, r);
        return -1;
    }
    job->timeout_ms = choke_job_timeout_ms(job->job);
    return 0;
}

/* A job that is started and in the set; a new reference, or NULL and an exception. */
static struct py_job *start(struct py_context *self, PyObject *args, bool streams)
{
    struct py_request request;
    struct py_job *job = py_request_parse(args, &request) ? py_job_new(self, streams) : NULL;
    int r = !job ? -1 : PySet_Add(self->jobs, (PyObject *)job);
    request.request.job_data = job;
    request.request.on_output = streams ? py_job_output : NULL;
    request.request.output_data = job;
    if (r == 0)
        r = launch(self, job, &request.request);
    if (r < 0 && job) {
        (void)PySet_Discard(self->jobs, (PyObject *)job);
        Py_DECREF(job);
        job = NULL;
    }
    py_request_done(&request);
    return job;
}

static PyObject *context_start(PyObject *object, PyObject *args)
{
    struct py_context *self = (struct py_context *)object;
    PyObject *request;
    int streams;
    if (!PyArg_ParseTuple(args, "O!p", &PyTuple_Type, &request, &streams) || py_context_enter(self) < 0)
        return NULL;
    struct py_job *job = start(self, request, streams != 0);
    if (py_context_leave(self) < 0 && job) {
        choke_cancel(job->job);
        Py_DECREF(job);
        job = NULL;
    }
    return (PyObject *)job;
}

/* One dispatch; finished jobs go into the list. Without a limit it is one system call for all that is due. */
static int dispatch(struct py_context *self, uint64_t budget_us)
{
    struct choke_error error = {0};
    int r;
    Py_BEGIN_ALLOW_THREADS r = budget_us == UINT64_MAX ? choke_dispatch(self->context, &error)
                                                       : choke_dispatch_for(self->context, budget_us, &error);
    Py_END_ALLOW_THREADS if (r < 0)
    {
        (void)py_raise(&error, r);
        return -1;
    }
    return take_finished(self);
}

static PyObject *take_list(struct py_context *self)
{
    PyObject *fresh = PyList_New(0);
    PyObject *taken = self->finished;
    if (fresh)
        self->finished = fresh;
    return fresh ? taken : NULL;
}

static PyObject *context_dispatch(PyObject *object, PyObject *args)
{
    struct py_context *self = (struct py_context *)object;
    unsigned long long budget_us;
    if (!PyArg_ParseTuple(args, "K", &budget_us) || py_context_enter(self) < 0)
        return NULL;
    int r = dispatch(self, budget_us);
    return py_context_leave(self) < 0 || r < 0 ? NULL : take_list(self);
}

/* Waits a moment for the descriptor. -1 and an exception if a signal handler raised one. */
static int wait_a_moment(struct py_context *self)
{
    struct pollfd polled = {.fd = choke_fd(self->context), .events = POLLIN};
    Py_BEGIN_ALLOW_THREADS(void) poll(&polled, 1, SIGNAL_POLL_MS);
    Py_END_ALLOW_THREADS return PyErr_CheckSignals();
}

/*
 * Until the job has ended, in any case: the caller of a blocking run gets nothing to cancel later. An
 * exception of a signal handler (Ctrl-C) or of a callback cancels it, and is raised when it has ended.
 */
static int wait_for(struct py_context *self, struct py_job *job)
{
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    while (!job->result && job->job) {
        if (wait_a_moment(self) == 0 && dispatch(self, UINT64_MAX) == 0 && !self->failure)
            continue;
        choke_cancel(job->job);
        if (!PyErr_Occurred())
            continue;
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        PyErr_Fetch(&type, &value, &traceback);
        /* In a fork nothing will ever end. */
        if (PyErr_GivenExceptionMatches(type, py_error_type))
            break;
    }
    if (type)
        PyErr_Restore(type, value, traceback);
    return type ? -1 : 0;
}

static PyObject *context_run(PyObject *object, PyObject *args)
{
    struct py_context *self = (struct py_context *)object;
    PyObject *request;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &request) || py_context_enter(self) < 0)
        return NULL;
    struct py_job *job = start(self, request, false);
    int r = job ? wait_for(self, job) : -1;
    r = py_context_leave(self) < 0 ? -1 : r;
    if (r < 0 && job) {
        Py_DECREF(job);
        job = NULL;
    }
    return (PyObject *)job;
}

static PyObject *context_take(PyObject *object, PyObject *unused)
{
    (void)unused;
    return take_list((struct py_context *)object);
}

/* ---- the rest ---- */

static PyObject *context_fileno(PyObject *object, PyObject *unused)
{
    const struct py_context *self = (const struct py_context *)object;
    (void)unused;
    if (self->context)
        return PyLong_FromLong(choke_fd(self->context));
    PyErr_SetString(PyExc_ValueError, "the context is closed");
    return NULL;
}

static PyObject *context_explain(PyObject *object, PyObject *args)
{
    struct py_context *self = (struct py_context *)object;
    PyObject *request_args;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &request_args) || py_context_enter(self) < 0)
        return NULL;
    struct py_request request;
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};
    PyObject *dict = NULL;
    if (py_request_parse(request_args, &request)) {
        int r;
        Py_BEGIN_ALLOW_THREADS r = choke_explain(self->context, &request.request, &decision, &error);
        Py_END_ALLOW_THREADS dict = r < 0 ? py_raise(&error, r) : py_decision(decision);
        choke_decision_free(decision);
    }
    py_request_done(&request);
    if (py_context_leave(self) < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *context_tools(PyObject *object, PyObject *unused)
{
    struct py_context *self = (struct py_context *)object;
    struct choke_tool_info info;
    (void)unused;
    if (py_context_enter(self) < 0)
        return NULL;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && choke_tool(self->context, i, &info); i++) {
        PyObject *dict = PyDict_New();
        py_put(&dict, "name", py_text(info.name));
        py_put(&dict, "why", py_text(info.why));
        py_put(&dict, "adr", py_text(info.adr));
        py_put(&dict, "route", py_text(info.route));
        py_put(&dict, "required", PyBool_FromLong(info.required));
        py_put(&dict, "install", py_text(info.install));
        py_add(&list, dict);
    }
    if (py_context_leave(self) < 0)
        Py_CLEAR(list);
    return list;
}

static PyObject *context_policy_json(PyObject *object, PyObject *unused)
{
    struct py_context *self = (struct py_context *)object;
    const char *text = NULL;
    struct choke_error error = {0};
    (void)unused;
    if (py_context_enter(self) < 0)
        return NULL;
    int r = choke_context_policy_json(self->context, &text, &error);
    PyObject *answer = r < 0 ? py_raise(&error, r) : py_text(text);
    if (py_context_leave(self) < 0)
        Py_CLEAR(answer);
    return answer;
}

static PyObject *get_level(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((const struct py_context *)object)->level);
}

/* Warnings are always made: they are few, and on_event drops what nobody wants. */
static int set_level(PyObject *object, PyObject *value, void *unused)
{
    struct py_context *self = (struct py_context *)object;
    (void)unused;
    long level = value ? PyLong_AsLong(value) : 0;
    if (level == -1 && PyErr_Occurred())
        return -1;
    if (self->context && !self->busy)
        choke_context_set_level(self->context,
                                level <= 0 || level > CHOKE_WARNING ? CHOKE_WARNING : (enum choke_level)level);
    self->level = (int)level;
    return 0;
}

static PyObject *get_closed(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((const struct py_context *)object)->context);
}

static PyObject *get_running(PyObject *object, void *unused)
{
    const struct py_context *self = (const struct py_context *)object;
    (void)unused;
    return PyLong_FromSsize_t(self->jobs ? PySet_Size(self->jobs) : 0);
}

static PyMethodDef methods[] = {
    {"start", context_start, METH_VARARGS, "start(request, streams): a Job."},
    {"run", context_run, METH_VARARGS, "run(request): starts a job and waits for it; the finished Job."},
    {"dispatch", context_dispatch, METH_VARARGS, "dispatch(budget_us): does what is due; the finished jobs."},
    {"take", context_take, METH_NOARGS, "The jobs that finished while run() waited for another."},
    {"fileno", context_fileno, METH_NOARGS, "The descriptor that is readable when dispatch() has something to do."},
    {"explain", context_explain, METH_VARARGS, "explain(request): what would be run, as a dict."},
    {"tools", context_tools, METH_NOARGS, "The tools of the policy, as dicts."},
    {"policy_json", context_policy_json, METH_NOARGS, "The policy in use, as JSON text."},
    {"doctor", py_doctor, METH_VARARGS, "doctor(no_cache, no_layers, tools): the report as a dict."},
    {"close", context_close, METH_NOARGS, "End every job, wait for the end, free everything."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"level", get_level, set_level, "Events from this level on are passed on; 0: none.", NULL},
    {"closed", get_closed, NULL, "close() was called.", NULL},
    {"running", get_running, NULL, "The number of jobs that are not finished.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char documentation[] = "Context(policy, audit, audit_log, audit_sync, audit_max_bytes, on_event)";

static PyType_Slot slots[] = {
    {Py_tp_doc, documentation},       {Py_tp_new, context_new},
    {Py_tp_dealloc, context_dealloc}, {Py_tp_traverse, context_traverse},
    {Py_tp_clear, context_clear},     {Py_tp_methods, methods},
    {Py_tp_getset, members},          {0, NULL},
};

static PyType_Spec spec = {.name = "chokepoint._choke.Context",
                           .basicsize = sizeof(struct py_context),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                           .slots = slots};

PyObject *py_context_type(void)
{
    return PyType_FromSpec(&spec);
}
