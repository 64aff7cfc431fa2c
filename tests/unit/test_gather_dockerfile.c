/* test_gather_dockerfile.c - the text that is built has no name that a daemon could fetch, whoever
 * wrote the Dockerfile. */
#include "gather/trace/dockerfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ID_0 "0000000000000000000000000000000000000000000000000000000000000000"
#define ID_1 "1111111111111111111111111111111111111111111111111111111111111111"

static char *written(const char *text, char reason[CK_DOCKERFILE_NAME_MAX])
{
    const char *ids[CK_DOCKERFILE_NAMES_MAX] = {ID_0, ID_1};
    struct ck_dockerfile *dockerfile = ck_dockerfile_read(text, strlen(text), reason);
    assert_int_equal(!dockerfile, reason[0] != '\0');
    char *result = dockerfile ? ck_dockerfile_write(dockerfile, ids) : NULL;
    assert_int_equal(!dockerfile, !result);
    ck_dockerfile_free(dockerfile);
    return result;
}

static void names_become_ids_and_stages_numbers(void **state)
{
    static const struct {
        const char *text, *written;
    } cases[] = {
        {"FROM scratch\nCOPY x /x\nADD y /y\n", "FROM scratch AS stage0-\nCOPY x /x\nADD y /y\n"},
        {"from debian:12", "FROM " ID_0 " AS stage0-\n"},
        {"FROM --platform=linux/amd64 docker.io/library/debian:12 as B\nFROM b\nCOPY --from=0 /x /x\n",
         "FROM --platform=linux/amd64 " ID_0 " AS stage0-\nFROM stage0- AS stage1-\nCOPY --from=0 /x /x\n"},
        {"FROM a AS x\nFROM b\nFROM a\nCOPY --chown=1:1 --from=X --chmod=1 a b\nCOPY --from=b a b\n",
         "FROM " ID_0 " AS stage0-\nFROM " ID_1 " AS stage1-\nFROM " ID_0 " AS stage2-\n"
         "COPY --chown=1:1 --from=0 --chmod=1 a b\nCOPY --from=" ID_1 " a b\n"},
        {"FROM scratch AS x\nCOPY --from=x /a /a\n", "FROM scratch AS stage0-\nCOPY --from=" ID_0 " /a /a\n"},
        {"FROM scratch\nCOPY --from=x /a /a\nFROM scratch AS x\n",
         "FROM scratch AS stage0-\nCOPY --from=" ID_0 " /a /a\nFROM scratch AS stage1-\n"},
        {"FROM scratch\nFROM 0\n", "FROM scratch AS stage0-\nFROM " ID_0 " AS stage1-\n"},
        {"\357\273\277# syntax=evil/x\n# escape=\\\nFROM scratch\nRUN a \\\n# FROM evil\n\n  b \\ \n\tc\r\nENV A=http://x\n",
         "FROM scratch AS stage0-\nRUN a   b \tc\nENV A=http://x\n"},
        {"FR\\\nOM sc\\\nratch\nCMD [\"http://x\"]\nRUN echo `date`\n",
         "FROM scratch AS stage0-\nCMD [\"http://x\"]\nRUN echo `date`\n"},
        {"FROM scratch\nRUN x \\\\\nFROM evil\n", "FROM scratch AS stage0-\nRUN x \\FROM evil\n"},
        {"FROM scratch\nCOPY [\"--from=evil\", \"/x\"]\nADD [\"a b\", \"\u00e4\"]\n",
         "FROM scratch AS stage0-\nCOPY [\"--from=evil\", \"/x\"]\nADD [\"a b\", \"\u00e4\"]\n"},
        {"", ""},
        {"\n\n#\n", ""},
    };
    char reason[CK_DOCKERFILE_NAME_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = written(cases[i].text, reason);
        if (!text)
            fail_msg("'%s' is not built: %s", cases[i].text, reason);
        assert_string_equal(text, cases[i].written);
        free(text);
    }
}

static void what_cannot_be_put_so_is_not_built(void **state)
{
    static const char *const files[] = {
        "ARG A=evil\nFROM $A\n",
        "ARG A=evil\nFROM ${A}\n",
        "FROM\n",
        "FROM scratch\nFROM ev\xc3\xa4l\n",
        "FROM e\x01vil\n",
        "FROM \"evil\"\n",
        "FROM evil extra\n",
        "FROM evil AS\n",
        "FROM evil AS 0\n",
        "FROM evil AS a$b\n",
        "FROM evil AS scratch\n",
        "FROM scratch AS a\nFROM scratch AS A\n",
        "FROM --platform=$P scratch\n",
        "FROM --other=1 scratch\n",
        "FROM -x\n",
        "FROM a/../b\n",
        /* addresses */
        "FROM scratch\nADD http://evil /x\n",
        "FROM scratch\nADD [\"https://evil\", \"/x\"]\n",
        "FROM scratch\nADD git@evil:x /x\n",
        "FROM scratch\nARG U=http://evil\nADD $U /x\n",
        "FROM scratch\nADD [\"http\\u003a//evil\", \"/x\"]\n",
        "FROM scratch\nADD http\\:\\//evil /x\n",
        /* options */
        "FROM scratch\nCOPY --fr\\om=evil /x /x\n",
        "FROM scratch\nCOPY --f\"rom=evil\" /x /x\n",
        "FROM scratch\nCOPY --chown='1 --from=evil' --from=evil /x /x\n",
        "FROM scratch\nCOPY --chown=1\u00a0--from=evil /x /x\n",
        "FROM scratch\nCOPY \u2003--from=evil /x /x\n",
        "FROM scratch\nCOPY --from=a --from=b /x /x\n",
        "FROM scratch\nCOPY --from=$A /x /x\n",
        "FROM scratch\nCOPY --from=0 /x /x\n", /* itself */
        "FROM scratch\nCOPY --from= /x /x\n",
        "FROM scratch\nCOPY -- --from=evil /x\n",
        "FROM scratch\nRUN --mount=type=bind,from=evil x\n",
        "FROM scratch\nRUN \u00a0--mount=type=bind,from=evil x\n",
        /* what another build, or the next lines, would be */
        "FROM scratch AS a\nONBUILD ADD http://evil /x\nFROM a\n",
        "FROM scratch\nonbuild COPY --from=evil /x /x\n",
        "FROM scratch\nRUN <<E\nFROM evil\nE\n",
        "FROM scratch\nCOPY <<E /x\nE\n",
        "# escape=`\nFROM scratch\n",
        "#x\n  #  ESCAPE = `\nFROM scratch\n",
        "FROM scratch\nRUN x \\\\",
        "FROM scratch\nRUN x \\\\\n#\n",
        "FROM scratch\nRUN x \\\u00a0\n",
        "FROM scratch\nRUN x\rFROM evil\n",
        "FROM scratch\nRUN x\vFROM evil\n",
        "\u00a0FROM evil\n",
        "FROM scratch\nFETCH evil\n",
    };
    char reason[CK_DOCKERFILE_NAME_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        char *text = written(files[i], reason);
        if (text)
            fail_msg("'%s' would be built as '%s'", files[i], text);
    }
}

static void names_are_listed_once(void **state)
{
    static const char text[] = "FROM a\nFROM b\nFROM a\nCOPY --from=b x y\nCOPY --from=c x y\n";
    static const char *const no_ids[] = {ID_0, "evil", ID_1};
    char reason[CK_DOCKERFILE_NAME_MAX];
    (void)state;
    struct ck_dockerfile *dockerfile = ck_dockerfile_read(text, strlen(text), reason);
    const char *const *names = ck_dockerfile_names(dockerfile);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "b");
    assert_string_equal(names[2], "c");
    assert_null(names[3]);
    assert_null(ck_dockerfile_write(dockerfile, no_ids)); /* what is no id is not written */
    ck_dockerfile_free(dockerfile);
    ck_dockerfile_free(NULL);
}

static void long_ones_are_not_built(void **state)
{
    size_t length = CK_DOCKERFILE_MAX + 1;
    char reason[CK_DOCKERFILE_NAME_MAX], *text = calloc(length + 1, 1);
    (void)state;
    memset(text, '\n', length);
    assert_null(ck_dockerfile_read(text, length, reason));
    memset(text, 'x', 4096);
    memcpy(text, "FROM ", 5);
    assert_null(ck_dockerfile_read(text, 4096, reason));
    assert_true(strlen(reason) < CK_DOCKERFILE_NAME_MAX);
    for (size_t i = 0; i < 200; i++)
        memcpy(text + 13 * i, "FROM scratch\n", 13);
    assert_null(ck_dockerfile_read(text, (size_t)13 * 200, reason));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_ids_and_stages_numbers),
        cmocka_unit_test(what_cannot_be_put_so_is_not_built),
        cmocka_unit_test(names_are_listed_once),
        cmocka_unit_test(long_ones_are_not_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
