/*
 * context_renew.c - a tool runs with the authority that the caller has now, not when the context
 * was made (docs/adr/0039).
 *
 * What the context keeps was opened, trusted or proven with the caller's earlier authority:
 * directories of the search path, digests, rulesets, layouts and proofs of jails, the place of
 * scratch directories, the keeper. If the authority has changed, all of it is released. If only
 * resources have changed, the keeper alone is.
 *
 *   Must     leave running jobs alone: they were started correctly.
 *   Must not close what a running job still uses: the scratch places stay until the context ends.
 */
#include "api/context.h"

#include "base/error.h"
#include "base/fd.h"
#include "run/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static int renew_bwrap_state(struct choke_context *context)
{
    struct ck_bwrap_state *bwrap_state = calloc(1, sizeof(*bwrap_state));
    if (!bwrap_state)
        return -ENOMEM;
    ck_bwrap_state_init(bwrap_state);
    bwrap_state->next = context->bwrap_state;
    context->bwrap_state = bwrap_state;
    return 0;
}

/*
 * The numbers of jails continue: a warden of an old jail must not be taken for one of a new jail.
 */
static int renew_files(struct choke_context *context)
{
    uint64_t last_number = context->native_images.last_number;
    ck_execs_done(&context->execs);
    ck_native_images_done(&context->native_images);
    ck_native_no_userns_done(&context->no_userns_filters);
    ck_native_no_userns_init(&context->no_userns_filters);
    ck_binary_search_done(&context->search);
    ck_execs_init(&context->execs, &context->search);
    ck_native_images_init(&context->native_images, &context->search);
    context->native_images.last_number = last_number;
    context->jails = (struct ck_jails){.prove = ck_prove_jail, .data = context};
    bool off = context->proof_memory.off;
    ck_proof_memory_done(&context->proof_memory);
    ck_proof_memory_init(&context->proof_memory);
    context->proof_memory.off = off;
    return ck_binary_search_init(&context->search, context->policy->search_path.items,
                                 context->policy->search_path.count);
}

static int renew_null(struct choke_context *context, struct choke_error *error)
{
    ck_fd_close(&context->null_fd);
    context->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (context->null_fd >= 0)
        return 0;
    return ck_error_set(
        error, CHOKE_SPAWN_FAILED, errno,
        "the program has changed its user, root or namespaces, and cannot open '/dev/null' any more: %s",
        strerror(errno));
}

/*
 * context->caller is updated only when all has been renewed, so that after a failure the next call
 * tries again.
 */
static int renew_authority(struct choke_context *context, const struct ck_caller *now, struct choke_error *error)
{
    context->generation++;
    context->caller = (struct ck_caller){0};
    if (renew_bwrap_state(context) < 0 || renew_files(context) < 0)
        return ck_error_oom(error);
    int r = renew_null(context, error);
    if (r == 0)
        context->caller = *now;
    return r;
}

int ck_context_renew(struct choke_context *context, struct choke_error *error)
{
    struct ck_caller now;
    int r = ck_context_check_fds(context, error);
    if (r < 0)
        return r;
    r = ck_caller_inspect(&context->watch.launcher.caller_proc, &now);
    if (r < 0) {
        (void)ck_error_set(error, CHOKE_SPAWN_FAILED, -r, "cannot read in /proc who the calling thread is: %s",
                           strerror(-r));
        ck_shortage_explain(error, -r);
        return r;
    }
    r = ck_machine_check_caller(&context->machine, &now, error);
    if (r < 0)
        return r;
    /* A jail that was proven from outside a Landlock domain is not proven from inside. */
    bool hidden = ck_retire_is_unreachable(&context->watch.launcher, &now);
    if (!ck_caller_same_authority(&now, &context->caller) || hidden)
        r = renew_authority(context, &now, error);
    if (r < 0)
        return r;
    return ck_watch_renew(&context->watch, &now, hidden) < 0 ? ck_error_oom(error) : 0;
}
