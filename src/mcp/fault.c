/* fault.c - see fault.h. */
#include "mcp/fault.h"

#include "front/jansson.h"

#include <stdarg.h>
#include <stdio.h>

int ck_mcp_fault_set(struct ck_mcp_fault *fault, enum ck_mcp_code code, const char *format, ...)
{
    va_list args;

    fault->code = code;
    va_start(args, format);
    (void)vsnprintf(fault->message, sizeof(fault->message), format, args);
    va_end(args);
    return -1;
}

json_t *ck_mcp_fault_take(struct ck_mcp_fault *fault)
{
    json_t *object = json_pack("{s:i, s:o}", "code", fault->code, "message", ck_jansson_text(fault->message));

    if (fault->data)
        (void)json_object_set_new(object, "data", fault->data);
    *fault = (struct ck_mcp_fault){0};
    return object;
}
