/*
 * dry_run.c - see dry_run.h. The first word of a line says what it is, so that a script can choose.
 */
#include "guard/dry_run.h"

#include "front/text.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>

/* Lists of the description, and the word for each of their items. */
static const struct {
    const char *key, *word;
} lists[] = {
    {"egress", "egress"},
    {"env", "env"},
    {"read_only", "read-only"},
    {"may_refuse", "may-refuse"},
};

static void print_tools(const struct choke_guard *guard)
{
    struct choke_guard_tool tool;
    for (size_t i = 0; choke_guard_tool(guard, i, &tool); i++)
        (void)printf("%s %s%s%s\n", tool.file ? "door" : "carrier", tool.name, tool.file ? " " : "",
                     tool.file ? tool.file : "");
}

static void print_secrets(const struct choke_guard *guard)
{
    struct choke_guard_secret secret;
    for (size_t i = 0; choke_guard_secret(guard, i, &secret); i++)
        (void)printf("secret %s:%u %s\n", secret.host, secret.port, secret.header);
}

/* With the arguments that the profile inserts. */
static void print_argv(const json_t *cage, const char *const *argv)
{
    size_t index;
    json_t *item;
    (void)printf("argv %s", CK_TEXT_SAFE(argv[0]));
    json_array_foreach(json_object_get(cage, "inject"), index, item)
    {
        (void)printf(" %s", CK_TEXT_SAFE(json_string_value(item)));
    }
    for (size_t i = 1; argv[i]; i++)
        (void)printf(" %s", CK_TEXT_SAFE(argv[i]));
    (void)puts("");
}

static void print_state(const struct choke_guard *guard, const json_t *cage)
{
    size_t index;
    json_t *item;
    const char *store = choke_guard_store(guard);
    json_array_foreach(json_object_get(cage, "state"), index, item)
    {
        (void)printf("state %s %s/%s\n", json_string_value(item), CK_TEXT_SAFE(store ? store : ""),
                     json_string_value(item));
    }
    json_array_foreach(json_object_get(cage, "state_data"), index, item)
    {
        (void)printf("state-data %s\n", json_string_value(item));
    }
}

static void print_rest(const json_t *cage)
{
    size_t index;
    json_t *item;
    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
        json_array_foreach(json_object_get(cage, lists[k].key), index, item)
        {
            (void)printf("%s %s\n", lists[k].word, CK_TEXT_SAFE(json_string_value(item)));
        }
    json_array_foreach(json_object_get(cage, "set_env"), index, item)
    {
        (void)printf("set %s=%s\n", json_string_value(json_object_get(item, "name")),
                     CK_TEXT_SAFE(json_string_value(json_object_get(item, "value"))));
    }
    (void)printf("workspace %s\n", json_string_value(json_object_get(cage, "workspace")));
    (void)printf("workspace_code %s\n", json_is_true(json_object_get(cage, "workspace_code")) ? "true" : "false");
    (void)printf("jit %s\n", json_is_true(json_object_get(cage, "jit")) ? "true" : "false");
}

int ck_guard_dry_run_print(const struct choke_guard *guard, const char *const *argv, struct choke_error *error)
{
    json_t *cage = json_loads(choke_guard_description(guard), 0, NULL);
    if (!cage)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    print_tools(guard);
    print_secrets(guard);
    print_argv(cage, argv);
    print_state(guard, cage);
    print_rest(cage);
    json_decref(cage);
    return 0;
}
