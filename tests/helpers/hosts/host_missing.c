/*
 * host_missing.c - what a context says by itself: host_missing POLICY ROOT
 *
 * Makes two contexts that report missing tools and one that does not, runs the tool "true" twice in
 * each, and prints an event per line: "CONTEXT NAME TOOL REASON INSTALL".
 */
#include "host.h"

static int number;

static const char *value_of(const struct choke_event *event, const char *key)
{
    for (size_t i = 0; i < event->field_count; i++) {
        if (strcmp(event->fields[i].key, key) == 0 && event->fields[i].value && event->fields[i].value[0] != '\0') {
            return event->fields[i].value;
        }
    }
    return "-";
}

static void print_event(void *data, const struct choke_event *event)
{
    (void)data;
    if (event->level == CHOKE_WARNING) {
        (void)printf("%d\t%s\t%s\t%s\t%s\n", number, event->name, value_of(event, "tool"), value_of(event, "reason"),
                     value_of(event, "install"));
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    const char *const command[] = {"true", NULL};
    for (; number < 3; number++) {
        struct choke_context *context;
        struct choke_error error;
        const struct choke_options options = {
            .policy_path = argv[1], .on_event = print_event, .report_missing = number < 2};
        CHECK_SAYING(choke_context_new(&options, &context, &error) == 0, error.message);
        for (int i = 0; i < 2; i++) {
            struct choke_request request = host_request(command, argv[2]);
            struct choke_result *result = host_run(context, &request);
            CHECK_SAYING(result->outcome == CHOKE_EXITED, result->error.message);
            choke_result_free(result);
        }
        choke_context_free(context);
    }
    return 0;
}
