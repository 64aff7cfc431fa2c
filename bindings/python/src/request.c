/*
 * request.c - Python arguments as a struct choke_request.
 *
 * The library copies a request before a call returns. Until then the bytes objects that it points to
 * are kept in a list: the lock is released meanwhile, and Python may drop its own references.
 */
#include "choke.h"

bool py_path(PyObject *object, PyObject **ret_bytes)
{
    *ret_bytes = NULL;
    return object == Py_None || PyUnicode_FSConverter(object, ret_bytes) != 0;
}

/* Keeps bytes alive with the list, and drops the caller's reference. */
static bool keep(PyObject *kept, PyObject *bytes)
{
    int r = PyList_Append(kept, bytes);
    Py_DECREF(bytes);
    return r == 0;
}

/* A path or None, kept. False and an exception. */
static bool path(PyObject *object, PyObject *kept, const char **ret)
{
    PyObject *bytes;
    if (!py_path(object, &bytes))
        return false;
    *ret = bytes ? PyBytes_AsString(bytes) : NULL;
    return !bytes || keep(kept, bytes);
}

/* A str is a sequence too, of its letters, which nobody means. */
static PyObject *as_list(PyObject *sequence, const char *what)
{
    if (!PyUnicode_Check(sequence) && !PyBytes_Check(sequence) && !PyDict_Check(sequence))
        return PySequence_List(sequence);
    (void)PyErr_Format(PyExc_TypeError, "%s must be a sequence of strings", what);
    return NULL;
}

const char **py_strings(PyObject *sequence, const char *what, PyObject *kept)
{
    PyObject *list = as_list(sequence, what);
    if (!list)
        return NULL;
    Py_ssize_t count = PyList_Size(list);
    const char **strings = PyMem_Calloc((size_t)count + 1, sizeof(*strings));
    if (!strings)
        (void)PyErr_NoMemory();
    for (Py_ssize_t i = 0; strings && i < count; i++) {
        PyObject *bytes = NULL;
        /* Converting can run Python code (__fspath__), but the list is our own. */
        bool ok = PyUnicode_FSConverter(PyList_GetItem(list, i), &bytes) != 0;
        if (ok)
            strings[i] = PyBytes_AsString(bytes);
        if (!ok || !keep(kept, bytes)) {
            PyMem_Free(strings);
            strings = NULL;
        }
    }
    Py_DECREF(list);
    return strings;
}

/* None: there is none. */
static bool set_list(struct py_request *ret, unsigned index, PyObject *object, const char *what,
                     const char *const **ret_list)
{
    if (object == Py_None)
        return true;
    ret->lists[index] = py_strings(object, what, ret->kept);
    *ret_list = (const char *const *)ret->lists[index];
    return !!ret->lists[index];
}

static bool set_stdin(struct py_request *ret, PyObject *input, int fd)
{
    struct choke_request *request = &ret->request;
    if (input != Py_None) {
        char *data;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(input, &data, &length) < 0)
            return false;
        Py_INCREF(input);
        if (!keep(ret->kept, input))
            return false;
        request->stdin_kind = CHOKE_STDIN_BYTES;
        request->stdin_bytes = data;
        request->stdin_length = (size_t)length;
    } else if (fd >= 0) {
        request->stdin_kind = CHOKE_STDIN_FD;
        request->stdin_fd = fd;
    }
    return true;
}

bool py_request_parse(PyObject *args, struct py_request *ret)
{
    PyObject *argv, *root, *cwd, *env, *input, *egress, *probe, *keep_path;
    int fd, jail, require_jail, sandbox, why;
    unsigned long long timeout_ms;
    Py_ssize_t max_output, keep_head;
    *ret = (struct py_request){.kept = NULL};
    if (!PyArg_ParseTuple(args, "OOOKOOiOOippnnOp", &argv, &root, &cwd, &timeout_ms, &env, &input, &fd, &egress, &probe,
                          &jail, &require_jail, &sandbox, &max_output, &keep_head, &keep_path, &why))
        return false;
    ret->kept = PyList_New(0);
    if (!ret->kept)
        return false;
    struct choke_request *request = &ret->request;
    request->timeout_ms = timeout_ms;
    request->jail = (enum choke_jail)jail;
    request->require_jail = require_jail != 0;
    request->sandbox = sandbox != 0;
    request->max_output_bytes = (size_t)max_output;
    request->keep_head_bytes = (size_t)keep_head;
    request->why = why != 0;
    return set_list(ret, 0, argv, "argv", &request->argv) && set_list(ret, 1, egress, "egress", &request->egress) &&
           set_list(ret, 2, env, "env", &request->env) && path(root, ret->kept, &request->root) &&
           path(cwd, ret->kept, &request->cwd) && path(probe, ret->kept, &request->probe) &&
           path(keep_path, ret->kept, &request->keep_path) && set_stdin(ret, input, fd);
}

void py_request_done(struct py_request *request)
{
    for (size_t i = 0; i < sizeof(request->lists) / sizeof(request->lists[0]); i++)
        PyMem_Free(request->lists[i]);
    Py_CLEAR(request->kept);
}
