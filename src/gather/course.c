/*
 * course.c - see course.h.
 *
 * The jobs of a probe are kept until its answers are read, for the answers are the captured bytes themselves; and longer
 * where another probe wants one of them as its input.
 */
#include "gather/course.h"

#include "cli/text.h"
#include "gather/account.h"
#include "gather/kept.h"
#include "gather/prepare.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REASON_MAX 512
#define HELD_BYTES_MAX ((size_t)128 << 20) /* of all answers of a probe */

uint64_t ck_terrain_now(const struct ck_terrain *terrain)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000 - terrain->start_us;
}

/* ---- how it ends ---- */

static void forget_kept(struct ck_course *course)
{
    for (size_t i = 0; i < CK_PROBE_CALLS_MAX; i++)
        ck_temporary_remove(&course->kept[i]);
}

void ck_course_end(struct ck_course *course, enum ck_state state, const char *format, ...)
{
    struct ck_probe_report *report = course->report;
    char words[REASON_MAX];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    report->state = state;
    report->reason = words[0] != '\0' ? strdup(words) : NULL;
    if (report->started_us != 0)
        report->ended_us = ck_terrain_now(course->terrain);
    if (course->prepares)
        ck_preparation_find(report->probe->prepare)->end(course->prepared);
    course->prepares = false;
    forget_kept(course);
    if (state != CK_STATE_OK)
        ck_course_drop(course);
}

void ck_course_drop(struct ck_course *course)
{
    for (size_t i = 0; i < CK_PROBE_CALLS_MAX; i++) {
        choke_job_free(course->jobs[i]);
        course->jobs[i] = NULL;
    }
}

void ck_course_done(struct ck_course *course)
{
    if (course->prepares)
        ck_preparation_find(course->report->probe->prepare)->end(course->prepared);
    course->prepares = false;
    forget_kept(course);
    ck_course_drop(course);
}

static void end_missing(struct ck_course *course, const char *tool, const char *message)
{
    struct choke_tool_info info;

    for (size_t i = 0; choke_tool(course->terrain->context, i, &info); i++)
        if (strcmp(info.name, tool) == 0 && info.install)
            course->report->install = strdup(info.install);
    ck_course_end(course, CK_STATE_TOOL_MISSING, "%s", message);
}

static void end_failed(struct ck_course *course, const struct choke_error *error)
{
    const struct ck_probe *probe = course->report->probe;

    if (error->outcome == CHOKE_TOOL_MISSING)
        end_missing(course, probe->tool, error->message);
    else
        ck_course_end(course, CK_STATE_FAILED, "%s", error->message);
}

/* ---- what was answered ---- */

static size_t collect_answers(const struct ck_course *course, struct ck_answer answers[CK_PROBE_CALLS_MAX])
{
    for (size_t i = 0; i < course->answered; i++) {
        answers[i] = (struct ck_answer){.id = course->report->probe->calls[i].id, .out = "", .err = "", .kept_fd = -1};
        if (!course->jobs[i])
            continue; /* it was left out */
        const struct choke_result *result = choke_job_result(course->jobs[i]);
        answers[i] = (struct ck_answer){
            .id = course->report->probe->calls[i].id,
            .exit_code = result->exit_code,
            .out = result->out.data,
            .out_length = result->out.length,
            .out_truncated = result->out.truncated,
            .err = result->err.data,
            .err_length = result->err.length,
            .kept_fd = course->kept[i].path[0] != '\0' ? course->kept[i].fd : -1,
        };
    }
    return course->answered;
}

static void read_answers(struct ck_course *course)
{
    struct ck_answer answers[CK_PROBE_CALLS_MAX];
    struct choke_error error = {0};
    const struct ck_evidence_kind *kind = ck_evidence_find(course->report->probe->output);
    size_t count = collect_answers(course, answers);

    if (kind->read(answers, count, &course->report->evidence, &error) < 0)
        ck_course_end(course, CK_STATE_FAILED, "%s", error.message);
    else
        ck_course_end(course, CK_STATE_OK, "%s", "");
}

/* ---- one call ---- */

static struct ck_course *find(const struct ck_terrain *terrain, const char *name)
{
    for (size_t i = 0; i < terrain->count; i++)
        if (strcmp(terrain->courses[i].report->probe->name, name) == 0)
            return &terrain->courses[i];
    return NULL;
}

/* What another probe printed; NULL where the beginning of it is lost. */
static const struct choke_capture *find_input(const struct ck_course *course, const struct ck_probe_stdin *input)
{
    const struct ck_course *other = find(course->terrain, input->probe);

    for (size_t i = 0; other && i < other->answered; i++)
        if (strcmp(other->report->probe->calls[i].id, input->call) == 0 && other->jobs[i]) {
            const struct choke_capture *out = &choke_job_result(other->jobs[i])->out;
            return out->truncated ? NULL : out;
        }
    return NULL;
}

static int set_stdin(const struct ck_course *course, const struct ck_turn *turn, struct choke_request *request,
                     struct choke_error *error)
{
    const struct ck_probe_stdin *input = &turn->call->input;

    if (turn->stdin_fd >= 0) {
        request->stdin_kind = CHOKE_STDIN_FD;
        request->stdin_fd = turn->stdin_fd;
    } else if (input->text) {
        request->stdin_kind = CHOKE_STDIN_BYTES;
        request->stdin_bytes = input->text;
        request->stdin_length = strlen(input->text);
    } else if (input->probe) {
        const struct choke_capture *out = find_input(course, input);
        if (!out)
            return ck_text_error(error, CHOKE_NONE, EFBIG, "what '%s' printed is too large to be handed on",
                                 input->probe);
        request->stdin_kind = CHOKE_STDIN_BYTES;
        request->stdin_bytes = out->data;
        request->stdin_length = out->length;
    }
    return 0;
}

static uint64_t timeout_of(const struct ck_course *course, const struct ck_probe_call *call)
{
    unsigned seconds = call->timeout_s != 0 ? call->timeout_s : course->report->probe->timeout_s;

    if (course->terrain->timeout_ms != CHOKE_TIMEOUT_FROM_POLICY)
        return course->terrain->timeout_ms;
    return seconds != 0 ? (uint64_t)seconds * 1000 : CHOKE_TIMEOUT_FROM_POLICY;
}

static int start(struct ck_course *course, size_t at, const struct ck_turn *turn, struct choke_error *error)
{
    const struct ck_terrain *terrain = course->terrain;
    const struct ck_probe *probe = course->report->probe;
    size_t most = (size_t)probe->max_output_mib << 20;
    struct choke_request request = {
        .argv = turn->argv,
        .root = turn->root,
        .cwd = ".",
        .timeout_ms = timeout_of(course, turn->call),
        .probe = probe->name,
        .egress = probe->egress,
        .stdin_fd = -1,
        .max_output_bytes = most < terrain->output_bytes ? most : terrain->output_bytes,
    };
    int r = set_stdin(course, turn, &request, error);
    if (r == 0 && turn->call->keeps) {
        r = ck_temporary_make(CK_TEMPORARY_KEPT, &course->kept[at]);
        if (r < 0)
            return ck_text_error(error, CHOKE_NONE, -r, "there is no place to keep what it writes: %s", strerror(-r));
        request.keep_path = course->kept[at].path;
    }
    if (r == 0)
        r = choke_start(terrain->context, &request, &course->jobs[at], error);
    if (r == 0)
        choke_job_set_data(course->jobs[at], course);
    return r;
}

static int prepare(struct ck_course *course, struct ck_turn *turn, struct choke_error *error)
{
    struct ck_answer answers[CK_PROBE_CALLS_MAX];
    const char *name = course->report->probe->prepare;
    const struct ck_preparation *preparation = name ? ck_preparation_find(name) : NULL;

    if (!preparation)
        return 0;
    if (!course->prepares) {
        int r = preparation->begin(course->terrain->context, &course->prepared, error);
        if (r < 0)
            return r;
        course->prepares = true;
    }
    return preparation->turn(course->prepared, answers, collect_answers(course, answers), turn, error);
}

static void proceed(struct ck_course *course);

static void next_call(struct ck_course *course)
{
    size_t at = course->answered;
    struct ck_probe_report *report = course->report;
    const struct ck_probe_call *call = &report->probe->calls[at];
    struct ck_turn turn = {.call = call, .root = course->terrain->root, .stdin_fd = -1};
    struct choke_error error = {0};
    char **argv = ck_account_fill(call, course->matches);

    turn.argv = (const char *const *)argv;
    int r = argv ? prepare(course, &turn, &error) : ck_text_error(&error, CHOKE_NONE, ENOMEM, "out of memory");
    if (r == 0 && !turn.needless)
        r = ck_account_call(report, call, turn.told ? turn.told : turn.argv, &error);
    if (r == 0 && !turn.needless)
        r = start(course, at, &turn, &error);
    ck_account_free(argv);
    if (r < 0)
        end_failed(course, &error);
    else if (turn.needless)
        proceed(course);
}

void ck_course_begin(struct ck_course *course)
{
    course->report->state = CK_STATE_RUNNING;
    course->report->started_us = ck_terrain_now(course->terrain) + 1; /* 0 is for those that did not run */
    next_call(course);
}

static bool is_answer(const struct ck_probe_call *call, int status)
{
    for (unsigned i = 0; i < call->may_fail_count; i++)
        if (call->may_fail[i] == status)
            return true;
    return status == 0;
}

static void end_with_status(struct ck_course *course, const struct ck_probe_call *call,
                            const struct choke_result *result)
{
    char line[CK_TEXT_SAFE_MAX];

    ck_account_line(line, result->err.data, result->err.length);
    ck_course_end(course, CK_STATE_FAILED, "%s: status %d%s%s", CK_TEXT_SAFE(call->argv[0]), result->exit_code,
                  line[0] != '\0' ? ": " : "", line);
}

/* A call that gave no answer. */
static void end_by(struct ck_course *course, const struct ck_probe_call *call, const struct choke_result *result)
{
    const char *tool = call->tool ? call->tool : course->report->probe->tool;

    switch (result->outcome) {
    case CHOKE_EXITED:
        end_with_status(course, call, result);
        break;
    case CHOKE_SIGNALED:
        ck_course_end(course, CK_STATE_FAILED, "%s: ended by signal %d%s%s", CK_TEXT_SAFE(tool), result->signal,
                      result->limit_hit ? ", limit " : "", result->limit_hit ? result->limit_hit : "");
        break;
    case CHOKE_TIMEOUT:
        ck_course_end(course, CK_STATE_TIMEOUT, "%s", result->error.message);
        break;
    case CHOKE_CANCELLED:
        ck_course_end(course, course->terrain->cancelled ? CK_STATE_CANCELLED : CK_STATE_FAILED, "%s",
                      result->error.message);
        break;
    case CHOKE_TOOL_MISSING:
        end_missing(course, tool, result->error.message);
        break;
    case CHOKE_SPAWN_FAILED:
        ck_course_end(course, CK_STATE_FAILED, "%s", result->error.message);
        break;
    case CHOKE_NONE:
    case CHOKE_DISALLOWED:
    case CHOKE_INVALID:
    case CHOKE_CWD:
    case CHOKE_ENV_FORBIDDEN:
    case CHOKE_JAIL_UNAVAILABLE:
    case CHOKE_POLICY:
        ck_course_end(course, CK_STATE_REFUSED, "%s", result->error.message);
        break;
    }
}

static void keep_output(const struct ck_course *course, const struct ck_probe_call *call,
                        const struct choke_result *result)
{
    char name[CK_KEPT_NAME_MAX];

    if (course->terrain->keep_fd < 0 || result->tool_path == NULL)
        return;
    (void)snprintf(name, sizeof(name), "%s.%s.out", course->report->probe->name, call->id);
    int r = ck_draft_write(course->terrain->keep_fd, name, result->out.data, result->out.length);
    if (course->terrain->keep_error == 0)
        course->terrain->keep_error = r;
}

static size_t held_bytes(const struct ck_course *course)
{
    size_t sum = 0;
    for (size_t i = 0; i < course->answered; i++)
        if (course->jobs[i])
            sum += choke_job_result(course->jobs[i])->out.length + choke_job_result(course->jobs[i])->err.length;
    return sum;
}

void ck_course_take(struct ck_course *course, struct choke_job *job)
{
    const struct choke_result *result = choke_job_result(job);
    const struct ck_probe_call *call = &course->report->probe->calls[course->answered];

    ck_account_result(&course->report->calls[course->report->call_count - 1], result);
    keep_output(course, call, result);
    if (result->outcome != CHOKE_EXITED || !is_answer(call, result->exit_code)) {
        end_by(course, call, result);
        return;
    }
    proceed(course);
}

/* The call has its answer. */
static void proceed(struct ck_course *course)
{
    course->answered++;
    if (course->answered == course->report->probe->call_count)
        read_answers(course);
    else if (course->terrain->cancelled)
        ck_course_end(course, CK_STATE_CANCELLED, "%s", "cancelled between two calls");
    else if (held_bytes(course) > HELD_BYTES_MAX)
        ck_course_end(course, CK_STATE_FAILED, "its calls printed more than %zu MiB together", HELD_BYTES_MAX >> 20);
    else
        next_call(course);
}
