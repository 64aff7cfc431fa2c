/*
 * static_names.c - in the static command, takes the place of functions of libc that ask the name service.
 *
 * libc's own would load the modules that /etc/nsswitch.conf names. They are shared libraries: a static program crashes
 * in them, and whoever sets LD_LIBRARY_PATH chooses them. A user is looked up in /etc/passwd alone (docs/adr/0096). The
 * library for customers has libc's functions.
 */
#include <errno.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>

/* As getpwuid_r. In the library that the static command is linked with, calls of that name are calls of this one. */
int ck_static_names_find_user(uid_t uid, struct passwd *entry, char *text, size_t size, struct passwd **ret_found);

int ck_static_names_find_user(uid_t uid, struct passwd *entry, char *text, size_t size, struct passwd **ret_found)
{
    *ret_found = NULL;
    FILE *stream = fopen("/etc/passwd", "re");
    if (!stream)
        return errno;
    int r = 0;
    for (struct passwd *found = NULL; r == 0 && !*ret_found;) {
        r = fgetpwent_r(stream, entry, text, size, &found);
        if (r == 0 && found->pw_uid == uid)
            *ret_found = found;
    }
    (void)fclose(stream);
    return r == ENOENT ? 0 : r; /* ENOENT: the end of the file */
}

/*
 * c-ares has references to these two. We ask it for addresses only, so neither is called. The names of the parameters are
 * those of libc's header.
 */
struct servent *getservbyname(const char *name, const char *proto)
{
    (void)name;
    (void)proto;
    return NULL;
}

int getservbyport_r(int port, const char *proto, struct servent *result_buf, char *buf, size_t buflen,
                    struct servent **result)
{
    (void)port;
    (void)proto;
    *result_buf = (struct servent){0};
    if (buflen > 0)
        buf[0] = '\0';
    *result = NULL;
    return ENOENT;
}
