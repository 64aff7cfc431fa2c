/* list.c - see list.h. */
#include "fleet/list.h"

#include "base/fd.h"
#include "base/file.h"
#include "base/heap.h"
#include "front/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_BYTES_MAX ((size_t)256 << 20)
#define URL_MAX 2048
#define SCHEME "https://"
#define PORT_USUAL 443

/* ---- URLs ---- */

/* What a URL of a repository may have after its host: nothing that a program could take for more. */
static const char path_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/+%@:,=";

static bool has_dots(const char *path)
{
    for (const char *at = strstr(path, ".."); at; at = strstr(at + 1, ".."))
        if (at[-1] == '/' && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

/* A scheme, as RFC 3986 has it, and "://". */
static bool has_scheme(const char *line)
{
    size_t length = 0;

    if (!isalpha((unsigned char)line[0]))
        return false;
    while (isalnum((unsigned char)line[length]) || (line[length] != '\0' && strchr("+-.", line[length])))
        length++;
    return strncmp(line + length, "://", 3) == 0;
}

/* NULL, or why it is not valid. ret_url has URL_MAX + 1 bytes. */
static const char *normalize_url(const char *line, char *ret_url)
{
    struct ck_hostname host;
    const char *reason = NULL;
    const char *authority = line + strlen(SCHEME);
    const char *path = authority + strcspn(authority, "/?#");
    uint16_t port = PORT_USUAL;

    if (strlen(line) > URL_MAX - 8)
        return "the URL is too long";
    if (strncasecmp(line, SCHEME, strlen(SCHEME)) != 0)
        return "only https:// and paths are possible";
    if (memchr(authority, '@', (size_t)(path - authority)))
        return "a URL must not have a user or a password";
    const char *end = path;
    const char *colon = memrchr(authority, ':', (size_t)(path - authority));
    if (colon && !memchr(colon, ']', (size_t)(path - colon))) {
        port = ck_destination_parse_port(colon + 1, (size_t)(path - colon - 1));
        end = colon;
    }
    if (port == 0)
        return "the port of the URL is not valid";
    if (ck_destination_parse_host(authority, (size_t)(end - authority), &host, &reason) < 0)
        return "the host of the URL is not valid";
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/')
        length--;
    if (length == 0 || strspn(path, path_characters) != strlen(path) || has_dots(path))
        return "the path of the URL is empty, or has a character or '..' that is not possible";
    bool brackets = host.numeric && strchr(host.text, ':');
    int used = snprintf(ret_url, URL_MAX + 1, SCHEME "%s%s%s", brackets ? "[" : "", host.text, brackets ? "]" : "");
    if (port != PORT_USUAL)
        used += snprintf(ret_url + used, URL_MAX + 1 - (size_t)used, ":%u", port);
    (void)snprintf(ret_url + used, URL_MAX + 1 - (size_t)used, "%.*s", (int)length, path);
    return NULL;
}

void ck_fleet_url_host(const char *url, char dst[CK_FLEET_HOST_SIZE])
{
    const char *host = url + strlen(SCHEME);
    (void)snprintf(dst, CK_FLEET_HOST_SIZE, "%.*s", (int)strcspn(host, "/"), host);
}

/* ---- paths ---- */

static char *join(const char *directory, const char *name)
{
    char *whole = NULL;
    return asprintf(&whole, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name) < 0 ? NULL : whole;
}

/* The last name of a path is missing. ret_whole is set unless its directory is missing, too; false: out of memory. */
static bool resolve_directory(const char *path, char **ret_whole)
{
    CK_HEAP char *copy = ck_heap_own(strdup(path));
    char directory[PATH_MAX];

    if (!copy)
        return false;
    for (size_t length = strlen(copy); length > 1 && copy[length - 1] == '/'; length--)
        copy[length - 1] = '\0';
    char *slash = strrchr(copy, '/');
    const char *name = slash ? slash + 1 : copy;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return true;
    if (slash)
        *slash = '\0';
    if (!realpath(!slash ? "." : slash == copy ? "/" : copy, directory))
        return true;
    *ret_whole = join(directory, name);
    return *ret_whole;
}

char *ck_fleet_list_path(const char *path)
{
    char directory[PATH_MAX];
    char *whole = realpath(path, NULL);

    if (whole || !resolve_directory(path, &whole) || whole)
        return whole;
    if (path[0] == '/')
        return strdup(path);
    return getcwd(directory, sizeof(directory)) ? join(directory, path) : NULL;
}

/* ---- names ---- */

static bool is_plain(char byte)
{
    return isalnum((unsigned char)byte) || byte == '-' || byte == '_' || byte == '.';
}

/* The last two parts of the path, with '_' for what other programs could misread. */
static void make_name(const char *where, char dst[CK_FLEET_NAME_SIZE])
{
    const char *const parts[] = {where};
    char digits[CK_FINGERPRINT_SIZE];
    size_t length = strlen(where), used = 0;

    if (length > 4 && strcmp(where + length - 4, ".git") == 0)
        length -= 4;
    const char *start = where + length;
    for (unsigned slashes = 0; start > where; start--) {
        slashes += start[-1] == '/';
        if (slashes == 2 || where + length - start == CK_FLEET_READABLE_MAX)
            break;
    }
    for (; start < where + length && used < CK_FLEET_READABLE_MAX; start++)
        dst[used++] = *start == '/' ? '-' : is_plain(*start) ? *start : '_';
    /* No hidden file, and no option. */
    if (used > 0 && (dst[0] == '.' || dst[0] == '-'))
        dst[0] = '_';
    ck_fingerprint_make(digits, parts, 1);
    (void)snprintf(dst + used, CK_FLEET_NAME_SIZE - used, "%s%s", used > 0 ? "-" : "", digits);
}

bool ck_fleet_name_is_valid(const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < length; i++)
        if (!is_plain(name[i]))
            return false;
    return length >= CK_FINGERPRINT_SIZE - 1 && length < CK_FLEET_NAME_SIZE && name[0] != '.' && name[0] != '-';
}

/* ---- the list ---- */

static int out_of_memory(struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, ENOMEM, "out of memory");
}

int ck_fleet_list_add(struct ck_fleet_list *list, char *where, bool is_url)
{
    /* Grown by doubling. */
    if ((list->count & (list->count - 1)) == 0) {
        size_t wanted = list->count > 0 ? list->count * 2 : 1;
        struct ck_fleet_entry *grown = reallocarray(list->items, wanted, sizeof(*grown));
        if (!grown) {
            free(where);
            return -ENOMEM;
        }
        list->items = grown;
    }
    struct ck_fleet_entry *entry = &list->items[list->count++];
    *entry = (struct ck_fleet_entry){.where = where, .is_url = is_url};
    make_name(where, entry->name);
    return 0;
}

static int add_line(struct ck_fleet_list *list, const char *line, size_t number, struct choke_error *error)
{
    CK_HEAP char *url = NULL;
    char *where = NULL;

    if (line[0] == '\0' || line[0] == '#')
        return 0;
    if (list->count == CK_FLEET_LIST_MAX)
        return ck_text_error(error, CHOKE_INVALID, E2BIG, "the list has more than %d repositories", CK_FLEET_LIST_MAX);
    bool is_url = has_scheme(line);
    if (is_url) {
        url = ck_heap_own(malloc(URL_MAX + 1));
        /* The URL is not in the message: it could have a password. */
        const char *fault = url ? normalize_url(line, url) : NULL;
        if (fault)
            return ck_text_error(error, CHOKE_INVALID, EINVAL, "line %zu of the list: %s", number, fault);
        where = url ? strdup(url) : NULL;
    } else {
        where = ck_fleet_list_path(line);
    }
    return where && ck_fleet_list_add(list, where, is_url) == 0 ? 0 : out_of_memory(error);
}

static int compare_places(const void *left, const void *right, void *data)
{
    const struct ck_fleet_entry *items = data;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int order = strcmp(items[a].where, items[b].where);

    return order != 0 ? order : (a > b) - (a < b);
}

/* The first of several equal lines stays. */
static int drop_repeated(struct ck_fleet_list *list, struct choke_error *error)
{
    CK_HEAP size_t *order = ck_heap_own(calloc(list->count + 1, sizeof(*order)));
    CK_HEAP bool *drop = ck_heap_own(calloc(list->count + 1, sizeof(*drop)));
    size_t kept = 0;

    if (!order || !drop)
        return out_of_memory(error);
    for (size_t i = 0; i < list->count; i++)
        order[i] = i;
    qsort_r(order, list->count, sizeof(*order), compare_places, list->items);
    for (size_t i = 1; i < list->count; i++)
        drop[order[i]] = strcmp(list->items[order[i]].where, list->items[order[i - 1]].where) == 0;
    for (size_t i = 0; i < list->count; i++) {
        if (drop[i])
            free(list->items[i].where);
        else
            list->items[kept++] = list->items[i];
    }
    list->repeated = list->count - kept;
    list->count = kept;
    return 0;
}

int ck_fleet_list_parse(char *text, size_t length, struct ck_fleet_list *ret_list, struct choke_error *error)
{
    size_t number = 1;
    int r = 0;

    *ret_list = (struct ck_fleet_list){0};
    if (strlen(text) != length)
        return ck_text_error(error, CHOKE_INVALID, EINVAL, "the list has a NUL in it; it must be text");
    for (char *line = text, *next; r == 0 && line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r = add_line(ret_list, line, number, error);
    }
    if (r == 0)
        r = drop_repeated(ret_list, error);
    if (r == 0 && ret_list->count == 0)
        r = ck_text_error(error, CHOKE_INVALID, EINVAL, "the list names no repository");
    return r;
}

int ck_fleet_list_read(const char *path, struct ck_fleet_list *ret_list, struct choke_error *error)
{
    CK_HEAP char *text = NULL;
    size_t length = 0;

    *ret_list = (struct ck_fleet_list){0};
    int r = strcmp(path, "-") == 0 ? ck_fd_read_text(STDIN_FILENO, LIST_BYTES_MAX, &text, &length)
                                   : ck_file_read(AT_FDCWD, path, 0, LIST_BYTES_MAX, &text, &length);
    if (r < 0)
        return ck_text_error(error, CHOKE_INVALID, -r, "cannot read the list '%s': %s", CK_TEXT_SAFE(path),
                             r == -EFBIG ? "it has more than 256 MiB" : strerror(-r));
    return ck_fleet_list_parse(text, length, ret_list, error);
}

void ck_fleet_list_done(struct ck_fleet_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].where);
    free(list->items);
    *list = (struct ck_fleet_list){0};
}
