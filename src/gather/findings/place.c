/*
 * place.c - see place.h. The names are those that projects of all languages use; a directory
 * decides before the name of the file.
 */
#include "gather/findings/place.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

const char *ck_place_name(enum ck_place place)
{
    static const char *const names[] = {[CK_PLACE_SOURCE] = "source",
                                        [CK_PLACE_TEST] = "test",
                                        [CK_PLACE_EXAMPLE] = "example",
                                        [CK_PLACE_DOCUMENT] = "document",
                                        [CK_PLACE_VENDORED] = "vendored"};
    return names[place];
}

struct word_place {
    const char *word;
    enum ck_place place;
};

/* Names of directories, in any case. */
static const struct word_place directories[] = {
    {"node_modules", CK_PLACE_VENDORED},
    {"vendor", CK_PLACE_VENDORED},
    {"vendored", CK_PLACE_VENDORED},
    {"_vendor", CK_PLACE_VENDORED},
    {"third_party", CK_PLACE_VENDORED},
    {"third-party", CK_PLACE_VENDORED},
    {"thirdparty", CK_PLACE_VENDORED},
    {"3rdparty", CK_PLACE_VENDORED},
    {"bower_components", CK_PLACE_VENDORED},
    {".pc", CK_PLACE_VENDORED},
    {"libltdl", CK_PLACE_VENDORED},
    {"deps", CK_PLACE_VENDORED},
    {"external", CK_PLACE_VENDORED},
    {"externals", CK_PLACE_VENDORED},
    {"extern", CK_PLACE_VENDORED},
    {"subprojects", CK_PLACE_VENDORED},
    {"submodules", CK_PLACE_VENDORED},
    {".yarn", CK_PLACE_VENDORED},
    {"test", CK_PLACE_TEST},
    {"tests", CK_PLACE_TEST},
    {"testing", CK_PLACE_TEST},
    {"installed-tests", CK_PLACE_TEST},
    {"testsuite", CK_PLACE_TEST},
    {"testdata", CK_PLACE_TEST},
    {"test-data", CK_PLACE_TEST},
    {"test_data", CK_PLACE_TEST},
    {"testcases", CK_PLACE_TEST},
    {"unittests", CK_PLACE_TEST},
    {"integration", CK_PLACE_TEST},
    {"e2e", CK_PLACE_TEST},
    {"__tests__", CK_PLACE_TEST},
    {"__mocks__", CK_PLACE_TEST},
    {"__fixtures__", CK_PLACE_TEST},
    {"testutils", CK_PLACE_TEST},
    {"testutil", CK_PLACE_TEST},
    {"mocks", CK_PLACE_TEST},
    {"fixtures", CK_PLACE_TEST},
    {"fixture", CK_PLACE_TEST},
    {"spec", CK_PLACE_TEST},
    {"specs", CK_PLACE_TEST},
    {"t", CK_PLACE_TEST},
    {"bench", CK_PLACE_TEST},
    {"benchmark", CK_PLACE_TEST},
    {"benchmarks", CK_PLACE_TEST},
    {"fuzz", CK_PLACE_TEST},
    {"example", CK_PLACE_EXAMPLE},
    {"examples", CK_PLACE_EXAMPLE},
    {"demo", CK_PLACE_EXAMPLE},
    {"demos", CK_PLACE_EXAMPLE},
    {"sample", CK_PLACE_EXAMPLE},
    {"samples", CK_PLACE_EXAMPLE},
    {"tutorial", CK_PLACE_EXAMPLE},
    {"tutorials", CK_PLACE_EXAMPLE},
    {"doc", CK_PLACE_DOCUMENT},
    {"docs", CK_PLACE_DOCUMENT},
    {"documentation", CK_PLACE_DOCUMENT},
    {NULL, CK_PLACE_SOURCE},
};

/* What the GNU build system writes, by their whole names. */
static const char *const generated[] = {"configure", "config.status", "depcomp", "missing",  "libtool",
                                        "compile",   "test-driver",   "ylwrap",  "mdate-sh", NULL};

/* How names of files begin. */
static const struct word_place beginnings[] = {
    {"test-", CK_PLACE_TEST},
    {"mock_", CK_PLACE_TEST},
    {"mock-", CK_PLACE_TEST},
    {"test_", CK_PLACE_TEST},
    {"conftest.py", CK_PLACE_TEST},
    {"README", CK_PLACE_DOCUMENT},
    {"CHANGELOG", CK_PLACE_DOCUMENT},
    {"CHANGES", CK_PLACE_DOCUMENT},
    {"NEWS", CK_PLACE_DOCUMENT},
    {"CONTRIBUTING", CK_PLACE_DOCUMENT},
    {"ltmain.sh", CK_PLACE_VENDORED},
    {"ltconfig", CK_PLACE_VENDORED},
    {"config.guess", CK_PLACE_VENDORED},
    {"config.sub", CK_PLACE_VENDORED},
    {"config.rpath", CK_PLACE_VENDORED},
    {"install-sh", CK_PLACE_VENDORED},
    {"aclocal.m4", CK_PLACE_VENDORED},
    {"mkinstalldirs", CK_PLACE_VENDORED},
    {"gitlog-to-changelog", CK_PLACE_VENDORED},
    {NULL, CK_PLACE_SOURCE},
};

/* How names of files end; the endings of one language after the other. */
static const struct word_place endings[] = {
    {".min.js", CK_PLACE_VENDORED},   {".min.css", CK_PLACE_VENDORED},
    {".map", CK_PLACE_VENDORED},      {"_test.py", CK_PLACE_TEST},
    {"_tests.py", CK_PLACE_TEST},     {"_test.go", CK_PLACE_TEST},
    {"_test.c", CK_PLACE_TEST},       {"_test.cc", CK_PLACE_TEST},
    {"_test.rb", CK_PLACE_TEST},      {"_spec.rb", CK_PLACE_TEST},
    {"_test.rs", CK_PLACE_TEST},      {"_test.sh", CK_PLACE_TEST},
    {".test.js", CK_PLACE_TEST},      {".test.jsx", CK_PLACE_TEST},
    {".test.mjs", CK_PLACE_TEST},     {".test.cjs", CK_PLACE_TEST},
    {".test.ts", CK_PLACE_TEST},      {".test.tsx", CK_PLACE_TEST},
    {".spec.js", CK_PLACE_TEST},      {".spec.ts", CK_PLACE_TEST},
    {".spec.tsx", CK_PLACE_TEST},     {"-test.js", CK_PLACE_TEST},
    {"Test.java", CK_PLACE_TEST},     {"Tests.java", CK_PLACE_TEST},
    {"Test.php", CK_PLACE_TEST},      {".t", CK_PLACE_TEST},
    {".md", CK_PLACE_DOCUMENT},       {".html", CK_PLACE_DOCUMENT},
    {".markdown", CK_PLACE_DOCUMENT}, {".rst", CK_PLACE_DOCUMENT},
    {".adoc", CK_PLACE_DOCUMENT},     {".txt", CK_PLACE_DOCUMENT},
    {".tex", CK_PLACE_DOCUMENT},      {".texi", CK_PLACE_DOCUMENT},
    {".pod", CK_PLACE_DOCUMENT},      {".1", CK_PLACE_DOCUMENT},
    {".3", CK_PLACE_DOCUMENT},        {".5", CK_PLACE_DOCUMENT},
    {".8", CK_PLACE_DOCUMENT},        {".po", CK_PLACE_DOCUMENT},
    {NULL, CK_PLACE_SOURCE},
};

static enum ck_place place_of_directory(const char *name, size_t length)
{
    for (const struct word_place *known = directories; known->word; known++)
        if (strlen(known->word) == length && strncasecmp(known->word, name, length) == 0)
            return known->place;
    return CK_PLACE_SOURCE;
}

/* Exact case: "Test.java" is the end of a test, and "contest.java" is not. */
static enum ck_place place_of_file(const char *name)
{
    size_t length = strlen(name);

    for (const char *const *script = generated; *script; script++)
        if (strcmp(*script, name) == 0)
            return CK_PLACE_VENDORED;
    for (const struct word_place *known = beginnings; known->word; known++)
        if (strncmp(known->word, name, strlen(known->word)) == 0)
            return known->place;
    for (const struct word_place *known = endings; known->word; known++)
        if (length > strlen(known->word) && strcmp(known->word, name + length - strlen(known->word)) == 0)
            return known->place;
    return CK_PLACE_SOURCE;
}

/*
 * Vendored code may have tests of its own, and tests may have documents: the first directory from
 * the top that says something decides, but vendored wins wherever it is.
 */
enum ck_place ck_place_of(const char *path)
{
    enum ck_place place = CK_PLACE_SOURCE;

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(path, '/')) {
        enum ck_place here = place_of_directory(path, (size_t)(slash - path));
        if (here == CK_PLACE_VENDORED)
            return here;
        if (place == CK_PLACE_SOURCE)
            place = here;
        path = slash + 1;
    }
    return place != CK_PLACE_SOURCE ? place : place_of_file(path);
}

/* Nothing of a test or an example runs where the program does. */
unsigned ck_place_levels(const char *path, bool is_token)
{
    if (!path || ck_place_of(path) == CK_PLACE_SOURCE)
        return 0;
    return is_token ? 1 : 3;
}

/* Not scripts of a shell or of Python: whoever puts a long line there hides something. */
bool ck_place_may_be_generated(const char *path)
{
    static const char *const made_smaller[] = {".js",  ".mjs", ".cjs",  ".css", ".html",
                                               ".htm", ".svg", ".json", ".xml", NULL};
    const char *name = strrchr(path, '/');
    const char *ending = strrchr(name ? name : path, '.');

    for (const char *const *known = made_smaller; ending && *known; known++)
        if (strcasecmp(ending, *known) == 0)
            return true;
    return false;
}
