/*
 * later.c - see later.h.
 *
 * Names are compared without regard to case: on a disk that does the same, ".GIT/Config" is git's. Where a rule is in
 * doubt it says yes; a false alarm costs a look, a missed one a run.
 */
#include "sys/later.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

#define HOOK "git hook"
#define GIT "git settings"
#define BUILD "build file"
#define PACKAGE "package settings"
#define PIPELINE "pipeline"
#define EDITOR "editor task"
#define TEST "test settings"
#define SHELL "shell settings"

/* Each part that is not NULL must be met. */
struct place {
    const char *under;  /* directories somewhere on the way, "/.git/" */
    const char *name;   /* the last component */
    const char *ending; /* what it ends with */
    const char *why;
};

static const struct place places[] = {
    {"/hooks/", NULL, NULL, HOOK},
    {"/.githooks/", NULL, NULL, HOOK},
    {"/.husky/", NULL, NULL, HOOK},
    {NULL, "lefthook.yml", NULL, HOOK},
    {NULL, ".pre-commit-config.yaml", NULL, HOOK},
    {NULL, ".git", NULL, GIT},
    {NULL, "config", NULL, GIT}, /* also of a repository without a working tree, which has any name */
    {"/.git/", "config.worktree", NULL, GIT},
    {"/.git/", "attributes", NULL, GIT},
    {"/.git/", "alternates", NULL, GIT},
    {"/.git/", "commondir", NULL, GIT},
    {"/.git/", "gitdir", NULL, GIT},
    {"/.git/", "git-rebase-todo", NULL, GIT},
    {NULL, ".gitattributes", NULL, GIT},
    {NULL, ".gitmodules", NULL, GIT},
    {NULL, ".gitconfig", NULL, GIT},
    {NULL, ".npmrc", NULL, PACKAGE},
    {NULL, ".yarnrc", NULL, PACKAGE},
    {NULL, ".yarnrc.yml", NULL, PACKAGE},
    {"/.yarn/", NULL, NULL, PACKAGE},
    {NULL, ".pnpmfile.cjs", NULL, PACKAGE},
    {NULL, "pnpm-workspace.yaml", NULL, PACKAGE},
    {NULL, "package-lock.json", NULL, PACKAGE},
    {NULL, "npm-shrinkwrap.json", NULL, PACKAGE},
    {NULL, "yarn.lock", NULL, PACKAGE},
    {NULL, "pnpm-lock.yaml", NULL, PACKAGE},
    {"/node_modules/", NULL, NULL, "installed package"},
    {NULL, "binding.gyp", NULL, BUILD},
    {NULL, "setup.py", NULL, BUILD},
    {NULL, "setup.cfg", NULL, BUILD},
    {NULL, "pyproject.toml", NULL, BUILD},
    {NULL, "requirements.txt", NULL, PACKAGE},
    {NULL, "pip.conf", NULL, PACKAGE},
    {NULL, "sitecustomize.py", NULL, BUILD},
    {NULL, "usercustomize.py", NULL, BUILD},
    {NULL, NULL, ".pth", BUILD},
    {NULL, "conftest.py", NULL, TEST},
    {NULL, "pytest.ini", NULL, TEST},
    {NULL, "tox.ini", NULL, TEST},
    {NULL, "noxfile.py", NULL, TEST},
    {NULL, NULL, ".config.js", BUILD},
    {NULL, NULL, ".config.cjs", BUILD},
    {NULL, NULL, ".config.mjs", BUILD},
    {NULL, NULL, ".config.ts", BUILD},
    {NULL, ".eslintrc.js", NULL, BUILD},
    {NULL, ".eslintrc.cjs", NULL, BUILD},
    {NULL, ".prettierrc.js", NULL, BUILD},
    {NULL, "Gruntfile.js", NULL, BUILD},
    {NULL, "gulpfile.js", NULL, BUILD},
    {NULL, "Makefile", NULL, BUILD},
    {NULL, "GNUmakefile", NULL, BUILD},
    {NULL, NULL, ".mk", BUILD},
    {NULL, "Makefile.am", NULL, BUILD},
    {NULL, "configure.ac", NULL, BUILD},
    {NULL, "CMakeLists.txt", NULL, BUILD},
    {NULL, NULL, ".cmake", BUILD},
    {NULL, "CMakePresets.json", NULL, BUILD},
    {NULL, "meson.build", NULL, BUILD},
    {NULL, "build.ninja", NULL, BUILD},
    {NULL, "BUILD.bazel", NULL, BUILD},
    {NULL, "WORKSPACE", NULL, BUILD},
    {NULL, "MODULE.bazel", NULL, BUILD},
    {NULL, ".bazelrc", NULL, BUILD},
    {NULL, NULL, ".bzl", BUILD},
    {NULL, "justfile", NULL, BUILD},
    {NULL, "Taskfile.yml", NULL, BUILD},
    {NULL, "Rakefile", NULL, BUILD},
    {NULL, "Gemfile", NULL, BUILD},
    {NULL, NULL, ".gemspec", BUILD},
    {NULL, "build.rs", NULL, BUILD},
    {NULL, "Cargo.toml", NULL, BUILD},
    {"/.cargo/", NULL, NULL, BUILD},
    {NULL, "rust-toolchain", NULL, BUILD},
    {NULL, "rust-toolchain.toml", NULL, BUILD},
    {NULL, "go.mod", NULL, BUILD},
    {NULL, "go.work", NULL, BUILD},
    {NULL, "build.gradle", NULL, BUILD},
    {NULL, NULL, ".gradle", BUILD},
    {NULL, NULL, ".gradle.kts", BUILD},
    {NULL, "gradle-wrapper.properties", NULL, BUILD},
    {NULL, "pom.xml", NULL, BUILD},
    {"/.mvn/", NULL, NULL, BUILD},
    {NULL, "composer.json", NULL, BUILD},
    {NULL, "flake.nix", NULL, BUILD},
    {NULL, "shell.nix", NULL, BUILD},
    {NULL, "default.nix", NULL, BUILD},
    {NULL, "Dockerfile", NULL, BUILD},
    {NULL, "Containerfile", NULL, BUILD},
    {NULL, "docker-compose.yml", NULL, BUILD},
    {NULL, "docker-compose.yaml", NULL, BUILD},
    {NULL, "compose.yaml", NULL, BUILD},
    {NULL, "compose.yml", NULL, BUILD},
    {NULL, "Vagrantfile", NULL, BUILD},
    {"/.github/workflows/", NULL, NULL, PIPELINE},
    {"/.github/actions/", NULL, NULL, PIPELINE},
    {NULL, "action.yml", NULL, PIPELINE},
    {NULL, "action.yaml", NULL, PIPELINE},
    {NULL, ".gitlab-ci.yml", NULL, PIPELINE},
    {"/.gitlab/ci/", NULL, NULL, PIPELINE},
    {"/.circleci/", NULL, NULL, PIPELINE},
    {"/.buildkite/", NULL, NULL, PIPELINE},
    {NULL, "Jenkinsfile", NULL, PIPELINE},
    {NULL, "azure-pipelines.yml", NULL, PIPELINE},
    {NULL, ".travis.yml", NULL, PIPELINE},
    {NULL, ".drone.yml", NULL, PIPELINE},
    {"/.vscode/", NULL, NULL, EDITOR},
    {"/.idea/", NULL, NULL, EDITOR},
    {"/.devcontainer/", NULL, NULL, EDITOR},
    {"/.zed/", NULL, NULL, EDITOR},
    {NULL, ".devcontainer.json", NULL, EDITOR},
    {NULL, NULL, ".code-workspace", EDITOR},
    {NULL, ".vimrc", NULL, EDITOR},
    {NULL, ".exrc", NULL, EDITOR},
    {NULL, ".nvim.lua", NULL, EDITOR},
    {NULL, ".dir-locals.el", NULL, EDITOR},
    {NULL, ".mcp.json", NULL, EDITOR},
    {NULL, ".envrc", NULL, SHELL},
    {NULL, ".env", NULL, SHELL},
    {NULL, ".bashrc", NULL, SHELL},
    {NULL, ".bash_profile", NULL, SHELL},
    {NULL, ".profile", NULL, SHELL},
    {NULL, ".zshrc", NULL, SHELL},
    {NULL, ".zshenv", NULL, SHELL},
    {NULL, ".tool-versions", NULL, SHELL},
    {NULL, "mise.toml", NULL, SHELL},
    {NULL, ".mise.toml", NULL, SHELL},
    {NULL, ".gdbinit", NULL, SHELL},
    {NULL, ".lldbinit", NULL, SHELL},
};

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), wanted = strlen(ending);
    return length > wanted && strcasecmp(name + length - wanted, ending) == 0;
}

/* Is the text, "/a/b/", among the directories of path? Its first component has no '/' before it. */
static bool lies_under(const char *path, const char *under)
{
    size_t length = strlen(under) - 1;
    return strncasecmp(path, under + 1, length) == 0 || strcasestr(path, under) != NULL;
}

const char *ck_later_place(const char *path)
{
    const char *name = last_component(path);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const struct place *place = &places[i];
        if ((place->name == NULL || strcasecmp(place->name, name) == 0) &&
            (place->ending == NULL || ends_with(name, place->ending)) &&
            (place->under == NULL || lies_under(path, place->under)))
            return place->why;
    }
    return NULL;
}

const char *ck_later_content(const char *head, size_t length, bool executable)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *why;
    } beginnings[] = {
        {"#!", 2, "script"},
        {"\177ELF", 4, "program"},
        {"MZ", 2, "program"},
        {"\xcf\xfa\xed\xfe", 4, "program"},
        {"\xca\xfe\xba\xbe", 4, "program"},
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (length >= beginnings[i].length && memcmp(head, beginnings[i].bytes, beginnings[i].length) == 0)
            return beginnings[i].why;
    return executable ? "executable" : NULL;
}

/*
 * Only the text is looked at. ".." behind a name depends on what that name is by then, so it counts as leading out, and
 * so does an absolute target: where it leads is another place inside than outside.
 */
const char *ck_later_link(const char *path, const char *target)
{
    static const char out[] = "leads out of the root";
    size_t depth = 0;
    bool named = false;
    if (target[0] == '/')
        return out;
    for (const char *at = path; *at != '\0'; at++)
        depth += *at == '/' ? 1u : 0u;
    for (const char *at = target; *at != '\0';) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            if (named || depth == 0)
                return out;
            depth--;
        } else if (length > 1 || (length == 1 && at[0] != '.')) {
            named = true;
        }
        at += length + (at[length] == '/' ? 1 : 0);
    }
    return NULL;
}

/* ---- package.json ------------------------------------------------------------------------ */

bool ck_later_is_package(const char *path)
{
    return strcasecmp(last_component(path), "package.json") == 0;
}

/* Members that say something about a package and have no effect on what is run, fetched or loaded. */
static bool is_description(const char *key)
{
    static const char *const keys[] = {"name",   "version", "description",  "keywords", "homepage",   "bugs", "license",
                                       "author", "private", "contributors", "funding",  "repository", "files"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* A member of one that the other has not, or has with another value. */
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
        why = PACKAGE;
    }
    return why;
}

const char *ck_later_package(const char *before, size_t before_length, const char *after, size_t after_length)
{
    static const char script[] = "package script";
    json_t *is = json_loadb(after, after_length, JSON_REJECT_DUPLICATES, NULL);
    json_t *was = before != NULL ? json_loadb(before, before_length, JSON_REJECT_DUPLICATES, NULL) : json_object();
    const char *why = script;
    if (json_is_object(is) && json_is_object(was)) {
        const char *gone = compare(was, is);
        why = compare(is, was);
        if (why == NULL || (gone != NULL && strcmp(gone, script) == 0))
            why = gone;
    }
    json_decref(is);
    json_decref(was);
    return why;
}
