/*
 * extend_cases.h - policies with `extends`, drawn like those of test_diff_grants.c, which includes it.
 *
 * A drawn policy stands for the default one. What extends it is written in two ways: with `extends`,
 * `remove` and `grant`, and as one file in which the lists are already longer. Whenever the first
 * loads, the second must, and both must be the same policy.
 */
#ifndef TEST_EXTEND_CASES_H
#define TEST_EXTEND_CASES_H

#define GRANT_VALUES_MAX 6

/* Values of every key of a grant. With NULL the grant lacks it. Some are in the lists of keys already. */
static const struct {
    const char *key;
    const char *values[GRANT_VALUES_MAX];
} grant_rows[] = {
    {"why", {NULL, "g"}},
    {"adr", {NULL, "\"0003\""}},
    {"options", {NULL, NULL, NULL, "[--new]", "[-k, --new=]", "[-b]"}},
    {"egress", {NULL, NULL, NULL, "[b.org]", "[b.org, \"*.c.org\"]", "[x.a.org]"}},
    {"env", {NULL, NULL, NULL, "[NODE_ENV]", "[NODE_ENV, LINES]", "[COLUMNS]"}},
    {"execs", {NULL, NULL, NULL, "[less]", "[awk]", "[awk, sed]"}},
    {"uses", {NULL, NULL, NULL, "[shell]", "[node-scripts]", "[shell, python-tools]"}},
    {"reads", {NULL, NULL, NULL, "[/opt/c]", "[/opt/a]", "[/opt/c, /opt/d]"}},
};

#define GRANT_ROWS COUNT(grant_rows)

struct grant_draw {
    bool present;
    unsigned char value[GRANT_ROWS];
};

/* What extends a policy. */
struct extension_draw {
    struct draw own; /* its tools that are present replace those of the base */
    bool has_search_path;
    bool removed[COUNT(names)];
    struct grant_draw grants[COUNT(names)];
    struct grant_draw sub_grants[COUNT(names)][COUNT(subcommands)];
};

/* Is the key a list that a grant lengthens? */
static const char *granted_value(const struct grant_draw *grant, const char *key)
{
    for (size_t i = 2; grant->present && i < GRANT_ROWS; i++)
        if (strcmp(grant_rows[i].key, key) == 0)
            return grant_rows[i].values[grant->value[i]];
    return NULL;
}

static void draw_grant(struct grant_draw *grant)
{
    grant->present = pick(3) == 0;
    for (size_t i = 0; i < GRANT_ROWS; i++)
        grant->value[i] = (unsigned char)pick(i < 2 ? 2 : GRANT_VALUES_MAX);
}

static void draw_extension(struct extension_draw *extension)
{
    draw_policy(&extension->own);
    extension->has_search_path = pick(3) == 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        extension->own.tools[i].present = pick(4) == 0;
        extension->removed[i] = pick(8) == 0;
        draw_grant(&extension->grants[i]);
        for (size_t s = 0; s < COUNT(subcommands); s++) {
            draw_grant(&extension->sub_grants[i][s]);
            /* Subcommands do not have this one. */
            for (size_t row = 0; row < GRANT_ROWS; row++)
                if (strcmp(grant_rows[row].key, "reads") == 0)
                    extension->sub_grants[i][s].value[row] = 0;
        }
    }
}

/* ---- as a policy that extends ------------------------------------------------------------ */

static void put_grant(struct text *text, const struct grant_draw *grant, const char *name, const char *subcommand)
{
    bool grants = false;
    for (size_t i = 2; i < GRANT_ROWS; i++)
        grants = grants || (grant->present && grant_rows[i].values[grant->value[i]]);
    if (!grants)
        return;
    put(text, "  - {name: %s, ", name);
    if (subcommand)
        put(text, "subcommand: %s, ", subcommand);
    for (size_t i = 0; i < GRANT_ROWS; i++)
        if (grant_rows[i].values[grant->value[i]])
            put(text, "%s: %s, ", grant_rows[i].key, grant_rows[i].values[grant->value[i]]);
    put(text, "}\n");
}

/* Only what can be granted: to tools and subcommands that are there. The others are refused, as other tests show. */
static void put_extension(struct text *text, const struct draw *base, const struct extension_draw *extension)
{
    text->length = 0;
    put(text, "version: 1\nextends: default\n");
    if (extension->has_search_path)
        put(text, "search_path: [/opt/bin, /bin]\n");
    put(text, "remove: [");
    for (size_t i = 0; i < COUNT(names); i++)
        if (extension->removed[i] && base->tools[i].present && !extension->own.tools[i].present)
            put(text, "%s, ", names[i]);
    put(text, "]\ngrant:\n");
    size_t before = text->length;
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct tool_draw *tool = &base->tools[i];
        if (!tool->present || extension->removed[i] || extension->own.tools[i].present || is_carrier(tool))
            continue;
        for (size_t s = 0; s < COUNT(subcommands); s++)
            if (tool->shape == SUBCOMMANDS && tool->has_sub[s])
                put_grant(text, &extension->sub_grants[i][s], names[i], subcommands[s]);
        put_grant(text, &extension->grants[i], names[i], NULL);
    }
    if (text->length == before)
        put(text, "  []\n");
    put_tools(text, &extension->own);
}

/* ---- as one file ------------------------------------------------------------------------- */

/* "[a]" and "[b]" as "[a, b]"; either may be NULL. In buffer. */
static const char *joined(const char *first, const char *second, char *buffer, size_t size)
{
    if (!first || !second || strcmp(first, "[]") == 0)
        return second ? second : first;
    (void)snprintf(buffer, size, "%.*s, %s", (int)strlen(first) - 1, first, second + 1);
    return buffer;
}

/* The value of a key of one tool or subcommand with what is granted; NULL: absent. */
static const char *lengthened(const struct lengthen *lengthen, const char *key, const char *value, char *buffer,
                              size_t size)
{
    const struct extension_draw *extension = lengthen->extension;
    size_t tool = lengthen->tool;
    char inner[256], path[64];
    if (!lengthen->subcommand)
        return joined(value, granted_value(&extension->grants[tool], key), buffer, size);
    const char *more = granted_value(&extension->sub_grants[tool][lengthen->subcommand - 1], key);
    (void)snprintf(path, sizeof(path), "tools.%s", key);
    if (!value && more && strcmp(key, "options") != 0) /* it has the tool's */
        value = joined(value_at(lengthen->tool_value, path), granted_value(&extension->grants[tool], key), inner,
                       sizeof(inner));
    return joined(value, more, buffer, size);
}

/* In the order of the result: the tools of the base, then new ones. */
static void put_flat(struct text *text, const struct draw *base, const struct extension_draw *extension)
{
    static struct draw flat;
    struct lengthen lengthen = {.extension = extension};
    text->length = 0;
    put(text, "version: 1\nsearch_path: %s\n",
        extension->has_search_path ? "[/opt/bin, /bin]" : value_at(base->top, "search_path"));
    put(text, "tools:\n");
    size_t before = text->length;
    for (size_t i = 0; i < COUNT(names); i++) {
        bool own = extension->own.tools[i].present;
        lengthen.tool = i;
        flat.tools[i] = own ? extension->own.tools[i] : base->tools[i];
        if (base->tools[i].present && (own || !extension->removed[i]))
            put_tool(text, &flat.tools[i], names[i], own ? NULL : &lengthen);
    }
    for (size_t i = 0; i < COUNT(names); i++)
        if (!base->tools[i].present && extension->own.tools[i].present)
            put_tool(text, &extension->own.tools[i], names[i], NULL);
    if (text->length == before)
        put(text, "  []\n");
}

/* ---- what is written in another way ------------------------------------------------------- */

/* With the sanitizers each takes five times as long. */
#if defined(CHOKE_SANITIZED)
#define EXTENSIONS 80
#else
#define EXTENSIONS 400
#endif

/* Without what says where it was written. */
static void drop_places(json_t *json)
{
    const char *key;
    size_t index;
    json_t *inner;
    (void)json_object_del(json, "line");
    (void)json_object_del(json, "file");
    (void)json_object_del(json, "adr_dir");
    json_object_foreach(json, key, inner) drop_places(inner);
    json_array_foreach(json, index, inner) drop_places(inner);
}

static char *json_of(const struct ck_policy *policy)
{
    struct ck_arena arena = {0};
    json_t *json = json_loads(ck_policy_json(policy, &arena), 0, NULL);
    drop_places(json);
    char *text = json_dumps(json, JSON_SORT_KEYS);
    json_decref(json);
    ck_arena_done(&arena);
    assert_non_null(text);
    return text;
}

/* What was not in the JSON, because it is made from the rest. */
static void require_same(const struct ck_policy *a, const struct ck_policy *b, const char *text)
{
    char *left = json_of(a);
    char *right = json_of(b);
    if (strcmp(left, right) != 0)
        fail_msg("not the same policy:\n%s\n%s\n%s", text, left, right);
    free(left);
    free(right);
    for (uint32_t i = 0; i < a->tools_count; i++) {
        assert_string_equal(a->by_name[i]->name, b->by_name[i]->name);
        assert_true(ck_policy_find(a, a->tools[i].name) == &a->tools[i]);
        if (a->tools[i].args)
            assert_int_equal(a->tools[i].args->only_exact, b->tools[i].args->only_exact);
    }
}

/* R84: what `policy show --yaml` prints is the same policy; every key of the schema is drawn. */
static void require_written(const struct ck_policy *policy)
{
    struct ck_arena arena = {0};
    struct ck_policy *again = NULL;
    struct choke_error error = {0};
    const char *text = ck_policy_yaml(policy, &arena);
    if (ck_policy_parse("p.yaml", text, strlen(text), &again, &error) != 0)
        fail_msg("%s in\n%s", error.message, text);
    require_same(policy, again, text);
    assert_string_equal(ck_policy_yaml(again, &arena), text);
    ck_policy_free(again);
    ck_arena_done(&arena);
}

static void what_is_written_loads_back_to_the_same(void **state)
{
    static struct draw draw;
    static struct text text;
    size_t loaded = 0;
    (void)state;
    random_state = first_seed + 1;
    while (loaded < EXTENSIONS) {
        draw_policy(&draw);
        put_policy(&text, &draw);
        struct ck_policy *policy = parse(&text);
        if (policy) {
            require_written(policy);
            loaded++;
        }
        ck_policy_free(policy);
    }
}

/* The diff of a policy that extends is a diff of what it results in. */
static void check_extension(struct tally *tally, const struct draw *base_draw, struct ck_policy *base)
{
    static struct extension_draw extension;
    static struct text texts[2];
    struct ck_policy *extended = NULL;
    struct choke_error error = {0};
    draw_extension(&extension);
    put_extension(&texts[0], base_draw, &extension);
    put_flat(&texts[1], base_draw, &extension);
    const struct ck_policy_source source = {
        .file = "p.yaml", .text = texts[0].bytes, .length = texts[0].length, .base = base};
    if (ck_policy_parse_source(&source, &extended, &error) < 0) {
        assert_true(error.line > 0 && error.column > 0);
        return;
    }
    struct ck_policy *flat = NULL;
    if (ck_policy_parse("p.yaml", texts[1].bytes, texts[1].length, &flat, &error) != 0)
        fail_msg("%s:\n%s\n%s", error.message, texts[0].bytes, texts[1].bytes);
    require_same(extended, flat, texts[0].bytes);
    require_written(extended);
    check_pair(tally, base, extended);
    check_pair(tally, extended, base);
    ck_policy_free(flat);
    ck_policy_free(extended);
    tally->compared++;
}

static void what_extends_is_as_if_written_in_one_file(void **state)
{
    static struct draw base_draw;
    static struct text text;
    struct tally tally = {0};
    size_t loaded = 0;
    (void)state;
    random_state = first_seed + 2;
    while (loaded < EXTENSIONS) {
        draw_policy(&base_draw);
        put_policy(&text, &base_draw);
        struct ck_policy *base = parse(&text);
        for (size_t i = 0; base && i < 8; i++) {
            tally.compared = 0;
            check_extension(&tally, &base_draw, base);
            loaded += tally.compared > 0;
        }
        ck_policy_free(base);
    }
    assert_int_equal(tally.faults, 0);
    assert_true(tally.narrowed > EXTENSIONS / 20);
}

#endif
