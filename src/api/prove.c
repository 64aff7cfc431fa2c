/*
 * prove.c - a jail is proven before it is trusted: built once, and its walls tried from inside (R32, section 4).
 *
 * Words for people say which layer did not hold or which step the kernel refused, and where that comes from.
 */
#include "api/context.h"

#include "base/fd.h"
#include "jail/cage.h"
#include "run/trial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *reason_of(int errnum)
{
    return errnum == ENOSYS || errnum == EINVAL ? "not_installed" : "not_permitted";
}

static void explain_failure(const struct ck_wire_proved *proved, struct ck_jail_state *state)
{
    const char *hint = proved->error == ENOSPC || proved->error == EPERM || proved->error == EACCES
                           ? "; user namespaces may be switched off (sysctl user.max_user_namespaces, a container, or a "
                             "security module); 'chokepoint doctor' says more"
                           : "";
    state->reason = reason_of(proved->error);
    (void)snprintf(state->words, sizeof state->words, "building it failed: %s%s", strerror(proved->error), hint);
}

/* The first layer that did not hold; all of them must. */
static void judge_layers(const struct ck_wire_proved *proved, const struct ck_jail *jail, struct ck_jail_state *state)
{
    for (uint32_t layer = 0; layer < CK_WALLS; layer++) {
        if ((proved->held >> layer & 1) != 0)
            continue;
        state->reason = "not_permitted";
        (void)snprintf(state->words, sizeof state->words, "its layer '%s' does not hold on this machine",
                       jail->layers[layer]);
        return;
    }
    state->holds = true;
}

static void prove_native(struct choke_context *context, const struct ck_jail *jail, struct ck_jail_state *state)
{
    const struct ck_native_wanted bare = {.search = context->search.paths, .search_count = context->search.count,
                                          .arena = &context->text};
    struct ck_wire_proved proved = {0};
    struct choke_error error = {0};
    CK_FD program_fd = -1;
    if (ck_native_make(&bare, &program_fd, &error) < 0) {
        state->reason = "not_permitted";
        (void)snprintf(state->words, sizeof state->words, "%.*s", (int)sizeof state->words - 1, error.message);
        return;
    }
    int result = ck_trial_jail(&context->watch.launcher, program_fd, &proved);
    if (result < 0)
        proved.error = -result;
    if (proved.error != 0)
        explain_failure(&proved, state);
    else
        judge_layers(&proved, jail, state);
}

void ck_prove_jail(void *data, const struct ck_jail *jail, struct ck_jail_state *ret_state)
{
    struct choke_context *context = data;
    if (jail == &ck_jail_native)
        prove_native(context, jail, ret_state);
}
