/* hold.c - a tool that writes one byte when it lives, and then lives until its stdin ends or, with an argument, is killed. */
#include <unistd.h>

int main(int argc, char **argv)
{
    char byte = '+';
    (void)argv;
    if (write(STDOUT_FILENO, &byte, 1) != 1) {
        return 1;
    }
    if (argc > 1) {
        for (;;) {
            pause();
        }
    }
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    return 0;
}
