/*
 * request.c - see request.h. What a caller cannot choose (policy, root, jail, audit) comes from the
 * options of the server.
 */
#include "mcp/request.h"

#include "base/destination.h"
#include "base/quote.h"
#include "front/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_BYTES ((size_t)32 << 10)

static int out_of_memory(struct choke_error *error)
{
    return ck_text_error(error, CHOKE_SPAWN_FAILED, ENOMEM, "out of memory");
}

/* An array of strings as a NULL-terminated list; NULL for no array, or no memory. */
static const char **list_of(const json_t *array)
{
    const char **list = array ? calloc(json_array_size(array) + 1, sizeof(*list)) : NULL;

    for (size_t i = 0; list && i < json_array_size(array); i++)
        list[i] = json_string_value(json_array_get(array, i));
    return list;
}

static int set_env(struct ck_mcp_request *request, const json_t *env, struct choke_error *error)
{
    size_t count = 0;
    const char *name;
    json_t *value;

    if (!env)
        return 0;
    request->env = calloc(json_object_size(env) + 1, sizeof(*request->env));
    if (!request->env)
        return out_of_memory(error);
    json_object_foreach((json_t *)(uintptr_t)env, name, value)
    {
        /* Else "A=B" as a name would set A. */
        if (name[0] == '\0' || strchr(name, '='))
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "'%s' is not the name of a variable", CK_QUOTE(name));
        if (asprintf(&request->env[count], "%s=%s", name, json_string_value(value)) < 0) {
            request->env[count] = NULL;
            return out_of_memory(error);
        }
        count++;
    }
    request->request.env = (const char *const *)request->env;
    return 0;
}

static bool is_covered(const char *const *granted, const struct ck_destination *wanted)
{
    struct ck_destination outer;
    const char *reason;

    for (; granted && *granted; granted++)
        if (ck_destination_parse(*granted, &outer, &reason) == 0 && ck_destination_covers(&outer, wanted))
            return true;
    return false;
}

/* Whoever started the server grants egress to it; the policy is asked after that. */
static int set_egress(struct ck_mcp_request *request, const struct ck_mcp_server *server, struct choke_error *error)
{
    struct ck_destination wanted;
    const char *reason;

    for (const char **host = request->egress; host && *host; host++) {
        request->rule = "request.egress";
        if (ck_destination_parse(*host, &wanted, &reason) < 0)
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "egress '%s' %s", CK_QUOTE(*host), reason);
        request->rule = "server.egress";
        if (!is_covered(server->options->egress, &wanted))
            return ck_text_error(error, CHOKE_DISALLOWED, EPERM,
                                 "egress to '%s' is not within the --egress options of this server%s; call without "
                                 "'egress', or ask whoever started the server",
                                 CK_QUOTE(*host), server->options->egress ? "" : ", which has none");
    }
    request->rule = NULL;
    request->request.egress = request->egress;
    return 0;
}

/* Half of what is returned of a long stream is its beginning. */
size_t ck_mcp_request_head_bytes(size_t output_bytes)
{
    return output_bytes < CHOKE_MIN_OUTPUT_BYTES ? 0 : (output_bytes - CHOKE_MIN_OUTPUT_BYTES) / 2;
}

static void set_output(struct choke_request *request, const json_t *arguments)
{
    const json_t *most = json_object_get(arguments, "max_output_bytes");

    request->max_output_bytes = most ? (size_t)json_integer_value(most) : OUTPUT_BYTES;
    request->keep_head_bytes = ck_mcp_request_head_bytes(request->max_output_bytes);
}

static void set_stdin(struct choke_request *request, const json_t *text)
{
    if (!text)
        return;
    request->stdin_kind = CHOKE_STDIN_BYTES;
    request->stdin_bytes = json_string_value(text);
    request->stdin_length = json_string_length(text);
}

/* Rounded up: 0 would be no timeout at all. */
static uint64_t timeout_ms(const json_t *seconds)
{
    return seconds ? (uint64_t)(json_number_value(seconds) * 1000.0 + 0.999) : CHOKE_TIMEOUT_FROM_POLICY;
}

int ck_mcp_request_build(struct ck_mcp_request *ret_request, const struct ck_mcp_server *server,
                         const struct ck_mcp_area *area, const json_t *arguments, struct choke_error *error)
{
    const char *cwd = json_string_value(json_object_get(arguments, "cwd"));
    const json_t *egress = json_object_get(arguments, "egress");

    *ret_request =
        (struct ck_mcp_request){.argv = list_of(json_object_get(arguments, "argv")), .egress = list_of(egress)};
    ret_request->request = (struct choke_request){
        .argv = ret_request->argv,
        .root = ck_mcp_area_name(area, ret_request->root),
        .cwd = cwd ? cwd : ".",
        .timeout_ms = timeout_ms(json_object_get(arguments, "timeout_s")),
        .stdin_fd = -1,
        .jail = server->options->jail,
        .require_jail = server->options->require_jail,
        .sandbox = json_is_true(json_object_get(arguments, "sandbox")),
    };
    if (!ret_request->argv || (egress && !ret_request->egress))
        return out_of_memory(error);
    set_output(&ret_request->request, arguments);
    set_stdin(&ret_request->request, json_object_get(arguments, "stdin"));
    int r = set_env(ret_request, json_object_get(arguments, "env"), error);
    return r < 0 ? r : set_egress(ret_request, server, error);
}

void ck_mcp_request_done(struct ck_mcp_request *request)
{
    for (char **variable = request->env; variable && *variable; variable++)
        free(*variable);
    free(request->env);
    free(request->argv);
    free(request->egress);
    *request = (struct ck_mcp_request){0};
}
