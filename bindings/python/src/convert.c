/*
 * convert.c - what the library returns, as Python objects with the names of the command's JSON
 * (docs/run.schema.json). Bytes that are not UTF-8 become lone surrogates, as in file names.
 */
#include "choke.h"

#include <errno.h>
#include <string.h>

PyObject *py_error_type;

static PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *py_text(const char *text)
{
    return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape") : none();
}

void py_put(PyObject **dict, const char *key, PyObject *value)
{
    if (*dict && (!value || PyDict_SetItemString(*dict, key, value) < 0))
        Py_CLEAR(*dict);
    Py_XDECREF(value);
}

void py_add(PyObject **list, PyObject *value)
{
    if (*list && (!value || PyList_Append(*list, value) < 0))
        Py_CLEAR(*list);
    Py_XDECREF(value);
}

PyObject *py_text_list(const char *const *items)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && items && items[i]; i++)
        py_add(&list, py_text(items[i]));
    return list;
}

static PyObject *unsigned_number(uint64_t value)
{
    return PyLong_FromUnsignedLongLong(value);
}

static PyObject *milliseconds(uint64_t us)
{
    return PyFloat_FromDouble((double)us / 1000.0);
}

PyObject *py_error_dict(const struct choke_error *error)
{
    if (error->outcome == CHOKE_NONE)
        return none();
    PyObject *dict = PyDict_New();
    py_put(&dict, "code", py_text(choke_outcome_name(error->outcome)));
    py_put(&dict, "message", py_text(error->message));
    if (error->errnum != 0)
        py_put(&dict, "errno", PyLong_FromLong(error->errnum));
    if (error->line != 0) {
        py_put(&dict, "line", PyLong_FromUnsignedLong(error->line));
        py_put(&dict, "column", PyLong_FromUnsignedLong(error->column));
    }
    return dict;
}

PyObject *py_raise(const struct choke_error *error, int status)
{
    if (status == -ENOMEM)
        return PyErr_NoMemory();
    const char *message = error->message[0] != '\0' ? error->message : strerror(-status);
    PyObject *value = Py_BuildValue("(NNi)", py_text(message), py_text(choke_outcome_name(error->outcome)), -status);
    if (value)
        PyErr_SetObject(py_error_type, value);
    Py_XDECREF(value);
    return NULL;
}

/* ---- a result ---- */

static PyObject *limits(const struct choke_result *result)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < result->limit_count; i++) {
        PyObject *dict = PyDict_New();
        py_put(&dict, "name", py_text(result->limits[i].name));
        py_put(&dict, "value", unsigned_number(result->limits[i].value));
        py_put(&dict, "mechanism", py_text(result->limits[i].mechanism));
        py_add(&list, dict);
    }
    return list;
}

static PyObject *changes(const struct choke_result *result)
{
    if (!result->changes)
        return none();
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < result->change_count; i++) {
        const struct choke_file_change *change = &result->changes[i];
        PyObject *dict = PyDict_New();
        py_put(&dict, "path", py_text(change->path));
        py_put(&dict, "kind", py_text(change->kind));
        py_put(&dict, "type", py_text(change->type));
        py_put(&dict, "runs_later", py_text(change->runs_later));
        py_add(&list, dict);
    }
    return list;
}

static PyObject *egress_dict(const struct choke_egress *egress)
{
    if (!egress)
        return none();
    PyObject *dict = PyDict_New();
    py_put(&dict, "rules", py_text_list(egress->rules));
    py_put(&dict, "allowed", unsigned_number(egress->allowed));
    py_put(&dict, "refused", unsigned_number(egress->refused));
    py_put(&dict, "failed", unsigned_number(egress->failed));
    py_put(&dict, "sent_bytes", unsigned_number(egress->sent_bytes));
    py_put(&dict, "received_bytes", unsigned_number(egress->received_bytes));
    return dict;
}

static PyObject *denied(const struct choke_result *result)
{
    if (!result->denied)
        return none();
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < result->denied_count; i++) {
        const struct choke_denial *denial = &result->denied[i];
        PyObject *dict = PyDict_New();
        py_put(&dict, "kind", py_text(denial->kind));
        py_put(&dict, "path", py_text(denial->path));
        py_put(&dict, "by", py_text(denial->by));
        py_put(&dict, "errno", PyLong_FromLong(denial->errnum));
        py_put(&dict, "add", py_text(denial->add));
        py_add(&list, dict);
    }
    return list;
}

static PyObject *tool(const char *name, const char *path)
{
    return name ? Py_BuildValue("{s:N,s:N}", "name", py_text(name), "path", py_text(path)) : none();
}

static void put_streams(PyObject **dict, const struct choke_result *result)
{
    py_put(dict, "stdout", PyBytes_FromStringAndSize(result->out.data, (Py_ssize_t)result->out.length));
    py_put(dict, "stderr", PyBytes_FromStringAndSize(result->err.data, (Py_ssize_t)result->err.length));
    py_put(dict, "stdout_total", unsigned_number(result->out.total_bytes));
    py_put(dict, "stderr_total", unsigned_number(result->err.total_bytes));
    py_put(dict, "stdout_truncated", PyBool_FromLong(result->out.truncated));
    py_put(dict, "stderr_truncated", PyBool_FromLong(result->err.truncated));
    py_put(dict, "output_incomplete", PyBool_FromLong(result->output_incomplete));
}

static void put_costs(PyObject **dict, const struct choke_result *result)
{
    py_put(dict, "duration_ms", milliseconds(result->duration_us));
    py_put(dict, "user_ms", milliseconds(result->user_us));
    py_put(dict, "system_ms", milliseconds(result->system_us));
    py_put(dict, "max_rss_kib", unsigned_number(result->max_rss_kib));
    py_put(dict, "timeout_ms", unsigned_number(result->timeout_ms));
}

PyObject *py_result(const struct choke_result *result)
{
    bool exited = result->outcome == CHOKE_EXITED;
    PyObject *dict = PyDict_New();
    py_put(&dict, "outcome", py_text(choke_outcome_name(result->outcome)));
    py_put(&dict, "exit_code", exited ? PyLong_FromLong(result->exit_code) : none());
    py_put(&dict, "signal", result->signal != 0 ? PyLong_FromLong(result->signal) : none());
    put_streams(&dict, result);
    put_costs(&dict, result);
    py_put(&dict, "jail", py_text(result->jail));
    py_put(&dict, "layers", py_text_list(result->layers));
    py_put(&dict, "kill", py_text(result->kill));
    py_put(&dict, "tool", tool(result->tool_name, result->tool_path));
    py_put(&dict, "rule", py_text(result->rule));
    py_put(&dict, "error", py_error_dict(&result->error));
    py_put(&dict, "limits", limits(result));
    py_put(&dict, "limit_hit", py_text(result->limit_hit));
    py_put(&dict, "changes", changes(result));
    py_put(&dict, "changes_incomplete", PyBool_FromLong(result->changes_incomplete));
    py_put(&dict, "kept_incomplete", PyBool_FromLong(result->kept_incomplete));
    py_put(&dict, "egress", egress_dict(result->egress));
    py_put(&dict, "unrecorded", PyBool_FromLong(result->unrecorded));
    py_put(&dict, "workspace_code", PyBool_FromLong(result->workspace_code));
    py_put(&dict, "loopback", PyBool_FromLong(result->loopback));
    py_put(&dict, "denied", denied(result));
    py_put(&dict, "denied_more", unsigned_number(result->denied_more));
    py_put(&dict, "egress_offer", result->egress_offer ? py_text_list(result->egress_offer) : none());
    return dict;
}

PyObject *py_decision(const struct choke_decision *decision)
{
    bool allowed = decision->outcome == CHOKE_NONE;
    PyObject *dict = PyDict_New();
    py_put(&dict, "decision", py_text(allowed ? "allowed" : "refused"));
    py_put(&dict, "outcome", allowed ? none() : py_text(choke_outcome_name(decision->outcome)));
    py_put(&dict, "rule", py_text(decision->rule));
    py_put(&dict, "tool", tool(decision->tool_name, decision->tool_path));
    py_put(&dict, "argv", py_text_list(decision->argv));
    py_put(&dict, "env", py_text_list(decision->env));
    py_put(&dict, "root", py_text(decision->root));
    py_put(&dict, "cwd", py_text(decision->cwd));
    py_put(&dict, "timeout_ms", decision->timeout_ms != 0 ? unsigned_number(decision->timeout_ms) : none());
    py_put(&dict, "jail", py_text(decision->jail));
    py_put(&dict, "layers", py_text_list(decision->layers));
    py_put(&dict, "mounts", py_text_list(decision->mounts));
    py_put(&dict, "jail_argv", py_text_list(decision->jail_argv));
    py_put(&dict, "egress", py_text_list(decision->egress));
    py_put(&dict, "error", py_error_dict(&decision->error));
    py_put(&dict, "workspace_code", PyBool_FromLong(decision->workspace_code));
    py_put(&dict, "loopback", PyBool_FromLong(decision->loopback));
    py_put(&dict, "via", py_text(decision->via));
    return dict;
}
