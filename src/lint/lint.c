/*
 * lint.c - one run of the linter, from options to report.
 *
 * Theory of operation. A run has these steps, and each relies on the one before it:
 *
 *   rules     the embedded rule files; queries are compiled when first needed   (rules.h)
 *   top       finds the tree and reads its configuration                 (top.h, config.h)
 *   walk      lists the files and sorts them: from here on the order is fixed     (walk.h)
 *   scan      threads take one file after the other. Is it a source, and in which language? Does it
 *             have words that a rule needs (prefilter.h)? Then parse, resolve and match (scan.h);
 *             apply configuration and waivers (findings.h). The result goes into the file's slot
 *   report    joins the slots in order: the report is the same for one thread or many
 *
 * The input is hostile. Nothing outside of the top is opened, no file is read beyond the maximum,
 * and the scanner bounds the time for one file. What could not be scanned is a finding, so that an
 * attacker cannot hide a call that way.
 *
 * Threads share the rules and struct ck_lint_tree_ruleset, which do not change after loading. Each
 * thread has its own parser, buffer and arena. The report points into those arenas, so they live as
 * long as the report.
 */
#include "lint/lint.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/quote.h"
#include "lint/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS_MAX 64                   /* threads */
#define FINDINGS_MAX ((size_t)100000) /* of a whole run */
#define FIRST_LINE_BYTES 256          /* enough for #! and an interpreter */

/* The result of one file. */
struct file_result {
    struct ck_lint_findings reported; /* in the arena of the worker */
    const char *skipped;              /* the reason, or NULL */
    bool not_scanned;                 /* a source, so the skip is a finding too */
    bool is_scanned;                  /* in full */
    uint64_t bytes;                   /* read, also of a file that was then skipped */
};

struct lint_run;

/* One thread. Zero-filled is valid for free_worker. */
struct worker {
    struct lint_run *run;
    struct ck_arena arena; /* for the findings; freed with the report */
    struct ck_lint_scanner *scanner;
    char *buffer; /* the text of the file under way */
    pthread_t thread;
    bool started; /* false for the first worker, which is the caller's thread */
    int failure;  /* a negative errno, with error set; 0 */
    struct choke_error error;
};

/* A report and everything that it points to. */
struct lint_run {
    struct choke_lint_report report; /* first: ck_lint_report_free casts it back */
    struct ck_arena arena;
    struct ck_lint_rules *rules;
    struct ck_top top;
    struct ck_lint_tree_ruleset tree_ruleset;
    struct ck_lint_walk walk;
    struct file_result *file_results; /* one for each file of the walk */
    atomic_size_t next;               /* index of the next file to take */
    atomic_size_t findings_so_far;    /* over all threads, to stop at FINDINGS_MAX */
    atomic_bool stop;                 /* a worker has failed: the others end too */
    bool (*caller_stop)(void *data);  /* NULL, or of the options */
    void *caller_data;
    struct worker workers[JOBS_MAX];
};

/* ---- the configuration ------------------------------------------------------------------- */

/* ELOOP is what openat2 returns for a symlink that it must not follow. */
static int config_error(const char *path, int errnum, struct choke_error *error)
{
    const char *why = errnum == ELOOP ? "it is a link" : errnum == EFBIG ? "it is too large" : strerror(errnum);
    return ck_error_set(error, CHOKE_INVALID, errnum, "cannot read configuration '%s': %s", CK_QUOTE(path), why);
}

/*
 * The file was opened with O_NONBLOCK, so that its type can be checked first: open(2) of a FIFO
 * would block. It must be a regular file, or have this type: a caller may name /dev/null as an
 * empty configuration.
 */
static int take_file(const struct lint_run *run, int *fd, mode_t type, int *ret_fd, struct choke_error *error)
{
    struct stat status;
    if (fstat(*fd, &status) < 0 || !(S_ISREG(status.st_mode) || (status.st_mode & S_IFMT) == type))
        return ck_error_set(error, CHOKE_INVALID, EINVAL, "cannot read configuration '%s': it is not a regular file",
                            CK_QUOTE(run->report.config));
    *ret_fd = ck_fd_take(fd);
    return 0;
}

/* Opens the configuration at the top. *ret_fd stays -1 if there is none. */
static int open_own_config(struct lint_run *run, int *ret_fd, struct choke_error *error)
{
    CK_FD fd = ck_top_open(&run->top, CK_LINT_CONFIG_NAME, O_RDONLY);
    if (fd == -ENOENT)
        return 0;
    run->report.config =
        ck_arena_printf(&run->arena, "%s%s%s", run->top.path, run->top.path[1] == '\0' ? "" : "/", CK_LINT_CONFIG_NAME);
    if (!run->report.config)
        return ck_error_oom(error);
    if (fd < 0)
        return config_error(run->report.config, -fd, error);
    return take_file(run, &fd, S_IFREG, ret_fd, error);
}

/* A path that the caller gave may be a symlink and outside of the top: the caller is trusted. */
static int open_config(struct lint_run *run, const char *given, int *ret_fd, struct choke_error *error)
{
    if (!given)
        return open_own_config(run, ret_fd, error);
    run->report.config = ck_arena_strdup(&run->arena, given);
    if (!run->report.config)
        return ck_error_oom(error);
    CK_FD fd = open(given, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? config_error(given, errno, error) : take_file(run, &fd, S_IFCHR, ret_fd, error);
}

/* adr_dir is relative to the configuration. */
static int read_adrs(struct lint_run *run, const char *given, struct choke_error *error)
{
    const char *slash = given ? strrchr(given, '/') : NULL;
    const char *adr_dir = run->tree_ruleset.config.adr_dir;
    if (adr_dir && given && slash && adr_dir[0] != '/')
        adr_dir = ck_arena_printf(&run->arena, "%.*s/%s", (int)(slash - given), given, adr_dir);
    if (!adr_dir && run->tree_ruleset.config.adr_dir)
        return ck_error_oom(error);
    /* The top itself is O_PATH. A given configuration is relative to the working directory. */
    CK_FD top_fd = !given ? ck_top_open(&run->top, ".", O_RDONLY | O_DIRECTORY) : -1;
    if (!given && top_fd < 0)
        return config_error(run->top.path, -top_fd, error);
    ck_lint_adrs_read(!given ? top_fd : AT_FDCWD, adr_dir, &run->tree_ruleset.adrs);
    return 0;
}

/* Checks the names of rules and the numbers of records, once both are loaded. */
static int check_config(struct lint_run *run, struct choke_error *error)
{
    const struct ck_lint_config *config = &run->tree_ruleset.config;
    for (size_t i = 0; i < config->choice_count; i++) {
        const struct ck_lint_choice *choice = &config->choices[i];
        if (!ck_lint_rule_index_find(&run->tree_ruleset.rule_index, choice->rule))
            return ck_yaml_error(&ck_lint_config_format, config->file, choice->place, error, "there is no rule '%s'",
                                 CK_QUOTE(choice->rule));
    }
    for (size_t i = 0; i < config->module_count; i++) {
        const struct ck_lint_module *module = &config->modules[i];
        if (module->adr && !ck_lint_adrs_have(&run->tree_ruleset.adrs, module->adr))
            return ck_yaml_error(&ck_lint_config_format, config->file, module->place, error,
                                 "there is no decision record %s-*.md in 'adr_dir' (a regular file, not empty)",
                                 module->adr);
    }
    return 0;
}

/* Without a file the configuration stays zero-filled, which is valid. */
static int read_config(struct lint_run *run, const char *given, struct choke_error *error)
{
    CK_FD fd = -1;
    char *text = NULL;
    size_t length = 0;
    int r = open_config(run, given, &fd, error);
    if (r < 0 || fd < 0)
        return r;
    r = ck_fd_read_text(fd, CK_LINT_CONFIG_MAX_BYTES, &text, &length);
    if (r < 0)
        return config_error(run->report.config, -r, error);
    r = ck_lint_config_parse(run->report.config, text, length, &run->tree_ruleset.config, error);
    free(text);
    if (r == 0)
        r = read_adrs(run, given, error);
    return r < 0 ? r : check_config(run, error);
}

/* ---- one file ---------------------------------------------------------------------------- */

/* strerror(3) may return a buffer of the thread, so the reason is copied. */
static int skip(struct worker *worker, struct file_result *file_result, const char *reason, bool not_scanned)
{
    file_result->skipped = ck_arena_strdup(&worker->arena, reason);
    file_result->not_scanned = not_scanned;
    return !file_result->skipped ? ck_error_oom(&worker->error) : 0;
}

/* Detects the language by the name, or by the first line, which is then in the buffer. */
static const struct ck_grammar *detect_language(struct worker *worker, const struct ck_walk_file *file, int fd)
{
    const struct ck_grammar *grammar = ck_grammar_of(file->path, NULL, 0);
    if (grammar)
        return grammar;
    /* pread leaves the position alone, so that the whole file can be read after it. */
    ssize_t length = pread(fd, worker->buffer, FIRST_LINE_BYTES, 0);
    return length > 2 ? ck_grammar_of(file->path, worker->buffer, (size_t)length) : NULL;
}

/* Findings beyond the maximum are only counted: a hostile tree must not fill the memory. */
static int make_findings(struct worker *worker, const struct ck_walk_file *file, const struct ck_lint_scan *found,
                         size_t length, struct file_result *file_result)
{
    struct lint_run *run = worker->run;
    struct ck_lint_findings *reported = &file_result->reported;
    struct ck_arena discarded = {0};
    /* Each thread may add one more file after this, so the maximum is not exact. */
    bool full = atomic_load(&run->findings_so_far) >= FINDINGS_MAX;
    struct ck_lint_scanned_file scanned = {file, found, worker->buffer, length};
    int r = ck_lint_findings_make(&run->tree_ruleset, full ? &discarded : &worker->arena, &scanned, reported);
    if (full) {
        reported->dropped += reported->count;
        reported->count = 0;
    }
    atomic_fetch_add(&run->findings_so_far, reported->count);
    ck_arena_done(&discarded);
    return r < 0 ? ck_error_oom(&worker->error) : 0;
}

/* Scans the text in the buffer and keeps the result. */
static int scan(struct worker *worker, const struct ck_walk_file *file, const struct ck_grammar *grammar, size_t length,
                struct file_result *file_result)
{
    struct ck_lint_scan found = {0};
    int r = ck_lint_scan(worker->scanner, grammar, worker->buffer, length, &found, &worker->error);
    if (r == 0 && found.skip != CK_LINT_SCANNED)
        r = skip(worker, file_result, ck_lint_skip_reason(found.skip), true);
    else
        file_result->is_scanned = r == 0;
    file_result->bytes = length;
    /* A file that was not scanned in full may still have findings. */
    if (r == 0 && (found.findings_count > 0 || found.comments_count > 0 || found.broken))
        r = make_findings(worker, file, &found, length, file_result);
    ck_lint_scan_done(&found);
    return r;
}

/*
 * A file that cannot be read is skipped. Only a lack of memory, or rules that do not compile,
 * fails.
 */
static int lint_file(struct worker *worker, const struct ck_walk_file *file, struct file_result *file_result)
{
    struct stat status;
    bool source = !!ck_grammar_of(file->path, NULL, 0);
    CK_FD fd = ck_top_open(&worker->run->top, file->path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) < 0)
        return skip(worker, file_result, strerror(fd < 0 ? -fd : errno), source);
    /* It was a regular file in the walk, and was replaced since. */
    if (!S_ISREG(status.st_mode))
        return skip(worker, file_result, "not a regular file", false);
    const struct ck_grammar *grammar = detect_language(worker, file, fd);
    if (!grammar)
        /* Only a file that the caller named is worth a message. */
        return file->named ? skip(worker, file_result, "not a supported language", false) : 0;
    /* One byte more than allowed, so that the scanner sees that the file is too large. */
    long length = ck_fd_read_all(fd, worker->buffer, CK_LINT_FILE_MAX_BYTES + 1);
    if (length < 0)
        return skip(worker, file_result, strerror((int)-length), true);
    return scan(worker, file, grammar, (size_t)length, file_result);
}

/*
 * Takes files until there are no more. Which thread takes which file does not matter for the
 * report.
 */
static bool is_stopped(const struct worker *worker)
{
    const struct lint_run *run = worker->run;
    /* The caller is asked by its own thread, which is the first worker. */
    return worker == &run->workers[0] && run->caller_stop && run->caller_stop(run->caller_data);
}

static void work(struct worker *worker)
{
    struct lint_run *run = worker->run;
    while (!atomic_load(&run->stop)) {
        if (is_stopped(worker)) {
            worker->failure = ck_error_set(&worker->error, CHOKE_CANCELLED, ECANCELED, "the caller stopped the check");
            atomic_store(&run->stop, true);
            return;
        }
        size_t index = atomic_fetch_add(&run->next, 1);
        if (index >= run->walk.file_count)
            return;
        worker->failure = lint_file(worker, &run->walk.files[index], &run->file_results[index]);
        if (worker->failure < 0)
            atomic_store(&run->stop, true);
    }
}

/* ---- threads ----------------------------------------------------------------------------- */

static void *work_in_thread(void *data)
{
    work(data);
    return NULL;
}

/* 0: one thread for each CPU on which this process may run. */
static size_t count_jobs(const struct lint_run *run, unsigned wanted)
{
    cpu_set_t cpus;
    size_t jobs = wanted;
    if (jobs == 0)
        jobs = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (size_t)CPU_COUNT(&cpus) : 1;
    if (jobs > JOBS_MAX)
        jobs = JOBS_MAX;
    if (jobs > run->walk.file_count)
        jobs = run->walk.file_count;
    return jobs > 0 ? jobs : 1;
}

/* Before any thread starts, so that a failure needs no thread to be stopped. */
static int prepare(struct lint_run *run, struct worker *worker, struct choke_error *error)
{
    worker->run = run;
    worker->buffer = malloc(CK_LINT_FILE_MAX_BYTES + 1);
    if (!worker->buffer)
        return ck_error_oom(error);
    return ck_lint_scanner_new(run->rules, &worker->scanner, error);
}

/*
 * The caller's thread is the first worker. A thread that cannot be started is not an error: the
 * others do its work. New threads block all signals, because the program's handlers expect its own
 * threads.
 */
static void run_workers(struct lint_run *run, size_t jobs)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    /* New threads inherit the mask. */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 1; i < jobs; i++)
        run->workers[i].started = pthread_create(&run->workers[i].thread, NULL, work_in_thread, &run->workers[i]) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(&run->workers[0]);
    for (size_t i = 1; i < jobs; i++)
        if (run->workers[i].started)
            (void)pthread_join(run->workers[i].thread, NULL);
}

/* Not the arena: the report points into it. */
static void free_worker(struct worker *worker)
{
    ck_lint_scanner_free(worker->scanner);
    free(worker->buffer);
    worker->scanner = NULL;
    worker->buffer = NULL;
}

static int lint_all_files(struct lint_run *run, unsigned wanted, struct choke_error *error)
{
    size_t jobs = count_jobs(run, wanted);
    /* One more, because calloc of nothing may return NULL. */
    run->file_results = calloc(run->walk.file_count + 1, sizeof(*run->file_results));
    int r = !run->file_results ? ck_error_oom(error) : 0;
    for (size_t i = 0; r == 0 && i < jobs; i++)
        r = prepare(run, &run->workers[i], error);
    if (r == 0)
        run_workers(run, jobs);
    for (size_t i = 0; i < jobs; i++) {
        /* The first failure is reported. */
        if (r == 0 && run->workers[i].failure < 0) {
            r = run->workers[i].failure;
            if (error)
                *error = run->workers[i].error;
        }
        free_worker(&run->workers[i]);
    }
    return r;
}

/* ---- the report -------------------------------------------------------------------------- */

/* Adds up the counts of all files. Files that were skipped join the list of skips of the walk. */
static int add_up_results(struct lint_run *run)
{
    struct choke_lint_report *report = &run->report;
    for (size_t i = 0; i < run->walk.file_count; i++) {
        const struct file_result *file_result = &run->file_results[i];
        report->file_count += file_result->is_scanned;
        report->byte_count += file_result->bytes;
        report->waived += file_result->reported.waived;
        report->allowed += file_result->reported.allowed;
        report->finding_count += file_result->reported.count;
        report->finding_dropped += file_result->reported.dropped;
        const struct ck_walk_file *file = &run->walk.files[i];
        struct ck_walk_skip skip = {file->path, file->shown, file_result->skipped, file_result->not_scanned};
        if (file_result->skipped && ck_walk_skip(&run->walk, skip) < 0)
            return -ENOMEM;
    }
    report->ignored = run->walk.ignored;
    report->excluded = run->walk.excluded;
    report->top = run->top.path;
    report->rules = run->tree_ruleset.rule_index.rules;
    report->rule_count = run->tree_ruleset.rule_index.count;
    return 0;
}

/* Lists all skips, and adds a finding for each that may hide a source. */
static int report_skips(struct lint_run *run, struct choke_lint_finding *findings, size_t *count)
{
    struct ck_lint_walk *walk = &run->walk;
    struct choke_lint_skip *skips = ck_arena_array(&run->arena, walk->skip_count, sizeof(*skips));
    if (!skips)
        return -ENOMEM;
    for (size_t i = 0; i < walk->skip_count; i++) {
        const struct ck_walk_skip *skip = &walk->skips[i];
        skips[i] = (struct choke_lint_skip){skip->shown, skip->reason};
        struct choke_lint_finding *finding = &findings[*count];
        if (skip->not_scanned && ck_lint_findings_not_scanned(&run->tree_ruleset, &run->arena, skip, finding)) {
            if (!finding->message)
                return -ENOMEM;
            (*count)++;
        }
    }
    run->report.skips = skips;
    run->report.skip_count = walk->skip_count;
    return 0;
}

static void count_severities(struct choke_lint_report *report)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        report->errors += report->findings[i].severity == CHOKE_SEVERITY_ERROR;
        report->warnings += report->findings[i].severity == CHOKE_SEVERITY_WARNING;
        report->notes += report->findings[i].severity == CHOKE_SEVERITY_NOTE;
    }
}

/* Joins the results of all files in the order of the walk. */
static int make_report(struct lint_run *run, struct choke_error *error)
{
    struct choke_lint_report *report = &run->report;
    size_t count = 0;
    if (add_up_results(run) < 0)
        return ck_error_oom(error);
    ck_walk_sort(&run->walk);
    size_t most = report->finding_count + run->walk.skip_count + 1;
    struct choke_lint_finding *findings = ck_arena_array(&run->arena, most, sizeof(*findings));
    if (!findings)
        return ck_error_oom(error);
    for (size_t i = 0; i < run->walk.file_count; i++) {
        const struct ck_lint_findings *reported = &run->file_results[i].reported;
        if (reported->count > 0)
            memcpy(findings + count, reported->findings, reported->count * sizeof(*findings));
        count += reported->count;
    }
    if (report_skips(run, findings, &count) < 0)
        return ck_error_oom(error);
    if (count > 1)
        qsort(findings, count, sizeof(*findings), ck_lint_findings_compare);
    report->findings = findings;
    report->finding_count = count;
    count_severities(report);
    return 0;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Lists the files of all paths. A path that does not exist is an error, not a skip. */
static int walk_paths(struct lint_run *run, const struct choke_lint_options *options, const char *const *paths,
                      struct choke_error *error)
{
    int r = 0;
    ck_walk_init(&run->walk, &run->top, run->tree_ruleset.config.exclude, options->no_gitignore);
    for (; r == 0 && *paths; paths++)
        r = ck_walk_add(&run->walk, *paths, error);
    ck_walk_sort(&run->walk);
    return r;
}

/* The steps of the overview at the top of this file. The first path decides which tree it is. */
static int run_steps(struct lint_run *run, const struct choke_lint_options *options, struct choke_error *error)
{
    static const char *const here[] = {".", NULL};
    const char *const *paths = options->paths && options->paths[0] ? options->paths : here;
    int r = ck_lint_rules_load(&run->rules, error);
    if (r < 0)
        return r;
    if (ck_lint_rule_index_make(&run->arena, run->rules, &run->tree_ruleset.rule_index) < 0)
        return ck_error_oom(error);
    r = ck_top_find(options->root, paths[0], &run->top, error);
    if (r == 0)
        r = read_config(run, options->config_path, error);
    if (r == 0)
        r = walk_paths(run, options, paths, error);
    if (r == 0)
        r = lint_all_files(run, options->jobs, error);
    return r < 0 ? r : make_report(run, error);
}

int ck_lint_run(const struct choke_lint_options *options, struct choke_lint_report **ret_report,
                struct choke_error *error)
{
    struct lint_run *run = calloc(1, sizeof(*run));
    if (!run)
        return ck_error_oom(error);
    /* Zero would be a valid descriptor, and ck_top_done would close it. */
    run->top.fd = -1;
    run->caller_stop = options->stop;
    run->caller_data = options->data;
    int r = run_steps(run, options, error);
    if (r < 0)
        ck_lint_report_free(&run->report);
    else
        *ret_report = &run->report;
    return r;
}

/* Also frees a run that failed half way: every part is valid when it is zero-filled. */
void ck_lint_report_free(struct choke_lint_report *report)
{
    struct lint_run *run = (struct lint_run *)report;
    if (!run)
        return;
    for (size_t i = 0; i < JOBS_MAX; i++)
        ck_arena_done(&run->workers[i].arena);
    ck_walk_done(&run->walk);
    ck_lint_config_done(&run->tree_ruleset.config);
    ck_top_done(&run->top);
    ck_lint_rules_free(run->rules);
    ck_arena_done(&run->arena);
    free(run->file_results);
    free(run);
}
