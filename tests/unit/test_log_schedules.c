/*
 * test_log_schedules.c - every order of the steps of several writers, with a death or a failure at every step, keeps one
 * chain in which every record is present for which its writer got success.
 *
 * The search is exhaustive: at each moment each writer's next step is tried with each of its fates. Two ways to the same
 * state go on in the same way, so the second is not followed. How many may die or fail in one world is a bound.
 */
#include "log_world.h"

#include "audit/format.h"
#include "audit/name.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A switch of stacks takes long under AddressSanitizer; the same states are visited without it. */
#if defined(CHOKE_SANITIZED)
#define MORE 1
#else
#define MORE 2
#endif

#define DEPTH_MAX 400
#define SEEN_BITS 22
#define FILES_MAX 16
#define OPTIONS_MAX 64

struct scenario {
    int writers, appends;
    uint64_t max_bytes;
    int faults; /* how many in one world */
    bool no_cuts;
    void (*prepare)(struct world *world);
};

struct option {
    int writer;
    enum fate fate;
    size_t part;
};

struct search {
    const struct scenario *scenario;
    int chosen[DEPTH_MAX];
    int options[DEPTH_MAX];
    int depth; /* of the path that is followed */
    uint64_t *seen;
    size_t states, ends, faults_met;
};

static struct world world;

/* ---- what must hold at the end ---- */

struct reader {
    char log[CK_AUDIT_LOG_HEX + 1];
    char prev[CK_AUDIT_HASH_HEX + 1];
    uint64_t seq;
    const char *torn; /* bytes that no repair covers yet */
    size_t torn_length;
    char tags[64][16];
    int tag_count;
    int repairs;
};

static const char *member(const char *line, size_t length, const char *key)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "\"%s\":", key);
    const char *at = memmem(line, length, text, strlen(text));
    return at ? at + strlen(text) : NULL;
}

static void take_repair(struct reader *reader, const char *line, size_t length)
{
    char hash[CK_AUDIT_HASH_HEX + 1];
    assert_non_null(reader->torn);
    assert_int_equal(strtoul(member(line, length, "torn_bytes"), NULL, 10), reader->torn_length);
    ck_line_hash(reader->torn, reader->torn_length, hash);
    assert_memory_equal(member(line, length, "torn_hash") + 1, hash, CK_AUDIT_HASH_HEX);
    reader->torn = NULL;
    reader->torn_length = 0;
    reader->repairs++;
}

static void take_tag(struct reader *reader, const char *line, size_t length)
{
    const char *tag = member(line, length, "tag") + 1;
    char *place = reader->tags[reader->tag_count++];
    assert_true(reader->tag_count < 64);
    (void)snprintf(place, sizeof(reader->tags[0]), "%.*s", (int)strcspn(tag, "\""), tag);
    for (int i = 0; i + 1 < reader->tag_count; i++)
        assert_string_not_equal(reader->tags[i], place); /* each once */
}

static void take_line(struct reader *reader, const char *line, size_t length, bool first)
{
    struct ck_envelope envelope;
    int r = ck_line_read(line, length, &envelope);
    assert_int_not_equal(r, -EBADMSG);
    if (r < 0) {
        reader->torn = !reader->torn ? line : reader->torn;
        reader->torn_length += length + 1;
        return;
    }
    if (reader->seq == 0)
        memcpy(reader->log, envelope.log, sizeof(reader->log));
    assert_string_equal(envelope.log, reader->log);
    assert_int_equal(envelope.seq, reader->seq);
    assert_string_equal(envelope.prev, reader->prev);
    assert_int_equal(first, strcmp(envelope.kind, CK_AUDIT_KIND_BEGIN) == 0);
    if (strcmp(envelope.kind, CK_AUDIT_KIND_REPAIR) == 0)
        take_repair(reader, line, length);
    else
        assert_null(reader->torn);
    if (strcmp(envelope.kind, CK_AUDIT_KIND_INTENT) == 0)
        take_tag(reader, line, length);
    memcpy(reader->prev, envelope.hash, sizeof(reader->prev));
    reader->seq++;
}

static void take_file(struct reader *reader, const struct inode *inode)
{
    const char *at = inode->text, *end = inode->text + inode->length;
    bool first = true;
    assert_int_equal(end[-1], '\n');
    for (; at < end; first = false) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        take_line(reader, at, (size_t)(stop - at), first);
        at = stop + 1;
    }
    assert_null(reader->torn);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The rotated files by their names, each file once, and the log last. */
static void take_all(struct reader *reader)
{
    const char *names[FILES_MAX];
    size_t count = 0;
    int log = world_find(&world, WORLD_LOG);
    assert_true(log >= 0);
    for (int i = 0; i < WORLD_NAMES; i++)
        if (world.names[i].inode >= 0 && strncmp(world.names[i].text, "log-", 4) == 0) {
            assert_true(count < FILES_MAX);
            /* the next writer completed an interrupted rotation */
            assert_int_not_equal(world.names[i].inode, world.names[log].inode);
            names[count++] = world.names[i].text;
        }
    qsort(names, count, sizeof(names[0]), by_name);
    for (size_t i = 0; i < count; i++)
        take_file(reader, &world.inodes[world.names[world_find(&world, names[i])].inode]);
    take_file(reader, &world.inodes[world.names[log].inode]);
}

static bool has_tag(const struct reader *reader, int writer, int append)
{
    char tag[32];
    (void)snprintf(tag, sizeof(tag), "%d.%d", writer, append);
    for (int i = 0; i < reader->tag_count; i++)
        if (strcmp(reader->tags[i], tag) == 0)
            return true;
    return false;
}

static void check_end(const struct search *search, int faults)
{
    static struct reader reader;
    struct choke_error error = {0};
    reader = (struct reader){.prev = CK_AUDIT_FIRST_PREV};
    if (world_append(&world, "last", &error) < 0)
        fail_msg("nobody can write any more: %s", error.message);
    take_all(&reader);
    for (int i = 0; i < WORLD_NAMES; i++) /* a writer that died left nothing that stays */
        assert_false(world.names[i].inode >= 0 && ck_name_is_new(world.names[i].text, WORLD_LOG));
    int failed = 0;
    for (int i = 0; i < world.writer_count; i++)
        for (int k = 0; k < search->scenario->appends; k++) {
            const struct writer *writer = &world.writers[i];
            if (writer->returned[k] && writer->results[k] == 0)
                assert_true(has_tag(&reader, i, k));
            else
                failed += writer->returned[k];
        }
    assert_true(failed <= faults); /* no writer fails because of another one */
    assert_true(faults > 0 || reader.repairs == 0);
}

/* In every state the name leads to a file that begins with a record. */
static void check_moment(void)
{
    struct ck_envelope envelope;
    int log = world_find(&world, WORLD_LOG);
    if (log < 0)
        return;
    const struct inode *inode = &world.inodes[world.names[log].inode];
    const char *end = memchr(inode->text, '\n', inode->length);
    if (inode->length > 0) {
        assert_non_null(end);
        assert_int_equal(ck_line_read(inode->text, (size_t)(end - inode->text), &envelope), 0);
        assert_string_equal(envelope.kind, CK_AUDIT_KIND_BEGIN);
    }
}

/* ---- the search ---- */

static void add(struct option *options, int *count, struct option option)
{
    assert_true(*count < OPTIONS_MAX);
    options[(*count)++] = option;
}

static void add_faults(const struct scenario *scenario, const struct writer *writer, struct option *options, int *count)
{
    int i = writer->number;
    size_t length = writer->length;
    add(options, count, (struct option){i, FATE_DIE, 0});
    if (writer->next == STEP_LINK || writer->next == STEP_RENAME || writer->next == STEP_MAKE)
        add(options, count, (struct option){i, FATE_FAIL, 0});
    if (writer->next != STEP_APPEND)
        return;
    add(options, count, (struct option){i, FATE_FAIL, 0});
    const size_t parts[] = {1, 2, length / 2, length - 2, length - 1};
    for (size_t k = 0; !scenario->no_cuts && k < sizeof(parts) / sizeof(parts[0]); k++) {
        add(options, count, (struct option){i, FATE_CUT, parts[k]});
        add(options, count, (struct option){i, FATE_SHORT, parts[k]});
    }
    add(options, count, (struct option){i, FATE_CUT, length}); /* written, and dead before it knows */
}

static int list_options(const struct scenario *scenario, int faults, struct option options[OPTIONS_MAX])
{
    int count = 0;
    for (int i = 0; i < world.writer_count; i++)
        if (world_can_go(&world, &world.writers[i]))
            add(options, &count, (struct option){i, FATE_DONE, 0});
    for (int i = 0; i < world.writer_count && faults < scenario->faults; i++)
        if (world_can_go(&world, &world.writers[i]))
            add_faults(scenario, &world.writers[i], options, &count);
    return count;
}

/* Was it there before? It is now. */
static bool seen_before(struct search *search, int faults)
{
    uint64_t digest = (world_digest(&world) ^ (uint64_t)faults) * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = ((size_t)1 << SEEN_BITS) - 1;
    size_t at = (size_t)(digest >> 20) & mask;
    digest |= 1; /* 0 is a free slot */
    while (search->seen[at] != 0 && search->seen[at] != digest)
        at = (at + 1) & mask;
    bool before = search->seen[at] == digest;
    search->seen[at] = digest;
    if (!before && ++search->states > mask / 2)
        fail_msg("more states than there is room for");
    return before;
}

static bool all_done(void)
{
    bool done = true;
    for (int i = 0; i < world.writer_count; i++)
        done = done && world.writers[i].done;
    return done;
}

/* Follows the chosen path, and after its end the first option each time, until no step is left. */
static void follow(struct search *search)
{
    struct option options[OPTIONS_MAX];
    int faults = 0, depth = 0;
    const struct scenario *scenario = search->scenario;
    world_start(&world, scenario->writers, scenario->appends, scenario->max_bytes);
    scenario->prepare(&world);
    for (; !all_done(); depth++) {
        assert_true(depth < DEPTH_MAX);
        check_moment();
        if (depth >= search->depth) {
            if (seen_before(search, faults))
                break;
            search->chosen[depth] = 0;
            search->depth = depth + 1;
        }
        search->options[depth] = list_options(scenario, faults, options);
        assert_true(search->options[depth] > 0); /* else all writers wait for each other */
        const struct option *option = &options[search->chosen[depth]];
        faults += option->fate != FATE_DONE;
        world_go(&world, &world.writers[option->writer], option->fate, option->part);
    }
    if (all_done()) {
        check_end(search, faults);
        search->ends++;
        search->faults_met += faults > 0;
    }
    world_end(&world);
}

/* The next path that was not followed yet. */
static bool step_back(struct search *search)
{
    while (search->depth > 0 && search->chosen[search->depth - 1] + 1 == search->options[search->depth - 1])
        search->depth--;
    if (search->depth == 0)
        return false;
    search->chosen[search->depth - 1]++;
    return true;
}

static void explore(const struct scenario *scenario)
{
    struct search search = {.scenario = scenario};
    search.seen = calloc((size_t)1 << SEEN_BITS, sizeof(*search.seen));
    assert_non_null(search.seen);
    size_t ways = 0;
    do {
        follow(&search);
        ways++;
    } while (step_back(&search));
    free(search.seen);
    world_free(&world);
    assert_true(search.ends > 1);
    assert_true(scenario->faults == 0 || search.faults_met > 0);
    print_message("# %zu ways, %zu states, %zu ends, %zu of them with a fault\n", ways, search.states, search.ends,
                  search.faults_met);
}

/* ---- scenarios ---- */

static void two_that_begin_a_log_begin_one(void **state)
{
    (void)state;
    explore(&(struct scenario){.writers = 2, .appends = 1, .faults = 1, .prepare = world_set_out});
}

static void three_writers_keep_one_chain(void **state)
{
    (void)state;
    explore(&(struct scenario){.writers = 3, .appends = 1, .faults = 1, .prepare = world_make_log});
}

static void a_repair_that_is_torn_is_repaired_too(void **state)
{
    (void)state;
    explore(&(struct scenario){.writers = 2, .appends = 2, .faults = MORE, .prepare = world_make_log});
}

static void rotation_drops_nothing_and_forks_nothing(void **state)
{
    (void)state;
    explore(&(struct scenario){.writers = 2, .appends = MORE, .max_bytes = 1, .faults = 1, .prepare = world_make_log});
}

static void a_file_that_was_made_empty_becomes_one_log(void **state)
{
    (void)state;
    explore(&(struct scenario){.writers = 2, .appends = 2, .faults = 1, .no_cuts = true, .prepare = world_make_empty});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_that_begin_a_log_begin_one),
        cmocka_unit_test(three_writers_keep_one_chain),
        cmocka_unit_test(a_repair_that_is_torn_is_repaired_too),
        cmocka_unit_test(rotation_drops_nothing_and_forks_nothing),
        cmocka_unit_test(a_file_that_was_made_empty_becomes_one_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
