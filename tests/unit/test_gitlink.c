/* test_gitlink.c - core.worktree is read as git reads it, or not at all. */
#include "sys/gitlink.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_value_is_read_as_git_reads_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int found;
        const char *value;
    } rows[] = {
        {"[core]\n\tworktree = ../../../sub\n", 1, "../../../sub"},
        {"[core]\nworktree=a", 1, "a"},
        {"[CORE]\nWorkTree = a b \t\n", 1, "a b"},
        {"[core] worktree = a\n", 1, "a"},
        {"[core]\nworktree = \"a # b\" # c\n", 1, "a # b"},
        {"[core]\nworktree = a;b\n", 1, "a"},
        {"[core]\nworktree = \"a\\\\b\\\"\"\n", 1, "a\\b\""},
        {"[core]\nworktree = a\r\n", 1, "a"},
        {"[core]\n# worktree = a\n", 0, NULL},
        {"[core \"x\"]\nworktree = a\n", 0, NULL},
        {"[other]\nworktree = a\n", 0, NULL},
        {"[core]\nworktrees = a\n[x]\nworktree = b\n", 0, NULL},
        {"", 0, NULL},
        {"[core]\nworktree = a\nworktree = b\n", -EINVAL, NULL},
        {"[core]\nworktree = a\n[core]\nworktree = a\n", -EINVAL, NULL},
        {"[core]\nworktree\n", -EINVAL, NULL},
        {"[core]\nworktree = a\\\nb\n", -EINVAL, NULL},
        {"[core]\nx = y\\\nworktree = b\n", -EINVAL, NULL},
        {"[core]\nworktree = \"a\n", -EINVAL, NULL},
        {"[core]\nworktree = a\\tb\n", -EINVAL, NULL},
    };
    char value[PATH_MAX];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(ck_gitlink_worktree_key(rows[i].text, strlen(rows[i].text), value), rows[i].found);
        if (rows[i].value)
            assert_string_equal(value, rows[i].value);
    }
    assert_int_equal(ck_gitlink_worktree_key("[core]\nworktree = a\0b\n", 22, value), -EINVAL);
}

static void a_value_that_is_too_long_is_not_read(void **state)
{
    (void)state;
    static char text[PATH_MAX + 64] = "[core]\nworktree = ";
    char value[PATH_MAX];
    memset(text + strlen(text), 'a', PATH_MAX);
    assert_int_equal(ck_gitlink_worktree_key(text, strlen(text), value), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_value_is_read_as_git_reads_it),
                                       cmocka_unit_test(a_value_that_is_too_long_is_not_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
