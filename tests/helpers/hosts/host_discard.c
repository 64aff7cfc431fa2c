/*
 * host_discard.c - a context that is discarded while its jobs run: host_discard POLICY ROOT MARKER
 *
 * The call returns at once, calls nothing back, leaks nothing, and the trees die. The tools ignore
 * SIGTERM and have a child in another session. The test looks for MARKER afterwards.
 */
#include "host.h"

static size_t calls; /* of callbacks */
static bool forbidden;

static void on_event(void *data, const struct choke_event *event)
{
    (void)data;
    (void)event;
    CHECK(!forbidden);
}

static void on_output(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    (void)data;
    (void)stream;
    (void)bytes;
    (void)length;
    CHECK(!forbidden);
    calls++;
}

static double discard(const char *policy, const char *root, const char *marker, size_t jobs)
{
    struct choke_context *context = NULL;
    struct choke_options options = {.policy_path = policy, .on_event = on_event};
    CHECK(choke_context_new(&options, &context, NULL) == 0);
    calls = 0;
    for (size_t i = 0; i < jobs; i++) {
        struct choke_request request = host_request((const char *const[]){"escape", "setsid", marker, NULL}, root);
        request.on_output = on_output;
        (void)host_start(context, &request);
    }
    double end = host_now() + 60;
    while (calls < jobs) {
        CHECK(host_now() < end);
        CHECK(choke_wait(context, 20, NULL) >= 0);
    }
    forbidden = true;
    double began = host_now();
    choke_context_discard(context);
    double took = host_now() - began;
    forbidden = false;
    return took;
}

static void reap(void)
{
    size_t zombies = 0;
    double end = host_now() + 60;
    while (host_children(&zombies) > 0) { /* a keeper that needed longer than the call waits */
        CHECK(host_now() < end);
        (void)waitpid(-1, NULL, WNOHANG);
        (void)usleep(1000);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    size_t descriptors = host_descriptors();
    double best = 60;
    choke_context_discard(NULL);
    for (int i = 0; i < 5; i++) {
        double took = discard(argv[1], argv[2], argv[3], i == 0 ? 0 : 3);
        best = i > 0 && took < best ? took : best;
        reap();
        CHECK(host_descriptors() == descriptors);
    }
    CHECK(best < 0.2);
    printf("ok\n");
    return 0;
}
