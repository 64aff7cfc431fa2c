/*
 * attack_world.c - what the attempts of "chokepoint doctor --attack" are made on, see attack.h.
 *
 * Everything lies in one new directory of mode 0700 and is the calling user's own:
 *
 *   secret                        must not be read or changed
 *   policy.yaml                   lists the attacker, and bwrap for its jail
 *   root/victim                   must not be changed: the root is read-only
 *   root/new                      must not come into being
 *   root/link, root/proc-link     symlinks to the secret
 *   root/script                   must not be executed or mapped as code
 *   root/stream.socket, root/datagram.socket   listeners, and two more on loopback and in the abstract name space
 */
#include "cli/attack.h"

#include "cli/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SIGNAL SIGURG /* ignored by default: nobody is harmed where it arrives */
#define SECRET_TEXT "a secret\n"
#define SHM_DIRECTORY "/dev/shm/"

#if defined(__x86_64__)
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define LOADER "/lib/ld-linux-aarch64.so.1"
#else
#error "the path of the dynamic loader of this architecture is not known"
#endif

/* The attacker's entries: in the default workspace, in one that it may write, and with egress to a host that is not there. */
static const char policy_format[] =
    "version: 1\n"
    "adr_dir: .\n"
    "search_path: [/usr/local/bin, /usr/bin, /bin]\n"
    "tools:\n"
    "  - {name: %s, why: w, adr: \"0046\", route: external, path: '%s'}\n"
    "  - {name: %s, why: w, adr: \"0046\", route: external, path: '%s', workspace: rw}\n"
    "  - {name: %s, why: w, adr: \"0046\", route: external, path: '%s',\n"
    "     egress: [attack.example.org]}\n"
    "  - {name: bwrap, why: w, adr: \"0046\", route: jail}\n";

/* ---- files ---- */

static int write_file(int directory_fd, const char *name, const char *text, mode_t mode)
{
    int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
    size_t length = strlen(text);
    if (fd < 0)
        return -errno;
    int result = write(fd, text, length) == (ssize_t)length ? 0 : errno != 0 ? -errno : -EIO;
    (void)close(fd);
    return result;
}

static int write_policy(const struct ck_attack_world *world, const char *program)
{
    char text[4 * PATH_MAX];
    /* A quote would end the YAML string; nobody installs there. */
    if (strchr(program, '\''))
        return -EINVAL;
    int length = snprintf(text, sizeof(text), policy_format, ck_attack_entries[CK_ATTACK_PLAIN], program,
                          ck_attack_entries[CK_ATTACK_WRITES], program, ck_attack_entries[CK_ATTACK_EGRESS], program);
    if (length < 0 || (size_t)length >= sizeof(text))
        return -ENAMETOOLONG;
    return write_file(AT_FDCWD, world->policy, text, 0600);
}

static int write_files(struct ck_attack_world *world, int root_fd)
{
    char target[sizeof(world->secret) + 32];
    int result = write_file(AT_FDCWD, world->secret, SECRET_TEXT, 0600);
    if (result == 0)
        result = write_file(root_fd, "victim", SECRET_TEXT, 0644);
    if (result == 0)
        result = write_file(root_fd, "script", "#!/bin/sh\nexit 0\n", 0755);
    (void)snprintf(target, sizeof(target), "/proc/self/root%s", world->secret);
    if (result == 0 &&
        (symlinkat(world->secret, root_fd, "link") < 0 || symlinkat(target, root_fd, "proc-link") < 0 ||
         stat(world->secret, &world->secret_before) < 0 || fstatat(root_fd, "victim", &world->victim_before, 0) < 0))
        result = -errno;
    (void)snprintf(world->inode, sizeof(world->inode), "%llu", (unsigned long long)world->secret_before.st_ino);
    return result;
}

/* ---- listeners ---- */

/* Returns a descriptor, or -1: then the attempt on it finds nobody, and is refused by that. */
static int listen_at(int type, const void *address, socklen_t length)
{
    const struct sockaddr *at = address;
    int fd = socket(at->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, at, length) == 0 && (type == SOCK_DGRAM || listen(fd, 8) == 0))
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* By the directory's descriptor: the path of a socket has 108 bytes at the most. */
static int listen_in(int type, int root_fd, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", root_fd, name);
    return listen_at(type, &address, sizeof(address));
}

static void make_listeners(struct ck_attack_world *world, int root_fd)
{
    struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un abstract = {.sun_family = AF_UNIX};
    socklen_t length = sizeof(inet);

    world->inet_fd = listen_at(SOCK_STREAM, &inet, sizeof(inet));
    if (world->inet_fd >= 0)
        (void)getsockname(world->inet_fd, (struct sockaddr *)&inet, &length);
    (void)snprintf(world->port, sizeof(world->port), "%u", (unsigned)ntohs(inet.sin_port));
    world->path_fd = listen_in(SOCK_STREAM, root_fd, "stream.socket");
    world->datagram_fd = listen_in(SOCK_DGRAM, root_fd, "datagram.socket");
    (void)snprintf(world->abstract, sizeof(world->abstract), "%s", world->marker);
    (void)memcpy(abstract.sun_path + 1, world->abstract, strlen(world->abstract));
    length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(world->abstract));
    world->abstract_fd = listen_at(SOCK_STREAM, &abstract, length);
}

/* Taken from the queue, so that the next attempt is seen too. */
static bool was_called(int fd)
{
    char word[16];
    if (fd < 0)
        return false;
    int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    if (peer >= 0)
        (void)close(peer);
    return peer >= 0 || recv(fd, word, sizeof(word), MSG_DONTWAIT) > 0;
}

/* ---- the whole ---- */

static int name_things(struct ck_attack_world *world)
{
    uint32_t random;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -EIO;
    (void)snprintf(world->marker, sizeof(world->marker), "chokepoint-attack-%ld-%08x", (long)getpid(), random);
    (void)snprintf(world->number, sizeof(world->number), "%u", (random & 0x3fffffff) | 0x10000);
    (void)snprintf(world->pid, sizeof(world->pid), "%ld", (long)getpid());
    (void)snprintf(world->root, sizeof(world->root), "%s/root", world->top);
    (void)snprintf(world->secret, sizeof(world->secret), "%s/secret", world->top);
    (void)snprintf(world->policy, sizeof(world->policy), "%s/policy.yaml", world->top);
    return 0;
}

static int watch_signal(struct ck_attack_world *world)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGNAL);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    world->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return world->signal_fd < 0 ? -errno : 0;
}

static int fill(struct ck_attack_world *world, const char *program)
{
    if (mkdir(world->root, 0755) < 0)
        return -errno;
    int root_fd = open(world->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        return -errno;
    int result = write_files(world, root_fd);
    if (result == 0)
        result = write_policy(world, program);
    if (result == 0)
        result = watch_signal(world);
    make_listeners(world, root_fd);
    (void)close(root_fd);
    return result;
}

int ck_attack_world_make(struct ck_attack_world *world, const char *program, struct choke_error *error)
{
    *world =
        (struct ck_attack_world){.inet_fd = -1, .path_fd = -1, .datagram_fd = -1, .abstract_fd = -1, .signal_fd = -1};
    char top[] = "/tmp/chokepoint-attack-XXXXXX";
    int result = mkdtemp(top) ? 0 : -errno;
    if (result == 0) {
        (void)snprintf(world->top, sizeof(world->top), "%s", top);
        result = name_things(world);
    }
    if (result == 0)
        result = fill(world, program);
    if (result < 0)
        return ck_text_error(error, CHOKE_SPAWN_FAILED, -result, "cannot prepare the attack in '%s': %s",
                             CK_TEXT_SAFE(top), strerror(-result));
    return 0;
}

static void close_all(struct ck_attack_world *world)
{
    const int fds[] = {world->inet_fd, world->path_fd, world->datagram_fd, world->abstract_fd, world->signal_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
}

/* What an attempt that succeeded left outside of the directory. */
static void remove_traces(const struct ck_attack_world *world)
{
    char path[sizeof(SHM_DIRECTORY) + sizeof(world->marker)];
    (void)snprintf(path, sizeof(path), SHM_DIRECTORY "%s", world->marker);
    (void)unlink(path);
    int segment = shmget((key_t)strtol(world->number, NULL, 10), 0, 0);
    if (segment >= 0)
        (void)shmctl(segment, IPC_RMID, NULL);
}

static void remove_root(const char *root)
{
    DIR *directory = opendir(root);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        (void)unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        (void)closedir(directory);
    (void)rmdir(root);
}

void ck_attack_world_done(struct ck_attack_world *world)
{
    if (world->top[0] == '\0')
        return;
    close_all(world);
    remove_traces(world);
    remove_root(world->root);
    (void)unlink(world->secret);
    (void)unlink(world->policy);
    (void)rmdir(world->top);
    world->top[0] = '\0';
}

const char *ck_attack_world_word(const struct ck_attack_world *world, const char *word)
{
    const struct {
        const char *name, *value;
    } words[] = {{"{secret}", world->secret},     {"{inode}", world->inode}, {"{port}", world->port},
                 {"{abstract}", world->abstract}, {"{pid}", world->pid},     {"{marker}", world->marker},
                 {"{number}", world->number},     {"{loader}", LOADER}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].name, word) == 0)
            return words[i].value;
    return word;
}

/* ---- was anything reached? ---- */

static bool same(const struct stat *before, const char *path)
{
    struct stat now;
    return lstat(path, &now) == 0 && now.st_ino == before->st_ino && now.st_mode == before->st_mode &&
           now.st_nlink == before->st_nlink && now.st_size == before->st_size &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec && now.st_mtim.tv_nsec == before->st_mtim.tv_nsec &&
           now.st_ctim.tv_sec == before->st_ctim.tv_sec && now.st_ctim.tv_nsec == before->st_ctim.tv_nsec;
}

static void restore(struct stat *before, const char *path, mode_t mode)
{
    (void)unlink(path);
    (void)write_file(AT_FDCWD, path, SECRET_TEXT, mode);
    (void)lstat(path, before);
}

/* Does a process with this pid have the marker among its arguments? */
static bool is_marked(const struct ck_attack_world *world, const char *pid)
{
    char path[64], text[4096];
    (void)snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text));
    if (fd >= 0)
        (void)close(fd);
    return length > 0 && memmem(text, (size_t)length, world->marker, strlen(world->marker));
}

static bool left_running(const struct ck_attack_world *world)
{
    DIR *directory = opendir("/proc");
    bool found = false;
    for (const struct dirent *entry; !found && directory && (entry = readdir(directory));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            found = is_marked(world, entry->d_name);
    if (directory)
        (void)closedir(directory);
    return found;
}

static const char *changed_file(struct ck_attack_world *world)
{
    char path[sizeof(world->root) + 16];
    const char *what = NULL;
    if (!same(&world->secret_before, world->secret)) {
        what = "the file beside the root was changed";
        restore(&world->secret_before, world->secret, 0600);
    }
    (void)snprintf(path, sizeof(path), "%s/victim", world->root);
    if (!same(&world->victim_before, path)) {
        what = "a file of the read-only root was changed";
        restore(&world->victim_before, path, 0644);
    }
    (void)snprintf(path, sizeof(path), "%s/new", world->root);
    if (unlink(path) == 0)
        what = "a file was made in the read-only root";
    return what;
}

const char *ck_attack_world_reached(struct ck_attack_world *world)
{
    struct signalfd_siginfo info;
    const char *what = changed_file(world);
    if (was_called(world->inet_fd))
        what = "a listener on loopback was reached";
    if (was_called(world->path_fd) || was_called(world->datagram_fd))
        what = "a listener in the repository was reached";
    if (was_called(world->abstract_fd))
        what = "a listener on an abstract socket was reached";
    if (read(world->signal_fd, &info, sizeof(info)) > 0)
        what = "a signal reached a process of the host";
    if (left_running(world))
        what = "a process was left running";
    return what;
}
