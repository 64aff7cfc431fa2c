/* clone.c - see clone.h. */
#include "fleet/clone.h"

#include "base/heap.h"
#include "base/quote.h"
#include "fleet/bulk.h"
#include "fleet/worker.h"
#include "front/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define TREE_NAME "tree" /* of the work tree, in the temporary directory */
#define ERROR_BYTES ((size_t)16 << 10)
#define HOSTS_SHOWN_MAX 8
#define COPY_GIB_MAX 8         /* a policy bounds each file, and what is received */
#define COPY_FILES_MAX 2000000 /* directories count, too */

/* The arguments and the egress of one clone. */
struct call {
    const char *argv[6];
    const char *egress[2];
    char host[CK_FLEET_HOST_SIZE];
    struct choke_request request;
};

static void fill(struct call *call, const char *url, const char *root)
{
    *call = (struct call){.argv = {"git", "clone", "--quiet", url, TREE_NAME, NULL}};
    ck_fleet_url_host(url, call->host);
    call->egress[0] = call->host;
    call->request = (struct choke_request){
        .argv = call->argv,
        .root = root,
        .cwd = ".",
        .timeout_ms = CHOKE_TIMEOUT_FROM_POLICY,
        .egress = call->egress,
        .max_output_bytes = ERROR_BYTES,
        .require_jail = true,
        .struct_size = sizeof(call->request),
    };
}

/* ---- cloning ---- */

static int report(const struct choke_result *result, struct choke_error *error)
{
    char line[CK_TEXT_SAFE_MAX] = "";

    if (result->outcome == CHOKE_EXITED && result->exit_code == 0)
        return 0;
    if (result->outcome != CHOKE_EXITED)
        return ck_text_error(error, result->outcome, result->outcome == CHOKE_CANCELLED ? ECANCELED : EIO,
                             "git clone: %s%s%s", choke_outcome_name(result->outcome),
                             result->error.message[0] != '\0' ? ": " : "", result->error.message);
    (void)ck_quote_last_line(CK_QUOTE_SHOWN, line, sizeof(line), result->err.data, result->err.length);
    return ck_text_error(error, CHOKE_EXITED, EIO, "git clone exited with %d: %s", result->exit_code, line);
}

/* Waits for the one job of the context, and ends it if the copy becomes too large. Returns whether it did. */
static bool wait_for(struct ck_fleet_worker *worker, struct choke_job *job, const char *path)
{
    struct ck_bulk bulk = {.path = path, .bytes_max = (uint64_t)COPY_GIB_MAX << 30, .files_max = COPY_FILES_MAX};
    struct choke_error error;
    bool is_too_large = false;

    while (!choke_job_result(job)) {
        struct pollfd fds[] = {{.fd = choke_fd(worker->context), .events = POLLIN},
                               {.fd = worker->stop_fd, .events = POLLIN}};
        is_too_large = is_too_large || ck_bulk_is_exceeded(&bulk);
        bool is_stopped = atomic_load(&worker->stopped);
        if (is_too_large || is_stopped)
            choke_cancel(job);
        /* Left readable: the next wait of the worker sees it, too. */
        if (is_stopped)
            fds[1].fd = -1;
        (void)poll(fds, 2, CK_BULK_LOOK_MS);
        if (choke_dispatch(worker->context, &error) < 0)
            break;
    }
    return is_too_large;
}

/*
 * A server can send the words that git has for a full /tmp, and a copy can be what fills it. So /tmp itself is asked, when the
 * copy is gone: if there is no room then, the next clone fails, too, and none of them is to blame.
 */
static int blame(struct ck_clone *checkout, int r, struct choke_error *error)
{
    if (r != -EIO)
        return r;
    ck_clone_remove(checkout);
    return ck_temporary_has_room()
               ? r
               : ck_text_error(error, CHOKE_NONE, ENOSPC, "/tmp has no room for a clone: %s", strerror(ENOSPC));
}

int ck_clone_make(struct ck_fleet_worker *worker, const char *url, struct ck_clone *checkout, struct choke_error *error)
{
    struct call call;
    struct choke_job *job = NULL;

    int r = ck_temporary_make(CK_TEMPORARY_CLONE, &checkout->temporary);
    if (r < 0)
        return ck_text_error(error, CHOKE_NONE, -r, "cannot make a temporary directory: %s", strerror(-r));
    (void)snprintf(checkout->path, sizeof(checkout->path), "%s/" TREE_NAME, checkout->temporary.path);
    fill(&call, url, checkout->temporary.path);
    r = choke_start(worker->context, &call.request, &job, error);
    if (r < 0)
        return r;
    bool is_too_large = wait_for(worker, job, checkout->path);
    const struct choke_result *result = choke_job_result(job);
    if (is_too_large)
        r = ck_text_error(error, CHOKE_CANCELLED, EFBIG,
                          "git clone was ended: the copy has more than %d GiB or %d files", COPY_GIB_MAX,
                          COPY_FILES_MAX);
    else
        r = result ? report(result, error) : ck_text_error(error, CHOKE_NONE, EIO, "git clone could not be waited for");
    while (choke_next(worker->context))
        ;
    choke_job_free(job);
    return blame(checkout, r, error);
}

void ck_clone_remove(struct ck_clone *checkout)
{
    ck_temporary_remove(&checkout->temporary);
    *checkout = (struct ck_clone){0};
}

/* ---- what the policy says ---- */

/* The hosts of the list that the policy does not grant, with ", " between them. root: as a clone has it. */
static char *refused_hosts(struct choke_context *context, const char *root, const struct ck_fleet_list *list,
                           struct choke_error *ret_why)
{
    char *text = NULL;
    size_t size = 0, shown = 0;
    char last[CK_FLEET_HOST_SIZE] = "";
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; out && i < list->count; i++) {
        struct choke_decision *decision = NULL;
        struct choke_error error;
        struct call call;
        if (!list->items[i].is_url)
            continue;
        fill(&call, list->items[i].where, root);
        /* Neighbours in a list have the same host as a rule; each other host is asked for once more. */
        if (strcmp(last, call.host) == 0)
            continue;
        memcpy(last, call.host, sizeof(last));
        (void)choke_explain(context, &call.request, &decision, &error);
        if (decision && decision->outcome == CHOKE_DISALLOWED && shown < HOSTS_SHOWN_MAX &&
            !strstr(text ? text : "", call.host)) {
            (void)fprintf(out, "%s%s", shown++ > 0 ? ", " : "", call.host);
            (void)fflush(out);
        } else if (decision && decision->outcome != CHOKE_NONE && decision->outcome != CHOKE_DISALLOWED) {
            *ret_why = decision->error;
        }
        choke_decision_free(decision);
    }
    if (out)
        (void)fclose(out);
    return text;
}

int ck_clone_check(struct choke_context *context, const struct ck_fleet_list *list, struct choke_error *error)
{
    struct choke_error why = {0};
    struct ck_temporary temporary = {0};

    int r = ck_temporary_make(CK_TEMPORARY_CLONE, &temporary);
    if (r < 0)
        return ck_text_error(error, CHOKE_NONE, -r, "cannot make a temporary directory: %s", strerror(-r));
    CK_HEAP char *hosts = refused_hosts(context, temporary.path, list, &why);
    ck_temporary_remove(&temporary);
    if (!hosts)
        return ck_text_error(error, CHOKE_NONE, ENOMEM, "out of memory");
    if (hosts[0] != '\0')
        return ck_text_error(error, CHOKE_DISALLOWED, EPERM,
                             "the policy does not let git clone URLs of the list; a policy with these lines does:\n"
                             "catalog: [git-clone]\n"
                             "grant: [{name: git, subcommand: clone, egress: [%s]}]",
                             hosts);
    if (why.outcome != CHOKE_NONE)
        return ck_text_error(error, why.outcome, why.errnum, "URLs of the list cannot be cloned: %s", why.message);
    return 0;
}
