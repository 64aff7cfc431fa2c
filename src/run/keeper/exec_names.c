/*
 * exec_names.c - names the executions that the jail of a run refuses (docs/adr/0054).
 *
 * Landlock and noexec mounts refuse them, and only the tool sees the errno. So the filter notifies
 * us first (listener.c). We read the path, find out whether the kernel will refuse it, note it in
 * memory that we share with the warden, and let the call continue. A sealed tool may execute
 * nothing: then every execution is refused here, whatever its path.
 *
 *  Must not decide by what was read: the tool may change it meanwhile. A wrong name can be noted,
 *           but nothing more can be executed.
 *  Must not make a system call that is notified, except with the key: nobody would answer.
 *  Must not write without limit: each refusal once, CK_DENIALS_MAX of them, CK_DENIALS_BYTES.
 *  Must not wait for what the tool controls: files are opened with O_PATH or O_NONBLOCK.
 */
#include "run/keeper/exec_names.h"

#include "run/create.h"
#include "run/keeper/cage.h"
#include "run/keeper/init.h"
#include "run/keeper/learn.h"
#include "run/keeper/listener.h"
#include "run/keeper/native_jail.h"
#include "run/keeper/nolibc.h"
#include "sys/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#define PAGE UINT64_C(4096) /* or a divisor of the real size */
#define EMPTY_PATH 0x1000u  /* AT_EMPTY_PATH */
#define NO_FOLLOW 0x100u    /* AT_SYMLINK_NOFOLLOW */
#define NOEXEC 8            /* ST_NOEXEC of statfs */
#define ANY_EXECUTE 0111u
#define FIRST_LINE 256     /* what the kernel reads of a script: BINPRM_BUF_SIZE */
#define INTERPRETERS_MAX 5 /* an interpreter may be a script itself; the kernel follows as many */
#define PROC_FD_TEXT 32

/* ---- texts ---- */

static bool same_bytes(const char *one, const char *other, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (one[i] != other[i])
            return false;
    return true;
}

static bool same_text(const char *one, const char *other)
{
    size_t length = ck_nolibc_length(one);
    return length == ck_nolibc_length(other) && same_bytes(one, other, length);
}

/* The rest of text after the prefix, or NULL. */
static const char *after(const char *text, const char *prefix)
{
    size_t length = ck_nolibc_length(prefix);
    for (size_t i = 0; i < length; i++)
        if (text[i] != prefix[i])
            return NULL;
    return text + length;
}

const char *ck_exec_names_last_part(const char *path)
{
    const char *last = path;
    for (; *path != '\0'; path++)
        if (*path == '/' && path[1] != '\0')
            last = path + 1;
    return last;
}

/* False: it does not fit, and `to` is empty. */
static bool copy_short(char to[CK_EXEC_NAMES_TEXT], const char *text)
{
    size_t length = ck_nolibc_length(text);
    bool fits = length < CK_EXEC_NAMES_TEXT;
    memcpy(to, text, fits ? length : 0);
    to[fits ? length : 0] = '\0';
    return fits;
}

/* ---- the path ---- */

static struct ck_exec_names_target target_of(const struct seccomp_notif *asked)
{
    const uint64_t *args = (const void *)asked->data.args;
    enum ck_create_naming naming = ck_create_naming_of(asked->data.nr);
    if (naming == CK_CREATE_BY_PATH)
        return (struct ck_exec_names_target){.directory_fd = AT_FDCWD, .path_at = args[0]};
    if (naming == CK_CREATE_BY_DESCRIPTOR)
        return (struct ck_exec_names_target){
            .directory_fd = (int)args[0], .path_at = args[1], .flags = (uint32_t)args[4]};
#ifdef __NR_access
    if (asked->data.nr == __NR_access)
        return (struct ck_exec_names_target){.directory_fd = AT_FDCWD, .path_at = args[0], .only_asks = true};
#endif
    uint32_t flags = asked->data.nr == __NR_faccessat2 ? (uint32_t)args[3] : 0;
    return (struct ck_exec_names_target){
        .directory_fd = (int)args[0], .path_at = args[1], .flags = flags, .only_asks = true};
}

bool ck_exec_names_concerns(const struct seccomp_notif *asked)
{
#ifdef __NR_access
    if (asked->data.nr == __NR_access)
        return true;
#endif
    return asked->data.nr == __NR_faccessat || asked->data.nr == __NR_faccessat2 ||
           ck_create_naming_of(asked->data.nr) != CK_CREATE_EXECUTES_NOTHING;
}

/*
 * Reads the path from the memory of the tool. Two parts, divided where a page ends: the second page
 * may be missing. False: there is no such address, or the machine forbids the access.
 */
bool ck_exec_names_read(struct ck_exec_names *names, uint32_t pid, uint64_t at)
{
    const uint64_t key = names->jail->program->exec_key & ~(uint64_t)UINT32_MAX;
    size_t first = (size_t)(PAGE - at % PAGE);
    struct iovec here = {.iov_base = names->given, .iov_len = sizeof(names->given)};
    struct iovec there[2] = {{.iov_base = (void *)(uintptr_t)at, .iov_len = first},
                             {.iov_base = (void *)(uintptr_t)(at + first), .iov_len = sizeof(names->given) - first}};
    long got = CK_RAW6(process_vm_readv, key | pid, &here, 1, there, first < sizeof(names->given) ? 2 : 1, 0);
    for (long i = 0; i < got; i++)
        if (names->given[i] == '\0')
            return true;
    names->given[0] = '\0';
    return false;
}

static char *append_proc(char *to, uint32_t pid, const char *name)
{
    return ck_nolibc_append_text(ck_nolibc_append_number(ck_nolibc_append_text(to, "/proc/"), (long)pid), name);
}

/* A call of our own must not be notified. */
long ck_exec_names_open(const struct ck_exec_names *names, const char *path, int flags)
{
    return CK_RAW6(openat, AT_FDCWD, path, flags | O_CLOEXEC, 0, 0, names->jail->program->exec_key);
}

/* The path for us: a link in /proc/self, and a relative path, mean something else for the tool. */
void ck_exec_names_translate(struct ck_exec_names *names, uint32_t pid, int directory_fd)
{
    const char *given = names->given;
    const char *own = after(given, "/proc/self/");
    const char *open_file = after(given, "/dev/fd/");
    if (own || open_file) {
        (void)ck_nolibc_append_text(append_proc(names->opened, pid, own ? "/" : "/fd/"), own ? own : open_file);
    } else if (given[0] == '/') {
        (void)ck_nolibc_append_text(names->opened, given);
    } else {
        char *end = directory_fd == AT_FDCWD
                        ? append_proc(names->opened, pid, "/cwd")
                        : ck_nolibc_append_number(append_proc(names->opened, pid, "/fd/"), directory_fd);
        if (given[0] != '\0')
            (void)ck_nolibc_append_text(ck_nolibc_append_text(end, "/"), given);
    }
}

long ck_exec_names_open_given(struct ck_exec_names *names, uint32_t pid, const struct ck_exec_names_target *target)
{
    bool follow = (target->flags & NO_FOLLOW) == 0 || names->given[0] == '\0';
    if (names->given[0] == '\0' && (target->flags & EMPTY_PATH) == 0)
        return -ENOENT;
    ck_exec_names_translate(names, pid, target->directory_fd);
    return ck_exec_names_open(names, names->opened, O_PATH | (follow ? 0 : O_NOFOLLOW));
}

static char *proc_fd(char text[PROC_FD_TEXT], int fd)
{
    (void)ck_nolibc_append_number(ck_nolibc_append_text(text, "/proc/self/fd/"), fd);
    return text;
}

static void read_link(const char *link, char *to, size_t size)
{
    long got = CK_RAW4(readlinkat, AT_FDCWD, link, to, size - 1);
    to[got < 0 ? 0 : got] = '\0';
}

/* Is it absolute, without "//", "/./", "/../", and the same file for every process? */
static bool is_plain(const char *path)
{
    if (path[0] != '/' || after(path, "/proc/") || after(path, "/dev/fd/"))
        return false;
    for (; *path != '\0'; path++)
        if (path[0] == '/' && (path[1] == '/' || (path[1] == '.' && (path[2] == '/' || path[2] == '.'))))
            return false;
    return true;
}

/* The path that a reader knows: as the tool wrote it if that says it, else where the file is. */
void ck_exec_names_show(struct ck_exec_names *names, int fd)
{
    char link[PROC_FD_TEXT];
    if (is_plain(names->given))
        (void)ck_nolibc_append_text(names->shown, names->given);
    else
        read_link(proc_fd(link, fd), names->shown, sizeof(names->shown));
}

/* ---- what the kernel will say ---- */

bool ck_exec_names_is_listed(const struct ck_native_jail *jail, const struct stat *file)
{
    for (uint32_t i = 0; i < jail->program->execs_count; i++)
        if (jail->exec_files[i].device == file->st_dev && jail->exec_files[i].inode == file->st_ino)
            return true;
    return false;
}

/* ret_directories: the list has directories too, and with workspace_code the root is one. */
static bool is_listed(const struct ck_native_jail *jail, const struct stat *file, bool *ret_directories)
{
    *ret_directories = jail->program->workspace_code != 0;
    for (uint32_t i = 0; i < jail->program->execs_count; i++)
        *ret_directories = *ret_directories || jail->exec_files[i].directory;
    return ck_exec_names_is_listed(jail, file);
}

/*
 * The errno with which the jail refuses to execute the file, or 0. What is no program at all is not
 * refused by the jail. noexec comes first: a listed file may be reached on another mount. The
 * kernel itself is asked only about the rest, because that takes as long as all of this.
 */
static int32_t refusal_of(struct ck_exec_names *names, int fd)
{
    struct stat file;
    struct statfs mount;
    bool directories;
    if (CK_RAW2(fstat, fd, &file) < 0 || !S_ISREG(file.st_mode) || (file.st_mode & ANY_EXECUTE) == 0)
        return 0;
    names->file = (struct ck_exec_names_file){.device = file.st_dev, .inode = file.st_ino, .error = EACCES};
    if (names->sealed || (CK_RAW2(fstatfs, fd, &mount) == 0 && (mount.f_flags & NOEXEC) != 0))
        return EACCES;
    if (names->jail->program->landlock_fs == 0 || is_listed(names->jail, &file, &directories))
        return 0;
    long r = ck_create_may_execute(fd, names->jail->program->exec_key);
    if (r == -EINVAL)
        return directories ? 0 : EACCES;
    names->file.error = (int32_t)-r;
    return r == -EACCES || r == -EPERM ? (int32_t)-r : 0;
}

/* The file is opened again by its descriptor, so it is the same file. */
bool ck_exec_names_read_interpreter(struct ck_exec_names *names, int fd)
{
    char link[PROC_FD_TEXT], line[FIRST_LINE];
    long script = ck_exec_names_open(names, proc_fd(link, fd), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    long got = script < 0 ? script : CK_RAW4(pread64, script, line, sizeof(line), 0);
    if (script >= 0)
        ck_nolibc_close((int)script);
    if (got < 3 || line[0] != '#' || line[1] != '!')
        return false;
    long start = 2, end;
    while (start < got && (line[start] == ' ' || line[start] == '\t'))
        start++;
    for (end = start; end < got && line[end] != ' ' && line[end] != '\t' && line[end] != '\n' && line[end] != '\0';)
        end++;
    memcpy(names->given, line + start, (size_t)(end - start));
    names->given[end - start] = '\0';
    return end > start;
}

/* A script that may be executed, but its interpreter may not. Closes fd. */
static int32_t refusal_of_interpreter(struct ck_exec_names *names, uint32_t pid, int fd)
{
    static const struct ck_exec_names_target here = {.directory_fd = AT_FDCWD};
    int32_t error = 0;
    for (int i = 0; i < INTERPRETERS_MAX && error == 0 && ck_exec_names_read_interpreter(names, fd); i++) {
        ck_nolibc_close(fd);
        long next = ck_exec_names_open_given(names, pid, &here);
        if (next < 0)
            return 0;
        fd = (int)next;
        error = refusal_of(names, fd);
        if (error != 0)
            ck_exec_names_show(names, fd);
    }
    ck_nolibc_close(fd);
    return error;
}

/* ---- noting it ---- */

/* How many bytes later the next record begins. */
static uint32_t size_of(const struct ck_denial_record *record)
{
    uint32_t size = (uint32_t)sizeof(*record) + record->path_length + record->by_length;
    return size + -size % CK_DENIAL_ALIGNMENT;
}

/* Are the last parts of two paths the same? */
static bool same_name(const char *one, size_t one_length, const char *other, size_t other_length)
{
    while (one_length > 0 && other_length > 0 && one[one_length - 1] == other[other_length - 1]) {
        if (one[one_length - 1] == '/')
            return true;
        one_length--;
        other_length--;
    }
    return one_length == 0 && other_length == 0;
}

/* A file that is there is the same by its inode; else its whole path counts. */
static bool same_path(const char *one, const char *other, const struct ck_denial_record *wanted, size_t one_length)
{
    if (wanted->inode != 0)
        return same_name(one, one_length, other, wanted->path_length);
    return one_length == wanted->path_length && same_bytes(one, other, one_length);
}

/*
 * The same file by the same program: /bin/ls and /usr/bin/ls are one refusal if one is a link to
 * the other. Two names of one file are two: a file may be many programs.
 */
static bool is_noted(const struct ck_exec_names *names, const struct ck_denial_record *wanted, const char *path,
                     const char *by)
{
    const char *at = names->jail->denials + sizeof(struct ck_denials_head);
    for (uint32_t i = 0; i < names->jail->init_status->denied_count; i++) {
        const struct ck_denial_record *record = (const void *)at;
        const char *text = at + sizeof(*record);
        if (record->kind == wanted->kind && record->device == wanted->device && record->inode == wanted->inode &&
            record->by_length == wanted->by_length && same_bytes(text + record->path_length, by, record->by_length) &&
            same_path(text, path, wanted, record->path_length))
            return true;
        at += size_of(record);
    }
    return false;
}

/* The counters change last: we may be killed at any time, and the warden reads what is there. */
void ck_exec_names_note(const struct ck_exec_names *names, const struct ck_exec_names_file *file, const char *path,
                        const char *by)
{
    struct ck_init_status *init_status = names->jail->init_status;
    const struct ck_denial_record record = {.device = file->device,
                                            .inode = file->inode,
                                            .kind = file->kind != 0 ? file->kind : CK_DENIAL_EXEC,
                                            .error = (uint32_t)file->error,
                                            .path_length = (uint32_t)ck_nolibc_length(path),
                                            .by_length = (uint32_t)ck_nolibc_length(by)};
    char *first = names->jail->denials + sizeof(struct ck_denials_head);
    uint32_t used = init_status->denied_bytes, size = size_of(&record);
    if (is_noted(names, &record, path, by))
        return;
    const uint32_t most = names->jail->program->learn != 0 ? CK_DENIALS_LEARN_MAX : CK_DENIALS_MAX;
    if (init_status->denied_count == most || size > CK_DENIALS_BYTES - sizeof(struct ck_denials_head) - used) {
        init_status->denied_more++;
        return;
    }
    memcpy(first + used, &record, sizeof(record));
    memcpy(first + used + sizeof(record), path, record.path_length);
    memcpy(first + used + sizeof(record) + record.path_length, by, record.by_length);
    __atomic_store_n(&init_status->denied_bytes, used + size, __ATOMIC_RELEASE);
    __atomic_store_n(&init_status->denied_count, init_status->denied_count + 1, __ATOMIC_RELEASE);
}

/* The program that the process is: its own name can be changed, and is cut to 15 bytes. */
void ck_exec_names_read_by(struct ck_exec_names *names, uint32_t pid)
{
    char link[PROC_FD_TEXT];
    (void)append_proc(link, pid, "/exe");
    read_link(link, names->by, sizeof(names->by));
}

static void read_all_by(struct ck_exec_names *names, uint32_t pid)
{
    ck_exec_names_read_by(names, pid);
    if (ck_native_is_cage(names->jail->program))
        ck_cage_append_parents(names, pid);
}

/* ---- files that were looked for ---- */

static void note_looked_for(const struct ck_exec_names *names, const struct ck_exec_names_looked_for *slot)
{
    if (slot->name[0] != '\0')
        ck_exec_names_note(names, &slot->file, slot->path, slot->by);
}

/* The oldest element is noted now if all are in use. A path that is too long is not kept. */
static void look_for(struct ck_exec_names *names, const char *name)
{
    for (unsigned i = 0; i < CK_EXEC_NAMES_LOOKED_FOR; i++)
        if (same_text(names->looked_for[i].name, name) && same_text(names->looked_for[i].path, names->shown))
            return;
    struct ck_exec_names_looked_for *slot = &names->looked_for[names->next++ % CK_EXEC_NAMES_LOOKED_FOR];
    note_looked_for(names, slot);
    slot->file = names->file;
    bool fits = copy_short(slot->path, names->shown) && copy_short(slot->by, names->by) && copy_short(slot->name, name);
    if (!fits)
        slot->name[0] = '\0';
}

/* A file of this name can be executed: the others were only other places to look for it. */
static void find(struct ck_exec_names *names, const char *name)
{
    for (unsigned i = 0; i < CK_EXEC_NAMES_LOOKED_FOR; i++)
        if (same_text(names->looked_for[i].name, name))
            names->looked_for[i].name[0] = '\0';
}

void ck_exec_names_end(struct ck_exec_names *names)
{
    for (unsigned i = 0; i < CK_EXEC_NAMES_LOOKED_FOR; i++)
        note_looked_for(names, &names->looked_for[(names->next + i) % CK_EXEC_NAMES_LOOKED_FOR]);
}

/* ---- the answer ---- */

static bool is_regular(int fd)
{
    struct stat file;
    return CK_RAW2(fstat, fd, &file) == 0 && S_ISREG(file.st_mode);
}

/*
 * gcc and make ask, and do not try what cannot be executed. That is a refusal too, unless a file of
 * the same name is then found elsewhere.
 */
static void examine_question(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked,
                             const struct ck_exec_names_target *target)
{
    long fd = ck_exec_names_open_given(names, asked->pid, target);
    if (fd < 0)
        return;
    if (refusal_of(names, (int)fd) != 0) {
        ck_exec_names_show(names, (int)fd);
        read_all_by(names, asked->pid);
        if (ck_listener_still_asks(listener_fd, asked))
            look_for(names, ck_exec_names_last_part(names->given));
    } else if (is_regular((int)fd)) {
        find(names, ck_exec_names_last_part(names->given));
    }
    ck_nolibc_close((int)fd);
}

/*
 * A door, on a mount where it may be executed. It is no script and needs no interpreter, and every call of
 * a tool waits for the answer, so nothing more is asked.
 */
static bool is_door(struct ck_exec_names *names, int fd)
{
    struct stat file;
    struct statfs mount;
    if (!ck_native_is_cage(names->jail->program) || CK_RAW2(fstat, fd, &file) < 0)
        return false;
    names->file = (struct ck_exec_names_file){.device = file.st_dev, .inode = file.st_ino, .error = EACCES};
    return ck_cage_is_door(names->jail, &names->file) && CK_RAW2(fstatfs, fd, &mount) == 0 &&
           (mount.f_flags & NOEXEC) == 0;
}

/* What will the kernel do? */
static enum ck_cage_fate examine_execution(struct ck_exec_names *names, int listener_fd,
                                           const struct seccomp_notif *asked, const struct ck_exec_names_target *target)
{
    char name[CK_EXEC_NAMES_TEXT];
    (void)copy_short(name, ck_exec_names_last_part(names->given));
    long fd = ck_exec_names_open_given(names, asked->pid, target);
    if (fd < 0)
        return ck_cage_fate_of_error(fd);
    if (is_door(names, (int)fd)) {
        ck_nolibc_close((int)fd);
        find(names, name);
        return CK_CAGE_DOOR;
    }
    enum ck_cage_fate fate =
        ck_native_is_cage(names->jail->program) ? ck_cage_fate_of_file(names, (int)fd) : CK_CAGE_CARRIER;
    int32_t error = refusal_of(names, (int)fd);
    if (error != 0) {
        ck_exec_names_show(names, (int)fd);
        ck_nolibc_close((int)fd);
    } else {
        error = refusal_of_interpreter(names, asked->pid, (int)fd);
    }
    if (error == 0) {
        find(names, name);
        /* Of a script, the interpreter: it may be a door. */
        return ck_cage_is_door(names->jail, &names->file) ? CK_CAGE_DOOR : fate;
    }
    read_all_by(names, asked->pid);
    if (!ck_listener_still_asks(listener_fd, asked))
        return CK_CAGE_FAILED;
    names->jail->init_status->names_execs = 1;
    ck_exec_names_note(names, &names->file, names->shown, names->by);
    return CK_CAGE_REFUSED;
}

/* The execution itself, and not a question about one. */
static void count_execution(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked,
                            const struct ck_exec_names_target *target, bool readable)
{
    const struct ck_native_program *program = names->jail->program;
    enum ck_cage_fate fate = readable ? examine_execution(names, listener_fd, asked, target) : CK_CAGE_FAILED;
    if (ck_native_is_cage(program))
        ck_cage_count(names->jail, fate);
    if (program->learn != 0 && (fate == CK_CAGE_CARRIER || fate == CK_CAGE_WORKSPACE))
        ck_learn_execution(names, listener_fd, asked, target);
    if (!readable && names->sealed && ck_listener_still_asks(listener_fd, asked))
        ck_exec_names_note(names, &(struct ck_exec_names_file){.error = EACCES}, "", "");
}

int32_t ck_exec_names_judge(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked)
{
    const struct ck_exec_names_target target = target_of(asked);
    bool readable = ck_exec_names_read(names, asked->pid, target.path_at);
    names->shown[0] = names->by[0] = '\0';
    names->file = (struct ck_exec_names_file){0};
    if (target.only_asks) {
        if (readable)
            examine_question(names, listener_fd, asked, &target);
        return 0;
    }
    if ((target.flags & CK_CREATE_ONLY_CHECK) == 0)
        count_execution(names, listener_fd, asked, &target, readable);
    return names->sealed ? -EACCES : 0;
}
