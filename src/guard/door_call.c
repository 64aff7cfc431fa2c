/* door_call.c - see door_call.h. */
#include "guard/door_call.h"

#include "base/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS 3 /* before the arguments: directory, file, executed path */
#define NICE_LEAST (-20)
#define NICE_MOST 19
#define SIGNAL_MOST 31
#define FIRST_ROOM 4096

_Static_assert(CK_DOOR_FDS_MAX <= CHOKE_GUARD_FDS, "the descriptors of a call must fit");
_Static_assert(CK_DOOR_RLIMITS == CHOKE_GUARD_RLIMITS, "the limits of a call must fit");

void ck_door_call_done(struct ck_door_call *call)
{
    choke_guard_inherited_done(&call->inherited);
    free(call->text);
    free((void *)call->argv);
    free((void *)call->variables);
    *call = (struct ck_door_call){0};
}

/* ---- texts ---- */

/* The memory follows what has arrived, not what was announced. */
static int add_text(struct ck_door_call *call, const char *bytes, size_t length)
{
    if (length > call->begin.text_bytes - call->text_at)
        return -EPROTO;
    if (call->text_at + length > call->text_room) {
        size_t room = call->text_room == 0 ? FIRST_ROOM : call->text_room;
        while (room < call->text_at + length)
            room *= 2;
        char *text = realloc(call->text, room);
        if (!text)
            return -ENOMEM;
        call->text = text;
        call->text_room = room;
    }
    if (length > 0)
        memcpy(call->text + call->text_at, bytes, length);
    call->text_at += length;
    return 0;
}

/* The next text at *at, which is moved past it; NULL: there is none. */
static const char *next_text(const struct ck_door_call *call, size_t *at)
{
    const char *text = call->text + *at;
    const char *end = *at < call->text_at ? memchr(text, '\0', call->text_at - *at) : NULL;
    if (!end)
        return NULL;
    *at += (size_t)(end - text) + 1;
    return text;
}

static const char **split(const struct ck_door_call *call, size_t count, size_t *at)
{
    const char **list = calloc(count + 1, sizeof(*list));
    for (size_t i = 0; list && i < count; i++) {
        list[i] = next_text(call, at);
        if (!list[i]) {
            free((void *)list);
            return NULL;
        }
    }
    return list;
}

/* Exactly the announced texts, and nothing after them. */
static int complete(struct ck_door_call *call)
{
    size_t at = 0;
    call->cwd = next_text(call, &at);
    call->file = next_text(call, &at);
    call->executed = next_text(call, &at);
    if (!call->cwd || !call->file || !call->executed)
        return -EPROTO;
    call->argv = split(call, call->begin.argc, &at);
    call->variables = call->argv ? split(call, call->begin.envc, &at) : NULL;
    if (!call->variables || at != call->text_at)
        return -EPROTO;
    call->whole = true;
    return 1;
}

/* ---- descriptors ---- */

static bool has_number(const struct ck_door_call *call, int number)
{
    for (unsigned i = 0; i < call->inherited.fd_count; i++)
        if (call->inherited.numbers[i] == number)
            return true;
    return false;
}

static int add_fds(struct ck_door_call *call, const int32_t *numbers, unsigned count, int *fds, unsigned fd_count)
{
    struct choke_guard_inherited *inherited = &call->inherited;
    if (count != fd_count || count > CK_DOOR_FDS_PER_MESSAGE || count > call->begin.fd_count - inherited->fd_count)
        return -EPROTO;
    for (unsigned i = 0; i < count; i++) {
        if (numbers[i] < 0 || has_number(call, numbers[i]))
            return -EPROTO;
        inherited->numbers[inherited->fd_count] = numbers[i];
        inherited->fds[inherited->fd_count++] = ck_fd_take(&fds[i]);
    }
    return 0;
}

/* ---- messages ---- */

static int take_begin(struct ck_door_call *call, const char *bytes, size_t size, int *fds, unsigned fd_count)
{
    struct ck_door_begin *begin = &call->begin;
    if (call->begun || size < sizeof(*begin))
        return -EPROTO;
    memcpy(begin, bytes, sizeof(*begin));
    if (begin->text_bytes > CK_DOOR_TEXT_MAX || begin->argc > CK_DOOR_STRINGS_MAX ||
        begin->envc > CK_DOOR_STRINGS_MAX - begin->argc || begin->fd_count > CK_DOOR_FDS_MAX ||
        begin->text_bytes < TEXTS + begin->argc + begin->envc || begin->umask_bits > 0777 || begin->nice < NICE_LEAST ||
        begin->nice > NICE_MOST)
        return -EPROTO;
    call->begun = true;
    choke_guard_inherited_init(&call->inherited);
    call->inherited.umask_bits = begin->umask_bits;
    call->inherited.nice = begin->nice;
    call->inherited.ignored = begin->ignored;
    for (size_t i = 0; i < CK_DOOR_RLIMITS; i++)
        call->inherited.rlimits[i] =
            (struct choke_guard_rlimit){.soft = begin->rlimits[i].soft, .hard = begin->rlimits[i].hard};
    int r = add_fds(call, begin->numbers, begin->fds_here, fds, fd_count);
    return r < 0 ? r : add_text(call, bytes + sizeof(*begin), size - sizeof(*begin));
}

static int take_text(struct ck_door_call *call, const char *bytes, size_t size)
{
    struct ck_door_text head;
    if (!call->begun || size < sizeof(head))
        return -EPROTO;
    memcpy(&head, bytes, sizeof(head));
    if (head.bytes != size - sizeof(head))
        return -EPROTO;
    return add_text(call, bytes + sizeof(head), head.bytes);
}

static int take_fds(struct ck_door_call *call, const char *bytes, size_t size, int *fds, unsigned fd_count)
{
    struct ck_door_fds head;
    if (!call->begun || size != sizeof(head))
        return -EPROTO;
    memcpy(&head, bytes, sizeof(head));
    return add_fds(call, head.numbers, head.count, fds, fd_count);
}

static int take_signal(const struct ck_door_call *call, const char *bytes, size_t size, int *ret_signal)
{
    struct ck_door_signal head;
    if (!call->whole || size != sizeof(head))
        return -EPROTO;
    memcpy(&head, bytes, sizeof(head));
    if (head.signal == 0 || head.signal > SIGNAL_MOST)
        return -EPROTO;
    *ret_signal = (int)head.signal;
    return 2;
}

static int take(struct ck_door_call *call, const char *bytes, size_t size, int *fds, unsigned fd_count, int *ret_signal)
{
    uint32_t kind;
    if (size < sizeof(kind) || size > CK_DOOR_MESSAGE_MAX)
        return -EPROTO;
    memcpy(&kind, bytes, sizeof(kind));
    if (kind == CK_DOOR_SIGNAL)
        return take_signal(call, bytes, size, ret_signal);
    if (call->whole)
        return -EPROTO;
    int r = kind == CK_DOOR_BEGIN  ? take_begin(call, bytes, size, fds, fd_count)
            : kind == CK_DOOR_TEXT ? take_text(call, bytes, size)
            : kind == CK_DOOR_FDS  ? take_fds(call, bytes, size, fds, fd_count)
                                   : -EPROTO;
    if (r < 0 || call->text_at < call->begin.text_bytes || call->inherited.fd_count < call->begin.fd_count)
        return r;
    return complete(call);
}

int ck_door_call_take(struct ck_door_call *call, const void *message, size_t size, int *fds, unsigned fd_count,
                      int *ret_signal)
{
    int r = take(call, message, size, fds, fd_count, ret_signal);
    /* Those that no message may have. */
    for (unsigned i = 0; i < fd_count; i++)
        ck_fd_close(&fds[i]);
    return r;
}
