/*
 * files.h - what the log does to the file system, as a table.
 *
 * The protocol of log.c goes through it, so that a test can put every step of several writers into every order, and end
 * one of them at any step. Names are in the directory of the log. All return a negative errno on failure.
 */
#ifndef CK_AUDIT_FILES_H
#define CK_AUDIT_FILES_H

#include "chokepoint.h"
#include "sys/trust.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Which file it is, and how long. */
struct ck_audit_file_state {
    struct ck_identity identity;
    uint64_t size;
};

struct ck_audit_file_ops {
    /* For reading and appending. -ENOENT without words; others, and what is not to be trusted, with words in *error. */
    int (*open)(void *data, const char *name, int *ret_fd, struct ck_audit_file_state *ret_state,
                struct choke_error *error);
    void (*close)(void *data, int *fd);
    /* Whoever holds the lock is alone; it goes with the one who holds it. -EWOULDBLOCK: another one has it. */
    int (*lock)(void *data, int fd);
    void (*unlock)(void *data, int fd);
    /* What the name leads to now; -ENOENT. */
    int (*stat_name)(void *data, const char *name, struct ck_audit_file_state *ret_state);
    ssize_t (*read)(void *data, int fd, char *buffer, size_t length, uint64_t offset);
    ssize_t (*append)(void *data, int fd, const char *text, size_t length);
    /* A new file with this text; its name is nobody else's. */
    int (*make)(void *data, const char *name, const char *text, size_t length, bool durable);
    int (*link)(void *data, const char *name, const char *second); /* -EEXIST */
    int (*rename)(void *data, const char *name, const char *over);
    void (*remove)(void *data, const char *name);
    int (*sync)(void *data, int fd);
    void (*sync_names)(void *data);
    /* 1 where there is a file that the log was rotated into, 0 where there is none. */
    int (*has_rotated)(void *data, const char *name);
    /* Under the lock: removes the files on their way that writers who died have left. */
    void (*sweep)(void *data, const char *name);
    /* A rest before the lock is tried again; longer at each try. */
    void (*backoff)(void *data, unsigned tried);
};

/* The real one; its data is a struct ck_audit_directory. */
extern const struct ck_audit_file_ops ck_audit_real_files;

struct ck_audit_directory {
    struct ck_trusted place;
    int fd; /* to open names in; -1: not yet opened */
};

/*
 * Opens the directory of an absolute path by a way that nobody else can redirect, and makes it, with mode 0700, where it
 * is missing. *ret_name is the rest of path. Zero-filled but for fd -1 before; done in any case.
 */
int ck_audit_directory_open(struct ck_audit_directory *directory, const char *path, const char **ret_name,
                            struct choke_error *error);
void ck_audit_directory_done(struct ck_audit_directory *directory);

#endif
