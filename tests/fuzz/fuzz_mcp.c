/*
 * fuzz_mcp.c - any bytes as what a client of `chokepoint mcp` sends. They go through the reader in
 * pieces, whose size the first byte says, and each line through the parser. A line is bounded; a
 * message has what its kind must have, or there is a fault with a clean text; arguments of a tool
 * pass the schema or are refused.
 */
#include "promise.h"

#include "mcp/fault.h"
#include "mcp/message.h"
#include "mcp/reader.h"
#include "mcp/schema.h"
#include "mcp/words.h"

#include <string.h>

static const char schema_text[] =
    "{\"type\":\"object\",\"required\":[\"argv\"],\"additionalProperties\":false,\"properties\":{"
    "\"argv\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,\"maxItems\":8},"
    "\"env\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
    "\"timeout_s\":{\"type\":\"number\",\"minimum\":0.001,\"maximum\":10},"
    "\"most\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9},\"sandbox\":{\"type\":\"boolean\"}}}";

static void is_clean(const char *text)
{
    for (; *text != '\0'; text++)
        require((unsigned char)*text >= 0x20 && *text != 0x7f);
}

/* A string that passed is one that the library can take: no NUL inside. */
static void check_arguments(const json_t *arguments)
{
    json_t *schema = json_loads(schema_text, 0, NULL);
    struct choke_error error = {0};
    size_t index;
    json_t *item;

    if (ck_mcp_schema_check(schema, arguments, &error) < 0) {
        require(error.outcome == CHOKE_INVALID);
        is_clean(error.message);
    } else {
        require(json_array_size(json_object_get(arguments, "argv")) > 0);
        json_array_foreach(json_object_get(arguments, "argv"), index, item)
        {
            require(json_is_string(item) && strlen(json_string_value(item)) == json_string_length(item));
        }
    }
    json_decref(schema);
}

static void check_message(const struct ck_mcp_message *message)
{
    require((message->kind == CK_MCP_RESPONSE) == !message->method);
    require((message->kind == CK_MCP_NOTIFICATION) == !message->id);
    require(!message->params || json_is_object(message->params));
    require(!message->meta || json_is_object(message->meta));
    if (message->era == CK_MCP_MODERN)
        require(strcmp(json_string_value(ck_mcp_message_meta(message, "protocolVersion")), CK_MCP_MODERN_VERSION) == 0);
    check_arguments(json_object_get(message->params, "arguments"));
}

/* Escaped text has no control character but newline and tab, and the marks around it are equal. */
static void check_words(const char *line, size_t length)
{
    json_t *escaped = ck_mcp_words_escape(line, length);
    const char *text = json_string_value(escaped);

    require(text && strlen(text) == json_string_length(escaped) && strlen(text) <= 4 * length);
    for (; *text != '\0'; text++)
        require((unsigned char)*text >= 0x20 || *text == '\n' || *text == '\t');
    json_decref(escaped);
}

static void take_line(const char *line, size_t length)
{
    struct ck_mcp_message message;
    struct ck_mcp_fault fault = {0};

    require(length > 0 && length <= CK_MCP_MESSAGE_MAX && !memchr(line, '\n', length));
    check_words(line, length);
    if (ck_mcp_message_parse(&message, line, length, &fault) == 0) {
        check_message(&message);
    } else {
        require(fault.code <= -32000 && fault.code >= -32768);
        is_clean(fault.message);
        json_t *error = ck_mcp_fault_take(&fault);
        require(json_is_object(error));
        json_decref(error);
    }
    ck_mcp_message_done(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ck_mcp_reader reader = {0};

    if (size < 2)
        return 0;
    size_t piece = data[0] + 1U;
    for (size_t at = 1; at < size;) {
        const char *line;
        size_t length;
        size_t left = size - at;
        at += ck_mcp_reader_add(&reader, (const char *)data + at, left < piece ? left : piece);
        for (enum ck_mcp_line kind; (kind = ck_mcp_reader_next(&reader, &line, &length)) != CK_MCP_LINE_NONE;)
            if (kind == CK_MCP_LINE_WHOLE)
                take_line(line, length);
    }
    ck_mcp_reader_done(&reader);
    return 0;
}
