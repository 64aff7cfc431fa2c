/*
 * sarif.c - the findings as SARIF 2.1.0 (front/sarif.h), for code scanning services.
 *
 * SARIF has three levels; "security-severity" of a rule is what services sort by.
 */
#include "gather/gather.h"

#include "base/base64.h"
#include "front/jansson.h"
#include "front/sarif.h"
#include "gather/view/severity.h"

#include <stdlib.h>
#include <string.h>

/* Returns object, or NULL if one of its members could not be made. */
static json_t *whole(json_t *object, int bad)
{
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static const char *text_of(const json_t *finding, const char *member)
{
    const char *text = json_string_value(json_object_get(finding, member));
    return text ? text : "";
}

static const char *level(enum ck_severity severity)
{
    static const char *const levels[] = {[CK_SEVERITY_CRITICAL] = "error",
                                         [CK_SEVERITY_HIGH] = "error",
                                         [CK_SEVERITY_MEDIUM] = "warning",
                                         [CK_SEVERITY_LOW] = "note",
                                         [CK_SEVERITY_INFO] = "note"};
    return levels[severity];
}

/* In the middle of the ranges that services give the names to. */
static const char *score(enum ck_severity severity)
{
    static const char *const scores[] = {[CK_SEVERITY_CRITICAL] = "9.5",
                                         [CK_SEVERITY_HIGH] = "8.0",
                                         [CK_SEVERITY_MEDIUM] = "5.0",
                                         [CK_SEVERITY_LOW] = "2.0",
                                         [CK_SEVERITY_INFO] = "0.0"};
    return scores[severity];
}

/* Of the first finding with the id, which is one of the worst. */
static json_t *rule_object(const json_t *finding)
{
    enum ck_severity severity = ck_severity_of(finding);
    const char *message = text_of(finding, "message");
    json_t *object = json_object();
    json_t *usual = json_object();
    json_t *properties = json_object();
    int bad = json_object_set_new(usual, "level", ck_jansson_text(level(severity)));

    bad |= json_object_set_new(properties, "security-severity", ck_jansson_text(score(severity)));
    bad |= json_object_set_new(object, "id", ck_jansson_text(text_of(finding, "id")));
    bad |= json_object_set_new(object, "shortDescription",
                               ck_sarif_text(message[0] != '\0' ? message : text_of(finding, "id")));
    bad |= json_object_set_new(object, "defaultConfiguration", usual);
    bad |= json_object_set_new(object, "properties", properties);
    return whole(object, bad);
}

static json_t *region_object(const json_t *finding)
{
    json_t *line = json_object_get(finding, "line");
    const char *source = json_string_value(json_object_get(finding, "source"));
    json_t *object = json_object();

    if (!json_is_integer(line)) {
        json_decref(object);
        return NULL;
    }
    int bad = json_object_set(object, "startLine", line);
    if (source)
        bad |= json_object_set_new(object, "snippet", ck_sarif_text(source));
    return whole(object, bad);
}

/* An empty list for a finding without a path, as in the history of a repository. */
static json_t *locations_array(const json_t *finding)
{
    const json_t *path = json_object_get(finding, "path");
    const char *base64 = json_string_value(json_object_get(path, "base64"));
    json_t *array = json_array();
    char *bytes = base64 ? malloc(strlen(base64) + 1) : NULL;
    size_t length = 0;

    if (bytes && !ck_base64_decode(bytes, &length, base64, strlen(base64)))
        length = 0;
    if (bytes)
        bytes[length] = '\0';
    const char *text = bytes ? bytes : json_string_value(path);
    int bad = text ? json_array_append_new(array, ck_sarif_location(text, region_object(finding))) : 0;
    free(bytes);
    return whole(array, bad);
}

static json_t *result_object(const struct ck_gathering *gathering, const json_t *finding, json_int_t rule)
{
    const char *message = text_of(finding, "message");
    json_t *object = json_object();
    int bad = json_object_set_new(object, "ruleId", ck_jansson_text(text_of(finding, "id")));

    bad |= json_object_set_new(object, "ruleIndex", json_integer(rule));
    bad |= json_object_set_new(object, "level", ck_jansson_text(level(ck_severity_of(finding))));
    bad |= json_object_set_new(object, "message", ck_sarif_text(message[0] != '\0' ? message : text_of(finding, "id")));
    bad |= json_object_set_new(object, "locations", locations_array(finding));
    bad |= json_object_set_new(object, "partialFingerprints", ck_sarif_fingerprints(text_of(finding, "fingerprint")));
    if (gathering->has_baseline)
        bad |= json_object_set_new(object, "baselineState",
                                   ck_sarif_baseline_state(json_is_true(json_object_get(finding, "known"))));
    return whole(object, bad);
}

/* The rules are those of the findings, in the order of their first one. */
json_t *ck_gather_sarif_make(const struct ck_gathering *gathering)
{
    json_t *indexes = json_object();
    json_t *rules = json_array();
    json_t *results = json_array();
    int bad = 0;

    for (size_t i = 0; i < json_array_size(gathering->findings); i++) {
        const json_t *finding = json_array_get(gathering->findings, i);
        const char *id = text_of(finding, "id");
        if (!json_object_get(indexes, id)) {
            bad |= json_object_set_new(indexes, id, json_integer((json_int_t)json_array_size(rules)));
            bad |= json_array_append_new(rules, rule_object(finding));
        }
        json_int_t index = json_integer_value(json_object_get(indexes, id));
        bad |= json_array_append_new(results, result_object(gathering, finding, index));
    }
    json_decref(indexes);
    return whole(ck_sarif_log("chokepoint gather", gathering->root, rules, results), bad);
}
