/* test_learn_into.c - what is added to the text of a policy is what the loader then reads. */
#include "policy/learn_into.h"
#include "policy/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* With a byte order mark, and lines that end as on Windows. */
#define CRLF_TEXT \
    "\xef\xbb\xbfversion: 1\r\nsearch_path: [/usr/bin]\r\ntools:\r\n  - name: make\r\n    why: x\r\n" \
    "    adr: \"0001\"\r\n    route: external\r\n    args:\r\n      exact: [[a]]\r\n    workspace: rw\r\n"
#define TOP "version: 1\nsearch_path: [/usr/bin]\n"

static const struct ck_learn_item uses[] = {{"c-compiler", "cc1 by gcc"}};
static const struct ck_learn_item execs[] = {{"\"true\"", "true by make"}, {"sort", "sort by make"}};
static const struct ck_learn_item asked[] = {{"perl", "perl by run.sh"}};
static const char *const args[] = {"-o", "a: b", "#", NULL};
static const struct ck_learn_entry entry = {.name = "make",
                                            .why = "x: \"y\"",
                                            .adr = "0001",
                                            .args = args,
                                            .uses = {uses, 1},
                                            .execs = {execs, 2},
                                            .asked_execs = {asked, 1},
                                            .writes = "'h'",
                                            .code = "run.sh"};

static bool has(const struct ck_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

static struct ck_policy *parse(const char *text)
{
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    if (ck_policy_parse("p.yaml", text, strlen(text), &policy, &error) < 0)
        fail_msg("%s\n%s", error.message, text);
    return policy;
}

/* Everything that the text had is there in the same order; whatever is new is between. */
static void expect_kept(const char *before, const char *after)
{
    for (; *before != '\0'; before++, after++) {
        after = strchr(after, *before);
        assert_non_null(after);
    }
}

static void expect_added(const char *text, bool answered)
{
    struct ck_arena arena = {0};
    struct choke_error error = {0};
    struct ck_policy *old = parse(text);
    const struct ck_tool *tool = ck_policy_find(old, "make");
    const struct ck_learn_text source = {.file = "p.yaml", .text = text, .length = strlen(text)};
    const struct ck_learn_change change = {.entry = &entry,
                                           .tool = tool,
                                           .missing = {.call = true,
                                                       .workspace = !tool || !tool->has_workspace,
                                                       .workspace_code = !tool || !tool->workspace_code},
                                           .answered = answered};
    const char *added = NULL;
    if (ck_learn_into(&source, &change, &arena, &added, &error) < 0)
        fail_msg("%s\n%s", error.message, text);
    expect_kept(text, added);
    struct ck_policy *policy = parse(added);
    const struct ck_tool *found = ck_policy_find(policy, "make");
    assert_non_null(found);
    assert_true(has(&found->uses, "c-compiler") && has(&found->execs, "true") && has(&found->execs, "sort"));
    assert_int_equal(has(&found->execs, "perl"), answered);
    assert_true(found->workspace_code);
    assert_int_equal(found->args->exact[0].count, 3);
    assert_string_equal(found->args->exact[0].items[1], "a: b");
    assert_int_equal(policy->tools_count, old->tools_count + (tool ? 0 : 1));
    ck_policy_free(policy);
    ck_policy_free(old);
    ck_arena_done(&arena);
}

static void every_style_is_added_to(void **state)
{
    static const char *const texts[] = {
        TOP "tools:\n  - {name: make, why: \"\xc3\xa4\", route: external, adr: \"0001\", args: {exact: [[a]]}}\n",
        TOP "tools:\n- name: make\n  why: x\n  adr: \"0001\"\n  route: external\n  args:\n    exact:\n    - [a]\n",
        TOP "tools:\n  # first\n  - route: external # \xc3\xa4\n    name: make\n    why: x\n    adr: \"0001\"\n"
            "    args: {operands: none}\n    uses: []\n    execs:\n      - cat # kept\n",
        TOP "tools: # all\n  - name: other\n    why: x\n    adr: \"0001\"\n    route: direct\n",
        "version: 1\nextends: default",
        CRLF_TEXT,
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect_added(texts[i], false);
        expect_added(texts[i], true);
    }
}

static void what_cannot_be_added_to_is_an_error(void **state)
{
    static const char *const texts[] = {"{version: 1, extends: default}\n", TOP "tools: []\n"};
    struct ck_arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const struct ck_learn_text source = {.file = "p.yaml", .text = texts[i], .length = strlen(texts[i])};
        const struct ck_learn_change change = {.entry = &entry};
        const char *added = NULL;
        struct choke_error error = {0};
        assert_true(ck_learn_into(&source, &change, &arena, &added, &error) < 0);
        assert_non_null(strstr(error.message, "add the entry by hand"));
    }
    ck_arena_done(&arena);
}

static void nothing_to_add_is_the_same_text(void **state)
{
    static const char text[] = TOP "tools:\n  - {name: make, why: x, adr: \"0001\", route: direct}\n";
    static const struct ck_learn_entry none = {.name = "make", .args = args};
    const struct ck_learn_text source = {.file = "p.yaml", .text = text, .length = strlen(text)};
    struct ck_policy *policy = parse(text);
    const struct ck_learn_change change = {.entry = &none, .tool = ck_policy_find(policy, "make")};
    struct ck_arena arena = {0};
    struct choke_error error = {0};
    const char *added = NULL;
    (void)state;
    assert_int_equal(ck_learn_into(&source, &change, &arena, &added, &error), 0);
    assert_ptr_equal(added, text);
    ck_policy_free(policy);
    ck_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_style_is_added_to),
        cmocka_unit_test(what_cannot_be_added_to_is_an_error),
        cmocka_unit_test(nothing_to_add_is_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
