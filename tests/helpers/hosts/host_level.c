/*
 * host_level.c - which events are made: host_level POLICY ROOT
 *
 * From the level on that choke_context_set_level names, for all that follows, also with jobs in flight; all of
 * them before it is called.
 */
#include "host.h"

static size_t counts[CHOKE_WARNING + 1]; /* of events, by their level */

static void on_event(void *data, const struct choke_event *event)
{
    (void)data;
    counts[event->level]++;
}

static void run(struct choke_context *context, const char *root, const char *tool)
{
    struct choke_request request = host_request((const char *const[]){tool, NULL}, root);
    struct choke_result *result = NULL;
    memset(counts, 0, sizeof(counts));
    CHECK(choke_run(context, &request, &result, NULL) == 0);
    choke_result_free(result);
}

static void expect(size_t infos, size_t warnings)
{
    CHECK(counts[CHOKE_INFO] == infos);
    CHECK(counts[CHOKE_WARNING] == warnings);
}

static void changes_while_a_job_runs(struct choke_context *context, const char *root)
{
    struct choke_request request = host_request((const char *const[]){"true", NULL}, root);
    choke_context_set_level(context, CHOKE_INFO);
    memset(counts, 0, sizeof(counts));
    (void)host_start(context, &request);
    expect(1, 0);
    choke_context_set_level(context, CHOKE_WARNING);
    struct choke_job *job = NULL;
    while (!job) {
        CHECK(choke_wait(context, 60000, NULL) >= 0);
        job = choke_next(context);
    }
    choke_job_free(job);
    expect(1, 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    struct choke_context *context = NULL;
    struct choke_options options = {.policy_path = argv[1], .on_event = on_event};
    CHECK(choke_context_new(&options, &context, NULL) == 0);
    run(context, argv[2], "true"); /* what is reported once in a process */
    run(context, argv[2], "true");
    expect(2, 0);
    run(context, argv[2], "no-such-tool");
    expect(0, 1);
    choke_context_set_level(context, CHOKE_WARNING);
    run(context, argv[2], "true");
    expect(0, 0);
    run(context, argv[2], "no-such-tool");
    expect(0, 1);
    changes_while_a_job_runs(context, argv[2]);
    choke_context_set_level(context, CHOKE_DEBUG);
    run(context, argv[2], "true");
    expect(2, 0);
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
