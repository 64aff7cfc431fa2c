/*
 * inside.c - see inside.h.
 *
 * A job has two owners: the thread and the gather. The one that is done with it last frees it, so
 * that Ctrl-C never waits for a thread that is in the middle of a file.
 */
#include "gather/inside.h"

#include "base/clock.h"
#include "base/fd.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct ck_inside_job {
    const struct ck_inside *inside;
    char *root;
    uint64_t deadline_us; /* monotonic; 0: none */
    int wake_fd;          /* its own copy */
    pthread_mutex_t lock; /* for what follows */
    bool ended, abandoned, late;
    int returned; /* by the code */
    struct ck_evidence evidence;
    struct choke_error error;
};

static const struct ck_inside *const insides[] = {&ck_inside_lint};

const struct ck_inside *ck_inside_find(const char *name)
{
    for (size_t i = 0; i < sizeof(insides) / sizeof(insides[0]); i++)
        if (strcmp(insides[i]->name, name) == 0)
            return insides[i];
    return NULL;
}

static void free_job(struct ck_inside_job *job)
{
    ck_evidence_done(&job->evidence);
    ck_fd_close(&job->wake_fd);
    (void)pthread_mutex_destroy(&job->lock);
    free(job->root);
    free(job);
}

static bool is_stopped(void *data)
{
    struct ck_inside_job *job = data;

    (void)pthread_mutex_lock(&job->lock);
    job->late = job->late || (job->deadline_us != 0 && ck_clock_now_us() > job->deadline_us);
    bool stopped = job->abandoned || job->late;
    (void)pthread_mutex_unlock(&job->lock);
    return stopped;
}

static void *run(void *data)
{
    struct ck_inside_job *job = data;
    const struct ck_inside_call call = {.root = job->root, .stop = is_stopped, .data = job};
    struct ck_evidence evidence = {0};
    struct choke_error error = {0};
    const uint64_t one = 1;

    int r = job->inside->work(&call, &evidence, &error);
    (void)pthread_mutex_lock(&job->lock);
    job->ended = true;
    job->returned = r;
    job->evidence = evidence;
    job->error = error;
    bool abandoned = job->abandoned;
    /* Under the lock: after it the gather may free the job. It fails only if the counter is full. */
    (void)ck_fd_write(job->wake_fd, &one, sizeof(one));
    (void)pthread_mutex_unlock(&job->lock);
    if (abandoned)
        free_job(job);
    return NULL;
}

/* Signals are the main thread's; it takes them from a descriptor. */
static int start_thread(struct ck_inside_job *job)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    int r = pthread_attr_init(&attributes);
    if (r != 0)
        return -r;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&thread, &attributes, run, job);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return -r;
}

int ck_inside_start(const struct ck_inside *inside, const char *root, uint64_t timeout_ms, int wake_fd,
                    struct ck_inside_job **ret_job, struct choke_error *error)
{
    struct ck_inside_job *job = calloc(1, sizeof(*job));
    if (!job)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    job->inside = inside;
    job->root = strdup(root);
    job->deadline_us = timeout_ms != 0 ? ck_clock_now_us() + timeout_ms * 1000 : 0;
    job->wake_fd = fcntl(wake_fd, F_DUPFD_CLOEXEC, 0);
    (void)pthread_mutex_init(&job->lock, NULL);
    int r = !job->root ? -ENOMEM : job->wake_fd < 0 ? -errno : start_thread(job);
    if (r < 0) {
        free_job(job);
        return ck_text_error(error, CHOKE_NONE, -r, "cannot start a thread: %s; try again", strerror(-r));
    }
    *ret_job = job;
    return 0;
}

bool ck_inside_has_ended(struct ck_inside_job *job)
{
    (void)pthread_mutex_lock(&job->lock);
    bool ended = job->ended;
    (void)pthread_mutex_unlock(&job->lock);
    return ended;
}

int ck_inside_take(struct ck_inside_job *job, struct ck_evidence *ret_evidence, struct choke_error *error)
{
    /* The thread still holds the lock while it wakes the gather. */
    (void)pthread_mutex_lock(&job->lock);
    int r = job->returned < 0 && job->late ? -ETIMEDOUT : job->returned;
    *ret_evidence = job->evidence;
    *error = job->error;
    job->evidence = (struct ck_evidence){0};
    (void)pthread_mutex_unlock(&job->lock);
    free_job(job);
    return r;
}

void ck_inside_abandon(struct ck_inside_job *job)
{
    if (!job)
        return;
    (void)pthread_mutex_lock(&job->lock);
    job->abandoned = true;
    bool ended = job->ended;
    (void)pthread_mutex_unlock(&job->lock);
    if (ended)
        free_job(job);
}
