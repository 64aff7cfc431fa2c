/* test_depend.c - the dependencies of scripts and of ELF files are found as the kernel and the
 * loader find them. */
#include "sandbox.h"
#include "sys/depend.h"
#include "sys/loader.h"

#include <errno.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

/* ---- first lines ---- */

static const struct {
    const char *line;
    const char *interpreter; /* NULL: no script */
    const char *argument;
    const char *program; /* of env; NULL: none */
} lines[] = {
    {"#!/bin/sh\necho\n", "/bin/sh", "", NULL},
    {"#! /bin/sh -e \t\n", "/bin/sh", "-e", "-"},
    {"#!/usr/bin/env node\n", "/usr/bin/env", "node", "node"},
    {"#!/usr/bin/env -S node --x\n", "/usr/bin/env", "-S node --x", "node"},
    {"#!/usr/bin/env -i A=b python3", "/usr/bin/env", "-i A=b python3", "python3"},
    {"#!/usr/bin/env\n", "/usr/bin/env", "", NULL},
    {"#!\n", NULL, NULL, NULL},
    {"#!   \n", NULL, NULL, NULL},
    {"# no\n", NULL, NULL, NULL},
    {"", NULL, NULL, NULL},
    {"\177ELF", NULL, NULL, NULL},
};

static void first_lines_are_read_as_the_kernel_reads_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char line[64] = {0};
        const char *interpreter = NULL, *argument = NULL;
        (void)snprintf(line, sizeof(line), "%s", lines[i].line);
        bool script = ck_depend_shebang_split(line, &interpreter, &argument);
        assert_int_equal(script, !!lines[i].interpreter);
        if (!script)
            continue;
        assert_string_equal(interpreter, lines[i].interpreter);
        assert_string_equal(argument, lines[i].argument);
        if (lines[i].program && strcmp(lines[i].program, "-") == 0)
            continue;
        char env_line[64];
        (void)snprintf(env_line, sizeof(env_line), "%s", argument);
        const char *program = ck_depend_shebang_env_program(env_line);
        assert_int_equal(!!program, !!lines[i].program);
        if (program)
            assert_string_equal(program, lines[i].program);
    }
}

/* ---- scripts ---- */

static struct ck_depend depend;
static const char *search[1];

static int open_in(const struct sandbox *sandbox, const char *name)
{
    int fd = open(in(sandbox, name), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static int setup(void **state)
{
    static char bin[PATH_MAX];
    if (sandbox_new(state) < 0)
        return -1;
    make_directory(*state, "bin", 0755);
    (void)snprintf(bin, sizeof(bin), "%s", in(*state, "bin"));
    search[0] = bin;
    depend = (struct ck_depend){.search = search, .search_count = 1};
    return 0;
}

static int teardown(void **state)
{
    ck_depend_done(&depend);
    return sandbox_free(state);
}

static void env_finds_its_program_in_the_search_path(void **state)
{
    make_file(*state, "bin/inner", 0755, "#!/bin/sh\n");
    make_file(*state, "tool", 0755, "#!/usr/bin/env inner\n");
    int fd = open_in(*state, "tool");
    assert_int_equal(ck_depend_interpreters(&depend, fd), 0);
    assert_int_equal(depend.count, 3);
    assert_string_equal(depend.parts[0].path, "/usr/bin/env");
    assert_string_equal(depend.parts[1].name, "inner");
    assert_string_equal(depend.parts[1].path, in(*state, "bin/inner"));
    assert_string_equal(depend.parts[2].path, "/bin/sh");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(strlen(depend.parts[i].sha256), 64);
    (void)close(fd);
}

static void an_absent_interpreter_is_listed_without_a_path(void **state)
{
    make_file(*state, "tool", 0755, "#!/nonexistent/interpreter\n");
    int fd = open_in(*state, "tool");
    assert_int_equal(ck_depend_all(&depend, fd), 0);
    assert_int_equal(depend.count, 1);
    assert_string_equal(depend.parts[0].name, "/nonexistent/interpreter");
    assert_null(depend.parts[0].path);
    assert_string_equal(depend.parts[0].sha256, "");
    (void)close(fd);
}

static void scripts_that_interpret_each_other_come_to_an_end(void **state)
{
    char line[PATH_MAX];
    (void)snprintf(line, sizeof(line), "#!%s\n", in(*state, "a"));
    make_file(*state, "b", 0755, line);
    (void)snprintf(line, sizeof(line), "#!%s\n", in(*state, "b"));
    make_file(*state, "a", 0755, line);
    int fd = open_in(*state, "a");
    assert_int_equal(ck_depend_all(&depend, fd), -ELOOP);
    (void)close(fd);
}

static void what_is_neither_has_no_parts(void **state)
{
    make_file(*state, "text", 0755, "hello");
    make_file(*state, "cut", 0755, "\177ELF\002\001\001");
    for (int i = 0; i < 2; i++) {
        int fd = open_in(*state, i == 0 ? "text" : "cut");
        assert_int_equal(ck_depend_all(&depend, fd), 0);
        assert_int_equal(depend.count, 0);
        (void)close(fd);
    }
}

static void this_program_needs_a_loader_and_libc(void **state)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool libc = false;
    (void)state;
    assert_int_equal(ck_depend_all(&depend, fd), 0);
    assert_true(depend.count >= 3);
    assert_int_equal(depend.parts[0].role, CK_PART_INTERPRETER);
    for (size_t i = 0; i < depend.count; i++) {
        assert_non_null(depend.parts[i].path);
        assert_int_equal(strlen(depend.parts[i].sha256), 64);
        libc = libc || strncmp(depend.parts[i].name, "libc.so", 7) == 0;
    }
    assert_true(libc);
    (void)close(fd);
}

static size_t count_found(void)
{
    size_t found = 0;
    for (size_t i = 0; i < depend.count; i++)
        found += depend.parts[i].path ? 1 : 0;
    return found;
}

/* A part that could not be opened for lack of a descriptor is not a part that does not exist. */
static void check_with_few_descriptors(int fd)
{
    struct rlimit before;
    assert_int_equal(ck_depend_all(&depend, fd), 0);
    size_t all = count_found();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int lowest = dup(0), r = -EMFILE;
    assert_true(lowest >= 0 && close(lowest) == 0);
    struct rlimit few = before;
    for (rlim_t more = 0; more < 16 && r == -EMFILE; more++) {
        few.rlim_cur = (rlim_t)lowest + more;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        r = ck_depend_all(&depend, fd);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_true(r == -EMFILE || (r == 0 && count_found() == all));
    }
    assert_int_equal(r, 0);
}

static void lack_of_descriptors_is_no_answer(void **state)
{
    int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    check_with_few_descriptors(program);
    (void)close(program);
    make_file(*state, "tool", 0755, "#!/usr/bin/env inner\n");
    make_file(*state, "bin/inner", 0755, "#!/bin/sh\n");
    int script = open_in(*state, "tool");
    check_with_few_descriptors(script);
    (void)close(script);
}

static void without_digests_files_are_still_distinguished(void **state)
{
    struct stat status;
    make_file(*state, "tool", 0755, "#!/bin/sh\n");
    depend.versions_only = true;
    int fd = open_in(*state, "tool");
    assert_int_equal(ck_depend_interpreters(&depend, fd), 0);
    assert_int_equal(depend.count, 1);
    assert_int_equal(stat("/bin/sh", &status), 0);
    struct ck_version expected = ck_version_of(&status);
    assert_true(ck_version_equal(&depend.parts[0].version, &expected));
    assert_string_equal(depend.parts[0].sha256, "");
    (void)close(fd);
}

/* ---- the loader's cache ---- */

struct cache_entry {
    int32_t flags;
    uint32_t name_at;
    uint32_t path_at;
    uint32_t os_version;
    uint64_t hwcaps;
};

struct cache_file {
    char magic[20];
    uint32_t count;
    uint32_t strings_bytes;
    uint32_t unused[5];
    struct cache_entry entries[3];
    char strings[64];
};

static struct cache_file make_cache(void)
{
    struct cache_file cache = {.count = 3, .strings_bytes = 64};
    uint32_t at = offsetof(struct cache_file, strings);
    memcpy(cache.magic, "glibc-ld.so.cache1.1", sizeof(cache.magic));
    memcpy(cache.strings, "liba\0/v3/liba\0/lib/liba\0libb\0/lib/libb", 39);
    cache.entries[0] = (struct cache_entry){.name_at = at, .path_at = at + 5, .hwcaps = 1};
    cache.entries[1] = (struct cache_entry){.name_at = at, .path_at = at + 14};
    cache.entries[2] = (struct cache_entry){.name_at = at + 24, .path_at = at + 29};
    return cache;
}

static void every_path_of_a_name_is_given(void **state)
{
    const struct cache_file cache = make_cache();
    size_t at = 0;
    (void)state;
    assert_string_equal(ck_loader_cached((const char *)&cache, sizeof(cache), "liba", &at), "/v3/liba");
    assert_string_equal(ck_loader_cached((const char *)&cache, sizeof(cache), "liba", &at), "/lib/liba");
    assert_null(ck_loader_cached((const char *)&cache, sizeof(cache), "liba", &at));
    at = 0;
    assert_string_equal(ck_loader_cached((const char *)&cache, sizeof(cache), "libb", &at), "/lib/libb");
    at = 0;
    assert_null(ck_loader_cached((const char *)&cache, sizeof(cache), "lib", &at));
}

static void an_older_table_before_it_is_skipped(void **state)
{
    const struct cache_file cache = make_cache();
    char both[32 + sizeof(cache)] = "ld.so-1.7.0";
    uint32_t count = 1; /* 16 + 12 bytes, and 4 to the next multiple of 8 */
    size_t at = 0;
    (void)state;
    memcpy(both + 12, &count, sizeof(count));
    memcpy(both + 32, &cache, sizeof(cache));
    assert_string_equal(ck_loader_cached(both, sizeof(both), "libb", &at), "/lib/libb");
    count = UINT32_MAX;
    memcpy(both + 12, &count, sizeof(count));
    at = 0;
    assert_null(ck_loader_cached(both, sizeof(both), "libb", &at));
}

/* Each prefix is alone in memory, so that a sanitizer sees a read beyond its end. */
static void a_cut_or_wrong_cache_is_not_used(void **state)
{
    struct cache_file cache = make_cache();
    (void)state;
    for (size_t length = 0; length < sizeof(cache); length++) {
        char *copy = malloc(length + 1);
        size_t at = 0;
        assert_non_null(copy);
        memcpy(copy, &cache, length);
        const char *found = ck_loader_cached(copy, length, "nothing", &at);
        free(copy);
        assert_null(found);
    }
    cache.count = UINT32_MAX;
    cache.entries[1].name_at = UINT32_MAX;
    cache.entries[2].path_at = (uint32_t)sizeof(cache);
    size_t at = 1;
    assert_null(ck_loader_cached((const char *)&cache, sizeof(cache), "libb", &at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_lines_are_read_as_the_kernel_reads_them),
        cmocka_unit_test_setup_teardown(env_finds_its_program_in_the_search_path, setup, teardown),
        cmocka_unit_test_setup_teardown(an_absent_interpreter_is_listed_without_a_path, setup, teardown),
        cmocka_unit_test_setup_teardown(scripts_that_interpret_each_other_come_to_an_end, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_neither_has_no_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(this_program_needs_a_loader_and_libc, setup, teardown),
        cmocka_unit_test_setup_teardown(lack_of_descriptors_is_no_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(without_digests_files_are_still_distinguished, setup, teardown),
        cmocka_unit_test(every_path_of_a_name_is_given),
        cmocka_unit_test(an_older_table_before_it_is_skipped),
        cmocka_unit_test(a_cut_or_wrong_cache_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
