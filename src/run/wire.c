/* wire.c - packs a plan into a message, and names what a report has as numbers. See wire.h. */
#include "run/wire.h"

#include <stdint.h>
#include <string.h>

/* Used as "cannot TEXT 'git'", so each text must go on to the name of the tool. */
const char *ck_wire_stage_text(enum ck_stage stage)
{
    static const char *const text[CK_STAGES] = {
        [CK_STAGE_NONE] = "run",
        [CK_STAGE_CREATE] = "create a process for",
        [CK_STAGE_LIMITS] = "enforce the limits of",
        [CK_STAGE_SESSION] = "create a session for",
        [CK_STAGE_DEATH_SIGNAL] = "set the parent death signal of",
        [CK_STAGE_STDIO] = "connect the streams of",
        [CK_STAGE_CWD] = "enter the working directory of",
        [CK_STAGE_JAIL] = "build the jail of",
        [CK_STAGE_WORKSPACE] = "mount the overlay for",
        [CK_STAGE_EGRESS] = "set up the egress of",
        [CK_STAGE_PRIVILEGES] = "drop the privileges of",
        [CK_STAGE_DESCRIPTORS] = "close the descriptors of",
        [CK_STAGE_CALLS] = "restrict the system calls of",
        [CK_STAGE_EXECS] = "restrict what may be executed by",
        [CK_STAGE_SCRIPT] = "pass on the script of",
        [CK_STAGE_SIGNALS] = "reset the signals of",
        [CK_STAGE_EXECUTE] = "execute",
    };
    return stage < CK_STAGES ? text[stage] : "run";
}

/* These names and those of the next two functions are in the result, so they must not change. */
const char *ck_wire_kill_name(enum ck_kill kill)
{
    switch (kill) {
    case CK_KILL_PIDNS:
        return "pidns";
    case CK_KILL_CGROUP:
        return "cgroup";
    case CK_KILL_SUBREAPER:
        return "subreaper";
    case CK_KILL_PGROUP:
        return "pgroup";
    }
    return NULL;
}

const char *ck_wire_held_name(enum ck_held held)
{
    switch (held) {
    case CK_HELD_NONE:
        break;
    case CK_HELD_RLIMIT:
        return "rlimit";
    case CK_HELD_CGROUP1:
        return "cgroup1";
    case CK_HELD_CGROUP2:
        return "cgroup2";
    }
    return "none";
}

/* If a run hit several limits, the first in the order of enum ck_limit is named. */
const char *ck_wire_hit_name(uint32_t hit)
{
    static const char *const names[CK_LIMITS] = {[CK_LIMIT_MEMORY] = "oom",
                                                 [CK_LIMIT_PROCESSES] = "pids",
                                                 [CK_LIMIT_CPU] = "cpu",
                                                 [CK_LIMIT_FILE_SIZE] = "fsize"};
    for (size_t i = 0; i < CK_LIMITS; i++)
        if ((hit >> i & 1) != 0 && names[i])
            return names[i];
    return NULL;
}

struct wire_packer {
    unsigned char *buffer;
    size_t size;
    size_t at;
};

/* Counts also what does not fit, so that a call with size 0 measures. */
static size_t put(struct wire_packer *packer, const void *data, size_t length)
{
    size_t here = packer->at;
    if (here + length <= packer->size)
        memcpy(packer->buffer + here, data, length);
    packer->at = here + length;
    return here;
}

static uint32_t count(const char *const *strings)
{
    uint32_t n = 0;
    while (strings[n])
        n++;
    return n;
}

static void put_strings(struct wire_packer *packer, size_t table_at, const char *const *strings)
{
    for (size_t i = 0; strings[i]; i++) {
        uint64_t offset = put(packer, strings[i], strlen(strings[i]) + 1);
        size_t slot = table_at + i * sizeof(offset);
        if (slot + sizeof(offset) <= packer->size)
            memcpy(packer->buffer + slot, &offset, sizeof(offset));
    }
}

/* One entry more than strings: a zero, which becomes the NULL at the end of argv or envp. */
static size_t put_table(struct wire_packer *packer, uint32_t entries)
{
    static const uint64_t zero;
    size_t here = packer->at;
    for (uint32_t i = 0; i <= entries; i++)
        (void)put(packer, &zero, sizeof(zero));
    return here;
}

static uint64_t put_text(struct wire_packer *packer, const char *text)
{
    return text ? put(packer, text, strlen(text) + 1) : 0;
}

/*
 * Writes the tables with zeros first and fills in the offsets once the strings have their places.
 */
size_t ck_wire_pack(const struct ck_wire_strings *strings, void *buffer, size_t size)
{
    struct wire_packer packer = {.buffer = buffer, .size = size};
    struct ck_wire_plan plan = {.kind = CK_WIRE_PLAN, .argc = count(strings->argv), .envc = count(strings->env)};
    (void)put(&packer, &plan, sizeof(plan));
    /* First, because its alignment is that of the plan. */
    if (strings->inherited)
        plan.inherited_at = put(&packer, strings->inherited, sizeof(*strings->inherited));
    plan.argv_at = put_table(&packer, plan.argc);
    plan.env_at = put_table(&packer, plan.envc);
    put_strings(&packer, plan.argv_at, strings->argv);
    put_strings(&packer, plan.env_at, strings->env);
    plan.path_at = put_text(&packer, strings->path);
    plan.root_at = put_text(&packer, strings->root);
    plan.cwd_at = put_text(&packer, strings->cwd);
    plan.size_bytes = (uint32_t)packer.at;
    if (packer.at <= size)
        memcpy(buffer, &plan, sizeof(plan));
    return packer.at;
}
