/*
 * work.c - what one task of a cluster does; see fleet.h. It needs the directory and nothing else:
 * settings, probes, policy and names are there.
 */
#include "fleet/fleet.h"
#include "fleet/machine.h"
#include "fleet/pool.h"
#include "fleet/setup.h"
#include "fleet/submission.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define LOST_MAX 3 /* tasks that ended with a repository; then it is a failure */

struct worker_process {
    const struct ck_fleet_work *work;
    struct ck_fleet_area area;
    struct ck_fleet_list list; /* of the whole fleet */
    struct ck_submission submission;
    struct ck_fleet_task task;
    char policy_path[PATH_MAX], probes_path[PATH_MAX];
    const struct ck_fleet_entry **entries; /* of this task */
    size_t count;
};

static bool is_gone(void *data, const char *holder)
{
    return ck_submission_is_gone(data, holder);
}

static int read_submission(struct worker_process *process, struct choke_error *error)
{
    int slurm_fd = openat(process->area.fd, "slurm", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r = slurm_fd < 0 ? -errno : ck_submission_read(slurm_fd, process->work->submission, &process->submission);

    if (slurm_fd >= 0)
        (void)close(slurm_fd);
    return r == 0 ? 0
                  : ck_text_error(error, CHOKE_INVALID, -r, "cannot read '%s/slurm/%u.json': %s",
                                  CK_TEXT_SAFE(process->area.path), process->work->submission, strerror(-r));
}

/*
 * Each process of one task has another name: that is how those that ended with a repository are counted. Slurm says how often it
 * started a task again; Kubernetes does not.
 */
static void name_process(const struct ck_fleet_work *work, char dst[24])
{
    uint64_t number = 0;

    if (work->submission > 0 || getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        (void)snprintf(dst, 24, "%u", work->restarts);
    else
        (void)snprintf(dst, 24, "%016llx", (unsigned long long)number);
}

static void fill_task(struct worker_process *process)
{
    const struct ck_fleet_work *work = process->work;
    struct ck_fleet_task *task = &process->task;
    char index[24], process_id[24];

    (void)snprintf(index, sizeof(index), "%u", work->index);
    name_process(work, process_id);
    task->area = &process->area;
    task->context = work->context;
    task->context.policy_path = ck_fleet_area_file(&process->area, CK_FLEET_FILE_POLICY, process->policy_path);
    task->timeout_ms = work->timeout_ms;
    task->retry = work->retry;
    task->lost_max = LOST_MAX;
    task->claims.fd = process->area.claims_fd;
    task->claims.is_gone = process->submission.value ? is_gone : NULL;
    task->claims.data = &process->submission;
    ck_claim_self_task(task->claims.self, work->kind, work->job, index, process_id);
}

static int compare_entries(const void *left, const void *right)
{
    const struct ck_fleet_entry *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* In the order of the names, so that all tasks see the same parts. */
static int choose(struct worker_process *process, struct choke_error *error)
{
    const struct ck_fleet_work *work = process->work;
    const struct ck_submission *submission = &process->submission;

    process->entries = calloc(process->list.count + 1, sizeof(*process->entries));
    if (!process->entries)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    if (process->list.count > 0)
        qsort(process->list.items, process->list.count, sizeof(*process->list.items), compare_entries);
    for (size_t i = 0; !submission->value && i < process->list.count; i++)
        if (i % work->of == work->index)
            process->entries[process->count++] = &process->list.items[i];
    for (size_t i = 0; submission->value && i < submission->chunk && process->count < process->list.count; i++) {
        struct ck_fleet_entry wanted = {0};
        const char *name = ck_submission_name(submission, work->index * submission->chunk + i);
        (void)snprintf(wanted.name, sizeof(wanted.name), "%s", name ? name : "");
        const struct ck_fleet_entry *entry =
            bsearch(&wanted, process->list.items, process->list.count, sizeof(*process->list.items), compare_entries);
        if (entry)
            process->entries[process->count++] = entry;
    }
    return 0;
}

static int make_ready(struct worker_process *process, struct choke_error *error)
{
    const struct ck_fleet_work *work = process->work;
    int r = ck_fleet_area_open(&process->area, work->out, error);

    if (r == 0 && work->submission > 0)
        r = read_submission(process, error);
    if (r == 0)
        r = ck_fleet_area_list(&process->area, &process->list, error);
    if (r == 0)
        r = ck_probes_load(ck_fleet_area_file(&process->area, CK_FLEET_FILE_PROBES, process->probes_path), NULL,
                           &process->task.probes, error);
    if (r == 0)
        r = ck_fleet_area_only(&process->area, &process->task.only, error);
    if (r < 0)
        return r;
    fill_task(process);
    r = ck_fleet_setup_check(&process->task, error);
    return r < 0 ? r : choose(process, error);
}

static int run_pool(struct worker_process *process, struct ck_session *session, struct ck_fleet_summary *summary,
                    struct choke_error *error)
{
    struct ck_fleet_pool_result result = {0};
    const struct ck_fleet_pool_options how = {
        .task = &process->task,
        .entries = process->entries,
        .count = process->count,
        .jobs = process->work->jobs > 0 ? process->work->jobs : ck_machine_jobs(),
        .wait = false,
        .session = session,
        .counts = {.total = process->count},
    };
    int r = ck_session_begin(session, error);

    if (r == 0)
        r = ck_fleet_pool_run(&how, &result, error);
    ck_session_end(session);
    if (r < 0)
        return r;
    *summary = (struct ck_fleet_summary){.total = process->count,
                                         .done = result.done,
                                         .failed = result.failed,
                                         .cancelled = result.cancelled,
                                         .broken = result.broken};
    if (result.broken)
        ck_outlet_print(&session->notes, "chokepoint: %s\n", result.error.message);
    return 0;
}

int ck_fleet_work(const struct ck_fleet_work *work, struct ck_session *session, struct ck_fleet_summary *ret_summary,
                  struct choke_error *error)
{
    struct worker_process process = {.work = work, .area = CK_FLEET_AREA_NONE};

    *ret_summary = (struct ck_fleet_summary){0};
    int r = make_ready(&process, error);
    if (r == 0)
        r = run_pool(&process, session, ret_summary, error);
    free(process.entries);
    free(process.task.only);
    ck_probes_done(&process.task.probes);
    ck_submission_done(&process.submission);
    ck_fleet_list_done(&process.list);
    ck_fleet_area_done(&process.area);
    return r;
}
