/*
 * host_hog.c - memory limits in one context, run after run: host_hog POLICY ROOT COUNT
 * TOOL:MIB:HIT...
 *
 * COUNT times each TOOL takes MIB of memory, one after another; the limit that it hits must be HIT,
 * "-" for none. At the end no cgroup of ours is left: the caller of this program checks that.
 */
#include "host.h"

static void run_one(struct choke_context *context, const char *root, const char *spec)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "%s", spec);
    char *mib = strchr(text, ':');
    CHECK(!!mib);
    *mib++ = '\0';
    char *hit = strchr(mib, ':');
    CHECK(!!hit);
    *hit++ = '\0';
    struct choke_request request = host_request((const char *const[]){text, "memory", mib, NULL}, root);
    struct choke_result *result = host_run(context, &request);
    CHECK_SAYING(!!result->tool_path, result->error.message);
    CHECK_SAYING(strcmp(result->limit_hit ? result->limit_hit : "-", hit) == 0, spec);
    CHECK_SAYING((result->outcome == CHOKE_EXITED && host_is(&result->out, "full\n")) == (hit[0] == '-'), spec);
    choke_result_free(result);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 5);
    struct choke_context *context = host_context(argv[1]);
    for (long i = strtol(argv[3], NULL, 10); i > 0; i--) {
        for (int at = 4; at < argc; at++) {
            run_one(context, argv[2], argv[at]);
        }
    }
    choke_context_free(context);
    return 0;
}
