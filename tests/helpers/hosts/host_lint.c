/*
 * host_lint.c - the linter in another program: host_lint POLICY ROOT
 *
 * Several threads lint at once and each gets the same report. Nothing is left: no descriptor, no
 * child, no thread, no change of the signal mask. The root has three findings in a.py.
 */
#include "host.h"

#include <pthread.h>

#define THREADS 4
#define ROUNDS 3

static const char *root;

static size_t count_threads(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/task");
    CHECK(!!directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        count += entry->d_name[0] != '.';
    (void)closedir(directory);
    return count;
}

static void lint_once(unsigned jobs)
{
    const char *const paths[] = {root, NULL};
    const struct choke_lint_options options = {.paths = paths, .jobs = jobs};
    struct choke_lint_report *report = NULL;
    struct choke_error error = {0};
    CHECK_SAYING(choke_lint(&options, &report, &error) == 0, error.message);
    CHECK(report->finding_count == 3 && report->errors == 3 && report->file_count == 1);
    CHECK(strcmp(report->top, root) == 0 && !report->config);
    for (size_t i = 0; i < report->finding_count; i++) {
        const struct choke_lint_finding *finding = &report->findings[i];
        CHECK(strcmp(finding->name, "a.py") == 0 && strcmp(finding->found, "os.system") == 0);
        CHECK(finding->rule >= report->rules && finding->rule < report->rules + report->rule_count);
        CHECK(finding->line == i + 2 && finding->column == 1 && finding->source_at == 0);
        CHECK(strncmp(finding->source, "os.system(", 10) == 0);
    }
    choke_lint_report_free(report);
}

static void *lint_often(void *data)
{
    for (int i = 0; i < ROUNDS; i++)
        lint_once(2);
    return data;
}

static void many_at_once(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, lint_often, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void errors_are_reported(void)
{
    const char *const paths[] = {"/nonexistent/a.py", NULL};
    const struct choke_lint_options nowhere = {.paths = paths};
    const struct choke_lint_options no_config = {.root = root, .config_path = "/nonexistent"};
    struct choke_lint_report *report = NULL;
    struct choke_error error = {0};
    CHECK(choke_lint(&nowhere, &report, &error) == -ENOENT && !report);
    CHECK(error.outcome == CHOKE_INVALID && strstr(error.message, "/nonexistent/a.py"));
    CHECK(choke_lint(&no_config, &report, NULL) == -ENOENT && !report);
    CHECK(choke_lint(NULL, NULL, &error) == -EINVAL);
    choke_lint_report_free(NULL);
}

int main(int argc, char **argv)
{
    sigset_t before, after;
    size_t zombies;
    CHECK(argc >= 3);
    root = argv[2];
    (void)sigemptyset(&before);
    (void)sigaddset(&before, SIGUSR1);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    size_t descriptors = host_descriptors();
    lint_once(1);
    many_at_once();
    size_t threads = count_threads(); /* a sanitizer may have started a thread by now */
    many_at_once();
    errors_are_reported();
    CHECK(host_descriptors() == descriptors);
    CHECK(host_children(&zombies) == 0);
    CHECK(count_threads() == threads);
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &after) == 0);
    CHECK(sigismember(&after, SIGUSR1) == 1 && sigismember(&after, SIGTERM) == 0);
    (void)puts("ok");
    return 0;
}
