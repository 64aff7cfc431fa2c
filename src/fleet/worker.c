/* worker.c - see worker.h. */
#include "fleet/worker.h"

#include "base/fd.h"
#include "fleet/clone.h"
#include "front/text.h"
#include "gather/call_report.h"
#include "gather/coordinate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TRIES 2 /* of a gather that lost a call */
/* A worker counts with 512 MiB (pool.c), and its tools need some of that. */
#define OUTPUT_BYTES ((size_t)256 << 20)

/* One repository while it is gathered. */
struct attempt {
    struct ck_fleet_worker *worker;
    const struct ck_fleet_entry *entry;
    struct ck_clone checkout; /* of a URL */
    char *root;               /* as resolved */
    const char *stage;        /* for a failure */
};

int ck_fleet_worker_init(struct ck_fleet_worker *worker, const struct ck_fleet_task *task, unsigned jobs)
{
    *worker = (struct ck_fleet_worker){.task = task, .jobs = jobs, .stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    return worker->stop_fd >= 0 ? 0 : -errno;
}

void ck_fleet_worker_stop(struct ck_fleet_worker *worker)
{
    const uint64_t one = 1;

    atomic_store(&worker->stopped, true);
    /* It fails only if the counter is full; then the worker wakes anyway. */
    (void)ck_fd_write(worker->stop_fd, &one, sizeof(one));
}

/* A context that is not needed any more must not make a stop wait. */
static void drop_context(struct ck_fleet_worker *worker)
{
    if (atomic_load(&worker->stopped))
        choke_context_discard(worker->context);
    else
        choke_context_free(worker->context);
    worker->context = NULL;
}

void ck_fleet_worker_leave(struct ck_fleet_worker *worker)
{
    drop_context(worker);
}

void ck_fleet_worker_done(struct ck_fleet_worker *worker)
{
    ck_fd_close(&worker->stop_fd);
}

static bool take_stop(void *data, struct choke_context *context)
{
    struct ck_fleet_worker *worker = data;
    uint64_t count;

    (void)!read(worker->stop_fd, &count, sizeof(count));
    if (!atomic_load(&worker->stopped))
        return false;
    choke_cancel_all(context);
    return true;
}

/* ---- one gather ---- */

/* Returns 0 or a negative errno; a failure of the repository itself. */
static int open_root(struct attempt *attempt, int *ret_fd, struct choke_error *error)
{
    const struct ck_fleet_entry *entry = attempt->entry;

    if (entry->is_url) {
        attempt->stage = "clone";
        int r = ck_clone_make(attempt->worker, entry->where, &attempt->checkout, error);
        if (r < 0)
            return r;
    }
    attempt->stage = "open";
    attempt->root = realpath(entry->is_url ? attempt->checkout.path : entry->where, NULL);
    *ret_fd = attempt->root ? open(attempt->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (*ret_fd >= 0)
        return 0;
    return ck_text_error(error, CHOKE_CWD, errno, "cannot open the repository: %s", strerror(errno));
}

/* Nobody asked for it: what watched a call was killed, for example for want of memory. The probe counts as failed. */
static bool has_lost_call(const struct ck_gathering *gathering)
{
    const char *lost = choke_outcome_name(CHOKE_CANCELLED);

    for (size_t i = 0; i < gathering->count; i++)
        for (size_t call = 0; call < gathering->reports[i].call_count; call++)
            if (strcmp(gathering->reports[i].calls[call].outcome, lost) == 0)
                return true;
    return false;
}

/* What the machine lacks says nothing about the repository, and the next one would not fare better. */
static enum ck_fleet_end failure_of(const struct choke_error *error)
{
    switch (error->errnum) {
    case ENOMEM:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case EDQUOT:
        return CK_FLEET_BROKEN;
    default:
        return CK_FLEET_FAILED;
    }
}

static int write_document(const struct attempt *attempt, const struct ck_gathering *gathering,
                          struct choke_error *error)
{
    const struct ck_fleet_area *area = attempt->worker->task->area;
    json_t *document = ck_document_make(gathering);
    int r = document ? ck_fleet_area_write_document(area, attempt->entry->name, document) : -ENOMEM;

    json_decref(document);
    return r == 0 ? 0
                  : ck_text_error(error, CHOKE_NONE, -r, "cannot write to '%s': %s", CK_TEXT_SAFE(area->path),
                                  strerror(-r));
}

static int make_context(struct ck_fleet_worker *worker, struct choke_error *error)
{
    return worker->context ? 0 : choke_context_new(&worker->task->context, &worker->context, error);
}

static enum ck_fleet_end gather_opened(struct attempt *attempt, int root_fd, struct choke_error *error)
{
    struct ck_fleet_worker *worker = attempt->worker;
    const struct ck_fleet_task *task = worker->task;
    struct ck_gathering gathering = {0};
    enum ck_fleet_end end = CK_FLEET_DONE;

    const struct ck_coordinate_options how = {
        .context = worker->context,
        .stop = {worker->stop_fd, take_stop, worker},
        .probes = &task->probes,
        .only = task->only,
        .root = attempt->root,
        .root_fd = root_fd,
        .jobs = worker->jobs < CK_COORDINATE_JOBS_MAX ? worker->jobs : CK_COORDINATE_JOBS_MAX,
        .output_bytes = OUTPUT_BYTES,
        .is_one_of_many = true,
        .timeout_ms = task->timeout_ms,
        .keep_fd = -1,
        .table_fd = -1,
    };
    attempt->stage = "gather";
    int r = ck_coordinate(&how, &gathering, error);
    if (atomic_load(&worker->stopped) || gathering.cancelled)
        end = CK_FLEET_CANCELLED;
    else if (r < 0)
        end = failure_of(error);
    else if (has_lost_call(&gathering))
        end = CK_FLEET_HELD;
    else if (write_document(attempt, &gathering, error) < 0)
        end = CK_FLEET_BROKEN;
    ck_gather_done(&gathering);
    return end;
}

/* CK_FLEET_HELD: what watched a call was killed. */
static enum ck_fleet_end gather_once(struct attempt *attempt, struct choke_error *error)
{
    int root_fd = -1;

    if (make_context(attempt->worker, error) < 0)
        return CK_FLEET_BROKEN;
    int r = open_root(attempt, &root_fd, error);
    if (r < 0 && atomic_load(&attempt->worker->stopped))
        return CK_FLEET_CANCELLED;
    if (r < 0)
        return r == -ECANCELED ? CK_FLEET_HELD : failure_of(error);
    enum ck_fleet_end end = gather_opened(attempt, root_fd, error);
    (void)close(root_fd);
    return end;
}

static void forget(struct attempt *attempt)
{
    ck_clone_remove(&attempt->checkout);
    free(attempt->root);
    attempt->root = NULL;
}

static enum ck_fleet_end gather(struct attempt *attempt, struct choke_error *error)
{
    enum ck_fleet_end end = CK_FLEET_HELD;

    for (unsigned i = 0; end == CK_FLEET_HELD && i < TRIES; i++) {
        if (i > 0) {
            forget(attempt);
            drop_context(attempt->worker);
        }
        end = gather_once(attempt, error);
    }
    if (end == CK_FLEET_HELD) {
        (void)ck_text_error(error, CHOKE_CANCELLED, 0, "the processes that chokepoint runs tools with were killed");
        end = CK_FLEET_FAILED;
    }
    return end;
}

/* ---- a repository ---- */

static enum ck_fleet_end fail(const struct attempt *attempt, struct choke_error *error)
{
    const struct ck_fleet_task *task = attempt->worker->task;
    int r = ck_fleet_area_write_failure(task->area, attempt->entry, attempt->stage, error->message);

    if (r == 0)
        return CK_FLEET_FAILED;
    (void)ck_text_error(error, CHOKE_NONE, -r, "cannot write to '%s': %s", CK_TEXT_SAFE(task->area->path),
                        strerror(-r));
    return CK_FLEET_BROKEN;
}

/* It is claimed now, so nobody else writes its result. */
static enum ck_fleet_end do_claimed(struct ck_fleet_worker *worker, const struct ck_fleet_entry *entry, unsigned lost,
                                    struct choke_error *error)
{
    const struct ck_fleet_task *task = worker->task;
    struct attempt attempt = {.worker = worker, .entry = entry, .stage = "task"};
    enum ck_fleet_end end;

    if (task->lost_max > 0 && lost >= task->lost_max) {
        (void)ck_text_error(error, CHOKE_NONE, 0, "%u tasks ended while they gathered it; --retry tries again", lost);
        end = CK_FLEET_FAILED;
    } else {
        end = gather(&attempt, error);
    }
    if (end == CK_FLEET_FAILED)
        end = fail(&attempt, error);
    forget(&attempt);
    return end;
}

/* Of an earlier run, or of another process. */
static bool has_result(const struct ck_fleet_task *task, const struct ck_fleet_entry *entry, enum ck_fleet_end *ret_end)
{
    bool done = ck_fleet_area_has_document(task->area, entry->name);

    *ret_end = done ? CK_FLEET_DONE : CK_FLEET_FAILED;
    return done || (!task->retry && ck_fleet_area_has_failed(task->area, entry->name));
}

enum ck_fleet_end ck_fleet_worker_do(struct ck_fleet_worker *worker, const struct ck_fleet_entry *entry,
                                     struct choke_error *error)
{
    const struct ck_fleet_task *task = worker->task;
    enum ck_fleet_end end;
    unsigned lost = 0;

    if (atomic_load(&worker->stopped))
        return CK_FLEET_CANCELLED;
    if (has_result(task, entry, &end))
        return end;
    int r = ck_claim_take(&task->claims, entry->name, &lost);
    if (r < 0) {
        (void)ck_text_error(error, CHOKE_NONE, -r, "cannot write to '%s': %s", CK_TEXT_SAFE(task->area->path),
                            strerror(-r));
        return CK_FLEET_BROKEN;
    }
    if (r == CK_CLAIM_HELD)
        return CK_FLEET_HELD;
    /* Looked at again: the one that held it may have finished in between. */
    if (!has_result(task, entry, &end))
        end = do_claimed(worker, entry, lost, error);
    if (end == CK_FLEET_DONE || end == CK_FLEET_FAILED)
        ck_claim_release(&task->claims, entry->name);
    return end;
}
