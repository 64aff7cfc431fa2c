/* native_program.c - collects operations and packs them into a program. See native_program.h. */
#include "jail/native_program.h"

#include <string.h>

/*
 * Landlock rights by the ABI that added them. The headers of the build may be older than the
 * kernel.
 */
#define FS_ABI_1 ((UINT64_C(1) << 13) - 1)
#define FS_REFER (UINT64_C(1) << 13)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define NET_TCP UINT64_C(3)
#define SCOPED_ALL UINT64_C(3)

/* ---- collecting ---- */

/* The array with room for one more element; NULL if there is no memory. */
static void *grow(struct ck_native_builder *program, void *array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity)
        return array;
    size_t wanted = *capacity == 0 ? 64 : 2 * *capacity;
    void *larger = ck_arena_array(&program->arena, wanted, element_bytes);
    if (!larger) {
        program->no_memory = true;
        return NULL;
    }
    if (count > 0)
        memcpy(larger, array, count * element_bytes);
    *capacity = wanted;
    return larger;
}

static const char *copy(struct ck_native_builder *program, const char *text)
{
    const char *copied = text ? ck_arena_strdup(&program->arena, text) : NULL;
    program->no_memory = program->no_memory || (text && !copied);
    return copied;
}

void ck_native_program_add_op(struct ck_native_builder *program, const struct ck_native_builder_op *operation)
{
    if (program->no_memory)
        return;
    for (size_t i = 0; i < program->ops_count; i++)
        if (program->ops[i].op == operation->op && strcmp(program->ops[i].inside, operation->inside) == 0)
            return;
    void *ops = grow(program, program->ops, program->ops_count, &program->ops_capacity, sizeof(*program->ops));
    if (!ops)
        return;
    program->ops = ops;
    struct ck_native_builder_op added = *operation;
    added.inside = copy(program, operation->inside);
    added.outside = copy(program, operation->outside);
    if (!program->no_memory)
        program->ops[program->ops_count++] = added;
}

void ck_native_program_add(struct ck_native_builder *program, enum ck_native_op_kind op, const char *inside,
                           const char *outside)
{
    ck_native_program_add_op(program,
                             &(const struct ck_native_builder_op){.op = op, .inside = inside, .outside = outside});
}

void ck_native_program_add_copy(struct ck_native_builder *program, const char *inside, const char *outside,
                                const struct ck_native_copy *changed)
{
    ck_native_program_add_op(program,
                             &(const struct ck_native_builder_op){
                                 .op = CK_NATIVE_OP_COPY_CODE, .inside = inside, .outside = outside, .copy = changed});
}

void ck_native_program_add_parents(struct ck_native_builder *program, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        char *directory = ck_arena_memdup(&program->arena, path, (size_t)(slash - path));
        if (!directory)
            program->no_memory = true;
        else
            ck_native_program_add(program, CK_NATIVE_OP_DIRECTORY, directory, NULL);
    }
}

void ck_native_program_allow(struct ck_native_builder *program, const char *path)
{
    if (program->no_memory)
        return;
    for (size_t i = 0; i < program->execs_count; i++)
        if (strcmp(program->execs[i], path) == 0)
            return;
    void *execs =
        grow(program, program->execs, program->execs_count, &program->execs_capacity, sizeof(*program->execs));
    if (!execs)
        return;
    program->execs = execs;
    const char *allowed = copy(program, path);
    if (!program->no_memory)
        program->execs[program->execs_count++] = allowed;
}

/* ---- packing ---- */

struct program_packer {
    unsigned char *bytes; /* NULL while measuring */
    size_t at;
};

static uint32_t put(struct program_packer *packer, const void *data, size_t length, size_t alignment)
{
    packer->at = (packer->at + alignment - 1) / alignment * alignment;
    size_t here = packer->at;
    if (packer->bytes && length > 0)
        memcpy(packer->bytes + here, data, length);
    packer->at = here + length;
    return (uint32_t)here;
}

static uint32_t put_text(struct program_packer *packer, const char *text)
{
    return text ? put(packer, text, strlen(text) + 1, 1) : 0;
}

static uint32_t put_operations(struct program_packer *packer, const struct ck_native_builder *program)
{
    size_t bytes = program->ops_count * sizeof(struct ck_native_op);
    /*
     * Space for the table first, then the strings; the entries are filled in as the strings get
     * offsets.
     */
    packer->at = (packer->at + 7) / 8 * 8;
    size_t table = packer->at;
    packer->at += bytes;
    for (size_t i = 0; i < program->ops_count; i++) {
        const struct ck_native_builder_op *from = &program->ops[i];
        const struct ck_native_op operation = {.op = (uint32_t)from->op,
                                               .inside = put_text(packer, from->inside),
                                               .outside = put_text(packer, from->outside),
                                               .copy_at =
                                                   from->copy ? put(packer, from->copy, sizeof(*from->copy), 8) : 0,
                                               .device = from->device,
                                               .inode = from->inode};
        if (packer->bytes)
            memcpy(packer->bytes + table + i * sizeof(operation), &operation, sizeof(operation));
    }
    return (uint32_t)table;
}

static uint32_t put_execs(struct program_packer *packer, const struct ck_native_builder *program)
{
    packer->at = (packer->at + 7) / 8 * 8;
    size_t table = packer->at;
    packer->at += program->execs_count * sizeof(uint32_t);
    for (size_t i = 0; i < program->execs_count; i++) {
        uint32_t at = put_text(packer, program->execs[i]);
        if (packer->bytes)
            memcpy(packer->bytes + table + i * sizeof(at), &at, sizeof(at));
    }
    return (uint32_t)table;
}

/*
 * A right that the kernel does not know makes landlock_create_ruleset fail, so only those of its
 * ABI are set.
 */
static void set_landlock(struct ck_native_program *head, int abi)
{
    if (abi < 1)
        return;
    head->landlock_fs =
        FS_ABI_1 | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL_DEV : 0);
    head->landlock_net = abi >= 4 ? NET_TCP : 0;
    head->landlock_scoped = abi >= 6 ? SCOPED_ALL : 0;
}

/*
 * Called twice: without bytes it only measures. The head is written last, when all offsets are
 * known.
 */
static size_t pack(struct program_packer *packer, const struct ck_native_builder *program,
                   const struct ck_native_program_settings *settings)
{
    struct ck_native_program head = {
        .uid = settings->uid,
        .gid = settings->gid,
        .ops_count = (uint32_t)program->ops_count,
        .execs_count = (uint32_t)program->execs_count,
        .filter_count = (uint32_t)settings->filter_count,
        .workspace_code = settings->workspace_code ? 1 : 0,
        .loopback = settings->loopback ? 1 : 0,
        .gate_port = settings->gate_port,
        .gate_reports_attempts = settings->gate_reports_attempts ? 1 : 0,
        .exec_key = settings->exec_key,
        .why = settings->why ? 1 : 0,
        .learn = settings->learn ? 1 : 0,
        .guarded = settings->guarded ? 1 : 0,
        .no_new_code = settings->no_new_code ? 1 : 0,
        .door_bytes = (uint32_t)settings->door_bytes,
    };
    set_landlock(&head, settings->landlock_abi);
    /* A rule names a port and no address, and the ports of the tool's servers are not known. */
    if (settings->loopback)
        head.landlock_net = 0;
    (void)put(packer, &head, sizeof(head), 8);
    head.ops_at = put_operations(packer, program);
    head.execs_at = put_execs(packer, program);
    head.filter_at = put(packer, settings->filter, settings->filter_count * sizeof(*settings->filter), 8);
    head.root_at = put_text(packer, settings->root ? settings->root : CK_JAIL_WORK);
    head.tmp_options_at = put_text(packer, settings->tmp_options);
    head.proof_loader_at = put_text(packer, program->proof_loader);
    head.door_at = settings->door_bytes > 0 ? put(packer, settings->door, settings->door_bytes, 8) : 0;
    head.size_bytes = (uint32_t)packer->at;
    if (packer->bytes)
        memcpy(packer->bytes, &head, sizeof(head));
    return packer->at;
}

const struct ck_native_program *ck_native_program_pack(struct ck_native_builder *program,
                                                       const struct ck_native_program_settings *settings)
{
    struct program_packer packer = {0};
    size_t bytes = pack(&packer, program, settings);
    packer = (struct program_packer){.bytes = program->no_memory ? NULL : ck_arena_alloc(&program->arena, bytes)};
    if (!packer.bytes)
        return NULL;
    (void)pack(&packer, program, settings);
    return (const void *)packer.bytes;
}

void ck_native_program_done(struct ck_native_builder *program)
{
    ck_arena_done(&program->arena);
    *program = (struct ck_native_builder){0};
}
