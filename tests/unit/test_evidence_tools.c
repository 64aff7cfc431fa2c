/* test_evidence_tools.c - the documented output of the other tools, and what may come instead. */
#include "evidence_reading.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_version_is_a_version(void **state)
{
    static const char *const others[] = {"", "v", "20.1.0\n", "vx\n", "node\n", "v\xff\n"};
    (void)state;
    struct reading reading = read_one("node", "version", "v20.20.2\n");
    has_text(&reading, "version", "20.20.2");
    has_number(&reading, "major", 20);
    assert_string_equal(reading.evidence.headline, "node 20.20.2");
    ck_evidence_done(&reading.evidence);
    for (size_t i = 0; i < COUNT(others); i++) {
        reading = read_one("node", "version", others[i]);
        assert_int_equal(reading.r, -EBADMSG);
    }
}

/* ---- rg ---- */

static const char shells[] = "./b.py\0"
                             "12:medium a shell may run what 'os.system' is given\n"
                             "./new\nline\xff.py\0"
                             "3:medium another: with a colon\n"
                             "a.py\0"
                             "7:medium a shell\n";
static const char secrets[] = "./k.pem\0"
                              "1:high this has the shape of a credential: 'AKIA'...\n";

static void matches_have_a_position_a_severity_and_a_message(void **state)
{
    struct ck_answer answers[] = {make_answer("shell_call", shells, sizeof(shells) - 1),
                                  make_answer("secret_shape", secrets, sizeof(secrets) - 1),
                                  make_text_answer("eval_call", "")};
    (void)state;
    answers[2].exit_code = 1;
    answers[1].err = "x: Permission denied\n";
    answers[1].err_length = strlen(answers[1].err);
    struct reading reading = read_all_of("patterns", answers, COUNT(answers));
    assert_int_equal(reading.evidence.findings, 4);
    has_text(&reading, "findings.0.id", "secret_shape");
    has_text(&reading, "findings.0.severity", "high");
    has_text(&reading, "findings.0.message", "this has the shape of a credential: 'AKIA'...");
    has_text(&reading, "findings.0.path", "k.pem");
    has_number(&reading, "findings.0.line", 1);
    has_text(&reading, "findings.1.path.base64", "bmV3CmxpbmX/LnB5");
    has_text(&reading, "findings.1.message", "another: with a colon");
    has_text(&reading, "findings.2.path", "a.py");
    has_text(&reading, "findings.3.path", "b.py");
    has_number(&reading, "by_id.shell_call", 3);
    has_number(&reading, "problems", 1);
    assert_string_equal(reading.evidence.headline, "4 matches of 2 rules, as far as it was read");
    ck_evidence_done(&reading.evidence);
}

/* A deep directory must not hide where something is. */
static void a_long_path_is_reported_as_a_whole(void **state)
{
    char record[3000];
    (void)state;
    memset(record, 'd', sizeof(record));
    memcpy(record + 2000,
           "/x.py\0"
           "7:high words\n",
           19);
    const struct ck_answer answer = make_answer("secret_shape", record, 2019);
    struct reading reading = read_all_of("patterns", &answer, 1);
    assert_int_equal(json_string_length(member(&reading, "findings.0.path")), 2005);
    has_number(&reading, "findings.0.line", 7);
    ck_evidence_done(&reading.evidence);
}

static void a_search_that_lost_its_beginning_goes_on_with_the_next_record(void **state)
{
    static const char rest[] = "...[TRUNCATED]...dium lost\nb.py\0"
                               "12:medium kept\n";
    struct ck_answer answer = make_answer("shell_call", rest, sizeof(rest) - 1);
    (void)state;
    answer.out_truncated = true;
    struct reading reading = read_all_of("patterns", &answer, 1);
    assert_int_equal(reading.evidence.findings, 1);
    has_text(&reading, "findings.0.path", "b.py");
    assert_true(json_is_true(member(&reading, "incomplete")));
    ck_evidence_done(&reading.evidence);
}

static void invalid_records_are_problems(void **state)
{
    static const char odd[] = "a\0"
                              "x:high y\n"
                              "b\0"
                              "123456789012345678901:high\n"
                              "c\0"
                              "9";
    const struct ck_answer answer = make_answer("shell_call", odd, sizeof(odd) - 1);
    (void)state;
    struct reading reading = read_all_of("patterns", &answer, 1);
    assert_int_equal(reading.evidence.findings, 0);
    has_number(&reading, "problems", 3);
    ck_evidence_done(&reading.evidence);
}

static void what_is_passed_over_is_in_the_headline(void **state)
{
    static const char all[] = "a\0b\nc\0d", searched[] = "a";
    struct ck_answer answers[] = {make_answer("all_files", all, sizeof(all)),
                                  make_answer("searched_files", searched, sizeof(searched))};
    (void)state;
    struct reading reading = read_all_of("patterns", answers, COUNT(answers));
    has_number(&reading, "files", 3);
    has_number(&reading, "files_searched", 1);
    has_number(&reading, "problems", 0);
    assert_int_equal(reading.evidence.findings, 0);
    assert_string_equal(reading.evidence.headline, "nothing found; 2 files skipped");
    ck_evidence_done(&reading.evidence);
    answers[0].out_truncated = true;
    reading = read_all_of("patterns", answers, COUNT(answers));
    has_null(&reading, "files");
    assert_string_equal(reading.evidence.headline, "nothing found");
    ck_evidence_done(&reading.evidence);
}

/* ---- ast-grep ---- */

static void structure_is_read_line_by_line(void **state)
{
    (void)state;
    struct reading reading = read_one(
        "ast-grep", "scan",
        "{\"text\":\"eval(x)\",\"range\":{\"start\":{\"line\":4,\"column\":0}},\"file\":\"./a.py\",\"ruleId\":\"py-eval\","
        "\"severity\":\"warning\",\"message\":\"code\"}\n"
        "{\"file\":\"b.py\",\"ruleId\":\"py-hash\",\"severity\":\"info\",\"message\":\"m\",\"range\":{\"start\":{\"line\":\"x\"}}}\n"
        "{\"file\":\"b.py\"}\n[]\n{\n\n"
        "{\"file\":\"c.py\",\"ruleId\":\"py-shell\",\"severity\":\"error\",\"message\":5,\"range\":[]}");
    assert_int_equal(reading.evidence.findings, 3);
    has_text(&reading, "findings.0.id", "py-shell");
    has_text(&reading, "findings.0.severity", "high");
    has_text(&reading, "findings.1.path", "a.py");
    has_number(&reading, "findings.1.line", 5);
    has_text(&reading, "findings.2.severity", "low");
    has_number(&reading, "problems", 3);
    ck_evidence_done(&reading.evidence);
}

/* The author of the line chose its bytes, and must not be able to make the finding unreadable. */
static void a_NUL_in_what_is_quoted_costs_no_finding(void **state)
{
    static const char line[] = "{\"file\":\"a.py\",\"ruleId\":\"py-eval\",\"lines\":\"eval(x) # \\u0000\"}\n";
    static const char leak[] = "[{\"RuleID\": \"pat\", \"File\": \"a\", \"Match\": \"\\u0000\"}]";
    (void)state;
    struct reading reading = read_one("ast-grep", "scan", line);
    assert_int_equal(reading.evidence.findings, 1);
    ck_evidence_done(&reading.evidence);
    reading = read_one("gitleaks", "scan", leak);
    assert_int_equal(reading.evidence.findings, 1);
    ck_evidence_done(&reading.evidence);
}

static void files_that_ast_grep_does_not_read_are_reported(void **state)
{
    struct ck_answer answer = make_text_answer("scan", "");
    (void)state;
    answer.err = "sg: summary|project: isProject=false\nsg: summary|file: scannedFileCount=12,skippedFileCount=2\n"
                 "sg: summary|rule: effectiveRuleCount=1,skippedRuleCount=0\n";
    answer.err_length = strlen(answer.err);
    struct reading reading = read_all_of("ast-grep", &answer, 1);
    has_number(&reading, "files", 12);
    has_number(&reading, "files_searched", 10);
    assert_string_equal(reading.evidence.headline, "nothing found; 2 files skipped");
    ck_evidence_done(&reading.evidence);
    answer.err_length = 0;
    reading = read_all_of("ast-grep", &answer, 1);
    has_null(&reading, "files");
    ck_evidence_done(&reading.evidence);
}

/* ---- semgrep, gitleaks ---- */

/* A .semgrepignore that hides everything. */
static void semgrep_without_a_file_says_so(void **state)
{
    (void)state;
    struct reading reading = read_one("semgrep", "scan", "{\"results\": [], \"paths\": {\"scanned\": []}}");
    assert_string_equal(reading.evidence.headline, "nothing found in 0 files");
    ck_evidence_done(&reading.evidence);
}

/* The message of jansson quotes the text at which it stopped. */
static void invalid_JSON_is_not_quoted(void **state)
{
    (void)state;
    struct reading reading = read_one("gitleaks", "scan", "[{\"Secret\": \"hunter2\" hunter3");
    assert_int_equal(reading.r, -EBADMSG);
    assert_string_equal(reading.error.message, "cannot parse the output of gitleaks: it is not JSON");
}

static void semgrep_is_reported_without_the_lines_that_it_quotes(void **state)
{
    (void)state;
    struct reading reading = read_one(
        "semgrep", "scan",
        "{\"version\": \"1.90.0\", \"results\": [{\"check_id\": \"tmp.x.py-request-to-shell\", \"path\": \"app.py\","
        "\"start\": {\"line\": 7, \"col\": 5}, \"end\": {\"line\": 7, \"col\": 9}, \"extra\": {\"message\": \"a shell\","
        "\"severity\": \"ERROR\", \"lines\": \"the line itself\"}}, {\"check_id\": \"x\"}],"
        "\"errors\": [{}], \"paths\": {\"scanned\": [\"app.py\", \"b.py\"]}}");
    has_text(&reading, "findings.0.id", "py-request-to-shell");
    has_text(&reading, "findings.0.severity", "high");
    has_number(&reading, "findings.0.line", 7);
    has_number(&reading, "files_scanned", 2);
    has_number(&reading, "problems", 2);
    assert_string_equal(reading.evidence.headline, "1 match in 2 files, as far as it was read");
    char *whole = json_dumps(reading.evidence.document, 0);
    assert_null(strstr(whole, "the line itself"));
    free(whole);
    ck_evidence_done(&reading.evidence);
}

static void a_credential_is_reported_by_position_and_kind(void **state)
{
    static const char *const nothing[] = {"", "null", "null\n", "[]", "[]\n"};
    (void)state;
    struct reading reading = read_one(
        "gitleaks", "scan",
        "[{\"RuleID\": \"github-pat\", \"Description\": \"a token\", \"StartLine\": 3, \"File\": \"a/b.env\","
        "\"Match\": \"the-secret\", \"Secret\": \"the-secret\", \"Entropy\": 4.1, \"Fingerprint\": \"the-secret\"}]");
    has_text(&reading, "findings.0.id", "github-pat");
    has_text(&reading, "findings.0.path", "a/b.env");
    assert_string_equal(reading.evidence.headline, "1 credential");
    char *whole = json_dumps(reading.evidence.document, 0);
    assert_null(strstr(whole, "the-secret"));
    free(whole);
    ck_evidence_done(&reading.evidence);
    for (size_t i = 0; i < COUNT(nothing); i++) {
        reading = read_one("gitleaks", "scan", nothing[i]);
        assert_int_equal(reading.r, 0);
        assert_int_equal(reading.evidence.findings, 0);
        ck_evidence_done(&reading.evidence);
    }
    reading = read_one("gitleaks", "scan", "{}");
    assert_int_equal(reading.r, -EBADMSG);
}

/* ---- syft, grype ---- */

static void a_bill_of_materials_is_counted(void **state)
{
    (void)state;
    struct reading reading = read_one(
        "cyclonedx", "scan",
        "{\"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.6\", \"serialNumber\": \"urn:uuid:1\","
        "\"metadata\": {\"timestamp\": \"2026-01-01T00:00:00Z\"}, \"components\": ["
        "{\"type\": \"library\", \"name\": \"left-pad\", \"version\": \"1.3.0\", \"purl\": \"pkg:npm/left-pad@1.3.0\","
        "\"licenses\": [{\"license\": {\"id\": \"WTFPL\"}}],"
        "\"properties\": [{\"name\": \"syft:location:0:path\", \"value\": \"/package-lock.json\"}]},"
        "{\"type\": \"library\", \"name\": \"six\", \"version\": \"1.16\", \"purl\": \"pkg:pypi/six@1.16\","
        "\"licenses\": [{\"expression\": \"MIT OR X\"}]},"
        "{\"type\": \"library\", \"name\": \"odd\"}, {\"type\": \"file\", \"name\": \"/x\"}, {\"name\": \"no type\"}, 5]}");
    assert_int_equal(reading.evidence.findings, 3);
    has_number(&reading, "packages_total", 3);
    has_number(&reading, "ecosystems.npm", 1);
    has_number(&reading, "ecosystems.(unknown)", 1);
    has_number(&reading, "licences.WTFPL", 1);
    has_number(&reading, "licences.MIT OR X", 1);
    has_number(&reading, "without_licence", 1);
    has_number(&reading, "files", 1);
    has_number(&reading, "problems", 2);
    has_text(&reading, "packages.2.path", "package-lock.json");
    assert_string_equal(reading.evidence.headline, "3 packages of 3 kinds");
    char *whole = json_dumps(reading.evidence.document, 0);
    assert_null(strstr(whole, "urn:uuid"));
    assert_null(strstr(whole, "2026-01-01"));
    free(whole);
    ck_evidence_done(&reading.evidence);
    reading = read_one("cyclonedx", "scan", "{\"bomFormat\": \"SPDX\"}");
    assert_int_equal(reading.r, -EBADMSG);
}

static void vulnerabilities_come_with_the_worst_first(void **state)
{
    (void)state;
    struct reading reading = read_one(
        "grype", "scan",
        "{\"matches\": [{\"vulnerability\": {\"id\": \"CVE-1\", \"severity\": \"Low\", \"fix\": {\"versions\": [], \"state\":"
        "\"unknown\"}}, \"artifact\": {\"name\": \"a\", \"version\": \"1\", \"purl\": \"pkg:npm/a@1\", \"locations\": ["
        "{\"path\": \"/package-lock.json\"}]}}, {\"vulnerability\": {\"id\": \"GHSA-2\", \"severity\": \"Critical\","
        "\"fix\": {\"versions\": [\"2.0\"], \"state\": \"fixed\"}}, \"artifact\": {\"name\": \"b\", \"version\": \"1\"}}, 7]}");
    has_text(&reading, "findings.0.id", "GHSA-2");
    has_text(&reading, "findings.0.message", "b 1; fixed in 2.0");
    has_text(&reading, "findings.1.message", "a 1; no fixed release is known");
    has_text(&reading, "findings.1.path", "package-lock.json");
    has_number(&reading, "severities.critical", 1);
    has_number(&reading, "problems", 1);
    assert_string_equal(reading.evidence.headline, "2 known, 1 critical, 0 high");
    ck_evidence_done(&reading.evidence);
    reading = read_one("grype", "scan", "{\"matches\": null}");
    assert_string_equal(reading.evidence.headline, "no known vulnerability");
    ck_evidence_done(&reading.evidence);
}

/* ---- tree-sitter ---- */

static void what_does_not_parse_is_named(void **state)
{
    (void)state;
    struct reading reading = read_one(
        "tree-sitter", "parse",
        "src/a b.py  \tParse:    0.10 ms\t  1000 bytes/ms\t(ERROR [2, 4] - [3, 0])\n"
        "./c.js      \tParse:    0.10 ms\t  1000 bytes/ms\t(MISSING \"(\" [0, 0] - [0, 0])\n"
        "(odd [1, 1]\nx\ty\n\n"
        "Total parses: 12; successful parses: 10; failed parses: 2; success percentage: 83.33%; average speed: 9 bytes/ms\n");
    has_number(&reading, "files", 12);
    has_number(&reading, "parsed", 10);
    assert_int_equal(reading.evidence.findings, 2);
    has_text(&reading, "findings.0.path", "c.js");
    has_text(&reading, "findings.1.path", "src/a b.py");
    has_number(&reading, "findings.1.line", 3);
    ck_evidence_done(&reading.evidence);
}

/* ---- scip ---- */

/* Metadata {tool {version "0.4.0"}}, Document {path "a.ts", language "ts", two occurrences, a symbol}, an external one. */
static const char index_bytes[] = "\x0a\x09\x12\x07\x12\x05"
                                  "0.4.0"
                                  "\x12\x15\x0a\x04"
                                  "a.ts"
                                  "\x22\x02"
                                  "ts"
                                  "\x12\x02\x18\x01"
                                  "\x12\x00"
                                  "\x1a\x03\x0a\x01"
                                  "s"
                                  "\x1a\x00"
                                  "\x20\x07";

static struct reading read_index(const char *bytes, size_t length, bool link)
{
    char directory[] = "/tmp/choke-test-scip-XXXXXX";
    assert_non_null(mkdtemp(directory));
    int changes_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(changes_fd >= 0);
    if (link) {
        assert_int_equal(symlinkat("/etc/passwd", changes_fd, "index.scip"), 0);
    } else {
        int fd = openat(changes_fd, "index.scip", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(write(fd, bytes, length), (ssize_t)length);
        (void)close(fd);
    }
    struct ck_answer answer = make_text_answer("index", "");
    answer.changes_fd = changes_fd;
    struct reading reading = read_all_of("scip", &answer, 1);
    (void)unlinkat(changes_fd, "index.scip", 0);
    (void)close(changes_fd);
    (void)rmdir(directory);
    return reading;
}

static void an_index_is_counted(void **state)
{
    (void)state;
    struct reading reading = read_index(index_bytes, sizeof(index_bytes) - 1, false);
    assert_int_equal(reading.r, 0);
    has_text(&reading, "version", "0.4.0");
    has_number(&reading, "symbols", 1);
    has_number(&reading, "definitions", 1);
    has_number(&reading, "occurrences", 2);
    has_number(&reading, "external_symbols", 1);
    has_number(&reading, "languages.ts", 1);
    has_text(&reading, "documents.0.path", "a.ts");
    assert_string_equal(reading.evidence.headline, "1 file, 1 symbols, 2 occurrences");
    ck_evidence_done(&reading.evidence);
}

static void an_index_may_end_anywhere(void **state)
{
    (void)state;
    for (size_t length = 0; length < sizeof(index_bytes) - 1; length++) {
        struct reading reading = read_index(index_bytes, length, false);
        ck_evidence_done(&reading.evidence);
    }
    static const char *const odd[] = {
        "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x12\x7f", "\x80", "\x0f", "\t1234567",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"};
    for (size_t i = 0; i < COUNT(odd); i++) {
        struct reading reading = read_index(odd[i], strlen(odd[i]), false);
        assert_int_equal(reading.r, -EBADMSG);
    }
}

static void an_index_that_is_a_link_is_not_read(void **state)
{
    (void)state;
    struct reading reading = read_index("", 0, true);
    assert_true(reading.r < 0);
    assert_non_null(strstr(reading.error.message, "did not write 'index.scip'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_is_a_version),
        cmocka_unit_test(matches_have_a_position_a_severity_and_a_message),
        cmocka_unit_test(a_long_path_is_reported_as_a_whole),
        cmocka_unit_test(a_search_that_lost_its_beginning_goes_on_with_the_next_record),
        cmocka_unit_test(invalid_records_are_problems),
        cmocka_unit_test(what_is_passed_over_is_in_the_headline),
        cmocka_unit_test(structure_is_read_line_by_line),
        cmocka_unit_test(a_NUL_in_what_is_quoted_costs_no_finding),
        cmocka_unit_test(files_that_ast_grep_does_not_read_are_reported),
        cmocka_unit_test(invalid_JSON_is_not_quoted),
        cmocka_unit_test(semgrep_without_a_file_says_so),
        cmocka_unit_test(semgrep_is_reported_without_the_lines_that_it_quotes),
        cmocka_unit_test(a_credential_is_reported_by_position_and_kind),
        cmocka_unit_test(a_bill_of_materials_is_counted),
        cmocka_unit_test(vulnerabilities_come_with_the_worst_first),
        cmocka_unit_test(what_does_not_parse_is_named),
        cmocka_unit_test(an_index_is_counted),
        cmocka_unit_test(an_index_may_end_anywhere),
        cmocka_unit_test(an_index_that_is_a_link_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
