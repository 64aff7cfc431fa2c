/*
 * learn.c - notes what a tool executes in a run of `policy learn` (docs/adr/0062).
 *
 * A process that has executed a file beneath the root runs code of the repository, and so does all
 * that it starts. What such a process executes is noted as another kind: the tool itself may not
 * need it.
 *
 *  Must not decide: the tool may change a path after we have read it. Only a name can be wrong.
 *  Must not make a system call that is notified, except with the key: nobody would answer.
 *  Must not wait for what the tool controls: files are opened with O_PATH.
 */
#include "run/keeper/learn.h"

#include "run/keeper/listener.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/stat.h>

#define ANY_EXECUTE 0111u
#define STATUS_BYTES 512 /* of /proc/PID/status: Tgid and PPid are in its first lines */
#define MARKED_MAX 256
#define ANCESTORS_MAX 64
#define INTERPRETERS_MAX 5 /* as many as the kernel follows */
#define PROC_TEXT 40

/* Processes that have executed a file beneath the root. Each run has its own init, and so its own list. */
static uint32_t marked[MARKED_MAX];
static uint32_t marked_count; /* may be more than MARKED_MAX: then every process counts as marked */

/* ---- which process ---- */

/* The number after "NAME:\t" at the beginning of a line; 0: there is none. */
static uint32_t number_of(const char *text, const char *name)
{
    bool begins = true;
    for (; *text != '\0'; begins = *text++ == '\n') {
        size_t i = 0;
        while (begins && name[i] != '\0' && text[i] == name[i])
            i++;
        if (!begins || name[i] != '\0')
            continue;
        uint32_t number = 0;
        for (text += i; *text >= '0' && *text <= '9'; text++)
            number = number * 10 + (uint32_t)(*text - '0');
        return number;
    }
    return 0;
}

/* ret_parent: of the whole process, as ret_process is. Both 0: it has ended. */
static void read_process(const struct ck_exec_names *names, uint32_t pid, uint32_t *ret_process, uint32_t *ret_parent)
{
    char path[PROC_TEXT], text[STATUS_BYTES];
    char *end = ck_nolibc_append_number(ck_nolibc_append_text(path, "/proc/"), (long)pid);
    (void)ck_nolibc_append_text(end, "/status");
    long fd = ck_exec_names_open(names, path, O_RDONLY);
    long got = fd < 0 ? fd : CK_RAW4(pread64, fd, text, sizeof(text) - 1, 0);
    if (fd >= 0)
        ck_nolibc_close((int)fd);
    text[got < 0 ? 0 : got] = '\0';
    *ret_process = number_of(text, "Tgid:\t");
    *ret_parent = number_of(text, "PPid:\t");
}

static bool is_marked(uint32_t process)
{
    for (uint32_t i = 0; i < marked_count && i < MARKED_MAX; i++)
        if (marked[i] == process)
            return true;
    return marked_count > MARKED_MAX;
}

static void mark(uint32_t process)
{
    if (is_marked(process))
        return;
    if (marked_count < MARKED_MAX)
        marked[marked_count] = process;
    marked_count++;
}

/*
 * Whether the process, or one that it comes from, runs code of the repository. We adopt orphans: of
 * these nobody knows where they come from. ret_process: the process of the thread.
 */
static bool is_of_workspace(const struct ck_exec_names *names, uint32_t pid, uint32_t *ret_process)
{
    uint32_t process, parent;
    read_process(names, pid, &process, &parent);
    *ret_process = process;
    for (int i = 0; i < ANCESTORS_MAX && process != 0; i++) {
        if (is_marked(process))
            return true;
        if (process == names->tool)
            return false;
        if (parent <= 1)
            break;
        read_process(names, parent, &process, &parent);
    }
    return marked_count > 0;
}

/* ---- the file ---- */

/* Where the file is, into names->shown. False: the path is too long. */
static bool show_real(struct ck_exec_names *names, int fd)
{
    char link[PROC_TEXT];
    (void)ck_nolibc_append_number(ck_nolibc_append_text(link, "/proc/self/fd/"), fd);
    long got = CK_RAW4(readlinkat, AT_FDCWD, link, names->shown, sizeof(names->shown));
    bool whole = got > 0 && got < (long)sizeof(names->shown);
    names->shown[whole ? got : 0] = '\0';
    return whole;
}

static bool is_beneath_root(const struct ck_exec_names *names, const char *path)
{
    const char *root = ck_native_root(names->jail->program);
    size_t length = ck_nolibc_length(root);
    for (size_t i = 0; i < length; i++)
        if (path[i] != root[i])
            return false;
    return path[length] == '/';
}

static void note(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked, uint32_t kind)
{
    names->file.kind = kind;
    names->file.error = 0;
    ck_exec_names_read_by(names, asked->pid);
    if (ck_listener_still_asks(listener_fd, asked))
        ck_exec_names_note(names, &names->file, names->shown, names->by);
}

/* False: it is no program. */
static bool examine(struct ck_exec_names *names, int fd)
{
    struct stat file;
    if (CK_RAW2(fstat, fd, &file) < 0 || !S_ISREG(file.st_mode) || (file.st_mode & ANY_EXECUTE) == 0)
        return false;
    names->file = (struct ck_exec_names_file){.device = file.st_dev, .inode = file.st_ino};
    return show_real(names, fd);
}

/* A file of the system is shown as the tool wrote it: as, and not x86_64-linux-gnu-as. */
static void note_system_file(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked, int fd,
                             bool of_workspace)
{
    if (!is_beneath_root(names, names->given))
        ck_exec_names_show(names, fd);
    note(names, listener_fd, asked, of_workspace ? CK_DENIAL_LEARNED_WORKSPACE : CK_DENIAL_LEARNED);
}

/* A script of the repository names its interpreter, which its entry must allow. Takes over fd. */
static void note_interpreters(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked, int fd)
{
    static const struct ck_exec_names_target here = {.directory_fd = AT_FDCWD};
    for (int i = 0; i < INTERPRETERS_MAX && ck_exec_names_read_interpreter(names, fd); i++) {
        long next = ck_exec_names_open_given(names, asked->pid, &here);
        if (next < 0)
            break;
        ck_nolibc_close(fd);
        fd = (int)next;
        if (!examine(names, fd))
            break;
        if (is_beneath_root(names, names->shown))
            note(names, listener_fd, asked, CK_DENIAL_LEARNED_CODE);
        else
            note_system_file(names, listener_fd, asked, fd, true);
    }
    ck_nolibc_close(fd);
}

void ck_learn_execution(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked,
                        const struct ck_exec_names_target *target)
{
    uint32_t process;
    if (!ck_exec_names_read(names, asked->pid, target->path_at))
        return;
    long fd = ck_exec_names_open_given(names, asked->pid, target);
    if (fd < 0)
        return;
    bool of_workspace = is_of_workspace(names, asked->pid, &process);
    bool program = examine(names, (int)fd);
    if (program && is_beneath_root(names, names->shown)) {
        mark(process);
        note(names, listener_fd, asked, CK_DENIAL_LEARNED_CODE);
        note_interpreters(names, listener_fd, asked, (int)fd);
        return;
    }
    if (program)
        note_system_file(names, listener_fd, asked, (int)fd, of_workspace);
    ck_nolibc_close((int)fd);
}

void ck_learn_mapping(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked, int fd)
{
    struct stat file;
    if (CK_RAW2(fstat, fd, &file) < 0 || !show_real(names, fd) || !is_beneath_root(names, names->shown))
        return;
    names->file = (struct ck_exec_names_file){.device = file.st_dev, .inode = file.st_ino};
    note(names, listener_fd, asked, CK_DENIAL_LEARNED_CODE);
}
