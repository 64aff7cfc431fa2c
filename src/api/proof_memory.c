/*
 * proof_memory.c - reads and writes the records of proofs. See proof_memory.h.
 *
 * A record is one file: the digest of its conditions and what was found. Its name has the jail, its
 * form and the first digit of the digest, so there are at most 16 files of each form.
 */
#include "api/proof_memory.h"

#include "api/context.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/fd.h"
#include "jail/libraries.h"
#include "jail/native_ops.h"
#include "run/launcher.h"
#include "sys/proof_conditions.h"
#include "sys/statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY "chokepoint"
#define ROOTS_PLACE "/run"
#define NAME_SIZE 32
#define RECORD_MAX 256

void ck_proof_memory_init(struct ck_proof_memory *memory)
{
    *memory = (struct ck_proof_memory){.fd = -1, .place_fd = -1};
}

void ck_proof_memory_done(struct ck_proof_memory *memory)
{
    ck_fd_close(&memory->fd);
    ck_fd_close(&memory->place_fd);
}

/* ---- the directory ---- */

/*
 * The directory above it, which the system makes and empties; nothing of ours. The variable of
 * another user, as sudo leaves it, names a directory of that user. secure_getenv: a set-user-ID
 * program must not be directed by variables of its caller.
 */
static int open_place(const char **ret_place)
{
    struct stat status;
    const char *place = geteuid() == 0 ? ROOTS_PLACE : secure_getenv("XDG_RUNTIME_DIR");
    if (!place || place[0] != '/' || strlen(place) + sizeof("/" DIRECTORY) > PATH_MAX)
        return -1;
    CK_FD fd = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0 || status.st_uid != geteuid())
        return -1;
    *ret_place = place;
    return ck_fd_take(&fd);
}

static void open_directory(struct ck_proof_memory *memory)
{
    char path[PATH_MAX];
    const char *place;
    struct choke_error error = {0};
    memory->place_fd = open_place(&place);
    if (memory->place_fd < 0)
        return;
    (void)snprintf(path, sizeof(path), "%s/" DIRECTORY, place);
    if (ck_statefile_directory(path, &memory->fd, &error) < 0)
        memory->fd = -1;
    else if (dup3(memory->fd, memory->place_fd, O_CLOEXEC) < 0)
        ck_fd_close(&memory->fd);
}

/* What of this machine every proof uses, besides the kernel. */
static void read_conditions(const struct choke_context *context, struct ck_proof_memory *memory)
{
    static const char *const files[] = {CK_JAIL_REFUSED_PROGRAM, CK_JAIL_STARTED_PROGRAM, "/lib64/ld-linux-x86-64.so.2",
                                        "/lib/ld-linux-aarch64.so.1"};
    const struct ck_proof_conditions conditions = {.keeper_sha256 = ck_keeper_image_sha256,
                                                   .search = context->policy->search_path.items,
                                                   .search_count = context->policy->search_path.count,
                                                   .files = files,
                                                   .files_count = sizeof(files) / sizeof(files[0]),
                                                   .libraries_fit = ck_libraries_fit()};
    if (ck_proof_conditions_digest(&conditions, memory->conditions) < 0)
        memory->conditions[0] = '\0';
}

/* Opened with the first proof, and again after the caller's authority has changed. */
static bool open_memory(struct choke_context *context)
{
    struct ck_proof_memory *memory = &context->proof_memory;
    if (memory->off || context->machine.locked)
        return false;
    if (!memory->opened) {
        memory->opened = true;
        open_directory(memory);
        if (memory->fd >= 0)
            read_conditions(context, memory);
    }
    return memory->fd >= 0 && memory->conditions[0] != '\0';
}

/* ---- a record ---- */

/*
 * Only the native jail: the proof of bwrap is a run of bwrap, and another file may be bwrap by now.
 * Not the form that learns: nobody needs it often.
 */
static bool is_remembered(const struct ck_jail *jail, struct ck_jail_form form)
{
    return jail == &ck_jail_native && !form.learn;
}

/* The form is a number, and part of the text, too: another form has other layers. */
static void name_of(const struct ck_proof_memory *memory, const struct ck_jail *jail, size_t form, char name[NAME_SIZE])
{
    (void)snprintf(name, NAME_SIZE, "%s-%zu-%c", jail->name, form, memory->conditions[0]);
}

static int write_text(const struct ck_proof_memory *memory, struct ck_jail_form form, const struct ck_jail_state *state,
                      char text[RECORD_MAX])
{
    return snprintf(
        text, RECORD_MAX, "chokepoint proof 1\n%s\nform %zu\nlibraries %d\nnames_execs %d\nreports_attempts %d\n",
        memory->conditions, ck_jail_form_index(form), state->libraries, state->names_execs, state->reports_attempts);
}

/* Nothing is parsed: a record is one of the eight texts that can be written, or it does not count. */
static bool parse_text(const struct ck_proof_memory *memory, struct ck_jail_form form, const char *found,
                       struct ck_jail_state *state)
{
    for (unsigned i = 0; i < 8; i++) {
        char text[RECORD_MAX];
        const struct ck_jail_state possible = {.known = true,
                                               .holds = true,
                                               .recalled = true,
                                               .reason = state->reason,
                                               .libraries = (i & 1) != 0,
                                               .names_execs = (i & 2) != 0,
                                               .reports_attempts = (i & 4) != 0};
        (void)write_text(memory, form, &possible, text);
        if (strcmp(text, found) != 0)
            continue;
        *state = possible;
        return true;
    }
    return false;
}

bool ck_proof_memory_recall(struct choke_context *context, const struct ck_jail *jail, struct ck_jail_form form,
                            struct ck_jail_state *state)
{
    char name[NAME_SIZE], *text = NULL;
    size_t length = 0;
    struct choke_error error = {0};
    const struct ck_proof_memory *memory = &context->proof_memory;
    if (!is_remembered(jail, form) || !open_memory(context))
        return false;
    name_of(memory, jail, ck_jail_form_index(form), name);
    int r = ck_statefile_read(memory->fd, name, RECORD_MAX, &text, &length, &error);
    bool recalled = r == 0 && strlen(text) == length && parse_text(memory, form, text, state);
    free(text);
    return recalled;
}

void ck_proof_memory_record(struct choke_context *context, const struct ck_jail *jail, struct ck_jail_form form,
                            const struct ck_jail_state *state)
{
    char name[NAME_SIZE], text[RECORD_MAX];
    const struct ck_proof_memory *memory = &context->proof_memory;
    if (!state->holds || state->failed != 0 || !is_remembered(jail, form) || !open_memory(context))
        return;
    name_of(memory, jail, ck_jail_form_index(form), name);
    int length = write_text(memory, form, state, text);
    (void)ck_atomic_file_write(memory->fd, name, 0600, text, (size_t)length);
}

/* ---- the end of a memory ---- */

static void drop_recalled(struct choke_context *context)
{
    for (size_t form = 0; form < CK_JAIL_FORMS; form++)
        for (size_t i = 0; i < CK_JAILS_MAX; i++)
            if (context->jails.states[form][i].recalled)
                context->jails.states[form][i] = (struct ck_jail_state){0};
}

void ck_proof_memory_stop(struct choke_context *context)
{
    context->proof_memory.off = true;
    drop_recalled(context);
}

void ck_proof_memory_forget(struct choke_context *context)
{
    const struct ck_proof_memory *memory = &context->proof_memory;
    for (size_t form = 0; memory->fd >= 0 && form < CK_JAIL_FORMS; form++) {
        char name[NAME_SIZE];
        name_of(memory, &ck_jail_native, form, name);
        (void)unlinkat(memory->fd, name, 0);
    }
    ck_proof_memory_stop(context);
}

/* ---- a run ---- */

/*
 * With ro and overlay the tool writes nothing into the root itself. Without a jail it can write
 * wherever the caller can, and the record is as safe as the rest of the caller's files.
 */
int ck_proof_memory_check(struct choke_context *context, const struct ck_plan *plan, struct choke_error *error)
{
    struct ck_proof_memory *memory = &context->proof_memory;
    if (plan->jail.jail == &ck_jail_none || plan->workspace != CK_WORKSPACE_RW)
        return 0;
    (void)open_memory(context);
    if (memory->place_fd < 0 || (memory->checked && ck_trust_is_same(memory->checked_root, plan->root)))
        return 0;
    int r = ck_trust_is_above(memory->place_fd, plan->root);
    if (r < 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot compare the root with '" ROOTS_PLACE "': %s",
                            strerror(-r));
    if (r > 0)
        return ck_error_set(error, CHOKE_SPAWN_FAILED, EPERM,
                            "the root holds the directory in which chokepoint remembers its proofs of jails, and '%s' "
                            "may write there; use a narrower root, or 'workspace: ro'",
                            plan->tool_name);
    memory->checked = true;
    memory->checked_root = plan->root;
    return 0;
}
