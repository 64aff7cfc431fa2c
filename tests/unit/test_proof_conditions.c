/* test_proof_conditions.c - what a proof of a jail depends on, as text and as a digest (sys/proof_conditions.h). */
#include "sys/proof_conditions.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const search[] = {"/usr/bin"};
static const char *const files[] = {"/proc/self/exe"};
static const struct ck_proof_conditions usual = {.keeper_sha256 = "abc",
                                                 .search = search,
                                                 .search_count = 1,
                                                 .files = files,
                                                 .files_count = 1,
                                                 .libraries_fit = true};

static void each_condition_is_in_the_text(void **state)
{
    static const char *const lines[] = {"\nkeeper abc\n",
                                        "\nUid:",
                                        "\nGroups:",
                                        "\nCapBnd:",
                                        "\nCapAmb:",
                                        "\nNoNewPrivs:",
                                        "\nsecurebits ",
                                        "\nuser 757365723a5b",
                                        "\nmnt 6d6e743a5b",
                                        "\npid 7069643a5b",
                                        "\nroot ",
                                        "\nfirst process ",
                                        "\n/proc/sys/kernel/random/boot_id ",
                                        "\n/proc/sys/user/max_user_namespaces ",
                                        "\n/proc/thread-self/attr/current ",
                                        "\nfile /proc/self/exe ",
                                        "\nsearch 2f7573722f62696e\n",
                                        "\nlibraries 1\n",
                                        "\nseccomp 2."};
    char *text = NULL;
    size_t length = 0;
    (void)state;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_int_equal(ck_proof_conditions_write(&usual, out), 0);
    assert_int_equal(fclose(out), 0);
    assert_memory_equal(text, "kernel ", strlen("kernel "));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (!strstr(text, lines[i]))
            fail_msg("no '%s' in:\n%s", lines[i] + 1, text);
    free(text);
}

static void same_conditions_have_the_same_digest(void **state)
{
    char first[CK_DIGEST_SIZE], second[CK_DIGEST_SIZE];
    (void)state;
    assert_int_equal(ck_proof_conditions_digest(&usual, first), 0);
    assert_int_equal(ck_proof_conditions_digest(&usual, second), 0);
    assert_string_equal(first, second);
}

static void another_build_or_file_has_another_digest(void **state)
{
    static const char *const other_search[] = {"/usr/bin", "/bin"};
    static const char *const other_files[] = {"/etc/passwd"};
    static const char *const no_files[] = {"/nonexistent"};
    struct ck_proof_conditions others[5];
    char first[CK_DIGEST_SIZE], second[CK_DIGEST_SIZE];
    (void)state;
    for (size_t i = 0; i < 5; i++)
        others[i] = usual;
    others[0].keeper_sha256 = "abd";
    others[1].search = other_search;
    others[1].search_count = 2;
    others[2].files = other_files;
    others[3].files = no_files;
    others[4].libraries_fit = false;
    assert_int_equal(ck_proof_conditions_digest(&usual, first), 0);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(ck_proof_conditions_digest(&others[i], second), 0);
        assert_string_not_equal(first, second);
    }
}

/* In a child: 0 if the digest was refused inside a filter that allows everything. */
static int refused_in_filter(void)
{
    struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
    const struct sock_fprog filter = {.len = 1, .filter = &allow};
    char digest[CK_DIGEST_SIZE];
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) < 0)
        return 2;
    return ck_proof_conditions_digest(&usual, digest) == -ENOTSUP ? 0 : 1;
}

static void a_filter_hides_the_conditions(void **state)
{
    int status = 0;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(refused_in_filter());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_condition_is_in_the_text),
        cmocka_unit_test(same_conditions_have_the_same_digest),
        cmocka_unit_test(another_build_or_file_has_another_digest),
        cmocka_unit_test(a_filter_hides_the_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
