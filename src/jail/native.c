/*
 * native.c - decides what is in the native jail for a set of files. See native.h.
 *
 * The system's trees are read-only, and nothing in them can be executed or mapped as code: a noexec
 * mount also keeps the dynamic loader from running another program. Each file that may run is bound
 * separately: the tool, its helpers, and the interpreters, loaders and libraries that they need.
 * Where it is possible, the library directories are code as a whole (libraries.h). Elsewhere the
 * plug-ins of interpreters are bound, too (plugins.h).
 */
#include "jail/native.h"

#include "base/errkind.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/quote.h"
#include "base/sealed.h"
#include "jail/jail.h"
#include "jail/libraries.h"
#include "jail/native_program.h"
#include "jail/native_shown.h"
#include "jail/plugins.h"
#include "sys/depend.h"
#include "sys/landlock.h"
#include "sys/seccomp.h"
#include "sys/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TMP_OPTIONS "mode=0755,size=1g,nr_inodes=200k"
#define SMALL_BYTES 16384 /* settings files up to this size are copied */
#define PACKAGES "/node_modules"
/* Not the file of the host, which names other machines. */
#define HOSTS "127.0.0.1 localhost jail\n::1 localhost ip6-localhost ip6-loopback\n"
#define TOOLS ".tool" /* for files with a path that something else covers inside */

static const char *const layers[] = {"user_ns", "mount_ns",        "pid_ns",       "net_ns",   "ipc_ns",
                                     "uts_ns",  "cgroup_ns",       "fresh_root",   "landlock", "execs",
                                     "seccomp", "no_capabilities", "no_new_privs", NULL};

/* Without user namespaces: what run/native_no_userns.c enforces. */
static const char *const no_userns_layers[] = {"landlock", "execs", "seccomp", "no_capabilities", "no_new_privs", NULL};

const struct ck_jail ck_jail_native = {.name = "native", .layers = layers};
const struct ck_jail ck_jail_native_no_userns = {.name = "native", .layers = no_userns_layers};

/* ---- what every root has ---- */

static const char *const trees[] = {"usr", "lib", "lib32", "lib64", "libx32", "bin", "sbin"};
static const char *const settings_files[] = {
    "etc/ld.so.cache",
    "etc/ld.so.conf",
    "etc/ld.so.conf.d",
    "etc/nsswitch.conf",
    "etc/passwd",
    "etc/group",
    "etc/localtime",
    "etc/timezone",
    "etc/ssl/certs", /* not etc/ssl/private, which has the keys of the machine */
    "etc/ssl/cert.pem",
    "etc/ssl/ca-bundle.pem",
    "etc/ssl/openssl.cnf",
    "etc/pki/ca-trust",
    "etc/pki/tls/certs",
    "etc/pki/tls/cert.pem",
    "etc/pki/tls/openssl.cnf",
    "etc/alternatives",
    "etc/ca-certificates",
    "etc/ca-certificates.conf",
    "etc/os-release",
    "etc/protocols",
    "etc/services",
    "etc/mime.types",
    "etc/perl",
    "etc/php",
};
static const char *const devices[] = {"dev/null", "dev/zero", "dev/full", "dev/random", "dev/urandom"};

/*
 * A small text file is copied, because a mount would cost every run time. NULL if it is not small
 * or not text, or if it has grown meanwhile.
 */
static char *read_small(struct ck_native_builder *program, const char *path, off_t bytes)
{
    if (bytes > SMALL_BYTES)
        return NULL;
    size_t size = (size_t)bytes + 2;
    char *text = ck_arena_alloc(&program->arena, size);
    long length = !text ? -1 : ck_file_read_into(AT_FDCWD, path, 0, text, size);
    return length >= 0 && length <= bytes && !memchr(text, '\0', (size_t)length) ? text : NULL;
}

/* Without memory it is not known whether the host has a file, and a program that lacks one would be kept. */
static void note_shortage(struct ck_native_builder *program, int errnum)
{
    program->no_memory = program->no_memory || ck_errkind_is_shortage(errnum);
}

/* Adds the file or tree of the host at the same path, if it exists. A symlink stays a symlink. */
static void add_host_path(struct ck_native_builder *program, const char *path, enum ck_native_op_kind op)
{
    char outside[PATH_MAX], target[PATH_MAX] = {0};
    struct stat status;
    (void)snprintf(outside, sizeof(outside), "/%s", path);
    if (lstat(outside, &status) < 0) {
        note_shortage(program, errno);
        return;
    }
    ck_native_program_add_parents(program, path);
    if (S_ISLNK(status.st_mode)) {
        if (readlink(outside, target, sizeof(target) - 1) > 0)
            ck_native_program_add(program, CK_NATIVE_OP_LINK, path, target);
        else
            note_shortage(program, errno);
        return;
    }
    char *text =
        op == CK_NATIVE_OP_BIND && S_ISREG(status.st_mode) ? read_small(program, outside, status.st_size) : NULL;
    ck_native_program_add(program, S_ISDIR(status.st_mode) ? CK_NATIVE_OP_DIRECTORY : CK_NATIVE_OP_FILE, path, text);
    if (!text)
        ck_native_program_add(program, op, path, outside);
}

static int stop_at_shortage(const char *path, int errnum)
{
    (void)path;
    return ck_errkind_is_shortage(errnum);
}

/* Debian has /etc/python3 and one directory for each version. */
static void add_python_settings(struct ck_native_builder *program)
{
    glob_t found = {0};
    int r = glob("/etc/python3*", 0, stop_at_shortage, &found);
    program->no_memory = program->no_memory || r == GLOB_NOSPACE || r == GLOB_ABORTED;
    for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
        add_host_path(program, found.gl_pathv[i] + 1, CK_NATIVE_OP_BIND);
    globfree(&found);
}

/* A link is followed to a tree that is allowed itself. */
static void allow_tree(struct ck_native_builder *program, const char *tree)
{
    char path[PATH_MAX];
    struct stat status;
    (void)snprintf(path, sizeof(path), "/%s", tree);
    if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
        ck_native_program_allow(program, path);
}

/* learn: the trees are code, and everything in them may be executed. */
static void add_system(struct ck_native_builder *program, bool learn, bool guarded)
{
    static const char *const directories[] = {"work", "tmp", "proc", "dev", "etc", TOOLS};
    const char *const links[][2] = {{"dev/fd", "/proc/self/fd"},
                                    {"dev/stdin", "/proc/self/fd/0"},
                                    {"dev/stdout", "/proc/self/fd/1"},
                                    {"dev/stderr", "/proc/self/fd/2"},
                                    {"dev/shm", guarded ? CK_JAIL_PRIVATE_SHM : CK_JAIL_SHM}};
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
        ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, directories[i], NULL);
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
        add_host_path(program, trees[i], learn ? CK_NATIVE_OP_BIND_CODE : CK_NATIVE_OP_BIND);
        if (learn)
            allow_tree(program, trees[i]);
    }
    /*
     * The kernel lets a user namespace mount a new /proc only if a fully visible one is mounted
     * already. Each run mounts its own over this one.
     */
    ck_native_program_add(program, CK_NATIVE_OP_BIND, "proc", "/proc");
    for (size_t i = 0; i < sizeof(settings_files) / sizeof(settings_files[0]); i++)
        add_host_path(program, settings_files[i], CK_NATIVE_OP_BIND);
    add_python_settings(program);
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
        add_host_path(program, devices[i], CK_NATIVE_OP_BIND_DEVICE);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        ck_native_program_add(program, CK_NATIVE_OP_LINK, links[i][0], links[i][1]);
}

/* ---- code ---- */

static bool beneath(const char *path, const char *tree)
{
    size_t length = strlen(tree);
    return path[0] == '/' && strncmp(path + 1, tree, length) == 0 && path[1 + length] == '/';
}

bool ck_native_is_system(const char *path)
{
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
        if (beneath(path, trees[i]))
            return true;
    return false;
}

/* Whether a mount of the run covers this path. */
static bool is_covered(const char *path)
{
    static const char *const covered[] = {"tmp", "work", "proc", "dev", CK_JAIL_OLD_ROOT, TOOLS};
    for (size_t i = 0; i < sizeof(covered) / sizeof(covered[0]); i++)
        if (beneath(path, covered[i]))
            return true;
    return false;
}

/* The absolute path inside of a file or tree of the host. */
static int choose_path(const struct ck_native_builder *program, const char *real, char ret_inside[PATH_MAX])
{
    int length = is_covered(real)
                     ? snprintf(ret_inside, PATH_MAX, "/" TOOLS "/%zu/%s", program->ops_count, strrchr(real, '/') + 1)
                     : snprintf(ret_inside, PATH_MAX, "%s", real);
    return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Binds one file as code. *ret_inside is its absolute path inside. real has no symlink in it. */
static int add_code(struct ck_native_builder *program, const char *real, char ret_inside[PATH_MAX])
{
    int r = choose_path(program, real, ret_inside);
    if (r < 0)
        return r;
    for (size_t i = 0; i < program->ops_count; i++)
        if ((program->ops[i].op == CK_NATIVE_OP_BIND_CODE || program->ops[i].op == CK_NATIVE_OP_COPY_CODE) &&
            strcmp(program->ops[i].outside, real) == 0) {
            (void)snprintf(ret_inside, PATH_MAX, "/%s", program->ops[i].inside);
            return 0;
        }
    if (ck_libraries_hold(program, real))
        return 0;
    /*
     * A system tree is bound already, so the file is there to be mounted over. Elsewhere the mount
     * point must be made.
     */
    if (!ck_native_is_system(real)) {
        ck_native_program_add_parents(program, ret_inside + 1);
        ck_native_program_add(program, CK_NATIVE_OP_FILE, ret_inside + 1, NULL);
    }
    ck_native_program_add(program, CK_NATIVE_OP_BIND_CODE, ret_inside + 1, real);
    /* Beneath a directory that is shown in /tmp the file may be executed at its own path, too. */
    if (ck_native_in_tmp(real) && ck_native_shown_has(program, real))
        ck_native_program_add(program, CK_NATIVE_OP_BIND_TMP_CODE, real + 1, real);
    return 0;
}

/*
 * A script of a package looks for its modules beside itself. If the script is outside the system's
 * trees, its outermost node_modules directory is bound too, read-only. The path to it is as trusted
 * as the path of the script.
 */
static int add_packaged(struct ck_native_builder *program, const char *real, const char *end, char ret_inside[PATH_MAX])
{
    char packages[PATH_MAX], inside[PATH_MAX];
    (void)snprintf(packages, sizeof(packages), "%.*s", (int)(end - real), real);
    int r = choose_path(program, packages, inside);
    if (r < 0)
        return r;
    int length = snprintf(ret_inside, PATH_MAX, "%s%s", inside, end);
    if (length < 0 || length >= PATH_MAX)
        return -ENAMETOOLONG;
    ck_native_program_add_parents(program, inside + 1);
    ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, inside + 1, NULL);
    ck_native_program_add(program, CK_NATIVE_OP_BIND, inside + 1, packages);
    ck_native_program_add(program, CK_NATIVE_OP_BIND_CODE, ret_inside + 1, real);
    return 0;
}

static int add_program(struct ck_native_builder *program, const char *real, int fd, char ret_inside[PATH_MAX])
{
    char first[2] = {0};
    const char *packages = ck_native_is_system(real) ? NULL : strstr(real, PACKAGES "/");
    if (!packages || pread(fd, first, sizeof(first), 0) != sizeof(first) || memcmp(first, "#!", sizeof(first)) != 0)
        return add_code(program, real, ret_inside);
    return add_packaged(program, real, packages + strlen(PACKAGES), ret_inside);
}

/* Binds a directory inside the system's trees or a directory that is shown, at its own path. */
static int add_code_tree(struct ck_native_builder *program, const char *real, char ret_inside[PATH_MAX],
                         struct choke_error *error)
{
    if (!ck_native_is_system(real) && !ck_native_shown_has(program, real))
        return ck_error_set(error, CHOKE_JAIL_UNAVAILABLE, EXDEV, CK_NATIVE_OUTSIDE_SYSTEM, CK_QUOTE(real));
    (void)snprintf(ret_inside, PATH_MAX, "%s", real);
    if (!ck_libraries_hold(program, real))
        ck_native_program_add(program, ck_native_in_tmp(real) ? CK_NATIVE_OP_BIND_TMP_CODE : CK_NATIVE_OP_BIND_CODE,
                              real + 1, real);
    return 0;
}

/*
 * The kernel opens a loader or interpreter inside the jail, by the path that is written in the
 * file.
 */
static int check_interpreter(const struct ck_native_builder *program, const struct ck_part *part, const char *real,
                             struct choke_error *error)
{
    if (part->role != CK_PART_INTERPRETER || part->name[0] != '/' || !(is_covered(part->name) || is_covered(real)) ||
        ck_native_shown_has(program, part->name))
        return 0;
    return ck_error_set(
        error, CHOKE_SPAWN_FAILED, ENOENT,
        "its loader or interpreter '%s' does not exist in a jail, which has its own /tmp, /work, /proc and /dev; "
        "put it elsewhere",
        CK_QUOTE(part->name));
}

/* The tools of a guard and their helpers are checked where they are opened. */
static int check_names(const char *real, struct choke_error *error)
{
    struct stat status;
    if (stat(real, &status) < 0)
        return -errno;
    return ck_trust_has_second_name(&status)
               ? ck_error_set(error, CHOKE_DISALLOWED, EPERM, CK_NATIVE_SECOND_NAME, CK_QUOTE(real))
               : 0;
}

/* With libraries as code, a loader is a copy that cannot be executed as a program. */
static int add_loader(struct ck_native_builder *program, const char *real, struct ck_native_loader *loader,
                      char ret_inside[PATH_MAX])
{
    int r = choose_path(program, real, ret_inside);
    if (r < 0)
        return r;
    if (!ck_native_is_system(real)) {
        ck_native_program_add_parents(program, ret_inside + 1);
        ck_native_program_add(program, CK_NATIVE_OP_FILE, ret_inside + 1, NULL);
    }
    return ck_libraries_add_loader(program, ret_inside + 1, real, loader);
}

/*
 * A tool beneath the root names its interpreter and libraries, and the repository wrote these names.
 * Outside the system's trees none is followed, or the repository would choose which files of the
 * host are shown. A library must be called one: otherwise the file would make a program mappable
 * that is not listed, and the loader would run it. 1 or 0, or a negative errno for a shortage.
 */
static int may_be_named(const struct ck_part *part, const char *real)
{
    struct ck_trusted place;
    if (!ck_native_is_system(real) || (part->role == CK_PART_LIBRARY && !strstr(strrchr(real, '/'), ".so")))
        return 0;
    int r = ck_trust_walk(real, &place, NULL);
    bool trusted = r == 0 && (place.status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    ck_trust_done(&place);
    return r < 0 && ck_errkind_is_shortage(-r) ? r : trusted;
}

static int add_part(struct ck_native_builder *program, const struct ck_part *part, bool in_workspace,
                    const struct ck_native_wanted *wanted, struct choke_error *error)
{
    CK_HEAP char *real = ck_heap_own(!part->path ? NULL : realpath(part->path, NULL));
    char inside[PATH_MAX];
    if (part->path && !real && ck_errkind_is_shortage(errno))
        return -errno;
    int r = !real ? 0 : !in_workspace ? 1 : may_be_named(part, real);
    if (r <= 0)
        return r; /* a missing library is reported by the tool itself */
    if (!wanted->in_place && !in_workspace && check_interpreter(program, part, real, error) < 0)
        return -ENOENT;
    r = wanted->guard && part->role == CK_PART_INTERPRETER ? check_names(real, error) : 0;
    if (r < 0)
        return r;
    r = part->loader && program->libraries != 0 ? add_loader(program, real, wanted->loader, inside)
                                                : add_code(program, real, inside);
    if (r == 0 && part->role == CK_PART_INTERPRETER) {
        ck_native_program_allow(program, inside);
        ck_plugins_note(wanted->plugins, real);
    }
    return r;
}

static int place_file(struct ck_native_builder *program, struct ck_native_file *file,
                      const struct ck_native_wanted *wanted, struct choke_error *error)
{
    if (file->in_workspace) {
        file->inside = file->path;
        return 0;
    }
    CK_HEAP char *real = ck_heap_own(realpath(file->path, NULL));
    CK_HEAP char *inside = ck_heap_own(malloc(PATH_MAX));
    if (!real || !inside)
        return !real ? -errno : -ENOMEM;
    /* A loader that is listed is the copy, too. */
    int loader = program->libraries == 0 || file->directory ? 0 : ck_libraries_is_loader(file->fd, &program->arena);
    int r = loader < 0        ? loader
            : file->directory ? add_code_tree(program, real, inside, error)
            : loader > 0      ? add_loader(program, real, wanted->loader, inside)
                              : add_program(program, real, file->fd, inside);
    if (r < 0)
        return r;
    if (!file->directory) {
        ck_native_program_allow(program, inside);
        ck_plugins_note(wanted->plugins, real);
    }
    file->inside = ck_arena_strdup(wanted->arena, inside);
    return !file->inside ? -ENOMEM : 0;
}

static int add_file(struct ck_native_builder *program, struct ck_depend *depend, struct ck_native_file *file,
                    const struct ck_native_wanted *wanted, struct choke_error *error)
{
    int r = place_file(program, file, wanted, error);
    if (r < 0 || file->directory)
        return r;
    r = ck_depend_all(depend, file->fd);
    for (size_t i = 0; r == 0 && i < depend->count; i++)
        r = add_part(program, &depend->parts[i], file->in_workspace, wanted, error);
    return r;
}

/* What a proof of libraries tries: the loader, and a program that must not run. */
static int add_proof(struct ck_native_builder *program, const struct ck_native_wanted *wanted)
{
    char inside[PATH_MAX];
    const char *loader = NULL;
    int r = ck_libraries_add_proof(program, &loader);
    if (r == 0)
        r = add_loader(program, loader, wanted->loader, inside);
    if (r < 0)
        return r;
    ck_native_program_allow(program, inside);
    program->proof_loader = ck_arena_strdup(&program->arena, inside);
    return !program->proof_loader ? -ENOMEM : 0;
}

/* ---- guard ---- */

static void add_guard(struct ck_native_builder *program, const struct ck_native_guard *guard)
{
    ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, &CK_JAIL_PRIVATE[1], NULL);
    if (guard->door)
        add_host_path(program, "dev/tty", CK_NATIVE_OP_BIND_DEVICE);
    for (const char *const *name = guard->read_only; name && *name; name++)
        ck_native_program_add(program, CK_NATIVE_OP_READ_ONLY, *name, NULL);
    for (size_t i = 0; i < guard->writable_count; i++) {
        const struct ck_native_directory *directory = &guard->writable[i];
        ck_native_program_add_parents(program, directory->path + 1);
        ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, directory->path + 1, NULL);
        ck_native_program_add_op(program, &(const struct ck_native_builder_op){.op = CK_NATIVE_OP_BIND_WRITABLE,
                                                                               .inside = directory->path + 1,
                                                                               .outside = directory->real,
                                                                               .device = directory->device,
                                                                               .inode = directory->inode});
    }
}

/*
 * After everything else: a door covers its tool also where that is bound as code. One rule for the
 * file of the doors serves all of them.
 */
static int add_doors(struct ck_native_builder *program, const struct ck_native_guard *guard)
{
    for (const char *const *real = guard->doors; *real; real++) {
        if (is_covered(*real))
            return -EBUSY;
        if (!ck_native_is_system(*real)) {
            ck_native_program_add_parents(program, *real + 1);
            ck_native_program_add(program, CK_NATIVE_OP_FILE, *real + 1, NULL);
        }
        ck_native_program_add(program, CK_NATIVE_OP_DOOR, *real + 1, NULL);
    }
    ck_native_program_allow(program, CK_JAIL_DOOR);
    return 0;
}

/* ---- the whole ---- */

/*
 * Both halves are compared with register contents that a tool chooses, and 0 is what it has there
 * by default.
 */
static int make_key(uint64_t *ret_key)
{
    do {
        if (getrandom(ret_key, sizeof(*ret_key), 0) != (ssize_t)sizeof(*ret_key))
            return -errno;
    } while (*ret_key >> 32 == 0);
    return 0;
}

static int write_program(struct ck_native_builder *program, const struct ck_native_wanted *wanted, int *ret_fd)
{
    struct sock_filter *filter = NULL;
    int abi = ck_landlock_abi();
    if (abi < 0 && ck_error_is_transient(-abi))
        return abi; /* this says nothing about Landlock; the jail would be built without it */
    struct ck_native_program_settings settings = {
        .uid = geteuid(),
        .gid = getegid(),
        .root = wanted->root,
        .tmp_options = TMP_OPTIONS,
        .landlock_abi = abi < 0 ? 0 : abi,
        .workspace_code = wanted->workspace_code,
        .loopback = wanted->loopback,
        .gate_port = wanted->egress ? CK_JAIL_GATE_PORT : 0,
        .gate_reports_attempts = wanted->egress && wanted->reports_attempts,
        .why = wanted->names_execs && wanted->why,
        .learn = wanted->learn,
        .guarded = !!wanted->guard,
        .door = wanted->guard ? wanted->guard->door : NULL,
        .door_bytes = wanted->guard ? wanted->guard->door_bytes : 0,
        .no_new_code = wanted->guard && wanted->guard->no_new_code,
    };
    unsigned options = (wanted->tracing ? (unsigned)CK_SECCOMP_TRACING : 0) |
                       (wanted->loopback ? (unsigned)CK_SECCOMP_LOOPBACK : 0) |
                       (wanted->egress ? (unsigned)CK_SECCOMP_EGRESS : 0) |
                       (settings.gate_reports_attempts || settings.why ? (unsigned)CK_SECCOMP_REPORT_ATTEMPTS : 0) |
                       (settings.why ? (unsigned)CK_SECCOMP_WHY : 0) | (settings.door ? (unsigned)CK_SECCOMP_CAGE : 0) |
                       (settings.no_new_code ? (unsigned)CK_SECCOMP_NO_NEW_CODE : 0);
    int r = wanted->names_execs ? make_key(&settings.exec_key) : 0;
    if (r == 0)
        r = ck_seccomp_build(options, settings.exec_key, &filter, &settings.filter_count);
    if (r < 0)
        return r;
    settings.filter = filter;
    const struct ck_native_program *packed = ck_native_program_pack(program, &settings);
    free(filter);
    int fd = !packed ? -ENOMEM : ck_sealed_write("native-program", CK_SEALED_DATA, packed, packed->size_bytes);
    if (fd < 0)
        return fd;
    *ret_fd = fd;
    return 0;
}

static int make(const struct ck_native_wanted *wanted, int *ret_fd, struct choke_error *error)
{
    struct ck_native_builder program = {0};
    struct ck_depend depend = {.search = wanted->search, .search_count = wanted->search_count, .versions_only = true};
    if (wanted->plugins)
        ck_plugins_reset(wanted->plugins);
    add_system(&program, wanted->learn, !!wanted->guard);
    if (wanted->guard)
        add_guard(&program, wanted->guard);
    if (wanted->loopback)
        ck_native_program_add(&program, CK_NATIVE_OP_TEXT, "etc/hosts", HOSTS);
    int r = wanted->libraries ? ck_libraries_add(&program) : 0;
    if (r == 0 && wanted->proof)
        r = add_proof(&program, wanted);
    if (r == 0)
        r = ck_native_shown_add(&program, wanted, error);
    for (size_t i = 0; r == 0 && i < wanted->count; i++)
        r = add_file(&program, &depend, &wanted->files[i], wanted, error);
    if (r == 0)
        r = ck_plugins_add(wanted->plugins, &program, &depend);
    if (r == 0 && wanted->guard && wanted->guard->door)
        r = add_doors(&program, wanted->guard);
    if (r == 0 && wanted->root)
        r = ck_native_shown_place_root(&program, wanted->root, error);
    if (r == 0)
        r = write_program(&program, wanted, ret_fd);
    ck_depend_done(&depend);
    ck_native_program_done(&program);
    return r;
}

/*
 * Without Landlock every program in a library directory could be executed. A loader without a stub
 * would run them, too. In both cases only the listed files are code.
 */
int ck_native_make(const struct ck_native_wanted *wanted, int *ret_fd, struct choke_error *error)
{
    struct ck_native_loader unused = {0};
    struct ck_native_wanted form = *wanted;
    if (!form.loader)
        form.loader = &unused;
    form.loader->path[0] = '\0';
    form.libraries = wanted->libraries && ck_landlock_abi() > 0;
    int r = wanted->proof && !form.libraries ? -ENOTSUP : make(&form, ret_fd, error);
    if (r == -ENOTSUP && form.libraries && !form.proof && error->outcome == CHOKE_NONE) {
        form.libraries = false;
        form.loader->path[0] = '\0';
        r = make(&form, ret_fd, error);
    }
    if (r < 0 && error->outcome != CHOKE_NONE)
        return r;
    if (r < 0)
        return ck_error_set(error, ck_error_is_transient(-r) ? CHOKE_SPAWN_FAILED : CHOKE_JAIL_UNAVAILABLE, -r,
                            "cannot prepare the native jail: %s", ck_error_text(-r));
    return 0;
}
