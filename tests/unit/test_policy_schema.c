/*
 * test_policy_schema.c - policy/policy.schema.json, which editors use, and the table by which
 * policies are loaded agree: keys, which of them are mandatory, values of a choice, sizes.
 */
#include "policy/model.h"
#include "policy/schema.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *schema;
static size_t keys_seen;

static const json_t *resolved(const json_t *node)
{
    static const char start[] = "#/definitions/";
    const char *reference = json_string_value(json_object_get(node, "$ref"));
    if (!reference)
        return node;
    assert_int_equal(strncmp(reference, start, sizeof(start) - 1), 0);
    const json_t *target = json_object_get(json_object_get(schema, "definitions"), reference + sizeof(start) - 1);
    if (!target)
        fail_msg("'%s' leads nowhere", reference);
    return target;
}

static bool has_value(const json_t *array, const char *word)
{
    size_t index;
    const json_t *entry;
    json_array_foreach(array, index,
                       entry) if (json_is_string(entry) && strcmp(json_string_value(entry), word) == 0) return true;
    return false;
}

/* "array" itself, or one of several types. */
static void require_type(const json_t *node, const char *type, const char *path)
{
    const json_t *given = json_object_get(node, "type");
    const char *single = json_string_value(given);
    if (single ? strcmp(single, type) != 0 : !has_value(given, type))
        fail_msg("'%s' must be of type '%s'", path, type);
}

static void require_number(const json_t *node, const char *key, uint64_t value, const char *path)
{
    const json_t *number = json_object_get(node, key);
    if (!json_is_integer(number) || (uint64_t)json_integer_value(number) != value)
        fail_msg("'%s' of '%s' must be %llu", key, path, (unsigned long long)value);
}

static void compare(const cyaml_schema_value_t *table, const json_t *node, const char *path);

static void compare_mapping(const cyaml_schema_value_t *table, const json_t *node, const char *path)
{
    const json_t *properties = json_object_get(node, "properties");
    size_t count = 0, mandatory = 0;
    require_type(node, "object", path);
    if (!json_is_false(json_object_get(node, "additionalProperties")))
        fail_msg("'%s' must refuse unknown keys", path);
    for (const cyaml_schema_field_t *field = table->mapping.fields; field->key; field++, count++) {
        char inner[256];
        (void)snprintf(inner, sizeof(inner), "%s.%s", path, field->key);
        const json_t *property = json_object_get(properties, field->key);
        if (!property)
            fail_msg("'%s' is a key of the loader's, and not in policy.schema.json", inner);
        bool optional = (field->value.flags & CYAML_FLAG_OPTIONAL) != 0;
        if (has_value(json_object_get(node, "required"), field->key) == optional)
            fail_msg("'%s' is mandatory for one of the two only", inner);
        mandatory += !optional;
        compare(&field->value, resolved(property), inner);
    }
    if (json_object_size(properties) != count || json_array_size(json_object_get(node, "required")) != mandatory)
        fail_msg("'%s' has keys in policy.schema.json that the loader does not know", path);
    keys_seen += count;
}

static void compare_enum(const cyaml_schema_value_t *table, const json_t *node, const char *path)
{
    const json_t *enum_values = json_object_get(node, "enum");
    const char *type = json_string_value(json_object_get(node, "type"));
    bool truth = !enum_values && type && strcmp(type, "boolean") == 0;
    for (uint32_t i = 0; i < table->enumeration.count; i++) {
        const char *word = table->enumeration.strings[i].str;
        if (truth ? strcmp(word, "true") != 0 && strcmp(word, "false") != 0 : !has_value(enum_values, word))
            fail_msg("'%s' lacks the word '%s'", path, word);
    }
    assert_int_equal(truth ? 2 : json_array_size(enum_values), table->enumeration.count);
}

static void compare_sequence(const cyaml_schema_value_t *table, const json_t *node, const char *path)
{
    require_type(node, "array", path);
    require_number(node, "minItems", table->sequence.min, path);
    require_number(node, "maxItems", table->sequence.max, path);
    compare(table->sequence.entry, resolved(json_object_get(node, "items")), path);
}

static const cyaml_schema_value_t upstream = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ck_policy_upstream, ck_schema_upstream_fields)};

static void compare(const cyaml_schema_value_t *table, const json_t *node, const char *path)
{
    switch (table->type) {
    case CYAML_MAPPING:
        compare_mapping(table, node, path);
        break;
    case CYAML_SEQUENCE:
        compare_sequence(table, node, path);
        break;
    case CYAML_FLAGS:
        require_type(node, "array", path);
        compare_enum(table, resolved(json_object_get(node, "items")), path);
        break;
    case CYAML_ENUM:
        compare_enum(table, node, path);
        break;
    case CYAML_UINT:
        require_type(node, "integer", path);
        break;
    case CYAML_IGNORE: /* exact: a list of lists, and upstream: two forms, which libcyaml does not know */
        if (json_object_get(node, "oneOf")) {
            const json_t *forms = json_object_get(node, "oneOf");
            assert_string_equal(json_string_value(json_object_get(json_array_get(forms, 0), "const")),
                                CK_POLICY_ENVIRONMENT);
            compare_mapping(&upstream, json_array_get(forms, 1), path);
            break;
        }
        require_type(node, "array", path);
        require_type(resolved(json_object_get(node, "items")), "array", path);
        break;
    default:
        assert_int_equal(table->type, CYAML_STRING);
        require_type(node, "string", path);
        require_number(node, "minLength", table->string.min, path);
        require_number(node, "maxLength", table->string.max, path);
    }
}

static void schema_for_editors_has_the_keys_of_the_loader(void **state)
{
    (void)state;
    json_error_t error;
    schema = json_load_file(CHOKE_SOURCE_DIR "/policy/policy.schema.json", JSON_REJECT_DUPLICATES, &error);
    if (!schema)
        fail_msg("policy.schema.json: line %d: %s", error.line, error.text);
    compare(&ck_policy_schema, schema, "policy");
    assert_true(keys_seen > 40);
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(schema_for_editors_has_the_keys_of_the_loader)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
