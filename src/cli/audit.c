/* audit.c - how the audit commands read and report; see audit.h. */
#include "cli/audit.h"

#include "base/fd.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX (16 << 20) /* far more than all heads that the library accepts */

/* Status 2, not 125: a script can tell a damaged log from one that was not read. */
int ck_audit_unreadable(const struct choke_error *error)
{
    (void)fprintf(stderr, "chokepoint: %s\n", error->message);
    return CK_AUDIT_UNREADABLE;
}

void ck_audit_report_damage(const struct choke_audit_report *report)
{
    (void)fprintf(stderr, "chokepoint: %s:%llu: %s: %s\n", CK_TEXT_SAFE(report->file), (unsigned long long)report->line,
                  choke_damage_name(report->damage), report->message);
}

/* path must live as long as files: its address is added, not a copy. */
const char *const *ck_audit_paths(struct ck_string_list *files, char path[PATH_MAX], struct choke_error *error)
{
    if (files->count == 0 &&
        (choke_audit_default_path(path, PATH_MAX, error) < 0 || ck_options_add_word(files, path, error) < 0))
        return NULL;
    return files->items;
}

/* The type of the file is not checked, so that a pipe of the shell, "<(command)", works too. */
static int read_text(const char *path, char **ret_text)
{
    size_t length;
    CK_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    return fd < 0 ? -errno : ck_fd_read_text(fd, TEXT_MAX, ret_text, &length);
}

/* A file with a name that begins with the prefix must be given as "./NAME". */
char *ck_audit_text(const char *given, const char *prefix, struct choke_error *error)
{
    char *text = NULL;
    int r = 0;

    if (strncmp(given, prefix, strlen(prefix)) != 0)
        r = read_text(given, &text);
    else if (!(text = strdup(given)))
        r = -ENOMEM;
    if (r < 0)
        (void)ck_text_error(error, CHOKE_INVALID, -r, "cannot read '%s': %s", CK_TEXT_SAFE(given),
                            r == -ENOENT ? "it does not exist" : strerror(-r));
    return text;
}
