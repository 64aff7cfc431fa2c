/* task.c - see task.h. */
#include "mcp/task.h"

#include "base/fd.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>

static void wake(int fd)
{
    const uint64_t one = 1;
    /* It fails only if the counter is full; then the reader wakes anyway. */
    (void)ck_fd_write(fd, &one, sizeof(one));
}

static void *run(void *data)
{
    struct ck_mcp_task *task = data;
    json_t *result = task->work(task, task->data);

    (void)pthread_mutex_lock(&task->lock);
    task->result = result;
    task->done = true;
    /* Under the lock: after it the loop may free the task. */
    wake(task->wake_fd);
    (void)pthread_mutex_unlock(&task->lock);
    return NULL;
}

static void free_task(struct ck_mcp_task *task)
{
    ck_fd_close(&task->stop_fd);
    (void)pthread_mutex_destroy(&task->lock);
    free(task);
}

struct ck_mcp_task *ck_mcp_task_start(int wake_fd, json_t *(*work)(struct ck_mcp_task *, void *), void *data)
{
    struct ck_mcp_task *task = calloc(1, sizeof(*task));
    if (!task)
        return NULL;
    task->wake_fd = wake_fd;
    task->work = work;
    task->data = data;
    task->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&task->lock, NULL);
    if (task->stop_fd >= 0 && pthread_create(&task->thread, NULL, run, task) == 0)
        return task;
    free_task(task);
    return NULL;
}

void ck_mcp_task_stop(struct ck_mcp_task *task)
{
    (void)pthread_mutex_lock(&task->lock);
    task->stopped = true;
    (void)pthread_mutex_unlock(&task->lock);
    wake(task->stop_fd);
}

struct ck_mcp_task_view ck_mcp_task_look(struct ck_mcp_task *task)
{
    (void)pthread_mutex_lock(&task->lock);
    struct ck_mcp_task_view view = {task->done, task->progress, task->total};
    (void)pthread_mutex_unlock(&task->lock);
    return view;
}

json_t *ck_mcp_task_finish(struct ck_mcp_task *task)
{
    (void)pthread_join(task->thread, NULL);
    json_t *result = task->result;
    free_task(task);
    return result;
}

bool ck_mcp_task_is_stopped(struct ck_mcp_task *task)
{
    (void)pthread_mutex_lock(&task->lock);
    bool stopped = task->stopped;
    (void)pthread_mutex_unlock(&task->lock);
    return stopped;
}

void ck_mcp_task_report(struct ck_mcp_task *task, unsigned progress, unsigned total)
{
    (void)pthread_mutex_lock(&task->lock);
    bool news = task->progress != progress || task->total != total;
    task->progress = progress;
    task->total = total;
    (void)pthread_mutex_unlock(&task->lock);
    if (news)
        wake(task->wake_fd);
}
