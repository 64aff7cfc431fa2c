/*
 * reports.c - doctor, lint and the reader of audit logs. They block, so the lock is released, and a
 * signal handler that raises ends them.
 */
#include "choke.h"

#include <errno.h>

/* Called by the library every few milliseconds, without the lock. True: a signal handler raised. */
static bool stop_on_signal(void *unused)
{
    (void)unused;
    PyGILState_STATE state = PyGILState_Ensure();
    bool stop = PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return stop;
}

/* After a call that stop_on_signal may have ended: its exception is the one to raise. */
static PyObject *failed(const struct choke_error *error, int status)
{
    return PyErr_Occurred() ? NULL : py_raise(error, status);
}

/* None: NULL. False and an exception. */
static bool optional_strings(PyObject *object, const char *what, PyObject *kept, const char ***ret)
{
    *ret = NULL;
    if (object == Py_None)
        return true;
    *ret = py_strings(object, what, kept);
    return !!*ret;
}

/* ---- doctor ---- */

static PyObject *tool_reports(const struct choke_doctor_report *report)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < report->tool_count; i++) {
        const struct choke_tool_report *tool = &report->tools[i];
        PyObject *dict = PyDict_New();
        py_put(&dict, "name", py_text(tool->name));
        py_put(&dict, "route", py_text(tool->route));
        py_put(&dict, "required", PyBool_FromLong(tool->required));
        py_put(&dict, "state", py_text(tool->state));
        py_put(&dict, "path", py_text(tool->path));
        py_put(&dict, "version", py_text(tool->version));
        py_put(&dict, "sha256", py_text(tool->sha256));
        py_put(&dict, "cached", PyBool_FromLong(tool->cached));
        py_put(&dict, "install", py_text(tool->install));
        py_put(&dict, "problem", py_text(tool->problem));
        py_add(&list, dict);
    }
    return list;
}

static PyObject *layer_reports(const struct choke_doctor_report *report)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < report->layer_count; i++) {
        const struct choke_layer_report *layer = &report->layers[i];
        PyObject *dict = PyDict_New();
        py_put(&dict, "name", py_text(layer->name));
        py_put(&dict, "group", py_text(layer->group));
        py_put(&dict, "holds", PyBool_FromLong(layer->holds));
        py_put(&dict, "detail", py_text(layer->detail));
        py_put(&dict, "cause", py_text(layer->cause));
        py_put(&dict, "remedy", py_text(layer->remedy));
        py_add(&list, dict);
    }
    return list;
}

static PyObject *doctor_dict(const struct choke_doctor_report *report)
{
    PyObject *dict = PyDict_New();
    py_put(&dict, "ready", PyBool_FromLong(report->ready));
    py_put(&dict, "policy", py_text(report->policy));
    py_put(&dict, "policy_sha256", py_text(report->policy_sha256));
    py_put(&dict, "machine_policy", py_text(report->machine_policy));
    py_put(&dict, "machine_locked", PyBool_FromLong(report->machine_locked));
    py_put(&dict, "machine_binds", PyBool_FromLong(report->machine_binds));
    py_put(&dict, "tools", tool_reports(report));
    py_put(&dict, "layers", layer_reports(report));
    py_put(&dict, "cache", py_text(report->cache_path));
    py_put(&dict, "cache_note", py_text(report->cache_note));
    return dict;
}

PyObject *py_doctor(PyObject *object, PyObject *args)
{
    struct py_context *self = (struct py_context *)object;
    int no_cache, no_layers;
    PyObject *tools;
    if (!PyArg_ParseTuple(args, "ppO", &no_cache, &no_layers, &tools) || py_context_enter(self) < 0)
        return NULL;
    PyObject *kept = PyList_New(0), *dict = NULL;
    const char **names = NULL;
    if (kept && optional_strings(tools, "tools", kept, &names)) {
        const struct choke_doctor_options options = {.no_cache = no_cache != 0,
                                                     .no_layers = no_layers != 0,
                                                     .tools = (const char *const *)names,
                                                     .stop = stop_on_signal};
        struct choke_doctor_report *report = NULL;
        struct choke_error error = {0};
        int r;
        Py_BEGIN_ALLOW_THREADS r = choke_doctor(self->context, &options, &report, &error);
        Py_END_ALLOW_THREADS dict = r < 0 ? failed(&error, r) : doctor_dict(report);
        choke_doctor_report_free(report);
    }
    PyMem_Free(names);
    Py_XDECREF(kept);
    if (py_context_leave(self) < 0)
        Py_CLEAR(dict);
    return dict;
}

/* ---- lint ---- */

static PyObject *lint_findings(const struct choke_lint_report *report)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < report->finding_count; i++) {
        const struct choke_lint_finding *finding = &report->findings[i];
        PyObject *dict = PyDict_New();
        py_put(&dict, "severity", py_text(choke_severity_name(finding->severity)));
        py_put(&dict, "rule", py_text(finding->rule->id));
        py_put(&dict, "path", py_text(finding->path));
        py_put(&dict, "name", py_text(finding->name));
        py_put(&dict, "line", PyLong_FromUnsignedLong(finding->line));
        py_put(&dict, "column", PyLong_FromUnsignedLong(finding->column));
        py_put(&dict, "end_line", PyLong_FromUnsignedLong(finding->end_line));
        py_put(&dict, "end_column", PyLong_FromUnsignedLong(finding->end_column));
        py_put(&dict, "found", py_text(finding->found));
        py_put(&dict, "message", py_text(finding->message));
        py_put(&dict, "instead", py_text(finding->rule->instead));
        py_put(&dict, "source", py_text(finding->source));
        py_add(&list, dict);
    }
    return list;
}

static PyObject *lint_skips(const struct choke_lint_report *report)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < report->skip_count; i++) {
        PyObject *dict = PyDict_New();
        py_put(&dict, "path", py_text(report->skips[i].path));
        py_put(&dict, "reason", py_text(report->skips[i].reason));
        py_add(&list, dict);
    }
    return list;
}

static PyObject *lint_dict(const struct choke_lint_report *report)
{
    PyObject *dict = PyDict_New();
    py_put(&dict, "clean", PyBool_FromLong(report->finding_count == 0));
    py_put(&dict, "top", py_text(report->top));
    py_put(&dict, "config", py_text(report->config));
    py_put(&dict, "files", PyLong_FromSize_t(report->file_count));
    py_put(&dict, "errors", PyLong_FromSize_t(report->errors));
    py_put(&dict, "warnings", PyLong_FromSize_t(report->warnings));
    py_put(&dict, "notes", PyLong_FromSize_t(report->notes));
    py_put(&dict, "waived", PyLong_FromSize_t(report->waived));
    py_put(&dict, "findings", lint_findings(report));
    py_put(&dict, "skipped", lint_skips(report));
    return dict;
}

PyObject *py_lint(PyObject *module, PyObject *args)
{
    PyObject *paths, *root, *config, *root_bytes = NULL, *config_bytes = NULL, *dict = NULL;
    int no_gitignore;
    unsigned jobs;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOpI", &paths, &root, &config, &no_gitignore, &jobs))
        return NULL;
    PyObject *kept = PyList_New(0);
    const char **names = NULL;
    if (kept && optional_strings(paths, "paths", kept, &names) && py_path(root, &root_bytes) &&
        py_path(config, &config_bytes)) {
        const struct choke_lint_options options = {.paths = (const char *const *)names,
                                                   .root = root_bytes ? PyBytes_AsString(root_bytes) : NULL,
                                                   .config_path = config_bytes ? PyBytes_AsString(config_bytes) : NULL,
                                                   .no_gitignore = no_gitignore != 0,
                                                   .jobs = jobs,
                                                   .stop = stop_on_signal};
        struct choke_lint_report *report = NULL;
        struct choke_error error = {0};
        int r;
        Py_BEGIN_ALLOW_THREADS r = choke_lint(&options, &report, &error);
        Py_END_ALLOW_THREADS dict = r < 0 ? failed(&error, r) : lint_dict(report);
        choke_lint_report_free(report);
    }
    PyMem_Free(names);
    Py_XDECREF(kept);
    Py_XDECREF(root_bytes);
    Py_XDECREF(config_bytes);
    return dict;
}

/* ---- audit ---- */

/* Called by the library, without the lock: passes a record to Python. False ends the reading. */
static bool on_record(void *data, const struct choke_audit_record *record)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *dict = PyDict_New();
    py_put(&dict, "file", py_text(record->file));
    py_put(&dict, "line", PyLong_FromUnsignedLongLong(record->line));
    py_put(&dict, "proven", PyBool_FromLong(record->proven));
    py_put(&dict, "seq", PyLong_FromUnsignedLongLong(record->seq));
    py_put(&dict, "text", PyUnicode_DecodeUTF8(record->text, (Py_ssize_t)record->length, "surrogateescape"));
    PyObject *answer = dict ? PyObject_CallFunction(data, "O", dict) : NULL;
    bool more = answer && PyErr_CheckSignals() == 0 && answer != Py_False;
    Py_XDECREF(answer);
    Py_XDECREF(dict);
    PyGILState_Release(state);
    return more;
}

static PyObject *audit_dict(const struct choke_audit_report *report)
{
    PyObject *dict = PyDict_New();
    py_put(&dict, "damage", py_text(choke_damage_name(report->damage)));
    py_put(&dict, "file", py_text(report->file));
    py_put(&dict, "line", PyLong_FromUnsignedLongLong(report->line));
    py_put(&dict, "message", py_text(report->message));
    py_put(&dict, "files", PyLong_FromSize_t(report->files));
    py_put(&dict, "records", PyLong_FromUnsignedLongLong(report->records));
    py_put(&dict, "first_seq", PyLong_FromUnsignedLongLong(report->first_seq));
    py_put(&dict, "repairs", PyLong_FromUnsignedLongLong(report->repairs));
    py_put(&dict, "heads", PyLong_FromSize_t(report->heads));
    py_put(&dict, "unchecked", PyLong_FromSize_t(report->unchecked));
    py_put(&dict, "head", py_text(report->head));
    return dict;
}

PyObject *py_audit_verify(PyObject *module, PyObject *args)
{
    PyObject *paths, *heads, *key, *callback, *key_bytes = NULL, *dict = NULL;
    int rotated, unproven;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOppO", &paths, &heads, &key, &rotated, &unproven, &callback))
        return NULL;
    PyObject *kept = PyList_New(0);
    const char **names = NULL, **head_texts = NULL;
    if (kept && optional_strings(paths, "paths", kept, &names) && optional_strings(heads, "heads", kept, &head_texts) &&
        py_path(key, &key_bytes)) {
        const struct choke_audit_query query = {.paths = (const char *const *)names,
                                                .rotated = rotated != 0,
                                                .heads = (const char *const *)head_texts,
                                                .public_key = key_bytes ? PyBytes_AsString(key_bytes) : NULL,
                                                .unproven = unproven != 0,
                                                .on_record = callback != Py_None ? on_record : NULL,
                                                .data = callback};
        struct choke_audit_report *report = NULL;
        struct choke_error error = {0};
        int r;
        Py_BEGIN_ALLOW_THREADS r = choke_audit_verify(&query, &report, &error);
        Py_END_ALLOW_THREADS dict = PyErr_Occurred() ? NULL : r < 0 ? py_raise(&error, r) : audit_dict(report);
        choke_audit_report_free(report);
    }
    PyMem_Free(names);
    PyMem_Free(head_texts);
    Py_XDECREF(kept);
    Py_XDECREF(key_bytes);
    return dict;
}

PyObject *py_audit_head(PyObject *module, PyObject *args)
{
    PyObject *path, *key, *path_bytes = NULL, *key_bytes = NULL, *answer = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &path, &key) || !PyUnicode_FSConverter(path, &path_bytes))
        return NULL;
    if (py_path(key, &key_bytes)) {
        char head[CHOKE_AUDIT_HEAD_MAX];
        struct choke_error error = {0};
        const char *file = PyBytes_AsString(path_bytes), *secret = key_bytes ? PyBytes_AsString(key_bytes) : NULL;
        int r;
        Py_BEGIN_ALLOW_THREADS r = choke_audit_head(file, secret, head, &error);
        Py_END_ALLOW_THREADS answer = r < 0 ? py_raise(&error, r) : py_text(head);
    }
    Py_XDECREF(path_bytes);
    Py_XDECREF(key_bytes);
    return answer;
}

PyObject *py_audit_keygen(PyObject *module, PyObject *args)
{
    PyObject *path_bytes = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path_bytes))
        return NULL;
    char key[CHOKE_AUDIT_KEY_MAX];
    struct choke_error error = {0};
    int r = choke_audit_keygen(PyBytes_AsString(path_bytes), key, &error);
    Py_DECREF(path_bytes);
    return r < 0 ? py_raise(&error, r) : py_text(key);
}
