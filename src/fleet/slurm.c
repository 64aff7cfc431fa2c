/*
 * slurm.c - see slurm.h.
 *
 * The watch is a loop with three questions: which repositories have a result (the files say), which
 * tasks are listed (squeue says), and is there a repository that neither has a result nor is in a
 * listed task? Those are submitted, again if need be. Nothing is remembered from one start of the
 * command to the next but the files of the submissions.
 */
#include "fleet/slurm.h"

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/heap.h"
#include "fleet/fleet.h"
#include "fleet/progress.h"
#include "fleet/submission.h"
#include "front/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_USUAL 20     /* repositories of a task, so that its start does not count */
#define LOOK_FIRST_MS 1000 /* how often results and tasks are looked at */
#define LOOK_LAST_MS 15000
#define IDLE_ROUNDS_MAX 3 /* submissions in a row that finish nothing */
#define ERRORS_MAX 120    /* of squeue in a row: the controller may be down for a while */

/* One repository that had no result at the beginning. */
struct item {
    const struct ck_fleet_entry *entry;
    bool ended;   /* it has a result */
    bool covered; /* a listed task has it */
};

struct watch {
    const struct ck_slurm_run *run;
    struct ck_slurm slurm;
    struct item *items; /* by name */
    size_t count;
    unsigned array_max;
    struct ck_fleet_counts counts;
    size_t ended_before; /* at the last submission */
    unsigned idle_rounds, errors;
    struct ck_fleet_progress progress;
};

/* ---- what is there ---- */

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    return strcmp(a->entry->name, b->entry->name);
}

static struct item *find_item(const struct watch *watch, const char *name)
{
    struct ck_fleet_entry entry = {0};
    const struct item wanted = {.entry = &entry};

    (void)snprintf(entry.name, sizeof(entry.name), "%s", name);
    return bsearch(&wanted, watch->items, watch->count, sizeof(*watch->items), compare_items);
}

static void look_at_results(struct watch *watch)
{
    const struct ck_slurm_run *run = watch->run;
    const struct ck_fleet_area *area = run->task->area;

    watch->counts = (struct ck_fleet_counts){.total = run->total, .done = run->done, .failed = run->failed};
    for (size_t i = 0; i < watch->count; i++) {
        struct item *item = &watch->items[i];
        bool done = ck_fleet_area_has_document(area, item->entry->name);
        bool failed = !done && ck_fleet_area_has_failed(area, item->entry->name);
        item->ended = done || failed;
        watch->counts.done += done;
        watch->counts.failed += failed;
    }
}

/* Marks what a listed task works on. */
static void cover(struct watch *watch, const struct ck_slurm_live *live, struct ck_submission *submission)
{
    if (submission->number != live->submission) {
        ck_submission_done(submission);
        if (ck_submission_read(watch->slurm.fd, live->submission, submission) < 0)
            ck_submission_done(submission);
    }
    if (submission->number == 0)
        return;
    watch->counts.running += !live->delayed;
    for (size_t i = 0; i < submission->chunk; i++) {
        const char *name = ck_submission_name(submission, live->task * submission->chunk + i);
        struct item *item = name ? find_item(watch, name) : NULL;
        if (item)
            item->covered = true;
    }
}

/*
 * A task whose node was lost waits for two minutes in the queue of Slurm, with what it had claimed. It
 * is taken out, so that others do it at once.
 */
static int look_at_tasks(struct watch *watch, struct ck_slurm_lives *lives, struct choke_error *error)
{
    struct ck_submission submission = {0};
    int r = ck_slurm_list(&watch->slurm, lives, error);

    for (size_t i = 0; r == 0 && i < lives->count; i++)
        if (lives->items[i].delayed) {
            r = ck_slurm_cancel(&watch->slurm, lives, true, error);
            free(lives->items);
            *lives = (struct ck_slurm_lives){0};
            if (r == 0)
                r = ck_slurm_list(&watch->slurm, lives, error);
            break;
        }
    if (r < 0)
        return r;
    for (size_t i = 0; i < watch->count; i++)
        watch->items[i].covered = false;
    watch->counts.running = 0;
    for (size_t i = 0; i < lives->count; i++)
        cover(watch, &lives->items[i], &submission);
    ck_submission_done(&submission);
    return 0;
}

/* ---- submitting ---- */

static bool is_listed(const struct ck_slurm_lives *lives, unsigned long job, unsigned long task)
{
    for (size_t i = 0; i < lives->count; i++)
        if (lives->items[i].job == job && lives->items[i].task == task)
            return true;
    return false;
}

/* Adds the holder if it is gone. */
static void add_gone(const struct watch *watch, const struct ck_slurm_lives *lives, const char *name, json_t *gone)
{
    const struct ck_claims *claims = &watch->run->task->claims;
    char holder[CK_CLAIM_HOLDER_SIZE];
    unsigned long job, task;

    if (!ck_claim_holder(claims, name, holder))
        return;
    bool is_task = sscanf(holder, "slurm %lu %lu ", &job, &task) == 2;
    /* Out of memory: then it is not taken over this time. */
    if (is_task ? !is_listed(lives, job, task) : !ck_claim_is_live(claims, holder))
        (void)json_array_append_new(gone, json_string(holder));
}

static int write_script(const struct watch *watch, unsigned number, struct choke_error *error)
{
    CK_HEAP char *text = NULL;
    size_t size = 0;
    char name[32], own[PATH_MAX];
    const struct ck_slurm_run *run = watch->run;
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    own[length > 0 ? length : 0] = '\0';
    ck_fleet_print_word(out, "#!/bin/sh\nexec ", run->command ? run->command : own);
    ck_fleet_print_word(out, " fleet work ", run->task->area->path);
    (void)fprintf(out,
                  " --submission %u --index \"$SLURM_ARRAY_TASK_ID\" --job \"$SLURM_ARRAY_JOB_ID\""
                  " --restarts \"${SLURM_RESTART_COUNT:-0}\"%s\n",
                  number, run->more);
    if (fclose(out) != 0)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    (void)snprintf(name, sizeof(name), "%u.sh", number);
    int r = ck_atomic_file_write(watch->slurm.fd, name, 0700, text, size);
    return r == 0 ? 0
                  : ck_text_error(error, CHOKE_NONE, -r, "cannot write to '%s': %s", CK_TEXT_SAFE(watch->slurm.root),
                                  strerror(-r));
}

static size_t choose_chunk(const struct watch *watch, size_t names)
{
    size_t chunk = watch->run->chunk > 0 ? watch->run->chunk : CHUNK_USUAL;
    size_t least = (names + watch->array_max - 1) / watch->array_max;

    return chunk > least ? chunk : least;
}

/* names is not empty. */
static int submit_names(struct watch *watch, json_t *names, json_t *gone, struct choke_error *error)
{
    struct ck_submission submission = {0};
    unsigned long job = 0;
    size_t chunk = choose_chunk(watch, json_array_size(names));
    size_t tasks = (json_array_size(names) + chunk - 1) / chunk;
    /* A task finds its names in the index, which another start may have written meanwhile. */
    int r = ck_fleet_area_index(watch->run->task->area, watch->run->list, true, error);

    if (r < 0)
        return r;
    r = ck_submission_make(watch->slurm.fd, chunk, names, gone, &submission);
    if (r < 0)
        r = ck_text_error(error, CHOKE_NONE, -r, "cannot write to '%s': %s", CK_TEXT_SAFE(watch->slurm.root),
                          strerror(-r));
    if (r == 0)
        r = write_script(watch, submission.number, error);
    if (r == 0)
        r = ck_slurm_submit(&watch->slurm, submission.number, tasks, &watch->run->limits, &job, error);
    if (r == 0) {
        ck_fleet_progress_clear(&watch->progress);
        ck_outlet_print(&watch->run->session->notes, "chokepoint: job %lu has %zu repositories in %zu tasks\n", job,
                        json_array_size(names), tasks);
    }
    ck_submission_done(&submission);
    return r;
}

/* What has no result and no listed task. *ret_count: how many. */
static int submit_rest(struct watch *watch, const struct ck_slurm_lives *lives, size_t *ret_count,
                       struct choke_error *error)
{
    json_t *names = json_array(), *gone = json_array();
    int bad = names && gone ? 0 : -1;

    for (size_t i = 0; !bad && i < watch->count; i++) {
        const struct item *item = &watch->items[i];
        if (item->ended || item->covered)
            continue;
        bad = json_array_append_new(names, json_string(item->entry->name)) < 0;
        add_gone(watch, lives, item->entry->name, gone);
    }
    *ret_count = json_array_size(names);
    int r = bad ? ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory") : 0;
    size_t ended = watch->counts.done + watch->counts.failed;
    if (r == 0 && *ret_count > 0) {
        watch->idle_rounds = ended > watch->ended_before ? 0 : watch->idle_rounds + 1;
        watch->ended_before = ended;
        r = watch->idle_rounds > IDLE_ROUNDS_MAX
                ? ck_text_error(
                      error, CHOKE_NONE, EIO,
                      "%d jobs in a row have ended and finished nothing; the output of their tasks is in '%s'",
                      IDLE_ROUNDS_MAX, CK_TEXT_SAFE(watch->slurm.root))
                : submit_names(watch, names, gone, error);
    }
    json_decref(names);
    json_decref(gone);
    return r;
}

/* ---- the loop ---- */

static bool is_over(const struct watch *watch)
{
    const struct ck_slurm_run *run = watch->run;
    return watch->counts.done + watch->counts.failed >= run->done + run->failed + watch->count;
}

/* Waits, unless a signal comes. */
static void wait_ms(const struct watch *watch, unsigned ms)
{
    struct pollfd fd = {.fd = watch->run->session->signal_fd, .events = POLLIN};

    (void)poll(&fd, 1, (int)ms);
    ck_session_handle_signal(watch->run->session, NULL);
}

/* A refusal is for good. A controller that does not answer, or not in time, may be restarting. */
static bool may_pass(const struct choke_error *error)
{
    return error->outcome == CHOKE_EXITED || error->outcome == CHOKE_TIMEOUT;
}

/* One look. *ret_quiet: nothing has changed that the next look should follow soon. */
static int look(struct watch *watch, bool *ret_quiet, struct choke_error *error)
{
    struct ck_slurm_lives lives = {0};
    size_t submitted = 0, before = watch->counts.done + watch->counts.failed;

    /* Tasks first: one that ends in between has left its results before it is not listed any more. */
    int r = look_at_tasks(watch, &lives, error);
    if (r < 0) {
        free(lives.items);
        *ret_quiet = false;
        return may_pass(error) && ++watch->errors < ERRORS_MAX ? 0 : r;
    }
    watch->errors = 0;
    size_t running = watch->counts.running;
    look_at_results(watch);
    watch->counts.running = running;
    r = submit_rest(watch, &lives, &submitted, error);
    free(lives.items);
    *ret_quiet = submitted == 0 && watch->counts.done + watch->counts.failed == before;
    return r;
}

static int loop(struct watch *watch, struct choke_error *error)
{
    const struct ck_session *session = watch->run->session;
    unsigned ms = LOOK_FIRST_MS;
    bool quiet = false;
    int r = 0;

    while (r == 0 && session->signal == 0 && !is_over(watch)) {
        if (ck_fleet_area_is_cancelled(watch->run->task->area))
            return ck_text_error(error, CHOKE_CANCELLED, ECANCELED, "the fleet was cancelled");
        r = look(watch, &quiet, error);
        ck_fleet_progress_draw(&watch->progress, &watch->counts);
        if (r == 0 && !is_over(watch))
            wait_ms(watch, ms);
        ms = !quiet ? LOOK_FIRST_MS : ms * 2 > LOOK_LAST_MS ? LOOK_LAST_MS : ms * 2;
    }
    return r;
}

static int watch_all(struct watch *watch, bool *ret_begun, struct choke_error *error)
{
    const struct ck_slurm_run *run = watch->run;

    watch->items = calloc(run->pending_count + 1, sizeof(*watch->items));
    if (!watch->items)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    watch->count = run->pending_count;
    for (size_t i = 0; i < watch->count; i++)
        watch->items[i].entry = run->pending[i];
    qsort(watch->items, watch->count, sizeof(*watch->items), compare_items);
    /* With --retry the old failures are of no use: what failed again must be a new file. */
    for (size_t i = 0; run->task->retry && i < watch->count; i++)
        ck_fleet_area_drop_failure(run->task->area, watch->items[i].entry->name);
    look_at_results(watch);
    int r = ck_slurm_array_max(&watch->slurm, &watch->array_max, error);
    *ret_begun = r == 0;
    ck_fleet_progress_init(&watch->progress, &run->session->notes, &watch->counts);
    if (r == 0)
        r = loop(watch, error);
    ck_fleet_progress_clear(&watch->progress);
    return r;
}

int ck_slurm_run_check(const struct choke_options *options, struct choke_error *error)
{
    struct ck_slurm slurm = {.fd = -1};
    int r = choke_context_new(options, &slurm.context, error);

    if (r == 0)
        r = ck_slurm_check(&slurm, error);
    choke_context_free(slurm.context);
    return r;
}

int ck_slurm_run(const struct ck_slurm_run *run, bool *ret_begun, struct choke_error *error)
{
    struct watch watch = {.run = run, .slurm = {.area = run->task->area, .session = run->session, .fd = -1}};
    int r = choke_context_new(&run->task->context, &watch.slurm.context, error);

    *ret_begun = false;
    if (r == 0)
        r = ck_slurm_open(&watch.slurm, true, error);
    if (r == 0 && run->pending_count > 0)
        r = watch_all(&watch, ret_begun, error);
    free(watch.items);
    ck_slurm_close(&watch.slurm);
    choke_context_free(watch.slurm.context);
    return r;
}

int ck_slurm_cancel_all(struct ck_fleet_area *area, struct ck_session *session, struct choke_error *error)
{
    struct ck_slurm slurm = {.area = area, .session = session, .fd = -1};
    struct ck_slurm_lives lives = {0};
    char policy[PATH_MAX];
    const struct choke_options options = {.policy_path = ck_fleet_area_file(area, CK_FLEET_FILE_POLICY, policy),
                                          .audit_log = CHOKE_AUDIT_DEFAULT};
    int r = choke_context_new(&options, &slurm.context, error);

    if (r == 0)
        r = ck_slurm_open(&slurm, false, error);
    if (r == 0)
        r = ck_slurm_list(&slurm, &lives, error);
    if (r == 0)
        r = ck_slurm_cancel(&slurm, &lives, false, error);
    free(lives.items);
    ck_slurm_close(&slurm);
    choke_context_free(slurm.context);
    return r;
}
