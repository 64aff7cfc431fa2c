/*
 * tests.c - reads which sources the tests of a repository exercise: `output: tests`.
 *
 * The call `files` lists all files, and `imports` prints what each test imports, "MODULE NAMES". A
 * test exercises a source that it imports, or whose name it has: test_run.py and run.py. Nothing is
 * run, so a test that reaches a source through a third file is not connected with it.
 *
 *   index    the sources by the last part of their names
 *   resolve  an import becomes a path without ending, "pkg/run"; a source whose path ends with it
 *            is meant
 */
#include "gather/evidence/common.h"
#include "gather/evidence/rg.h"
#include "gather/findings/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULES_MAX 50     /* of one test */
#define CANDIDATES_MAX 100 /* sources of one name that are compared */
#define PATH_BYTES 4096

struct source {
    char *path;
    bool tested;
};

struct test_map {
    struct source *sources;
    size_t source_count;
    json_t *stems; /* of sources: a list of indexes for each name */
    json_t *tests; /* by path: an object of modules, each with a list of "import" and "name" */
    uint64_t test_count;
    bool incomplete, failed;
};

/* ---- names ---- */

static const char *const endings[] = {".py",  ".js",   ".mjs", ".cjs", ".jsx", ".ts",  ".mts",
                                      ".cts", ".tsx",  ".c",   ".cc",  ".cpp", ".h",   ".hpp",
                                      ".go",  ".java", ".kt",  ".rb",  ".rs",  ".php", NULL};

/* The length of a path without the ending of a language; 0 if it has none. */
static size_t stem_length(const char *path)
{
    size_t length = strlen(path);

    for (const char *const *ending = endings; *ending; ending++)
        if (length > strlen(*ending) && strcmp(path + length - strlen(*ending), *ending) == 0)
            return length - strlen(*ending);
    return 0;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path);
    return length > strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
}

/* Writes the last part of a path without its ending; a package is named by its directory. */
static void put_stem(char dst[PATH_BYTES], const char *path)
{
    const char *base = base_of(path);
    size_t length = stem_length(path);
    size_t before = (size_t)(base - path);

    length = length > before ? length - before : strlen(base);
    bool package =
        (length == 8 && strncmp(base, "__init__", 8) == 0) || (length == 5 && strncmp(base, "index", 5) == 0);
    if (package && before > 1) {
        const char *end = base - 1;
        for (base = end; base > path && base[-1] != '/';)
            base--;
        length = (size_t)(end - base);
    }
    (void)snprintf(dst, PATH_BYTES, "%.*s", (int)length, base);
}

/* ---- the index ---- */

static void add_source(struct test_map *map, const char *path)
{
    char stem[PATH_BYTES];
    struct source *grown = reallocarray(map->sources, map->source_count + 1, sizeof(*grown));
    char *copy = strdup(path);

    if (grown)
        map->sources = grown;
    if (!grown || !copy) {
        free(copy);
        map->failed = true;
        return;
    }
    put_stem(stem, path);
    json_t *indexes = json_object_get(map->stems, stem);
    if (!indexes) {
        indexes = json_array();
        (void)json_object_set_new_nocheck(map->stems, stem, indexes);
    }
    map->failed |= json_array_append_new(indexes, json_integer((json_int_t)map->source_count)) < 0;
    grown[map->source_count++] = (struct source){.path = copy};
}

static void read_files(struct test_map *map, const struct ck_answer *answer)
{
    struct ck_rg_reader reader;
    const char *path;

    ck_rg_begin(&reader, answer);
    map->incomplete = map->incomplete || reader.incomplete;
    while (!map->failed && ck_rg_next_file(&reader, &path)) {
        if (stem_length(path) == 0)
            continue;
        enum ck_place place = ck_place_of(path);
        if (place == CK_PLACE_SOURCE)
            add_source(map, path);
        else if (place == CK_PLACE_TEST && !json_object_get(map->tests, path))
            map->failed |= json_object_set_new_nocheck(map->tests, path, json_object()) < 0;
    }
    map->test_count = json_object_size(map->tests);
}

/* ---- connections ---- */

static void connect(struct test_map *map, json_t *modules, size_t index, const char *by)
{
    if (!map->sources)
        return;
    json_t *list = json_object_get(modules, map->sources[index].path);
    map->sources[index].tested = true;
    if (!list && json_object_size(modules) == MODULES_MAX)
        return;
    if (!list) {
        list = json_array();
        map->failed |= json_object_set_new_nocheck(modules, map->sources[index].path, list) < 0;
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), by) == 0)
            return;
    map->failed |= json_array_append_new(list, json_string(by)) < 0;
}

/* "a/pkg/run.py" has the tail "pkg/run", and so has "pkg/run/__init__.py". */
static bool has_tail(const char *path, const char *tail)
{
    char stem[PATH_BYTES];
    int length = snprintf(stem, sizeof(stem), "%.*s", (int)stem_length(path), path);

    if (length <= 0 || (size_t)length >= sizeof(stem))
        return false;
    if (has_ending(stem, "/__init__") || has_ending(stem, "/index"))
        *strrchr(stem, '/') = '\0';
    size_t whole = strlen(stem), part = strlen(tail);
    return part <= whole && strcmp(stem + whole - part, tail) == 0 && (part == whole || stem[whole - part - 1] == '/');
}

/* True if a source is meant. */
static bool resolve(struct test_map *map, json_t *modules, const char *tail, const char *by)
{
    const json_t *indexes = json_object_get(map->stems, base_of(tail));
    bool found = false;

    for (size_t i = 0; map->sources && i < json_array_size(indexes) && i < CANDIDATES_MAX; i++) {
        size_t index = (size_t)json_integer_value(json_array_get(indexes, i));
        if (!has_tail(map->sources[index].path, tail))
            continue;
        connect(map, modules, index, by);
        found = true;
    }
    return found;
}

/* Resolves "./" and "../" at its beginning against the directory of the test. False: it leaves it. */
static bool join(char dst[PATH_BYTES], const char *test, const char *relative)
{
    size_t length = (size_t)(base_of(test) - test);

    length -= length > 0 ? 1 : 0;
    for (;;) {
        if (strncmp(relative, "./", 2) == 0) {
            relative += 2;
        } else if (strncmp(relative, "../", 3) == 0) {
            if (length == 0)
                return false;
            while (length > 0 && test[length - 1] != '/')
                length--;
            length -= length > 0 ? 1 : 0;
            relative += 3;
        } else {
            break;
        }
    }
    int used = snprintf(dst, PATH_BYTES, "%.*s%s%s", (int)length, test, length > 0 ? "/" : "", relative);
    return used > 0 && used < PATH_BYTES;
}

/* "a.b.c" of Python and Java as a path; leading dots are for the directory of the test. */
static void resolve_dotted(struct test_map *map, json_t *modules, const char *test, const char *module,
                           const char *names)
{
    char tail[PATH_BYTES], one[PATH_BYTES];
    size_t dots = strspn(module, ".");
    const char *rest = module + dots;
    bool named = false;

    if (dots > 1 || strlen(module) >= sizeof(tail) / 2)
        return; /* a package above: its name is not known here */
    if (dots == 1)
        (void)snprintf(tail, sizeof(tail), "%.*s%s", (int)(base_of(test) - test), test, rest);
    else
        (void)snprintf(tail, sizeof(tail), "%s", rest);
    for (char *at = tail + (dots == 1 ? base_of(test) - test : 0); *at != '\0'; at++)
        *at = *at == '.' ? '/' : *at;
    for (const char *at = names; *at != '\0';) {
        size_t length = strcspn(at, ", ");
        if (length > 0 && strlen(tail) + length + 2 < sizeof(one)) {
            int used = snprintf(one, sizeof(one), "%s%s%.*s", tail, tail[0] != '\0' ? "/" : "", (int)length, at);
            named = (used > 0 && (size_t)used < sizeof(one) && resolve(map, modules, one, "import")) || named;
        }
        at += length;
        at += strspn(at, ", ");
    }
    if (!named && tail[0] != '\0')
        (void)resolve(map, modules, tail, "import");
}

/* A header stands for the source beside it, too: has_tail compares without endings. */
static void resolve_path(struct test_map *map, json_t *modules, const char *test, const char *module)
{
    char tail[PATH_BYTES];
    size_t length = stem_length(module);
    bool relative = module[0] == '.';

    if (relative && !join(tail, test, module))
        return;
    if (!relative)
        (void)snprintf(tail, sizeof(tail), "%s", module);
    length = length > 0 ? strlen(tail) - (strlen(module) - length) : strlen(tail);
    tail[length] = '\0';
    (void)resolve(map, modules, tail, "import");
}

static void add_import(struct test_map *map, const char *test, char *text)
{
    json_t *modules = json_object_get(map->tests, test);
    char *names = strchr(text, ' ');

    if (!modules)
        return;
    if (names)
        *names++ = '\0';
    names = names ? names : text + strlen(text);
    if (has_ending(test, ".py") || has_ending(test, ".java") || has_ending(test, ".kt")) {
        /* import a.b, c: the names are modules themselves. */
        if (text[0] == '\0')
            for (char *one = strtok_r(names, ", ", &names); one; one = strtok_r(NULL, ", ", &names))
                resolve_dotted(map, modules, test, one, "");
        else
            resolve_dotted(map, modules, test, text, names);
        return;
    }
    bool script = strstr(base_of(test), ".js") || strstr(base_of(test), ".ts") || has_ending(test, ".mjs");
    /* What is not relative is a package in a script. */
    if (text[0] == '.' || (!script && text[0] != '\0'))
        resolve_path(map, modules, test, text);
}

static void read_imports(struct test_map *map, const struct ck_answer *answer)
{
    struct ck_rg_reader reader;
    struct ck_rg_record record;

    ck_rg_begin(&reader, answer);
    while (!map->failed && ck_rg_next(&reader, &record)) {
        char *test = ck_evidence_copy(record.path, record.path_length);
        char *text = ck_evidence_copy(record.text, record.text_length);
        if (test && text)
            add_import(map, test, text);
        free(test);
        free(text);
    }
    map->incomplete = map->incomplete || reader.incomplete || reader.problems > 0;
}

/* test_run.py, run_test.go, run.test.ts, RunTest.java: the name without its sign. */
static bool strip_sign(char *stem)
{
    static const char *const after[] = {"_test", "_tests", ".test", ".spec", "_spec", "-test", "Tests", "Test", NULL};
    static const char *const before[] = {"test_", "test-", "Test", NULL};
    size_t length = strlen(stem);

    for (const char *const *sign = after; *sign; sign++)
        if (has_ending(stem, *sign)) {
            stem[length - strlen(*sign)] = '\0';
            return true;
        }
    for (const char *const *sign = before; *sign; sign++)
        if (strncmp(stem, *sign, strlen(*sign)) == 0 && length > strlen(*sign)) {
            memmove(stem, stem + strlen(*sign), length - strlen(*sign) + 1);
            return true;
        }
    return false;
}

/* A name that many sources have says nothing. */
static void connect_by_name(struct test_map *map, const char *test, json_t *modules)
{
    char stem[PATH_BYTES];

    put_stem(stem, test);
    if (!strip_sign(stem))
        return;
    const json_t *indexes = json_object_get(map->stems, stem);
    for (size_t i = 0; json_array_size(indexes) <= 3 && i < json_array_size(indexes); i++)
        connect(map, modules, (size_t)json_integer_value(json_array_get(indexes, i)), "name");
}

/* ---- the evidence ---- */

static json_t *modules_array(json_t *modules)
{
    json_t *array = json_array();
    const char *path;
    json_t *by;
    int bad = 0;

    json_object_foreach(modules, path, by)
    {
        json_t *item = json_object();
        bad |= ck_evidence_set(item, "path", ck_evidence_path(path, strlen(path)));
        bad |= ck_evidence_set(item, "by", json_incref(by));
        bad |= json_array_append_new(array, item);
    }
    if (!bad)
        return array;
    json_decref(array);
    return NULL;
}

static int set_map(json_t *document, struct test_map *map, struct ck_evidence *evidence)
{
    struct ck_evidence_list tests CK_CLEANUP_LIST = {0}, untested CK_CLEANUP_LIST = {0};
    size_t tested = 0;
    const char *path;
    json_t *modules;

    json_object_foreach(map->tests, path, modules)
    {
        connect_by_name(map, path, modules);
        json_t *item = json_object();
        int bad = ck_evidence_set(item, "path", ck_evidence_path(path, strlen(path)));
        bad |= ck_evidence_set(item, "modules", modules_array(modules));
        tests.failed |= bad != 0;
        ck_evidence_list_add(&tests, item);
    }
    for (size_t i = 0; i < map->source_count; i++) {
        tested += map->sources[i].tested;
        if (!map->sources[i].tested)
            ck_evidence_list_add(&untested, ck_evidence_path(map->sources[i].path, strlen(map->sources[i].path)));
    }
    evidence->findings = map->test_count;
    evidence->noun = "test";
    ck_evidence_headline(evidence, "%llu test file%s; %zu of %zu sources are imported or named by one",
                         (unsigned long long)map->test_count, map->test_count == 1 ? "" : "s", tested,
                         map->source_count);
    int bad = ck_evidence_set(document, "sources", json_integer((json_int_t)map->source_count));
    bad |= ck_evidence_set(document, "sources_tested", json_integer((json_int_t)tested));
    bad |= ck_evidence_set(document, "incomplete", json_boolean(map->incomplete));
    bad |= ck_evidence_set_list(document, "tests", &tests);
    return bad | ck_evidence_set_list(document, "untested", &untested);
}

CK_EVIDENCE_READER(tests)
{
    const struct ck_answer *files = ck_evidence_find_answer(answers, count, "files");
    const struct ck_answer *imports = ck_evidence_find_answer(answers, count, "imports");
    struct test_map map = {.stems = json_object(), .tests = json_object()};
    json_t *document = json_object();

    if (files)
        read_files(&map, files);
    if (imports)
        read_imports(&map, imports);
    int bad = set_map(document, &map, ret_evidence) | (map.failed ? -1 : 0);
    for (size_t i = 0; i < map.source_count; i++)
        free(map.sources[i].path);
    free(map.sources);
    json_decref(map.stems);
    json_decref(map.tests);
    return ck_evidence_take(ret_evidence, document, bad, error);
}
