/* test_cache.c - what was written is found again, a changed file is not, and a file that we did not
 * write is not used. */
#include "ready/cache.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SHA_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const struct ck_version file = {.device = 2049, .inode = 77, .size = 4096, .mtime_ns = 5, .ctime_ns = 6};
static const struct ck_version huge = {
    .device = UINT64_MAX, .inode = UINT64_MAX - 1, .size = INT64_MAX, .mtime_ns = INT64_MIN, .ctime_ns = INT64_MAX};

static struct ck_cache_tool git(void)
{
    return (struct ck_cache_tool){.name = "git",
                                  .path = "/usr/bin/git",
                                  .version = "2.39.5",
                                  .sha256 = SHA_A,
                                  .files = {file, huge},
                                  .files_count = 2};
}

/* A cache read back from its own text. */
static void round_trip(const struct ck_cache *old, const struct ck_cache_policy *fresh, struct ck_cache *ret)
{
    char *text = ck_cache_format(old, fresh);
    assert_non_null(text);
    assert_int_equal(ck_cache_parse(text, strlen(text), ret), 0);
    free(text);
}

static void what_was_written_is_found(void **state)
{
    struct ck_cache empty = {0}, cache;
    struct ck_cache_tool tools[] = {git(),
                                    {.name = "x", .path = "/x", .sha256 = SHA_B, .files = {file}, .files_count = 1}};
    struct ck_cache_policy policy = {.sha256 = SHA_B, .tools = tools, .count = 2};
    (void)state;
    round_trip(&empty, &policy, &cache);
    const struct ck_cache_tool *found = ck_cache_find(&cache, SHA_B, "git", "/usr/bin/git", tools[0].files, 2);
    assert_non_null(found);
    assert_string_equal(found->version, "2.39.5");
    assert_string_equal(found->sha256, SHA_A);
    found = ck_cache_find(&cache, SHA_B, "x", "/x", &file, 1);
    assert_non_null(found);
    assert_null(found->version);
    ck_cache_done(&cache);
}

static void any_change_is_a_miss(void **state)
{
    struct ck_cache empty = {0}, cache;
    struct ck_cache_tool tools[] = {git()};
    struct ck_cache_policy policy = {.sha256 = SHA_B, .tools = tools, .count = 1};
    (void)state;
    round_trip(&empty, &policy, &cache);
    for (size_t i = 0; i < 2; i++)
        for (size_t part = 0; part < 5; part++) {
            struct ck_version files[2] = {tools[0].files[0], tools[0].files[1]};
            files[i].device ^= part == 0;
            files[i].inode ^= part == 1;
            files[i].size ^= part == 2;
            files[i].mtime_ns ^= part == 3;
            files[i].ctime_ns ^= part == 4;
            assert_null(ck_cache_find(&cache, SHA_B, "git", "/usr/bin/git", files, 2));
        }
    assert_null(ck_cache_find(&cache, SHA_A, "git", "/usr/bin/git", tools[0].files, 2));
    assert_null(ck_cache_find(&cache, SHA_B, "rg", "/usr/bin/git", tools[0].files, 2));
    assert_null(ck_cache_find(&cache, SHA_B, "git", "/bin/git", tools[0].files, 2));
    assert_null(ck_cache_find(&cache, SHA_B, "git", "/usr/bin/git", tools[0].files, 1));
    ck_cache_done(&cache);
}

static void the_policies_used_last_are_kept(void **state)
{
    struct ck_cache cache = {0};
    char digests[12][65];
    (void)state;
    for (int i = 0; i < 12; i++) {
        struct ck_cache next;
        (void)snprintf(digests[i], sizeof(digests[i]), "%064x", i);
        round_trip(&cache, &(struct ck_cache_policy){.sha256 = digests[i]}, &next);
        ck_cache_done(&cache);
        cache = next;
    }
    assert_int_equal(cache.count, CK_CACHE_POLICIES_MAX);
    assert_string_equal(cache.policies[0].sha256, digests[11]);
    struct ck_cache again;
    round_trip(&cache, &(struct ck_cache_policy){.sha256 = digests[9]}, &again);
    assert_int_equal(again.count, CK_CACHE_POLICIES_MAX);
    assert_string_equal(again.policies[0].sha256, digests[9]);
    assert_string_equal(again.policies[1].sha256, digests[11]);
    ck_cache_done(&cache);
    ck_cache_done(&again);
}

#define FILES "[[1,2,3,4,5]]"
#define TOOL(text) "{\"version\":1,\"policies\":[{\"policy\":\"" SHA_A "\",\"tools\":[" text "]}]}"

static const char *const bad[] = {
    "",
    "{",
    "null",
    "[]",
    "{}",
    "{\"version\":1}",
    "{\"version\":2,\"policies\":[]}",
    "{\"version\":\"1\",\"policies\":[]}",
    "{\"version\":1,\"policies\":{}}",
    "{\"version\":1,\"version\":1,\"policies\":[]}",
    "{\"version\":1,\"policies\":[{}]}",
    "{\"version\":1,\"policies\":[{\"policy\":\"aa\",\"tools\":[]}]}",
    "{\"version\":1,\"policies\":[{\"policy\":\"" SHA_A "\",\"tools\":7}]}",
    TOOL("7"),
    TOOL("{}"),
    TOOL("{\"name\":\"a\",\"path\":\"/a\",\"version\":\"1\",\"sha256\":\"" SHA_A "\",\"files\":[]}"),
    TOOL("{\"name\":\"a\",\"path\":\"/a\",\"version\":\"1\",\"sha256\":\"" SHA_A "\",\"files\":[[1,2,3,4]]}"),
    TOOL("{\"name\":\"a\",\"path\":\"/a\",\"version\":\"1\",\"sha256\":\"" SHA_A "\",\"files\":[[1,2,3,4,5.0]]}"),
    TOOL("{\"name\":\"a\",\"path\":\"/a\",\"version\":1,\"sha256\":\"" SHA_A "\",\"files\":" FILES "}"),
    TOOL("{\"name\":\"a\",\"path\":\"/a\",\"version\":\"1\",\"sha256\":\"zz\",\"files\":" FILES "}"),
    TOOL("{\"name\":null,\"path\":\"/a\",\"version\":\"1\",\"sha256\":\"" SHA_A "\",\"files\":" FILES "}"),
    TOOL("{\"name\":\"a\\u0000b\",\"path\":\"/a\",\"version\":\"1\",\"sha256\":\"" SHA_A "\",\"files\":" FILES "}"),
    "{\"version\":1,\"policies\":[]}x",
};

static void an_invalid_cache_is_empty(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ck_cache cache;
        if (ck_cache_parse(bad[i], strlen(bad[i]), &cache) != -EINVAL)
            fail_msg("case %zu was taken", i);
        assert_int_equal(cache.count, 0);
        ck_cache_done(&cache);
    }
}

static void no_beginning_of_a_cache_is_a_cache(void **state)
{
    struct ck_cache empty = {0};
    struct ck_cache_tool tools[] = {git()};
    char *text = ck_cache_format(&empty, &(struct ck_cache_policy){.sha256 = SHA_B, .tools = tools, .count = 1});
    (void)state;
    assert_non_null(text);
    for (size_t length = 0; length < strlen(text); length++) {
        struct ck_cache cache;
        assert_int_equal(ck_cache_parse(text, length, &cache), -EINVAL);
        ck_cache_done(&cache);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_found),          cmocka_unit_test(any_change_is_a_miss),
        cmocka_unit_test(the_policies_used_last_are_kept),    cmocka_unit_test(an_invalid_cache_is_empty),
        cmocka_unit_test(no_beginning_of_a_cache_is_a_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
