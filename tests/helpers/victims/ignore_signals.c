/* ignore_signals MARKER - ignores every signal that can be ignored, says "ready", and stays. */
#include "victim.h"

int main(void)
{
    victim_ignore_signals();
    victim_say("ready\n");
    victim_live();
}
