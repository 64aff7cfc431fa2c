/*
 * server.c - the loop of `chokepoint mcp`.
 *
 * One thread, one loop over five descriptors: the client's input, the output if something waits
 * there, the library's, one for signals, and one that tasks wake. A line of input becomes a message
 * (message.c), a message a method (method.c), and a tools/call a call (calls.c), whose tool starts a
 * job of the library, a task in a thread (task.c), or answers at once. Answers wait in the outbox.
 *
 * Back-pressure: while much output waits, no input is read. The end of the input is noticed anyway,
 * because poll(2) reports a hang-up without being asked for it.
 *
 * At the end of the input everything is cancelled. What has not ended soon after is killed when this
 * process exits: the library's keeper sees that on a pidfd.
 */
#include "mcp/server.h"

#include "base/clock.h"
#include "base/fd.h"
#include "front/text.h"
#include "mcp/mcp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * A cancelled tool is killed after 50 ms, and everything has ended a few ms later. A busy machine
 * takes longer. The server waits for it: its client may look for what is left once it has ended.
 */
#define STOP_MS 2000
#define FLUSH_MS 20 /* for the last answers */

extern const unsigned char ck_mcp_offer_text[];
extern const size_t ck_mcp_offer_length;

/* ---- beginning ---- */

static int load_policy(struct ck_mcp_server *server, struct choke_error *error)
{
    int r = choke_policy_open(server->options->context.policy_path, &server->policy, error);

    if (r == 0)
        r = choke_policy_json(server->policy, &server->policy_text, error);
    if (r < 0)
        return r;
    server->policy_json = json_loads(server->policy_text, 0, NULL);
    server->offer = json_loadb((const char *)ck_mcp_offer_text, ck_mcp_offer_length, 0, NULL);
    if (server->policy_json && server->offer)
        return 0;
    return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
}

/* Everything that can be wrong with the options is found before the first message. */
static int begin(struct ck_mcp_server *server, struct choke_error *error)
{
    struct choke_options context = server->options->context;

    context.on_event = ck_mcp_log_event;
    context.event_data = server;
    int r = ck_mcp_root_open(&server->root, server->options->root, error);
    if (r == 0)
        r = choke_context_new(&context, &server->context, error);
    /* Options that a locked policy of the machine refuses: then no call could run. */
    if (r == 0)
        r = choke_locked(server->context, NULL, error);
    if (r == 0)
        r = load_policy(server, error);
    if (r == 0)
        r = ck_session_begin(&server->session, error);
    if (r < 0)
        return r;
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->wake_fd < 0)
        return ck_text_error(error, CHOKE_NONE, errno, "cannot make an eventfd: %s", strerror(errno));
    return 0;
}

/* ---- the loop ---- */

static void refuse_long_line(struct ck_mcp_server *server)
{
    struct ck_mcp_fault fault = {0};

    (void)ck_mcp_fault_set(&fault, CK_MCP_INVALID_REQUEST, "the message has more than %zu bytes and was not read",
                           CK_MCP_MESSAGE_MAX);
    ck_mcp_reply_fault(server, NULL, &fault);
}

/* Lines stay in the reader while the outbox is full. */
static void handle_lines(struct ck_mcp_server *server)
{
    const char *line;
    size_t length;

    server->lines_left = false;
    while (!ck_mcp_outbox_is_full(&server->outbox)) {
        switch (ck_mcp_reader_next(&server->reader, &line, &length)) {
        case CK_MCP_LINE_NONE:
            return;
        case CK_MCP_LINE_TOO_LONG:
            refuse_long_line(server);
            break;
        case CK_MCP_LINE_WHOLE:
            ck_mcp_method_line(server, line, length);
            break;
        }
    }
    server->lines_left = true;
}

/* False: the input has ended. */
static bool read_input(struct ck_mcp_server *server, short revents, bool is_full)
{
    if ((revents & (POLLERR | POLLNVAL)) != 0 || (is_full && (revents & (POLLHUP | POLLRDHUP)) != 0))
        return false;
    if (is_full || revents == 0)
        return true;
    ssize_t got = ck_mcp_reader_fill(&server->reader, server->options->in_fd);
    return got > 0 || got == -EAGAIN || got == -ENOMEM;
}

/* One round: waits, then does what is due. False: the end. */
static bool serve_once(struct ck_mcp_server *server)
{
    bool is_full = ck_mcp_outbox_is_full(&server->outbox);
    bool is_waiting = !ck_mcp_outbox_is_empty(&server->outbox);
    struct pollfd fds[] = {
        {.fd = server->options->in_fd, .events = (short)(is_full ? POLLRDHUP : POLLIN | POLLRDHUP)},
        {.fd = is_waiting ? server->options->out_fd : -1, .events = POLLOUT},
        {.fd = choke_fd(server->context), .events = POLLIN},
        {.fd = server->session.signal_fd, .events = POLLIN},
        {.fd = server->wake_fd, .events = POLLIN},
    };

    /* Lines that are left in the reader cause no event of their own. */
    if (poll(fds, 5, server->lines_left && !is_full ? 0 : ck_mcp_calls_wait_ms(server)) < 0 && errno != EINTR)
        return false;
    ck_session_handle_signal(&server->session, server->context);
    if (server->session.signal != 0)
        return false;
    bool more = read_input(server, fds[0].revents, is_full);
    handle_lines(server);
    ck_mcp_calls_advance(server);
    ck_mcp_outbox_flush(&server->outbox);
    return more && server->outbox.error == 0;
}

/* ---- the end ---- */

/* The last answers, as far as the client reads them. */
static void flush_rest(struct ck_mcp_server *server)
{
    uint64_t end_ms = ck_clock_now_ms() + FLUSH_MS;

    for (uint64_t now_ms; (now_ms = ck_clock_now_ms()) < end_ms && server->outbox.error == 0 &&
                          !ck_mcp_outbox_is_empty(&server->outbox);) {
        struct pollfd out = {.fd = server->options->out_fd, .events = POLLOUT};
        (void)poll(&out, 1, (int)(end_ms - now_ms));
        ck_mcp_outbox_flush(&server->outbox);
    }
}

static void done(struct ck_mcp_server *server)
{
    choke_context_free(server->context);
    choke_policy_free(server->policy);
    json_decref(server->policy_json);
    json_decref(server->offer);
    ck_mcp_reader_done(&server->reader);
    ck_mcp_outbox_done(&server->outbox);
    ck_mcp_areas_done(&server->areas);
    ck_fd_close(&server->root.fd);
    ck_fd_close(&server->wake_fd);
    free(server->gather_document);
    ck_session_end(&server->session);
    free(server);
}

int ck_mcp_serve(const struct ck_mcp_options *options, struct choke_error *error)
{
    struct ck_mcp_server *server = calloc(1, sizeof(*server));
    if (!server)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    server->options = options;
    server->root.fd = server->wake_fd = -1;
    server->outbox.fd = options->out_fd;
    server->log_level = ck_mcp_log_level("warning");
    ck_session_init(&server->session);
    /* Threads make objects: the seed of their hashes must not be chosen by two at once. */
    json_object_seed(0);

    int r = begin(server, error);
    while (r == 0 && serve_once(server))
        ;
    if (r == 0) {
        r = server->session.signal;
        /* Answers that are complete are sent; nothing new is begun. */
        flush_rest(server);
        /* A thread still uses the server: the process ends with it, and nothing outlives it. */
        if (!ck_mcp_calls_stop(server, STOP_MS))
            _exit(r == 0 ? 0 : 128 + r);
    }
    done(server);
    return r;
}
