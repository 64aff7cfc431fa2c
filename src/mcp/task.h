/*
 * task.h - work of a call that blocks, in a thread of its own: gather and lint.
 *
 * The thread has all signals blocked, as the loop has, and its own context of the library. It
 * passes progress and its result through the task, under its lock, and wakes the loop.
 */
#ifndef CK_MCP_TASK_H
#define CK_MCP_TASK_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

struct ck_mcp_task {
    pthread_t thread;
    pthread_mutex_t lock;
    int wake_fd; /* an eventfd of the loop; not owned */
    int stop_fd; /* an eventfd: readable when the task must stop */
    bool stopped;
    bool done;
    unsigned progress, total; /* total 0: nothing to report yet */
    json_t *result;           /* owned until it is taken */
    json_t *(*work)(struct ck_mcp_task *task, void *data);
    void *data;
};

/* What the loop sees. */
struct ck_mcp_task_view {
    bool done;
    unsigned progress, total;
};

/* Starts the thread. NULL: it could not be started. data must live until the task is freed. */
struct ck_mcp_task *ck_mcp_task_start(int wake_fd, json_t *(*work)(struct ck_mcp_task *, void *), void *data);
void ck_mcp_task_stop(struct ck_mcp_task *task);
struct ck_mcp_task_view ck_mcp_task_look(struct ck_mcp_task *task);

/* Of a task that is done: takes its result, joins the thread, frees it. */
json_t *ck_mcp_task_finish(struct ck_mcp_task *task);

/* In the thread. */
bool ck_mcp_task_is_stopped(struct ck_mcp_task *task);
void ck_mcp_task_report(struct ck_mcp_task *task, unsigned progress, unsigned total);

#endif
