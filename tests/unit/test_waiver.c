/* test_waiver.c - comments that waive a finding: which can be read, and to which findings they
 * apply. */
#include "lint/waiver.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct form {
    const char *comment;
    const char *rules; /* with blanks between them; NULL: it cannot be read */
    const char *adr;
};

static const struct form forms[] = {
    {"# chokepoint-lint: allow a-rule ADR-0003", "a-rule", "0003"},
    {"// chokepoint-lint: allow a-rule ADR-0003", "a-rule", "0003"},
    {"/* chokepoint-lint: allow a-rule ADR-0003 */", "a-rule", "0003"},
    {"#chokepoint-lint:allow a-rule ADR-0003", "a-rule", "0003"},
    {"# words; chokepoint-lint: allow a-rule, b2 ADR-0003: because", "a-rule b2", "0003"},
    {"# chokepoint-lint: allow a-rule b2 c ADR-0120. Because", "a-rule b2 c", "0120"},
    {"# chokepoint-lint: allow\ta-rule\tADR-0003\r", "a-rule", "0003"},
    {"# chokepoint-lint: allow a-rule", NULL, ""},
    {"# chokepoint-lint: allow ADR-0003", NULL, ""},
    {"# chokepoint-lint: ignore a-rule ADR-0003", NULL, ""},
    {"# chokepoint-lint: a-rule ADR-0003", NULL, ""},
    {"# chokepoint-lint:", NULL, ""},
    {"# chokepoint-lint: allow * ADR-0003", NULL, ""},
    {"# chokepoint-lint: allow A-RULE ADR-0003", NULL, ""},
    {"# chokepoint-lint: allow a-rule ADR-3", NULL, ""},
    {"# chokepoint-lint: allow a-rule ADR-00030", NULL, ""},
    {"# chokepoint-lint: allow a-rule adr-0003", NULL, ""},
    {"# chokepoint-lint: allow a-rule\nADR-0003", NULL, ""},
    {"# chokepoint-lint: allow a b c d e f g h i j k l m n o p q ADR-0003", NULL, ""},
    {"# chokepoint-lint: allow a ADR-0003 chokepoint-lint: allow b ADR-0003", NULL, ""},
};

static struct ck_waiver read_comment(const char *text, struct ck_lint_location location)
{
    struct ck_waiver waiver;
    const struct ck_lint_comment comment = {.location = location, .text = text, .length = (uint32_t)strlen(text)};
    ck_waiver_parse(&comment, &waiver);
    return waiver;
}

static void a_waiver_is_read_or_has_a_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        char rules[256] = "";
        struct ck_waiver waiver = read_comment(forms[i].comment, (struct ck_lint_location){0});
        if ((!waiver.fault) != (!!forms[i].rules))
            fail_msg("%s: %s", forms[i].comment, waiver.fault ? waiver.fault : "no fault");
        size_t at = 0;
        for (unsigned j = 0; !waiver.fault && j < waiver.rule_count; j++)
            at += (size_t)snprintf(rules + at, sizeof(rules) - at, "%s%s", j == 0 ? "" : " ", waiver.rules[j]);
        if (!waiver.fault && (strcmp(rules, forms[i].rules) != 0 || strcmp(waiver.adr, forms[i].adr) != 0))
            fail_msg("%s: '%s' %s", forms[i].comment, rules, waiver.adr);
    }
}

static void a_waiver_serves_its_own_line_and_rule(void **state)
{
    struct ck_waiver waiver =
        read_comment("# chokepoint-lint: allow a b ADR-0003", (struct ck_lint_location){.line = 7, .end_line = 7});
    (void)state;
    assert_false(ck_waiver_serves(&waiver, "a", &(struct ck_lint_location){.line = 6, .end_line = 6}));
    assert_false(ck_waiver_serves(&waiver, "a", &(struct ck_lint_location){.line = 8, .end_line = 9}));
    assert_false(ck_waiver_serves(&waiver, "a", &(struct ck_lint_location){.line = 6, .end_line = 8}));
    assert_false(ck_waiver_serves(&waiver, "c", &(struct ck_lint_location){.line = 7, .end_line = 7}));
    assert_false(waiver.used[0]);
    assert_true(ck_waiver_serves(&waiver, "a", &(struct ck_lint_location){.line = 7, .end_line = 9}));
    assert_true(ck_waiver_serves(&waiver, "a", &(struct ck_lint_location){.line = 5, .end_line = 7}));
    assert_true(waiver.used[0]);
    assert_false(waiver.used[1]);
}

static void one_with_a_fault_serves_nothing(void **state)
{
    struct ck_waiver waiver =
        read_comment("# chokepoint-lint: allow a", (struct ck_lint_location){.line = 7, .end_line = 7});
    (void)state;
    assert_false(ck_waiver_serves(&waiver, "a", &(struct ck_lint_location){.line = 7, .end_line = 7}));
}

static void make_file(int directory_fd, const char *name, const char *text)
{
    int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

static void records_are_regular_files_that_are_not_empty(void **state)
{
    char location[] = "/tmp/choke-unit-XXXXXX";
    struct ck_lint_adrs records;
    (void)state;
    assert_non_null(mkdtemp(location));
    int fd = open(location, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    make_file(fd, "0001-good.md", "x");
    make_file(fd, "0002-empty.md", "");
    make_file(fd, "0003-other.txt", "x");
    make_file(fd, "0004.md", "x");
    make_file(fd, "9999-last.md", "x");
    assert_int_equal(symlinkat("0001-good.md", fd, "0005-link.md"), 0);
    assert_int_equal(mkdirat(fd, "0006-directory.md", 0700), 0);
    ck_lint_adrs_read(fd, ".", &records);
    assert_true(records.configured);
    assert_int_equal(records.errnum, 0);
    assert_true(ck_lint_adrs_have(&records, "0001"));
    assert_true(ck_lint_adrs_have(&records, "9999"));
    for (const char *const *number = (const char *const[]){"0002", "0003", "0004", "0005", "0006", "0007", NULL};
         *number; number++)
        assert_false(ck_lint_adrs_have(&records, *number));
    ck_lint_adrs_read(fd, "nowhere", &records);
    assert_int_not_equal(records.errnum, 0);
    ck_lint_adrs_read(fd, NULL, &records);
    assert_false(records.configured);
    for (const char *const *name = (const char *const[]){"0001-good.md", "0002-empty.md", "0003-other.txt", "0004.md",
                                                         "9999-last.md", "0005-link.md", NULL};
         *name; name++)
        assert_int_equal(unlinkat(fd, *name, 0), 0);
    assert_int_equal(unlinkat(fd, "0006-directory.md", AT_REMOVEDIR), 0);
    (void)close(fd);
    assert_int_equal(rmdir(location), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiver_is_read_or_has_a_fault),
        cmocka_unit_test(a_waiver_serves_its_own_line_and_rule),
        cmocka_unit_test(one_with_a_fault_serves_nothing),
        cmocka_unit_test(records_are_regular_files_that_are_not_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
