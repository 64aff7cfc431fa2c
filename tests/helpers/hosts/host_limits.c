/*
 * host_limits.c - requests just above the limits of execve: host_limits POLICY ROOT
 * argument|extra|count|total
 *
 * No command line can carry them. Each is refused as "invalid" or "spawn_failed" with a message. A
 * request one step smaller runs if the limits of this process allow it.
 */
#include "host.h"

static char *filled(const char *begin, size_t length)
{
    char *text = malloc(length + 1);
    CHECK(text && strlen(begin) <= length);
    (void)memset(text, 'x', length);
    (void)memcpy(text, begin, strlen(begin));
    text[length] = '\0';
    return text;
}

static enum choke_outcome outcome_of(struct choke_context *context, const struct choke_request *request)
{
    struct choke_result *result = host_run(context, request);
    enum choke_outcome outcome = result->outcome;
    CHECK(outcome == CHOKE_EXITED || result->error.message[0] != '\0');
    CHECK(strlen(result->error.message) < 1000); /* the message names the long argument and does not repeat it */
    choke_result_free(result);
    return outcome;
}

static void one_argument(struct choke_context *context, const char *root, bool extra)
{
    for (size_t length = 131071; length <= 131072; length++) {
        char *word = filled(extra ? "LONG=" : "", length);
        const char *argv[] = {"true", extra ? NULL : word, NULL};
        const char *env[] = {word, NULL};
        struct choke_request request = host_request(argv, root);
        request.env = extra ? env : NULL;
        enum choke_outcome outcome = outcome_of(context, &request);
        CHECK_SAYING(outcome == (length == 131071 ? CHOKE_EXITED : CHOKE_INVALID), choke_outcome_name(outcome));
        free(word);
    }
}

static void many_arguments(struct choke_context *context, const char *root, size_t count, size_t length)
{
    const char **argv = calloc(count + 2, sizeof(*argv));
    char *word = filled("", length);
    CHECK(!!argv);
    argv[0] = "true";
    for (size_t i = 1; i <= count; i++) {
        argv[i] = word;
    }
    struct choke_request request = host_request(argv, root);
    enum choke_outcome outcome = outcome_of(context, &request);
    CHECK_SAYING(outcome == CHOKE_INVALID || outcome == CHOKE_SPAWN_FAILED, choke_outcome_name(outcome));
    free(argv);
    free(word);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    struct choke_context *context = host_context(argv[1]);
    if (strcmp(argv[3], "argument") == 0) {
        one_argument(context, argv[2], false);
    } else if (strcmp(argv[3], "extra") == 0) {
        one_argument(context, argv[2], true);
    } else if (strcmp(argv[3], "count") == 0) {
        many_arguments(context, argv[2], 10000000, 0);
    } else {
        many_arguments(context, argv[2], 100, 131071);
    }
    struct choke_request request = host_request((const char *const[]){"true", NULL}, argv[2]);
    CHECK(outcome_of(context, &request) == CHOKE_EXITED);
    choke_context_free(context);
    printf("ok\n");
    return 0;
}
