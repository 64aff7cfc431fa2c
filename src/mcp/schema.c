/* schema.c - see schema.h. */
#include "mcp/schema.h"

#include "base/quote.h"
#include "front/text.h"

#include <errno.h>
#include <string.h>

#define NAMES_MAX 256

/* Where a value is: the name of the argument, and whether it is an item of it. */
struct place {
    const char *name;
    const char *of; /* "" or " items" */
};

static int check_value(const json_t *schema, const json_t *value, const struct place *place, struct choke_error *error);

static int refuse(struct choke_error *error, const struct place *place, const char *must)
{
    return ck_text_error(error, CHOKE_INVALID, EINVAL, "argument '%s'%s must be %s", CK_QUOTE(place->name), place->of,
                         must);
}

/* "argv, cwd, stdin": what would be right. */
static const char *list_names(const json_t *properties, char names[NAMES_MAX])
{
    const char *key;
    json_t *value;
    size_t used = 0;

    names[0] = '\0';
    json_object_foreach((json_t *)(uintptr_t)properties, key, value)
    {
        if (used + strlen(key) + 3 < NAMES_MAX)
            used += (size_t)snprintf(names + used, NAMES_MAX - used, "%s%s", used > 0 ? ", " : "", key);
    }
    return names;
}

static int check_members(const json_t *schema, const json_t *value, struct choke_error *error)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    char names[NAMES_MAX];
    const char *key;
    json_t *member;

    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        const json_t *known = json_object_get(properties, key);
        if (!known && !json_is_object(others))
            return ck_text_error(error, CHOKE_INVALID, EINVAL,
                                 "unknown argument '%s'; the arguments are: %s. Policy, root, jail and audit belong to "
                                 "whoever started the server",
                                 CK_QUOTE(key), list_names(properties, names));
        int r = check_value(known ? known : others, member, &(struct place){key, ""}, error);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_object(const json_t *schema, const json_t *value, const struct place *place, struct choke_error *error)
{
    size_t index;
    json_t *name;

    if (!json_is_object(value))
        return refuse(error, place, "an object");
    json_array_foreach(json_object_get(schema, "required"), index, name)
    {
        if (!json_object_get(value, json_string_value(name)))
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "argument '%s' is missing", json_string_value(name));
    }
    return check_members(schema, value, error);
}

static int check_array(const json_t *schema, const json_t *value, const struct place *place, struct choke_error *error)
{
    const json_t *least = json_object_get(schema, "minItems");
    const json_t *most = json_object_get(schema, "maxItems");
    size_t index;
    json_t *item;

    if (!json_is_array(value))
        return refuse(error, place, "an array of strings");
    if (least && json_array_size(value) < (size_t)json_integer_value(least))
        return refuse(error, place, "an array with at least one item");
    if (most && json_array_size(value) > (size_t)json_integer_value(most))
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "argument '%s' has too many items; at most %lld are allowed",
                             CK_QUOTE(place->name), (long long)json_integer_value(most));
    json_array_foreach(value, index, item)
    {
        int r = check_value(json_object_get(schema, "items"), item, &(struct place){place->name, " items"}, error);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_string(const json_t *value, const struct place *place, struct choke_error *error)
{
    if (!json_is_string(value))
        return refuse(error, place, "a string");
    if (strlen(json_string_value(value)) != json_string_length(value))
        return refuse(error, place, "a string without a NUL character");
    return 0;
}

static int check_number(const json_t *schema, const json_t *value, const struct place *place, struct choke_error *error)
{
    double least = json_number_value(json_object_get(schema, "minimum"));
    double most = json_number_value(json_object_get(schema, "maximum"));

    if (json_number_value(value) >= least && json_number_value(value) <= most)
        return 0;
    return ck_text_error(error, CHOKE_INVALID, EINVAL, "argument '%s' must be from %.15g to %.15g",
                         CK_QUOTE(place->name), least, most);
}

static int check_value(const json_t *schema, const json_t *value, const struct place *place, struct choke_error *error)
{
    const char *type = json_string_value(json_object_get(schema, "type"));

    if (strcmp(type, "object") == 0)
        return check_object(schema, value, place, error);
    if (strcmp(type, "array") == 0)
        return check_array(schema, value, place, error);
    if (strcmp(type, "string") == 0)
        return check_string(value, place, error);
    if (strcmp(type, "boolean") == 0)
        return json_is_boolean(value) ? 0 : refuse(error, place, "true or false");
    if (!json_is_number(value) || (strcmp(type, "integer") == 0 && !json_is_integer(value)))
        return refuse(error, place, strcmp(type, "integer") == 0 ? "an integer" : "a number");
    return check_number(schema, value, place, error);
}

int ck_mcp_schema_check(const json_t *schema, const json_t *value, struct choke_error *error)
{
    json_t *none = value ? NULL : json_object();
    int r = check_value(schema, value ? value : none, &(struct place){"arguments", ""}, error);

    json_decref(none);
    return r;
}
