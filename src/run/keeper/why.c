/*
 * why.c - names the files that the jail of a run does not let a tool open, change or map as code,
 * and what it does not let it connect to (docs/adr/0058).
 *
 * The filter notifies us of such calls if the caller wants to know why a tool failed. We look for
 * the refusal ourselves, from inside the same jail and with the same rights, and let the call
 * continue.
 *
 *  Must not decide: the tool may change a path after we have read it. Only a name can be wrong.
 *  Must not make a system call that is notified, except with the key: nobody would answer.
 *  Must not wait for what the tool controls: files are opened with O_PATH.
 */
#include "run/keeper/why.h"

#include "run/keeper/learn.h"
#include "run/keeper/listener.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define READ_ONLY 1       /* ST_RDONLY of statfs */
#define NOEXEC 8          /* ST_NOEXEC */
#define EMPTY_PATH 0x1000 /* AT_EMPTY_PATH */
#define EFFECTIVE 0x200   /* AT_EACCESS */
#define HERE (-1)         /* a path of the current directory: the call has no descriptor */

/* What a call does with the path. */
enum file_use { USE_OPEN, USE_WRITE, USE_CREATE, USE_REMOVE };

/* Numbers of arguments. A call with two paths has two lines. */
static const struct file_call {
    int number;
    int directory; /* or HERE */
    int path;
    int flags; /* of open; else -1 */
    enum file_use use;
} file_calls[] = {
    {__NR_openat, 0, 1, 2, USE_OPEN},        {__NR_mkdirat, 0, 1, -1, USE_CREATE},
    {__NR_unlinkat, 0, 1, -1, USE_REMOVE},   {__NR_renameat2, 0, 1, -1, USE_REMOVE},
    {__NR_renameat2, 2, 3, -1, USE_CREATE},  {__NR_linkat, 2, 3, -1, USE_CREATE},
    {__NR_symlinkat, 1, 2, -1, USE_CREATE},  {__NR_mknodat, 0, 1, -1, USE_CREATE},
    {__NR_truncate, HERE, 0, -1, USE_WRITE},
#ifdef __NR_renameat
    {__NR_renameat, 0, 1, -1, USE_REMOVE},   {__NR_renameat, 2, 3, -1, USE_CREATE},
#endif
#ifdef __NR_open
    {__NR_open, HERE, 0, 1, USE_OPEN},       {__NR_creat, HERE, 0, -1, USE_WRITE},
    {__NR_mkdir, HERE, 0, -1, USE_CREATE},   {__NR_rmdir, HERE, 0, -1, USE_REMOVE},
    {__NR_unlink, HERE, 0, -1, USE_REMOVE},  {__NR_rename, HERE, 0, -1, USE_REMOVE},
    {__NR_rename, HERE, 1, -1, USE_CREATE},  {__NR_link, HERE, 1, -1, USE_CREATE},
    {__NR_symlink, HERE, 1, -1, USE_CREATE}, {__NR_mknod, HERE, 0, -1, USE_CREATE},
#endif
};
#ifdef __NR_creat
#define CREAT __NR_creat
#else
#define CREAT (-1)
#endif
#define FILE_CALLS (sizeof(file_calls) / sizeof(file_calls[0]))

bool ck_why_concerns(const struct seccomp_notif *asked)
{
    bool known = asked->data.nr == __NR_mmap;
    for (size_t i = 0; i < FILE_CALLS && !known; i++)
        known = asked->data.nr == file_calls[i].number;
    return known;
}

/* ---- what the kernel will say ---- */

/* 0, or a negative errno: of the mode, or -EROFS. */
static long may(int fd, int mode)
{
    return CK_RAW4(faccessat2, fd, "", mode, EMPTY_PATH | EFFECTIVE);
}

/* Cuts the last part of the path off. False: there is nothing left to cut. */
static bool cut(char *path)
{
    size_t length = ck_nolibc_length(path), last = 0;
    while (length > 1 && path[length - 1] == '/')
        length--;
    for (size_t i = 0; i < length; i++)
        if (path[i] == '/')
            last = i;
    if (length <= 1)
        return false;
    path[last == 0 ? 1 : last] = '\0';
    return true;
}

/*
 * A path that does not exist inside: may the jail hide it? Yes if the last directory of it that
 * does exist is in the root or the /tmp that the jail made, and not in a directory of the host.
 */
static bool may_be_hidden(struct ck_exec_names *names)
{
    struct stat root = {0}, tmp = {0}, found = {0};
    long fd = -ENOENT;
    if (names->given[0] != '/' || CK_RAW4(newfstatat, AT_FDCWD, "/", &root, 0) < 0 ||
        CK_RAW4(newfstatat, AT_FDCWD, CK_JAIL_TMP, &tmp, 0) < 0)
        return false;
    while (fd == -ENOENT && cut(names->opened))
        fd = ck_exec_names_open(names, names->opened, O_PATH);
    if (fd < 0)
        return false;
    bool own = CK_RAW2(fstat, fd, &found) == 0 && (found.st_dev == root.st_dev || found.st_dev == tmp.st_dev);
    ck_nolibc_close((int)fd);
    return own;
}

/* Of the directory that the path is in: it must be writable, or nothing in it is made or removed. */
static long may_change_directory(struct ck_exec_names *names)
{
    struct statfs mount = {0};
    if (!cut(names->opened))
        return 0;
    long fd = ck_exec_names_open(names, names->opened, O_PATH | O_DIRECTORY);
    if (fd < 0)
        return fd;
    /* The kernel looks at the mount before the mode here. */
    bool read_only = CK_RAW2(fstatfs, fd, &mount) == 0 && (mount.f_flags & READ_ONLY) != 0;
    long r = read_only ? -EROFS : may((int)fd, W_OK);
    ck_nolibc_close((int)fd);
    return r;
}

/* The file is there. */
static long may_use(struct ck_exec_names *names, int fd, enum file_use use)
{
    struct stat found = {0};
    if (CK_RAW2(fstat, fd, &found) < 0)
        return 0;
    names->file.device = found.st_dev;
    names->file.inode = found.st_ino;
    if (use == USE_REMOVE)
        return may_change_directory(names);
    if (use == USE_CREATE || (use == USE_WRITE && S_ISDIR(found.st_mode)))
        return 0; /* it exists, or it is a directory: that is no refusal by the jail */
    return may(fd, use == USE_WRITE ? W_OK : R_OK);
}

/* The file is not there. */
static long may_make(struct ck_exec_names *names, bool creates)
{
    long r = creates ? may_change_directory(names) : -ENOENT;
    if (r != -ENOENT)
        return r;
    return may_be_hidden(names) ? -ENOENT : 0;
}

/* ---- the calls ---- */

static bool is_refusal(long r)
{
    return r == -EACCES || r == -EPERM || r == -EROFS || r == -ENOENT;
}

static void note_file(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked)
{
    ck_exec_names_read_by(names, asked->pid);
    if (ck_listener_still_asks(listener_fd, asked))
        ck_exec_names_note(names, &names->file, names->shown, names->by);
}

/*
 * Where the file would be. Of a relative path, names->opened is the directory now: only a file that
 * was to be made is refused by a relative path.
 */
static void show_missing(struct ck_exec_names *names)
{
    const char *last = ck_exec_names_last_part(names->given);
    long fd = names->given[0] == '/' ? -ENOENT : ck_exec_names_open(names, names->opened, O_PATH);
    if (fd < 0) {
        (void)ck_nolibc_append_text(names->shown, names->given);
        return;
    }
    ck_exec_names_show(names, (int)fd);
    ck_nolibc_close((int)fd);
    size_t length = ck_nolibc_length(names->shown);
    if (length + 1 + ck_nolibc_length(last) < sizeof(names->shown))
        (void)ck_nolibc_append_text(ck_nolibc_append_text(names->shown + length, "/"), last);
}

static void look_at_file(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked,
                         const struct file_call *call)
{
    const uint64_t *args = (const void *)asked->data.args;
    uint64_t flags = call->flags < 0 ? 0 : args[call->flags];
    enum file_use use = call->use == USE_OPEN && (flags & O_ACCMODE) != O_RDONLY ? USE_WRITE : call->use;
    if ((flags & O_PATH) == O_PATH || !ck_exec_names_read(names, asked->pid, args[call->path]))
        return;
    if (names->given[0] == '\0')
        return;
    bool creates = call->use == USE_CREATE || call->number == CREAT || (flags & O_CREAT) != 0;
    names->shown[0] = '\0';
    names->file = (struct ck_exec_names_file){.kind = use == USE_OPEN && !creates ? CK_DENIAL_OPEN : CK_DENIAL_WRITE};
    ck_exec_names_translate(names, asked->pid, call->directory == HERE ? AT_FDCWD : (int)args[call->directory]);
    bool itself = use == USE_REMOVE || use == USE_CREATE || (flags & O_NOFOLLOW) != 0;
    long fd = ck_exec_names_open(names, names->opened, O_PATH | (itself ? O_NOFOLLOW : 0));
    long r = fd >= 0 ? may_use(names, (int)fd, use) : fd == -ENOENT ? may_make(names, creates) : fd;
    if (is_refusal(r)) {
        names->file.error = (int32_t)-r;
        if (fd >= 0)
            ck_exec_names_show(names, (int)fd);
        else
            show_missing(names);
        note_file(names, listener_fd, asked);
    }
    if (fd >= 0)
        ck_nolibc_close((int)fd);
}

/* A file on a noexec mount is not mapped as code. */
static void look_at_code(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked)
{
    const uint64_t *args = (const void *)asked->data.args;
    struct statfs mount = {0};
    struct stat found = {0};
    names->given[0] = names->shown[0] = '\0';
    ck_exec_names_translate(names, asked->pid, (int)args[4]);
    long fd = ck_exec_names_open(names, names->opened, O_PATH);
    if (fd < 0)
        return;
    if (CK_RAW2(fstatfs, fd, &mount) == 0 && (mount.f_flags & NOEXEC) != 0 && CK_RAW2(fstat, fd, &found) == 0) {
        names->file = (struct ck_exec_names_file){
            .kind = CK_DENIAL_MAP, .error = EPERM, .device = found.st_dev, .inode = found.st_ino};
        ck_exec_names_show(names, (int)fd);
        note_file(names, listener_fd, asked);
    } else if (names->jail->program->learn != 0) {
        ck_learn_mapping(names, listener_fd, asked, (int)fd);
    }
    ck_nolibc_close((int)fd);
}

void ck_why_look(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked)
{
    if (asked->data.nr == __NR_mmap)
        look_at_code(names, listener_fd, asked);
    for (size_t i = 0; i < FILE_CALLS; i++)
        if (asked->data.nr == file_calls[i].number)
            look_at_file(names, listener_fd, asked, &file_calls[i]);
}

/* ---- connections ---- */

static char *append_group(char *at, unsigned value)
{
    static const char digits[] = "0123456789abcdef";
    bool begun = false;
    for (int shift = 12; shift >= 0; shift -= 4) {
        begun = begun || (value >> shift & 15) != 0 || shift == 0;
        if (begun)
            *at++ = digits[value >> shift & 15];
    }
    *at = '\0';
    return at;
}

/* "192.0.2.1:443" or "[2001:db8:0:0:0:0:0:1]:443". */
static void append_address(char *at, const struct ck_direct_attempt *attempt)
{
    bool ipv4 = attempt->family == AF_INET;
    if (!ipv4)
        at = ck_nolibc_append_text(at, "[");
    for (unsigned i = 0; i < (ipv4 ? 4u : 8u); i++) {
        if (i > 0)
            at = ck_nolibc_append_text(at, ipv4 ? "." : ":");
        at = ipv4 ? ck_nolibc_append_number(at, attempt->address[i])
                  : append_group(at, (unsigned)attempt->address[2 * i] << 8 | attempt->address[2 * i + 1]);
    }
    (void)ck_nolibc_append_number(ck_nolibc_append_text(at, ipv4 ? ":" : "]:"), (long)attempt->port);
}

static void append_socket(char *at, const struct ck_direct_attempt *attempt)
{
    bool ip = attempt->family == AF_INET || attempt->family == AF_INET6;
    if (ip)
        at = ck_nolibc_append_text(at, attempt->family == AF_INET ? "IPv4" : "IPv6");
    else
        at = ck_nolibc_append_number(ck_nolibc_append_text(at, "family "), (long)attempt->family);
    (void)ck_nolibc_append_text(at, " socket");
}

void ck_why_connection(struct ck_exec_names *names, const struct seccomp_notif *asked,
                       const struct ck_direct_attempt *attempt)
{
    const struct ck_native_program *program = names->jail->program;
    bool connects = attempt->kind == CK_DIRECT_ATTEMPT_CONNECTION;
    bool port_refused = program->landlock_net != 0 && attempt->port != program->gate_port;
    names->file = (struct ck_exec_names_file){.kind = CK_DENIAL_CONNECT,
                                              .error = !connects      ? EAFNOSUPPORT
                                                       : port_refused ? EACCES
                                                                      : ENETUNREACH};
    if (connects)
        append_address(names->shown, attempt);
    else
        append_socket(names->shown, attempt);
    ck_exec_names_read_by(names, asked->pid);
    ck_exec_names_note(names, &names->file, names->shown, names->by);
}
