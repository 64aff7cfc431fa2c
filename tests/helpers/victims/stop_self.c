/* stop_self.c - a child in its own session stops itself, then the tool does: neither can answer
 * SIGTERM. stop_self MARKER */
#include "victim.h"

#include <sys/wait.h>

int main(void)
{
    pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        (void)raise(SIGSTOP);
        victim_live();
    }
    if (child < 0 || waitpid(child, NULL, WUNTRACED) != child) {
        return 2;
    }
    victim_say("ready\n");
    (void)raise(SIGSTOP);
    victim_live();
}
