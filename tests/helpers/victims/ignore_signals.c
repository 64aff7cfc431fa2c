/* ignore_signals.c - ignores every signal that can be ignored, prints "ready", and stays:
 * ignore_signals MARKER */
#include "victim.h"

int main(void)
{
    victim_ignore_signals();
    victim_say("ready\n");
    victim_live();
}
