/*
 * host_prepared.c - runs whose init was prepared before their plan came, and what may happen to it.
 *
 * host_prepared POLICY ROOT OTHER [RULE] - OTHER is a second root. The policy has say_state and sh (workspace: ro) and bash
 * (workspace: rw). Both roots have a file "name". All runs have egress to RULE, if it is given.
 */
#include "ahead.h"

#define MOST 32 /* processes of prepared runs */
#define AHEAD 3 /* after this number of runs, one right after the other, the next one is prepared */

static struct choke_context *context;
static const char *const *egress;

static struct choke_request request_of(const char *const *argv, const char *root)
{
    struct choke_request request = host_request(argv, root);
    request.jail = CHOKE_JAIL_NATIVE;
    request.egress = egress;
    return request;
}

static void stop_all(const char *name)
{
    int pids[MOST];
    unsigned count = host_list_below(name, HOST_ALIVE, pids, MOST);
    CHECK(count > 0 && count < MOST);
    for (unsigned i = 0; i < count; i++)
        CHECK(kill(pids[i], SIGSTOP) == 0 || errno == ESRCH);
}

/* And waits until they are dead: one that is about to die may still get a plan. */
static void kill_all(const char *name)
{
    int pids[MOST];
    unsigned count = host_list_below(name, HOST_ALIVE, pids, MOST);
    CHECK(count > 0 && count < MOST);
    for (unsigned i = 0; i < count; i++)
        CHECK(kill(pids[i], SIGKILL) == 0 || errno == ESRCH);
    for (unsigned i = 0; i < count; i++)
        while (host_is_below(pids[i], name, HOST_ALIVE))
            (void)usleep(1000);
}

static struct choke_result *run(const char *root, enum choke_outcome outcome, uint64_t timeout_ms,
                                const char *const *argv)
{
    struct choke_request request = request_of(argv, root);
    return host_run_to(context, &request, outcome, timeout_ms);
}

static void expect(const char *root, const char *tool, const char *script, const char *out)
{
    const char *const argv[] = {tool, "-c", script, NULL};
    struct choke_request request = request_of(argv, root);
    host_expect(context, &request, out);
}

static void warm(const char *root)
{
    for (int i = 0; i < AHEAD; i++)
        expect(root, "sh", "echo x", "x\n");
}

/* Waits for it: the init is created after the report. */
static int await_prepared(void)
{
    for (double end = host_now() + 30; host_now() < end;) {
        int pid = host_find_below("choke-init", "D");
        if (pid > 0)
            return pid;
        (void)usleep(1000);
    }
    return 0;
}

/* The numbers of pipes differ. */
static void hide_numbers(char *text)
{
    char *to = text;
    bool inside = false;
    for (const char *at = text; *at; at++) {
        inside = *at == '[' || (inside && *at != ']');
        if (!inside)
            *to++ = *at;
    }
    *to = '\0';
}

/* What a tool inherits is the same whether or not it was prepared. */
static void same_state(const char *root)
{
    const char *const argv[] = {"say_state", NULL};
    static char first[65536], again[65536];
    for (int i = 0; i < 8; i++) {
        struct choke_result *result = run(root, CHOKE_EXITED, 20000, argv);
        char *text = i == 0 ? first : again;
        CHECK(result->out.length > 0 && result->out.length < sizeof(first));
        memcpy(text, result->out.data, result->out.length + 1);
        hide_numbers(text);
        CHECK_SAYING(i == 0 || strcmp(first, again) == 0, again);
        choke_result_free(result);
    }
}

static void survive_its_death(const char *root)
{
    for (int i = 0; i < 12; i++) {
        warm(root);
        int pid = await_prepared();
        CHECK(pid > 0);
        CHECK(kill(pid, SIGKILL) == 0 || errno == ESRCH);
        if (i % 2 == 0) /* else the next run may come before it is dead */
            while (kill(pid, 0) == 0 && host_find_below("choke-init", HOST_ALIVE) == pid)
                (void)usleep(1000);
        const char *const argv[] = {"sh", "-c", "echo again", NULL};
        struct choke_request request = request_of(argv, root);
        struct choke_result *result = host_run(context, &request);
        /* It was killed while it had the plan, or before it had said so (docs/adr/0156). */
        bool lost = i % 2 == 1 && (result->outcome == CHOKE_SIGNALED || result->outcome == CHOKE_CANCELLED);
        CHECK_SAYING(lost || host_is(&result->out, "again\n"), result->error.message);
        choke_result_free(result);
        /* It may be of the warden whose turn is next. */
        while (kill(pid, 0) == 0 && host_find_below("choke-init", HOST_ALIVE) == pid)
            (void)usleep(1000);
    }
}

/*
 * A process that is stopped never receives its streams. The run ends at its timeout, and what it was sent
 * must not reach a process that is prepared later.
 */
static void survive_its_stop(const char *root)
{
    const char *const argv[] = {"sh", "-c", "echo never", NULL};
    for (int i = 0; i < 2; i++) {
        warm(root);
        CHECK(await_prepared() > 0);
        for (int pid; (pid = host_find_below("choke-init", "S")) > 0;)
            CHECK(kill(pid, SIGSTOP) == 0 || errno == ESRCH);
        struct choke_request request = request_of(argv, root);
        request.timeout_ms = 500;
        for (int stopped = 0; stopped < 2; stopped++) /* of each warden */
            choke_result_free(host_run(context, &request));
        for (int j = 0; j < 2 * AHEAD; j++)
            expect(root, "sh", "echo after", "after\n");
    }
}

/*
 * What is prepared waits for its plan. It ends by itself after two seconds, so on a busy machine nothing is
 * learned, nor where the warden was lost with the run.
 */
static void still_prepared(void)
{
    double start = host_now();
    int pid;
    while ((pid = host_find_below("choke-init", "D")) == 0 && host_now() < start + 1)
        (void)usleep(1000);
    while (host_now() < start + 0.2)
        (void)usleep(10000);
    int after = host_find_below("choke-init", HOST_ALIVE);
    CHECK(pid == 0 || after == pid || host_now() > start + 1.5);
}

/*
 * Its processes are stopped, so that the plan waits in their sockets when they are killed. Nobody may receive it later: the
 * next tool would start before its own plan, with the streams of this one.
 */
static void die_with_a_plan(const char *root)
{
    const char *const argv[] = {"sh", "-c", "echo lost", NULL};
    for (int i = 0; i < 4; i++) {
        warm(root);
        CHECK(await_prepared() > 0);
        stop_all("choke-init");
        struct choke_request request = request_of(argv, root);
        struct choke_job *job = host_start(context, &request);
        double until = host_now() + 0.1; /* for the warden to send it on */
        while (host_now() < until)
            CHECK(choke_wait(context, 10, NULL) >= 0);
        kill_all("choke-init");
        CHECK(host_drain(context, 60));
        CHECK(choke_next(context) == job);
        /* Its warden still has the plan, or it was killed with it; or before it could say how its tool ended. */
        const struct choke_result *result = choke_job_result(job);
        CHECK_SAYING(host_is(&result->out, "lost\n") || (result->outcome != CHOKE_EXITED && result->out.length == 0),
                     result->out.data);
        CHECK_SAYING(result->outcome == CHOKE_EXITED || result->outcome == CHOKE_SIGNALED ||
                         result->outcome == CHOKE_CANCELLED,
                     result->error.message);
        choke_job_free(job);
        still_prepared();
        for (int again = 0; again < 2; again++) {
            warm(root);
            expect(root, "sh", "read x < name; echo $x", "root\n");
        }
    }
}

static void alternate_roots(const char *root, const char *other)
{
    for (int i = 0; i < 8; i++) {
        expect(root, "sh", "read x < name; echo $x", "root\n");
        expect(other, "sh", "read x < name; echo $x", "other\n");
    }
    for (int i = 0; i < 4; i++) {
        expect(root, "bash", "read x < name; echo $x >> written; echo ok", "ok\n");
        expect(root, "bash", "read x < name; echo $x >> written; echo ok", "ok\n");
        expect(other, "bash", "read x < name; echo $x >> written; echo ok", "ok\n");
    }
    expect(root, "sh", "echo x 2>/dev/null > refused || echo no", "no\n");
}

static void end_in_time(const char *root)
{
    const char *const argv[] = {"sh", "-c", "while :; do :; done", NULL};
    for (int i = 0; i < 3; i++) {
        warm(root);
        choke_result_free(run(root, CHOKE_TIMEOUT, 200, argv));
    }
    expect(root, "sh", "echo after", "after\n");
}

static void read_input(const char *root)
{
    const char *const argv[] = {"sh", "-c", "read x; echo $x", NULL};
    for (int i = 0; i < 4; i++) {
        struct choke_request request = request_of(argv, root);
        request.stdin_kind = CHOKE_STDIN_BYTES;
        request.stdin_bytes = "given\n";
        request.stdin_length = 6;
        struct choke_result *result = host_run(context, &request);
        CHECK_SAYING(host_is(&result->out, "given\n"), result->error.message);
        choke_result_free(result);
        expect(root, "sh", "read x || echo none", "none\n");
    }
}

static void end_when_idle(const char *root)
{
    warm(root);
    CHECK(await_prepared() > 0);
    double end = host_now() + 60;
    while (host_find_below("choke-init", HOST_ALIVE) != 0 && host_now() < end)
        (void)usleep(20000);
    CHECK(host_find_below("choke-init", HOST_ALIVE) == 0);
    expect(root, "sh", "echo late", "late\n");
}

int main(int argc, char **argv)
{
    CHECK(argc == 4 || argc == 5);
    const char *const rules[] = {argv[4], NULL};
    egress = argc == 5 ? rules : NULL;
    context = host_context(argv[1]);
    warm(argv[2]);
    CHECK(await_prepared() > 0);
    size_t before = host_descriptors();
    same_state(argv[2]);
    survive_its_death(argv[2]);
    survive_its_stop(argv[2]);
    die_with_a_plan(argv[2]);
    alternate_roots(argv[2], argv[3]);
    end_in_time(argv[2]);
    read_input(argv[2]);
    end_when_idle(argv[2]);
    CHECK(host_descriptors() < before + 40); /* three kinds of wardens, two of each */
    choke_context_free(context);
    size_t zombies;
    CHECK(host_children(&zombies) == 0);
    return 0;
}
