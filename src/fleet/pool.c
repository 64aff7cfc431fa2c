/*
 * pool.c - see pool.h. Everything in struct pool below its lock is read and written under it. The
 * threads have all signals of the session blocked, as the loop has.
 */
#include "fleet/pool.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/heap.h"
#include "fleet/machine.h"
#include "front/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TICK_MS 250           /* how often the progress is drawn */
#define LOOK_MS 1000          /* how often it is looked whether the fleet was cancelled */
#define WAIT_FIRST_MS 250     /* until a claim of others is looked at again */
#define WAIT_LAST_MS 8000     /* it doubles up to this */
#define WAIT_SAID_MS 2000     /* when it has become this, the user is informed */
#define WORKER_MEMORY_MIB 512 /* that a worker and its tools need at least */

struct pool {
    const struct ck_fleet_pool_options *options;
    struct ck_fleet_worker *workers;
    pthread_t *threads;
    unsigned count, begun;
    int wake_fd; /* an eventfd: a worker has ended something */
    pthread_mutex_t lock;
    const struct ck_fleet_entry **queue; /* a ring with room for all */
    size_t head, waiting;
    size_t held_in_row; /* claims of others since the last success: all of the queue is theirs */
    unsigned wait_ms;
    const struct ck_fleet_entry *awaited; /* of others, for a while; NULL: none */
    int active;                           /* threads */
    struct ck_fleet_counts counts;
    struct ck_fleet_pool_result *result;
};

/* ---- the queue ---- */

static const struct ck_fleet_entry *take(struct pool *pool, bool *ret_wait)
{
    const struct ck_fleet_entry *entry = NULL;

    (void)pthread_mutex_lock(&pool->lock);
    *ret_wait = pool->held_in_row >= pool->waiting && pool->waiting > 0;
    if (pool->waiting > 0 && !pool->result->broken) {
        entry = pool->queue[pool->head];
        pool->head = (pool->head + 1) % pool->options->count;
        pool->waiting--;
        pool->counts.running++;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return entry;
}

static void put_back(struct pool *pool, const struct ck_fleet_entry *entry)
{
    pool->queue[(pool->head + pool->waiting) % pool->options->count] = entry;
    pool->waiting++;
    pool->held_in_row++;
}

static void note(struct pool *pool, const struct ck_fleet_entry *entry, enum ck_fleet_end end,
                 const struct choke_error *error)
{
    const uint64_t one = 1;

    (void)pthread_mutex_lock(&pool->lock);
    pool->counts.running--;
    if (end == CK_FLEET_HELD && pool->options->wait)
        put_back(pool, entry);
    else if (end == CK_FLEET_HELD)
        pool->result->held++;
    else
        pool->held_in_row = 0;
    pool->result->done += end == CK_FLEET_DONE;
    pool->counts.done += end == CK_FLEET_DONE;
    pool->result->failed += end == CK_FLEET_FAILED;
    pool->counts.failed += end == CK_FLEET_FAILED;
    if (end == CK_FLEET_BROKEN && !pool->result->broken) {
        pool->result->broken = true;
        pool->result->error = *error;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    (void)ck_fd_write(pool->wake_fd, &one, sizeof(one));
}

/* Waits, unless it is stopped. The time doubles while nothing is found. */
static void wait_for_others(struct pool *pool, const struct ck_fleet_worker *worker, const struct ck_fleet_entry *entry)
{
    struct pollfd fd = {.fd = worker->stop_fd, .events = POLLIN};

    (void)pthread_mutex_lock(&pool->lock);
    unsigned ms = pool->wait_ms;
    pool->wait_ms = ms * 2 > WAIT_LAST_MS ? WAIT_LAST_MS : ms * 2;
    pool->held_in_row = 0;
    if (ms >= WAIT_SAID_MS)
        pool->awaited = entry;
    (void)pthread_mutex_unlock(&pool->lock);
    (void)poll(&fd, 1, (int)ms);
}

static void count_active(struct pool *pool, int by)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->active += by;
    (void)pthread_mutex_unlock(&pool->lock);
}

static void *work(void *data)
{
    const struct ck_fleet_entry *entry;
    struct ck_fleet_worker *worker = data;
    struct pool *pool = worker->pool;
    bool wait;

    while (!atomic_load(&worker->stopped) && (entry = take(pool, &wait))) {
        struct choke_error error = {0};
        if (wait)
            wait_for_others(pool, worker, entry);
        enum ck_fleet_end end = ck_fleet_worker_do(worker, entry, &error);
        note(pool, entry, end, &error);
    }
    ck_fleet_worker_leave(worker);
    count_active(pool, -1);
    const uint64_t one = 1;
    (void)ck_fd_write(pool->wake_fd, &one, sizeof(one));
    return NULL;
}

/* ---- the loop ---- */

static unsigned count_workers(const struct ck_fleet_pool_options *options)
{
    uint64_t by_memory = ck_machine_memory_mib() / WORKER_MEMORY_MIB;
    uint64_t count = options->jobs < by_memory ? options->jobs : by_memory;

    count = count < options->count ? count : options->count;
    count = count < CK_FLEET_WORKERS_MAX ? count : CK_FLEET_WORKERS_MAX;
    return count > 0 ? (unsigned)count : 1;
}

static int begin(struct pool *pool, struct choke_error *error)
{
    unsigned each = pool->options->jobs / pool->count;

    int r = 0;

    for (unsigned i = 0; r == 0 && i < pool->count; i++) {
        r = ck_fleet_worker_init(&pool->workers[i], pool->options->task, each > 0 ? each : 1);
        pool->workers[i].pool = pool;
        if (r == 0) {
            count_active(pool, 1);
            r = -pthread_create(&pool->threads[i], NULL, work, &pool->workers[i]);
        }
        if (r == 0) {
            pool->begun++;
        } else if (pool->workers[i].stop_fd >= 0) {
            count_active(pool, -1);
            ck_fleet_worker_done(&pool->workers[i]);
        }
    }
    /* Fewer workers do the same. */
    if (pool->begun > 0)
        return 0;
    return ck_text_error(error, CHOKE_NONE, -r, "cannot begin a worker: %s", strerror(-r));
}

static void stop_all(struct pool *pool)
{
    for (unsigned i = 0; i < pool->begun; i++)
        ck_fleet_worker_stop(&pool->workers[i]);
}

/* Any signal of the session ends the run; so does `fleet cancel`, and a directory that is broken. */
static bool is_asked_to_stop(struct pool *pool, bool look_for_cancel)
{
    ck_session_handle_signal(pool->options->session, NULL);
    if (look_for_cancel && ck_fleet_area_is_cancelled(pool->options->task->area))
        pool->result->cancelled = true;
    (void)pthread_mutex_lock(&pool->lock);
    bool broken = pool->result->broken;
    (void)pthread_mutex_unlock(&pool->lock);
    return broken || pool->result->cancelled || pool->options->session->signal != 0;
}

/* Some holders cannot be looked up from here, so only the user can know that they are gone. */
static bool note_wait(struct pool *pool, struct ck_fleet_progress *progress)
{
    const struct ck_fleet_task *task = pool->options->task;
    char holder[CK_CLAIM_HOLDER_SIZE];

    (void)pthread_mutex_lock(&pool->lock);
    const struct ck_fleet_entry *entry = pool->awaited;
    (void)pthread_mutex_unlock(&pool->lock);
    if (!entry || !ck_claim_holder(&task->claims, entry->name, holder))
        return false;
    ck_fleet_progress_clear(progress);
    ck_outlet_print(&pool->options->session->notes,
                    "chokepoint: waiting: '%s' is held by '%s'. If that has ended, remove '%s/claims/%s~*'\n",
                    CK_TEXT_SAFE(entry->where), CK_TEXT_SAFE(holder), CK_TEXT_SAFE(task->area->path), entry->name);
    return true;
}

static void loop(struct pool *pool)
{
    struct ck_fleet_progress progress;
    uint64_t looked_ms = ck_clock_now_ms();
    bool stopping = false, noted = false;
    int active = (int)pool->begun;

    ck_fleet_progress_init(&progress, &pool->options->session->notes, &pool->counts);
    while (active > 0) {
        struct pollfd fds[] = {{.fd = pool->options->session->signal_fd, .events = POLLIN},
                               {.fd = pool->wake_fd, .events = POLLIN}};
        uint64_t count;
        (void)poll(fds, 2, TICK_MS);
        (void)!read(pool->wake_fd, &count, sizeof(count));
        bool look = ck_clock_now_ms() - looked_ms >= LOOK_MS;
        looked_ms = look ? ck_clock_now_ms() : looked_ms;
        if (!stopping && is_asked_to_stop(pool, look)) {
            stopping = true;
            stop_all(pool);
        }
        noted = noted || note_wait(pool, &progress);
        (void)pthread_mutex_lock(&pool->lock);
        active = pool->active;
        struct ck_fleet_counts counts = pool->counts;
        (void)pthread_mutex_unlock(&pool->lock);
        ck_fleet_progress_draw(&progress, &counts);
    }
    ck_fleet_progress_clear(&progress);
}

int ck_fleet_pool_run(const struct ck_fleet_pool_options *options, struct ck_fleet_pool_result *ret_result,
                      struct choke_error *error)
{
    struct pool pool = {.options = options,
                        .count = count_workers(options),
                        .counts = options->counts,
                        .waiting = options->count,
                        .wait_ms = WAIT_FIRST_MS,
                        .result = ret_result};

    *ret_result = (struct ck_fleet_pool_result){0};
    if (options->count == 0)
        return 0;
    CK_HEAP struct ck_fleet_worker *workers = ck_heap_own(calloc(pool.count, sizeof(*workers)));
    CK_HEAP pthread_t *threads = ck_heap_own(calloc(pool.count, sizeof(*threads)));
    CK_HEAP const struct ck_fleet_entry **queue = ck_heap_own(calloc(options->count, sizeof(*queue)));
    CK_FD wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!workers || !threads || !queue || wake_fd < 0)
        return ck_text_error(error, CHOKE_NONE, errno, "cannot begin: %s", strerror(errno));
    memcpy(queue, options->entries, options->count * sizeof(*queue));
    pool.workers = workers;
    pool.threads = threads;
    pool.queue = queue;
    pool.wake_fd = wake_fd;
    (void)pthread_mutex_init(&pool.lock, NULL);
    int r = begin(&pool, error);
    if (r == 0)
        loop(&pool);
    for (unsigned i = 0; i < pool.begun; i++)
        (void)pthread_join(pool.threads[i], NULL);
    for (unsigned i = 0; i < pool.begun; i++)
        ck_fleet_worker_done(&pool.workers[i]);
    (void)pthread_mutex_destroy(&pool.lock);
    return r;
}
