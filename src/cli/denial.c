/* denial.c - shows what the jail of a run refused, as JSON and as text. See denial.h. */
#include "cli/denial.h"

#include "front/jansson.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *denial_object(const struct choke_denial *denial)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= json_object_set_new(object, "kind", ck_jansson_text(denial->kind));
    bad |= json_object_set_new(object, "path", ck_jansson_text(denial->path));
    bad |= json_object_set_new(object, "by", ck_jansson_text(denial->by));
    bad |= json_object_set_new(object, "errno", json_integer(denial->errnum));
    bad |= json_object_set_new(object, "add", ck_jansson_text(denial->add));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

json_t *ck_denial_array(const struct choke_result *result)
{
    if (!result->denied)
        return json_null();
    json_t *array = json_array();
    int bad = 0;

    for (size_t i = 0; i < result->denied_count; i++)
        bad |= json_array_append_new(array, denial_object(&result->denied[i]));
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

static void print_line(FILE *text, const struct choke_denial *denial)
{
    bool named = denial->path[0] != '\0';

    (void)fprintf(text, "denied: %s tried to execute %s (not in execs); ", denial->by,
                  named ? denial->path : "a file whose name could not be read");
    if (denial->add)
        (void)fprintf(text, "add  %s\n", denial->add);
    else
        (void)fputs("ask the owner of the policy\n", text);
}

/* If there are more than fit, the last line counts them. */
static void print_lines(FILE *text, const struct choke_result *result)
{
    uint64_t all = result->denied_count + result->denied_more;
    size_t shown = all <= CK_DENIAL_LINES ? result->denied_count : CK_DENIAL_LINES - 1;

    shown = shown < result->denied_count ? shown : result->denied_count;
    for (size_t i = 0; i < shown; i++)
        print_line(text, &result->denied[i]);
    if (all > shown)
        (void)fprintf(text, "denied: %" PRIu64 " more; run with --json to see them\n", all - shown);
}

char *ck_denial_text(const struct choke_result *result)
{
    char *text = NULL;
    size_t length = 0;

    if (!result->denied || (result->outcome == CHOKE_EXITED && result->exit_code == 0))
        return strdup("");
    FILE *lines = open_memstream(&text, &length);
    if (!lines)
        return NULL;
    print_lines(lines, result);
    if (fclose(lines) == 0)
        return text;
    free(text);
    return NULL;
}
