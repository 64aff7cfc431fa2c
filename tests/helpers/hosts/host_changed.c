/*
 * host_changed.c - tools have the current credentials of their caller: host_changed POLICY ROOT
 * JAIL CHANGE [ARG]
 *
 * Runs a tool, changes a property of this process (user, groups, capabilities, root, limits...),
 * and runs tools again: they must have the new property. A job that was started before the change
 * ends normally. Must be started by root.
 *
 * ROOT has `open`, which all may read, `secret`, which only root may read, and the empty directory
 * `sub`.
 */
#include "host.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define NOBODY 65534

static struct choke_context *context;
static const char *root, *argument;
static enum choke_jail jail;

/* ---- runs ---- */

static struct choke_result *run(const char *tool, const char *word)
{
    struct choke_request request = host_request((const char *const[]){tool, word, NULL}, root);
    request.jail = jail;
    return host_run(context, &request);
}

static bool prints(const char *tool, const char *word, const char *text)
{
    struct choke_result *result = run(tool, word);
    char *out = strndup(result->out.data, result->out.length);
    CHECK(!!out);
    bool found = result->outcome == CHOKE_EXITED && strstr(out, text);
    if (!found) {
        (void)fprintf(stderr, "%s %s: %s %s\n%s\n", tool, word, choke_outcome_name(result->outcome),
                      result->error.message, out);
    }
    free(out);
    choke_result_free(result);
    return found;
}

/* A line of /proc/self/status in the tool, compared with ours. */
static bool same_line(const char *name)
{
    char line[4096], own[4096] = "";
    FILE *stream = fopen("/proc/self/status", "re");
    while (stream && fgets(line, sizeof(line), stream)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            (void)snprintf(own, sizeof(own), "%s", line);
        }
    }
    CHECK(stream && own[0] != '\0');
    (void)fclose(stream);
    return prints("cat", "/proc/self/status", own);
}

/* A jail that this process can no longer build is refused. */
static bool is_refused(void)
{
    struct choke_result *result = run("cat", "open");
    bool refused = result->outcome == CHOKE_JAIL_UNAVAILABLE;
    choke_result_free(result);
    return refused;
}

static bool bare(void)
{
    return jail == CHOKE_JAIL_NONE;
}

/* ---- changes, and what a tool must show then ---- */

static void user_change(void)
{
    CHECK(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
}

static void euser_change(void)
{
    CHECK(seteuid(NOBODY) == 0);
}

static void secret_is_closed(void)
{
    CHECK(!prints("cat", "secret", "confidential"));
    /* bwrap does not start if the real and the effective user differ. */
    CHECK((jail == CHOKE_JAIL_BWRAP && getuid() != geteuid() && is_refused()) || prints("cat", "open", "public"));
}

static void user_shows(void)
{
    secret_is_closed();
    CHECK(prints("cat", "/proc/self/status", "Uid:\t65534\t65534"));
}

static void put_marker(const char *directory)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/marker", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && write(fd, "here", 4) == 4 && close(fd) == 0);
}

/* Before the context is made: a second root, the same except for what is at ROOT/sub. */
static void root_prepare(void)
{
    char path[4096];
    CHECK(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    CHECK(mount("/", argument, NULL, MS_BIND | MS_REC, NULL) == 0);
    (void)snprintf(path, sizeof(path), "%s%s/sub", argument, root);
    CHECK(mount("other", path, "tmpfs", 0, NULL) == 0);
    put_marker(path);
}

static void root_change(void)
{
    CHECK(chroot(argument) == 0 && chdir("/") == 0);
}

static void mounts_change(void)
{
    char path[4096];
    CHECK(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    (void)snprintf(path, sizeof(path), "%s/sub", root);
    CHECK(mount("other", path, "tmpfs", 0, NULL) == 0);
    put_marker(path);
}

/* The kernel refuses a user namespace to a process in a chroot (EPERM). */
static void root_shows(void)
{
    CHECK((jail == CHOKE_JAIL_BWRAP && is_refused()) || prints("cat", "sub/marker", "here"));
}

static void marker_shows(void)
{
    CHECK(prints("cat", "sub/marker", "here"));
}

static void net_change(void)
{
    CHECK(unshare(CLONE_NEWNET) == 0);
}

static void net_shows(void)
{
    char own[64] = "";
    CHECK(readlink("/proc/self/ns/net", own, sizeof(own) - 1) > 0);
    CHECK(!bare() || prints("readlink", "/proc/self/ns/net", own));
    CHECK(prints("cat", "open", "public"));
}

static void limit_change(void)
{
    const struct rlimit limit = {.rlim_cur = 77, .rlim_max = 77};
    CHECK(setrlimit(RLIMIT_MSGQUEUE, &limit) == 0);
}

static void limit_shows(void)
{
    CHECK(prints("cat", "/proc/self/limits", "Max msgqueue size         77 "));
}

static int new_nice; /* the tests may run with a lower priority themselves */

static void nice_change(void)
{
    int before = getpriority(PRIO_PROCESS, 0);
    new_nice = before + 7 < 19 ? before + 7 : 19;
    CHECK(before < new_nice);
    errno = 0;
    CHECK(nice(7) == new_nice && errno == 0);
}

static void nice_shows(void)
{
    char shown[32];
    (void)snprintf(shown, sizeof(shown), " %d %d ", 20 + new_nice, new_nice);
    CHECK(prints("cat", "/proc/self/stat", shown));
}

static void processor_change(void)
{
    cpu_set_t set, one;
    CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &set)) {
            CPU_SET(i, &one);
        }
    }
    CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
}

static void processor_shows(void)
{
    CHECK(same_line("Cpus_allowed:"));
}

static void bounding_change(void)
{
    CHECK(prctl(PR_CAPBSET_DROP, CAP_SYS_CHROOT, 0, 0, 0) == 0);
}

static void bounding_shows(void)
{
    CHECK(!bare() || same_line("CapBnd:"));
    CHECK(prints("cat", "open", "public"));
}

static void securebits_change(void)
{
    CHECK(prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0) == 0);
}

static void securebits_shows(void)
{
    if (bare()) {
        CHECK(prints("cat", "/proc/self/status", "CapEff:\t0000000000000000"));
    } else {
        CHECK(is_refused() || prints("cat", "open", "public")); /* root without capabilities cannot map its user */
    }
}

static void nnp_change(void)
{
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
}

static void open_shows(void)
{
    CHECK(prints("cat", "open", "public"));
}

static void seccomp_change(void)
{
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {.len = 1, .filter = code};
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
}

static void seccomp_shows(void)
{
    CHECK(!bare() || same_line("Seccomp:"));
    CHECK(prints("cat", "open", "public"));
}

/* Nothing beneath ROOT can be read any more. */
static void landlock_change(void)
{
    static const char *const places[] = {"/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/dev", "/sys"};
    const struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE};
    long ruleset = syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules.handled_access_fs), 0);
    CHECK(ruleset >= 0);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE};
        rule.parent_fd = open(places[i], O_PATH | O_CLOEXEC);
        CHECK(rule.parent_fd < 0 || syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0);
    }
    CHECK(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0);
}

static void landlock_shows(void)
{
    CHECK(!prints("cat", "open", "public"));
}

static void cgroup_change(void)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/cgroup.procs", argument);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && write(fd, "0", 1) == 1 && close(fd) == 0);
}

static void cgroup_shows(void)
{
    CHECK(!bare() || prints("cat", "/proc/self/cgroup", strrchr(argument, '/')));
    CHECK(prints("cat", "open", "public"));
}

static const struct {
    const char *name;
    void (*prepare)(void);
    void (*change)(void);
    void (*shows)(void);
} changes[] = {
    {"user", NULL, user_change, user_shows},
    {"euser", NULL, euser_change, secret_is_closed},
    {"root", root_prepare, root_change, root_shows},
    {"mounts", NULL, mounts_change, marker_shows},
    {"net", NULL, net_change, net_shows},
    {"limit", NULL, limit_change, limit_shows},
    {"nice", NULL, nice_change, nice_shows},
    {"processor", NULL, processor_change, processor_shows},
    {"bounding", NULL, bounding_change, bounding_shows},
    {"securebits", NULL, securebits_change, securebits_shows},
    {"nnp", NULL, nnp_change, open_shows},
    {"seccomp", NULL, seccomp_change, seccomp_shows},
    {"landlock", NULL, landlock_change, landlock_shows},
    {"cgroup", NULL, cgroup_change, cgroup_shows},
};

/* /proc of a process that changed its user is not readable, and the search for leaks needs it. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

int main(int argc, char **argv)
{
    CHECK(argc >= 5 && geteuid() == 0);
    size_t at = 0;
    while (at < sizeof(changes) / sizeof(changes[0]) && strcmp(changes[at].name, argv[4]) != 0) {
        at++;
    }
    CHECK_SAYING(at < sizeof(changes) / sizeof(changes[0]), argv[4]);
    root = argv[2];
    argument = argc > 5 ? argv[5] : "";
    jail = host_jail(argv[3]);
    if (changes[at].prepare) {
        changes[at].prepare();
    }
    context = host_context(argv[1]);
    CHECK(prints("cat", "secret", "confidential") && prints("cat", "open", "public"));
    struct choke_request request = host_request((const char *const[]){"sleep", "0.5", NULL}, root);
    request.jail = jail;
    struct choke_job *job = host_start(context, &request);
    changes[at].change();
    changes[at].shows();
    CHECK(host_drain(context, 20));
    const struct choke_result *result = choke_job_result(job);
    CHECK(!!result);
    CHECK_SAYING(result->outcome == CHOKE_EXITED && result->exit_code == 0, result->error.message);
    changes[at].shows();
    choke_context_free(context);
    size_t zombies;
    CHECK(host_children(&zombies) == 0);
    printf("ok\n");
    return 0;
}
