/*
 * poller.c - the thread of a context: polls one descriptor, and calls JavaScript when it is readable.
 *
 * Must not: call choke_*, touch a JavaScript value, or use the threadsafe function after stop. Node 18
 * frees that function with its environment, whoever still has it. So the hook of a context is
 * registered after the function is made: hooks run in reverse order, and the thread has ended by then.
 */
#include "addon.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)256 << 10)

/*
 * Returns when one of the two is readable, 1 if choke_fd is; the wake-up is taken. A descriptor that
 * the program closed is an error: it would be "readable" for ever.
 */
static int wait_for(struct addon_poller *poller, bool choke)
{
    struct pollfd fds[] = {{.fd = poller->wake_fd, .events = POLLIN}, {.fd = poller->choke_fd, .events = POLLIN}};
    uint64_t count;

    while (poll(fds, choke ? 2 : 1, -1) < 0)
        if (errno != EINTR && errno != EAGAIN && errno != ENOMEM)
            return -errno;
    if ((fds[0].revents | fds[1].revents) & POLLNVAL)
        return -EBADF;
    if (fds[0].revents != 0 && read(poller->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN && errno != EINTR)
        return -errno;
    return choke && fds[1].revents != 0;
}

static void *poll_loop(void *data)
{
    struct addon_poller *poller = data;

    int r = 0;

    while (r >= 0 && !atomic_load(&poller->stop)) {
        r = wait_for(poller, true);
        if (r == 0)
            continue;
        atomic_store(&poller->posted, true);
        /* After an error too: then the dispatch fails, and JavaScript learns why. */
        if (atomic_load(&poller->stop) ||
            napi_call_threadsafe_function(poller->function, NULL, napi_tsfn_nonblocking) != napi_ok)
            break;
        while (r >= 0 && atomic_load(&poller->posted) && !atomic_load(&poller->stop))
            r = wait_for(poller, false);
    }
    return NULL;
}

static int create_thread(struct addon_poller *poller)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    int r = pthread_attr_init(&attributes);
    if (r != 0)
        return -r;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* Signals are for the threads of the program. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&poller->thread, &attributes, poll_loop, poller);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -r;
}

int addon_poller_start(struct addon_poller *poller, int choke_fd, napi_threadsafe_function function)
{
    poller->choke_fd = choke_fd;
    poller->function = function;
    atomic_store(&poller->stop, false);
    atomic_store(&poller->posted, false);
    poller->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (poller->wake_fd < 0)
        return -errno;
    int r = create_thread(poller);
    if (r < 0)
        close(poller->wake_fd);
    poller->runs = r == 0;
    return r;
}

static void wake(struct addon_poller *poller)
{
    const uint64_t one = 1;

    /* EAGAIN: the counter is full, so the thread wakes up anyway. */
    while (write(poller->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void addon_poller_go_on(struct addon_poller *poller)
{
    if (poller->runs && atomic_exchange(&poller->posted, false))
        wake(poller);
}

void addon_poller_stop(struct addon_poller *poller)
{
    if (!poller->runs)
        return;
    atomic_store(&poller->stop, true);
    wake(poller);
    pthread_join(poller->thread, NULL);
    close(poller->wake_fd);
    poller->runs = false;
}
