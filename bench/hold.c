/* hold.c - a tool that writes one byte when it lives, and then lives until its stdin ends. */
#include <unistd.h>

int main(void)
{
    char byte = '+';
    if (write(STDOUT_FILENO, &byte, 1) != 1) {
        return 1;
    }
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    return 0;
}
