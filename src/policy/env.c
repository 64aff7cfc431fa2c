/*
 * env.c - which variables a policy may grant or set, and the environment of a tool. See env.h.
 *
 * What a policy grants was reviewed. So a grant is refused only for names that would undo a
 * protection, whatever the reviewer meant: names that load code into the tool, name a program it
 * starts, or select a configuration that does. They are in one table, each with what it does. A
 * credential such as GITHUB_TOKEN is not among them: a policy may grant it, on purpose.
 */
#include "policy/env.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES ((size_t)255)   /* of a variable's name */
#define LOCALE_MAX_BYTES ((size_t)255) /* of LANG and LC_ALL; a longer value is replaced */

/* How the text of a rule is compared with a name. */
enum name_match { EXACT, PREFIX, SUFFIX };

#define BASE "is set by chokepoint itself"
#define LOADER "makes the loader load code or print what it loads"
#define C_LIBRARY "changes how the C library finds its files, its memory or the network"
#define CODE "makes an interpreter load or run code"
#define SHELL_START "changes how a shell starts or splits words"
#define PROGRAM "names a program that the tool would start"
#define CONFIG "points the tool at another configuration, which can start programs"
#define REPOSITORY "points git at another repository or its parts"

/* Names are compared without case: npm reads its options in upper and lower case. */
static const struct name_rule {
    const char *text;
    enum name_match match;
    const char *danger;
} name_rules[] = {
    {"PATH", EXACT, BASE},
    {"HOME", EXACT, BASE},
    {"LANG", EXACT, BASE},
    {"LC_ALL", EXACT, BASE},

    {"LD_", PREFIX, LOADER},
    {"DYLD_", PREFIX, LOADER},

    {"GLIBC_TUNABLES", EXACT, C_LIBRARY},
    {"GCONV_PATH", EXACT, C_LIBRARY},
    {"GETCONF_DIR", EXACT, C_LIBRARY},
    {"LOCPATH", EXACT, C_LIBRARY},
    {"NLSPATH", EXACT, C_LIBRARY},
    {"MALLOC_", PREFIX, C_LIBRARY},
    {"HOSTALIASES", EXACT, C_LIBRARY},
    {"LOCALDOMAIN", EXACT, C_LIBRARY},
    {"RES_OPTIONS", EXACT, C_LIBRARY},
    {"RESOLV_", PREFIX, C_LIBRARY},
    {"OPENSSL_", PREFIX, C_LIBRARY},

    {"NODE_OPTIONS", EXACT, CODE},
    {"NODE_PATH", EXACT, CODE},
    {"NODE_REPL_EXTERNAL_MODULE", EXACT, CODE},
    {"PYTHON", PREFIX, CODE},
    {"PERL5", PREFIX, CODE},
    {"PERLLIB", EXACT, CODE},
    {"RUBYOPT", EXACT, CODE},
    {"RUBYLIB", EXACT, CODE},
    {"GEM_HOME", EXACT, CODE},
    {"GEM_PATH", EXACT, CODE},
    {"LUA_INIT", PREFIX, CODE},
    {"LUA_PATH", PREFIX, CODE},
    {"LUA_CPATH", PREFIX, CODE},
    {"JAVA_TOOL_OPTIONS", EXACT, CODE},
    {"JDK_JAVA_OPTIONS", EXACT, CODE},
    {"_JAVA_OPTIONS", EXACT, CODE},
    {"CLASSPATH", EXACT, CODE},
    {"PHPRC", EXACT, CODE},
    {"PHP_INI_SCAN_DIR", EXACT, CODE},
    {"TCLLIBPATH", EXACT, CODE},
    {"GOFLAGS", EXACT, CODE},
    {"MAKEFLAGS", EXACT, CODE},

    {"BASH_ENV", EXACT, SHELL_START},
    {"BASH_FUNC_", PREFIX, SHELL_START},
    {"BASH_XTRACEFD", EXACT, SHELL_START},
    {"BASHOPTS", EXACT, SHELL_START},
    {"SHELLOPTS", EXACT, SHELL_START},
    {"ENV", EXACT, SHELL_START},
    {"IFS", EXACT, SHELL_START},
    {"PS4", EXACT, SHELL_START},
    {"PROMPT_COMMAND", EXACT, SHELL_START},
    {"CDPATH", EXACT, SHELL_START},
    {"FPATH", EXACT, SHELL_START},
    {"ZDOTDIR", EXACT, SHELL_START},

    {"SHELL", EXACT, PROGRAM},
    {"VISUAL", EXACT, PROGRAM},
    {"BROWSER", EXACT, PROGRAM},
    {"EDITOR", SUFFIX, PROGRAM},
    {"PAGER", SUFFIX, PROGRAM},
    {"_ASKPASS", SUFFIX, PROGRAM},
    {"LESSOPEN", EXACT, PROGRAM},
    {"LESSCLOSE", EXACT, PROGRAM},
    {"GIT_SSH", PREFIX, PROGRAM},
    {"GIT_PROXY_COMMAND", EXACT, PROGRAM},
    {"GIT_EXTERNAL_DIFF", EXACT, PROGRAM},
    {"GIT_EXEC_PATH", EXACT, PROGRAM},
    {"GIT_ALLOW_PROTOCOL", EXACT, PROGRAM},

    {"GIT_CONFIG", PREFIX, CONFIG},
    {"GIT_TEMPLATE_DIR", EXACT, CONFIG},
    {"GIT_ATTR_", PREFIX, CONFIG},
    {"XDG_CONFIG_", PREFIX, CONFIG},
    {"NPM_CONFIG_", PREFIX, CONFIG},
    {"RIPGREP_CONFIG_PATH", EXACT, CONFIG},
    {"CURL_HOME", EXACT, CONFIG},
    {"WGETRC", EXACT, CONFIG},
    {"DOCKER_HOST", EXACT, CONFIG},
    {"DOCKER_CONTEXT", EXACT, CONFIG},
    {"DOCKER_CONFIG", EXACT, CONFIG},
    {"DOCKER_CLI_", PREFIX, CONFIG},

    {"GIT_DIR", EXACT, REPOSITORY},
    {"GIT_COMMON_DIR", EXACT, REPOSITORY},
    {"GIT_WORK_TREE", EXACT, REPOSITORY},
    {"GIT_INDEX_FILE", EXACT, REPOSITORY},
    {"GIT_OBJECT_DIRECTORY", EXACT, REPOSITORY},
    {"GIT_ALTERNATE_OBJECT_DIRECTORIES", EXACT, REPOSITORY},
    {"GIT_TRACE", PREFIX, "makes git write to a file of the caller's choice"},
};

/* Without case; a name that is the prefix itself matches too. */
static bool name_matches(const struct name_rule *rule, const char *name, size_t length)
{
    size_t wanted = strlen(rule->text);
    if (length < wanted || (rule->match == EXACT && length != wanted))
        return false;
    const char *at = rule->match == SUFFIX ? name + length - wanted : name;
    return strncasecmp(at, rule->text, wanted) == 0;
}

const char *ck_env_name_danger(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(name_rules) / sizeof(name_rules[0]); i++)
        if (name_matches(&name_rules[i], name, length))
            return name_rules[i].danger;
    return NULL;
}

/* Not isalpha: that depends on the locale of the program. */
bool ck_env_name_valid(const char *name, size_t length)
{
    if (length == 0 || length > NAME_MAX_BYTES || (name[0] >= '0' && name[0] <= '9'))
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        if (!letter && !(c >= '0' && c <= '9'))
            return false;
    }
    return true;
}

bool ck_env_name_grantable(const char *name, size_t length)
{
    return ck_env_name_valid(name, length) && !ck_env_name_danger(name, length);
}

/* Base names are written by ck_env_build; the loader's would run code before the tool does. */
bool ck_env_name_settable(const char *name, size_t length)
{
    if (!ck_env_name_valid(name, length))
        return false;
    const char *danger = ck_env_name_danger(name, length);
    return !danger || (strcmp(danger, BASE) != 0 && strcmp(danger, LOADER) != 0);
}

/* ---- building ---------------------------------------------------------------------------- */

static bool has_control_byte(const char *value)
{
    for (; *value != '\0'; value++)
        if ((unsigned char)*value < 0x20 || *value == 0x7f)
            return true;
    return false;
}

/* The host's value, or the fixed one if it is missing, empty, too long or has control bytes. */
static const char *usable(const char *value, size_t max_bytes, const char *fixed)
{
    bool good = value && *value != '\0' && strlen(value) <= max_bytes && !has_control_byte(value);
    return good ? value : fixed;
}

/*
 * With a relative HOME the tool would read its configuration from the directory that it works on.
 */
static const char *usable_home(const char *home)
{
    return home && home[0] == '/' ? usable(home, PATH_MAX, CK_ENV_DEFAULT_HOME) : CK_ENV_DEFAULT_HOME;
}

/* Not the host's PATH: a tool that starts a program must find the reviewed ones. */
static const char *path_variable(struct ck_arena *arena, const struct ck_list *search_path)
{
    /* Each path counts one more byte, for the ':' before it; the first one has none. */
    size_t length = strlen("PATH=");
    for (uint32_t i = 0; i < search_path->count; i++)
        length += strlen(search_path->items[i]) + 1;
    char *text = ck_arena_alloc(arena, length + 1);
    if (!text)
        return NULL;
    memcpy(text, "PATH=", strlen("PATH="));
    char *at = text + strlen("PATH=");
    for (uint32_t i = 0; i < search_path->count; i++) {
        size_t n = strlen(search_path->items[i]);
        if (i > 0)
            *at++ = ':';
        memcpy(at, search_path->items[i], n);
        at += n;
    }
    return text;
}

static size_t count_strings(const char *const *strings)
{
    size_t count = 0;
    while (strings && strings[count])
        count++;
    return count;
}

/*
 * Does one of the tools, up to the NULL, set the variable in such a run, in upper or lower case? npm
 * reads its options in both.
 */
static bool is_set(const struct ck_tool *const *tools, bool offline, const char *name, size_t length)
{
    for (; *tools; tools++)
        for (uint32_t i = 0; i < (*tools)->set_env_count; i++) {
            const struct ck_variable *variable = &(*tools)->set_env[i];
            bool same = strncasecmp(variable->name, name, length) == 0 && variable->name[length] == '\0';
            if (same && (offline || !variable->offline))
                return true;
        }
    return false;
}

static size_t count_set(const struct ck_tool *const *tools)
{
    size_t count = 0;
    for (; *tools; tools++)
        count += (*tools)->set_env_count;
    return count;
}

const char **ck_env_build(struct ck_arena *arena, const struct ck_policy *policy, const struct ck_tool *const *tools,
                          const struct ck_host_environment *host, const char *const *extras)
{
    size_t extra_count = count_strings(extras);
    /* 4 for PATH, HOME, LANG and LC_ALL, and one for the NULL. */
    const char **env = ck_arena_array(arena, 4 + count_set(tools) + extra_count + 1, sizeof(*env));
    if (!env)
        return NULL;
    /* Both are always set: LC_ALL overrides LANG, and without it a tool would choose. */
    size_t at = 0;
    env[at++] = path_variable(arena, &policy->search_path);
    env[at++] = ck_arena_printf(arena, "HOME=%s", usable_home(host->home));
    env[at++] = ck_arena_printf(arena, "LANG=%s", usable(host->lang, LOCALE_MAX_BYTES, CK_ENV_DEFAULT_LANG));
    env[at++] = ck_arena_printf(arena, "LC_ALL=%s", usable(host->lc_all, LOCALE_MAX_BYTES, CK_ENV_DEFAULT_LANG));
    for (const struct ck_tool *const *tool = tools; *tool; tool++)
        for (uint32_t i = 0; i < (*tool)->set_env_count; i++) {
            const struct ck_variable *variable = &(*tool)->set_env[i];
            /* A tool further inside sets it too, and its value is used. */
            if ((host->offline || !variable->offline) &&
                !is_set(tool + 1, host->offline, variable->name, strlen(variable->name)))
                env[at++] = ck_arena_printf(arena, "%s=%s", variable->name, variable->value);
        }
    for (size_t i = 0; i < extra_count; i++)
        /* What the policy sets wins over what the caller gives. */
        if (!is_set(tools, host->offline, extras[i], strcspn(extras[i], "=")))
            env[at++] = ck_arena_strdup(arena, extras[i]);
    /* Checked once for all: a NULL in the middle would end the environment early. */
    for (size_t i = 0; i < at; i++)
        if (!env[i])
            return NULL;
    return env;
}

/* ---- the proxy ---------------------------------------------------------------------------- */

/*
 * docs/egress.md says which tool reads which. curl and git read the lower-case names for plain HTTP
 * and ignore HTTP_PROXY, because a client of a web server (CGI) could set that. The empty values
 * mean: no exception. With loopback they name it: a server of the run is no host of the proxy.
 */
#define OWN_HOSTS "localhost,127.0.0.1,::1"
static const struct proxy_variable {
    const char *name;
    const char *value; /* NULL: the proxy */
} proxy_variables[] = {
    {"HTTPS_PROXY", NULL},       {"HTTP_PROXY", NULL},
    {"ALL_PROXY", NULL},         {"NO_PROXY", ""},
    {"https_proxy", NULL},       {"http_proxy", NULL},
    {"all_proxy", NULL},         {"no_proxy", ""},
    {"npm_config_proxy", NULL},  {"npm_config_https_proxy", NULL},
    {"NODE_USE_ENV_PROXY", "1"},
};

#define PROXY_VARIABLES (sizeof(proxy_variables) / sizeof(proxy_variables[0]))

/*
 * Without case, and with npm's list of exceptions: what the caller set must not bypass the proxy.
 */
static bool is_about_proxies(const char *variable)
{
    size_t length = strcspn(variable, "=");
    for (size_t i = 0; i < PROXY_VARIABLES; i++)
        if (strncasecmp(proxy_variables[i].name, variable, length) == 0 && proxy_variables[i].name[length] == '\0')
            return true;
    return length == strlen("npm_config_noproxy") && strncasecmp("npm_config_noproxy", variable, length) == 0;
}

const char **ck_env_with_proxy(struct ck_arena *arena, const char *const *env, const char *url, bool loopback)
{
    const char **with = ck_arena_array(arena, count_strings(env) + PROXY_VARIABLES + 1, sizeof(*with));
    size_t at = 0;
    for (; with && *env; env++)
        if (!is_about_proxies(*env))
            with[at++] = *env;
    for (size_t i = 0; with && i < PROXY_VARIABLES; i++) {
        const char *value = proxy_variables[i].value ? proxy_variables[i].value : url;
        if (loopback && value[0] == '\0')
            value = OWN_HOSTS;
        with[at] = ck_arena_printf(arena, "%s=%s", proxy_variables[i].name, value);
        /* Out of memory. with NULL ends both loops and is returned. */
        if (!with[at++])
            return NULL;
    }
    return with;
}
