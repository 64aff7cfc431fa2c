/* test_wire.c - a packed plan contains what was put in, at any address. */
#include "run/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PACK(argv_, env_, path_, buffer, size) \
    ck_wire_pack(&(struct ck_wire_strings){.argv = (argv_), .env = (env_), .path = (path_)}, (buffer), (size))

static const char *const argv[] = {"git", "log", "", "--format=%H\n", NULL};
static const char *const env[] = {"PATH=/usr/bin", "LANG=C.UTF-8", NULL};

/* What the warden does: offsets into pointers. */
static void check_table(const unsigned char *base, uint64_t at, uint32_t count, const char *const *expected)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset;
        memcpy(&offset, base + at + i * sizeof(offset), sizeof(offset));
        assert_string_equal((const char *)base + offset, expected[i]);
    }
    uint64_t end;
    memcpy(&end, base + at + count * sizeof(end), sizeof(end));
    assert_int_equal(end, 0);
}

static void strings_come_back_as_they_were(void **state)
{
    (void)state;
    _Alignas(struct ck_wire_plan) unsigned char buffer[4096];
    size_t size = PACK(argv, env, "/usr/bin/npm", buffer, sizeof(buffer));
    const struct ck_wire_plan *plan = (const void *)buffer;
    assert_int_equal(plan->kind, CK_WIRE_PLAN);
    assert_int_equal(plan->size_bytes, size);
    assert_int_equal(plan->argc, 4);
    assert_int_equal(plan->envc, 2);
    check_table(buffer, plan->argv_at, plan->argc, argv);
    check_table(buffer, plan->env_at, plan->envc, env);
    assert_string_equal((const char *)buffer + plan->path_at, "/usr/bin/npm");
}

static void without_a_path_the_descriptor_is_executed(void **state)
{
    (void)state;
    _Alignas(struct ck_wire_plan) unsigned char buffer[4096];
    (void)PACK(argv, env, NULL, buffer, sizeof(buffer));
    assert_int_equal(((const struct ck_wire_plan *)(const void *)buffer)->path_at, 0);
}

static void measuring_and_packing_agree(void **state)
{
    (void)state;
    size_t size = PACK(argv, env, NULL, NULL, 0);
    unsigned char *exact = malloc(size);
    assert_non_null(exact);
    assert_int_equal(PACK(argv, env, NULL, exact, size), size);
    check_table(exact, ((const struct ck_wire_plan *)(const void *)exact)->argv_at, 4, argv);
    free(exact);
}

/* A short buffer is never written beyond its end (the sanitizer build watches), and the needed size
 * is still returned. */
static void a_short_buffer_is_not_overrun(void **state)
{
    (void)state;
    size_t size = PACK(argv, env, NULL, NULL, 0);
    for (size_t length = 0; length < size; length++) {
        unsigned char *small = malloc(length + 1);
        assert_non_null(small);
        small[length] = 0xa5;
        assert_int_equal(PACK(argv, env, NULL, small, length), size);
        assert_int_equal(small[length], 0xa5);
        free(small);
    }
}

static void every_stage_and_every_kill_has_a_name(void **state)
{
    (void)state;
    for (unsigned stage = 0; stage < CK_STAGES; stage++)
        assert_non_null(ck_wire_stage_text((enum ck_stage)stage));
    assert_string_equal(ck_wire_kill_name(CK_KILL_CGROUP), "cgroup");
    assert_string_equal(ck_wire_kill_name(CK_KILL_SUBREAPER), "subreaper");
    assert_string_equal(ck_wire_kill_name(CK_KILL_PGROUP), "pgroup");
}

static void limits_and_mechanisms_have_names(void **state)
{
    (void)state;
    assert_string_equal(ck_wire_held_name(CK_HELD_NONE), "none");
    assert_string_equal(ck_wire_held_name(CK_HELD_RLIMIT), "rlimit");
    assert_string_equal(ck_wire_held_name(CK_HELD_CGROUP1), "cgroup1");
    assert_string_equal(ck_wire_held_name(CK_HELD_CGROUP2), "cgroup2");
    assert_null(ck_wire_hit_name(0));
    assert_string_equal(ck_wire_hit_name(1u << CK_LIMIT_MEMORY), "oom");
    assert_string_equal(ck_wire_hit_name(1u << CK_LIMIT_PROCESSES), "pids");
    assert_string_equal(ck_wire_hit_name(1u << CK_LIMIT_CPU), "cpu");
    assert_string_equal(ck_wire_hit_name(1u << CK_LIMIT_FILE_SIZE), "fsize");
    assert_string_equal(ck_wire_hit_name(1u << CK_LIMIT_FILE_SIZE | 1u << CK_LIMIT_MEMORY), "oom");
}

/* "cannot create a process for 'git'": the text before the tool's name must lead to it. */
static void every_stage_is_about_the_tool(void **state)
{
    static const char *const ends[] = {" for", " of", " by", "execute", "run"};
    (void)state;
    for (unsigned stage = 0; stage < CK_STAGES; stage++) {
        const char *text = ck_wire_stage_text((enum ck_stage)stage);
        bool found = false;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
            size_t length = strlen(text), end = strlen(ends[i]);
            found = found || (length >= end && strcmp(text + length - end, ends[i]) == 0);
        }
        if (!found)
            fail_msg("'cannot %s TOOL' is not a sentence", text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_come_back_as_they_were),
        cmocka_unit_test(without_a_path_the_descriptor_is_executed),
        cmocka_unit_test(measuring_and_packing_agree),
        cmocka_unit_test(a_short_buffer_is_not_overrun),
        cmocka_unit_test(every_stage_and_every_kill_has_a_name),
        cmocka_unit_test(limits_and_mechanisms_have_names),
        cmocka_unit_test(every_stage_is_about_the_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
