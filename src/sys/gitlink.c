/*
 * gitlink.c - proves that a git directory outside the root belongs to it. See gitlink.h.
 *
 * A linked worktree:  ROOT/.git names COMMON/worktrees/ID; COMMON/worktrees/ID/gitdir must name
 *                     ROOT/.git, by its inode and by the directory that holds it.
 * A submodule:        ROOT/.git names the directory of the module; core.worktree in its config must
 *                     lead to ROOT.
 *
 * COMMON must be a git directory. Otherwise a repository that is cloned into a directory of the
 * name "worktrees" could have a directory show the one above it, such as the user's home.
 */
#include "sys/gitlink.h"

#include "base/errkind.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/quote.h"
#include "sys/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "gitdir: "
#define LINK_MAX_BYTES (PATH_MAX + 16) /* a path and its prefix; a longer file is no link */
#define CONFIG_MAX_BYTES ((size_t)1 << 20)
#define DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* What is compared. */
struct search {
    int root_fd;
    struct ck_identity root;
    struct ck_identity link; /* the file .git of the root */
    struct ck_gitlink *found;
    int shortage; /* a negative errno: something could not be looked at, so nothing is known */
    /* texts, here because together they are too large for a stack of 64 KiB */
    char link_text[PATH_MAX], gitdir[PATH_MAX], value[PATH_MAX], right[PATH_MAX], scratch[PATH_MAX];
    char line[LINK_MAX_BYTES + 1];
    char whole[2 * PATH_MAX];
};

/* ---- messages ---- */

/* The nearest directory above the root that has a directory .git; "" if none has one. */
static void find_above(const struct search *search, char *ret_path)
{
    CK_FD fd = openat(search->root_fd, "..", DIRECTORY);
    struct ck_identity here, last = search->root;
    struct stat status;
    ret_path[0] = '\0';
    while (fd >= 0 && ck_trust_identity_of(fd, &here) == 0 && !ck_trust_is_same(here, last)) {
        if (fstatat(fd, ".git", &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode)) {
            if (ck_beneath_path(fd, ret_path, PATH_MAX) < 0)
                ret_path[0] = '\0';
            return;
        }
        last = here;
        int above = openat(fd, "..", DIRECTORY);
        ck_fd_close(&fd);
        fd = above;
    }
}

/*
 * The directory whose own .git the link leads into, by the text of the link: for a message, so it
 * need not be proven. "" if the link does not look like that.
 */
static void find_named(const struct search *search, char *ret_path)
{
    struct stat status;
    const char *git = strstr(search->whole, "/.git/");
    ret_path[0] = '\0';
    if (!git || git == search->whole || (size_t)(git - search->whole) + sizeof("/.git") > PATH_MAX)
        return;
    (void)snprintf(ret_path, PATH_MAX, "%.*s/.git", (int)(git - search->whole), search->whole);
    if (lstat(ret_path, &status) < 0 || !S_ISDIR(status.st_mode))
        ret_path[0] = '\0';
    else
        ret_path[git - search->whole] = '\0';
}

/* right: the root to use instead; NULL or "": look for one. After a shortage its errno, no message. */
static int refuse(struct search *search, const char *why, const char *right)
{
    char quoted[CK_QUOTE_MAX];
    if (search->shortage < 0)
        return search->shortage;
    if (!right || right[0] == '\0') {
        find_above(search, search->scratch);
        if (search->scratch[0] == '\0')
            find_named(search, search->scratch);
        right = search->scratch;
    }
    (void)ck_quote(quoted, sizeof(quoted), right, strlen(right));
    (void)snprintf(search->found->message, sizeof(search->found->message),
                   "the git directory that '.git' of the root names is not shown: %s; use --root %s%s%s", why,
                   right[0] != '\0' ? "'" : "", right[0] != '\0' ? quoted : "with a directory that has its own .git",
                   right[0] != '\0' ? "'" : "");
    return -EPERM;
}

/* ---- files ---- */

/* Returns r, a descriptor or a negative errno, and notes a shortage. */
static int note(struct search *search, int r)
{
    if (r < 0 && ck_errkind_is_shortage(-r))
        search->shortage = r;
    return r;
}

static int open_directory(struct search *search, int directory_fd, const char *path)
{
    int fd = openat(directory_fd, path, DIRECTORY);
    return note(search, fd < 0 ? -errno : fd);
}

/*
 * One line of text: a path, maybe after a prefix. 1; 0 if it does not begin with the prefix; -EPERM
 * for a text that is no path; other errnos as open has them.
 */
static int read_line(struct search *search, int fd, const char *prefix, char ret_path[PATH_MAX])
{
    char *text = search->line;
    ssize_t length = pread(fd, text, sizeof(search->line), 0);
    size_t skip = strlen(prefix);
    if (length < 0)
        return -errno;
    if ((size_t)length < skip || memcmp(text, prefix, skip) != 0)
        return 0;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    size_t rest = (size_t)length > skip ? (size_t)length - skip : 0;
    if (rest == 0 || rest >= PATH_MAX || memchr(text + skip, '\0', rest) || memchr(text + skip, '\n', rest))
        return -EPERM;
    memcpy(ret_path, text + skip, rest);
    ret_path[rest] = '\0';
    return 1;
}

static int read_line_of(struct search *search, int directory_fd, const char *name, char ret_path[PATH_MAX])
{
    CK_FD fd = note(search, ck_file_open(directory_fd, name, O_NOFOLLOW, NULL));
    return fd < 0 ? fd : read_line(search, fd, "", ret_path);
}

/* The names that git itself requires. */
static bool is_git_directory(int fd)
{
    struct stat head, objects, refs;
    return fstatat(fd, "HEAD", &head, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(head.st_mode) &&
           fstatat(fd, "objects", &objects, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(objects.st_mode) &&
           fstatat(fd, "refs", &refs, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(refs.st_mode);
}

/* ---- the proof of a worktree ---- */

/*
 * Does the path name the root's file .git? The directory that holds it must be the root: a hard
 * link of the file elsewhere does not count. search->right: the root that it names instead.
 */
static bool names_root(struct search *search, int directory_fd, const char *path)
{
    struct stat status;
    struct ck_identity holder;
    char *parent = search->scratch;
    const char *name = strrchr(path, '/');
    search->right[0] = '\0';
    if (!name || strcmp(name, "/.git") != 0)
        return false;
    (void)snprintf(parent, PATH_MAX, "%.*s", name == path ? 1 : (int)(name - path), path);
    CK_FD fd = open_directory(search, directory_fd, parent);
    if (fd < 0 || ck_trust_identity_of(fd, &holder) < 0)
        return false;
    if (ck_trust_is_same(holder, search->root))
        return fstatat(fd, ".git", &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
               ck_trust_is_same((struct ck_identity){status.st_dev, status.st_ino}, search->link);
    if (ck_beneath_path(fd, search->right, PATH_MAX) < 0)
        search->right[0] = '\0';
    return false;
}

/* admin_fd: COMMON/worktrees/ID. Returns a descriptor of COMMON, or -EPERM with a message. */
static int prove_worktree(struct search *search, int admin_fd)
{
    char *admin = search->scratch;
    struct ck_identity above, named;
    if (!names_root(search, admin_fd, search->gitdir))
        return refuse(search, "it belongs to another work tree", search->right);
    int r = ck_beneath_path(admin_fd, admin, PATH_MAX);
    if (r < 0)
        return r;
    char *id = strrchr(admin, '/');
    *id = '\0';
    const char *worktrees = strrchr(admin, '/');
    CK_FD common_fd = open_directory(search, admin_fd, "../..");
    if (common_fd < 0)
        return common_fd;
    CK_FD named_fd = read_line_of(search, admin_fd, "commondir", search->value) == 1
                         ? open_directory(search, admin_fd, search->value)
                         : -1;
    if (!worktrees || strcmp(worktrees, "/worktrees") != 0 || named_fd < 0 ||
        ck_trust_identity_of(common_fd, &above) < 0 || ck_trust_identity_of(named_fd, &named) < 0 ||
        !ck_trust_is_same(above, named) || !is_git_directory(common_fd))
        return refuse(search, "it is not in 'worktrees' of a git directory", NULL);
    return ck_fd_take(&common_fd);
}

/* ---- the proof of a submodule ---- */

/*
 * One value as git reads it: quotes, escapes and comments. -EINVAL for what it continues on the
 * next line.
 */
static int take_value(const char *at, const char *end, char ret_value[PATH_MAX])
{
    size_t length = 0, kept = 0;
    bool quoted = false;
    for (; at < end && length + 1 < PATH_MAX; at++) {
        char byte = *at;
        if (byte == '"') {
            quoted = !quoted;
            continue;
        }
        if (!quoted && (byte == '#' || byte == ';'))
            break;
        if (byte == '\\') {
            if (++at == end || (*at != '\\' && *at != '"'))
                return -EINVAL;
            byte = *at;
        }
        if (length == 0 && !quoted && (byte == ' ' || byte == '\t'))
            continue;
        ret_value[length++] = byte;
        /* Blanks at the end do not count. */
        if (quoted || (byte != ' ' && byte != '\t' && byte != '\r'))
            kept = length;
    }
    ret_value[kept] = '\0';
    return quoted || length + 1 >= PATH_MAX ? -EINVAL : 0;
}

/* Moves *at past the header of a section, if there is one. */
static void take_header(const char **at, const char *end, bool *core)
{
    if (*at == end || **at != '[')
        return;
    const char *close = memchr(*at, ']', (size_t)(end - *at));
    *core = close && close - *at == 5 && strncasecmp(*at, "[core", 5) == 0;
    *at = close ? close + 1 : end;
}

int ck_gitlink_worktree_key(const char *text, size_t length, char ret_value[PATH_MAX])
{
    static const char key[] = "worktree";
    bool core = false;
    int found = 0;
    if (memchr(text, '\0', length))
        return -EINVAL;
    for (const char *at = text, *stop = text + length; at < stop;) {
        const char *newline = memchr(at, '\n', (size_t)(stop - at));
        const char *end = newline ? newline : stop;
        while (at < end && strchr(" \t", *at))
            at++;
        take_header(&at, end, &core);
        while (at < end && strchr(" \t", *at))
            at++;
        size_t name = 0;
        while (at + name < end && !strchr(" \t=\r", at[name]))
            name++;
        const char *equals = memchr(at, '=', (size_t)(end - at));
        if (core && name == strlen(key) && strncasecmp(at, key, name) == 0 &&
            (++found > 1 || !equals || take_value(equals + 1, end, ret_value) < 0))
            return -EINVAL;
        /* A line that is continued could hide the key on the next one. */
        if (end > at && end[-1] == '\\')
            return -EINVAL;
        at = end + 1;
    }
    return found;
}

static int prove_submodule(struct search *search, int module_fd)
{
    CK_HEAP char *text = NULL;
    size_t length;
    char *right = search->right;
    struct ck_identity leads;
    int r = ck_file_read(module_fd, "config", O_NOFOLLOW, CONFIG_MAX_BYTES, &text, &length);
    if (ck_errkind_is_shortage(-r))
        return r;
    if (r < 0 || !is_git_directory(module_fd))
        return refuse(search, "it is not a git directory", NULL);
    r = ck_gitlink_worktree_key(text, length, search->value);
    if (r == 0 && ck_beneath_path(module_fd, right, PATH_MAX) == 0) {
        char *name = strrchr(right, '/');
        bool plain = strcmp(name, "/.git") == 0;
        *name = '\0';
        return refuse(search, "it belongs to another repository", plain ? right : NULL);
    }
    if (r != 1)
        return refuse(search, "its config does not name one work tree", NULL);
    CK_FD fd = open_directory(search, module_fd, search->value);
    if (fd < 0 || ck_trust_identity_of(fd, &leads) < 0)
        return refuse(search, "its core.worktree leads nowhere", NULL);
    if (ck_trust_is_same(leads, search->root))
        return 0;
    return refuse(search, "its core.worktree leads elsewhere", ck_beneath_path(fd, right, PATH_MAX) < 0 ? NULL : right);
}

/* ---- the whole ---- */

/* Reaches the proven directory by a path that is trusted as a tool's path is. */
static int take_place(struct search *search, int fd)
{
    struct ck_gitlink *found = search->found;
    struct ck_identity wanted = {0}, walked = {0};
    struct choke_error error = {0};
    int r = ck_beneath_path(fd, found->path, sizeof(found->path));
    if (r == 0)
        r = ck_trust_identity_of(fd, &wanted);
    if (r < 0)
        return r;
    r = ck_trust_walk(found->path, &found->place, &error);
    if (r == 0)
        r = ck_trust_identity_of(found->place.fd, &walked);
    if (ck_errkind_is_shortage(-r))
        return r;
    if (r < 0)
        return refuse(search, r == -EPERM ? error.message : strerror(-r), NULL);
    return ck_trust_is_same(wanted, walked) ? 1 : refuse(search, "it was replaced during the look-up", NULL);
}

/* place: what .git names. */
static int prove(struct search *search, const struct ck_trusted *place)
{
    if (ck_trust_passes(place, search->root))
        return 0; /* inside the root, so the jail shows it already */
    if (!S_ISDIR(place->status.st_mode))
        return refuse(search, "it is not a directory", NULL);
    int r = read_line_of(search, place->fd, "gitdir", search->gitdir);
    if (ck_errkind_is_shortage(-r))
        return r;
    if (r == -ENOENT) {
        r = prove_submodule(search, place->fd);
        return r < 0 ? r : take_place(search, place->fd);
    }
    if (r != 1)
        return refuse(search, "its file 'gitdir' is not a path", NULL);
    CK_FD common_fd = prove_worktree(search, place->fd);
    return common_fd < 0 ? common_fd : take_place(search, common_fd);
}

/* The path in .git is relative to the directory that holds it. */
static int find(struct search *search)
{
    struct ck_trusted place;
    struct choke_error error = {0};
    bool absolute = search->link_text[0] == '/';
    int r = absolute ? 0 : ck_beneath_path(search->root_fd, search->scratch, PATH_MAX);
    if (r < 0)
        return r;
    (void)snprintf(search->whole, sizeof(search->whole), "%s%s%s", absolute ? "" : search->scratch, absolute ? "" : "/",
                   search->link_text);
    r = ck_trust_walk(search->whole, &place, &error);
    if (r == 0)
        r = prove(search, &place);
    else if (!ck_errkind_is_shortage(-r))
        r = refuse(search, r == -EPERM ? error.message : strerror(-r), NULL);
    ck_trust_done(&place);
    return r;
}

/* fd: the file .git of the root. */
static int start(struct search *search, int fd, const struct stat *status)
{
    search->link = (struct ck_identity){.device = status->st_dev, .inode = status->st_ino};
    int r = ck_trust_identity_of(search->root_fd, &search->root);
    if (r == 0)
        r = read_line(search, fd, PREFIX, search->link_text);
    if (r == -EPERM)
        return refuse(search, "it is not one path", NULL);
    return r <= 0 ? r : find(search);
}

int ck_gitlink_find(int root_fd, struct ck_gitlink *ret)
{
    struct stat status;
    ret->place = (struct ck_trusted){.fd = -1, .parent_fd = -1};
    ret->message[0] = '\0';
    /* Only a regular file is a link. Opening anything else could block, or have effects. */
    if (fstatat(root_fd, ".git", &status, AT_SYMLINK_NOFOLLOW) < 0)
        return ck_errkind_is_shortage(errno) ? -errno : 0;
    if (!S_ISREG(status.st_mode))
        return 0;
    CK_FD fd = ck_file_open(root_fd, ".git", O_NOFOLLOW, &status);
    if (fd < 0)
        return ck_errkind_is_shortage(-fd) ? fd : 0;
    CK_HEAP struct search *search = ck_heap_own(malloc(sizeof(*search)));
    if (!search)
        return -ENOMEM;
    search->root_fd = root_fd;
    search->found = ret;
    search->shortage = 0;
    search->whole[0] = '\0';
    return start(search, fd, &status);
}

void ck_gitlink_done(struct ck_gitlink *gitlink)
{
    ck_trust_done(&gitlink->place);
}
