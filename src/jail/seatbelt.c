/*
 * seatbelt.c - the profile and the command line of sandbox-exec, for macOS. See seatbelt.h.
 *
 * The profile denies by default. The kernel uses the last rule that matches, so no rule that allows
 * may come after the two rules that deny by name. A program needs some things before its first
 * instruction: the shared cache of the loader, the names of its parent directories, some sysctl
 * values, and the service that answers getpwuid.
 */
#include "jail/seatbelt.h"

#include "jail/jail.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const layers[] = {"seatbelt", "execs", "no_network", NULL};

const struct ck_jail ck_jail_seatbelt = {.name = "seatbelt", .layers = layers};

static const char head[] = "(version 1)\n"
                           "(deny default)\n"
                           "(allow process-fork)\n"
                           "(allow signal (target same-sandbox))\n"
                           "(allow process-info* (target same-sandbox))\n"
                           "(allow sysctl-read)\n"
                           "(allow mach-lookup\n"
                           "  (global-name \"com.apple.system.logger\")\n"
                           "  (global-name \"com.apple.system.notification_center\")\n"
                           "  (global-name \"com.apple.system.opendirectoryd.libinfo\"))\n"
                           "(allow file-read*\n"
                           "  (literal \"/\")\n"
                           "  (subpath \"/bin\")\n"
                           "  (subpath \"/sbin\")\n"
                           "  (subpath \"/usr\")\n"
                           "  (subpath \"/System\")\n"
                           "  (subpath \"/Library/Apple\")\n"
                           "  (subpath \"/opt/homebrew\")\n"
                           "  (subpath \"/private/etc/ssl\")\n"
                           "  (literal \"/private/etc/localtime\")\n"
                           "  (literal \"/private/etc/passwd\")\n"
                           "  (literal \"/private/etc/group\")\n"
                           "  (subpath \"/private/var/db/dyld\")\n"
                           "  (subpath \"/private/var/db/timezone\"))\n"
                           "(allow file-map-executable\n"
                           "  (subpath \"/usr/lib\")\n"
                           "  (subpath \"/System/Library\")\n"
                           "  (subpath \"/opt/homebrew\"))\n"
                           "(allow file-read* file-write-data\n"
                           "  (literal \"/dev/null\")\n"
                           "  (literal \"/dev/zero\")\n"
                           "  (literal \"/dev/random\")\n"
                           "  (literal \"/dev/urandom\"))\n";
static const char tail[] = "(deny file-write-setugid)\n"
                           "(deny network*)\n";

/* ---- text ---- */

/* A path with a control byte is refused; quote() escapes only quotes and backslashes. */
static bool writable_in_profile(const char *path)
{
    if (path[0] != '/')
        return false;
    for (const unsigned char *at = (const unsigned char *)path; *at != '\0'; at++)
        if (*at < 0x20 || *at == 0x7f)
            return false;
    return true;
}

/* In double quotes, with a backslash before each quote and backslash. */
static const char *quote(const char *path, struct ck_arena *arena)
{
    char *text = ck_arena_alloc(arena, 2 * strlen(path) + 3);
    if (!text)
        return NULL;
    char *to = text;
    *to++ = '"';
    for (; *path != '\0'; path++) {
        if (*path == '"' || *path == '\\')
            *to++ = '\\';
        *to++ = *path;
    }
    *to = '"';
    return text;
}

/* ---- the profile ---- */

static bool check_paths(const struct ck_seatbelt_wanted *wanted)
{
    bool good =
        writable_in_profile(wanted->root) && writable_in_profile(wanted->scratch) && writable_in_profile(wanted->tool);
    for (size_t i = 0; good && wanted->execs[i]; i++)
        good = writable_in_profile(wanted->execs[i]);
    return good;
}

static const char *list_execs(const struct ck_seatbelt_wanted *wanted, struct ck_arena *arena)
{
    const char *tool = quote(wanted->tool, arena);
    const char *list = !tool ? NULL : ck_arena_printf(arena, "\n  (literal %s)", tool);
    for (size_t i = 0; list && wanted->execs[i]; i++) {
        const char *exec = quote(wanted->execs[i], arena);
        list = !exec ? NULL : ck_arena_printf(arena, "%s\n  (literal %s)", list, exec);
    }
    return list;
}

const char *ck_seatbelt_profile(const struct ck_seatbelt_wanted *wanted, struct ck_arena *arena)
{
    errno = EINVAL;
    if (!check_paths(wanted))
        return NULL;
    errno = ENOMEM;
    const char *root = quote(wanted->root, arena);
    const char *scratch = quote(wanted->scratch, arena);
    const char *execs = list_execs(wanted, arena);
    if (!root || !scratch || !execs)
        return NULL;
    return ck_arena_printf(arena,
                           "%s"
                           "(allow file-read-metadata\n  (path-ancestors %s)\n  (path-ancestors %s))\n"
                           "(allow file-read*%s (subpath %s))\n"
                           "(allow file-read* file-write* (subpath %s))\n"
                           "(allow file-read* file-map-executable process-exec%s)\n"
                           "%s",
                           head, root, scratch, wanted->writable ? " file-write*" : "", root, scratch, execs, tail);
}

/* ---- the command line ---- */

const char **ck_seatbelt_argv(const struct ck_seatbelt_wanted *wanted, const char *profile, struct ck_arena *arena)
{
    size_t argc = 0;
    while (wanted->argv[argc])
        argc++;
    const char *const first[] = {"sandbox-exec", "-p", profile, "--", wanted->tool};
    const size_t count = sizeof(first) / sizeof(first[0]);
    const char **args = ck_arena_array(arena, count + argc + 1, sizeof(*args));
    if (!args)
        return NULL;
    for (size_t i = 0; i < count; i++)
        args[i] = first[i];
    for (size_t i = 1; i < argc; i++)
        args[count + i - 1] = wanted->argv[i];
    return args;
}
