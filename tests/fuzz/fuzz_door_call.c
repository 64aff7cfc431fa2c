/*
 * fuzz_door_call.c - any messages as those of a door.
 *
 * An input is a series of messages: two bytes of length (little endian), one byte with a count of descriptors, and the bytes
 * of the message. Whatever they are, the memory follows what has arrived, every descriptor is kept once or closed, and a
 * call that is whole has exactly the texts that were announced.
 */
#include "promise.h"

#include "guard/door_call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEAD 3
#define FDS_MAX (CK_DOOR_FDS_PER_MESSAGE + 1)

static size_t length_of(const char *const *list)
{
    size_t count = 0;
    while (list[count])
        count++;
    return count;
}

static void check_whole(const struct ck_door_call *call)
{
    size_t bytes = strlen(call->cwd) + strlen(call->file) + strlen(call->executed) + 3;
    require(length_of(call->argv) == call->begin.argc && length_of(call->variables) == call->begin.envc);
    for (const char *const *text = call->argv; *text; text++)
        bytes += strlen(*text) + 1;
    for (const char *const *text = call->variables; *text; text++)
        bytes += strlen(*text) + 1;
    require(bytes == call->begin.text_bytes && call->inherited.fd_count == call->begin.fd_count);
    require(call->inherited.umask_bits <= 0777 && call->inherited.nice >= -20 && call->inherited.nice <= 19);
    for (unsigned i = 0; i < call->inherited.fd_count; i++) {
        require(call->inherited.numbers[i] >= 0 && fcntl(call->inherited.fds[i], F_GETFD) >= 0);
        for (unsigned k = 0; k < i; k++)
            require(call->inherited.numbers[i] != call->inherited.numbers[k]);
    }
}

/* The next message of the input; its bytes are copied, so that a read beyond them is found. */
static int take(struct ck_door_call *call, const uint8_t *data, size_t size, unsigned fd_count, bool *ret_whole)
{
    int fds[FDS_MAX], copies[FDS_MAX], sig = 0;
    char *exact = malloc(size + 1);
    require(exact);
    if (size > 0)
        memcpy(exact, data, size);
    for (unsigned i = 0; i < fd_count; i++)
        copies[i] = fds[i] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    int r = ck_door_call_take(call, exact, size, fds, fd_count, &sig);
    free(exact);
    require(r == 0 || r == 1 || r == 2 || r == -EPROTO || r == -ENOMEM);
    require(r != 1 || !*ret_whole);
    require(r != 2 || (sig >= 1 && sig <= 31 && *ret_whole));
    unsigned kept = 0;
    for (unsigned i = 0; i < fd_count; i++)
        kept += copies[i] >= 0 && fcntl(copies[i], F_GETFD) >= 0 ? 1 : 0;
    require(r >= 0 ? kept == 0 || kept == fd_count : kept <= fd_count);
    require(r < 0 || (call->text_at <= call->begin.text_bytes && call->begin.text_bytes <= CK_DOOR_TEXT_MAX));
    if (r == 1) {
        *ret_whole = true;
        check_whole(call);
    }
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ck_door_call call = {0};
    bool whole = false;
    int lowest = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    (void)close(lowest);
    for (size_t at = 0; size - at >= HEAD;) {
        size_t length = data[at] + 256u * data[at + 1];
        unsigned fd_count = data[at + 2] % (FDS_MAX + 1);
        at += HEAD;
        length = length < size - at ? length : size - at;
        if (take(&call, data + at, length, fd_count, &whole) < 0)
            break;
        at += length;
    }
    ck_door_call_done(&call);
    int after = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    require(after == lowest); /* no descriptor is left */
    (void)close(after);
    return 0;
}
