/*
 * gate.c - a gate of the egress proxy without a jail: gate [--OPTION NUMBER]... RULE...
 *
 * Listens on a port of 127.0.0.1, prints {"port": N} on stdout and then each event as one line of
 * JSON. Serves until its stdin ends, and prints the totals. The options are the members of the
 * budget (--head-ms 500), --descriptors, the limit of descriptors for this process, and --upstream,
 * the URL of a proxy; --secret HOST[:PORT],HEADER=VALUE and --secret-ca FILE. With --nested it waits on an epoll descriptor that contains the proxy's, as a
 * context does.
 */
#include "egress/authorities.h"
#include "egress/host_secret.h"
#include "egress/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define RULES_MAX 32

struct settings {
    struct ck_gate_budget budget;
    uint64_t descriptors;
    uint64_t nested;
    struct ck_destination rules[RULES_MAX];
    size_t rules_count;
    struct ck_upstream upstream;
    struct ck_host_secrets *secrets;
};

static _Noreturn void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "gate: %s: %s\n", what, why);
    exit(1);
}

static void say(json_t *object)
{
    if (!object || json_dumpf(object, stdout, JSON_COMPACT) != 0)
        fail("stdout", "cannot write");
    (void)fputc('\n', stdout);
    (void)fflush(stdout);
    json_decref(object);
}

static void on_event(void *data, const struct ck_gate_event *event)
{
    static const char *const verdicts[] = {"", "opened", "refused", "failed", "closed"};
    (void)data;
    say(json_pack("{s:s, s:I, s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "verdict",
                  verdicts[event->verdict], "connection", (json_int_t)event->connection, "protocol", event->protocol,
                  "host", event->host, "port", event->port, "rule", event->rule, "address", event->address, "via",
                  event->via, "reason", event->reason, "message", event->message, "secret", event->secret, "requests",
                  (json_int_t)event->requests, "up", (json_int_t)event->up_bytes, "down",
                  (json_int_t)event->down_bytes));
}

static bool set(struct settings *settings, const char *name, uint64_t value)
{
    struct ck_gate_budget *budget = &settings->budget;
    const struct {
        const char *name;
        uint32_t *small;
        uint64_t *large;
    } options[] = {
        {"--at-once", &budget->connections_at_once, NULL},
        {"--total", NULL, &budget->connections_total},
        {"--refusals", NULL, &budget->refusals_total},
        {"--up-bytes", NULL, &budget->up_bytes},
        {"--down-bytes", NULL, &budget->down_bytes},
        {"--head-ms", &budget->head_ms, NULL},
        {"--dial-ms", &budget->dial_ms, NULL},
        {"--idle-ms", &budget->idle_ms, NULL},
        {"--descriptors", NULL, &settings->descriptors},
        {"--nested", NULL, &settings->nested},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        if (strcmp(name, options[i].name) != 0)
            continue;
        if (options[i].small)
            *options[i].small = (uint32_t)value;
        else
            *options[i].large = value;
        return true;
    }
    return false;
}

static void add_secret(struct settings *settings, const char *text)
{
    struct ck_host_secret parsed;
    const char *value = "", *why = "no value";
    if (!settings->secrets)
        settings->secrets = ck_host_secrets_new();
    if (!text || ck_host_secret_parse(text, &parsed, &value, &why) != 0 ||
        ck_host_secrets_add(settings->secrets, &parsed, value, strlen(value), &why) != 0)
        fail("--secret", why);
}

static void read_authorities(struct settings *settings, const char *path)
{
    static char pem[1 << 20];
    FILE *file = path ? fopen(path, "re") : NULL;
    size_t length = file ? fread(pem, 1, sizeof(pem), file) : 0;
    if (file)
        (void)fclose(file);
    if (!settings->secrets || ck_authorities_read(pem, length, &settings->secrets->authorities) != 0)
        fail("--secret-ca", "no certificates, or no --secret before it");
}

static void read_arguments(char **arguments, struct settings *settings)
{
    for (; *arguments; arguments++) {
        const char *why = "there are too many";
        if (strcmp(*arguments, "--upstream") == 0) {
            if (!*++arguments || ck_upstream_parse(*arguments, true, &settings->upstream, &why) != 0)
                fail("--upstream", why);
        } else if (strcmp(*arguments, "--secret") == 0) {
            add_secret(settings, *++arguments);
        } else if (strcmp(*arguments, "--secret-ca") == 0) {
            read_authorities(settings, *++arguments);
        } else if (strncmp(*arguments, "--", 2) == 0) {
            if (!arguments[1] || !set(settings, arguments[0], strtoull(arguments[1], NULL, 10)))
                fail(*arguments, "no such option, or no number");
            arguments++;
        } else if (settings->rules_count == RULES_MAX ||
                   ck_destination_parse(*arguments, &settings->rules[settings->rules_count++], &why) != 0) {
            fail(*arguments, why);
        }
    }
}

static int listen_somewhere(uint16_t *ret_port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 4096) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0)
        fail("listen", strerror(errno));
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static void serve(struct ck_proxy *proxy, int fd)
{
    struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    char byte;
    for (;;) {
        if (poll(polled, 2, -1) < 0 && errno != EINTR)
            fail("poll", strerror(errno));
        if (polled[0].revents != 0 && read(STDIN_FILENO, &byte, 1) <= 0)
            return;
        if (polled[1].revents != 0 && ck_proxy_dispatch(proxy) != 0)
            fail("dispatch", strerror(errno));
    }
}

static int nest(int inner_fd)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, inner_fd, &(struct epoll_event){.events = EPOLLIN}) < 0)
        fail("epoll", strerror(errno));
    return fd;
}

int main(int argc, char **argv)
{
    struct settings settings = {.budget = CK_GATE_BUDGET_DEFAULT};
    struct rlimit limit;
    (void)argc;
    read_arguments(argv + 1, &settings);
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        fail("getrlimit", strerror(errno));
    limit.rlim_cur = settings.descriptors != 0 ? settings.descriptors : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        fail("setrlimit", strerror(errno));
    struct ck_proxy proxy;
    struct ck_gate *gate = NULL;
    uint16_t port = 0;
    ck_proxy_init(&proxy);
    int listen_fd = listen_somewhere(&port);
    int r = ck_proxy_open(&proxy, listen_fd,
                          &(struct ck_gate_options){.rules = settings.rules,
                                                    .rules_count = settings.rules_count,
                                                    .budget = settings.budget,
                                                    .upstream = &settings.upstream,
                                                    .secrets = settings.secrets,
                                                    .on_event = on_event},
                          &gate);
    if (r != 0)
        fail("open", strerror(-r));
    say(json_pack("{s:i}", "port", port));
    serve(&proxy, settings.nested != 0 ? nest(ck_proxy_fd(&proxy)) : ck_proxy_fd(&proxy));
    struct ck_proxy_gate_totals totals;
    ck_proxy_gate_totals(gate, &totals);
    ck_proxy_close_gate(gate);
    say(json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "connections", (json_int_t)totals.connections, "opened",
                  (json_int_t)totals.opened, "refused", (json_int_t)totals.refused, "failed", (json_int_t)totals.failed,
                  "up", (json_int_t)totals.up_bytes, "down", (json_int_t)totals.down_bytes));
    ck_proxy_done(&proxy);
    ck_host_secrets_release(settings.secrets);
    return 0;
}
