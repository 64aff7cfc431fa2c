/* exec_names.h - which files a tool tried to execute that its jail does not let it execute. */
#ifndef CK_RUN_KEEPER_EXEC_NAMES_H
#define CK_RUN_KEEPER_EXEC_NAMES_H

#include "base/denial.h"

#include <stdbool.h>
#include <stdint.h>

#define CK_EXEC_NAMES_LOOKED_FOR 32
#define CK_EXEC_NAMES_TEXT 256

struct ck_init_status;
struct ck_native_jail;
struct seccomp_notif;
struct stat;

struct ck_exec_names_file {
    uint64_t device, inode;
    int32_t error; /* with which it is refused */
    uint32_t kind; /* enum ck_denial_kind; 0: EXEC */
};

/*
 * A file that the jail does not let a process execute, and that a process asked about. It is a
 * refusal unless a file of the same name can be executed, at another place.
 */
struct ck_exec_names_looked_for {
    struct ck_exec_names_file file;
    char name[CK_EXEC_NAMES_TEXT]; /* last part of the path; empty: this element is free */
    char path[CK_EXEC_NAMES_TEXT];
    char by[CK_EXEC_NAMES_TEXT];
};

/* What a system call is about. */
struct ck_exec_names_target {
    int directory_fd;
    uint64_t path_at;
    uint32_t flags;
    bool only_asks; /* access with X_OK: nothing is executed */
};

struct ck_exec_names {
    const struct ck_native_jail *jail;
    bool sealed;   /* the tool may execute nothing */
    uint32_t tool; /* pid of the tool */
    unsigned next;
    struct ck_exec_names_looked_for looked_for[CK_EXEC_NAMES_LOOKED_FOR];
    /* Of the notification that is answered. */
    char given[CK_DENIAL_PATH_MAX];       /* path as the tool gave it */
    char opened[CK_DENIAL_PATH_MAX + 64]; /* the same for a process with another /proc/self and another directory */
    char shown[CK_DENIAL_PATH_MAX];
    char by[CK_EXEC_NAMES_TEXT];
    struct ck_exec_names_file file;
};

/* Whether the notification is about an execution. */
bool ck_exec_names_concerns(const struct seccomp_notif *asked);

/* The answer: 0, the call continues; or a negative errno. */
int32_t ck_exec_names_judge(struct ck_exec_names *names, int listener_fd, const struct seccomp_notif *asked);

/*
 * Parts that why.c and learn.c use too. The path of the tool's call, into names->given; false: it cannot be
 * read. Then the same path for us, into names->opened; the path as a reader knows it, into
 * names->shown; the last part of a path; the program that the process is, into names->by.
 */
bool ck_exec_names_read(struct ck_exec_names *names, uint32_t pid, uint64_t at);
void ck_exec_names_translate(struct ck_exec_names *names, uint32_t pid, int directory_fd);
void ck_exec_names_show(struct ck_exec_names *names, int fd);
const char *ck_exec_names_last_part(const char *path);
void ck_exec_names_read_by(struct ck_exec_names *names, uint32_t pid);

/*
 * After ck_exec_names_read: opens what the call is about with O_PATH. Nothing waits, and no lease is
 * broken. Negative: there is no such file.
 */
long ck_exec_names_open_given(struct ck_exec_names *names, uint32_t pid, const struct ck_exec_names_target *target);

/*
 * Reads the interpreter of a script into names->given, as the kernel does. False: it is no script.
 */
bool ck_exec_names_read_interpreter(struct ck_exec_names *names, int fd);

/* Is the file itself in the list of the jail, and not only its directory? */
bool ck_exec_names_is_listed(const struct ck_native_jail *jail, const struct stat *file);

/* openat, close-on-exec, without a notification. A descriptor or a negative errno. */
long ck_exec_names_open(const struct ck_exec_names *names, const char *path, int flags);

/* Notes a refusal, if it is not noted yet. */
void ck_exec_names_note(const struct ck_exec_names *names, const struct ck_exec_names_file *file, const char *path,
                        const char *by);

/* When the tool has ended. */
void ck_exec_names_end(struct ck_exec_names *names);

#endif
