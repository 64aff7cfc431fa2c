/*
 * lint.c - how fast sources are linted (R76), beside a bare parse of the same files with the same grammar.
 *
 * bench-lint DIRECTORY; the line protocol is the worker's (worker.h), an answer has the processor time too:
 *
 *     lint TIMES     choke_lint on one thread, all it does: walk, read, decide what to parse, resolve, report
 *     parse TIMES    tree-sitter on every Python file, from memory; nothing is done with the tree
 *
 * The processor time is the figure: one thread works, and a busy machine does not spoil it.
 */
#include "reply.h"

#include "chokepoint.h"

#include "lint/grammar.h"

#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct text {
    char *bytes;
    size_t length;
};

struct library {
    const char *directory;
    struct text *texts;
    size_t count, bytes;
};

static void add_file(struct library *library, const char *path, size_t length)
{
    library->texts = reallocarray(library->texts, library->count + 1, sizeof(*library->texts));
    struct text text = {malloc(length + 1), length};
    FILE *in = fopen(path, "rb");
    if (!library->texts || !text.bytes || !in)
        fail(path, "cannot be kept");
    if (fread(text.bytes, 1, length, in) != length)
        fail(path, "cannot be read");
    (void)fclose(in);
    library->texts[library->count++] = text;
    library->bytes += length;
}

/* Regular files only, like the linter: a link is counted at its target. */
static void read_library(struct library *library)
{
    char *const top[] = {strdup(library->directory), NULL};
    FTS *walk = fts_open(top, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!top[0] || !walk)
        fail(library->directory, strerror(errno));
    for (FTSENT *entry = fts_read(walk); entry; entry = fts_read(walk)) {
        const char *dot = strrchr(entry->fts_name, '.');
        if (entry->fts_info == FTS_F && dot && strcmp(dot, ".py") == 0)
            add_file(library, entry->fts_path, (size_t)entry->fts_statp->st_size);
    }
    (void)fts_close(walk);
    free(top[0]);
    if (library->count == 0)
        fail(library->directory, "has no Python");
}

static void lint(const struct library *library)
{
    const char *const paths[] = {library->directory, NULL};
    struct choke_lint_options options = {.paths = paths, .root = library->directory, .jobs = 1};
    struct choke_lint_report *report = NULL;
    struct choke_error error = {0};
    if (choke_lint(&options, &report, &error) < 0)
        fail("choke_lint", error.message);
    choke_lint_report_free(report);
}

static void parse(const struct library *library)
{
    TSParser *parser = ts_parser_new();
    if (!ts_parser_set_language(parser, ck_grammars[CK_GRAMMAR_PYTHON].language()))
        fail("ts_parser_set_language", "the grammar is not read");
    for (size_t i = 0; i < library->count; i++)
        ts_tree_delete(
            ts_parser_parse_string(parser, NULL, library->texts[i].bytes, (uint32_t)library->texts[i].length));
    ts_parser_delete(parser);
}

static void answer(const struct library *library, const char *command, unsigned long times)
{
    uint64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned long i = 0; i < times; i++) {
        if (strcmp(command, "lint") == 0)
            lint(library);
        else if (strcmp(command, "parse") == 0)
            parse(library);
        else
            fail("unknown command", command);
    }
    printf("{\"runs\": %lu, \"bytes\": %zu, \"wall_ns\": %llu, \"cpu_ns\": %llu}\n", times, library->bytes,
           (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - wall),
           (unsigned long long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu));
}

int main(int argc, char **argv)
{
    struct library library = {.directory = argc == 2 ? argv[1] : NULL};
    char line[256], command[16];
    unsigned long times;
    if (!library.directory)
        fail("usage", "bench-lint DIRECTORY");
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("{}\n");
    while (fgets(line, sizeof(line), stdin)) {
        if (sscanf(line, "%15s %lu", command, &times) != 2)
            fail("malformed line", line);
        /* Only when needed: the peak of the linter's memory is measured in a process that has not
         * read them. */
        if (strcmp(command, "parse") == 0 && library.count == 0)
            read_library(&library);
        answer(&library, command, times);
    }
    for (size_t i = 0; i < library.count; i++)
        free(library.texts[i].bytes);
    free(library.texts);
    return 0;
}
