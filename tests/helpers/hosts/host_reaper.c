/*
 * host_reaper.c - a host that reaps every child itself.
 *
 * host_reaper POLICY ROOT COUNT thread|ignore|handler - a host that takes every child's status for itself: by a
 * thread in waitpid(-1), by SIGCHLD ignored (the kernel reaps then), or by a SIGCHLD handler that reaps. Results
 * stay right.
 */
#include "host.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_bool over;
static atomic_long reaped;

static void *reap(void *unused)
{
    while (!atomic_load(&over)) {
        if (waitpid(-1, NULL, WNOHANG) > 0) {
            atomic_fetch_add(&reaped, 1);
        }
        (void)sched_yield();
    }
    return unused;
}

static void on_child(int number)
{
    int saved = errno;
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
        atomic_fetch_add(&reaped, 1);
    }
    errno = saved;
}

static void run_all(struct choke_context *context, const char *root, long count)
{
    for (long i = 0; i < count; i++) {
        char script[64];
        char expected[32];
        (void)snprintf(script, sizeof(script), "echo %ld; exit %ld", i, i % 100);
        (void)snprintf(expected, sizeof(expected), "%ld\n", i);
        struct choke_request request = host_request((const char *const[]){"sh", "-c", script, NULL}, root);
        struct choke_result *result = host_run(context, &request);
        CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
        CHECK(result->exit_code == i % 100);
        CHECK(host_is(&result->out, expected));
        choke_result_free(result);
    }
}

static bool times_out_in_time(struct choke_context *context, const char *root)
{
    struct choke_request request = host_request((const char *const[]){"sleep", "20", NULL}, root);
    request.timeout_ms = 100;
    struct choke_result *result = host_run(context, &request);
    CHECK(result->outcome == CHOKE_TIMEOUT);
    bool in_time = result->duration_us <= 150000;
    choke_result_free(result);
    return in_time;
}

/* A busy machine may be late once, but not again and again. */
static void time_out(struct choke_context *context, const char *root)
{
    int tries = 5;
    while (!times_out_in_time(context, root)) {
        CHECK(--tries > 0);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    pthread_t thread;
    bool threaded = strcmp(argv[4], "thread") == 0;
    if (threaded) {
        CHECK(pthread_create(&thread, NULL, reap, NULL) == 0);
    } else {
        struct sigaction action = {.sa_handler = strcmp(argv[4], "ignore") == 0 ? SIG_IGN : on_child};
        CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
    }
    struct choke_context *context = host_context(argv[1]);
    run_all(context, argv[2], strtol(argv[3], NULL, 10));
    time_out(context, argv[2]);
    choke_context_free(context);
    atomic_store(&over, true);
    if (threaded) {
        CHECK(pthread_join(thread, NULL) == 0);
    }
    size_t zombies = 0;
    CHECK(host_children(&zombies) == 0);
    printf("ok %ld\n", atomic_load(&reaped));
    return 0;
}
