/* test_plugins.c - which interpreters have which plug-ins, and what the cache may say about them. */
#include "jail/plugins.h"
#include "jail/plugins_cache.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "feature.h"

/* ---- the table ---- */

static void interpreters_are_known_by_their_paths(void **state)
{
    (void)state;
    static const struct {
        const char *path, *version;
    } cases[] = {
        {"/usr/bin/python3.11", "11"},
        {"/usr/local/bin/python3.13", "13"},
        {"/usr/bin/ruby3.1", "3.1"},
        {"/usr/bin/perl", ""},
        {"/usr/bin/perl5.36.0", "5.36.0"},
        {"/usr/bin/php8.2", "8.2"},
        {"/usr/bin/lua5.4", "5.4"},
        {"/usr/bin/python3", NULL},
        {"/usr/bin/python3.", NULL},
        {"/usr/bin/python3.11d", NULL},
        {"/usr/bin/python3.1/1", NULL},
        {"/usr/bin/python3...", NULL},
        {"/usr/bin/python3.111111111111111111", NULL},
        {"/usr/bin/ruby", NULL},
        {"/usr/bin/node", NULL},
        {"/opt/bin/python3.11", NULL},
        {"/work/usr/bin/perl", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ck_plugins_interpreter found;
        bool known = ck_plugins_layout_find(cases[i].path, &found);
        assert_int_equal(known, !!cases[i].version);
        if (known)
            assert_string_equal(found.version, cases[i].version);
    }
}

static void directories_are_those_of_the_version(void **state)
{
    (void)state;
    static const struct {
        const char *interpreter, *path;
        bool held;
    } cases[] = {
        {"/usr/bin/python3.11", "/usr/lib/python3.11/lib-dynload/_ssl.so", true},
        {"/usr/bin/python3.11", "/usr/lib/python3/dist-packages/lxml/html/diff.so", true},
        {"/usr/bin/python3.11", "/usr/lib/python3.12/lib-dynload/_ssl.so", false},
        {"/usr/bin/python3.11", "/usr/lib/python3.11/lib-dynload", false},
        {"/usr/bin/python3.11", "/usr/lib/python3.11/_ssl.so", false},
        {"/usr/bin/python3.11", "/usr/lib/git-core/git", false},
        {"/usr/bin/ruby3.1", "/usr/lib/x86_64-linux-gnu/ruby/3.1.0/json/ext/parser.so", true},
        {"/usr/bin/ruby3.1", "/usr/lib/x86_64-linux-gnu/ruby/3.3.0/json/ext/parser.so", false},
        {"/usr/bin/perl", "/usr/lib/aarch64-linux-gnu/perl/5.36.0/auto/POSIX/POSIX.so", true},
        {"/usr/bin/perl", "/usr/lib/x86_64-linux-gnu/perl/5.36.0/POSIX.so", false},
        {"/usr/bin/perl", "/usr/lib/a/b-linux-c/perl/5.36.0/auto/POSIX.so", false},
        {"/usr/bin/php8.2", "/usr/lib/php/20220829/dom.so", true},
        {"/usr/bin/php8.2", "/usr/lib/php/8.2/dom.so", false},
        {"/usr/bin/php8.2", "usr/lib/php/20220829/dom.so", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ck_plugins_interpreter found;
        assert_true(ck_plugins_layout_find(cases[i].interpreter, &found));
        assert_int_equal(ck_plugins_layout_holds(&found, cases[i].path), cases[i].held);
    }
}

static void shared_objects_have_a_name(void **state)
{
    (void)state;
    assert_true(ck_plugins_layout_is_object("_ssl.cpython-311-x86_64-linux-gnu.so"));
    assert_true(ck_plugins_layout_is_object("libz.so.1.2.13"));
    assert_false(ck_plugins_layout_is_object("sudo"));
    assert_false(ck_plugins_layout_is_object("libz.source"));
    assert_false(ck_plugins_layout_is_object(".so"));
}

static void interpreter_is_noted_once(void **state)
{
    (void)state;
    struct ck_plugins plugins = {0};
    ck_plugins_note(NULL, "/usr/bin/perl");
    ck_plugins_note(&plugins, "/usr/bin/perl");
    ck_plugins_note(&plugins, "/usr/bin/perl");
    ck_plugins_note(&plugins, "/usr/bin/git");
    assert_int_equal(plugins.interpreters_count, 1);
    ck_plugins_reset(&plugins);
    assert_int_equal(plugins.interpreters_count, 0);
}

/* ---- libraries and programs ---- */

static void program_is_no_library(void **state)
{
    (void)state;
    static const struct {
        struct ck_elf elf;
        bool library;
    } cases[] = {
        {{.type = ET_DYN}, true}, /* a plug-in has no name */
        {{.type = ET_DYN, .soname = "libz.so.1"}, true},
        {{.type = ET_DYN, .soname = "libc.so.6", .interpreter = "/lib64/ld-linux-x86-64.so.2"}, true},
        {{.type = ET_DYN, .interpreter = "/lib64/ld-linux-x86-64.so.2"}, false},
        {{.type = ET_DYN, .pie = true}, false}, /* a static program */
        {{.type = ET_DYN, .pie = true, .soname = "libc.so.6"}, false},
        {{.type = ET_EXEC}, false},
        {{.type = ET_EXEC, .soname = "libc.so.6"}, false},
        {{.type = ET_REL}, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(ck_elf_is_library(&cases[i].elf), cases[i].library);
}

/* An interpreter of this machine. perl is on every Debian. */
static void perl_or_skip(void)
{
    if (access("/usr/bin/perl", X_OK) != 0)
        skip_without("perl", "/usr/bin/perl cannot be executed");
}

static void checker(struct ck_arena *arena, struct ck_plugins_interpreter *interpreter, struct ck_plugins_check *ret)
{
    *ret = (struct ck_plugins_check){.arena = arena, .interpreter = interpreter};
    assert_true(ck_plugins_layout_find("/usr/bin/perl", interpreter));
    assert_int_equal(ck_plugins_check_interpreter(ret), 1);
}

static void files_of_the_system_are_checked_by_what_they_are(void **state)
{
    (void)state;
    static const char *const refused[] = {"/usr/bin/true", "/usr/bin/sudo", "/sbin/ldconfig", "/usr/sbin/ldconfig",
                                          "/etc/passwd",   "/usr/lib",      "/nowhere/a.so",  "/dev/null"};
    struct ck_arena arena = {0};
    struct ck_plugins_interpreter interpreter;
    struct ck_plugins_check check;
    struct ck_elf elf;
    struct ck_version version;
    perl_or_skip();
    checker(&arena, &interpreter, &check);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_int_not_equal(ck_plugins_check_file(&check, refused[i], &elf, &version), CK_PLUGINS_ACCEPTED);
    ck_arena_done(&arena);
}

/* Also beneath a directory that was found good, where only the last step is checked. */
static void path_of_a_directory_has_no_link_and_no_dots(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int trusted;
    } cases[] = {
        {"/usr", 1},          {"/usr/lib", 1},    {"/usr/lib/..", 0},    {"/usr/lib/.", 0},
        {"/usr/lib/", 0},     {"/usr//lib", 0},   {"/proc/self/cwd", 0}, {"/usr/lib/os-release", 0},
        {"/usr/lib/none", 0}, {"/usr/../usr", 0}, {"/tmp", 0},
    };
    struct ck_arena arena = {0};
    struct ck_plugins_check check = {.arena = &arena};
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            assert_int_equal(ck_plugins_check_directory(&check, cases[i].path), cases[i].trusted);
    ck_arena_done(&arena);
}

static void copy_file(const char *from, int to_fd)
{
    char bytes[4096];
    int from_fd = open(from, O_RDONLY | O_CLOEXEC);
    assert_true(from_fd >= 0);
    for (ssize_t got; (got = read(from_fd, bytes, sizeof(bytes))) > 0;)
        assert_int_equal(write(to_fd, bytes, (size_t)got), got);
    assert_int_equal(close(from_fd), 0);
}

/*
 * A plug-in is accepted at its own place. Its copy with a good name is not: in a directory that
 * others can write, and in one of root's that is in no tree of the system.
 */
static void library_outside_the_system_is_refused(void **state)
{
    (void)state;
    char places[][40] = {"/tmp/test_plugins-XXXXXX.so", "/run/test_plugins-XXXXXX.so"};
    struct ck_arena arena = {0};
    struct ck_plugins_interpreter interpreter;
    struct ck_plugins_check check;
    struct ck_elf elf;
    struct ck_version version;
    glob_t found = {0};
    perl_or_skip();
    checker(&arena, &interpreter, &check);
    assert_int_equal(glob("/usr/lib/*-linux-*/perl-base/auto/POSIX/POSIX.so", 0, NULL, &found), 0);
    assert_int_equal(ck_plugins_check_file(&check, found.gl_pathv[0], &elf, &version), CK_PLUGINS_ACCEPTED);
    for (size_t i = 0; i < (geteuid() == 0 ? 2 : 1); i++) {
        int to_fd = mkstemps(places[i], 3);
        assert_true(to_fd >= 0);
        copy_file(found.gl_pathv[0], to_fd);
        int verdict = ck_plugins_check_file(&check, places[i], &elf, &version);
        assert_int_equal(unlink(places[i]) + close(to_fd), 0);
        assert_int_equal(verdict, CK_PLUGINS_REFUSED);
    }
    globfree(&found);
    ck_arena_done(&arena);
}

/* ---- a search ---- */

/* How many files of the machine's perl are code; or a negative errno. Without a cache. */
static int count_plugins(void)
{
    struct ck_plugins plugins = {0};
    struct ck_native_builder program = {0};
    struct ck_depend depend = {.versions_only = true};
    ck_plugins_note(&plugins, "/usr/bin/perl");
    int r = ck_plugins_add(&plugins, &program, &depend);
    int count = (int)program.ops_count;
    for (size_t i = 0; i < program.ops_count; i++)
        assert_true(program.ops[i].op == CK_NATIVE_OP_BIND_PLUGIN && program.ops[i].inode != 0);
    assert_int_equal(program.execs_count, 0); /* they are mapped, not executed */
    ck_depend_done(&depend);
    ck_native_program_done(&program);
    ck_plugins_done(&plugins);
    return r < 0 ? r : count;
}

static void lack_of_descriptors_is_no_answer(void **state)
{
    (void)state;
    struct rlimit before, few;
    perl_or_skip();
    assert_int_equal(unsetenv("HOME") + unsetenv("XDG_CACHE_HOME"), 0);
    int all = count_plugins();
    assert_true(all > 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int lowest = dup(0), r = -EMFILE;
    assert_true(lowest >= 0 && close(lowest) == 0);
    few = before;
    for (rlim_t more = 0; more < 16 && r == -EMFILE; more++) {
        few.rlim_cur = (rlim_t)lowest + more;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        r = count_plugins();
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_true(r == all || r == -EMFILE);
    }
    assert_int_equal(r, all);
}

/* Library directories are code, so nothing is looked at. */
static void search_is_not_made_where_libraries_are_code(void **state)
{
    (void)state;
    struct ck_plugins plugins = {0};
    struct ck_native_builder program = {.libraries = 1};
    struct ck_depend depend = {0};
    ck_plugins_note(&plugins, "/usr/bin/perl");
    assert_int_equal(ck_plugins_add(&plugins, &program, &depend), 0);
    assert_int_equal(program.ops_count, 0);
    assert_int_equal(plugins.count, 0);
    ck_plugins_done(&plugins);
}

/* ---- the text of the cache ---- */

static void cache_is_read_as_it_was_written(void **state)
{
    (void)state;
    struct ck_plugins_stamp file = {"/usr/lib/a b.so", {1, 2, 3, -4, 5}},
                            directories[2] = {{"/usr/lib", {6, 7, 8, 9, 10}}, {"/usr/none", {0}}};
    const struct ck_plugins_list list = {
        .files = &file, .files_count = 1, .directories = directories, .directories_count = 2};
    struct ck_arena arena = {0};
    struct ck_plugins_list again;
    char *text = ck_plugins_cache_format(&list, "/usr/bin/perl");
    assert_non_null(text);
    assert_int_equal(ck_plugins_list_init(&again, &arena), 0);
    assert_int_equal(ck_plugins_cache_parse(text, "/usr/bin/perl", &arena, &again), 0);
    assert_int_equal(again.files_count, 1);
    assert_int_equal(again.directories_count, 2);
    assert_string_equal(again.files[0].path, file.path);
    assert_true(ck_version_equal(&again.files[0].version, &file.version));
    assert_true(ck_version_equal(&again.directories[0].version, &directories[0].version));
    assert_int_equal(ck_plugins_cache_parse(text, "/usr/bin/per", &arena, &again), -EINVAL);
    free(text);
    ck_arena_done(&arena);
}

static void other_text_is_no_cache(void **state)
{
    (void)state;
#define HEAD "chokepoint plugins 1 /usr/bin/perl\n"
    static const char *const wrong[] = {
        "",
        "chokepoint plugins 1 /usr/bin/perl",
        "chokepoint plugins 2 /usr/bin/perl\n",
        HEAD "f 1 2 3 4 5 /usr/lib/a.so",
        HEAD "f 1 2 3 4 /usr/lib/a.so\n",
        HEAD "f 1 2 3 4 5 usr/lib/a.so\n",
        HEAD "f 1 2 3 4 5 \n/usr/lib/a.so\n",
        HEAD "f 1 2 3 4\n5 /usr/lib/a.so\n",
        HEAD "f\n",
        HEAD "x 1 2 3 4 5 /usr/lib/a.so\n",
        HEAD "f 1 2 3 4 99999999999999999999999 /usr/lib/a.so\n",
        HEAD "f 0x1 2 3 4 5 /usr/lib/a.so\n",
        HEAD "\n",
    };
    struct ck_arena arena = {0};
    struct ck_plugins_list list;
    assert_int_equal(ck_plugins_list_init(&list, &arena), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(ck_plugins_cache_parse(wrong[i], "/usr/bin/perl", &arena, &list), -EINVAL);
    ck_arena_done(&arena);
}

static void cache_with_too_many_lines_is_refused(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_plugins_list list;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    (void)fputs(HEAD, out);
    for (int i = 0; i <= CK_PLUGINS_FILES_MAX; i++)
        (void)fputs("f 1 2 3 4 5 /a\n", out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(ck_plugins_list_init(&list, &arena), 0);
    assert_int_equal(ck_plugins_cache_parse(text, "/usr/bin/perl", &arena, &list), -EINVAL);
    assert_int_equal(list.files_count, CK_PLUGINS_FILES_MAX);
    free(text);
    ck_arena_done(&arena);
}

/* ---- a context ---- */

static void changed_directory_is_noticed(void **state)
{
    (void)state;
    char place[] = "/tmp/test_plugins.XXXXXX", file[64];
    assert_non_null(mkdtemp(place));
    struct ck_plugins_stamp directories[] = {{place, ck_plugins_version_now(place)}, {"/tmp/test_plugins.none", {0}}};
    struct ck_plugins plugins = {.directories = directories, .count = 2};
    assert_true(ck_plugins_are_current(&plugins));
    (void)snprintf(file, sizeof(file), "%s/new.so", place);
    assert_int_equal(mkdir(file, 0700), 0);
    assert_false(ck_plugins_are_current(&plugins));
    directories[0].version = ck_plugins_version_now(place);
    assert_true(ck_plugins_are_current(&plugins));
    plugins.valid_until_ns = 1; /* a search that was not settled is made once more */
    assert_false(ck_plugins_are_current(&plugins));
    assert_int_equal(rmdir(file) + rmdir(place), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpreters_are_known_by_their_paths),
        cmocka_unit_test(directories_are_those_of_the_version),
        cmocka_unit_test(shared_objects_have_a_name),
        cmocka_unit_test(interpreter_is_noted_once),
        cmocka_unit_test(program_is_no_library),
        cmocka_unit_test(files_of_the_system_are_checked_by_what_they_are),
        cmocka_unit_test(path_of_a_directory_has_no_link_and_no_dots),
        cmocka_unit_test(library_outside_the_system_is_refused),
        cmocka_unit_test(lack_of_descriptors_is_no_answer),
        cmocka_unit_test(search_is_not_made_where_libraries_are_code),
        cmocka_unit_test(cache_is_read_as_it_was_written),
        cmocka_unit_test(other_text_is_no_cache),
        cmocka_unit_test(cache_with_too_many_lines_is_refused),
        cmocka_unit_test(changed_directory_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
