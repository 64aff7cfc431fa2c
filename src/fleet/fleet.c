/*
 * fleet.c - see fleet.h.
 *
 * A run first reads everything that the repositories cannot have written: LIST, the probes, the
 * policy. Then it makes or opens the directory, writes the index, and checks the policy with a
 * context. Until here a mistake begins nothing. Then the engine works on what has no result.
 */
#include "fleet/fleet.h"

#include "base/heap.h"
#include "base/path.h"
#include "fleet/machine.h"
#include "fleet/pool.h"
#include "fleet/setup.h"
#include "fleet/slurm.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define FAILURES_SHOWN_MAX 20

/* Everything that one run owns. */
struct run {
    const struct ck_fleet_options *options;
    struct ck_fleet_area area;
    struct ck_fleet_list list;
    struct ck_fleet_only only;
    struct ck_fleet_task task;
    char *texts[CK_FLEET_FILES];
    char policy_path[PATH_MAX];
    const struct ck_fleet_entry **pending;
    size_t pending_count;
};

/* ---- preparation ---- */

/* path NULL: what is embedded. */
static int read_file(struct run *run, enum ck_fleet_file file, const char *path, struct choke_error *error)
{
    size_t length;

    if (!path)
        return 0;
    int r = choke_read_trusted(path, NULL, FILE_BYTES_MAX, &run->texts[file], &length, error);
    if (r == 0 && strlen(run->texts[file]) != length)
        r = ck_text_error(error, CHOKE_POLICY, EINVAL, "'%s' has a NUL in it", CK_TEXT_SAFE(path));
    return r;
}

/* A tool with a writable root could write there, and the next look at the repository would find documents. */
static int check_place(const struct run *run, const char *path, struct choke_error *error)
{
    for (size_t i = 0; i < run->list.count; i++)
        if (!run->list.items[i].is_url && ck_path_beneath(run->list.items[i].where, path))
            return ck_text_error(error, CHOKE_INVALID, EINVAL,
                                 "'%s' is in the repository '%s' of the list; take a directory outside of it",
                                 CK_TEXT_SAFE(path), CK_TEXT_SAFE(run->list.items[i].where));
    return 0;
}

/* What can be wrong is found before the directory is made: that has the settings of its first start for ever. */
static int check_first(const struct run *run, struct choke_error *error)
{
    struct choke_options context = run->options->context;
    CK_HEAP char *out = ck_heap_own(ck_fleet_list_path(run->options->out));

    if (!out)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    context.on_event = NULL;
    context.policy_path = run->options->policy;
    int r = check_place(run, out, error);
    if (r == 0)
        r = ck_fleet_setup_check_policy(&context, &run->list, error);
    if (r == 0 && run->options->engine == CK_FLEET_ENGINE_SLURM)
        r = ck_slurm_run_check(&context, error);
    return r;
}

static void fill_task(struct run *run)
{
    struct ck_fleet_task *task = &run->task;

    task->area = &run->area;
    task->context = run->options->context;
    task->context.on_event = NULL;
    task->context.policy_path = ck_fleet_area_file(&run->area, CK_FLEET_FILE_POLICY, run->policy_path);
    task->own_probes = run->options->probes;
    task->only = run->only.names;
    task->timeout_ms = run->options->timeout_ms;
    task->retry = run->options->retry;
    task->claims.fd = run->area.claims_fd;
    ck_claim_self_local(task->claims.self);
}

/*
 * Another start with another list may be at work, or have given its names to Slurm: what it does must stay in the index, because
 * a task finds its repositories there.
 */
static bool others_may_work(const struct run *run)
{
    return faccessat(run->area.fd, "slurm", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || ck_claim_any_live(&run->task.claims);
}

static int make_ready(struct run *run, struct choke_error *error)
{
    int r = ck_fleet_list_read(run->options->list, &run->list, error);

    if (r == 0)
        r = ck_probes_load(run->options->probes, NULL, &run->task.probes, error);
    if (r == 0)
        r = ck_fleet_only_make(run->options->only, &run->task.probes, &run->only, error);
    if (r == 0)
        r = read_file(run, CK_FLEET_FILE_POLICY, run->options->policy, error);
    if (r == 0)
        r = read_file(run, CK_FLEET_FILE_PROBES, run->options->probes, error);
    if (r == 0)
        r = check_first(run, error);
    const struct ck_fleet_settings settings = {
        .only = run->only.names, .texts = {run->texts[CK_FLEET_FILE_POLICY], run->texts[CK_FLEET_FILE_PROBES]}};
    if (r == 0)
        r = ck_fleet_area_make(&run->area, run->options->out, &settings, error);
    if (r == 0)
        r = check_place(run, run->area.path, error);
    if (r < 0)
        return r;
    fill_task(run);
    r = ck_fleet_setup_check(&run->task, error);
    if (r == 0)
        r = ck_fleet_area_index(&run->area, &run->list, others_may_work(run), error);
    if (r == 0 && (r = ck_fleet_area_cancel(&run->area, false)) < 0)
        r = ck_text_error(error, CHOKE_NONE, -r, "cannot write to '%s': %s", CK_TEXT_SAFE(run->area.path),
                          strerror(-r));
    return r;
}

/* ---- the end ---- */

static void print_failures(const struct run *run, struct ck_outlet *notes)
{
    size_t shown = 0, more = 0;

    for (size_t i = 0; i < run->list.count; i++) {
        const struct ck_fleet_entry *entry = &run->list.items[i];
        if (ck_fleet_area_has_document(&run->area, entry->name) || !ck_fleet_area_has_failed(&run->area, entry->name))
            continue;
        if (shown == FAILURES_SHOWN_MAX) {
            more++;
            continue;
        }
        json_t *failure = ck_fleet_area_failure(&run->area, entry->name);
        const char *message = json_string_value(json_object_get(failure, "message"));
        ck_outlet_print(notes, "chokepoint: failed '%s': %s\n", CK_TEXT_SAFE(entry->where),
                        message ? CK_TEXT_SAFE(message) : "the reason cannot be read");
        json_decref(failure);
        shown++;
    }
    if (more > 0)
        ck_outlet_print(notes, "chokepoint: %zu more have failed; see '%s/failed'\n", more,
                        CK_TEXT_SAFE(run->area.path));
}

/* A process that was killed after a result leaves its claim, and one in the middle a file without its name. */
static void tidy(const struct run *run)
{
    for (size_t i = 0; i < run->list.count; i++) {
        const char *name = run->list.items[i].name;
        if (ck_fleet_area_has_document(&run->area, name) ||
            (!run->task.retry && ck_fleet_area_has_failed(&run->area, name)))
            ck_claim_release(&run->task.claims, name);
    }
    ck_fleet_area_tidy(&run->area);
}

static int run_local(struct run *run, struct ck_session *session, struct ck_fleet_summary *summary,
                     struct choke_error *error)
{
    struct ck_fleet_pool_result result;
    const struct ck_fleet_pool_options how = {
        .task = &run->task,
        .entries = run->pending,
        .count = run->pending_count,
        .jobs = run->options->jobs > 0 ? run->options->jobs : ck_machine_jobs(),
        .wait = true,
        .session = session,
        .counts = {.total = summary->total, .done = summary->done, .failed = summary->failed},
    };
    int r = ck_fleet_pool_run(&how, &result, error);

    if (r < 0)
        return r;
    summary->done += result.done;
    summary->failed += result.failed;
    summary->cancelled = result.cancelled;
    summary->broken = result.broken;
    if (result.broken)
        ck_outlet_print(&session->notes, "chokepoint: %s; the same command goes on from here\n", result.error.message);
    return 0;
}

/* What ended it after its beginning is reported; what is finished is in the directory. */
static int run_slurm(struct run *run, struct ck_session *session, struct ck_fleet_summary *summary,
                     struct choke_error *error)
{
    const struct ck_slurm_run how = {
        .task = &run->task,
        .list = &run->list,
        .pending = run->pending,
        .pending_count = run->pending_count,
        .total = summary->total,
        .done = summary->done,
        .failed = summary->failed,
        .session = session,
        .limits = run->options->tasks,
        .chunk = run->options->chunk,
        .command = run->options->command,
        .more = run->options->more ? run->options->more : "",
    };
    bool begun;
    int r = ck_slurm_run(&how, &begun, error);

    if (r < 0 && !begun && session->signal == 0)
        return r;
    for (size_t i = 0; i < run->pending_count; i++) {
        bool done = ck_fleet_area_has_document(&run->area, run->pending[i]->name);
        summary->done += done;
        summary->failed += !done && ck_fleet_area_has_failed(&run->area, run->pending[i]->name);
    }
    if (session->signal != 0)
        ck_outlet_print(&session->notes,
                        "chokepoint: the jobs go on; 'chokepoint fleet status %s' shows how far, 'fleet cancel' ends "
                        "them, and the same command watches again\n",
                        CK_TEXT_SAFE(run->options->out));
    if (r < 0 && session->signal == 0) {
        summary->broken = true;
        ck_outlet_print(&session->notes, "chokepoint: %s; the same command goes on from here\n", error->message);
    }
    return 0;
}

static int work(struct run *run, struct ck_session *session, struct ck_fleet_summary *summary,
                struct choke_error *error)
{
    run->pending = ck_fleet_setup_pending(&run->task, &run->list, summary, &run->pending_count);
    if (!run->pending)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    if (run->options->limit > 0 && run->pending_count > run->options->limit)
        run->pending_count = run->options->limit;
    if (summary->repeated > 0)
        ck_outlet_print(
            &session->notes, "chokepoint: %zu %s of the list %s a repository again; each is gathered once\n",
            summary->repeated, summary->repeated == 1 ? "line" : "lines", summary->repeated == 1 ? "names" : "name");
    int r = ck_session_begin(session, error);
    if (r == 0)
        r = (run->options->engine == CK_FLEET_ENGINE_SLURM ? run_slurm : run_local)(run, session, summary, error);
    ck_session_end(session);
    /* Another start that read the index before this one had written it has written it without these. */
    if (r == 0 && !summary->broken)
        r = ck_fleet_area_index(&run->area, &run->list, true, error);
    tidy(run);
    if (r == 0)
        print_failures(run, &session->notes);
    return r;
}

int ck_fleet_run(const struct ck_fleet_options *options, struct ck_session *session,
                 struct ck_fleet_summary *ret_summary, struct choke_error *error)
{
    struct run run = {.options = options, .area = CK_FLEET_AREA_NONE};

    *ret_summary = (struct ck_fleet_summary){0};
    int r = make_ready(&run, error);
    if (r == 0)
        r = work(&run, session, ret_summary, error);
    free(run.pending);
    for (size_t i = 0; i < CK_FLEET_FILES; i++)
        free(run.texts[i]);
    ck_probes_done(&run.task.probes);
    ck_fleet_only_done(&run.only);
    ck_fleet_list_done(&run.list);
    ck_fleet_area_done(&run.area);
    return r;
}
