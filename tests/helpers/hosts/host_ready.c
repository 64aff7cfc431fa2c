/*
 * host_ready.c - doctor and lock in a program that also has jobs.
 *
 * host_ready POLICY ROOT LOCK - doctor and lock in a program that also has jobs: they move on, come out of
 * choke_next as ever and alone, and nothing of what was asked is left: no descriptor, no child but the keeper, no
 * restriction. The policy has a tool "teller" that prints version 1.2.3, "sleep" and "true".
 */
#include "host.h"

#include <sys/prctl.h>

static void examine(struct choke_context *context)
{
    struct choke_doctor_report *report = NULL;
    struct choke_error error = {0};
    bool version_found = false;
    CHECK_SAYING(choke_doctor(context, NULL, &report, &error) == 0, error.message);
    CHECK(report->ready);
    for (size_t i = 0; i < report->tool_count; i++) {
        const struct choke_tool_report *tool = &report->tools[i];
        version_found = version_found || (strcmp(tool->name, "teller") == 0 && strcmp(tool->version, "1.2.3") == 0);
    }
    CHECK(version_found);
    CHECK(report->layer_count > 0);
    choke_doctor_report_free(report);
}

static void lock(struct choke_context *context, const char *path)
{
    struct choke_lock_report *report = NULL;
    struct choke_error error = {0};
    int count = choke_lock_write(context, path, &error);
    CHECK_SAYING(count > 0, error.message);
    CHECK_SAYING(choke_lock_check(context, path, &report, &error) == 0, error.message);
    CHECK(report->drift_count == 0 && report->tool_count == (size_t)count);
    choke_lock_report_free(report);
    report = NULL;
    CHECK(choke_lock_check(context, "/nonexistent", &report, &error) == -ENOENT);
    CHECK(!report && strstr(error.message, "/nonexistent"));
    CHECK(choke_lock_write(context, "/nonexistent/lock", &error) == -ENOENT);
}

static void take_apart(struct choke_context *context)
{
    struct choke_tool_parts *parts = NULL;
    struct choke_error error = {0};
    bool loader = false, libc = false;
    CHECK_SAYING(choke_tool_parts(context, "sleep", &parts, &error) == 0, error.message);
    CHECK(strcmp(parts->items[0].role, "tool") == 0 && strcmp(parts->items[0].name, "sleep") == 0);
    for (size_t i = 0; i < parts->count; i++) {
        const struct choke_tool_part *part = &parts->items[i];
        CHECK(part->path && access(part->path, R_OK) == 0);
        loader = loader || (strcmp(part->role, "interpreter") == 0 && strstr(part->path, "/ld-"));
        libc = libc || (strcmp(part->role, "library") == 0 && strcmp(part->name, "libc.so.6") == 0);
    }
    CHECK(loader && libc);
    choke_tool_parts_free(parts);
    parts = NULL;
    CHECK(choke_tool_parts(context, "no_such_tool", &parts, &error) == -EPERM);
    CHECK(!parts && error.outcome == CHOKE_DISALLOWED && strstr(error.message, "no_such_tool"));
    CHECK(choke_tool_parts(context, NULL, &parts, NULL) == -EINVAL);
    choke_tool_parts_free(NULL);
}

/* One job is finished and not yet taken, one runs all the while. */
static void own_jobs_are_not_disturbed(struct choke_context *context, const char *root, const char *path)
{
    const struct choke_request quick = host_request((const char *const[]){"true", NULL}, root);
    const struct choke_request slow = host_request((const char *const[]){"sleep", "30", NULL}, root);
    struct choke_job *finished = host_start(context, &quick);
    CHECK(choke_wait(context, 10000, NULL) == 1);
    struct choke_job *running = host_start(context, &slow);
    examine(context);
    lock(context, path);
    take_apart(context);
    CHECK(choke_running(context) == 1 && !choke_job_result(running));
    CHECK(choke_next(context) == finished);
    CHECK(!choke_next(context));
    CHECK(choke_job_result(finished)->outcome == CHOKE_EXITED);
    choke_job_free(finished);
    choke_cancel(running);
    CHECK(host_drain(context, 60));
    CHECK(choke_next(context) == running);
    choke_job_free(running);
}

static void nothing_is_left(struct choke_context *context)
{
    int privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), filters = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    size_t zombies;
    examine(context);
    size_t before = host_descriptors();
    for (int i = 0; i < 5; i++)
        examine(context);
    CHECK(host_descriptors() == before);
    CHECK(host_children(&zombies) == 1 && zombies == 0);
    CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == privileges);
    CHECK(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == filters);
}

static void what_makes_no_sense_is_an_error(struct choke_context *context)
{
    struct choke_doctor_report *report = NULL;
    struct choke_error error = {0};
    CHECK(choke_doctor(NULL, NULL, &report, &error) == -EINVAL);
    CHECK(choke_doctor(context, NULL, NULL, &error) == -EINVAL);
    CHECK(choke_lock_write(context, NULL, NULL) == -EINVAL);
    CHECK(choke_lock_write(context, "", NULL) == -EINVAL);
    CHECK(choke_lock_check(context, NULL, NULL, NULL) == -EINVAL);
    CHECK(!report);
    choke_doctor_report_free(NULL);
    choke_lock_report_free(NULL);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    struct choke_context *context = host_context(argv[1]);
    what_makes_no_sense_is_an_error(context);
    own_jobs_are_not_disturbed(context, argv[2], argv[3]);
    nothing_is_left(context);
    choke_context_free(context);
    (void)puts("ok");
    return 0;
}
