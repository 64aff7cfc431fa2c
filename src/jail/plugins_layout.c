/*
 * plugins_layout.c - the table of interpreters. See plugins_layout.h.
 *
 * "%" is the version in the name of the interpreter: digits and dots. "*" stands for a part of one
 * component: the name of the machine (x86_64-linux-gnu), or the date of an interface of PHP. All
 * directories are in trees of the system. Node has its modules within itself.
 */
#include "jail/plugins_layout.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define DIRECTORIES_MAX 10

struct ck_plugins_layout {
    const char *interpreter;
    const char *directories[DIRECTORIES_MAX + 1];
};

#define RUBY \
    { \
        "/usr/lib/*-linux-*/ruby/%.0", "/usr/lib/*-linux-*/ruby/vendor_ruby", \
            "/usr/lib/*-linux-*/rubygems-integration/%.0", "/usr/lib/ruby/%.0", "/usr/lib/ruby/vendor_ruby", \
            "/usr/lib64/ruby", "/usr/local/lib/*-linux-*/site_ruby", "/usr/local/lib/ruby/%.0", \
            "/usr/local/lib/site_ruby", NULL, \
    }
#define PERL \
    { \
        "/usr/lib/*-linux-*/perl-base/auto", "/usr/lib/*-linux-*/perl/*/auto", "/usr/lib/*-linux-*/perl5/*/auto", \
            "/usr/lib/perl5", "/usr/lib64/perl5", "/usr/local/lib/*-linux-*/perl/*/auto", "/usr/local/lib/perl5", \
            "/usr/local/lib64/perl5", NULL, \
    }
#define PHP \
    { \
        "/usr/lib/php/20*", "/usr/lib64/php/modules", "/usr/local/lib/php/extensions", NULL, \
    }
#define LUA \
    { \
        "/usr/lib/*-linux-*/lua/%", "/usr/lib64/lua/%", "/usr/lib/lua/%", "/usr/local/lib/*-linux-*/lua/%", \
            "/usr/local/lib/lua/%", NULL, \
    }

static const struct ck_plugins_layout layouts[] = {
    {"/usr/bin/python3.%",
     {"/usr/lib/python3.%/lib-dynload", "/usr/lib/python3/dist-packages", "/usr/lib/python3.%/dist-packages",
      "/usr/lib/python3.%/site-packages", "/usr/lib64/python3.%/lib-dynload", "/usr/lib64/python3.%/site-packages",
      "/usr/local/lib/python3.%/dist-packages", "/usr/local/lib/python3.%/site-packages",
      "/usr/local/lib64/python3.%/site-packages", NULL}},
    {"/usr/local/bin/python3.%",
     {"/usr/local/lib/python3.%/lib-dynload", "/usr/local/lib/python3.%/site-packages",
      "/usr/local/lib64/python3.%/lib-dynload", "/usr/local/lib64/python3.%/site-packages", NULL}},
    {"/usr/bin/ruby%", RUBY},
    {"/usr/local/bin/ruby", {"/usr/local/lib/ruby", NULL}},
    {"/usr/bin/perl", PERL},
    {"/usr/bin/perl%", PERL},
    {"/usr/local/bin/perl", {"/usr/local/lib/perl5", NULL}},
    {"/usr/bin/php", PHP},
    {"/usr/bin/php%", PHP},
    {"/usr/local/bin/php", {"/usr/local/lib/php/extensions", NULL}},
    {"/usr/bin/lua%", LUA},
    {"/usr/local/bin/lua%", {"/usr/local/lib/lua/%", NULL}},
};

/* Takes the version where the pattern has "%". Nothing but digits and dots, so it is safe in a path. */
static bool matches(const char *pattern, const char *real, char version[CK_PLUGINS_VERSION_SIZE])
{
    size_t before = strcspn(pattern, "%");
    version[0] = '\0';
    if (pattern[before] == '\0')
        return strcmp(pattern, real) == 0;
    size_t length = strlen(real);
    if (strncmp(pattern, real, before) != 0 || length == before || length - before >= CK_PLUGINS_VERSION_SIZE)
        return false;
    const char *rest = real + before;
    if (rest[0] == '.' || rest[strspn(rest, "0123456789.")] != '\0' || strstr(rest, ".."))
        return false;
    memcpy(version, rest, length - before + 1);
    return true;
}

bool ck_plugins_layout_find(const char *real, struct ck_plugins_interpreter *ret_interpreter)
{
    if (strlen(real) >= sizeof(ret_interpreter->path))
        return false;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (!matches(layouts[i].interpreter, real, ret_interpreter->version))
            continue;
        ret_interpreter->layout = &layouts[i];
        memcpy(ret_interpreter->path, real, strlen(real) + 1);
        return true;
    }
    return false;
}

bool ck_plugins_layout_directory(const struct ck_plugins_interpreter *interpreter, size_t i, char ret_pattern[PATH_MAX])
{
    const char *text = interpreter->layout->directories[i];
    if (!text)
        return false;
    size_t before = strcspn(text, "%");
    (void)snprintf(ret_pattern, PATH_MAX, "%.*s%s%s", (int)before, text,
                   text[before] == '%' ? interpreter->version : "", text + before + (text[before] == '%'));
    return true;
}

/* The length of as many components as the pattern has; 0 if the path has no more than these. */
static size_t prefix_length(const char *pattern, const char *path)
{
    size_t at = 0;
    for (const char *slash = strchr(pattern, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (path[at] != '/')
            return 0;
        at += 1 + strcspn(path + at + 1, "/");
    }
    return path[at] == '/' ? at : 0;
}

bool ck_plugins_layout_holds(const struct ck_plugins_interpreter *interpreter, const char *path)
{
    char pattern[PATH_MAX], prefix[PATH_MAX];
    for (size_t i = 0; ck_plugins_layout_directory(interpreter, i, pattern); i++) {
        size_t length = prefix_length(pattern, path);
        if (length == 0 || length >= sizeof(prefix))
            continue;
        memcpy(prefix, path, length);
        prefix[length] = '\0';
        if (fnmatch(pattern, prefix, FNM_PATHNAME | FNM_PERIOD) == 0)
            return true;
    }
    return false;
}

bool ck_plugins_layout_is_object(const char *name)
{
    size_t length = strlen(name);
    return strstr(name, ".so.") || (length > 3 && strcmp(name + length - 3, ".so") == 0);
}
