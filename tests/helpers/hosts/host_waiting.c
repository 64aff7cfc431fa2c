/*
 * host_waiting.c - runs without a jail whose process waited for their plan, and what may happen to it.
 *
 * host_waiting POLICY ROOT - the policy has say_state, sh, sealed_sh (execs: []), limited_sh (with limits) and broken (a
 * file that the kernel cannot execute).
 */
#include "ahead.h"

#define AHEAD 2 /* after this number of runs the process of the next one waits */
#define LONG_BYTES 40000

static struct choke_context *context;

static struct choke_request request_of(const char *const *argv, const char *root)
{
    struct choke_request request = host_request(argv, root);
    request.jail = CHOKE_JAIL_NONE;
    return request;
}

/* The pid of the process that waits below this one; 0: none. */
static int find_waiting(void)
{
    return host_find_below("choke-ready", HOST_ALIVE);
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

/* Waits for it: the process is created after the report. */
static int await_waiting(const char *root)
{
    for (int i = 0; i < AHEAD; i++)
        expect(root, "sh", "echo x", "x\n");
    for (double end = host_now() + 30; host_now() < end;) {
        int pid = find_waiting();
        if (pid > 0)
            return pid;
        (void)usleep(1000);
    }
    CHECK_SAYING(false, "no process waits");
    return 0;
}

/* Numbers of pipes and processes differ; the group and the session are the process itself in any case. */
static void hide_numbers(char *text)
{
    static const char *const own[] = {"\npid=", "\npgid=", "\nsid=", "\nppid="};
    const char *pid = strstr(text, own[0]);
    CHECK(!!pid);
    long number = strtol(pid + strlen(own[0]), NULL, 10);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        char *at = strstr(text, own[i]);
        CHECK(!!at);
        char *digits = at + strlen(own[i]);
        CHECK(i == 3 || strtol(digits, NULL, 10) == number);
        memmove(digits, digits + strspn(digits, "0123456789"), strlen(digits + strspn(digits, "0123456789")) + 1);
    }
    char *to = text;
    bool inside = false;
    for (const char *at = text; *at; at++) {
        inside = *at == '[' || (inside && *at != ']');
        if (!inside)
            *to++ = *at;
    }
    *to = '\0';
}

/* What a tool inherits is the same whether or not its process waited. */
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
        if (i > 1)
            (void)await_waiting(root);
    }
}

/* The process that waits is the one that becomes the tool: it is in a session of its own, and nothing else is open. */
static void becomes_the_tool(const char *root)
{
    char pid[32];
    (void)snprintf(pid, sizeof(pid), "%d\n", await_waiting(root));
    expect(root, "sh", "echo $$", pid);
}

static void survive_its_death(const char *root)
{
    for (int i = 0; i < 6; i++) {
        int pid = await_waiting(root);
        CHECK(kill(pid, SIGKILL) == 0 || errno == ESRCH);
        if (i % 2 == 0) /* else the next run may come before it is dead */
            while (find_waiting() == pid)
                (void)usleep(1000);
        expect(root, "sh", "echo again", "again\n");
    }
}

/* The warden gets a signal when a child is stopped, too. It ends it and receives the plan itself. */
static void survive_its_stop(const char *root)
{
    for (int i = 0; i < 4; i++) {
        int pid = await_waiting(root);
        CHECK(kill(pid, SIGSTOP) == 0);
        expect(root, "sh", "echo after", "after\n");
        for (double end = host_now() + 30; kill(pid, 0) == 0 && host_now() < end;)
            (void)usleep(1000);
        CHECK(kill(pid, 0) < 0);
    }
}

/* Plans of other kinds, which the process hands back to its warden or which go to another one. */
static void alternate_kinds(const char *root)
{
    static char text[LONG_BYTES + 1];
    memset(text, 'x', LONG_BYTES);
    const char *const large[] = {"sh", "-c", "echo ${#1}", "sh", text, NULL};
    for (int i = 0; i < 4; i++) {
        (void)await_waiting(root);
        struct choke_result *result = run(root, CHOKE_EXITED, 20000, large);
        CHECK_SAYING(host_is(&result->out, "40000\n"), result->out.data);
        choke_result_free(result);
        expect(root, "sealed_sh", "echo ok; /bin/true 2>/dev/null || echo sealed", "ok\nsealed\n");
        expect(root, "limited_sh", "ulimit -n", "64\n");
        expect(root, "sh", "/bin/true && echo open", "open\n");
    }
}

static void end_in_time(const char *root)
{
    const char *const argv[] = {"sh", "-c", "trap '' TERM; while :; do :; done", NULL};
    for (int i = 0; i < 3; i++) {
        (void)await_waiting(root);
        choke_result_free(run(root, CHOKE_TIMEOUT, 200, argv));
    }
    for (int i = 0; i < 3; i++) {
        (void)await_waiting(root);
        struct choke_request request = request_of(argv, root);
        struct choke_job *job = NULL;
        struct choke_error error = {0};
        CHECK_SAYING(choke_start(context, &request, &job, &error) == 0, error.message);
        choke_cancel(job);
        CHECK(choke_wait(context, 20000, &error) == 1 && choke_next(context) == job);
        CHECK(choke_job_result(job)->outcome == CHOKE_CANCELLED);
        choke_job_free(job);
    }
    expect(root, "sh", "echo after", "after\n");
}

/* A step that fails is named as it is without a process that waited. */
static void fail_alike(const char *root)
{
    const char *const argv[] = {"broken", NULL};
    char first[sizeof(((struct choke_error *)0)->message)];
    struct choke_context *usual = context;
    for (int i = 0; i < 3; i++) {
        context = i == 0 ? host_context(getenv("HOST_POLICY")) : usual;
        if (i > 0)
            (void)await_waiting(root);
        struct choke_request request = request_of(argv, root);
        struct choke_result *result = host_run(context, &request);
        CHECK(result->outcome == CHOKE_SPAWN_FAILED && result->error.message[0]);
        if (i == 0)
            (void)snprintf(first, sizeof(first), "%s", result->error.message);
        CHECK_SAYING(strcmp(first, result->error.message) == 0, result->error.message);
        choke_result_free(result);
        if (i == 0)
            choke_context_free(context);
    }
}

static void read_input(const char *root)
{
    const char *const argv[] = {"sh", "-c", "read x; echo $x", NULL};
    for (int i = 0; i < 4; i++) {
        (void)await_waiting(root);
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
    CHECK(await_waiting(root) > 0);
    double end = host_now() + 60;
    while (find_waiting() != 0 && host_now() < end)
        (void)usleep(20000);
    CHECK(find_waiting() == 0);
    expect(root, "sh", "echo late", "late\n");
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    CHECK(setenv("HOST_POLICY", argv[1], 1) == 0);
    context = host_context(argv[1]);
    CHECK(await_waiting(argv[2]) > 0);
    size_t before = host_descriptors();
    same_state(argv[2]);
    becomes_the_tool(argv[2]);
    survive_its_death(argv[2]);
    survive_its_stop(argv[2]);
    alternate_kinds(argv[2]);
    end_in_time(argv[2]);
    fail_alike(argv[2]);
    read_input(argv[2]);
    end_when_idle(argv[2]);
    CHECK(host_descriptors() < before + 40);
    CHECK(await_waiting(argv[2]) > 0);
    choke_context_free(context);
    CHECK(find_waiting() == 0);
    size_t zombies;
    CHECK(host_children(&zombies) == 0);
    return 0;
}
