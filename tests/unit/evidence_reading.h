/* evidence_reading.h - one reading of the output of a tool, for the tests of the readers. */
#ifndef CK_TEST_EVIDENCE_READING_H
#define CK_TEST_EVIDENCE_READING_H

#include "gather/evidence/evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct reading {
    struct ck_evidence evidence;
    struct choke_error error;
    int r;
};

static inline struct ck_answer make_answer(const char *id, const char *out, size_t length)
{
    return (struct ck_answer){.id = id, .out = out, .out_length = length, .err = "", .err_length = 0, .changes_fd = -1};
}

static inline struct ck_answer make_text_answer(const char *id, const char *out)
{
    return make_answer(id, out, strlen(out));
}

static inline struct reading read_all_of(const char *kind, const struct ck_answer *answers, size_t count)
{
    struct reading reading = {0};
    const struct ck_evidence_kind *found = ck_evidence_find(kind);

    assert_non_null(found);
    reading.r = found->read(answers, count, &reading.evidence, &reading.error);
    if (reading.r < 0) {
        assert_null(reading.evidence.document);
        assert_true(reading.error.message[0] != '\0');
    } else {
        assert_int_equal(reading.r, 0);
        assert_true(json_is_object(reading.evidence.document));
    }
    return reading;
}

static inline struct reading read_one(const char *kind, const char *id, const char *text)
{
    const struct ck_answer answer = make_text_answer(id, text);
    return read_all_of(kind, &answer, 1);
}

/* A member by its path: "findings.0.path". */
static inline const json_t *member(const struct reading *reading, const char *path)
{
    char copy[128];
    char *rest = copy;
    const json_t *at = reading->evidence.document;

    (void)snprintf(copy, sizeof(copy), "%s", path);
    for (const char *name; (name = strsep(&rest, "."));)
        at = json_is_array(at) ? json_array_get(at, (size_t)strtoul(name, NULL, 10)) : json_object_get(at, name);
    return at;
}

static inline void has_text(const struct reading *reading, const char *path, const char *text)
{
    const char *value = json_string_value(member(reading, path));
    assert_non_null(value);
    assert_string_equal(value, text);
}

static inline void has_number(const struct reading *reading, const char *path, long long number)
{
    const json_t *value = member(reading, path);
    assert_true(json_is_integer(value));
    assert_int_equal(json_integer_value(value), number);
}

static inline void has_null(const struct reading *reading, const char *path)
{
    assert_true(json_is_null(member(reading, path)));
}

#endif
