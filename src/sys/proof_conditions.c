/*
 * proof_conditions.c - reads what the proof of a jail depends on. See proof_conditions.h.
 *
 * A file that does not exist, or that the caller may not read, is a condition too: it is written as
 * "-", so a proof made without it does not count where it is there. Only a shortage is an error.
 */
#include "sys/proof_conditions.h"

#include "base/errkind.h"
#include "base/file.h"
#include "base/heap.h"
#include "sys/version.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define STATX_MNT_ID_UNIQUE_BIT 0x4000u /* Linux 6.8; the headers of the build may be older */
#define STATUS_BYTES 16384

/*
 * Settings of the kernel and of security modules. A label stays the same when the rules for it are
 * replaced, so the revision of the rules is read too.
 */
static const char *const settings[] = {
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_unconfined",
    "/proc/sys/kernel/yama/ptrace_scope",
    "/proc/sys/kernel/seccomp/actions_avail",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/user/max_mnt_namespaces",
    "/proc/sys/user/max_net_namespaces",
    "/proc/sys/user/max_ipc_namespaces",
    "/proc/sys/user/max_uts_namespaces",
    "/proc/sys/user/max_pid_namespaces",
    "/proc/sys/user/max_cgroup_namespaces",
    "/proc/sys/vm/memfd_noexec",
    "/proc/thread-self/attr/current",
    "/proc/thread-self/attr/apparmor/current",
    "/proc/thread-self/attr/smack/current",
    "/sys/kernel/security/lsm",
    "/sys/kernel/security/apparmor/revision",
    "/sys/fs/selinux/enforce",
    "/sys/fs/selinux/status",
};

static const char *const namespaces[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"};

/* Lines of /proc/thread-self/status that say who the caller is. */
static const char *const identity[] = {
    "Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:"};

/* Bytes as hexadecimal digits: some of these files are binary, and a text could contain a line end. */
static void put_bytes(FILE *out, const char *name, const char *bytes, long length)
{
    (void)fprintf(out, "%s ", name);
    for (long i = 0; i < length; i++)
        (void)fprintf(out, "%02x", (unsigned char)bytes[i]);
    (void)fputs(length < 0 ? "-\n" : "\n", out);
}

static int write_settings(FILE *out)
{
    char text[4096];
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        long r = ck_file_read_into(AT_FDCWD, settings[i], 0, text, sizeof(text));
        if (r < 0 && ck_errkind_is_shortage((int)-r))
            return (int)r;
        put_bytes(out, settings[i], text, r);
    }
    return 0;
}

/* -ENOTSUP with a seccomp filter: the kernel shows that there is one, but not what it does. */
static int write_identity(FILE *out)
{
    CK_HEAP char *text = ck_heap_own(malloc(STATUS_BYTES));
    long r = !text ? -ENOMEM : ck_file_read_into(AT_FDCWD, "/proc/thread-self/status", 0, text, STATUS_BYTES);
    if (r < 0)
        return ck_errkind_is_shortage((int)-r) ? (int)r : -ENOTSUP;
    for (size_t i = 0; i < sizeof(identity) / sizeof(identity[0]); i++) {
        const char *line = strstr(text, identity[i]);
        if (!line || line == text || line[-1] != '\n')
            return -ENOTSUP;
        (void)fprintf(out, "%.*s\n", (int)strcspn(line, "\n"), line);
        if (strcmp(identity[i], "Seccomp:") == 0 && strtol(line + strlen("Seccomp:"), NULL, 10) != 0)
            return -ENOTSUP;
    }
    (void)fprintf(out, "securebits %d\n", prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
    return 0;
}

/*
 * The kernel gives the number of a namespace that is gone to a new one. The number of a mount is
 * unique since 6.8, and before that the first process of another container has started at another
 * time.
 */
static int write_place(FILE *out)
{
    char path[64], link[64], text[1024];
    struct statx root = {0};
    for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
        (void)snprintf(path, sizeof(path), "/proc/thread-self/ns/%s", namespaces[i]);
        ssize_t length = readlink(path, link, sizeof(link));
        if (length < 0 && ck_errkind_is_shortage(errno))
            return -errno;
        put_bytes(out, namespaces[i], link, length);
    }
    if (statx(AT_FDCWD, "/", AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_MNT_ID_UNIQUE_BIT, &root) < 0)
        return ck_errkind_is_shortage(errno) ? -errno : -ENOTSUP;
    (void)fprintf(out, "root %u:%u %llu %llu\n", root.stx_dev_major, root.stx_dev_minor,
                  (unsigned long long)root.stx_ino, (unsigned long long)root.stx_mnt_id);
    long r = ck_file_read_into(AT_FDCWD, "/proc/1/stat", 0, text, sizeof(text));
    if (r < 0 && ck_errkind_is_shortage((int)-r))
        return (int)r;
    /* The start is the 20th field after the name, which ends with the last ")". */
    const char *at = r < 0 ? NULL : strrchr(text, ')');
    for (unsigned field = 0; at && field < 20; field++)
        at = strchr(at + 1, ' ');
    (void)fprintf(out, "first process %.*s\n", at ? (int)strcspn(at + 1, " ") : 1, at ? at + 1 : "-");
    return 0;
}

static int write_file(const char *path, FILE *out)
{
    struct stat status = {0};
    if (stat(path, &status) < 0 && ck_errkind_is_shortage(errno))
        return -errno;
    const struct ck_version version = ck_version_of(&status);
    (void)fprintf(out, "file %s %llu %llu %lld %lld %lld\n", path, (unsigned long long)version.device,
                  (unsigned long long)version.inode, (long long)version.size, (long long)version.mtime_ns,
                  (long long)version.ctime_ns);
    return 0;
}

/* What of the system a jail is made of, and what this build is made of. */
static int write_build(const struct ck_proof_conditions *conditions, FILE *out)
{
    const struct scmp_version *seccomp = seccomp_version();
    struct utsname kernel;
    if (uname(&kernel) < 0)
        return -errno;
    (void)fprintf(out, "kernel %s %s %s\n", kernel.release, kernel.version, kernel.machine);
    (void)fprintf(out, "keeper %s\n", conditions->keeper_sha256);
    (void)fprintf(out, "seccomp %u.%u.%u\n", seccomp ? seccomp->major : 0, seccomp ? seccomp->minor : 0,
                  seccomp ? seccomp->micro : 0);
    (void)fprintf(out, "libraries %d\n", conditions->libraries_fit);
    for (size_t i = 0; i < conditions->files_count; i++) {
        int r = write_file(conditions->files[i], out);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < conditions->search_count; i++)
        put_bytes(out, "search", conditions->search[i], (long)strlen(conditions->search[i]));
    return 0;
}

int ck_proof_conditions_write(const struct ck_proof_conditions *conditions, FILE *out)
{
    int r = write_build(conditions, out);
    if (r == 0)
        r = write_identity(out);
    if (r == 0)
        r = write_place(out);
    return r < 0 ? r : write_settings(out);
}

int ck_proof_conditions_digest(const struct ck_proof_conditions *conditions, char ret_hex[CK_DIGEST_SIZE])
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return -ENOMEM;
    int r = ck_proof_conditions_write(conditions, out);
    bool bad = ferror(out) != 0;
    if ((fclose(out) != 0 || bad) && r == 0)
        r = -ENOMEM;
    if (r == 0)
        ck_digest_bytes(text, length, ret_hex);
    free(text);
    return r;
}
