/* test_lockfile.c - a lock is the same bytes for the same machine, and every difference between two is named. */
#include "ready/lockfile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SHA_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

struct sample {
    struct ck_lockfile_file interpreters[2];
    struct ck_lockfile_file libraries[4];
    struct ck_lockfile_tool tools[3];
    struct ck_lockfile lock;
};

static void make_sample(struct sample *sample)
{
    *sample = (struct sample){
        .interpreters = {{"/lib/ld.so", "/lib/ld.so", SHA_A}},
        .libraries = {{"libz.so.1", "/lib/libz.so.1", SHA_A}, {"libc.so.6", "/lib/libc.so.6", SHA_B}},
        .tools = {{.name = "rg", .path = "/usr/bin/rg", .version = "13", .sha256 = SHA_B},
                  {.name = "git", .path = "/usr/bin/git", .version = "2", .sha256 = SHA_A}},
    };
    sample->tools[1].interpreters = (struct ck_lockfile_files){sample->interpreters, 1};
    sample->tools[1].libraries = (struct ck_lockfile_files){sample->libraries, 2};
    sample->lock = (struct ck_lockfile){.tools = sample->tools, .count = 2};
    ck_lockfile_sort(&sample->lock);
}

static struct ck_lockfile_tool *tool(struct sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->lock.count; i++)
        if (strcmp(sample->tools[i].name, name) == 0)
            return &sample->tools[i];
    fail_msg("no tool %s", name);
    return NULL;
}

/* "tool what before after" of each, one per line. */
static char *compare(const struct ck_lockfile *before, const struct ck_lockfile *after)
{
    static char text[4096];
    struct ck_arena arena = {0};
    struct choke_drift *drifts = NULL;
    size_t count = 0, at = 0;
    assert_int_equal(ck_lockfile_compare(before, after, &arena, &drifts, &count), 0);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s: %s: %s -> %s\n", drifts[i].tool, drifts[i].what,
                               drifts[i].before ? drifts[i].before : "-", drifts[i].after ? drifts[i].after : "-");
    ck_arena_done(&arena);
    return text;
}

static void a_lock_comes_back_from_its_text(void **state)
{
    struct sample sample;
    struct ck_lockfile lock;
    struct choke_error error = {0};
    (void)state;
    make_sample(&sample);
    char *text = ck_lockfile_format(&sample.lock);
    assert_non_null(text);
    assert_true(strstr(text, "\"git\"") < strstr(text, "\"rg\""));
    assert_true(strstr(text, "libc.so.6") < strstr(text, "libz.so.1"));
    assert_int_equal(ck_lockfile_parse(text, strlen(text), &lock, &error), 0);
    assert_string_equal(compare(&sample.lock, &lock), "");
    char *again = ck_lockfile_format(&lock);
    assert_string_equal(text, again);
    free(text);
    free(again);
    ck_lockfile_done(&lock);
}

static void every_change_is_named(void **state)
{
    struct sample before, after;
    (void)state;
    make_sample(&before);
    make_sample(&after);
    tool(&after, "git")->path = "/bin/git";
    tool(&after, "git")->version = NULL;
    tool(&after, "git")->sha256 = SHA_B;
    after.interpreters[0].sha256 = NULL;
    tool(&after, "git")->libraries.items[0].sha256 = SHA_A;
    tool(&after, "git")->libraries.items[1].path = "/evil/libz.so.1";
    assert_string_equal(compare(&before.lock, &after.lock),
                        "git: path: /usr/bin/git -> /bin/git\n"
                        "git: version: 2 -> -\n"
                        "git: sha256: " SHA_A " -> " SHA_B "\n"
                        "git: interpreter /lib/ld.so sha256: " SHA_A " -> -\n"
                        "git: library libc.so.6 sha256: " SHA_B " -> " SHA_A "\n"
                        "git: library libz.so.1 path: /lib/libz.so.1 -> /evil/libz.so.1\n");
}

static void tools_and_files_that_come_and_go_are_drift(void **state)
{
    struct sample before, after;
    (void)state;
    make_sample(&before);
    make_sample(&after);
    after.tools[0].name = "jq"; /* sorted: git, rg -> jq, rg */
    after.tools[0].path = "/usr/bin/jq";
    assert_string_equal(compare(&before.lock, &after.lock), "git: tool: /usr/bin/git -> -\n"
                                                            "jq: tool: - -> /usr/bin/jq\n");
    make_sample(&after);
    tool(&after, "git")->libraries.items[0].name = "libd.so";
    tool(&after, "git")->libraries.items[0].path = NULL;
    tool(&after, "git")->libraries.items[0].sha256 = NULL;
    assert_string_equal(compare(&before.lock, &after.lock), "git: library libc.so.6: /lib/libc.so.6 -> -\n"
                                                            "git: library libd.so: - -> not found\n");
}

static void an_empty_lock_differs_by_all_its_tools(void **state)
{
    struct sample sample;
    struct ck_lockfile empty = {0};
    (void)state;
    make_sample(&sample);
    assert_string_equal(compare(&empty, &sample.lock), "git: tool: - -> /usr/bin/git\nrg: tool: - -> /usr/bin/rg\n");
    assert_string_equal(compare(&empty, &empty), "");
}

#define TOOL(text) "{\"version\":1,\"tools\":[" text "]}"
#define REST "\"path\":\"/a\",\"version\":\"1\",\"sha256\":\"" SHA_A "\",\"interpreters\":[],\"libraries\":[]}"

static const struct {
    const char *text;
    const char *expected_text;
} bad[] = {
    {"", "not JSON"},
    {"{\"version\":1,", "not JSON"},
    {"[]", "not a lock file"},
    {"{\"version\":1}", "not a lock file"},
    {"{\"version\":9,\"tools\":[]}", "its version is 9"},
    {TOOL("{\"name\":\"a\"," REST ",{\"name\":\"a\"," REST), "twice"},
    {TOOL("{\"name\":7," REST), "tool 1 is malformed"},
    {TOOL("{\"name\":\"a\",\"path\":\"/a\",\"version\":\"1\",\"sha256\":\"" SHA_A "\"}"), "tool 1 is malformed"},
    {TOOL("{\"name\":\"a\"," REST ",3"), "tool 2 is malformed"},
    {TOOL("{\"name\":\"a\",\"path\":\"/a\",\"version\":\"1\",\"sha256\":\"ABC\",\"interpreters\":[],\"libraries\":[]}"),
     "tool 1 is malformed"},
    {TOOL("{\"name\":\"a\",\"path\":\"/a\",\"version\":null,\"sha256\":null,\"interpreters\":[{}],\"libraries\":[]}"),
     "tool 1 is malformed"},
    {"{\"version\":1,\"tools\":[],\"tools\":[]}", "not JSON"},
};

static void an_invalid_lock_is_refused_with_a_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ck_lockfile lock;
        struct choke_error error = {0};
        assert_int_equal(ck_lockfile_parse(bad[i].text, strlen(bad[i].text), &lock, &error), -EINVAL);
        if (!strstr(error.message, bad[i].expected_text))
            fail_msg("case %zu: %s", i, error.message);
        assert_int_equal(lock.count, 0);
        ck_lockfile_done(&lock);
    }
}

static void deep_nesting_is_refused(void **state)
{
    struct ck_lockfile lock;
    struct choke_error error = {0};
    size_t depth = 1000000;
    char *text = malloc(depth);
    (void)state;
    assert_non_null(text);
    memset(text, '[', depth);
    assert_int_equal(ck_lockfile_parse(text, depth, &lock, &error), -EINVAL);
    ck_lockfile_done(&lock);
    free(text);
}

static void too_many_tools_are_counted(void **state)
{
    static const char head[] = "{\"version\": 1, \"tools\": [0";
    size_t length = sizeof(head) + 2 * 100000 + 2;
    char *text = calloc(1, length);
    struct choke_error error = {0};
    struct ck_lockfile lock;
    (void)state;
    assert_non_null(text);
    memcpy(text, head, sizeof(head) - 1);
    for (size_t i = sizeof(head) - 1; i + 3 < length; i += 2)
        memcpy(text + i, ",0", 2);
    memcpy(text + strlen(text), "]}", 2);
    assert_int_equal(ck_lockfile_parse(text, strlen(text), &lock, &error), -EINVAL);
    assert_string_equal(error.message, "it has 100001 tools; the maximum is 100000");
    ck_lockfile_done(&lock);
    free(text);
}

/* ---- without memory ---- */

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

static unsigned countdown; /* the allocation of this number fails; 0: none does */

void *__wrap_malloc(size_t bytes)
{
    return countdown > 0 && --countdown == 0 ? NULL : __real_malloc(bytes);
}

/* A lock whose strings need several blocks of an arena. */
static char *make_large(void)
{
    struct sample sample;
    char *path = calloc(1, 3001);
    assert_non_null(path);
    memset(path, 'p', 3000);
    make_sample(&sample);
    tool(&sample, "git")->path = path;
    sample.libraries[0].path = path;
    sample.libraries[1].path = path;
    char *text = ck_lockfile_format(&sample.lock);
    assert_non_null(text);
    free(path);
    return text;
}

static int parse_failing_at(const char *text, unsigned number, struct choke_error *error)
{
    struct ck_lockfile lock;
    countdown = number;
    int r = ck_lockfile_parse(text, strlen(text), &lock, error);
    countdown = 0;
    ck_lockfile_done(&lock);
    return r;
}

/* A lack of memory is not a fault of the file: not "it is not JSON", not "tool 1 is malformed". */
static void lack_of_memory_is_not_a_fault_of_the_file(void **state)
{
    char *text = make_large();
    struct choke_error error = {0};
    unsigned failed = 0;
    (void)state;
    for (int r = -ENOMEM; r != 0; failed += r != 0) {
        error = (struct choke_error){0};
        r = parse_failing_at(text, failed + 1, &error);
        if (r != 0)
            assert_string_equal(error.message, "out of memory");
        assert_true(r == 0 || r == -ENOMEM);
    }
    assert_true(failed > 2);
    json_set_alloc_funcs(__wrap_malloc, free); /* of its later failures jansson describes some as syntax */
    assert_int_equal(parse_failing_at(text, 1, &error), -ENOMEM);
    json_set_alloc_funcs(malloc, free);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_comes_back_from_its_text),
        cmocka_unit_test(every_change_is_named),
        cmocka_unit_test(tools_and_files_that_come_and_go_are_drift),
        cmocka_unit_test(an_empty_lock_differs_by_all_its_tools),
        cmocka_unit_test(an_invalid_lock_is_refused_with_a_message),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(too_many_tools_are_counted),
        cmocka_unit_test(lack_of_memory_is_not_a_fault_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
