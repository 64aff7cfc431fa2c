/* say_args.c - writes each argument and a NUL, byte for byte as it arrived: say_args ARG... */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t length = strlen(argv[i]) + 1;
        if (fwrite(argv[i], 1, length, stdout) != length) {
            return 1;
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
