/* test_width.c - which of two rules allows more. */
#include "policy/rules.h"
#include "policy/width.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TYPES (CK_TYPE_NAME + 1)

static const char *width_name(enum ck_width width)
{
    static const char *const names[] = {"?", "same", "narrower", "wider", "other"};
    return names[width];
}

/* The same seen from the other side. */
static enum ck_width turned(enum ck_width width)
{
    return width == CK_WIDTH_NARROWER ? CK_WIDTH_WIDER : width == CK_WIDTH_WIDER ? CK_WIDTH_NARROWER : width;
}

/* ---- types ------------------------------------------------------------------------------- */

static void types_form_a_lattice(void **state)
{
    /* inner is contained in outer; no other pair is, except equal ones, none in all and all in any. */
    static const enum ck_type within[][2] = {{CK_TYPE_EXISTING, CK_TYPE_INSIDE}, {CK_TYPE_NUMBER, CK_TYPE_NAME}};
    (void)state;
    for (enum ck_type a = CK_TYPE_NONE; a < TYPES; a++)
        for (enum ck_type b = CK_TYPE_NONE; b < TYPES; b++) {
            bool inner = a == CK_TYPE_NONE || b == CK_TYPE_ANY;
            for (size_t i = 0; i < COUNT(within); i++)
                inner = inner || (a == within[i][0] && b == within[i][1]);
            enum ck_width width = ck_width_of_types(a, b);
            if (a == b)
                assert_int_equal(width, CK_WIDTH_SAME);
            else
                assert_int_equal(width == CK_WIDTH_WIDER, inner);
            assert_int_equal(ck_width_of_types(b, a), turned(width));
        }
}

/* ---- options ----------------------------------------------------------------------------- */

struct options {
    const char *before;
    const char *after;
    enum ck_width width;
};

static const struct options pairs[] = {
    /* forms */
    {"--x", "--x", CK_WIDTH_SAME},
    {"--x", "--x=", CK_WIDTH_OTHER},
    {"--x", "--x[=]", CK_WIDTH_WIDER},
    {"-x", "-x[=]", CK_WIDTH_OTHER}, /* in a bundle the rest is read in another way */
    {"--x=", "--x[=]", CK_WIDTH_OTHER},
    {"--x <any>", "--x=", CK_WIDTH_OTHER},
    {"--x <any>", "--x <any> <any>", CK_WIDTH_OTHER},
    {"--x <number>", "--x <name>", CK_WIDTH_WIDER},
    {"--x <number> <any>", "--x <any> <number>", CK_WIDTH_OTHER},
    {"-<number>", "-<number>", CK_WIDTH_SAME},

    /* one value */
    {"--x=", "--x=<any>", CK_WIDTH_SAME},
    {"--x=<inside>", "--x=", CK_WIDTH_WIDER},
    {"--x=<existing>", "--x=<inside>", CK_WIDTH_WIDER},
    {"--x=<number>", "--x=<name>", CK_WIDTH_WIDER},
    {"--x=<name>", "--x=<inside>", CK_WIDTH_OTHER}, /* a name may be a link that leads out */
    {"--x=<mount>", "--x=<existing>", CK_WIDTH_OTHER},
    {"--x=<mount>", "--x=<any>", CK_WIDTH_WIDER},

    /* words */
    {"--x=a", "--x=a|b", CK_WIDTH_WIDER},
    {"--x=a|b", "--x=b|a", CK_WIDTH_SAME},
    {"--x=a|b", "--x=b|c", CK_WIDTH_OTHER},
    {"--x=a", "--x=<name>", CK_WIDTH_WIDER},
    {"--x=a", "--x=<any>", CK_WIDTH_WIDER},
    {"--x=12", "--x=<number>", CK_WIDTH_WIDER},
    {"--x=a2", "--x=<number>", CK_WIDTH_OTHER},
    {"--x=a..b", "--x=<name>", CK_WIDTH_OTHER},
    {"--x=/etc", "--x=<name>", CK_WIDTH_OTHER},
    {"--x=a", "--x=<inside>", CK_WIDTH_OTHER},
    {"--x=a<any>", "--x=<any>", CK_WIDTH_WIDER},
    {"--x=a<name>", "--x=<name>", CK_WIDTH_WIDER},
    {"--x=a<number>", "--x=<number>", CK_WIDTH_OTHER},
    {"--x=1<number>", "--x=<number>", CK_WIDTH_WIDER},
    {"--x=1<name>", "--x=<number>", CK_WIDTH_OTHER},
    {"--x=a<inside>", "--x=<inside>", CK_WIDTH_OTHER},
    {"--x=trace=<name>", "--x=trace=<any>", CK_WIDTH_WIDER},
    {"--x=trace=", "--x=trace=<any>", CK_WIDTH_WIDER},
    {"--x=trace=", "--x=trace=<name>", CK_WIDTH_OTHER}, /* the empty text is no name */
    {"--x=<number>|a", "--x=<name>", CK_WIDTH_WIDER},
    {"--x[=a]", "--x[=a|b]", CK_WIDTH_WIDER},
    {"--x[=]", "--x", CK_WIDTH_NARROWER},

    /* the first pattern that matches decides, and a path is then checked against the root */
    {"--x=<inside>|<any>", "--x=<any>|<inside>", CK_WIDTH_OTHER},
    {"--x=<inside>|<any>", "--x=<any>", CK_WIDTH_OTHER},
    {"--x=<existing>|a", "--x=<inside>|a", CK_WIDTH_WIDER},
    {"--x=a|<inside>", "--x=a|<any>", CK_WIDTH_WIDER},
};

static struct ck_arg_option parse(struct ck_arena *arena, const char *text)
{
    struct ck_arg_option option;
    const char *why = "";
    if (ck_notation_parse(arena, text, &option, &why) != 0)
        fail_msg("'%s': %s", text, why);
    return option;
}

static void options_are_compared(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct ck_arena arena = {0};
        struct ck_arg_option before = parse(&arena, pairs[i].before);
        struct ck_arg_option after = parse(&arena, pairs[i].after);
        enum ck_width width = ck_width_of_options(&before, &after);
        if (width != pairs[i].width)
            fail_msg("'%s' to '%s' is %s, not %s", pairs[i].before, pairs[i].after, width_name(width),
                     width_name(pairs[i].width));
        assert_int_equal(ck_width_of_options(&after, &before), turned(width));
        ck_arena_done(&arena);
    }
}

/* ---- destinations ------------------------------------------------------------------------ */

static void destinations_are_contained(void **state)
{
    static const struct {
        const char *inner;
        const char *outer;
        bool within;
    } cases[] = {
        {"a.org", "a.org", true},
        {"a.org", "b.org", false},
        {"a.org:443", "a.org", true},
        {"a.org", "a.org:443", false},
        {"a.org:443", "a.org:80", false},
        {"x.a.org", "*.a.org", true},
        {"x.y.a.org", "*.a.org", true},
        {"a.org", "*.a.org", false},
        {"xa.org", "*.a.org", false},
        {"*.x.a.org", "*.a.org", true},
        {"*.a.org", "*.x.a.org", false},
        {"*.a.org", "x.a.org", false},
        {"x.a.org:443", "*.a.org:443", true},
        {"x.a.org", "*.a.org:443", false},
        {"*.a.org:443", "*.a.org", true},
        {"a.org", "a.org opaque", true},
        {"a.org opaque", "a.org", false},
        {"192.0.2.7:443", "192.0.2.0/24", true},
        {"192.0.2.0/24", "192.0.2.7", false},
        {"192.0.2.7", "a.org", false},
        {"2001:db8::1", "2001:db8::/32", true},
        {"::ffff:192.0.2.7", "192.0.2.7 ", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (ck_width_destination_within(cases[i].inner, cases[i].outer) != cases[i].within)
            fail_msg("'%s' in '%s' must be %d", cases[i].inner, cases[i].outer, cases[i].within);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_form_a_lattice),
        cmocka_unit_test(options_are_compared),
        cmocka_unit_test(destinations_are_contained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
