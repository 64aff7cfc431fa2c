/*
 * semgrep_core.c - stands in for the native program of semgrep (tests/stand_ins/semgrep).
 *
 * As osemgrep it executes pysemgrep, which it finds in PATH, with the same arguments. Otherwise:
 * -rules FILE -targets FILE -j N. It forks N processes, which share the targets and send what they
 * find through a pipe each, and prints all of it as JSON. It knows one pattern, if the rules have it.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATTERN "tempfile.mktemp("
#define RULE "py-temporary-name"
#define JOBS_MAX 16

static char *read_file(const char *path, size_t *ret_length)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0)
        return NULL;
    char *text = calloc((size_t)status.st_size + 1, 1);
    ssize_t got = text ? read(fd, text, (size_t)status.st_size) : -1;
    (void)close(fd);
    *ret_length = got < 0 ? 0 : (size_t)got;
    return got < 0 ? NULL : text;
}

static void scan(FILE *to, const char *path)
{
    size_t length = 0;
    char *text = read_file(path, &length);
    const char *at = text;
    unsigned line = 1;
    while (text && (at = memmem(at, length - (size_t)(at - text), PATTERN, strlen(PATTERN)))) {
        line = 1;
        for (const char *c = text; c < at; c++)
            line += *c == '\n';
        (void)fprintf(to, "R{\"check_id\": \"" RULE "\", \"path\": \"%s\", \"line\": %u}\n", path, line);
        at += strlen(PATTERN);
    }
    if (text)
        (void)fprintf(to, "S\"%s\"\n", path);
    free(text);
}

/* Every count-th target, from the one with this index. */
static void work(const char *targets, unsigned index, unsigned count, int fd)
{
    FILE *to = fdopen(fd, "w");
    char *copy = strdup(targets), *rest = copy;
    unsigned at = 0;
    if (!to || !copy)
        _exit(3);
    for (const char *path; (path = strsep(&rest, "\n"));)
        if (*path != '\0' && at++ % count == index)
            scan(to, path);
    _exit(fclose(to) == 0 ? 0 : 3);
}

/* The lines of one kind, R or S, of all processes. */
static void print_all(char kind, char *const *texts, unsigned count)
{
    const char *between = "";
    for (unsigned i = 0; i < count; i++) {
        char *copy = strdup(texts[i]), *rest = copy;
        for (const char *line; (line = strsep(&rest, "\n"));)
            if (*line == kind) {
                (void)printf("%s%s", between, line + 1);
                between = ", ";
            }
        free(copy);
    }
}

static char *take(int fd)
{
    size_t used = 0, size = 1 << 20;
    char *text = calloc(size + 1, 1);
    for (ssize_t got; text && used < size && (got = read(fd, text + used, size - used)) > 0;)
        used += (size_t)got;
    (void)close(fd);
    return text;
}

static int run(const char *rules_path, const char *targets_path, unsigned jobs)
{
    size_t length = 0;
    char *rules = read_file(rules_path, &length), *targets = read_file(targets_path, &length);
    int pipes[JOBS_MAX][2], status = 0, bad = 0;
    char *texts[JOBS_MAX];
    if (!rules || !targets || jobs == 0 || jobs > JOBS_MAX)
        return 2;
    bool known = strstr(rules, RULE);
    for (unsigned i = 0; i < jobs; i++) {
        if (pipe(pipes[i]) < 0)
            return 3;
        pid_t pid = fork();
        if (pid < 0)
            return 3;
        if (pid == 0)
            work(known ? targets : "", i, jobs, pipes[i][1]);
        (void)close(pipes[i][1]);
    }
    for (unsigned i = 0; i < jobs; i++)
        texts[i] = take(pipes[i][0]);
    while (wait(&status) > 0)
        bad |= status;
    (void)printf("{\"results\": [");
    print_all('R', texts, jobs);
    (void)printf("], \"scanned\": [");
    print_all('S', texts, jobs);
    (void)printf("]}\n");
    return bad == 0 ? 0 : 3;
}

int main(int argc, char **argv)
{
    const char *rules = NULL, *targets = NULL;
    unsigned jobs = 1;
    if (argc > 0 && strcmp(argv[0], "osemgrep") == 0) {
        (void)execvp("pysemgrep", argv);
        perror("osemgrep: cannot execute pysemgrep");
        return 2;
    }
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "-rules") == 0)
            rules = argv[i + 1];
        else if (strcmp(argv[i], "-targets") == 0)
            targets = argv[i + 1];
        else if (strcmp(argv[i], "-j") == 0)
            jobs = (unsigned)strtoul(argv[i + 1], NULL, 10);
    }
    return rules && targets ? run(rules, targets, jobs) : 2;
}
