/*
 * calls.c - all calls of the server: which may start, what has ended, what is cancelled.
 *
 * Calls start in the order of their arrival. A bounded number runs at the same time, and a bounded
 * number waits; one more is refused, so that cancellations are still read. Jobs of the library end
 * through choke_next, tasks through their eventfd.
 */
#include "base/clock.h"
#include "base/quote.h"
#include "front/text.h"
#include "mcp/schema.h"
#include "mcp/tool.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS_MAX 16   /* runs at the same time */
#define TASKS_MAX 2   /* threads at the same time; also those of cancelled calls that have not ended */
#define CALLS_MAX 128 /* all calls, waiting ones included */
#define GAP_MS 20 /* between progress and answer: one client loses progress that it reads together with the answer */

/* ---- the list ---- */

static struct ck_mcp_call *find_call(const struct ck_mcp_server *server, const json_t *id)
{
    for (struct ck_mcp_call *call = server->calls; call; call = call->next)
        if (!call->cancelled && json_equal(call->id, id))
            return call;
    return NULL;
}

bool ck_mcp_calls_has(const struct ck_mcp_server *server, const json_t *id)
{
    return find_call(server, id);
}

/* Returns 0, or -1 and *fault if there are too many. */
static int append(struct ck_mcp_server *server, struct ck_mcp_call *call, struct ck_mcp_fault *fault)
{
    struct ck_mcp_call **end = &server->calls;
    size_t count = 0;

    for (; *end; end = &(*end)->next)
        count++;
    if (!call)
        return ck_mcp_fault_set(fault, CK_MCP_INTERNAL_ERROR, "out of memory");
    if (count < CALLS_MAX) {
        *end = call;
        return 0;
    }
    ck_mcp_call_free(call);
    return ck_mcp_fault_set(fault, CK_MCP_BUSY, "%d calls are not answered yet; wait for one of them", CALLS_MAX);
}

int ck_mcp_calls_listen(struct ck_mcp_server *server, const struct ck_mcp_message *message, json_t *accepted,
                        struct ck_mcp_fault *fault)
{
    struct ck_mcp_call *call = ck_mcp_call_new(server, message);

    if (append(server, call, fault) < 0)
        return -1;
    json_decref(call->arguments);
    call->arguments = json_incref(accepted);
    return 0;
}

/* ---- arrival ---- */

static const char *cwd_of(const struct ck_mcp_call *call)
{
    return json_string_value(json_object_get(call->arguments, "cwd"));
}

/* Of a modern call the area is known now, or its roots are asked for by *ret_question. */
static int prepare(struct ck_mcp_call *call, const struct ck_mcp_message *message, json_t **ret_question,
                   struct choke_error *error)
{
    int r = ck_mcp_schema_check(ck_mcp_tool_schema(call->server, call->tool), call->arguments, error);
    struct choke_error ignored;

    /* For the nearest call of the refusal. */
    if (r < 0 && call->tool->is_rooted)
        (void)ck_mcp_area_choose(&call->server->areas, &call->server->root, NULL, &call->area, &ignored);
    if (r < 0 || call->era == CK_MCP_LEGACY || !call->tool->is_rooted)
        return r;
    if (ck_mcp_roots_choose(call->server, message, cwd_of(call), &call->area, ret_question, error))
        return call->area.fd >= 0 ? 0 : -EINVAL;
    return 0;
}

json_t *ck_mcp_calls_accept(struct ck_mcp_server *server, const struct ck_mcp_message *message,
                            struct ck_mcp_fault *fault)
{
    const char *name = ck_mcp_message_text(message, "name");
    const struct ck_mcp_tool *tool = name ? ck_mcp_tool_find(name) : NULL;
    struct choke_error error = {0};
    json_t *question = NULL;

    if (!tool) {
        (void)ck_mcp_fault_set(fault, CK_MCP_INVALID_PARAMS,
                               "unknown tool '%s'; the tools are run, explain, tools, "
                               "gather and lint",
                               name ? CK_QUOTE(name) : "");
        return NULL;
    }
    struct ck_mcp_call *call = ck_mcp_call_new(server, message);
    if (append(server, call, fault) < 0)
        return NULL;
    call->tool = tool;
    if (prepare(call, message, &question, &error) < 0)
        ck_mcp_call_end(call, tool->refuse(call, &error));
    else if (question)
        ck_mcp_call_end(call, question);
    return NULL;
}

void ck_mcp_calls_cancel(struct ck_mcp_server *server, const json_t *id)
{
    struct ck_mcp_call *call = id ? find_call(server, id) : NULL;

    /* NULL: it is answered already, or never existed. Both are ignored. */
    if (call)
        ck_mcp_call_cancel(call);
}

/* ---- starting ---- */

/* Legacy: when the call starts, so that roots that arrived meanwhile count. */
static int choose_area(struct ck_mcp_call *call, struct choke_error *error)
{
    if (!call->tool->is_rooted || call->area.fd >= 0)
        return 0;
    return ck_mcp_area_choose(&call->server->areas, &call->server->root, cwd_of(call), &call->area, error);
}

static void start(struct ck_mcp_call *call)
{
    struct choke_error error = {0};

    call->state = CK_MCP_CALL_RUNNING;
    call->started_ms = ck_clock_now_ms();
    if (choose_area(call, &error) < 0) {
        ck_mcp_call_end(call, call->tool->refuse(call, &error));
    } else if (call->tool->answer) {
        ck_mcp_call_end(call, call->tool->answer(call));
    } else if (call->tool->start) {
        call->progress_due_ms = call->started_ms + 1;
        call->tool->start(call);
    } else {
        call->task = ck_mcp_task_start(call->server->wake_fd, call->tool->work, call);
        if (call->task)
            return;
        (void)ck_text_error(&error, CHOKE_SPAWN_FAILED, EAGAIN, "cannot start a thread; try again");
        ck_mcp_call_end(call, call->tool->refuse(call, &error));
    }
}

static void start_ready(struct ck_mcp_server *server)
{
    size_t jobs = 0, tasks = 0;

    for (const struct ck_mcp_call *call = server->calls; call; call = call->next) {
        jobs += call->job ? 1 : 0;
        tasks += call->task ? 1 : 0;
    }
    for (struct ck_mcp_call *call = server->calls; call; call = call->next) {
        bool is_free = !call->tool || call->tool->answer || (call->tool->start ? jobs < JOBS_MAX : tasks < TASKS_MAX);
        if (call->state != CK_MCP_CALL_WAITING || !call->tool || !is_free)
            continue;
        if (call->era == CK_MCP_LEGACY && call->tool->is_rooted && ck_mcp_roots_pending(server))
            continue;
        start(call);
        jobs += call->job ? 1 : 0;
        tasks += call->task ? 1 : 0;
    }
}

/* ---- endings ---- */

/* A refused job has ended from the start and comes out here too. */
static void take_jobs(struct ck_mcp_server *server)
{
    struct choke_error error;
    struct choke_job *job;

    if (choke_dispatch(server->context, &error) < 0)
        return;
    while ((job = choke_next(server->context))) {
        struct ck_mcp_call *call = choke_job_data(job);
        ck_mcp_run_ended(call, choke_job_result(job));
        choke_job_free(job);
        call->job = NULL;
    }
}

static void keep_document(struct ck_mcp_call *call)
{
    if (!call->document || call->cancelled)
        return;
    free(call->server->gather_document);
    call->server->gather_document = call->document;
    call->document = NULL;
    ck_mcp_resource_gathered(call->server);
}

static void take_tasks(struct ck_mcp_server *server)
{
    uint64_t count;

    /* Emptied first: a task that ends now wakes the loop again. */
    (void)!read(server->wake_fd, &count, sizeof(count));
    for (struct ck_mcp_call *call = server->calls; call; call = call->next) {
        if (!call->task)
            continue;
        struct ck_mcp_task_view view = ck_mcp_task_look(call->task);
        if (view.total > 0 && ck_clock_now_ms() >= call->progress_due_ms)
            ck_mcp_call_progress(call, view.progress, view.total, "probes have ended");
        if (!view.done)
            continue;
        ck_mcp_call_end(call, ck_mcp_task_finish(call->task));
        call->task = NULL;
        keep_document(call);
    }
}

/* A run has no steps: its progress is its time. */
static void send_progress(struct ck_mcp_server *server)
{
    uint64_t now_ms = ck_clock_now_ms();

    for (struct ck_mcp_call *call = server->calls; call; call = call->next) {
        char message[64];

        if (!call->job || !call->token || now_ms < call->progress_due_ms)
            continue;
        (void)snprintf(message, sizeof(message), "running; %llu bytes of output",
                       (unsigned long long)call->output_bytes);
        ck_mcp_call_progress(call, (double)(now_ms - call->started_ms) / 1000.0,
                             (double)choke_job_timeout_ms(call->job) / 1000.0, message);
    }
}

static bool is_in_gap(const struct ck_mcp_call *call)
{
    return call->progress_ms != 0 && !call->cancelled && ck_clock_now_ms() < call->progress_ms + GAP_MS;
}

/* Sends the answers of ended calls and frees these. */
static void answer_ended(struct ck_mcp_server *server)
{
    for (struct ck_mcp_call **at = &server->calls; *at;) {
        struct ck_mcp_call *call = *at;

        if (call->state != CK_MCP_CALL_ENDED || call->job || call->task || is_in_gap(call)) {
            at = &call->next;
            continue;
        }
        if (!call->cancelled) {
            ck_mcp_reply(server, call->era, call->id, call->answer, CK_MCP_NOT_CACHED);
            call->answer = NULL;
        }
        *at = call->next;
        ck_mcp_call_free(call);
    }
}

void ck_mcp_calls_advance(struct ck_mcp_server *server)
{
    start_ready(server);
    take_jobs(server);
    take_tasks(server);
    send_progress(server);
    answer_ended(server);
    /* An ended call makes room for another one. */
    start_ready(server);
}

static uint64_t sooner(uint64_t due_ms, uint64_t other_ms)
{
    return other_ms != 0 && other_ms < due_ms ? other_ms : due_ms;
}

int ck_mcp_calls_wait_ms(const struct ck_mcp_server *server)
{
    uint64_t now_ms = ck_clock_now_ms(), due_ms = UINT64_MAX;

    for (const struct ck_mcp_call *call = server->calls; call; call = call->next) {
        if (call->state == CK_MCP_CALL_ENDED)
            due_ms = sooner(due_ms, call->progress_ms + GAP_MS);
        else if (call->token && (call->job || call->task))
            due_ms = sooner(due_ms, call->progress_due_ms);
        /* Started by start_ready, and not answered yet. */
        if (call->state == CK_MCP_CALL_ENDED && call->progress_ms == 0 && !call->job && !call->task)
            return 0;
        if (call->state == CK_MCP_CALL_WAITING && server->roots_state == CK_MCP_ROOTS_ASKED)
            due_ms = sooner(due_ms, server->roots_deadline_ms);
    }
    if (due_ms == UINT64_MAX)
        return -1;
    return due_ms <= now_ms ? 0 : (int)(due_ms - now_ms < 1000 ? due_ms - now_ms : 1000);
}

bool ck_mcp_calls_stop(struct ck_mcp_server *server, int wait_ms)
{
    uint64_t end_ms = ck_clock_now_ms() + (uint64_t)wait_ms;

    for (struct ck_mcp_call *call = server->calls; call; call = call->next)
        ck_mcp_call_cancel(call);
    for (uint64_t now_ms; server->calls && (now_ms = ck_clock_now_ms()) < end_ms;) {
        struct pollfd fds[] = {{.fd = choke_fd(server->context), .events = POLLIN},
                               {.fd = server->wake_fd, .events = POLLIN}};
        take_jobs(server);
        take_tasks(server);
        for (struct ck_mcp_call *call = server->calls; call; call = call->next)
            call->state = CK_MCP_CALL_ENDED;
        answer_ended(server);
        if (server->calls)
            (void)poll(fds, 2, (int)(end_ms - now_ms));
    }
    return !server->calls;
}
