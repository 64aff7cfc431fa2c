/*
 * jailed.c - the cost of a jail: the same tool bare, in each jail of the library, and in jails that
 * are called directly.
 *
 * "plain_bwrap" is bwrap with the command line of the library, up to the tool, which is then
 * executed without the library's init, Landlock and seccomp: less than the library's jail does, and
 * as little as bwrap can do for this root. "firejail" has no profile and about the same layers.
 * "command" is `chokepoint run`, one process for each run.
 * Neither has a pipe, a deadline or a check.
 */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAIN_ARGS_MAX 1024
#define SCRATCH "/tmp/probe" /* in a jail */

/* The repeated action: a request through the library, or a command line without it. */
struct subject {
    struct choke_request request;
    struct choke_decision *decision; /* of a run through the library: NULL */
    const char *path;
    const char *args[PLAIN_ARGS_MAX + 1];
};

static void run_once(struct worker *worker, const struct subject *subject, struct tally *tally)
{
    struct choke_result *result = NULL;
    struct choke_error error = {0};
    if (subject->decision) {
        peer_reap(peer_command(subject->path, subject->args, subject->decision->env), tally);
        return;
    }
    if (choke_run(worker->context, &subject->request, &result, &error) < 0) {
        fail("choke_run", error.message);
    }
    add_result(tally, result);
    choke_result_free(result);
}

/* ---- the sides --------------------------------------------------------------------------------------------------- */

static void put(struct subject *subject, size_t *count, const char *word)
{
    if (*count == PLAIN_ARGS_MAX) {
        fail("a command line is too long", subject->path);
    }
    subject->args[(*count)++] = word;
    subject->args[*count] = NULL;
}

static const char *program(const char *variable)
{
    const char *path = getenv(variable);
    if (!path) {
        fail("not set", variable);
    }
    return path;
}

static void decide(struct worker *worker, struct subject *subject)
{
    struct choke_error error = {0};
    if (choke_explain(worker->context, &subject->request, &subject->decision, &error) < 0) {
        fail("choke_explain", error.message);
    }
    if (subject->decision->outcome != CHOKE_NONE) {
        fail(choke_outcome_name(subject->decision->outcome), subject->decision->error.message);
    }
}

static void prepare_bare(struct worker *worker, struct subject *subject)
{
    size_t count = 0;
    subject->request.jail = CHOKE_JAIL_NONE;
    decide(worker, subject);
    subject->path = subject->decision->tool_path;
    for (const char *const *word = subject->decision->argv; *word; word++) {
        put(subject, &count, *word);
    }
}

/* The library makes a scratch directory for each run; here one serves all. */
static const char *scratch_of(const struct worker *worker)
{
    static char path[4096];
    (void)snprintf(path, sizeof(path), "%s/scratch", worker->root);
    (void)mkdir(path, 0700);
    return path;
}

/* After "--" the library has its own program, its arguments, the tool, and the tool's arguments. */
static void prepare_plain_bwrap(struct worker *worker, struct subject *subject)
{
    size_t count = 0;
    subject->request.jail = CHOKE_JAIL_BWRAP;
    decide(worker, subject);
    subject->path = program("BENCH_BWRAP");
    const char *const *word = subject->decision->jail_argv;
    for (; *word && strcmp(*word, "--") != 0; word++) {
        bool scratch = word[1] && word[2] && strcmp(*word, "--bind") == 0 && strcmp(word[2], SCRATCH) == 0;
        put(subject, &count, *word);
        if (scratch) {
            put(subject, &count, scratch_of(worker));
            word++;
        }
    }
    for (int i = 0; i < 4; i++) {
        if (!word[i]) {
            fail("bwrap's command line", "it has no tool");
        }
    }
    put(subject, &count, "--");
    put(subject, &count, word[3]);
    for (word += 5; word[-1] && *word; word++) {
        put(subject, &count, *word);
    }
}

static void prepare_firejail(struct worker *worker, struct subject *subject)
{
    static const char *const options[] = {
        "firejail",  "--quiet",      "--noprofile",     "--net=none",    "--caps.drop=all",
        "--seccomp", "--nonewprivs", "--ipc-namespace", "--private-dev", "--read-only=/",
        "--"};
    size_t count = 0;
    subject->request.jail = CHOKE_JAIL_NONE;
    decide(worker, subject);
    subject->path = program("BENCH_FIREJAIL");
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        put(subject, &count, options[i]);
    }
    put(subject, &count, subject->decision->tool_path);
    for (const char *const *word = subject->decision->argv + 1; *word; word++) {
        put(subject, &count, *word);
    }
}

/* The command itself, as a script would call it: with a log, and with a policy of one entry. */
static void prepare_command(struct worker *worker, struct subject *subject)
{
    const char *const words[] = {"chokepoint", "run",        "--policy", program("BENCH_ONE_POLICY"),
                                 "--root",     worker->root, "--",       subject->request.argv[0]};
    size_t count = 0;
    subject->request.jail = CHOKE_JAIL_NONE;
    decide(worker, subject);
    subject->path = program("BENCH_COMMAND");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        put(subject, &count, words[i]);
    }
}

/*
 * Another sandbox: its words are in BENCH_PEER, separated by newlines, and the tool's path comes after
 * them. Its environment is the caller's.
 */
static void prepare_peer(struct worker *worker, struct subject *subject)
{
    static char words[4096];
    size_t count = 0;
    char *rest = NULL;
    subject->request.jail = CHOKE_JAIL_NONE;
    decide(worker, subject);
    (void)snprintf(words, sizeof(words), "%s", program("BENCH_PEER"));
    for (char *word = strtok_r(words, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest)) {
        put(subject, &count, word);
    }
    subject->path = subject->args[0];
    put(subject, &count, subject->decision->tool_path);
}

/* Egress that the tool does not use: the difference is the cost of having it. */
static void prepare_egress(struct worker *worker, struct subject *subject)
{
    static const char *const rules[] = {"host.example.org", NULL};
    (void)worker;
    subject->request.egress = rules;
}

static const struct {
    const char *name;
    enum choke_jail jail; /* of a run through the library */
    void (*prepare)(struct worker *worker, struct subject *subject);
} sides[] = {
    {"none", CHOKE_JAIL_NONE, NULL},
    {"native", CHOKE_JAIL_NATIVE, NULL},
    {"bwrap", CHOKE_JAIL_BWRAP, NULL},
    {"native_egress", CHOKE_JAIL_NATIVE, prepare_egress},
    {"posix_spawn", CHOKE_JAIL_NONE, prepare_bare},
    {"firejail", CHOKE_JAIL_NONE, prepare_firejail},
    {"plain_bwrap", CHOKE_JAIL_NONE, prepare_plain_bwrap},
    {"command", CHOKE_JAIL_NONE, prepare_command},
    {"peer", CHOKE_JAIL_NONE, prepare_peer},
};

static void prepare(struct worker *worker, const char *side, const char *const *argv, struct subject *subject)
{
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        if (strcmp(side, sides[i].name) != 0) {
            continue;
        }
        subject->request = request_for(worker, argv);
        subject->request.jail = sides[i].jail;
        if (sides[i].prepare) {
            sides[i].prepare(worker, subject);
        }
        return;
    }
    fail("no such side", side);
}

/* ---- the commands ------------------------------------------------------------------------------------------------ */

void command_jailed(struct worker *worker, const char *const *args)
{
    const char *const argv[] = {args[2], NULL};
    size_t runs = number(args[3]);
    static struct subject subject;
    struct tally tally = {0};
    subject = (struct subject){0};
    prepare(worker, args[1], argv, &subject);
    uint64_t start = now_ns();
    for (size_t i = 0; i < runs; i++) {
        run_once(worker, &subject, &tally);
    }
    tally.wall_ns = now_ns() - start;
    choke_decision_free(subject.decision);
    reply_tally(&tally);
}

/* A system call that does nothing marks in a trace where a run begins and ends. */
void command_traced(struct worker *worker, const char *const *args)
{
    const char *const argv[] = {args[2], NULL};
    static struct subject subject;
    struct tally tally = {0};
    subject = (struct subject){0};
    prepare(worker, args[1], argv, &subject);
    for (size_t i = 0; i < number(args[3]); i++) {
        (void)getppid();
        run_once(worker, &subject, &tally);
        (void)getppid();
        usleep(1000); /* for the work after the report */
    }
    choke_decision_free(subject.decision);
    reply_tally(&tally);
}

/* A new context: its first run makes the keeper, and proves, lays out and builds the jail. */
void command_first_jailed(struct worker *worker, const char *const *args)
{
    const char *const argv[] = {args[2], NULL};
    struct worker fresh = *worker;
    static struct subject subject;
    struct tally tally = {0};
    fresh.context = context_new(worker);
    subject = (struct subject){0};
    prepare(&fresh, args[1], argv, &subject);
    uint64_t start = now_ns();
    run_once(&fresh, &subject, &tally);
    uint64_t first = now_ns();
    choke_context_free(fresh.context);
    printf("{\"first_ns\": %llu, \"free_ns\": %llu}\n", (unsigned long long)(first - start),
           (unsigned long long)(now_ns() - first));
}
