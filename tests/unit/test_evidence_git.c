/* test_evidence_git.c - the snapshot, and the passwords that a remote's URL may carry. */
#include "evidence_reading.h"

#include "gather/evidence/url.h"

static const char kind_text[] = "false\ntrue\nfalse\nsha1\n.git\n.git\n";
static const char head_text[] = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d\0"
                                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0"
                                "bbbb cccc\0"
                                "2026-01-02T03:04:05+01:00\0"
                                "2026-01-03T03:04:05Z\0"
                                "gather: a subject\n";
static const char tree_text[] = "100644 blob 1111111111111111111111111111111111111111     518\tsrc/a.C\0"
                                "100755 blob 2222222222222222222222222222222222222222      10\tsrc/run\0"
                                "120000 blob 3333333333333333333333333333333333333333       4\tlink.c\0"
                                "160000 commit 4444444444444444444444444444444444444444       -\tsub/one\0"
                                "100644 blob 5555555555555555555555555555555555555555       2\t.gitignore\0";
static const char status_text[] = "1 M. N... 100644 100644 100644 aaaa bbbb with space\0"
                                  "1 .M N... 100644 100644 100644 aaaa bbbb b.c\0"
                                  "2 R. N... 100644 100644 100644 aaaa bbbb R100 new\nname\0? old\0"
                                  "u UU N... 100644 100644 100644 100644 aaaa bbbb cccc c.c\0"
                                  "? caf\xe9\0";

#define SAID(id, text) make_answer(id, text, sizeof(text) - 1)

static void a_whole_repository_is_reported(void **state)
{
    const struct ck_answer answers[] = {
        SAID("kind", kind_text),
        SAID("head", head_text),
        make_text_answer("branch", "main\n"),
        make_text_answer("describe", "v1.2-3-g1a2b3c4d5e6f\n"),
        make_text_answer("count", "120\n"),
        make_text_answer("roots", "2026-01-01T00:00:00Z\n2020-01-01T00:00:00Z\n"),
        make_text_answer("authors", "    10\tA <a@x>\n     2\tB <b@x>\n"),
        make_text_answer("refs", "refs/heads/a\nrefs/heads/main\nrefs/tags/v1\nrefs/remotes/origin/main\nrefs/stash\n"),
        make_text_answer("remotes", "origin\thttps://me:word@host/x.git (fetch)\norigin\thttps://host/x.git (push)\n"),
        SAID("status", status_text),
        SAID("tree", tree_text),
        make_answer("ignored", "src/run\0", 8),
    };
    struct reading reading = read_all_of("git", answers, COUNT(answers));
    (void)state;
    assert_int_equal(reading.r, 0);
    has_text(&reading, "commit", "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d");
    has_number(&reading, "parents", 2);
    has_text(&reading, "subject", "gather: a subject");
    has_text(&reading, "branch", "main");
    has_number(&reading, "commits", 120);
    has_text(&reading, "first_committed", "2020-01-01T00:00:00Z");
    has_number(&reading, "authors", 2);
    has_number(&reading, "branches", 2);
    has_number(&reading, "tags", 1);
    has_number(&reading, "remote_branches", 1);
    has_text(&reading, "remotes.0.url", "https://host/x.git");
    has_number(&reading, "remotes_total", 1);
    has_number(&reading, "changes.staged", 2);
    has_number(&reading, "changes.unstaged", 1);
    has_number(&reading, "changes.conflicts", 1);
    has_number(&reading, "changes.untracked", 1);
    has_text(&reading, "changes.paths.0", "with space");
    has_text(&reading, "changes.paths.2", "new\nname");
    has_text(&reading, "changes.paths.3", "c.c");
    has_text(&reading, "changes.paths.4.base64", "Y2Fm6Q==");
    has_number(&reading, "tracked.files", 4);
    has_number(&reading, "tracked.bytes", 534);
    has_number(&reading, "tracked.links", 1);
    has_number(&reading, "tracked.executables", 1);
    has_number(&reading, "tracked.extensions.c", 2);
    has_number(&reading, "tracked.extensions.(none)", 2);
    has_text(&reading, "submodules.0.path", "sub/one");
    has_text(&reading, "findings.0.path", "src/run");
    assert_int_equal(reading.evidence.findings, 1);
    assert_true(json_is_false(member(&reading, "linked_worktree")));
    assert_string_equal(reading.evidence.headline, "main at 1a2b3c4, 120 commits, with changes");
    ck_evidence_done(&reading.evidence);
}

static struct ck_answer failed(const char *id)
{
    struct ck_answer answer = make_text_answer(id, "");
    answer.exit_code = 128;
    return answer;
}

static void a_repository_without_commits_is_one(void **state)
{
    const struct ck_answer answers[] = {
        SAID("kind", kind_text), failed("head"), make_text_answer("branch", "master\n"), failed("describe"),
        failed("count"),         failed("tree"), make_text_answer("status", "")};
    struct reading reading = read_all_of("git", answers, COUNT(answers));
    (void)state;
    has_null(&reading, "commit");
    has_null(&reading, "commits");
    has_null(&reading, "tracked");
    has_text(&reading, "branch", "master");
    assert_string_equal(reading.evidence.headline, "no commits yet, clean");
    ck_evidence_done(&reading.evidence);
}

static void a_bare_one_has_no_status(void **state)
{
    const struct ck_answer answers[] = {make_text_answer("kind", "true\nfalse\ntrue\nsha256\n.\n.\n"),
                                        SAID("head", head_text), failed("branch"), failed("status"),
                                        make_text_answer("count", "1\n")};
    struct reading reading = read_all_of("git", answers, COUNT(answers));
    (void)state;
    assert_true(json_is_true(member(&reading, "bare")));
    assert_true(json_is_true(member(&reading, "shallow")));
    has_null(&reading, "changes");
    has_null(&reading, "branch");
    assert_string_equal(reading.evidence.headline, "detached at 1a2b3c4, 1 commit");
    ck_evidence_done(&reading.evidence);
}

static void a_missing_repository_is_reported_with_the_message_of_git(void **state)
{
    struct ck_answer answer = failed("kind");
    (void)state;
    answer.err = "fatal: not a git repository: /elsewhere/.git/worktrees/x\n";
    answer.err_length = strlen(answer.err);
    struct reading reading = read_all_of("git", &answer, 1);
    assert_true(json_is_false(member(&reading, "repository")));
    has_text(&reading, "reason", "fatal: not a git repository: /elsewhere/.git/worktrees/x");
    assert_string_equal(reading.evidence.headline,
                        "git cannot read it: fatal: not a git repository: /elsewhere/.git/worktrees/x");
    ck_evidence_done(&reading.evidence);
}

/* A work tree that differs from the commit, and an index with flags that make git not look. */
static void what_git_is_configured_to_ignore_is_not_clean(void **state)
{
    static const char flags[] = "H a\0h b\0S c\0s new\nname\0C d\0h\0";
    const struct ck_answer answers[] = {SAID("kind", kind_text), SAID("head", head_text),
                                        make_text_answer("status", ""), make_text_answer("count", "1\n"),
                                        SAID("flags", flags)};
    struct reading reading = read_all_of("git", answers, COUNT(answers));
    (void)state;
    assert_int_equal(reading.evidence.findings, 3);
    has_number(&reading, "by_id.told-unchanged", 3);
    has_text(&reading, "findings.0.path", "b");
    has_text(&reading, "findings.1.path", "c");
    has_text(&reading, "findings.2.path", "new\nname");
    assert_string_equal(reading.evidence.headline, "detached at 1a2b3c4, 1 commit, clean as far as git checks");
    ck_evidence_done(&reading.evidence);
}

static const char odd_status[] = "1 \0"
                                 "2 R\0"
                                 "1\0"
                                 "? \0"
                                 "!\0"
                                 "u\0"
                                 "\0";
static const char odd_tree[] = "100644 blob\0"
                               "\t\0"
                               "x\ty\0"
                               "100644 blob aa 99999999999999999999\tp.";

static void odd_lines_are_passed_over(void **state)
{
    const struct ck_answer answers[] = {
        SAID("kind", kind_text),
        make_text_answer("count", "12345678901234567890123456789\n"),
        SAID("status", odd_status),
        SAID("tree", odd_tree),
        make_text_answer("remotes", "a\nb\t\nc\t (fetch)\n\tx (fetch)\nd\te(fetch)\n"),
    };
    struct reading reading = read_all_of("git", answers, COUNT(answers));
    (void)state;
    has_null(&reading, "commits");
    has_number(&reading, "tracked.files", 1);
    has_number(&reading, "tracked.bytes", 0);
    has_number(&reading, "remotes_total", 2);
    ck_evidence_done(&reading.evidence);
}

static void a_password_is_removed_from_a_url(void **state)
{
    static const char *const pairs[][2] = {
        {"https://github.com/a/b.git", "https://github.com/a/b.git"},
        {"https://user:word@github.com/a/b", "https://github.com/a/b"},
        {"https://word@github.com/a/b", "https://github.com/a/b"},
        {"https://a@b:word@host:8443/a", "https://host:8443/a"},
        {"https://host/a?access_token=word", "https://host/a"},
        {"https://host/a#word", "https://host/a"},
        {"https://user:wo/rd@host/a", "https://?"},
        {"https://user:1/word@host/a", "https://user:?"},
        {"https:/user:word@host/a", "https:?"},
        {"https://user:word", "https://?"},
        {"https://[::1]:80/a", "https://[::1]:80/a"},
        {"https://u:w@[::1]/a", "https://[::1]/a"},
        {"https://host/@scope/a", "https://host/@scope/a"},
        {"git@github.com:a/b.git", "git@github.com:a/b.git"},
        {"word@github.com:a/b.git", "github.com:a/b.git"},
        {"user:word@host:a", "host:a"},
        {"ssh://git:word@host/a", "ssh://host/a"},
        {"ext::sh -c https://u:w@host/ https://u:w@other/", "ext::sh -c https://host/ https://other/"},
        {"/srv/git/a@b.git", "/srv/git/a@b.git"},
        {"../a", "../a"},
        {"https://", "https://"},
        {"", ""},
        {"@", ""},
        {"://@", "://"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char url[128];
        (void)snprintf(url, sizeof(url), "%s", pairs[i][0]);
        ck_evidence_url_strip(url);
        assert_string_equal(url, pairs[i][1]);
        assert_null(strstr(url, "word"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_repository_is_reported),
        cmocka_unit_test(a_repository_without_commits_is_one),
        cmocka_unit_test(a_bare_one_has_no_status),
        cmocka_unit_test(a_missing_repository_is_reported_with_the_message_of_git),
        cmocka_unit_test(what_git_is_configured_to_ignore_is_not_clean),
        cmocka_unit_test(odd_lines_are_passed_over),
        cmocka_unit_test(a_password_is_removed_from_a_url),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
