/*
 * yaml_write.c - writes a policy as YAML. See yaml_write.h.
 *
 * It walks the table by which policies are loaded (schema.h), so a new key is written without a
 * line here. What is zero in the model and optional in the table is left out, because the loader
 * leaves zero where a key is absent. The exceptions are in ck_schema_is_given.
 *
 * By hand and not with libyaml's emitter: the bytes are hashed, so they must not depend on a
 * version of that library.
 */
#include "policy/yaml_write.h"

#include "policy/schema.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define COLUMNS 118 /* where a list is continued on the next line */

/* Everything is written twice: once to count, and once into the memory. */
struct yaml_out {
    char *text; /* NULL: only count */
    size_t length;
    size_t column;
};

static void put_bytes(struct yaml_out *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (out->text)
            out->text[out->length] = bytes[i];
        out->length++;
        out->column = bytes[i] == '\n' ? 0 : out->column + 1;
    }
}

static void put(struct yaml_out *out, const char *text)
{
    put_bytes(out, text, strlen(text));
}

static void put_indent(struct yaml_out *out, unsigned indent)
{
    for (unsigned i = 0; i < indent; i++)
        put(out, " ");
}

/* ---- single values ----------------------------------------------------------------------- */

/* Words that some reader of YAML takes for something else than text. */
static bool is_reserved(const char *text)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

/* Is it text to every reader of YAML without quotes, also inside of brackets? When unsure, no. */
static bool is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "0123456789._/+-=|<>";
    size_t dashes = strspn(text, "-");
    const char *at = text + dashes;
    bool begins = dashes == 0 ? *at == '/' || (*at != '\0' && strchr(letters, *at))
                              : dashes <= 2 && *at != '\0' && strchr(letters, *at);
    for (; begins && *at != '\0'; at++)
        begins = strchr(letters, *at) || strchr(others, *at);
    return begins && !is_reserved(text);
}

/* Text of a policy has no control character but the newline (yaml_tree.c). */
static void put_text(struct yaml_out *out, const char *text)
{
    if (is_plain(text)) {
        put(out, text);
        return;
    }
    put(out, "\"");
    for (const char *at = text; *at != '\0'; at++)
        if (*at == '\n')
            put(out, "\\n");
        else {
            if (*at == '"' || *at == '\\')
                put(out, "\\");
            put_bytes(out, at, 1);
        }
    put(out, "\"");
}

/* An unsigned number of 1 to 8 bytes, as libcyaml stores it. */
static uint64_t read_number(const cyaml_schema_value_t *schema, const void *data)
{
    uint64_t value = 0;
    switch (schema->data_size) {
    case 1:
        return *(const uint8_t *)data;
    case 2:
        return *(const uint16_t *)data;
    case 4:
        return *(const uint32_t *)data;
    default:
        memcpy(&value, data, sizeof(value));
        return value;
    }
}

static void put_number(struct yaml_out *out, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    put(out, text);
}

/* Words of the table need no quotes, and booleans must have none. */
static void put_choice(struct yaml_out *out, const cyaml_schema_value_t *schema, uint64_t value)
{
    for (uint32_t i = 0; i < schema->enumeration.count; i++)
        if ((uint64_t)schema->enumeration.strings[i].val == value)
            put(out, schema->enumeration.strings[i].str);
}

/* ---- lists ------------------------------------------------------------------------------- */

/* indent is that of the key; a long list continues below its first entry's column. */
static void put_list(struct yaml_out *out, const char *const *items, uint32_t count, unsigned indent)
{
    put(out, "[");
    for (uint32_t i = 0; i < count; i++) {
        struct yaml_out measured = {.column = out->column};
        put_text(&measured, items[i]);
        if (i > 0)
            put(out, ",");
        if (i > 0 && measured.column + 3 > COLUMNS) {
            put(out, "\n");
            put_indent(out, indent + 4);
        } else if (i > 0) {
            put(out, " ");
        }
        put_text(out, items[i]);
    }
    put(out, "]");
}

static void put_flags(struct yaml_out *out, const cyaml_schema_value_t *schema, uint64_t bits)
{
    const char *separator = "[";
    for (uint32_t i = 0; i < schema->enumeration.count; i++)
        if ((bits & (uint64_t)schema->enumeration.strings[i].val) != 0) {
            put(out, separator);
            put(out, schema->enumeration.strings[i].str);
            separator = ", ";
        }
    put(out, "]");
}

/* exact, the one list of lists, which libcyaml's table cannot describe. */
static void put_exact(struct yaml_out *out, const struct ck_args *args, unsigned indent)
{
    for (uint32_t i = 0; i < args->exact_count; i++) {
        put(out, "\n");
        put_indent(out, indent + 2);
        put(out, "- ");
        put_list(out, args->exact[i].items, args->exact[i].count, indent + 2);
    }
}

/* ---- mappings ---------------------------------------------------------------------------- */

/* One key of a struct: what the table says, and where its value is. */
struct yaml_member {
    const cyaml_schema_field_t *field;
    const void *owner; /* the struct */
    const void *data;  /* the value; of a pointer, what it points to */
    uint32_t count;    /* of a list */
};

static struct yaml_member find_member(const cyaml_schema_field_t *field, const void *owner)
{
    struct yaml_member member = {.field = field, .owner = owner, .data = (const char *)owner + field->data_offset};
    if (field->value.type == CYAML_SEQUENCE)
        memcpy(&member.count, (const char *)owner + field->count_offset, sizeof(member.count));
    if ((field->value.flags & CYAML_FLAG_POINTER) != 0 && field->value.type != CYAML_IGNORE)
        member.data = *(const void *const *)member.data;
    return member;
}

/* libcyaml ignores two keys, exact and upstream. The owner of the latter is the policy. */
static bool is_exact(const struct yaml_member *member)
{
    return strcmp(member->field->key, "exact") == 0;
}

static bool has_upstream(const struct yaml_member *member)
{
    const struct ck_policy *policy = member->owner;
    return policy->upstream.environment || policy->upstream.url;
}

static bool is_absent(const cyaml_schema_field_t *fields, const struct yaml_member *member);

static bool is_empty(const cyaml_schema_field_t *fields, const void *owner)
{
    for (const cyaml_schema_field_t *field = fields; field->key; field++) {
        const struct yaml_member member = find_member(field, owner);
        if (!is_absent(fields, &member))
            return false;
    }
    return true;
}

/* Would the loader leave the same in the model without the key? */
static bool is_absent(const cyaml_schema_field_t *fields, const struct yaml_member *member)
{
    const cyaml_schema_value_t *value = &member->field->value;
    if ((value->flags & CYAML_FLAG_OPTIONAL) == 0 || ck_schema_is_given(fields, member->field->key, member->owner))
        return false;
    switch (value->type) {
    case CYAML_SEQUENCE:
        return member->count == 0;
    case CYAML_IGNORE:
        return is_exact(member) ? ((const struct ck_args *)member->owner)->exact_count == 0 : !has_upstream(member);
    case CYAML_MAPPING:
        return (value->flags & CYAML_FLAG_POINTER) != 0 ? !member->data : is_empty(value->mapping.fields, member->data);
    case CYAML_STRING:
        return !member->data;
    default:
        return read_number(value, member->data) == 0;
    }
}

static void put_members(struct yaml_out *out, const cyaml_schema_field_t *fields, const void *owner, unsigned indent);

/* A list of text, or of structs. */
static void put_sequence(struct yaml_out *out, const struct yaml_member *member, unsigned indent)
{
    const cyaml_schema_value_t *entry = member->field->value.sequence.entry;
    if (entry->type != CYAML_MAPPING || member->count == 0) {
        put(out, " ");
        put_list(out, member->data, member->count, indent);
        return;
    }
    for (uint32_t i = 0; i < member->count; i++) {
        put(out, "\n");
        put_indent(out, indent + 2);
        put(out, "- ");
        put_members(out, entry->mapping.fields, (const char *)member->data + (size_t)i * entry->data_size, indent + 4);
    }
}

static void put_upstream(struct yaml_out *out, const struct ck_policy *policy, unsigned indent)
{
    if (policy->upstream.environment) {
        put(out, " " CK_POLICY_ENVIRONMENT);
        return;
    }
    put(out, "\n");
    put_indent(out, indent + 2);
    put_members(out, ck_schema_upstream_fields, &policy->upstream, indent + 2);
}

static void put_member(struct yaml_out *out, const struct yaml_member *member, unsigned indent)
{
    const cyaml_schema_value_t *value = &member->field->value;
    put(out, member->field->key);
    put(out, ":");
    if (value->type == CYAML_SEQUENCE) {
        put_sequence(out, member, indent);
    } else if (value->type == CYAML_IGNORE && is_exact(member)) {
        put_exact(out, member->owner, indent);
    } else if (value->type == CYAML_IGNORE) {
        put_upstream(out, member->owner, indent);
    } else if (value->type == CYAML_MAPPING && is_empty(value->mapping.fields, member->data)) {
        put(out, " {}");
    } else if (value->type == CYAML_MAPPING) {
        put(out, "\n");
        put_indent(out, indent + 2);
        put_members(out, value->mapping.fields, member->data, indent + 2);
    } else {
        put(out, " ");
        if (value->type == CYAML_STRING)
            put_text(out, member->data);
        else if (value->type == CYAML_FLAGS)
            put_flags(out, value, read_number(value, member->data));
        else if (value->type == CYAML_ENUM)
            put_choice(out, value, read_number(value, member->data));
        else
            put_number(out, read_number(value, member->data));
    }
}

/* The first key is where the caller has written to; every other one begins a line. */
static void put_members(struct yaml_out *out, const cyaml_schema_field_t *fields, const void *owner, unsigned indent)
{
    bool first = true;
    for (const cyaml_schema_field_t *field = fields; field->key; field++) {
        const struct yaml_member member = find_member(field, owner);
        if (is_absent(fields, &member))
            continue;
        if (!first) {
            put(out, "\n");
            put_indent(out, indent);
        }
        first = false;
        put_member(out, &member, indent);
    }
}

const char *ck_policy_yaml(const struct ck_policy *policy, struct ck_arena *arena)
{
    /* What the loader has applied is not written again. */
    struct ck_policy flat = *policy;
    flat.extends = false;
    flat.catalog.count = 0;
    flat.remove.count = 0;
    flat.grants_count = 0;
    struct yaml_out out = {0};
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            out.text = ck_arena_alloc(arena, out.length + 1);
            if (!out.text)
                return NULL;
        }
        out.length = out.column = 0;
        put_members(&out, ck_policy_schema.mapping.fields, &flat, 0);
        put(&out, "\n");
    }
    out.text[out.length] = '\0';
    return out.text;
}

const char *ck_policy_yaml_text(const char *text, struct ck_arena *arena)
{
    struct yaml_out out = {0};
    put_text(&out, text);
    out.text = ck_arena_alloc(arena, out.length + 1);
    if (!out.text)
        return NULL;
    out.length = out.column = 0;
    put_text(&out, text);
    out.text[out.length] = '\0';
    return out.text;
}
