/*
 * run-one.c - one tool, blocking: prints the commit that HEAD names.
 *
 *   cc run-one.c $(pkg-config --cflags --libs chokepoint) -o run-one
 */
#include <chokepoint.h>
#include <stdio.h>

int main(void)
{
    const char *const argv[] = {"git", "rev-parse", "HEAD", NULL};
    struct choke_request request = {.argv = argv, .root = ".", .cwd = ".", .timeout_ms = 5000};
    struct choke_context *context = NULL;
    struct choke_result *result = NULL;
    struct choke_error error;
    int status = 1;

    if (choke_context_new(NULL, &context, &error) < 0 || choke_run(context, &request, &result, &error) < 0) {
        fprintf(stderr, "run-one: %s\n", error.message);
    } else if (result->outcome != CHOKE_EXITED) {
        fprintf(stderr, "run-one: %s: %s\n", choke_outcome_name(result->outcome), result->error.message);
    } else {
        fwrite(result->out.data, 1, result->out.length, stdout);
        fwrite(result->err.data, 1, result->err.length, stderr);
        status = result->exit_code;
    }
    choke_result_free(result);
    choke_context_free(context);
    return status;
}
