/*
 * breach_files.c - attacks on files and space.
 *
 * breach_files WAY [ARG]... - files and space that do not belong to the tool. See breach.h.
 *   read PATH, list DIR    prints nothing of what it finds
 *   write PATH             a small file, made or overwritten
 *   link FROM TO, rename FROM TO, symlink TEXT TO, mkfifo PATH, remove PATH, touch PATH, mode PATH
 *   fill DIR MEGABYTES     that much into files of DIR, which it leaves there
 *   inodes DIR COUNT       that many empty files
 *   memory MEGABYTES       that much memory, touched
 *   keep NAME, find NAME   a file in /dev/shm, left for another run, and found there
 *   keep_ipc KEY, find_ipc KEY    the same in a segment of System V
 *   keep_queue NAME, find_queue NAME    the same in a message queue
 *   identity               becomes another user
 */
#include "breach.h"

#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

#define MEGABYTE ((size_t)1 << 20)

static const char *read_file(char **arguments)
{
    char byte;
    int fd = open(arguments[0], O_RDONLY);
    if (fd < 0) {
        return "open";
    }
    return read(fd, &byte, 1) == 1 ? NULL : "read";
}

static const char *list(char **arguments)
{
    DIR *directory = opendir(arguments[0]);
    size_t count = 0;
    while (directory && readdir(directory)) {
        count++;
    }
    return count > 0 ? NULL : "opendir";
}

static const char *put(const char *path, int flags, const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | flags, 0644);
    if (fd < 0) {
        return "open";
    }
    const char *refused = write(fd, text, length) == (ssize_t)length ? NULL : "write";
    (void)close(fd);
    return refused;
}

static const char *write_file(char **arguments)
{
    return put(arguments[0], O_CREAT, "word", 4);
}

static const char *link_file(char **arguments)
{
    return link(arguments[0], arguments[1]) < 0 ? "link" : NULL;
}

static const char *rename_file(char **arguments)
{
    return rename(arguments[0], arguments[1]) < 0 ? "rename" : NULL;
}

static const char *link_name(char **arguments)
{
    return symlink(arguments[0], arguments[1]) < 0 ? "symlink" : NULL;
}

static const char *make_fifo(char **arguments)
{
    return mkfifo(arguments[0], 0644) < 0 ? "mkfifo" : NULL;
}

static const char *remove_file(char **arguments)
{
    return remove(arguments[0]) < 0 ? "remove" : NULL;
}

static const char *touch(char **arguments)
{
    return utimensat(AT_FDCWD, arguments[0], NULL, 0) < 0 ? "utimensat" : NULL;
}

static const char *mode(char **arguments)
{
    return chmod(arguments[0], 0777) < 0 ? "chmod" : NULL;
}

/* ---- space -------------------------------------------------------------------------------- */

static const char *fill(char **arguments)
{
    static char block[MEGABYTE];
    char path[4096];
    (void)memset(block, 'x', sizeof(block));
    (void)snprintf(path, sizeof(path), "%s/filling", arguments[0]);
    for (long i = 0; i < strtol(arguments[1], NULL, 10); i++) {
        const char *refused = put(path, O_CREAT | O_APPEND, block, sizeof(block));
        if (refused) {
            return refused;
        }
    }
    return NULL;
}

static const char *inodes(char **arguments)
{
    char path[4096];
    for (long i = 0; i < strtol(arguments[1], NULL, 10); i++) {
        (void)snprintf(path, sizeof(path), "%s/%ld", arguments[0], i);
        const char *refused = put(path, O_CREAT, "", 0);
        if (refused) {
            return refused;
        }
    }
    return NULL;
}

static const char *memory(char **arguments)
{
    size_t bytes = (size_t)strtol(arguments[0], NULL, 10) * MEGABYTE;
    char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        return "mmap";
    }
    for (size_t at = 0; at < bytes; at += 4096) {
        block[at] = 1;
    }
    return NULL;
}

/* ---- data for another run --------------------------------------------------------------- */

static const char *shared_name(const char *name)
{
    static char path[4096];
    (void)snprintf(path, sizeof(path), "/dev/shm/%s", name);
    return path;
}

static const char *keep(char **arguments)
{
    return put(shared_name(arguments[0]), O_CREAT, "word", 4);
}

static const char *find(char **arguments)
{
    return access(shared_name(arguments[0]), R_OK) < 0 ? "access" : NULL;
}

static const char *keep_ipc(char **arguments)
{
    return shmget((key_t)strtol(arguments[0], NULL, 10), 4096, IPC_CREAT | 0600) < 0 ? "shmget" : NULL;
}

static const char *find_ipc(char **arguments)
{
    return shmget((key_t)strtol(arguments[0], NULL, 10), 4096, 0) < 0 ? "shmget" : NULL;
}

static const char *keep_queue(char **arguments)
{
    return mq_open(arguments[0], O_CREAT | O_RDWR, 0600, NULL) < 0 ? "mq_open" : NULL;
}

static const char *find_queue(char **arguments)
{
    return mq_open(arguments[0], O_RDONLY) < 0 ? "mq_open" : NULL;
}

static const char *identity(char **arguments)
{
    (void)arguments;
    return setresuid(1, 1, 1) < 0 ? "setresuid" : NULL;
}

static const struct breach ways[] = {
    {"read", 1, read_file},
    {"list", 1, list},
    {"write", 1, write_file},
    {"link", 2, link_file},
    {"rename", 2, rename_file},
    {"symlink", 2, link_name},
    {"mkfifo", 1, make_fifo},
    {"remove", 1, remove_file},
    {"touch", 1, touch},
    {"mode", 1, mode},
    {"fill", 2, fill},
    {"inodes", 2, inodes},
    {"memory", 1, memory},
    {"keep", 1, keep},
    {"find", 1, find},
    {"keep_ipc", 1, keep_ipc},
    {"find_ipc", 1, find_ipc},
    {"keep_queue", 1, keep_queue},
    {"find_queue", 1, find_queue},
    {"identity", 0, identity},
};

int main(int argc, char **argv)
{
    return BREACH_MAIN(ways);
}
