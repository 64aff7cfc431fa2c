/*
 * attack_fixture.c - the files and listeners that "chokepoint doctor --attack" attacks; see
 * attack.h.
 *
 * Everything is in one new directory of mode 0700 and belongs to the calling user:
 *
 *   secret                        must not be read or changed
 *   policy.yaml                   lists the attacker, and bwrap for its jail
 *   root/victim                   must not be changed: the root is read-only
 *   root/new                      must not appear
 *   root/link, root/proc-link     symlinks to the secret
 *   root/script                   must not be executed or mapped as code
 *   root/interpreted              a script, whose interpreter must not be executed
 *   root/stream.socket, root/datagram.socket   listeners; two more are on loopback and abstract
 */
#include "cli/attack.h"

#include "base/fd.h"
#include "base/file.h"
#include "front/text.h"

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

#define SIGNAL SIGURG /* ignored by default: it harms no process that it reaches */
#define SECRET_TEXT "a secret\n"
#define SHM_DIRECTORY "/dev/shm/" /* where the attempt "a file in /dev/shm" writes */

#if defined(__x86_64__)
/* Fixed by the ABI: every dynamically linked program names it. */
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define LOADER "/lib/ld-linux-aarch64.so.1"
#else
#error "the path of the dynamic loader of this architecture is not known"
#endif

/*
 * Entries for the attacker: with the default workspace, with a writable one, with egress to a host
 * that does not exist, with loopback, and with workspace_code.
 */
static const char policy_format[] =
    "version: 1\n"
    "adr_dir: .\n"
    "search_path: [/usr/local/bin, /usr/bin, /bin]\n"
    "tools:\n"
    "  - {name: %s, why: w, adr: \"0046\", route: external, path: '%s'}\n"
    "  - {name: %s, why: w, adr: \"0046\", route: external, path: '%s', workspace: rw}\n"
    "  - {name: %s, why: w, adr: \"0046\", route: external, path: '%s',\n"
    "     egress: [attack.example.org]}\n"
    "  - {name: %s, why: w, adr: \"0046\", route: external, path: '%s', loopback: true}\n"
    "  - {name: %s, why: w, adr: \"0046\", route: external, path: '%s', workspace: ro,\n"
    "     workspace_code: true}\n"
    "  - {name: bwrap, why: w, adr: \"0046\", route: jail}\n";

/* ---- files ---- */

/* O_NOFOLLOW: an attempt may have replaced the file by a symlink. */
static int write_file(int directory_fd, const char *name, const char *text, mode_t mode)
{
    CK_FD fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
    return fd < 0 ? -errno : ck_fd_write_all(fd, text, strlen(text));
}

static int write_policy(const struct ck_attack_fixture *fixture, const char *program)
{
    /* A path for each entry, and the rest of the text. */
    char text[(CK_ATTACK_ENTRIES + 1) * PATH_MAX];
    /* A quote would end the YAML string. An installation path with a quote is not supported. */
    if (strchr(program, '\''))
        return -EINVAL;
    int length = snprintf(text, sizeof(text), policy_format, ck_attack_entries[CK_ATTACK_PLAIN], program,
                          ck_attack_entries[CK_ATTACK_WRITES], program, ck_attack_entries[CK_ATTACK_EGRESS], program,
                          ck_attack_entries[CK_ATTACK_LOOPBACK], program, ck_attack_entries[CK_ATTACK_CODE], program);
    if (length < 0 || (size_t)length >= sizeof(text))
        return -ENAMETOOLONG;
    return write_file(AT_FDCWD, fixture->policy, text, 0600);
}

/* The status of both files is stored: a change is found by comparing it later. */
static int write_files(struct ck_attack_fixture *fixture, int root_fd)
{
    char target[sizeof(fixture->secret) + 32];
    int r = write_file(AT_FDCWD, fixture->secret, SECRET_TEXT, 0600);
    if (r == 0)
        r = write_file(root_fd, "victim", SECRET_TEXT, 0644);
    if (r == 0)
        r = write_file(root_fd, "script", "#!/bin/sh\nexit 0\n", 0755);
    if (r == 0)
        r = write_file(root_fd, "interpreted", "#!/usr/bin/env --version\n", 0755);
    (void)snprintf(target, sizeof(target), "/proc/self/root%s", fixture->secret);
    if (r == 0 && (symlinkat(fixture->secret, root_fd, "link") < 0 || symlinkat(target, root_fd, "proc-link") < 0 ||
                   stat(fixture->secret, &fixture->secret_before) < 0 ||
                   fstatat(root_fd, "victim", &fixture->victim_before, 0) < 0))
        r = -errno;
    (void)snprintf(fixture->inode, sizeof(fixture->inode), "%llu", (unsigned long long)fixture->secret_before.st_ino);
    return r;
}

/* ---- listeners ---- */

/* Returns a descriptor, or -1. With -1 the attempt finds no listener and so counts as refused. */
static int listen_at(int type, const void *address, socklen_t length)
{
    const struct sockaddr *at = address;
    int fd = socket(at->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* A datagram socket does not listen. */
    if (fd >= 0 && bind(fd, at, length) == 0 && (type == SOCK_DGRAM || listen(fd, 8) == 0))
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* Through the directory's descriptor, because the path of a socket has at most 108 bytes. */
static int listen_in(int type, int root_fd, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", root_fd, name);
    return listen_at(type, &address, sizeof(address));
}

/*
 * Port 0 lets the kernel choose a free port. An abstract address begins with a NUL and has no
 * terminator, so its length is exact.
 */
static void make_listeners(struct ck_attack_fixture *fixture, int root_fd)
{
    struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un abstract = {.sun_family = AF_UNIX};
    socklen_t length = sizeof(inet);

    fixture->inet_fd = listen_at(SOCK_STREAM, &inet, sizeof(inet));
    if (fixture->inet_fd >= 0)
        (void)getsockname(fixture->inet_fd, (struct sockaddr *)&inet, &length);
    (void)snprintf(fixture->port, sizeof(fixture->port), "%u", (unsigned)ntohs(inet.sin_port));
    fixture->path_fd = listen_in(SOCK_STREAM, root_fd, "stream.socket");
    fixture->datagram_fd = listen_in(SOCK_DGRAM, root_fd, "datagram.socket");
    (void)snprintf(fixture->abstract, sizeof(fixture->abstract), "%s", fixture->marker);
    (void)memcpy(abstract.sun_path + 1, fixture->abstract, strlen(fixture->abstract));
    length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(fixture->abstract));
    fixture->abstract_fd = listen_at(SOCK_STREAM, &abstract, length);
}

/* Takes the connection from the queue, so that the next attempt is seen too. */
static bool was_contacted(int fd)
{
    char token[16];
    if (fd < 0)
        return false;
    /* Fails for a datagram socket; then recv finds its message. The listeners do not block. */
    int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    if (peer >= 0)
        (void)close(peer);
    return peer >= 0 || recv(fd, token, sizeof(token), MSG_DONTWAIT) > 0;
}

/* ---- the whole ---- */

/*
 * The marker is unique, so that no other process and no other run is mistaken for this one. number
 * is the key of a System V segment and never small.
 */
static int make_names(struct ck_attack_fixture *fixture)
{
    uint32_t random;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -EIO;
    (void)snprintf(fixture->marker, sizeof(fixture->marker), "chokepoint-attack-%ld-%08x", (long)getpid(), random);
    (void)snprintf(fixture->number, sizeof(fixture->number), "%u", (random & 0x3fffffff) | 0x10000);
    (void)snprintf(fixture->pid, sizeof(fixture->pid), "%ld", (long)getpid());
    (void)snprintf(fixture->root, sizeof(fixture->root), "%s/root", fixture->top);
    (void)snprintf(fixture->secret, sizeof(fixture->secret), "%s/secret", fixture->top);
    (void)snprintf(fixture->policy, sizeof(fixture->policy), "%s/policy.yaml", fixture->top);
    return 0;
}

/* signalfd needs the signal blocked; otherwise its default action (ignore) drops it. */
static int watch_signal(struct ck_attack_fixture *fixture)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGNAL);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    fixture->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fixture->signal_fd < 0 ? -errno : 0;
}

/* Listeners are made last and may fail one by one: see listen_at. */
static int fill(struct ck_attack_fixture *fixture, const char *program)
{
    if (mkdir(fixture->root, 0755) < 0)
        return -errno;
    int root_fd = open(fixture->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        return -errno;
    int r = write_files(fixture, root_fd);
    if (r == 0)
        r = write_policy(fixture, program);
    if (r == 0)
        r = watch_signal(fixture);
    make_listeners(fixture, root_fd);
    (void)close(root_fd);
    return r;
}

int ck_attack_fixture_make(struct ck_attack_fixture *fixture, const char *program, struct choke_error *error)
{
    *fixture =
        (struct ck_attack_fixture){.inet_fd = -1, .path_fd = -1, .datagram_fd = -1, .abstract_fd = -1, .signal_fd = -1};
    /* mkdtemp makes it with mode 0700. */
    char top[] = "/tmp/chokepoint-attack-XXXXXX";
    int r = mkdtemp(top) ? 0 : -errno;
    if (r == 0) {
        (void)snprintf(fixture->top, sizeof(fixture->top), "%s", top);
        r = make_names(fixture);
    }
    if (r == 0)
        r = fill(fixture, program);
    if (r < 0)
        return ck_text_error(error, CHOKE_SPAWN_FAILED, -r, "cannot prepare the attack in '%s': %s", CK_TEXT_SAFE(top),
                             strerror(-r));
    return 0;
}

/* Zero-filled descriptors cannot occur: ck_attack_fixture_make sets them to -1 first. */
static void close_all(struct ck_attack_fixture *fixture)
{
    const int fds[] = {fixture->inet_fd, fixture->path_fd, fixture->datagram_fd, fixture->abstract_fd,
                       fixture->signal_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
}

/* Removes what a successful attempt left outside of the directory. */
static void remove_traces(const struct ck_attack_fixture *fixture)
{
    char path[sizeof(SHM_DIRECTORY) + sizeof(fixture->marker)];
    (void)snprintf(path, sizeof(path), SHM_DIRECTORY "%s", fixture->marker);
    (void)unlink(path);
    /* Without IPC_CREAT: only a segment that exists. */
    int segment = shmget((key_t)strtol(fixture->number, NULL, 10), 0, 0);
    if (segment >= 0)
        (void)shmctl(segment, IPC_RMID, NULL);
}

/* It has no directories. The names "." and ".." fail, which is ignored. */
static void remove_root(const char *root)
{
    DIR *directory = opendir(root);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        (void)unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        (void)closedir(directory);
    (void)rmdir(root);
}

void ck_attack_fixture_done(struct ck_attack_fixture *fixture)
{
    /* It was not made, or is already removed. */
    if (fixture->top[0] == '\0')
        return;
    close_all(fixture);
    remove_traces(fixture);
    remove_root(fixture->root);
    (void)unlink(fixture->secret);
    (void)unlink(fixture->policy);
    (void)rmdir(fixture->top);
    fixture->top[0] = '\0';
}

const char *ck_attack_fixture_expand(const struct ck_attack_fixture *fixture, const char *token)
{
    const struct {
        const char *name, *value;
    } known[] = {{"{secret}", fixture->secret},     {"{inode}", fixture->inode}, {"{port}", fixture->port},
                 {"{abstract}", fixture->abstract}, {"{pid}", fixture->pid},     {"{marker}", fixture->marker},
                 {"{number}", fixture->number},     {"{loader}", LOADER}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, token) == 0)
            return known[i].value;
    return token;
}

/* ---- was anything reached? ---- */

/* st_ctim changes with every change of data or metadata, and cannot be set back. */
static bool is_unchanged(const struct stat *before, const char *path)
{
    struct stat now;
    return lstat(path, &now) == 0 && now.st_ino == before->st_ino && now.st_mode == before->st_mode &&
           now.st_nlink == before->st_nlink && now.st_size == before->st_size &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec && now.st_mtim.tv_nsec == before->st_mtim.tv_nsec &&
           now.st_ctim.tv_sec == before->st_ctim.tv_sec && now.st_ctim.tv_nsec == before->st_ctim.tv_nsec;
}

/* A new file with the same content, so that the next attempt starts from a known state. */
static void restore(struct stat *before, const char *path, mode_t mode)
{
    (void)unlink(path);
    (void)write_file(AT_FDCWD, path, SECRET_TEXT, mode);
    (void)lstat(path, before);
}

/* Is the marker among the arguments of this process? */
static bool is_marked(const struct ck_attack_fixture *fixture, const char *pid)
{
    char path[64], text[4096];
    (void)snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
    long length = ck_file_read_into(AT_FDCWD, path, 0, text, sizeof(text));
    return length > 0 && memmem(text, (size_t)length, fixture->marker, strlen(fixture->marker));
}

/* A process that an attempt left running still has the marker in its arguments. */
static bool left_running(const struct ck_attack_fixture *fixture)
{
    DIR *directory = opendir("/proc");
    bool found = false;
    for (const struct dirent *entry; !found && directory && (entry = readdir(directory));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            found = is_marked(fixture, entry->d_name);
    if (directory)
        (void)closedir(directory);
    return found;
}

/* Every file is checked each time, because each check also restores its file. */
static const char *changed_file(struct ck_attack_fixture *fixture)
{
    char path[sizeof(fixture->root) + 16];
    const char *what = NULL;
    if (!is_unchanged(&fixture->secret_before, fixture->secret)) {
        what = "the file beside the root was changed";
        restore(&fixture->secret_before, fixture->secret, 0600);
    }
    (void)snprintf(path, sizeof(path), "%s/victim", fixture->root);
    if (!is_unchanged(&fixture->victim_before, path)) {
        what = "a file of the read-only root was changed";
        restore(&fixture->victim_before, path, 0644);
    }
    (void)snprintf(path, sizeof(path), "%s/new", fixture->root);
    if (unlink(path) == 0)
        what = "a file was made in the read-only root";
    return what;
}

/* Every check runs each time, because each also resets its part. The last finding is returned. */
const char *ck_attack_fixture_reached(struct ck_attack_fixture *fixture)
{
    struct signalfd_siginfo info;
    const char *what = changed_file(fixture);
    if (was_contacted(fixture->inet_fd))
        what = "a listener on loopback was reached";
    if (was_contacted(fixture->path_fd) || was_contacted(fixture->datagram_fd))
        what = "a listener in the repository was reached";
    if (was_contacted(fixture->abstract_fd))
        what = "a listener on an abstract socket was reached";
    if (read(fixture->signal_fd, &info, sizeof(info)) > 0)
        what = "a signal reached a process of the host";
    if (left_running(fixture))
        what = "a process was left running";
    return what;
}
