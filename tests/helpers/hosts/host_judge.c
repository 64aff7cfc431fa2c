/*
 * host_judge.c - judge argument vectors and run none of them: host_judge POLICY ROOT CWD
 *
 * POLICY is a file, or "default". A vector is its length in decimal and then its arguments, each
 * ended by a NUL. The answer is, each ended by a NUL: outcome, rule, line, message, the length of
 * the tool's vector, and its arguments.
 */
#include "host.h"

#define ARGS_MAX 4096

/* One string, to be freed by the caller; NULL at the end of the input. */
static char *read_arg(void)
{
    char *word = NULL;
    size_t size = 0;
    ssize_t length = getdelim(&word, &size, '\0', stdin);
    if (length < 0) {
        free(word);
        return NULL;
    }
    return word;
}

static void say(const char *word)
{
    CHECK(fwrite(word, 1, strlen(word) + 1, stdout) == strlen(word) + 1);
}

static void say_number(size_t number)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%zu", number);
    say(text);
}

static void judge(struct choke_context *context, const char *root, const char *cwd, const char *const *argv)
{
    struct choke_request request = host_request(argv, root);
    struct choke_decision *decision = NULL;
    struct choke_error error = {0};
    request.cwd = cwd;
    request.timeout_ms = CHOKE_TIMEOUT_FROM_POLICY;
    CHECK_SAYING(choke_explain(context, &request, &decision, &error) == 0, error.message);
    say(decision->outcome == CHOKE_NONE ? "allowed" : choke_outcome_name(decision->outcome));
    say(decision->rule ? decision->rule : "");
    say_number(decision->error.line);
    say(decision->error.message);
    size_t count = 0;
    while (decision->argv && decision->argv[count]) {
        count++;
    }
    say_number(count);
    for (size_t i = 0; i < count; i++) {
        say(decision->argv[i]);
    }
    choke_decision_free(decision);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    struct choke_context *context = host_context(strcmp(argv[1], "default") == 0 ? NULL : argv[1]);
    static const char *vector[ARGS_MAX + 1];
    for (char *length = read_arg(); length; length = read_arg()) {
        size_t count = strtoul(length, NULL, 10);
        free(length);
        CHECK(count >= 1 && count <= ARGS_MAX);
        for (size_t i = 0; i < count; i++) {
            vector[i] = read_arg();
            CHECK(!!vector[i]);
        }
        vector[count] = NULL;
        judge(context, argv[2], argv[3], vector);
        for (size_t i = 0; i < count; i++) {
            free((char *)(uintptr_t)vector[i]);
        }
        CHECK(fflush(stdout) == 0);
    }
    choke_context_free(context);
    return 0;
}
