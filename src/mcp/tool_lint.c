/* tool_lint.c - the tool `lint`, in a thread: the library reads a tree in one blocking call. */
#include "base/path.h"
#include "base/quote.h"
#include "front/lint_report_json.h"
#include "front/text.h"
#include "mcp/tool.h"
#include "mcp/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDINGS_MAX 200

static json_t *refuse(struct ck_mcp_call *call, const struct choke_error *error)
{
    (void)call;
    return ck_mcp_tool_refusal(error, json_pack("{s:[]}", "findings"));
}

/* ".." as a part of the path. The library refuses it too; the message here knows the root. */
static bool has_dotdot(const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

/* Paths as the library needs them, beneath root. Returns 0, or a negative errno and *error. */
static int make_paths(const json_t *given, const char *root, char **paths, struct choke_error *error)
{
    for (size_t i = 0; i < json_array_size(given); i++) {
        const char *path = json_string_value(json_array_get(given, i));
        if (path[0] == '/' || has_dotdot(path))
            return ck_text_error(error, CHOKE_CWD, EPERM, "path '%s' must be relative to the root and stay beneath it",
                                 CK_QUOTE(path));
        if (asprintf(&paths[i], "%s/%s", root, path) < 0) {
            paths[i] = NULL;
            return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
        }
    }
    return 0;
}

static json_t *content_of(const struct choke_lint_report *report, const json_t *structured)
{
    char *text = json_dumps(json_object_get(structured, "findings"), JSON_INDENT(1));
    struct ck_mcp_words words;

    if (!text || !ck_mcp_words_begin(&words)) {
        free(text);
        return NULL;
    }
    (void)fprintf(words.out, "%zu errors, %zu warnings and %zu notes in %zu files; %zu files were skipped.\n",
                  report->errors, report->warnings, report->notes, report->file_count, report->skip_count);
    if (report->config)
        (void)fputs("A configuration file of the tree was used: it may hide findings.\n", words.out);
    if (report->finding_count > FINDINGS_MAX)
        (void)fprintf(words.out, "The first %d of %zu findings follow; name fewer paths to see the others.\n",
                      FINDINGS_MAX, report->finding_count);
    json_t *content = json_pack("[o]", ck_mcp_words_block(ck_mcp_words_end(&words)));
    if (report->finding_count > 0)
        (void)json_array_append_new(content, ck_mcp_words_untrusted("findings", text, strlen(text)));
    free(text);
    return content;
}

static json_t *answer_of(const struct choke_lint_report *report, const struct ck_lint_marks *marks)
{
    bool clean = report->errors == 0 && report->warnings == 0 && report->finding_dropped == 0;
    json_t *structured = ck_lint_report_json_make(report, marks, FINDINGS_MAX, clean);

    (void)json_object_set_new(structured, "error", json_null());
    ck_mcp_words_clean(structured);
    return ck_mcp_words_result(content_of(report, structured), structured, false);
}

/*
 * The library resolves the root by its name. If a tool replaced the directory by a symlink in
 * between, the report is about another place and is not passed on.
 */
static json_t *check_place(struct ck_mcp_call *call, const struct choke_lint_report *report)
{
    struct ck_lint_marks marks = {0};
    struct choke_error error = {0};

    if (ck_path_beneath(call->server->root.path, report->top)) {
        if (ck_lint_marks_make(report, NULL, &marks, &error) < 0)
            return refuse(call, &error);
        json_t *answer = answer_of(report, &marks);
        ck_lint_marks_done(&marks);
        return answer;
    }
    (void)ck_text_error(&error, CHOKE_CWD, EXDEV, "the root was replaced while it was read; try again");
    return refuse(call, &error);
}

static bool is_stopped(void *data)
{
    return ck_mcp_task_is_stopped(data);
}

static json_t *work(struct ck_mcp_task *task, void *data)
{
    struct ck_mcp_call *call = data;
    const json_t *given = json_object_get(call->arguments, "paths");
    char name[CK_MCP_AREA_NAME_MAX];
    const char *root = ck_mcp_area_name(&call->area, name);
    char **paths = calloc(json_array_size(given) + 2, sizeof(*paths));
    char *top = NULL;
    struct choke_lint_report *report = NULL;
    struct choke_error error = {0};

    /* With a slash the symlink of /proc is followed, and the directory is meant. */
    int r = paths && asprintf(&top, "%s/", root) >= 0 ? make_paths(given, root, paths, &error) : -ENOMEM;
    if (paths && json_array_size(given) == 0)
        paths[0] = top ? strdup(top) : NULL;
    const struct choke_lint_options options = {
        .paths = (const char *const *)paths, .root = top, .stop = is_stopped, .data = task};
    if (r == 0)
        r = choke_lint(&options, &report, &error);
    json_t *answer = r == 0 && report ? check_place(call, report) : refuse(call, &error);
    choke_lint_report_free(report);
    for (char **path = paths; path && *path; path++)
        free(*path);
    free(paths);
    free(top);
    return answer;
}

const struct ck_mcp_tool ck_mcp_tool_lint = {.name = "lint", .is_rooted = true, .work = work, .refuse = refuse};
