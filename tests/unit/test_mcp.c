/* test_mcp.c - the parts of `chokepoint mcp` without effects: lines, messages, schemas, text, areas. */
#include "mcp/area.h"
#include "mcp/message.h"
#include "mcp/reader.h"
#include "mcp/schema.h"
#include "mcp/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- reader ---- */

static void add(struct ck_mcp_reader *reader, const char *bytes, size_t length)
{
    while (length > 0) {
        size_t taken = ck_mcp_reader_add(reader, bytes, length);
        assert_true(taken > 0);
        bytes += taken;
        length -= taken;
    }
}

static void lines_come_out_whole_whatever_the_pieces(void **state)
{
    static const char text[] = "one\n\r\ntwo\r\n\nthree\nrest";
    static const char *const expected[] = {"one", "two", "three"};

    (void)state;
    for (size_t piece = 1; piece < sizeof(text); piece++) {
        struct ck_mcp_reader reader = {0};
        size_t count = 0;
        for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
            const char *line;
            size_t length;
            size_t left = sizeof(text) - 1 - at;
            add(&reader, text + at, left < piece ? left : piece);
            while (ck_mcp_reader_next(&reader, &line, &length) == CK_MCP_LINE_WHOLE) {
                assert_int_equal(length, strlen(expected[count]));
                assert_memory_equal(line, expected[count], length);
                count++;
            }
        }
        assert_int_equal(count, 3);
        ck_mcp_reader_done(&reader);
    }
}

static void a_long_line_is_dropped_and_the_next_is_read(void **state)
{
    struct ck_mcp_reader reader = {0};
    char *block = malloc(CK_MCP_MESSAGE_MAX);
    const char *line;
    size_t length;

    (void)state;
    assert_non_null(block);
    memset(block, 'x', CK_MCP_MESSAGE_MAX);
    add(&reader, block, CK_MCP_MESSAGE_MAX);
    add(&reader, "\r\n", 2);
    assert_int_equal(ck_mcp_reader_next(&reader, &line, &length), CK_MCP_LINE_WHOLE);
    assert_int_equal(length, CK_MCP_MESSAGE_MAX);
    for (unsigned i = 0; i < 5; i++) {
        add(&reader, block, CK_MCP_MESSAGE_MAX);
        assert_int_equal(ck_mcp_reader_next(&reader, &line, &length), CK_MCP_LINE_NONE);
        assert_true(reader.size <= CK_MCP_MESSAGE_MAX + 3);
    }
    add(&reader, "\nnext\n", 6);
    assert_int_equal(ck_mcp_reader_next(&reader, &line, &length), CK_MCP_LINE_TOO_LONG);
    assert_int_equal(ck_mcp_reader_next(&reader, &line, &length), CK_MCP_LINE_WHOLE);
    assert_int_equal(length, 4);
    ck_mcp_reader_done(&reader);
    free(block);
}

/* ---- message ---- */

static void every_kind_of_message_is_recognized(void **state)
{
    static const struct {
        const char *text;
        int code; /* 0: valid */
        enum ck_mcp_kind kind;
        enum ck_mcp_era era;
        bool has_id;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 0, CK_MCP_REQUEST, CK_MCP_LEGACY, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x\",\"params\":{\"_meta\":{"
         "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
         "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
         0, CK_MCP_REQUEST, CK_MCP_MODERN, true},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", 0, CK_MCP_NOTIFICATION, CK_MCP_LEGACY, false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 0, CK_MCP_RESPONSE, CK_MCP_LEGACY, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", 0, CK_MCP_RESPONSE, CK_MCP_LEGACY, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"_meta\":{"
         "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
         CK_MCP_INVALID_PARAMS, 0, 0, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"_meta\":{"
         "\"io.modelcontextprotocol/protocolVersion\":\"1999-01-01\"}}}",
         CK_MCP_UNSUPPORTED_VERSION, 0, 0, true},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", CK_MCP_INVALID_REQUEST, 0, 0, false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", CK_MCP_INVALID_REQUEST, 0, 0, true},
        {"nonsense", CK_MCP_PARSE_ERROR, 0, 0, false},
        {"[]", CK_MCP_INVALID_REQUEST, 0, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ck_mcp_message message;
        struct ck_mcp_fault fault = {0};
        int r = ck_mcp_message_parse(&message, cases[i].text, strlen(cases[i].text), &fault);
        assert_int_equal(fault.code, cases[i].code);
        assert_int_equal(r, cases[i].code == 0 ? 0 : -1);
        assert_int_equal(message.id ? 1 : 0, cases[i].has_id);
        if (r == 0) {
            assert_int_equal(message.kind, cases[i].kind);
            assert_int_equal(message.era, cases[i].era);
        }
        json_decref(fault.data);
        ck_mcp_message_done(&message);
    }
}

/* ---- words ---- */

static void untrusted_text_is_between_equal_marks(void **state)
{
    static const char text[] = "a\033[1m\nb\0c\tz";
    json_t *first = ck_mcp_words_untrusted("output", text, sizeof(text) - 1);
    json_t *second = ck_mcp_words_untrusted("output", text, sizeof(text) - 1);
    const char *shown = json_string_value(json_object_get(first, "text"));

    (void)state;
    assert_non_null(strstr(shown, "a\\x1b[1m\nb\\x00c\tz\n"));
    assert_false(json_equal(first, second));
    const char *mark = strstr(shown, "up to the next ") + strlen("up to the next ");
    assert_memory_equal(shown + strlen(shown) - 17, mark, 16);
    json_decref(first);
    json_decref(second);
}

/* ---- areas ---- */

static size_t narrow(struct ck_mcp_areas *areas, const struct ck_mcp_root *root, const char *path)
{
    json_t *roots = json_pack("[{s:o}]", "uri", json_sprintf("file://%s", path));
    struct choke_error error;

    assert_int_equal(ck_mcp_areas_set(areas, root, roots, &error), 0);
    json_decref(roots);
    return areas->count;
}

static void areas_are_parts_of_the_root(void **state)
{
    char top[] = "/tmp/mcp-area-XXXXXX", path[128];
    struct ck_mcp_root root = {.fd = -1};
    struct ck_mcp_areas areas = {0};
    struct ck_mcp_area area = {.fd = -1};
    struct choke_error error = {0};

    (void)state;
    assert_non_null(mkdtemp(top));
    (void)snprintf(path, sizeof(path), "%s/in", top);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(ck_mcp_root_open(&root, path, &error), 0);
    assert_int_equal(ck_mcp_area_choose(&areas, &root, NULL, &area, &error), 0);
    assert_string_equal(area.path, root.path);
    ck_mcp_area_done(&area);
    assert_int_equal(narrow(&areas, &root, top), 1);
    assert_string_equal(areas.items[0].path, root.path);
    assert_int_equal(narrow(&areas, &root, "/nonexistent"), 0);
    assert_true(ck_mcp_area_choose(&areas, &root, NULL, &area, &error) < 0);
    assert_int_equal(error.outcome, CHOKE_CWD);
    ck_mcp_areas_done(&areas);
    (void)close(root.fd);
    (void)rmdir(path);
    (void)rmdir(top);
}

/* ---- schema ---- */

static void arguments_are_checked_by_the_schema(void **state)
{
    json_t *schema = json_loads("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":1,"
                                "\"maximum\":3}},\"required\":[\"n\"],\"additionalProperties\":false}",
                                0, NULL);
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {{"{\"n\":1}", true}, {"{\"n\":3}", true},    {"{\"n\":0}", false},         {"{\"n\":4}", false},
                 {"{}", false},       {"{\"n\":1.0}", false}, {"{\"n\":1,\"m\":2}", false}, {"[]", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *value = json_loads(cases[i].text, 0, NULL);
        struct choke_error error = {0};
        assert_int_equal(ck_mcp_schema_check(schema, value, &error) == 0, cases[i].valid);
        json_decref(value);
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_out_whole_whatever_the_pieces),
        cmocka_unit_test(a_long_line_is_dropped_and_the_next_is_read),
        cmocka_unit_test(every_kind_of_message_is_recognized),
        cmocka_unit_test(untrusted_text_is_between_equal_marks),
        cmocka_unit_test(areas_are_parts_of_the_root),
        cmocka_unit_test(arguments_are_checked_by_the_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
