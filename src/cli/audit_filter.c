/*
 * audit_filter.c - filters for audit records; see audit_filter.h. Times are compared as text: all
 * have one form, in UTC.
 */
#include "cli/audit_filter.h"

#include "front/text.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* A hundred years. It also keeps the multiplication below from overflowing. */
#define LONGEST_AGO (UINT64_C(100) * 365 * 86400)

struct ck_audit_subject ck_audit_subject(const json_t *record)
{
    /* The tool is an object with a name in the records of calls; a plain string is accepted too. */
    const json_t *tool = json_object_get(record, "tool");

    return (struct ck_audit_subject){
        .time = json_string_value(json_object_get(record, "time")),
        .outcome = json_string_value(json_object_get(record, "outcome")),
        .tool = json_string_value(json_is_object(tool) ? json_object_get(tool, "name") : tool),
        .probe = json_string_value(json_object_get(record, "probe")),
    };
}

/* An empty list matches everything. A call without the value (NULL) matches nothing else. */
static bool is_among(const struct ck_string_list *values, const char *value)
{
    for (size_t i = 0; value && i < values->count; i++)
        if (strcmp(values->items[i], value) == 0)
            return true;
    return values->count == 0;
}

/* The callers set time to the one that the library has checked, so it is not NULL here. */
bool ck_audit_filter_matches(const struct ck_audit_filter *filter, const struct ck_audit_subject *subject)
{
    return is_among(&filter->outcomes, subject->outcome) && is_among(&filter->tools, subject->tool) &&
           is_among(&filter->probes, subject->probe) &&
           (filter->since[0] == '\0' || strcmp(subject->time, filter->since) >= 0) &&
           (filter->until[0] == '\0' || strcmp(subject->time, filter->until) <= 0);
}

/* Every real outcome: CHOKE_NONE, which is before the first, is never in a log. */
static bool is_outcome(const char *value)
{
    for (int outcome = CHOKE_EXITED; outcome <= CHOKE_SPAWN_FAILED; outcome++)
        if (strcmp(value, choke_outcome_name((enum choke_outcome)outcome)) == 0)
            return true;
    return strcmp(value, CK_AUDIT_UNFINISHED) == 0;
}

int ck_audit_check_outcomes(const struct ck_string_list *outcomes, struct choke_error *error)
{
    for (size_t i = 0; i < outcomes->count; i++)
        if (!is_outcome(outcomes->items[i]))
            return ck_text_error(
                error, CHOKE_INVALID, EINVAL,
                "unknown outcome '%s'; give one such as exited, timeout, disallowed or " CK_AUDIT_UNFINISHED,
                CK_TEXT_SAFE(outcomes->items[i]));
    return 0;
}

/* Parses "90s" and the like; false if text has another form. */
static bool read_ago(const char *text, char ret_time[CK_AUDIT_TIME_SIZE])
{
    static const struct {
        char letter;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    uint64_t number = 0;
    size_t digits = strspn(text, "0123456789");

    /* Stops early, so number is at most ten times LONGEST_AGO and cannot overflow. */
    for (size_t i = 0; i < digits && number < LONGEST_AGO; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        struct tm parts;
        /* Exactly one letter after the digits, and no more than a hundred years. */
        if (digits == 0 || text[digits] != units[i].letter || text[digits + 1] != '\0' ||
            number > LONGEST_AGO / units[i].seconds)
            continue;
        time_t then = time(NULL) - (time_t)(number * units[i].seconds);
        return gmtime_r(&then, &parts) &&
               strftime(ret_time, CK_AUDIT_TIME_SIZE, "%Y-%m-%dT%H:%M:%S.000000Z", &parts) > 0;
    }
    return false;
}

/* text must be a prefix of the form that ends after a complete part of it. */
static bool read_date(const char *text, bool latest, char ret_time[CK_AUDIT_TIME_SIZE])
{
    static const char form[] = "0000-00-00T00:00:00.000000Z";
    size_t length = strlen(text);

    if (length > 0 && text[length - 1] == 'Z')
        length--;
    /* A date; with minutes; with seconds; with one to six digits of a fraction. */
    if (length != 10 && length != 16 && length != 19 && (length < 21 || length > 26))
        return false;
    for (size_t i = 0; i < length; i++) {
        /* A space instead of the T, as RFC 3339 allows. */
        bool blank = i == 10 && text[i] == ' ';
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i] && !blank)
            return false;
    }
    /*
     * The rest of the earliest or the latest time is left after the given part. The ranges are not
     * checked: the text is only compared.
     */
    memcpy(ret_time, latest ? "9999-12-31T23:59:59.999999Z" : form, sizeof(form));
    memcpy(ret_time, text, length);
    if (length > 10)
        ret_time[10] = 'T';
    return true;
}

/* The two forms cannot be confused: an age ends in a letter other than Z. */
int ck_audit_parse_time(const char *text, bool latest, char ret_time[CK_AUDIT_TIME_SIZE], struct choke_error *error)
{
    if (read_ago(text, ret_time) || read_date(text, latest, ret_time))
        return 0;
    return ck_text_error(
        error, CHOKE_INVALID, EINVAL,
        "'%s' is not a valid time; give one in UTC such as 2026-11-15 or 2026-11-15T16:38, or an age such as 2h",
        CK_TEXT_SAFE(text));
}
