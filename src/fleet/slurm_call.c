/* slurm_call.c - see slurm_call.h. */
#include "fleet/slurm_call.h"

#include "base/fd.h"
#include "base/heap.h"
#include "base/quote.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGUMENTS_MAX 32
#define WORD_SIZE 160
#define CANCEL_MAX 24 /* tasks of one scancel */
#define OUTPUT_BYTES ((size_t)16 << 20)
#define JOB_PREFIX "chokepoint-"

struct arguments {
    const char *argv[ARGUMENTS_MAX + 1];
    char words[ARGUMENTS_MAX][WORD_SIZE];
    size_t count;
};

static void add(struct arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A word that does not fit is cut: only options of the user can be that long, and Slurm refuses them. */
static void add(struct arguments *arguments, const char *format, ...)
{
    va_list values;

    if (arguments->count == ARGUMENTS_MAX)
        return;
    va_start(values, format);
    (void)vsnprintf(arguments->words[arguments->count], WORD_SIZE, format, values);
    va_end(values);
    arguments->argv[arguments->count] = arguments->words[arguments->count];
    arguments->count++;
}

int ck_slurm_open(struct ck_slurm *slurm, bool make, struct choke_error *error)
{
    int length = snprintf(slurm->root, sizeof(slurm->root), "%s/slurm", slurm->area->path);

    slurm->fd = -1;
    if (length < 0 || (size_t)length >= sizeof(slurm->root))
        return ck_text_error(error, CHOKE_INVALID, ENAMETOOLONG, "the path of the directory is too long");
    if (make && mkdirat(slurm->area->fd, "slurm", 0700) < 0 && errno != EEXIST)
        return ck_text_error(error, CHOKE_NONE, errno, "cannot make '%s': %s", CK_TEXT_SAFE(slurm->root),
                             strerror(errno));
    slurm->fd = openat(slurm->area->fd, "slurm", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (slurm->fd >= 0)
        return 0;
    return ck_text_error(error, CHOKE_NONE, errno, "cannot open '%s': %s", CK_TEXT_SAFE(slurm->root), strerror(errno));
}

void ck_slurm_close(struct ck_slurm *slurm)
{
    ck_fd_close(&slurm->fd);
}

/* ---- one call ---- */

static int report(const char *tool, const struct choke_result *result, struct choke_error *error)
{
    char line[CK_TEXT_SAFE_MAX] = "";

    if (result->outcome == CHOKE_EXITED && result->exit_code == 0)
        return 0;
    if (result->outcome == CHOKE_DISALLOWED)
        return ck_text_error(error, CHOKE_DISALLOWED, EPERM,
                             "the policy does not allow '%s': %s; a policy with this line does:\n"
                             "catalog: [sbatch, scancel, scontrol, squeue]",
                             tool, result->error.message);
    if (result->outcome != CHOKE_EXITED)
        return ck_text_error(error, result->outcome, EIO, "%s: %s: %s", tool, choke_outcome_name(result->outcome),
                             result->error.message);
    (void)ck_quote_last_line(CK_QUOTE_SHOWN, line, sizeof(line), result->err.data, result->err.length);
    return ck_text_error(error, CHOKE_EXITED, EIO, "%s exited with %d: %s", tool, result->exit_code, line);
}

/* *ret_out: what it printed; NULL: not wanted. The caller frees it. */
static int call(struct ck_slurm *slurm, const struct arguments *arguments, char **ret_out, struct choke_error *error)
{
    const char *configuration = secure_getenv("SLURM_CONF");
    char variable[PATH_MAX + 16];
    const char *const env[] = {configuration ? variable : NULL, NULL};
    const struct choke_request request = {
        .argv = arguments->argv,
        .root = slurm->root,
        .cwd = ".",
        .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY,
        .env = env,
        .max_output_bytes = OUTPUT_BYTES,
        .struct_size = sizeof(request),
    };
    struct choke_job *job = NULL;

    (void)snprintf(variable, sizeof(variable), "SLURM_CONF=%s", configuration ? configuration : "");
    int r = choke_start(slurm->context, &request, &job, error);
    if (r == 0)
        r = ck_session_wait(slurm->session, slurm->context, job, error);
    const struct choke_result *result = r == 0 ? choke_job_result(job) : NULL;
    if (result)
        r = report(arguments->argv[0], result, error);
    if (r == 0 && result && ret_out) {
        *ret_out = strndup(result->out.data ? result->out.data : "", result->out.length);
        r = *ret_out ? 0 : ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    }
    while (choke_next(slurm->context))
        ;
    choke_job_free(job);
    return r;
}

/* ---- the calls ---- */

int ck_slurm_check(struct ck_slurm *slurm, struct choke_error *error)
{
    static const char *const tools[] = {"sbatch", "squeue", "scancel", "scontrol"};

    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        struct choke_tool_info info;
        bool found = false;
        for (size_t at = 0; !found && choke_tool(slurm->context, at, &info); at++)
            found = strcmp(info.name, tools[i]) == 0;
        if (!found)
            return ck_text_error(error, CHOKE_DISALLOWED, EPERM,
                                 "the policy does not have '%s', which the engine slurm needs; a policy with this "
                                 "line does (--policy):\ncatalog: [sbatch, scancel, scontrol, squeue]",
                                 tools[i]);
    }
    return 0;
}

int ck_slurm_array_max(struct ck_slurm *slurm, unsigned *ret_max, struct choke_error *error)
{
    CK_HEAP char *text = NULL;
    struct arguments arguments = {0};

    add(&arguments, "scontrol");
    add(&arguments, "show");
    add(&arguments, "config");
    int r = call(slurm, &arguments, &text, error);
    if (r < 0)
        return r;
    const char *line = strstr(text, "\nMaxArraySize");
    if (!line || sscanf(line, "\nMaxArraySize = %u", ret_max) != 1 || *ret_max == 0)
        return ck_text_error(error, CHOKE_NONE, EINVAL, "scontrol does not print MaxArraySize; are arrays allowed?");
    return 0;
}

/* False: the line is not of this fleet. */
static bool parse_live(const struct ck_slurm *slurm, const char *line, struct ck_slurm_live *ret_live)
{
    char prefix[sizeof(JOB_PREFIX) + CK_FLEET_ID_SIZE + 1], name[WORD_SIZE], reason[WORD_SIZE];

    (void)snprintf(prefix, sizeof(prefix), JOB_PREFIX "%s-", slurm->area->id);
    if (sscanf(line, "%lu %lu %159s %159s", &ret_live->job, &ret_live->task, name, reason) != 4 ||
        strncmp(name, prefix, strlen(prefix)) != 0)
        return false;
    ret_live->delayed = strcmp(reason, "BeginTime") == 0;
    return sscanf(name + strlen(prefix), "%u", &ret_live->submission) == 1;
}

int ck_slurm_list(struct ck_slurm *slurm, struct ck_slurm_lives *ret_lives, struct choke_error *error)
{
    CK_HEAP char *text = NULL;
    struct arguments arguments = {0};

    *ret_lives = (struct ck_slurm_lives){0};
    add(&arguments, "squeue");
    add(&arguments, "--me");
    add(&arguments, "--noheader");
    add(&arguments, "--array");
    add(&arguments, "--format=%%F %%K %%j %%r");
    int r = call(slurm, &arguments, &text, error);
    if (r < 0)
        return r;
    size_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    ret_lives->items = calloc(lines, sizeof(*ret_lives->items));
    if (!ret_lives->items)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        ret_lives->count += parse_live(slurm, line, &ret_lives->items[ret_lives->count]);
    }
    return 0;
}

int ck_slurm_submit(struct ck_slurm *slurm, unsigned submission, size_t tasks, const struct ck_slurm_limits *limits,
                    unsigned long *ret_job, struct choke_error *error)
{
    CK_HEAP char *text = NULL;
    struct arguments arguments = {0};

    add(&arguments, "sbatch");
    add(&arguments, "--parsable");
    add(&arguments, "--requeue");
    add(&arguments, "--export=HOME,PATH");
    add(&arguments, "--open-mode=append");
    add(&arguments, "--output=%u.log", submission);
    add(&arguments, "--array=0-%zu", tasks - 1);
    add(&arguments, "--job-name=" JOB_PREFIX "%s-%u", slurm->area->id, submission);
    if (limits->time_minutes > 0)
        add(&arguments, "--time=%u", limits->time_minutes);
    if (limits->memory_mib > 0)
        add(&arguments, "--mem=%uM", limits->memory_mib);
    if (limits->processors > 0)
        add(&arguments, "--cpus-per-task=%u", limits->processors);
    if (limits->partition)
        add(&arguments, "--partition=%s", limits->partition);
    if (limits->charged)
        add(&arguments, "--account=%s", limits->charged);
    if (limits->qos)
        add(&arguments, "--qos=%s", limits->qos);
    add(&arguments, "%u.sh", submission);
    int r = call(slurm, &arguments, &text, error);
    if (r == 0 && sscanf(text, "%lu", ret_job) != 1)
        r = ck_text_error(error, CHOKE_NONE, EINVAL, "sbatch did not print the number of the job");
    return r;
}

int ck_slurm_cancel(struct ck_slurm *slurm, const struct ck_slurm_lives *lives, bool delayed_only,
                    struct choke_error *error)
{
    size_t at = 0;
    int r = 0;

    while (r == 0 && at < lives->count) {
        struct arguments arguments = {0};
        add(&arguments, "scancel");
        add(&arguments, "--quiet");
        for (; at < lives->count && arguments.count < CANCEL_MAX; at++) {
            const struct ck_slurm_live *live = &lives->items[at];
            if (live->delayed || !delayed_only)
                add(&arguments, "%lu_%lu", live->job, live->task);
        }
        if (arguments.count > 2)
            r = call(slurm, &arguments, NULL, error);
    }
    return r;
}
