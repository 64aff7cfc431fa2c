/*
 * series.c - which file of a log comes next.
 *
 * A log that is rotated gets its second name before its first leads elsewhere (format.h). So the
 * names are read again each time a file ends. The inode says which file was read last, whatever was
 * renamed meanwhile.
 */
#include "audit/name.h"
#include "audit/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The path of a log in two parts. */
struct log_name {
    char directory[PATH_MAX]; /* with a slash at its end */
    const char *name;
};

/* The search among the rotated files: the one with this inode, and the first after it. */
struct series_search {
    const struct log_name *log;
    const struct stat *after;
    char found[NAME_MAX + 1]; /* the name of after; "" while it is not known */
    char next[NAME_MAX + 1];
};

/* directory keeps its slash, so that "/name" and "name" need no special case later. */
static int split(const char *path, struct log_name *ret_log)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? snprintf(ret_log->directory, sizeof(ret_log->directory), "%.*s", (int)(slash + 1 - path), path)
                       : snprintf(ret_log->directory, sizeof(ret_log->directory), "./");
    ret_log->name = slash ? slash + 1 : path;
    return length >= (int)sizeof(ret_log->directory) ? -ENAMETOOLONG : 0;
}

/* By number: a longer number is later, also one with more digits than usual. */
static int compare(const char *a, const char *b)
{
    size_t first = strlen(a), second = strlen(b);
    return first != second ? (first > second) - (first < second) : strcmp(a, b);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void copy_name(char dst[NAME_MAX + 1], const char *name)
{
    (void)snprintf(dst, NAME_MAX + 1, "%s", name);
}

/* Calls visit for every rotated file. A directory that cannot be read counts as empty. */
static void each_rotated(struct series_search *search, void (*visit)(struct series_search *, int, const char *))
{
    DIR *directory = opendir(search->log->directory);
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (ck_name_is_rotated(entry->d_name, search->log->name))
            visit(search, dirfd(directory), entry->d_name);
    (void)closedir(directory);
}

/* Of two names for one file the later one counts: it was read last. */
static void find_name(struct series_search *search, int directory_fd, const char *name)
{
    struct stat status;
    if (fstatat(directory_fd, name, &status, 0) == 0 && is_same(&status, search->after) &&
        compare(name, search->found) > 0)
        copy_name(search->found, name);
}

/*
 * The smallest name after found. found is "" for the first file, and every name comes after that.
 */
static void find_next(struct series_search *search, int directory_fd, const char *name)
{
    (void)directory_fd;
    if (compare(name, search->found) > 0 && (search->next[0] == '\0' || compare(name, search->next) < 0))
        copy_name(search->next, name);
}

/* The rotated name under which the file was read; "" if it is not a rotated file. */
static void find_current(struct series_search *search, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    if (ck_name_is_rotated(name, search->log->name)) /* a rotated file keeps its name */
        copy_name(search->found, name);
    else
        each_rotated(search, find_name);
}

int ck_series_next(const char *path, const char *file, const struct stat *after, char ret_path[PATH_MAX])
{
    struct log_name log;
    struct series_search search = {.log = &log, .after = after};
    struct stat status;
    if (split(path, &log) < 0)
        return -ENAMETOOLONG;
    bool exists = stat(path, &status) == 0;
    /* the log itself was read last: nothing comes after it */
    if (exists && after && is_same(&status, after))
        return -ENOENT;
    if (after)
        find_current(&search, file);
    /*
     * a file that is neither the log nor a rotated file (any more) has no successor here but the
     * log
     */
    if (!after || search.found[0] != '\0')
        each_rotated(&search, find_next);
    int length;
    if (search.next[0] != '\0')
        length = snprintf(ret_path, PATH_MAX, "%s%s", log.directory, search.next);
    else if (exists || !after)
        length = snprintf(ret_path, PATH_MAX, "%s", path);
    else
        return -ENOENT;
    return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}
