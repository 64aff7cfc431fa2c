/* policy.c - a policy under review: choke_policy_open and what it shows. */
#include "choke.h"

struct py_policy {
    PyObject_HEAD struct choke_policy *policy;
};

enum kind { FROM_PATH, EMBEDDED, CATALOG };

static PyTypeObject *policy_class;

static PyObject *policy_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *path, *path_bytes = NULL;
    int kind;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "Oi", &path, &kind) || !py_path(path, &path_bytes))
        return NULL;
    struct py_policy *self = (struct py_policy *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self) {
        const char *file = path_bytes ? PyBytes_AsString(path_bytes) : NULL;
        struct choke_error error = {0};
        int r;
        Py_BEGIN_ALLOW_THREADS r = kind == EMBEDDED  ? choke_policy_open_embedded(&self->policy, &error)
                                   : kind == CATALOG ? choke_policy_open_catalog(&self->policy, &error)
                                                     : choke_policy_open(file, &self->policy, &error);
        Py_END_ALLOW_THREADS if (r < 0)
        {
            (void)py_raise(&error, r);
            Py_DECREF(self);
            self = NULL;
        }
    }
    Py_XDECREF(path_bytes);
    return (PyObject *)self;
}

static void policy_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    choke_policy_free(((struct py_policy *)object)->policy);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF((PyObject *)type);
}

static PyObject *policy_text(PyObject *object, int (*make)(struct choke_policy *, const char **, struct choke_error *))
{
    const char *text = NULL;
    struct choke_error error = {0};
    int r = make(((struct py_policy *)object)->policy, &text, &error);
    return r < 0 ? py_raise(&error, r) : py_text(text);
}

static PyObject *policy_json(PyObject *object, PyObject *unused)
{
    (void)unused;
    return policy_text(object, choke_policy_json);
}

static PyObject *policy_yaml(PyObject *object, PyObject *unused)
{
    (void)unused;
    return policy_text(object, choke_policy_yaml);
}

static PyObject *policy_check(PyObject *object, PyObject *unused)
{
    const struct choke_finding *findings = NULL;
    size_t count = 0;
    struct choke_error error = {0};
    (void)unused;
    int r = choke_policy_check(((struct py_policy *)object)->policy, &findings, &count, &error);
    if (r < 0)
        return py_raise(&error, r);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *dict = PyDict_New();
        py_put(&dict, "severity", py_text(choke_severity_name(findings[i].severity)));
        py_put(&dict, "tool", py_text(findings[i].tool));
        py_put(&dict, "line", PyLong_FromUnsignedLong(findings[i].line));
        py_put(&dict, "column", PyLong_FromUnsignedLong(findings[i].column));
        py_put(&dict, "rule", py_text(findings[i].rule));
        py_put(&dict, "message", py_text(findings[i].message));
        py_add(&list, dict);
    }
    return list;
}

static PyObject *changes(const struct choke_diff *diff)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < diff->count; i++) {
        const struct choke_change *change = &diff->changes[i];
        PyObject *dict = PyDict_New();
        py_put(&dict, "kind", py_text(choke_change_kind_name(change->kind)));
        py_put(&dict, "tool", py_text(change->tool));
        py_put(&dict, "field", py_text(change->field));
        py_put(&dict, "before", py_text(change->before));
        py_put(&dict, "after", py_text(change->after));
        py_put(&dict, "adr", py_text(change->adr));
        py_put(&dict, "covered", PyBool_FromLong(change->covered));
        py_put(&dict, "reason", py_text(change->reason));
        py_put(&dict, "why", py_text(change->why));
        py_add(&list, dict);
    }
    return list;
}

static PyObject *policy_diff(PyObject *object, PyObject *args)
{
    PyObject *other;
    if (!PyArg_ParseTuple(args, "O!", policy_class, &other))
        return NULL;
    struct choke_diff *diff = NULL;
    struct choke_error error = {0};
    int r = choke_policy_diff(((struct py_policy *)object)->policy, ((struct py_policy *)other)->policy, &diff, &error);
    PyObject *list = r < 0 ? py_raise(&error, r) : changes(diff);
    choke_diff_free(diff);
    return list;
}

static PyObject *get_file(PyObject *object, void *unused)
{
    (void)unused;
    return py_text(choke_policy_file(((struct py_policy *)object)->policy));
}

static PyMethodDef methods[] = {
    {"json", policy_json, METH_NOARGS, "The whole policy as JSON text."},
    {"yaml", policy_yaml, METH_NOARGS, "The whole policy as YAML."},
    {"check", policy_check, METH_NOARGS, "What is wrong with it, as dicts."},
    {"diff", policy_diff, METH_VARARGS, "diff(newer): what changed, as dicts."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"file", get_file, NULL, "The path of the file; None for the embedded policy.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char documentation[] = "Policy(path, kind); kind: 0 the path, 1 the embedded policy, 2 the catalogue.";

static PyType_Slot slots[] = {
    {Py_tp_doc, documentation}, {Py_tp_new, policy_new}, {Py_tp_dealloc, policy_dealloc},
    {Py_tp_methods, methods},   {Py_tp_getset, members}, {0, NULL},
};

static PyType_Spec spec = {.name = "chokepoint._choke.Policy",
                           .basicsize = sizeof(struct py_policy),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

PyObject *py_policy_type(void)
{
    PyObject *type = PyType_FromSpec(&spec);
    policy_class = (PyTypeObject *)type;
    return type;
}
