/* log_world.c - see log_world.h. A descriptor encodes the number of an inode and of its owner. */
#include "log_world.h"

#include "audit/name.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(CHOKE_SANITIZED)
#include <sanitizer/common_interface_defs.h>
static const void *holder_bottom;
static size_t holder_size;
#define LEAVE(save, bottom, size) __sanitizer_start_switch_fiber(save, bottom, size)
#define ARRIVE(saved) __sanitizer_finish_switch_fiber(saved, NULL, NULL)
#define ARRIVE_FIRST() __sanitizer_finish_switch_fiber(NULL, &holder_bottom, &holder_size)
#else
#define LEAVE(save, bottom, size) ((void)0)
#define ARRIVE(saved) ((void)0)
#define ARRIVE_FIRST() ((void)0)
#endif

static struct world *here; /* contexts take no pointer */

/* ---- who runs ---- */

static void to_writer(struct world *world, struct writer *writer)
{
    world->running = writer;
    here = world;
    LEAVE(&world->fake_stack, writer->stack, WORLD_STACK);
    (void)swapcontext(&world->holder, &writer->context);
    ARRIVE(world->fake_stack);
    world->running = NULL;
}

static void to_holder(struct writer *writer, bool forever)
{
    (void)forever;
    LEAVE(forever ? NULL : &writer->fake_stack, holder_bottom, holder_size);
    (void)swapcontext(&writer->context, &here->holder);
    ARRIVE(writer->fake_stack);
}

/* Stops before a step; true: the step fails. */
static bool stop(struct world *world, enum step step, int inode)
{
    struct writer *writer = world->running;
    if (!writer)
        return false;
    writer->next = step;
    writer->inode = inode;
    to_holder(writer, false);
    if (writer->killed)
        longjmp(writer->end, 1);
    return writer->fate == FATE_FAIL;
}

static void note(struct world *world, uint64_t answer)
{
    if (world->running)
        world->running->history = (world->running->history ^ answer) * UINT64_C(1099511628211);
}

/* ---- names and inodes ---- */

int world_find(const struct world *world, const char *name)
{
    for (int i = 0; i < WORLD_NAMES; i++)
        if (world->names[i].inode >= 0 && strcmp(world->names[i].text, name) == 0)
            return i;
    return -1;
}

static void add_name(struct world *world, const char *name, int inode)
{
    int i = 0;
    while (i < WORLD_NAMES && world->names[i].inode >= 0)
        i++;
    assert(i < WORLD_NAMES);
    (void)snprintf(world->names[i].text, sizeof(world->names[i].text), "%s", name);
    world->names[i].inode = inode;
}

static int add_inode(struct world *world, const char *text, size_t length)
{
    assert(world->inode_count < WORLD_INODES && length <= WORLD_TEXT);
    struct inode *inode = &world->inodes[world->inode_count];
    memcpy(inode->text, text, length);
    inode->length = length;
    inode->locked_by = -1;
    return world->inode_count++;
}

static struct ck_audit_file_state state_of(const struct world *world, int inode)
{
    return (struct ck_audit_file_state){.identity = {.device = 1, .inode = (ino_t)inode + 1},
                                        .size = world->inodes[inode].length};
}

static int number_of(const struct world *world)
{
    return world->running ? world->running->number : world->writer_count;
}

/* ---- the table ---- */

static int w_open(void *data, const char *name, int *ret_fd, struct ck_audit_file_state *ret_state,
                  struct choke_error *error)
{
    struct world *world = data;
    (void)error;
    (void)stop(world, STEP_OPEN, -1);
    int at = world_find(world, name);
    note(world, (uint64_t)at + 1);
    if (at < 0)
        return -ENOENT;
    *ret_fd = world->names[at].inode;
    *ret_state = state_of(world, *ret_fd);
    return 0;
}

static void w_close(void *data, int *fd)
{
    struct world *world = data;
    if (*fd >= 0 && world->inodes[*fd].locked_by == number_of(world))
        world->inodes[*fd].locked_by = -1;
    *fd = -1;
}

/* A writer that cannot have the lock does not run before it can. */
static int w_lock(void *data, int fd)
{
    struct world *world = data;
    (void)stop(world, STEP_LOCK, fd);
    assert(world->inodes[fd].locked_by == -1);
    world->inodes[fd].locked_by = number_of(world);
    return 0;
}

static void w_unlock(void *data, int fd)
{
    struct world *world = data;
    (void)stop(world, STEP_UNLOCK, fd);
    world->inodes[fd].locked_by = -1;
}

static int w_stat_name(void *data, const char *name, struct ck_audit_file_state *ret_state)
{
    struct world *world = data;
    (void)stop(world, STEP_LOOK, -1);
    int at = world_find(world, name);
    note(world, at < 0 ? 0 : (uint64_t)world->names[at].inode + 1);
    if (at < 0)
        return -ENOENT;
    *ret_state = state_of(world, world->names[at].inode);
    note(world, ret_state->size);
    return 0;
}

static ssize_t w_read(void *data, int fd, char *buffer, size_t length, uint64_t offset)
{
    const struct inode *inode = &((struct world *)data)->inodes[fd];
    size_t left = offset < inode->length ? inode->length - (size_t)offset : 0;
    size_t got = left < length ? left : length;
    memcpy(buffer, inode->text + offset, got);
    return (ssize_t)got;
}

static void write_text(struct inode *inode, const char *text, size_t length)
{
    assert(inode->length + length <= WORLD_TEXT);
    memcpy(inode->text + inode->length, text, length);
    inode->length += length;
}

static ssize_t w_append(void *data, int fd, const char *text, size_t length)
{
    struct world *world = data;
    struct writer *writer = world->running;
    if (writer) {
        writer->text = text;
        writer->length = length;
        if (stop(world, STEP_APPEND, fd))
            return -ENOSPC;
        if (writer->fate == FATE_SHORT)
            length = writer->part;
        note(world, length);
    }
    write_text(&world->inodes[fd], text, length);
    return (ssize_t)length;
}

static int w_make(void *data, const char *name, const char *text, size_t length, bool durable)
{
    struct world *world = data;
    (void)durable;
    if (stop(world, STEP_MAKE, -1))
        return -ENOSPC;
    add_name(world, name, add_inode(world, text, length));
    return 0;
}

static int w_link(void *data, const char *name, const char *second)
{
    struct world *world = data;
    if (stop(world, STEP_LINK, -1))
        return -EPERM;
    int at = world_find(world, name);
    bool there = world_find(world, second) >= 0;
    note(world, there);
    if (at < 0 || there)
        return at < 0 ? -ENOENT : -EEXIST;
    add_name(world, second, world->names[at].inode);
    return 0;
}

static int w_rename(void *data, const char *name, const char *over)
{
    struct world *world = data;
    if (stop(world, STEP_RENAME, -1))
        return -EPERM;
    int at = world_find(world, name), target = world_find(world, over);
    assert(at >= 0 && target >= 0); /* nobody takes away what a rotation is about to use */
    world->names[target].inode = world->names[at].inode;
    world->names[at].inode = -1;
    return 0;
}

static void w_remove(void *data, const char *name)
{
    struct world *world = data;
    (void)stop(world, STEP_REMOVE, -1);
    int at = world_find(world, name);
    if (at >= 0)
        world->names[at].inode = -1;
}

static int w_sync(void *data, int fd)
{
    (void)data;
    (void)fd;
    return 0;
}

static void w_sync_names(void *data)
{
    (void)data;
}

static int w_has_rotated(void *data, const char *name)
{
    const struct world *world = data;
    for (int i = 0; i < WORLD_NAMES; i++)
        if (world->names[i].inode >= 0 && strncmp(world->names[i].text, "log-", 4) == 0)
            return 1;
    (void)name;
    return 0;
}

static void w_sweep(void *data, const char *name)
{
    struct world *world = data;
    (void)stop(world, STEP_SWEEP, -1);
    for (int i = 0; i < WORLD_NAMES; i++)
        if (world->names[i].inode >= 0 && ck_name_is_new(world->names[i].text, name))
            world->names[i].inode = -1;
}

static void w_backoff(void *data, unsigned tried)
{
    (void)data;
    (void)tried;
}

const struct ck_audit_file_ops world_files = {
    .open = w_open,
    .close = w_close,
    .lock = w_lock,
    .unlock = w_unlock,
    .stat_name = w_stat_name,
    .read = w_read,
    .append = w_append,
    .make = w_make,
    .link = w_link,
    .rename = w_rename,
    .remove = w_remove,
    .sync = w_sync,
    .sync_names = w_sync_names,
    .has_rotated = w_has_rotated,
    .sweep = w_sweep,
    .backoff = w_backoff,
};

/* ---- writers ---- */

static int append(struct writer *writer, const char *tag, struct choke_error *error)
{
    uint64_t seq;
    int r = ck_record_start(&writer->record, CK_AUDIT_KIND_INTENT);
    if (r < 0)
        return r;
    ck_json_word(&writer->record.body, "tag", tag);
    return ck_log_append(&writer->log, &writer->record, &seq, error);
}

static void write_all(struct writer *writer)
{
    for (int i = 0; i < writer->appends; i++) {
        struct choke_error error = {0};
        char tag[32];
        (void)snprintf(tag, sizeof(tag), "%d.%d", writer->number, i);
        writer->history = 0;
        writer->results[i] = append(writer, tag, &error);
        writer->returned[i] = true;
    }
}

static void live(void)
{
    struct writer *writer = here->running;
    ARRIVE_FIRST();
    if (setjmp(writer->end) == 0)
        write_all(writer);
    writer->done = true;
    to_holder(writer, true);
}

static void begin_writer(struct world *world, struct writer *writer)
{
    ck_log_init(&writer->log, &world_files, world, WORLD_LOG);
    writer->log.max_bytes = world->max_bytes;
    writer->log.sync = CHOKE_AUDIT_SYNC_NONE;
}

/* Apart from the loop over the writers: to a compiler getcontext returns twice. */
static void give_stack(struct writer *writer)
{
    if (!writer->stack)
        writer->stack = malloc(WORLD_STACK);
    assert(writer->stack);
    (void)getcontext(&writer->context);
    writer->context.uc_stack.ss_sp = writer->stack;
    writer->context.uc_stack.ss_size = WORLD_STACK;
    makecontext(&writer->context, live, 0);
}

void world_start(struct world *world, int writers, int appends, uint64_t max_bytes)
{
    world->inode_count = 0;
    world->writer_count = writers;
    world->running = NULL;
    world->max_bytes = max_bytes;
    for (int i = 0; i < WORLD_NAMES; i++)
        world->names[i].inode = -1;
    for (int i = 0; i <= writers; i++) {
        struct writer *writer = &world->writers[i];
        char *stack = writer->stack;
        *writer = (struct writer){.number = i, .stack = stack, .appends = appends, .inode = -1};
        begin_writer(world, writer);
        if (i < writers)
            give_stack(writer);
    }
}

void world_set_out(struct world *world)
{
    for (int i = 0; i < world->writer_count; i++)
        to_writer(world, &world->writers[i]);
}

void world_make_log(struct world *world)
{
    struct choke_error error = {0};
    int r = world_append(world, "first", &error);
    assert(r == 0);
    (void)r;
    world_set_out(world);
}

void world_make_empty(struct world *world)
{
    add_name(world, WORLD_LOG, add_inode(world, "", 0));
    world_set_out(world);
}

int world_append(struct world *world, const char *tag, struct choke_error *error)
{
    return append(&world->writers[world->writer_count], tag, error);
}

static void kill_writer(struct world *world, struct writer *writer)
{
    writer->killed = true;
    to_writer(world, writer);
    for (int i = 0; i < world->inode_count; i++)
        if (world->inodes[i].locked_by == writer->number)
            world->inodes[i].locked_by = -1;
}

void world_end(struct world *world)
{
    for (int i = 0; i <= world->writer_count; i++) {
        struct writer *writer = &world->writers[i];
        if (i < world->writer_count && !writer->done)
            kill_writer(world, writer);
        ck_log_forget(&writer->log);
        ck_record_done(&writer->record);
    }
}

void world_free(struct world *world)
{
    for (int i = 0; i <= WORLD_WRITERS; i++) {
        free(world->writers[i].stack);
        world->writers[i].stack = NULL;
    }
}

bool world_can_go(const struct world *world, const struct writer *writer)
{
    if (writer->done)
        return false;
    return writer->next != STEP_LOCK || world->inodes[writer->inode].locked_by == -1;
}

void world_go(struct world *world, struct writer *writer, enum fate fate, size_t part)
{
    writer->fate = fate;
    writer->part = part;
    if (fate == FATE_CUT)
        write_text(&world->inodes[writer->inode], writer->text, part);
    if (fate == FATE_CUT || fate == FATE_DIE)
        kill_writer(world, writer);
    else
        to_writer(world, writer);
}

/* ---- what a world looks like ---- */

static void mix(uint64_t *digest, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        *digest = (*digest ^ (value >> (8 * i) & 255)) * UINT64_C(1099511628211);
}

static void mix_log(uint64_t *digest, const struct ck_log *log)
{
    mix(digest, (uint64_t)log->fd);
    mix(digest, log->size);
    mix(digest, log->head.seq);
    mix(digest, (uint64_t)log->known | (uint64_t)log->seen << 1 | (uint64_t)log->newline_first << 2 |
                    (uint64_t)log->rotation_failed << 3 | (uint64_t)log->is_swept << 4);
    mix(digest, log->first_seq);
}

/* Texts that differ only in times and random bytes have the same length; the results say who wrote
 * which record. */
uint64_t world_digest(const struct world *world)
{
    uint64_t digest = UINT64_C(14695981039346656037);
    for (int i = 0; i < world->inode_count; i++) {
        mix(&digest, world->inodes[i].length);
        mix(&digest, (uint64_t)world->inodes[i].locked_by);
    }
    for (int i = 0; i < WORLD_NAMES; i++)
        mix(&digest, (uint64_t)world->names[i].inode);
    for (int i = 0; i < world->writer_count; i++) {
        const struct writer *writer = &world->writers[i];
        mix(&digest, (uint64_t)writer->done | (uint64_t)writer->killed << 1 | (uint64_t)writer->next << 2);
        mix(&digest, (uint64_t)writer->inode);
        mix(&digest, writer->history);
        for (int k = 0; k < writer->appends; k++)
            mix(&digest, (uint64_t)writer->results[k] << 1 | writer->returned[k]);
        mix_log(&digest, &writer->log);
    }
    return digest;
}
