/*
 * test_audit_complete.c - what a log must account for where guards are in it, and the records that
 * they write. Each case is a log; the wanted gaps are parts of their messages, in order.
 */
#include "audit/complete.h"

#include "audit/body.h"
#include "audit/body_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "audit_log.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STEPS_MAX 10
#define GAPS_MAX 4

#define MEMBERS(context, name) ",\"context\":\"" context "\",\"pid\":1,\"probe\":null,\"tool\":{\"name\":\"" name "\"}"
#define SUMS(attempts, door, carrier, refused, connections, calls) \
    ",\"executions\":{\"attempts\":" #attempts ",\"door\":" #door ",\"carrier\":" #carrier \
    ",\"workspace\":0,\"refused\":" #refused ",\"not_found\":0,\"failed\":0,\"connections\":" #connections \
    ",\"calls\":" #calls "}"
#define A "00000000000000aa"
#define B "00000000000000bb"

/* The first record of the log is its begin, so the first step has the number 1. */
#define BEGIN(context) \
    { \
        "guard_begin", MEMBERS(context, "bash") \
    }
#define CALL(context, guard) \
    { \
        "intent", MEMBERS(context, "git") ",\"guard\":" #guard \
    }
#define REFUSED(context, guard) \
    { \
        "refused", MEMBERS(context, "sudo") ",\"guard\":" #guard \
    }
#define OUTCOME(context, intent) \
    { \
        "outcome", ",\"intent\":" #intent MEMBERS(context, "git") \
    }
#define END(context, guard, sums) \
    { \
        "guard_end", ",\"guard\":" #guard MEMBERS(context, "bash") sums \
    }
#define OTHER \
    { \
        "intent", MEMBERS(B, "rg") \
    }

struct step {
    const char *kind, *body;
};

struct accounted {
    const char *name;
    struct step steps[STEPS_MAX];
    const char *gaps[GAPS_MAX];
};

#define NOTHING SUMS(1, 0, 1, 0, 0, 0)

static const struct accounted cases[] = {
    {"a log without guards is complete", {OTHER, {"outcome", ",\"intent\":1" MEMBERS(B, "rg")}, OTHER}, {NULL}},
    {"a guard with its end is complete", {BEGIN(A), END(A, 1, NOTHING)}, {NULL}},
    {"calls and what they led to add up",
     {BEGIN(A), CALL(A, 1), OTHER, REFUSED(A, 1), OUTCOME(A, 2), CALL(A, 1), OUTCOME(A, 6),
      END(A, 1, SUMS(9, 4, 3, 2, 4, 3))},
     {NULL}},
    {"two guards of two contexts are told apart",
     {BEGIN(A), BEGIN(B), CALL(B, 2), CALL(A, 1), OUTCOME(A, 4), OUTCOME(B, 3), END(B, 2, SUMS(2, 1, 1, 0, 1, 1)),
      END(A, 1, SUMS(2, 1, 1, 0, 1, 1))},
     {NULL}},
    {"a guard after another in one context", {BEGIN(A), END(A, 1, NOTHING), BEGIN(A), END(A, 3, NOTHING)}, {NULL}},

    {"a guard without an end is named", {BEGIN(A), OTHER}, {"1: the guard of 'bash', begun at 2026-11-15T16:38:18"}},
    {"a call of a guard without an end is named, too",
     {BEGIN(A), CALL(A, 1)},
     {"1: the guard of 'bash'", "2: the call of 'git' in the guard of record 1 has no outcome"}},
    {"a call without an outcome is named",
     {BEGIN(A), CALL(A, 1), END(A, 1, SUMS(2, 1, 1, 0, 1, 1))},
     {"2: the call of 'git' in the guard of record 1 has no outcome"}},
    {"an outcome after the end of its guard is too late",
     {BEGIN(A), CALL(A, 1), END(A, 1, SUMS(2, 1, 1, 0, 1, 1)), OUTCOME(A, 2)},
     {"2: the call of 'git'"}},
    {"an attempt without an account is a gap",
     {BEGIN(A), END(A, 1, SUMS(3, 0, 1, 1, 0, 0))},
     {"2: 3 executions were attempted, but 2 are accounted for"}},
    {"more accounts than attempts are a gap",
     {BEGIN(A), END(A, 1, SUMS(1, 0, 1, 1, 0, 0))},
     {"2: 1 executions were attempted, but 2"}},
    {"a door that did not connect is a gap",
     {BEGIN(A), END(A, 1, SUMS(2, 1, 1, 0, 0, 0))},
     {"2: doors were executed 1 times, but the guard has seen 0 connections"}},
    {"more calls than connections are a gap",
     {BEGIN(A), REFUSED(A, 1), END(A, 1, SUMS(1, 0, 1, 0, 0, 1))},
     {"3: the guard judged 1 calls, but has seen 0 connections"}},
    {"a call that was not recorded is a gap",
     {BEGIN(A), REFUSED(A, 1), END(A, 1, SUMS(3, 2, 1, 0, 2, 2))},
     {"3: the guard judged 2 calls, but 1 records name it"}},
    {"an end without an account is a gap", {BEGIN(A), END(A, 1, "")}, {"2: this guard_end has no account"}},
    {"an account that lacks a part is a gap",
     {BEGIN(A), END(A, 1, ",\"executions\":{\"attempts\":1,\"door\":1,\"connections\":1,\"calls\":0}")},
     {"2: this guard_end has no number of executions 'carrier'"}},
    {"a negative number is no number",
     {BEGIN(A), END(A, 1, SUMS(-1, 0, 0, 0, 0, 0))},
     {"2: this guard_end has no account"}},
    {"parts that together are too large are a gap",
     {BEGIN(A), END(A, 1,
                    ",\"executions\":{\"attempts\":0,\"door\":0,\"carrier\":999999999999999999,\"workspace\":"
                    "999999999999999999,\"refused\":999999999999999999,\"not_found\":999999999999999999,\"failed\":"
                    "999999999999999999,\"connections\":0,\"calls\":0}")},
     {"2: 0 executions were attempted, but 4999999999999999995"}},

    /* who can append records can write any of them */
    {"an end of nothing is a gap", {OTHER, END(A, 1, NOTHING)}, {"2: this guard_end names record 1 as its guard"}},
    {"an end of itself is a gap", {END(A, 1, NOTHING)}, {"1: this guard_end names record 1 as its guard"}},
    {"a second end is a gap",
     {BEGIN(A), END(A, 1, NOTHING), END(A, 1, NOTHING)},
     {"3: this guard_end names record 1 as its guard"}},
    {"an end by another context ends nothing",
     {BEGIN(A), END(B, 1, NOTHING)},
     {"2: this guard_end was not written by the guard of record 1", "1: the guard of 'bash'"}},
    {"a call by another context is a gap",
     {BEGIN(A), REFUSED(B, 1), END(A, 1, NOTHING)},
     {"2: this refused was not written by the guard of record 1"}},
    {"a call of a guard that has ended is a gap",
     {BEGIN(A), END(A, 1, NOTHING), CALL(A, 1)},
     {"3: this intent names record 1 as its guard"}},
    {"a call of a guard to come is a gap",
     {CALL(A, 2), BEGIN(A), END(A, 2, NOTHING)},
     {"1: this intent names record 2 as its guard"}},
    {"text in place of a number is a gap",
     {BEGIN(A), {"intent", MEMBERS(A, "git") ",\"guard\":\"1\""}, END(A, 1, NOTHING)},
     {"2: this intent names no guard"}},
    {"an end that names no guard is a gap", {{"guard_end", MEMBERS(A, "bash")}}, {"1: this guard_end names no guard"}},
    {"a guard inside of a guard of one context is a gap",
     {BEGIN(A), BEGIN(A), END(A, 2, NOTHING), END(A, 1, NOTHING)},
     {"2: a guard begins in the context of the guard of record 1"}},
    {"an argument that looks like the member is not it",
     {{"intent", MEMBERS(B, "rg") ",\"argv\":[\"\\\"guard\\\":7\"]"}, OTHER},
     {NULL}},
};

/* All gaps of a log, as text: "SEQ: message" each. */
static void follow(const struct made_log *made, size_t skip, struct ck_complete *complete)
{
    for (size_t i = skip; i < made->count; i++) {
        struct ck_envelope envelope;
        assert_int_equal(ck_line_read(made->lines[i], strlen(made->lines[i]), &envelope), 0);
        size_t body = strlen(made->lines[i]) - CK_AUDIT_CLOSING_LENGTH - envelope.body;
        assert_true(ck_body_is_json(made->lines[i] + envelope.body, body));
        assert_int_equal(ck_complete_add(complete, &envelope, made->lines[i], strlen(made->lines[i])), 0);
    }
    assert_int_equal(ck_complete_finish(complete), 0);
}

static bool has_gap(const struct ck_complete *complete, size_t index, const char *wanted)
{
    char text[CK_COMPLETE_MESSAGE_MAX + 32];
    if (index >= complete->gaps_count)
        return false;
    (void)snprintf(text, sizeof(text), "%llu: %s", (unsigned long long)complete->gaps[index].seq,
                   complete->gaps[index].message);
    return strncmp(text, wanted, strlen(wanted)) == 0;
}

static void each_log_has_its_gaps(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_log made;
        struct ck_complete complete = {0};
        size_t wanted = 0;
        made_begin(&made, MADE_LOG);
        for (size_t k = 0; k < STEPS_MAX && cases[i].steps[k].kind; k++)
            made_add(&made, cases[i].steps[k].kind, cases[i].steps[k].body);
        follow(&made, 0, &complete);
        for (; wanted < GAPS_MAX && cases[i].gaps[wanted]; wanted++)
            if (!has_gap(&complete, wanted, cases[i].gaps[wanted]))
                fail_msg("%s: gap %zu is '%s'", cases[i].name, wanted,
                         wanted < complete.gaps_count ? complete.gaps[wanted].message : "none");
        if (complete.gaps_count != wanted)
            fail_msg("%s: one more gap: %s", cases[i].name, complete.gaps[wanted].message);
        ck_complete_done(&complete);
        made_free(&made);
    }
}

/* Without the file that has the beginning, an end proves nothing. */
static void a_beginning_in_an_earlier_file_is_asked_for(void **state)
{
    (void)state;
    struct made_log made;
    struct ck_complete complete = {0};
    made_begin(&made, MADE_LOG);
    made_add(&made, "guard_begin", MEMBERS(A, "bash"));
    made_add(&made, "intent", MEMBERS(B, "rg"));
    made_add(&made, "guard_end", ",\"guard\":1" MEMBERS(A, "bash") NOTHING);
    follow(&made, 2, &complete);
    assert_int_equal(complete.gaps_count, 1);
    assert_non_null(strstr(complete.gaps[0].message, "record 1, which is in an earlier file"));
    ck_complete_done(&complete);
    made_free(&made);
}

/* Memory is bounded, and what is beyond the bound is still a gap. */
static void many_open_guards_are_all_gaps(void **state)
{
    (void)state;
    struct ck_complete complete = {0};
    char prev[] = CK_AUDIT_FIRST_PREV;
    const uint64_t many = 5000;
    for (uint64_t seq = 0; seq < many; seq++) {
        char body[128];
        struct ck_envelope envelope;
        (void)snprintf(body, sizeof(body), ",\"context\":\"%016llx\"", (unsigned long long)seq);
        char *line = made_record(MADE_LOG, seq, prev, "guard_begin", body);
        assert_int_equal(ck_line_read(line, strlen(line), &envelope), 0);
        assert_int_equal(ck_complete_add(&complete, &envelope, line, strlen(line)), 0);
        free(line);
    }
    assert_true(complete.guards_count < many);
    assert_int_equal(ck_complete_finish(&complete), 0);
    assert_int_equal(complete.gaps_count, CK_COMPLETE_GAPS_MAX);
    assert_int_equal(complete.gaps_count + complete.gaps_more, many);
    ck_complete_done(&complete);
}

/* ---- what a guard writes ------------------------------------------------------------------- */

static const struct ck_audit_caller caller = {.context = A, .pid = 4711};
static struct ck_audit_policy policy = {.path = "/p.yaml",
                                        .sha256 = "00000000000000000000000000000000000000000000000000000000000000ff"};

static void add_record(struct made_log *made, struct ck_record *record)
{
    char body[CK_AUDIT_LINE_MAX];
    size_t length = ck_json_length(&record->body);
    assert_true(length < sizeof(body) && !record->body.full);
    memcpy(body, record->body.start, length);
    body[length] = '\0';
    assert_true(ck_body_is_json(body, length));
    made_add(made, record->kind, body);
}

static struct ck_audit_call call_of(const char *name, const char *const *argv)
{
    static const char *const env[] = {"TERM=dumb", "HOME=/h", NULL};
    static const char *const layers[] = {"userns", "landlock", NULL};
    return (struct ck_audit_call){.caller = caller,
                                  .tool_name = name,
                                  .argv = argv,
                                  .env = env,
                                  .root = "/r",
                                  .cwd = "/r",
                                  .policy = &policy,
                                  .rule = "tools.x",
                                  .jail = "native",
                                  .layers = layers,
                                  .workspace = "rw"};
}

static void add_begin(struct made_log *made, struct ck_record *record, const struct ck_audit_guard *guard)
{
    static const char *const argv[] = {"bash", "build.sh", NULL};
    struct ck_audit_call call = call_of("bash", argv);
    call.begins = guard;
    assert_int_equal(ck_body_write_call(record, CK_AUDIT_KIND_GUARD_BEGIN, &call), 0);
    add_record(made, record);
}

static void add_outcome(struct made_log *made, struct ck_record *record, const struct ck_audit_guard *ends,
                        uint64_t intent)
{
    const struct choke_result result = {
        .outcome = CHOKE_EXITED, .exit_code = 3, .tool_name = ends ? "bash" : "git", .kill = "pidns", .denied = NULL};
    const struct ck_audit_outcome outcome = {.intent = intent,
                                             .caller = caller,
                                             .result = &result,
                                             .handed_over = true,
                                             .ends = ends,
                                             .end = {.outcome = "exited"}};
    assert_int_equal(ck_body_write_outcome(record, &outcome), 0);
    add_record(made, record);
}

/* The file is a log by itself: tests/integration/test_audit.py holds it to the schema, and verifies it. */
static void a_guard_writes_what_the_golden_file_has(void **state)
{
    static const char *const carriers[] = {"bash", "make", NULL}, *const kept[] = {"/h/.agent", NULL};
    static const char *const git[] = {"git", "log", NULL}, *const sudo[] = {"docker", "ps", NULL};
    const struct ck_audit_guard guard = {.profile = "ci",
                                         .carriers = carriers,
                                         .state = kept,
                                         .executions = {.attempts = 9,
                                                        .door = 2,
                                                        .carrier = 3,
                                                        .workspace = 1,
                                                        .refused = 1,
                                                        .not_found = 1,
                                                        .failed = 1,
                                                        .connections = 2,
                                                        .calls = 2}};
    struct made_log made;
    struct ck_record record = {0};
    char line[CK_AUDIT_LINE_MAX];
    (void)state;
    made_begin(&made, MADE_LOG);
    add_begin(&made, &record, &guard);
    struct ck_audit_call call = call_of("git", git);
    call.guard = 1;
    assert_int_equal(ck_body_write_call(&record, CK_AUDIT_KIND_INTENT, &call), 0);
    add_record(&made, &record);
    add_outcome(&made, &record, NULL, 2);
    call = call_of("docker", sudo);
    call.guard = 1;
    assert_int_equal(ck_body_write_call(&record, CK_AUDIT_KIND_REFUSED, &call), 0);
    ck_body_write_end(&record, &(struct ck_audit_end){"disallowed", "disallowed", "no"});
    add_record(&made, &record);
    add_outcome(&made, &record, &guard, 1);
    FILE *golden = fopen(CHOKE_SOURCE_DIR "/tests/integration/golden/guard.jsonl", "re");
    assert_non_null(golden);
    for (size_t i = 0; i < made.count; i++) {
        if (!fgets(line, sizeof(line), golden))
            fail_msg("line %zu is not in the golden file: %s", i + 1, made.lines[i]);
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, made.lines[i]) != 0)
            fail_msg("line %zu is now %s", i + 1, made.lines[i]);
    }
    assert_null(fgets(line, sizeof(line), golden));
    assert_int_equal(fclose(golden), 0);
    ck_record_done(&record);
    made_free(&made);
}

/* As much as the budgets let in; the rest is counted. */
static void a_guard_with_endless_names_fits_into_its_line(void **state)
{
    enum { NAMES = 300, ARGUMENTS = 20000 };
    static const char *names[NAMES + 1], *argv[ARGUMENTS + 1];
    static char text[8192];
    struct made_log made;
    struct ck_record record = {0};
    (void)state;
    memset(text, 1, sizeof(text) - 1); /* six bytes each in JSON */
    for (size_t i = 0; i < NAMES; i++)
        names[i] = "a-carrier-with-a-name-of-some-length-that-is-rather-long";
    for (size_t i = 0; i < ARGUMENTS; i++)
        argv[i] = "argument";
    const struct ck_audit_guard guard = {.profile = "ci", .carriers = names, .state = names};
    struct ck_audit_call call = call_of("bash", argv);
    call.begins = &guard;
    call.root = call.cwd = call.root_at = call.tool_path = text;
    call.egress = call.shown = names;
    made_begin(&made, MADE_LOG);
    assert_int_equal(ck_body_write_call(&record, CK_AUDIT_KIND_GUARD_BEGIN, &call), 0);
    add_record(&made, &record);
    assert_non_null(strstr(made.lines[1], "\"carriers_cut\":"));
    assert_non_null(strstr(made.lines[1], "\"state_cut\":"));
    assert_true(strlen(made.lines[1]) < CK_AUDIT_LINE_MAX);
    ck_record_done(&record);
    made_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_log_has_its_gaps),
        cmocka_unit_test(a_beginning_in_an_earlier_file_is_asked_for),
        cmocka_unit_test(many_open_guards_are_all_gaps),
        cmocka_unit_test(a_guard_writes_what_the_golden_file_has),
        cmocka_unit_test(a_guard_with_endless_names_fits_into_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
