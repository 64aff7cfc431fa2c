/*
 * list.h - the LIST of a fleet: one repository a line, and the name that its document gets.
 *
 * A line is the path of a repository, or https://HOST[:PORT]/PATH. Empty lines and lines that begin
 * with '#' are ignored. A line has any bytes but newline and NUL; a path is relative to the working
 * directory. What leads to the same directory, or is the same URL, is one repository.
 */
#ifndef CK_FLEET_LIST_H
#define CK_FLEET_LIST_H

#include "base/destination.h"
#include "chokepoint.h"
#include "front/fingerprint.h"

#include <stdbool.h>
#include <stddef.h>

#define CK_FLEET_LIST_MAX 200000 /* repositories: as many documents as a report reads */
#define CK_FLEET_READABLE_MAX 40 /* of a name: the part that people recognise */
/* the readable part, '-', the digits of a fingerprint and its NUL */
#define CK_FLEET_NAME_SIZE (CK_FLEET_READABLE_MAX + 1 + CK_FINGERPRINT_SIZE)

struct ck_fleet_entry {
    char *where; /* in its normal form: an absolute path, or a URL */
    bool is_url;
    char name[CK_FLEET_NAME_SIZE];
};

struct ck_fleet_list {
    struct ck_fleet_entry *items; /* in the order of LIST, each once */
    size_t count;
    size_t repeated; /* lines that were left out */
};

/*
 * path "-" is standard input. Returns 0, or a negative errno: a line that cannot be the name of a
 * repository is an error with its number. A path need not exist.
 */
int ck_fleet_list_read(const char *path, struct ck_fleet_list *ret_list, struct choke_error *error);

/* The same from text, which is changed. */
int ck_fleet_list_parse(char *text, size_t length, struct ck_fleet_list *ret_list, struct choke_error *error);
void ck_fleet_list_done(struct ck_fleet_list *list);

/* where is in normal form; it is taken over. Returns 0 or -ENOMEM. */
int ck_fleet_list_add(struct ck_fleet_list *list, char *where, bool is_url);

/*
 * The normal form of a path: absolute, and without symlinks, "." and "..". What does not exist has that of its directory and
 * its name, so that it has the same form when it is there; if the directory is missing too, it is only absolute. NULL: out of memory.
 */
char *ck_fleet_list_path(const char *path);

/* A name that ck_fleet_list_add can have made? Names come from files, and become parts of paths. */
bool ck_fleet_name_is_valid(const char *name);

/* HOST or HOST:PORT of a URL in normal form, as a rule of egress. */
#define CK_FLEET_HOST_SIZE (CK_HOSTNAME_MAX + 8)
void ck_fleet_url_host(const char *url, char dst[CK_FLEET_HOST_SIZE]);

#endif
