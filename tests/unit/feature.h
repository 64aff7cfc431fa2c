/*
 * feature.h - the one way for a unit test to skip. If CHOKE_TEST_REQUIRE names the missing feature,
 * or says "all", the skip is a failure.
 */
#ifndef TEST_FEATURE_H
#define TEST_FEATURE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool feature_is_required(const char *feature)
{
    const char *required = getenv("CHOKE_TEST_REQUIRE");
    size_t length = strlen(feature);
    for (const char *at = required; at && *at != '\0'; at += strspn(at, ",")) {
        size_t word = strcspn(at, ",");
        if ((word == length && strncmp(at, feature, length) == 0) || (word == 3 && strncmp(at, "all", 3) == 0))
            return true;
        at += word;
    }
    return false;
}

/* make test SUITES=full: every count at its largest. */
static inline bool feature_full_run(void)
{
    const char *full = getenv("CHOKE_TEST_FULL");
    return full && strcmp(full, "1") == 0;
}

/* Ends the test. Include cmocka.h before this file. */
#define skip_without(feature, why) \
    do { \
        if (feature_is_required(feature)) \
            fail_msg("%s is required (CHOKE_TEST_REQUIRE) but missing: %s", feature, why); \
        print_message("skipped, no %s: %s\n", feature, why); \
        skip(); \
    } while (0)

#endif
