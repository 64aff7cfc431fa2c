/*
 * host_nofd.c - descriptors run out at every possible point: host_nofd POLICY ROOT [native]
 *
 * RLIMIT_NOFILE is lowered to what is open plus 0, 1, 2, ... until a whole pass succeeds. Before
 * that every call ends in time with a clean error or result, and no descriptor and no child stays.
 * Once with a context made before the limit, once with a context made under it. With the name of
 * the jail the run is in it and has egress.
 */
#include "host.h"

#include <sys/resource.h>

#define MOST 160

static struct rlimit plenty;
static enum choke_jail jail = CHOKE_JAIL_NONE;

static void allow(size_t descriptors)
{
    struct rlimit limit = {.rlim_cur = descriptors, .rlim_max = plenty.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static bool is_shortage(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE;
}

static struct choke_context *make_context(const char *policy)
{
    struct choke_context *context = NULL;
    struct choke_error error = {0};
    int status = choke_context_new(&(struct choke_options){.policy_path = policy}, &context, &error);
    CHECK((status == 0) == (!!context));
    CHECK_SAYING(status == 0 || is_shortage(-status) || is_shortage(error.errnum), error.message);
    CHECK(status == 0 || error.message[0] != '\0');
    return context;
}

static bool run(struct choke_context *context, const char *root)
{
    static const char *const rules[] = {"a.example.org", NULL};
    struct choke_request request = host_request((const char *const[]){"sh", "-c", "echo hello", NULL}, root);
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    request.timeout_ms = 30000;
    request.jail = jail;
    request.egress = jail != CHOKE_JAIL_NONE ? rules : NULL;
    int status = choke_run(context, &request, &result, &error);
    CHECK((status == 0) == (!!result));
    if (status != 0) {
        CHECK_SAYING(is_shortage(-status), error.message);
        CHECK(error.message[0] != '\0');
        return false;
    }
    bool ran = result->outcome == CHOKE_EXITED;
    /* In a jail the tool may have been there already when there was no descriptor for its way out. */
    bool ended = result->outcome == CHOKE_CANCELLED && jail != CHOKE_JAIL_NONE;
    CHECK_SAYING(ran || ended || result->outcome == CHOKE_SPAWN_FAILED, choke_outcome_name(result->outcome));
    CHECK_SAYING(ran ? host_is(&result->out, "hello\n") : is_shortage(result->error.errnum), result->error.message);
    choke_result_free(result);
    return ran;
}

/* With `more` descriptors above those that are open now; true when a run came through. */
static bool pass(const char *policy, const char *root, size_t more, bool context_in_plenty)
{
    struct choke_context *context = context_in_plenty ? make_context(policy) : NULL;
    CHECK(!context_in_plenty || context);
    allow(host_descriptors() + more);
    if (!context) {
        context = make_context(policy);
    }
    bool ran = context && run(context, root);
    allow(plenty.rlim_cur);
    if (context) {
        CHECK(run(context, root)); /* a shortage that is over has left no harm */
    }
    choke_context_free(context);
    return ran;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3 || argc == 4);
    if (argc == 4) {
        CHECK(strcmp(argv[3], "native") == 0);
        jail = CHOKE_JAIL_NATIVE;
    }
    CHECK(getrlimit(RLIMIT_NOFILE, &plenty) == 0);
    size_t zombies = 0;
    size_t descriptors = host_descriptors();
    for (int round = 0; round < 2; round++) {
        size_t more = 0;
        while (!pass(argv[1], argv[2], more, round == 0)) {
            CHECK(host_descriptors() == descriptors);
            CHECK(host_children(&zombies) == 0);
            CHECK(++more < MOST);
        }
        CHECK(more > 0);
        printf("ok %zu\n", more);
    }
    CHECK(host_descriptors() == descriptors);
    CHECK(host_children(&zombies) == 0);
    return 0;
}
