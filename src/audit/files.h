/*
 * files.h - the file operations of the log, as a table.
 *
 * log.c uses only this table, so that a test can put the steps of several writers into every order,
 * and end a writer at any step. Names are relative to the directory of the log. All functions
 * return a negative errno on failure.
 */
#ifndef CK_AUDIT_FILES_H
#define CK_AUDIT_FILES_H

#include "chokepoint.h"
#include "sys/trust.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Identity and size of a file. */
struct ck_audit_file_state {
    struct ck_identity identity; /* device and inode */
    uint64_t size;               /* in bytes */
};

struct ck_audit_file_ops {
    /*
     * Opens for reading and appending. *error has a message, except with -ENOENT. A file that is
     * not trusted is an error.
     */
    int (*open)(void *data, const char *name, int *ret_fd, struct ck_audit_file_state *ret_state,
                struct choke_error *error);
    void (*close)(void *data, int *fd);
    /*
     * Exclusive. The kernel releases it when its holder dies. -EWOULDBLOCK: someone else holds it.
     */
    int (*lock)(void *data, int fd);
    void (*unlock)(void *data, int fd);
    /* The file that the name leads to now; or -ENOENT. */
    int (*stat_name)(void *data, const char *name, struct ck_audit_file_state *ret_state);
    ssize_t (*read)(void *data, int fd, char *buffer, size_t length, uint64_t offset);
    ssize_t (*append)(void *data, int fd, const char *text, size_t length);
    /* A new file with this text; the name is random, so no one else uses it. */
    int (*make)(void *data, const char *name, const char *text, size_t length, bool durable);
    int (*link)(void *data, const char *name, const char *second); /* -EEXIST */
    int (*rename)(void *data, const char *name, const char *over);
    void (*remove)(void *data, const char *name);
    int (*sync)(void *data, int fd);
    void (*sync_names)(void *data);
    /* 1 if there is a file that the log was rotated into, 0 if there is none. */
    int (*has_rotated)(void *data, const char *name);
    /* Under the lock: removes unfinished new files that dead writers have left. */
    void (*sweep)(void *data, const char *name);
    /* Waits before the lock is tried again; longer at each try. */
    void (*backoff)(void *data, unsigned tried);
};

/* The real operations; data is a struct ck_audit_directory. */
extern const struct ck_audit_file_ops ck_audit_real_files;

struct ck_audit_directory {
    struct ck_trusted place; /* how the directory was reached */
    int fd;                  /* to open names in; -1: not yet opened */
};

/*
 * Opens the directory of an absolute path, by a path that no one else can redirect. Creates it with
 * mode 0700 if it is missing. *ret_name is the last component of path. directory is zero-filled
 * before, with fd -1; call ck_audit_directory_done in any case.
 */
int ck_audit_directory_open(struct ck_audit_directory *directory, const char *path, const char **ret_name,
                            struct choke_error *error);
void ck_audit_directory_done(struct ck_audit_directory *directory);

#endif
