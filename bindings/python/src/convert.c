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
    Py_ssize_t count = 0;
    while (items && items[count])
        count++;
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *text = py_text(items[i]);
        if (!text || PyList_SetItem(list, i, text) < 0)
            Py_CLEAR(list);
    }
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

/* ---- the fields of a result ---- */

/*
 * Making a result is a part of every run, and what it touches is not in the caches of the processor, where another
 * program has just been: with a name made for each field it took as long as to receive the report (R98). So the names
 * are made once, with the values that the fields usually have. A result is a copy of that, with what differs.
 */
enum usual { NOTHING, NO, ZERO, EMPTY };

/* In the order of the dict. */
enum field {
    FIELD_OUTCOME,
    FIELD_EXIT_CODE,
    FIELD_SIGNAL,
    FIELD_STDOUT,
    FIELD_STDERR,
    FIELD_STDOUT_TOTAL,
    FIELD_STDERR_TOTAL,
    FIELD_STDOUT_TRUNCATED,
    FIELD_STDERR_TRUNCATED,
    FIELD_OUTPUT_INCOMPLETE,
    FIELD_DURATION_MS,
    FIELD_USER_MS,
    FIELD_SYSTEM_MS,
    FIELD_MAX_RSS_KIB,
    FIELD_TIMEOUT_MS,
    FIELD_JAIL,
    FIELD_LAYERS,
    FIELD_KILL,
    FIELD_TOOL,
    FIELD_RULE,
    FIELD_ERROR,
    FIELD_LIMITS,
    FIELD_LIMIT_HIT,
    FIELD_CHANGES,
    FIELD_CHANGES_INCOMPLETE,
    FIELD_KEPT_INCOMPLETE,
    FIELD_EGRESS,
    FIELD_UNRECORDED,
    FIELD_WORKSPACE_CODE,
    FIELD_LOOPBACK,
    FIELD_DENIED,
    FIELD_DENIED_MORE,
    FIELD_EGRESS_OFFER,
    FIELD_COUNT
};

static const struct {
    const char *name;
    enum usual usual;
} fields[FIELD_COUNT] = {
    [FIELD_OUTCOME] = {"outcome", NOTHING},
    [FIELD_EXIT_CODE] = {"exit_code", NOTHING},
    [FIELD_SIGNAL] = {"signal", NOTHING},
    [FIELD_STDOUT] = {"stdout", EMPTY},
    [FIELD_STDERR] = {"stderr", EMPTY},
    [FIELD_STDOUT_TOTAL] = {"stdout_total", ZERO},
    [FIELD_STDERR_TOTAL] = {"stderr_total", ZERO},
    [FIELD_STDOUT_TRUNCATED] = {"stdout_truncated", NO},
    [FIELD_STDERR_TRUNCATED] = {"stderr_truncated", NO},
    [FIELD_OUTPUT_INCOMPLETE] = {"output_incomplete", NO},
    [FIELD_DURATION_MS] = {"duration_ms", ZERO},
    [FIELD_USER_MS] = {"user_ms", ZERO},
    [FIELD_SYSTEM_MS] = {"system_ms", ZERO},
    [FIELD_MAX_RSS_KIB] = {"max_rss_kib", ZERO},
    [FIELD_TIMEOUT_MS] = {"timeout_ms", ZERO},
    [FIELD_JAIL] = {"jail", NOTHING},
    [FIELD_LAYERS] = {"layers", NOTHING},
    [FIELD_KILL] = {"kill", NOTHING},
    [FIELD_TOOL] = {"tool", NOTHING},
    [FIELD_RULE] = {"rule", NOTHING},
    [FIELD_ERROR] = {"error", NOTHING},
    [FIELD_LIMITS] = {"limits", NOTHING},
    [FIELD_LIMIT_HIT] = {"limit_hit", NOTHING},
    [FIELD_CHANGES] = {"changes", NOTHING},
    [FIELD_CHANGES_INCOMPLETE] = {"changes_incomplete", NO},
    [FIELD_KEPT_INCOMPLETE] = {"kept_incomplete", NO},
    [FIELD_EGRESS] = {"egress", NOTHING},
    [FIELD_UNRECORDED] = {"unrecorded", NO},
    [FIELD_WORKSPACE_CODE] = {"workspace_code", NO},
    [FIELD_LOOPBACK] = {"loopback", NO},
    [FIELD_DENIED] = {"denied", NOTHING},
    [FIELD_DENIED_MORE] = {"denied_more", ZERO},
    [FIELD_EGRESS_OFFER] = {"egress_offer", NOTHING},
};

static PyObject *field_names[FIELD_COUNT]; /* as long as the process lives, as the types */
static PyObject *usual_result;

static PyObject *usual_value(enum usual usual)
{
    if (usual == ZERO)
        return PyLong_FromLong(0);
    if (usual == EMPTY)
        return PyBytes_FromStringAndSize(NULL, 0);
    return usual == NO ? PyBool_FromLong(0) : none();
}

int py_result_init(void)
{
    PyObject *dict = PyDict_New();
    for (unsigned i = 0; dict && i < FIELD_COUNT; i++) {
        PyObject *value = usual_value(fields[i].usual);
        field_names[i] = PyUnicode_InternFromString(fields[i].name);
        if (!value || !field_names[i] || PyDict_SetItem(dict, field_names[i], value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    usual_result = dict;
    return dict ? 0 : -1;
}

/* Takes over value, as py_put. */
static void set(PyObject **dict, enum field field, PyObject *value)
{
    if (*dict && (!value || PyDict_SetItem(*dict, field_names[field], value) < 0))
        Py_CLEAR(*dict);
    Py_XDECREF(value);
}

static void set_text(PyObject **dict, enum field field, const char *text)
{
    if (text)
        set(dict, field, py_text(text));
}

static void set_number(PyObject **dict, enum field field, uint64_t value)
{
    if (value != 0)
        set(dict, field, unsigned_number(value));
}

static void set_flag(PyObject **dict, enum field field, bool value)
{
    if (value)
        set(dict, field, PyBool_FromLong(1));
}

static void set_bytes(PyObject **dict, enum field field, const struct choke_capture *output)
{
    if (output->length > 0)
        set(dict, field, PyBytes_FromStringAndSize(output->data, (Py_ssize_t)output->length));
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

static void set_streams(PyObject **dict, const struct choke_result *result)
{
    set_bytes(dict, FIELD_STDOUT, &result->out);
    set_bytes(dict, FIELD_STDERR, &result->err);
    set_number(dict, FIELD_STDOUT_TOTAL, result->out.total_bytes);
    set_number(dict, FIELD_STDERR_TOTAL, result->err.total_bytes);
    set_flag(dict, FIELD_STDOUT_TRUNCATED, result->out.truncated);
    set_flag(dict, FIELD_STDERR_TRUNCATED, result->err.truncated);
    set_flag(dict, FIELD_OUTPUT_INCOMPLETE, result->output_incomplete);
}

static void set_costs(PyObject **dict, const struct choke_result *result)
{
    set(dict, FIELD_DURATION_MS, milliseconds(result->duration_us));
    set(dict, FIELD_USER_MS, milliseconds(result->user_us));
    set(dict, FIELD_SYSTEM_MS, milliseconds(result->system_us));
    set_number(dict, FIELD_MAX_RSS_KIB, result->max_rss_kib);
    set_number(dict, FIELD_TIMEOUT_MS, result->timeout_ms);
}

PyObject *py_result(const struct choke_result *result)
{
    PyObject *dict = PyDict_Copy(usual_result);
    set_text(&dict, FIELD_OUTCOME, choke_outcome_name(result->outcome));
    if (result->outcome == CHOKE_EXITED)
        set(&dict, FIELD_EXIT_CODE, PyLong_FromLong(result->exit_code));
    if (result->signal != 0)
        set(&dict, FIELD_SIGNAL, PyLong_FromLong(result->signal));
    set_streams(&dict, result);
    set_costs(&dict, result);
    set_text(&dict, FIELD_JAIL, result->jail);
    set(&dict, FIELD_LAYERS, py_text_list(result->layers));
    set_text(&dict, FIELD_KILL, result->kill);
    set(&dict, FIELD_TOOL, tool(result->tool_name, result->tool_path));
    set_text(&dict, FIELD_RULE, result->rule);
    set(&dict, FIELD_ERROR, py_error_dict(&result->error));
    set(&dict, FIELD_LIMITS, limits(result));
    set_text(&dict, FIELD_LIMIT_HIT, result->limit_hit);
    if (result->changes)
        set(&dict, FIELD_CHANGES, changes(result));
    set_flag(&dict, FIELD_CHANGES_INCOMPLETE, result->changes_incomplete);
    set_flag(&dict, FIELD_KEPT_INCOMPLETE, result->kept_incomplete);
    if (result->egress)
        set(&dict, FIELD_EGRESS, egress_dict(result->egress));
    set_flag(&dict, FIELD_UNRECORDED, result->unrecorded);
    set_flag(&dict, FIELD_WORKSPACE_CODE, result->workspace_code);
    set_flag(&dict, FIELD_LOOPBACK, result->loopback);
    if (result->denied)
        set(&dict, FIELD_DENIED, denied(result));
    set_number(&dict, FIELD_DENIED_MORE, result->denied_more);
    if (result->egress_offer)
        set(&dict, FIELD_EGRESS_OFFER, py_text_list(result->egress_offer));
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
