/* test_attack_fixture.c - the effect of an attempt of "doctor --attack" is seen from outside, each
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/attack.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct ck_attack_fixture fixture;

static int make(void **state)
{
    struct choke_error error = {0};
    (void)state;
    return ck_attack_fixture_make(&fixture, "/usr/bin/true", &error);
}

static int done(void **state)
{
    char top[sizeof(fixture.top)];
    (void)state;
    (void)memcpy(top, fixture.top, sizeof(top));
    ck_attack_fixture_done(&fixture);
    return access(top, F_OK) == 0 ? -1 : 0;
}

static const char *in_root(const char *name)
{
    static char path[96];
    (void)snprintf(path, sizeof(path), "%s/%s", fixture.root, name);
    return path;
}

/* Once, and not a second time. */
static void is_seen(const char *part)
{
    const char *reached = ck_attack_fixture_reached(&fixture);
    assert_non_null(reached);
    assert_non_null(strstr(reached, part));
    assert_null(ck_attack_fixture_reached(&fixture));
}

static void call(const void *address, socklen_t length, int type)
{
    const struct sockaddr *at = address;
    int fd = socket(at->sa_family, type | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, at, length), 0);
    assert_int_equal(send(fd, "word", 4, 0), 4);
    assert_int_equal(close(fd), 0);
}

static void nothing_is_reached_at_first(void **state)
{
    (void)state;
    assert_null(ck_attack_fixture_reached(&fixture));
}

static void changed_files_are_seen(void **state)
{
    (void)state;
    assert_int_equal(chmod(fixture.secret, 0600), 0); /* the same mode: only its ctime changes */
    is_seen("beside the root");
    assert_int_equal(truncate(fixture.secret, 0), 0);
    is_seen("beside the root");
    assert_int_equal(unlink(in_root("victim")), 0);
    is_seen("read-only root");
    assert_int_equal(utimensat(AT_FDCWD, in_root("victim"), NULL, 0), 0);
    is_seen("read-only root");
    assert_int_equal(mkfifo(in_root("new"), 0600), 0);
    is_seen("was made");
}

static void calls_are_seen(void **state)
{
    struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    (void)state;
    inet.sin_port = htons((uint16_t)strtol(fixture.port, NULL, 10));
    call(&inet, sizeof(inet), SOCK_STREAM);
    is_seen("loopback");
    (void)snprintf(local.sun_path, sizeof(local.sun_path), "%s", in_root("stream.socket"));
    call(&local, sizeof(local), SOCK_STREAM);
    is_seen("in the repository");
    (void)snprintf(local.sun_path, sizeof(local.sun_path), "%s", in_root("datagram.socket"));
    call(&local, sizeof(local), SOCK_DGRAM);
    is_seen("in the repository");
    local = (struct sockaddr_un){.sun_family = AF_UNIX};
    (void)memcpy(local.sun_path + 1, fixture.abstract, strlen(fixture.abstract));
    call(&local, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(fixture.abstract)), SOCK_STREAM);
    is_seen("abstract");
}

static void a_signal_is_seen(void **state)
{
    (void)state;
    assert_int_equal(kill((pid_t)strtol(fixture.pid, NULL, 10), SIGURG), 0);
    is_seen("signal");
}

static void every_argument_of_the_table_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; ck_attack_attempts[i].promise; i++)
        for (size_t j = 0; ck_attack_attempts[i].args[j]; j++)
            assert_true(ck_attack_fixture_expand(&fixture, ck_attack_attempts[i].args[j])[0] != '{');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_reached_at_first),
        cmocka_unit_test(changed_files_are_seen),
        cmocka_unit_test(calls_are_seen),
        cmocka_unit_test(a_signal_is_seen),
        cmocka_unit_test(every_argument_of_the_table_is_known),
    };
    return cmocka_run_group_tests(tests, make, done);
}
