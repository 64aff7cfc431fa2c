/*
 * tool_gather.c - the tool `gather`, in a thread: the coordinator has its own loop. It gets its own
 * context, because a context belongs to one thread.
 */
#include "base/fd.h"
#include "base/quote.h"
#include "front/text.h"
#include "gather/call_report.h"
#include "gather/coordinate.h"
#include "mcp/tool.h"
#include "mcp/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENT_MAX ((size_t)1 << 20) /* in an answer; a larger one is a resource */
#define JOBS 2
#define DOCUMENT_URI "chokepoint://gather/last"

static json_t *refuse(struct ck_mcp_call *call, const struct choke_error *error)
{
    (void)call;
    return ck_mcp_tool_refusal(
        error, json_pack("{s:n, s:n, s:i, s:n}", "summary", "document", "document_bytes", 0, "document_uri"));
}

/* ---- stopping and progress ---- */

static bool take_stop(void *data, struct choke_context *context)
{
    struct ck_mcp_task *task = data;
    uint64_t count;

    (void)!read(task->stop_fd, &count, sizeof(count));
    if (!ck_mcp_task_is_stopped(task))
        return false;
    choke_cancel_all(context);
    return true;
}

static void report_round(void *data, const struct ck_gathering *gathering)
{
    unsigned ended = 0;

    for (size_t i = 0; i < gathering->count; i++)
        ended += gathering->reports[i].state != CK_PROBE_STATE_WAITING &&
                 gathering->reports[i].state != CK_PROBE_STATE_RUNNING;
    ck_mcp_task_report(data, ended, (unsigned)gathering->count);
}

/* ---- the answer ---- */

static json_t *summary_of(const struct ck_gathering *gathering)
{
    struct ck_mcp_words words;

    if (!ck_mcp_words_begin(&words))
        return NULL;
    (void)ck_summary_write(gathering, words.out, false);
    return ck_mcp_words_end(&words);
}

/* The summary names files of the repository, so it is untrusted like the document. */
static json_t *answer_of(struct ck_mcp_call *call, const struct ck_gathering *gathering)
{
    json_t *document = ck_document_make(gathering);
    json_t *summary = summary_of(gathering);
    char first[256];

    ck_mcp_words_clean(document);
    call->document = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (!call->document || !summary) {
        json_decref(document);
        json_decref(summary);
        return NULL;
    }
    size_t length = strlen(call->document);
    bool fits = length <= DOCUMENT_MAX;
    (void)snprintf(first, sizeof(first), "%zu probes have ended. The document has %zu bytes%s " DOCUMENT_URI ".",
                   gathering->count, length, fits ? "; it follows, and is the resource" : " and is the resource");
    json_t *content =
        json_pack("[o, o]", ck_mcp_words_block(json_string(first)),
                  ck_mcp_words_untrusted("the summary", json_string_value(summary), json_string_length(summary)));
    if (fits)
        (void)json_array_append_new(content, ck_mcp_words_untrusted("the document", call->document, length));
    json_t *structured = json_pack("{s:o, s:O?, s:I, s:s, s:n}", "summary", summary, "document", fits ? document : NULL,
                                   "document_bytes", (json_int_t)length, "document_uri", DOCUMENT_URI, "error");
    json_decref(document);
    return ck_mcp_words_result(content, structured, false);
}

/* ---- the gather ---- */

static bool is_probe(const struct ck_probes *probes, const char *name)
{
    for (size_t i = 0; i < probes->count; i++)
        if (strcmp(probes->items[i].name, name) == 0)
            return true;
    return false;
}

/* *ret_only is NULL for all; the strings belong to the arguments. */
static int choose(const json_t *given, const struct ck_probes *probes, const char ***ret_only,
                  struct choke_error *error)
{
    const char **only = given ? calloc(json_array_size(given) + 1, sizeof(*only)) : NULL;

    *ret_only = only;
    if (!given)
        return 0;
    if (!only)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    for (size_t i = 0; i < json_array_size(given); i++) {
        only[i] = json_string_value(json_array_get(given, i));
        if (!is_probe(probes, only[i]))
            return ck_text_error(error, CHOKE_INVALID, EINVAL,
                                 "unknown probe '%s'; without 'only' the document names all of them",
                                 CK_QUOTE(only[i]));
    }
    return 0;
}

static json_t *coordinate(struct ck_mcp_task *task, struct ck_mcp_call *call, struct choke_context *context,
                          const struct ck_probes *probes)
{
    const struct ck_mcp_options *options = call->server->options;
    const json_t *seconds = json_object_get(call->arguments, "timeout_s");
    struct ck_gathering gathering = {0};
    struct choke_error error = {0};
    char name[CK_MCP_AREA_NAME_MAX];
    const char **only = NULL;
    json_t *answer;

    /* The area is held with O_PATH; the walk reads the directory. */
    CK_FD root_fd = openat(call->area.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = choose(json_object_get(call->arguments, "only"), probes, &only, &error);
    if (r == 0 && root_fd < 0)
        r = ck_text_error(&error, CHOKE_CWD, errno, "cannot read the root: %s", strerror(errno));
    const struct ck_coordinate_options how = {
        .context = context,
        .stop = {task->stop_fd, take_stop, task},
        .probes = probes,
        .only = only,
        .root = call->area.path,
        .root_fd = root_fd,
        .call_root = ck_mcp_area_name(&call->area, name),
        .jail = options->jail,
        .require_jail = options->require_jail,
        .jobs = JOBS,
        .timeout_ms = seconds ? (uint64_t)(json_number_value(seconds) * 1000.0 + 0.999) : CHOKE_TIMEOUT_FROM_POLICY,
        .keep_fd = -1,
        .table_fd = -1,
        .on_round = report_round,
        .round_data = task,
    };
    if (r == 0)
        r = ck_coordinate(&how, &gathering, &error);
    gathering.document = DOCUMENT_URI;
    answer = r < 0 ? refuse(call, &error) : answer_of(call, &gathering);
    ck_gather_done(&gathering);
    free(only);
    return answer;
}

static json_t *work(struct ck_mcp_task *task, void *data)
{
    struct ck_mcp_call *call = data;
    struct choke_options context_options = call->server->options->context;
    struct choke_context *context = NULL;
    struct ck_probes probes = {0};
    struct choke_error error = {0};

    context_options.on_event = NULL;
    int r = ck_probes_load(NULL, NULL, &probes, &error);
    if (r == 0)
        r = choke_context_new(&context_options, &context, &error);
    json_t *answer = r < 0 ? refuse(call, &error) : coordinate(task, call, context, &probes);
    choke_context_free(context);
    ck_probes_done(&probes);
    return answer;
}

const struct ck_mcp_tool ck_mcp_tool_gather = {.name = "gather", .is_rooted = true, .work = work, .refuse = refuse};
