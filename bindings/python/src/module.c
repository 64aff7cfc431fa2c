/* module.c - chokepoint._choke: what it contains, and which interpreter may load it. */
#include "choke.h"

#include <sys/stat.h>

/*
 * What changes when the file does; None if it cannot be looked at. run() looks at its policy each time, and the objects of
 * os.stat took longer than the system call.
 */
static PyObject *file_state(PyObject *module, PyObject *path)
{
    PyObject *bytes;
    struct stat found;
    (void)module;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    int r;
    Py_BEGIN_ALLOW_THREADS r = stat(PyBytes_AsString(bytes), &found);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    if (r < 0)
        Py_RETURN_NONE;
    const uint64_t state[] = {(uint64_t)found.st_dev,          (uint64_t)found.st_ino,
                              (uint64_t)found.st_size,         (uint64_t)found.st_mtim.tv_sec,
                              (uint64_t)found.st_mtim.tv_nsec, (uint64_t)found.st_ctim.tv_sec,
                              (uint64_t)found.st_ctim.tv_nsec};
    return PyBytes_FromStringAndSize((const char *)state, sizeof(state));
}

static PyObject *credential_kind(PyObject *module, PyObject *args)
{
    PyObject *text, *bytes;
    (void)module;
    if (!PyArg_ParseTuple(args, "U", &text))
        return NULL;
    bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    if (!bytes)
        return NULL;
    PyObject *kind = py_text(choke_credential_kind(PyBytes_AsString(bytes)));
    Py_DECREF(bytes);
    return kind;
}

static PyMethodDef functions[] = {
    {"lint", py_lint, METH_VARARGS, "lint(paths, root, config, no_gitignore, jobs): the report as a dict."},
    {"audit_verify", py_audit_verify, METH_VARARGS,
     "audit_verify(paths, heads, public_key, rotated, unproven, on_record): the report as a dict."},
    {"audit_head", py_audit_head, METH_VARARGS, "audit_head(path, secret_key_path): the text of the head."},
    {"audit_keygen", py_audit_keygen, METH_VARARGS, "audit_keygen(path): the text of the public key."},
    {"file_state", file_state, METH_O, "Bytes that change when the file does; None: it cannot be looked at."},
    {"credential_kind", credential_kind, METH_VARARGS, "What kind of credential is in the text, or None."},
    {NULL, NULL, 0, NULL},
};

/* Takes over value. */
static int add(PyObject *module, const char *name, PyObject *value)
{
    if (!value)
        return -1;
    int r = PyModule_AddObject(module, name, value);
    if (r < 0)
        Py_DECREF(value);
    return r;
}

/*
 * Callbacks find their interpreter with PyGILState_Ensure, which knows the main one only; and the
 * types here are one for the process.
 */
static int refuse_subinterpreters(void)
{
    int64_t id = PyInterpreterState_GetID(PyInterpreterState_Get());
    if (id > 0)
        PyErr_SetString(PyExc_ImportError, "chokepoint cannot be used in a subinterpreter; use threads or processes");
    return id == 0 ? 0 : -1;
}

static int execute(PyObject *module)
{
    if (refuse_subinterpreters() < 0)
        return -1;
    if (py_job_class) {
        PyErr_SetString(PyExc_ImportError, "chokepoint._choke can be loaded once in a process");
        return -1;
    }
    py_error_type = PyErr_NewExceptionWithDoc("chokepoint._choke.CallError",
                                              "CallError(message, outcome, errno): a call failed.", NULL, NULL);
    PyObject *job = py_job_type();
    if (!py_error_type || !job || py_result_init() < 0)
        return -1;
    py_job_class = (PyTypeObject *)job;
    /* One reference more than the module's: C code uses both as long as the process lives. */
    Py_INCREF(py_error_type);
    Py_INCREF(job);
    if (add(module, "CallError", py_error_type) < 0 || add(module, "Job", job) < 0 ||
        add(module, "Context", py_context_type()) < 0 || add(module, "Policy", py_policy_type()) < 0 ||
        PyModule_AddStringConstant(module, "version", choke_version()) < 0)
        return -1;
    return add(module, "TIMEOUT_FROM_POLICY", PyLong_FromUnsignedLongLong(CHOKE_TIMEOUT_FROM_POLICY));
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_choke",
                                        .m_doc = "The public header of libchokepoint. Use the package chokepoint.",
                                        .m_methods = functions,
                                        .m_slots = module_slots};

PyMODINIT_FUNC PyInit__choke(void);

PyMODINIT_FUNC PyInit__choke(void)
{
    return PyModuleDef_Init(&definition);
}
