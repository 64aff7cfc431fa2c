/* What a build would fetch is told beforehand, whoever wrote the Dockerfile. */
#include "gather/dockerfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool has_debian(void *data, const char *image)
{
    (void)data;
    return strcmp(image, "debian:12") == 0 || strcmp(image, "base:latest") == 0;
}

static bool fetches_nothing(const char *text)
{
    char words[CK_DOCKERFILE_NAME_MAX] = "";
    bool nothing = ck_dockerfile_fetches_nothing(text, strlen(text), has_debian, NULL, words);
    assert_int_equal(nothing, words[0] == '\0');
    return nothing;
}

static void what_is_here_is_built(void **state)
{
    static const char *const files[] = {
        "FROM scratch\nCOPY x /x\nADD y /y\n",
        "from debian:12\n",
        "# escape=`\nFROM debian:12 AS Build\nRUN a `\n  b\nFROM scratch\nCOPY --chown=1 --from=build /x /x\n",
        "FROM docker.io/library/debian:12\nFROM base\n",
        "FROM scratch\nCOPY \"a b\" 'c' \u00e4 /x/\nADD [\"a b\", \"/x/\"]\nRUN echo \"\\u003a//\"\n",
        "FROM --platform=linux/amd64 debian:12 as b\nFROM b\nCOPY --from=0 /x /x\nCOPY --from=debian:12 /x /x\n",
        "\357\273\277FROM scratch\nRUN echo \\\n# FROM evil\n  x\nENV A=http://x\nCMD [\"http://x\"]\n",
        "",
        "\n\n#\n",
        "FROM scratch",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++)
        if (!fetches_nothing(files[i]))
            fail_msg("'%s' would not be built", files[i]);
}

static void what_would_be_fetched_is_not_built(void **state)
{
    static const char *const files[] = {
        "FROM evil\n",
        "FROM debian\n", /* another tag */
        "FROM debian:12@sha256:00\n",
        "FROM debian.example/debian:12\n",
        "  fRoM\tevil\n",
        "FROM scratch\nFROM --platform=x evil AS a\n",
        "FROM scratch\nCOPY --from=evil /x /x\n",
        "FROM scratch\nCOPY --chown=1 --from=evil/x:1 /x /x\n",
        "FROM scratch\nADD http://evil /x\n",
        "FROM scratch\nADD [\"https://evil\", \"/x\"]\n",
        "FROM scratch\nADD git@evil:x /x\n",
        "ARG A=evil\nFROM $A\n",
        "ARG A=evil\nFROM ${A}\n",
        "FROM scratch\nARG U=http://evil\nADD $U /x\n",
        "FROM scratch AS a\nONBUILD ADD http://evil /x\nFROM a\n",
        "FROM scratch\nONBUILD ONBUILD COPY --from=evil /x /x\n",
        /* words that the builder reads otherwise than they are written */
        "FROM scratch\nADD [\"http:\\/\\/evil\", \"/x\"]\n",
        "FROM scratch\nADD [\"http\\u003a//evil\", \"/x\"]\n",
        "FROM scratch\nADD http:\\//evil /x\n",
        "# escape=`\nFROM scratch\nADD http:`//evil /x\n",
        "FROM scratch\nADD http:\"//\"evil /x\n",
        "FROM scratch\nADD http':'//evil /x\n",
        "FROM scratch\nCOPY --fr\\om=evil /x /x\n",
        "FROM scratch\nCOPY --f\"rom=evil\" /x /x\n",
        "FROM scratch\nCOPY --chown='1 --from=evil' --from=evil /x /x\n",
        "FROM scratch\nCOPY --chown=1\u00a0--from=evil /x /x\n",
        "FROM scratch\nCOPY \u2003--from=evil /x /x\n",
        "\u00a0FROM evil\n",
        "\u3000ADD http://evil /x\n",
        /* split words, by either mark */
        "FR\\\nOM evil\n",
        "FR\\\n\n# x\n  \\\nOM evil\n",
        "# escape=`\nFROM ev`\nil\n",
        "FROM \\\n evil",
        "FROM evil \\",
        /* hidden behind a line that seems to go on */
        "FROM scratch\nRUN x \\\\\nFROM evil\n",
        "FROM scratch\nRUN x \\\\\nFR\\\nOM evil\n",
        "# escape=`\nFROM scratch\nRUN x \\\nFR`\nOM evil\n",
        "FROM scratch\nRUN x \\\n # y\nFR\\\nOM evil\n",
        "FROM scratch\nRUN x `\nFROM evil\n",
        /* a stage of one reading is none in another */
        "FROM scratch\nRUN x \\\nFROM scratch AS evil\nFROM evil\n",
        "FROM\n",
        "FROM scratch\nFROM ev\xc3\xa4l\n",
        "FROM e\x01vil\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++)
        if (fetches_nothing(files[i]))
            fail_msg("'%s' would be built", files[i]);
}

static void names_have_one_spelling(void **state)
{
    static const struct {
        const char *name, *image;
    } cases[] = {
        {"debian", "debian:latest"},
        {"docker.io/library/debian:12", "debian:12"},
        {"index.docker.io/x/y", "x/y:latest"},
        {"host:5000/x", "host:5000/x:latest"},
        {"x@sha256:00", "x@sha256:00"},
        {"", NULL},
        {"a b", NULL},
        {"$x", NULL},
    };
    char image[CK_DOCKERFILE_NAME_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool known = ck_dockerfile_image(cases[i].name, strlen(cases[i].name), image);
        assert_int_equal(known, cases[i].image != NULL);
        if (known)
            assert_string_equal(image, cases[i].image);
    }
}

static void long_ones_are_not_built(void **state)
{
    size_t length = CK_DOCKERFILE_MAX + 1;
    char words[CK_DOCKERFILE_NAME_MAX], *text = calloc(length, 1);
    (void)state;
    memset(text, '\n', length);
    assert_false(ck_dockerfile_fetches_nothing(text, length, has_debian, NULL, words));
    memset(text, 'x', 4096);
    memcpy(text, "FROM ", 5);
    assert_false(ck_dockerfile_fetches_nothing(text, 4096, has_debian, NULL, words));
    assert_true(strlen(words) < CK_DOCKERFILE_NAME_MAX);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_here_is_built),
        cmocka_unit_test(what_would_be_fetched_is_not_built),
        cmocka_unit_test(names_have_one_spelling),
        cmocka_unit_test(long_ones_are_not_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
