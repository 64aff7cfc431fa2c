/*
 * job.c - a job of a context. While it runs, its context keeps it alive, because the library calls
 * back with a pointer to it. When it has ended, only its result is left, as Python objects.
 */
#include "choke.h"

/* Beyond this many bytes that Python has not taken, the tool waits. */
#define QUEUE_BYTES ((size_t)256 << 10)
#define BOTH_STREAMS ((unsigned)CHOKE_STDOUT | (unsigned)CHOKE_STDERR)

PyTypeObject *py_job_class;

struct py_job *py_job_new(struct py_context *owner, bool streams)
{
    /* Found by the collector of garbage from here on, so every member is valid first. */
    PyObject *(*allocate)(PyTypeObject *, Py_ssize_t) =
        (PyObject * (*)(PyTypeObject *, Py_ssize_t)) PyType_GetSlot(py_job_class, Py_tp_alloc);
    struct py_job *self = (struct py_job *)allocate(py_job_class, 0);
    if (!self)
        return NULL;
    Py_INCREF(owner);
    self->owner = owner;
    self->chunks = streams ? PyList_New(0) : NULL;
    if (!streams || self->chunks)
        return self;
    Py_DECREF(self);
    return NULL;
}

static int job_traverse(PyObject *object, visitproc visit, void *arg)
{
    struct py_job *self = (struct py_job *)object;
    Py_VISIT((PyObject *)self->owner);
    Py_VISIT(self->result);
    Py_VISIT(self->chunks);
    Py_VISIT(self->waiter);
    Py_VISIT((PyObject *)Py_TYPE(object));
    return 0;
}

static int job_clear(PyObject *object)
{
    struct py_job *self = (struct py_job *)object;
    struct py_context *owner = self->owner;
    self->owner = NULL;
    Py_XDECREF((PyObject *)owner);
    Py_CLEAR(self->result);
    Py_CLEAR(self->chunks);
    Py_CLEAR(self->waiter);
    return 0;
}

/* A job that runs is in the set of its context, so this one has ended, or its context is closed. */
static void job_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    (void)job_clear(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF((PyObject *)type);
}

/* Called by the library, without the lock. */
void py_job_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    struct py_job *self = data;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *chunk = self->chunks ? Py_BuildValue("(iy#)", (int)stream, bytes, (Py_ssize_t)length) : NULL;
    if (!chunk || PyList_Append(self->chunks, chunk) < 0) {
        self->lost = self->lost || self->chunks;
        PyErr_Clear();
    }
    Py_XDECREF(chunk);
    self->queued_bytes += length;
    if (self->chunks && self->queued_bytes >= QUEUE_BYTES && !self->paused && self->job) {
        choke_pause(self->job, BOTH_STREAMS);
        self->paused = true;
    }
    PyGILState_Release(state);
}

int py_job_finish(struct py_job *self)
{
    const struct choke_result *result = self->job ? choke_job_result(self->job) : NULL;
    if (result && !self->result)
        self->result = py_result(result);
    if (self->result && self->lost)
        (void)PyDict_SetItemString(self->result, "output_incomplete", Py_True);
    choke_job_free(self->job);
    self->job = NULL;
    return self->result ? 0 : -1;
}

static PyObject *job_cancel(PyObject *object, PyObject *unused)
{
    struct py_job *self = (struct py_job *)object;
    (void)unused;
    /* While another thread works with the context its job must not be touched. */
    if (self->job && self->owner) {
        if (py_context_enter(self->owner) < 0)
            return NULL;
        choke_cancel(self->job);
        if (py_context_leave(self->owner) < 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *job_take(PyObject *object, PyObject *unused)
{
    struct py_job *self = (struct py_job *)object;
    (void)unused;
    PyObject *fresh = PyList_New(0);
    if (!fresh || !self->chunks)
        return fresh;
    PyObject *taken = self->chunks;
    self->chunks = fresh;
    self->queued_bytes = 0;
    if (self->paused && self->job && self->owner && !self->owner->busy)
        choke_resume(self->job, BOTH_STREAMS);
    self->paused = self->paused && self->owner && self->owner->busy;
    return taken;
}

static PyObject *get_result(PyObject *object, void *unused)
{
    const struct py_job *self = (const struct py_job *)object;
    (void)unused;
    PyObject *result = self->result ? self->result : Py_None;
    Py_INCREF(result);
    return result;
}

static PyObject *get_waiter(PyObject *object, void *unused)
{
    const struct py_job *self = (const struct py_job *)object;
    (void)unused;
    PyObject *waiter = self->waiter ? self->waiter : Py_None;
    Py_INCREF(waiter);
    return waiter;
}

static int set_waiter(PyObject *object, PyObject *value, void *unused)
{
    struct py_job *self = (struct py_job *)object;
    (void)unused;
    PyObject *before = self->waiter;
    Py_XINCREF(value);
    self->waiter = value;
    Py_XDECREF(before);
    return 0;
}

static PyObject *get_timeout(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((const struct py_job *)object)->timeout_ms);
}

static PyObject *get_paused(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((const struct py_job *)object)->paused);
}

static PyMethodDef methods[] = {
    {"cancel", job_cancel, METH_NOARGS, "Kill the tree: SIGTERM, and SIGKILL 50 ms later. Returns at once."},
    {"take", job_take, METH_NOARGS, "The output that has arrived since the last call: [(1 or 2, bytes), ...]."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"result", get_result, NULL, "The result as a dict; None until the job is finished.", NULL},
    {"waiter", get_waiter, set_waiter, "Whatever the caller attached to the job.", NULL},
    {"timeout_ms", get_timeout, NULL, "The timeout that applies.", NULL},
    {"paused", get_paused, NULL, "The tool waits, because its output was not taken.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)type;
    (void)args;
    (void)keywords;
    PyErr_SetString(PyExc_TypeError, "a job is made by Context.start()");
    return NULL;
}

static char documentation[] = "A job of a context. Made by Context.start() only.";

static PyType_Slot slots[] = {
    {Py_tp_doc, documentation}, {Py_tp_new, refuse_new},  {Py_tp_dealloc, job_dealloc}, {Py_tp_traverse, job_traverse},
    {Py_tp_clear, job_clear},   {Py_tp_methods, methods}, {Py_tp_getset, members},      {0, NULL},
};

static PyType_Spec spec = {.name = "chokepoint._choke.Job",
                           .basicsize = sizeof(struct py_job),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                           .slots = slots};

PyObject *py_job_type(void)
{
    return PyType_FromSpec(&spec);
}
