/*
 * host_versions.c - programs that were built with another version of the header: host_versions
 * POLICY ROOT
 */
#include "host.h"

/* A request of a header that is newer than the library. */
struct newer_request {
    struct choke_request request;
    void *added;
};

/* A program that was built with the first version passes what it knows, and what follows is not its own. */
struct guarded_options {
    struct choke_options options;
    unsigned char beyond[64];
};

static int run(struct choke_context *context, const struct choke_request *request, struct choke_error *error)
{
    struct choke_result *result = NULL;
    int status = choke_run(context, request, &result, error);
    CHECK(status != 0 || result->outcome == CHOKE_EXITED);
    choke_result_free(result);
    return status;
}

static void requests(struct choke_context *context, const char *root)
{
    struct choke_error error = {0};
    struct newer_request newer = {.request = host_request((const char *const[]){"true", NULL}, root)};
    struct choke_job *job = NULL;
    struct choke_decision *decision = NULL;
    CHECK(run(context, &newer.request, NULL) == 0);
    newer.request.struct_size = sizeof(newer.request);
    CHECK(run(context, &newer.request, NULL) == 0);
    newer.request.struct_size = sizeof(newer);
    CHECK(run(context, &newer.request, NULL) == 0); /* not used, so it makes no difference */
    newer.added = &newer;
    CHECK(run(context, &newer.request, &error) == -E2BIG && error.message[0] != '\0');
    CHECK(choke_start(context, &newer.request, &job, NULL) == -E2BIG && !job);
    CHECK(choke_explain(context, &newer.request, &decision, NULL) == -E2BIG && !decision);
    newer.request.struct_size = 8;
    CHECK(run(context, &newer.request, &error) == -EINVAL);
    newer.request.struct_size = 0; /* the member after the first version is not read */
    CHECK(run(context, &newer.request, NULL) == 0);
}

static void others(const char *policy)
{
    struct guarded_options guarded = {.options = {.policy_path = policy}};
    (void)memset(guarded.beyond, 0xff, sizeof(guarded.beyond));
    struct choke_context *context = NULL;
    CHECK(choke_context_new(&guarded.options, &context, NULL) == 0);
    choke_context_free(context);
    context = NULL;
    guarded.options.struct_size = sizeof(guarded);
    CHECK(choke_context_new(&guarded.options, &context, NULL) == -E2BIG && !context);
    guarded.options.struct_size = 1;
    CHECK(choke_context_new(&guarded.options, &context, NULL) == -EINVAL && !context);

    struct choke_lint_report *lint = NULL;
    CHECK(choke_lint(&(struct choke_lint_options){.struct_size = 1}, &lint, NULL) == -EINVAL && !lint);
    struct choke_audit_report *report = NULL;
    const char *const paths[] = {"no-such-log", NULL};
    CHECK(choke_audit_verify(&(struct choke_audit_query){.paths = paths, .struct_size = 1}, &report, NULL) == -EINVAL);
    struct choke_learned *learned = NULL;
    CHECK(choke_policy_learn(&(struct choke_learn){.struct_size = 1}, &learned, NULL) == -EINVAL && !learned);
    struct choke_doctor_report *doctor = NULL;
    context = host_context(policy);
    CHECK(choke_doctor(context, &(struct choke_doctor_options){.struct_size = 1}, &doctor, NULL) == -EINVAL && !doctor);
    choke_context_free(context);
}

static bool stop_at_third(void *data)
{
    return ++*(int *)data == 3;
}

/* The stop callback of lint, in a directory with more than three files. */
static void lint_can_be_stopped(const char *root)
{
    int asked = 0;
    struct choke_lint_report *report = NULL;
    struct choke_error error = {0};
    struct choke_lint_options options = {
        .paths = (const char *const[]){root, NULL}, .root = root, .jobs = 1, .stop = stop_at_third, .data = &asked};
    CHECK(choke_lint(&options, &report, &error) == -ECANCELED && !report && asked == 3);
    CHECK(error.outcome == CHOKE_CANCELLED);
    asked = 100;
    CHECK(choke_lint(&options, &report, NULL) == 0 && report->file_count >= 4 && asked > 103);
    choke_lint_report_free(report);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    struct choke_context *context = host_context(argv[1]);
    requests(context, argv[2]);
    others(argv[1]);
    lint_can_be_stopped(argv[2]);
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
