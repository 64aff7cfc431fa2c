/*
 * cage.c - see cage.h.
 *
 * The kernel decides what is executed in a cage: Landlock, noexec mounts, and the doors that are
 * mounted at the paths of tools. Here it is only counted. The count is exact where it matters: a door
 * that has begun connects with its first system call, and only the program of a door gets a
 * connection. So no execution of a door is without a connection, and no other program has one.
 *
 *  Must     answer every notification, as listener.c says.
 *  Must not give a connection to a process whose program is not the file of the doors: a carrier must
 *           not speak for a tool whose arguments the kernel has not seen.
 *  Must not wait for the process that asks.
 */
#include "run/keeper/cage.h"

#include "base/door_wire.h"
#include "run/keeper/init.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "run/wire.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ANY_EXECUTE 0111u
#define PROC_TEXT 40
#define MAGIC_BYTES 4
#define STAT_TEXT 256  /* of /proc/PID/stat: more than the number, the name, the state and the parent */
#define PARENTS_MAX 16 /* that are looked at */

/* ---- what an execution leads to ---- */

enum ck_cage_fate ck_cage_fate_of_error(long error)
{
    return error == -ENOENT || error == -ENOTDIR ? CK_CAGE_NOT_FOUND : CK_CAGE_FAILED;
}

/* The kernel knows ELF files and scripts. A file that cannot be read may be one: its mode says so. */
static bool has_known_format(const struct ck_exec_names *names, int fd)
{
    char link[PROC_TEXT];
    unsigned char magic[MAGIC_BYTES] = {0};
    (void)ck_nolibc_append_number(ck_nolibc_append_text(link, "/proc/self/fd/"), fd);
    long file = ck_exec_names_open(names, link, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return true;
    long got = CK_RAW4(pread64, file, magic, sizeof(magic), 0);
    ck_nolibc_close((int)file);
    return got == (long)sizeof(magic) && ((magic[0] == '#' && magic[1] == '!') ||
                                          (magic[0] == 0x7f && magic[1] == 'E' && magic[2] == 'L' && magic[3] == 'F'));
}

enum ck_cage_fate ck_cage_fate_of_file(const struct ck_exec_names *names, int fd)
{
    struct stat file = {0};
    if (CK_RAW2(fstat, fd, &file) < 0 || !S_ISREG(file.st_mode) || (file.st_mode & ANY_EXECUTE) == 0 ||
        !has_known_format(names, fd))
        return CK_CAGE_FAILED;
    bool listed = ck_exec_names_is_listed(names->jail, &file);
    return listed || names->jail->program->workspace_code == 0 ? CK_CAGE_CARRIER : CK_CAGE_WORKSPACE;
}

bool ck_cage_is_door(const struct ck_native_jail *jail, const struct ck_exec_names_file *file)
{
    return ck_native_is_cage(jail->program) && jail->door.device == file->device && jail->door.inode == file->inode;
}

void ck_cage_count(const struct ck_native_jail *jail, enum ck_cage_fate fate)
{
    struct ck_wire_counts *counts = &jail->init_status->counts;
    counts->attempts++;
    switch (fate) {
    case CK_CAGE_CARRIER:
        counts->carrier++;
        return;
    case CK_CAGE_WORKSPACE:
        counts->workspace++;
        return;
    case CK_CAGE_REFUSED:
        counts->refused++;
        return;
    case CK_CAGE_NOT_FOUND:
        counts->not_found++;
        return;
    case CK_CAGE_DOOR:
    case CK_CAGE_FAILED:
        counts->failed++;
        return;
    }
}

/* A door has its connection. */
static void count_door(const struct ck_native_jail *jail)
{
    struct ck_wire_counts *counts = &jail->init_status->counts;
    counts->connections++;
    if (counts->failed == 0) {
        counts->unexpected++;
        return;
    }
    counts->failed--;
    counts->door++;
}

/* ---- who tried it ---- */

/* 0: it has none that is in sight. The name of the process ends at the last ')', and may have any byte. */
static uint32_t parent_of(const struct ck_exec_names *names, uint32_t pid)
{
    char path[PROC_TEXT], text[STAT_TEXT];
    (void)ck_nolibc_append_text(ck_nolibc_append_number(ck_nolibc_append_text(path, "/proc/"), (long)pid), "/stat");
    long fd = ck_exec_names_open(names, path, O_RDONLY);
    long got = fd < 0 ? fd : CK_RAW4(pread64, fd, text, sizeof(text), 0);
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    long name_end = got - 1;
    while (name_end > 0 && text[name_end] != ')')
        name_end--;
    const char *at = text + name_end + 4; /* ") S 123" */
    long parent = name_end > 0 && name_end + 4 < got ? ck_nolibc_parse_number(&at, text + got) : 0;
    return parent > 0 ? (uint32_t)parent : 0;
}

static bool same_text(const char *one, const char *other)
{
    while (*one != '\0' && *one == *other) {
        one++;
        other++;
    }
    return *one == *other;
}

void ck_cage_append_parents(struct ck_exec_names *names, uint32_t pid)
{
    char link[PROC_TEXT], program[CK_EXEC_NAMES_TEXT];
    char *last = names->by, *end = names->by + ck_nolibc_length(names->by);
    for (int i = 0; i < PARENTS_MAX && (pid = parent_of(names, pid)) > 1; i++) {
        (void)ck_nolibc_append_text(ck_nolibc_append_number(ck_nolibc_append_text(link, "/proc/"), (long)pid), "/exe");
        long length = CK_RAW4(readlinkat, AT_FDCWD, link, program, sizeof(program) - 1);
        program[length < 0 ? 0 : length] = '\0';
        if (program[0] != '/' || same_text(program, last))
            continue;
        if ((size_t)(end - names->by) + 1 + (size_t)length >= sizeof(names->by))
            return;
        *end = '/';
        last = end + 1;
        end = ck_nolibc_append_text(last, program);
    }
}

/* ---- connections ---- */

/* The program of the process, which only an execution changes: it has no capability to do it otherwise. */
static bool is_run_by_door(const struct ck_exec_names *names, uint32_t pid)
{
    char path[PROC_TEXT];
    struct stat file = {0};
    (void)ck_nolibc_append_text(ck_nolibc_append_number(ck_nolibc_append_text(path, "/proc/"), (long)pid), "/exe");
    long fd = ck_exec_names_open(names, path, O_PATH);
    if (fd < 0)
        return false;
    long r = CK_RAW2(fstat, fd, &file);
    ck_nolibc_close((int)fd);
    return r == 0 && file.st_dev == names->jail->door.device && file.st_ino == names->jail->door.inode;
}

/* No notification has this number, so a kernel that knows the flag says so, and an older one EINVAL. */
long ck_cage_check(int listener_fd)
{
    struct seccomp_notif_addfd added = {.flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = (uint32_t)listener_fd};
    long r = CK_RAW3(ioctl, listener_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &added);
    return r == -ENOENT ? 0 : -EOPNOTSUPP;
}

/* Installs the descriptor in the process and answers it with its number. */
static long install(int listener_fd, const struct seccomp_notif *asked, int fd)
{
    struct seccomp_notif_addfd added = {
        .id = asked->id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = (uint32_t)fd, .newfd_flags = O_CLOEXEC};
    return CK_RAW3(ioctl, listener_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &added);
}

/*
 * To the guard first: a door that has its end, and no guard at the other, would take it for the end of
 * the guard. A connection whose door could not get its end is closed when the guard looks at it, so the
 * door must not ask once more.
 */
static int32_t connect_door(const struct ck_exec_names *names, int listener_fd, int caller_fd,
                            const struct seccomp_notif *asked)
{
    const struct ck_wire_door message = {.kind = CK_WIRE_DOOR, .again = asked->data.args[1] != 0 ? 1 : 0};
    int pair[2] = {-1, -1};
    if (CK_RAW4(socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -EAGAIN;
    int32_t answer = -EAGAIN;
    if (ck_nolibc_send(caller_fd, &message, sizeof(message), pair[0]) >= 0) {
        if (message.again == 0)
            count_door(names->jail);
        answer = install(listener_fd, asked, pair[1]) < 0 ? -EMFILE : CK_CAGE_ANSWERED;
    }
    ck_nolibc_close(pair[0]);
    ck_nolibc_close(pair[1]);
    return answer;
}

int32_t ck_cage_connect(const struct ck_exec_names *names, int listener_fd, int caller_fd,
                        const struct seccomp_notif *asked)
{
    if (asked->data.args[0] != CK_DOOR_MAGIC || !is_run_by_door(names, asked->pid))
        return -EPERM;
    return connect_door(names, listener_fd, caller_fd, asked);
}
