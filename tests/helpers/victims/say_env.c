/* say_env.c - writes each variable of its environment and a NUL, in the order in which it got them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    for (char **variable = environ; *variable; variable++) {
        size_t length = strlen(*variable) + 1;
        if (fwrite(*variable, 1, length, stdout) != length) {
            return 1;
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
