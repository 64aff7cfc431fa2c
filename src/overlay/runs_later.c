/*
 * runs_later.c - decides which changes run later, from names, content and symlinks.
 *
 * The rules are data: policy/runs-later.txt. Names are compared without regard to case. In doubt
 * the answer is yes: a false alarm costs a look, a missed one costs a run.
 */
#include "overlay/runs_later.h"

#include "base/json.h"
#include "overlay/runs_later_rules.h"

#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ASCII only; other letters are compared as they are. */
static unsigned char lower(char letter)
{
    return (unsigned char)(letter >= 'A' && letter <= 'Z' ? letter + 0x20 : letter);
}

/*
 * Like strncasecmp, but independent of the host program's locale: in a Turkish one 'I' is
 * different.
 */
static int compare_text(const char *one, const char *other, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        int order = lower(one[i]) - lower(other[i]);
        if (order != 0 || one[i] == '\0')
            return order;
    }
    return 0;
}

/* compare_text stops at the NUL, so the length does not matter. */
static bool is_same(const char *one, const char *other)
{
    return compare_text(one, other, SIZE_MAX) == 0;
}

static bool begins_with(const char *text, const char *beginning, size_t length)
{
    return compare_text(text, beginning, length) == 0;
}

/*
 * The last letter is compared first: most names already fail there. The name must be longer than
 * the ending.
 */
static bool ends_with(const char *name, size_t length, const char *ending)
{
    size_t wanted = strlen(ending);
    return length > wanted && lower(name[length - 1]) == lower(ending[wanted - 1]) &&
           is_same(name + length - wanted, ending);
}

/* The component after the first one of path; NULL if that is the last. */
static const char *next_component(const char *path)
{
    const char *slash = strchr(path, '/');
    return slash ? slash + 1 : NULL;
}

/*
 * Rules for files in certain directories, which may be at any depth: a rule is compared at each
 * component.
 */
static const char *under_reason(const char *path, const char *name)
{
    for (const char *at = path; at && at != name; at = next_component(at))
        for (size_t i = ck_runs_later_starts[CK_RUNS_LATER_UNDER]; i < ck_runs_later_starts[CK_RUNS_LATER_UNDER + 1];
             i++) {
            const struct ck_runs_later_rule *rule = &ck_runs_later_rules[i];
            if (begins_with(at, rule->under, strlen(rule->under)) &&
                (rule->text[0] == '\0' || is_same(rule->text, name)))
                return rule->reason;
        }
    return NULL;
}

/* Binary search among the rules for a whole name. */
static const char *name_reason(const char *name)
{
    size_t from = ck_runs_later_starts[CK_RUNS_LATER_NAME], to = ck_runs_later_starts[CK_RUNS_LATER_NAME + 1];
    /* The generator sorts these rules by the same comparison. */
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = compare_text(name, ck_runs_later_rules[middle].text, SIZE_MAX);
        if (order == 0)
            return ck_runs_later_rules[middle].reason;
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

const char *ck_runs_later_by_path(const char *path)
{
    const char *name = last_component(path);
    const char *why = under_reason(path, name);
    if (!why)
        why = name_reason(name);
    for (size_t i = ck_runs_later_starts[CK_RUNS_LATER_BEGINS];
         !why && i < ck_runs_later_starts[CK_RUNS_LATER_BEGINS + 1]; i++)
        if (begins_with(name, ck_runs_later_rules[i].text, strlen(ck_runs_later_rules[i].text)))
            why = ck_runs_later_rules[i].reason;
    size_t length = strlen(name);
    for (size_t i = ck_runs_later_starts[CK_RUNS_LATER_ENDS]; !why && i < ck_runs_later_starts[CK_RUNS_LATER_ENDS + 1];
         i++)
        if (ends_with(name, length, ck_runs_later_rules[i].text))
            why = ck_runs_later_rules[i].reason;
    return why;
}

/* Does rest start with the directories "a/b/", or do they start with rest and a '/'? */
static bool leads_to(const char *rest, const char *under)
{
    size_t length = strlen(rest), wanted = strlen(under);
    if (wanted <= length)
        return begins_with(rest, under, wanted);
    return under[length] == '/' && begins_with(rest, under, length);
}

/* rest begins at a component of the path. */
static const char *directory_reason(const char *rest)
{
    for (size_t i = ck_runs_later_starts[CK_RUNS_LATER_UNDER]; i < ck_runs_later_starts[CK_RUNS_LATER_UNDER + 1]; i++)
        if (leads_to(rest, ck_runs_later_rules[i].under))
            return ck_runs_later_rules[i].reason;
    return NULL;
}

/* The innermost directory decides: .git/hooks holds hooks. */
const char *ck_runs_later_by_directory(const char *path)
{
    const char *why = NULL;
    for (const char *at = path; at && *at != '\0'; at = next_component(at)) {
        const char *inner = directory_reason(at);
        why = inner ? inner : why;
    }
    return why;
}

const char *ck_runs_later_by_content(const char *head, size_t length, bool executable)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *why;
    } beginnings[] = {
        /*
         * The kernel or a binfmt handler runs these: a script, ELF, a DOS/Windows program, Mach-O
         * (64 bits, and universal, which is also a Java class).
         */
        {"#!", 2, "script"},
        {"\177ELF", 4, "program"},
        {"MZ", 2, "program"},
        {"\xcf\xfa\xed\xfe", 4, "program"},
        {"\xca\xfe\xba\xbe", 4, "program"},
    };
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (length >= beginnings[i].length && memcmp(head, beginnings[i].bytes, beginnings[i].length) == 0)
            return beginnings[i].why;
    return executable ? "executable" : NULL;
}

/*
 * Looks only at the text. The meaning of ".." after a name depends on what that name is later, so
 * it counts as leading out. So does an absolute target: inside the jail it leads to another place
 * than outside.
 */
static bool leads_out(const char *path, const char *target)
{
    size_t depth = 0;
    bool named = false;
    if (target[0] == '/')
        return true;
    for (const char *at = path; *at != '\0'; at++)
        depth += *at == '/' ? 1u : 0u;
    for (const char *at = target; *at != '\0';) {
        size_t length = strcspn(at, "/");
        /* ".." at the beginning goes up from the directory of the link, at most to the root. */
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            if (named || depth == 0)
                return true;
            depth--;
        } else if (length > 1 || (length == 1 && at[0] != '.')) {
            named = true;
        }
        at += length + (at[length] == '/' ? 1 : 0);
    }
    return false;
}

const char *ck_runs_later_by_link(const char *path, const char *target)
{
    if (leads_out(path, target))
        return "leads out of the root";
    if (ck_runs_later_is_package(path))
        return "package script"; /* nothing compares its target with the old package.json */
    const char *why = ck_runs_later_by_path(path);
    return why ? why : ck_runs_later_by_directory(path);
}

bool ck_runs_later_resolve(const char *path, const char *target, char *ret_path)
{
    char joined[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    /* into a copy, because ret_path may be path */
    memcpy(joined, path, length);
    for (const char *at = target; *at != '\0';) {
        size_t part = strcspn(at, "/");
        if (part == 2 && at[0] == '.' && at[1] == '.') {
            /* removes the last component and its slash */
            while (length > 0 && joined[--length] != '/')
                ;
        } else if (part > 1 || (part == 1 && at[0] != '.')) {
            if (length + 1 + part >= sizeof(joined))
                return false;
            if (length > 0)
                joined[length++] = '/';
            memcpy(joined + length, at, part);
            length += part;
        }
        at += part + (at[part] == '/' ? 1 : 0);
    }
    memcpy(ret_path, joined, length);
    ret_path[length] = '\0';
    return true;
}

/* ---- package.json ------------------------------------------------------------------------ */

bool ck_runs_later_is_package(const char *path)
{
    return is_same(last_component(path), "package.json");
}

/* Members that describe a package and do not affect what is run, fetched or loaded. */
static bool is_description(const char *key)
{
    static const char *const keys[] = {"name",   "version", "description",  "keywords", "homepage",   "bugs", "license",
                                       "author", "private", "contributors", "funding",  "repository", "files"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* Finds a member of one that the other does not have, or has with another value. */
static const char *compare(json_t *one, json_t *other)
{
    const char *why = NULL, *key;
    json_t *value;
    json_object_foreach(one, key, value)
    {
        if (is_description(key) || json_equal(value, json_object_get(other, key)))
            continue;
        if (strcmp(key, "scripts") == 0)
            return "package script";
        why = "package settings";
    }
    return why;
}

/* JSON nested deeper than anyone writes by hand counts as a script. */
const char *ck_runs_later_by_package(const char *before, size_t before_length, const char *after, size_t after_length)
{
    static const char script[] = "package script";
    if (ck_json_is_deep(after, after_length) || (before && ck_json_is_deep(before, before_length)))
        return script;
    json_t *is = json_loadb(after, after_length, JSON_REJECT_DUPLICATES, NULL);
    /*
     * A new file is compared with an empty object: all that it has is new. With a name twice,
     * readers disagree on its value, so such a file is not compared and counts as a script.
     */
    json_t *was = before ? json_loadb(before, before_length, JSON_REJECT_DUPLICATES, NULL) : json_object();
    const char *why = script;
    if (json_is_object(is) && json_is_object(was)) {
        /*
         * Both ways, because compare looks only at members of its first argument. A script is the
         * stronger reason.
         */
        const char *gone = compare(was, is);
        why = compare(is, was);
        if (!why || (gone && strcmp(gone, script) == 0))
            why = gone;
    }
    json_decref(is);
    json_decref(was);
    return why;
}
