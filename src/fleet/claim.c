/* claim.c - see claim.h. */
#include "fleet/claim.h"

#include "base/fd.h"
#include "base/file.h"
#include "fleet/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NAME_SIZE (CK_FLEET_NAME_SIZE + 8)
#define WORD_SIZE 80
#define WORDS_MAX 6

/* ---- who this process is ---- */

static void read_word(const char *path, char dst[WORD_SIZE])
{
    if (ck_file_read_into(AT_FDCWD, path, 0, dst, WORD_SIZE) <= 0)
        dst[0] = '\0';
    dst[strcspn(dst, " \n")] = '\0';
    if (dst[0] == '\0')
        (void)snprintf(dst, WORD_SIZE, "unknown");
}

/* The name of the machine as well: machines that were copied have the same id. */
static void read_machine(char dst[WORD_SIZE])
{
    struct utsname names;
    char id[WORD_SIZE];

    read_word("/etc/machine-id", id);
    (void)snprintf(dst, WORD_SIZE, "%.32s/%.40s", id, uname(&names) == 0 ? names.nodename : "unknown");
}

static void read_pid_namespace(char dst[WORD_SIZE])
{
    struct stat status;
    (void)snprintf(dst, WORD_SIZE, "%llu",
                   stat("/proc/self/ns/pid", &status) == 0 ? (unsigned long long)status.st_ino : 0ULL);
}

/*
 * When the process began, in clock ticks since the boot: a pid alone is used again. 0: no such
 * process. A zombie has ended.
 */
static unsigned long long start_of(const char *pid)
{
    char path[64], text[1024];
    char state = 'Z';
    unsigned long long start = 0;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    if (ck_file_read_into(AT_FDCWD, path, 0, text, sizeof(text)) <= 0)
        return 0;
    /* The name of the program is in parentheses, and can have some itself. */
    const char *after = strrchr(text, ')');
    if (!after || sscanf(after + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                         &state, &start) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : start;
}

void ck_claim_self_local(char dst[CK_CLAIM_HOLDER_SIZE])
{
    char machine[WORD_SIZE], boot[WORD_SIZE], namespace[WORD_SIZE], pid[WORD_SIZE];

    read_machine(machine);
    read_word("/proc/sys/kernel/random/boot_id", boot);
    read_pid_namespace(namespace);
    (void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
    (void)snprintf(dst, CK_CLAIM_HOLDER_SIZE, "local %s %.40s %.24s %s %llu", machine, boot, namespace, pid,
                   start_of(pid));
}

void ck_claim_self_task(char dst[CK_CLAIM_HOLDER_SIZE], const char *kind, const char *job, const char *task,
                        const char *restarts)
{
    (void)snprintf(dst, CK_CLAIM_HOLDER_SIZE, "%.16s %.64s %.24s %.24s", kind, job, task, restarts);
}

/* ---- who others are ---- */

/* Splits at blanks; returns how many words there are. */
static size_t split(const char *holder, char words[WORDS_MAX][WORD_SIZE])
{
    size_t count = 0;

    while (*holder != '\0' && count < WORDS_MAX) {
        size_t length = strcspn(holder, " ");
        (void)snprintf(words[count++], WORD_SIZE, "%.*s", (int)(length < WORD_SIZE ? length : WORD_SIZE - 1), holder);
        holder += length + (holder[length] == ' ');
    }
    return count;
}

/* Of another machine, or another container: not known, so it counts as alive. */
static bool is_process_live(char words[WORDS_MAX][WORD_SIZE])
{
    char machine[WORD_SIZE], boot[WORD_SIZE], namespace[WORD_SIZE], start[WORD_SIZE];

    read_machine(machine);
    read_word("/proc/sys/kernel/random/boot_id", boot);
    read_pid_namespace(namespace);
    if (strcmp(words[1], machine) != 0)
        return true;
    if (strcmp(words[2], boot) != 0)
        return false;
    if (strcmp(words[3], namespace) != 0)
        return true;
    (void)snprintf(start, sizeof(start), "%llu", start_of(words[4]));
    return strcmp(words[5], start) == 0;
}

/* A task that was started again has the same numbers: its earlier process is gone. */
static bool is_earlier_self(const struct ck_claims *claims, char words[WORDS_MAX][WORD_SIZE])
{
    char self[WORDS_MAX][WORD_SIZE] = {0};

    return split(claims->self, self) == 4 && strcmp(self[0], words[0]) == 0 && strcmp(self[1], words[1]) == 0 &&
           strcmp(self[2], words[2]) == 0;
}

bool ck_claim_is_live(const struct ck_claims *claims, const char *holder)
{
    char words[WORDS_MAX][WORD_SIZE] = {0};
    size_t count = split(holder, words);

    if (claims->is_gone && claims->is_gone(claims->data, holder))
        return false;
    if (count == WORDS_MAX && strcmp(words[0], "local") == 0)
        return is_process_live(words);
    if (count == 4 && is_earlier_self(claims, words))
        return false;
    /* A task; or of a later version, or damaged: not known. */
    return true;
}

/* ---- claims ---- */

bool ck_claim_any_live(const struct ck_claims *claims)
{
    char holder[CK_CLAIM_HOLDER_SIZE];
    bool found = false;
    CK_FD fd = openat(claims->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(dup(fd));
    const struct dirent *entry;

    /* What cannot be known counts as alive. */
    if (!directory)
        return true;
    while (!found && (entry = readdir(directory))) {
        ssize_t length = entry->d_name[0] == '.' ? -1 : readlinkat(fd, entry->d_name, holder, CK_CLAIM_HOLDER_SIZE - 1);
        holder[length > 0 ? length : 0] = '\0';
        found = length > 0 && ck_claim_is_live(claims, holder);
    }
    (void)closedir(directory);
    return found;
}

static void number_name(char dst[NAME_SIZE], const char *name, unsigned number)
{
    (void)snprintf(dst, NAME_SIZE, "%s~%u", name, number);
}

/* False: there is none with that number. */
static bool read_claim(const struct ck_claims *claims, const char *name, unsigned number,
                       char dst[CK_CLAIM_HOLDER_SIZE])
{
    char path[NAME_SIZE];

    number_name(path, name, number);
    ssize_t length = readlinkat(claims->fd, path, dst, CK_CLAIM_HOLDER_SIZE - 1);
    if (length < 0)
        /* Something else has the name: it counts as a claim of somebody unknown. */
        return errno != ENOENT && snprintf(dst, CK_CLAIM_HOLDER_SIZE, "unknown") > 0;
    dst[length] = '\0';
    return true;
}

/* The number of the last claim, whose holder is in dst; 0: none. */
static unsigned find_last(const struct ck_claims *claims, const char *name, char dst[CK_CLAIM_HOLDER_SIZE],
                          unsigned *ret_lost)
{
    char holder[CK_CLAIM_HOLDER_SIZE];
    unsigned number = 0, lost = 0;

    while (number < CK_CLAIM_TRIES_MAX && read_claim(claims, name, number + 1, holder)) {
        number++;
        (void)snprintf(dst, CK_CLAIM_HOLDER_SIZE, "%s", holder);
        lost += strncmp(holder, "local ", 6) != 0;
    }
    if (ret_lost)
        *ret_lost = lost;
    return number;
}

bool ck_claim_holder(const struct ck_claims *claims, const char *name, char dst[CK_CLAIM_HOLDER_SIZE])
{
    return find_last(claims, name, dst, NULL) > 0;
}

int ck_claim_take(const struct ck_claims *claims, const char *name, unsigned *ret_lost)
{
    char holder[CK_CLAIM_HOLDER_SIZE], path[NAME_SIZE];

    for (;;) {
        unsigned last = find_last(claims, name, holder, ret_lost);
        /* A retransmitted request of NFS can fail although it has worked: then the claim is our own. */
        if (last > 0 && strcmp(holder, claims->self) == 0)
            return CK_CLAIM_TAKEN;
        if (last > 0 && ck_claim_is_live(claims, holder))
            return CK_CLAIM_HELD;
        if (last == CK_CLAIM_TRIES_MAX)
            return -ELOOP;
        number_name(path, name, last + 1);
        if (symlinkat(claims->self, claims->fd, path) == 0)
            return CK_CLAIM_TAKEN;
        if (errno != EEXIST)
            return -errno;
    }
}

/*
 * From the last on: if this process is killed in between, what is left is still found. Whoever takes
 * the claim meanwhile finds the result.
 */
void ck_claim_release(const struct ck_claims *claims, const char *name)
{
    char holder[CK_CLAIM_HOLDER_SIZE], path[NAME_SIZE];
    unsigned last = find_last(claims, name, holder, NULL);

    for (unsigned number = last; number > 0; number--) {
        number_name(path, name, number);
        (void)unlinkat(claims->fd, path, 0);
    }
}
