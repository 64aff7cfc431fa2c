/*
 * stubbed_loader.c - stubbed_loader LOADER COPY: writes the loader as a jail has it, with the stub of
 * src/jail/stub.c. So it can be executed without a jail, also by an emulator of another machine.
 */
#include "jail/stub.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

static int patch(int fd, const struct ck_native_copy *copy)
{
    for (uint32_t i = 0; i < copy->patches_count; i++) {
        const struct ck_native_patch *one = &copy->patches[i];
        if (pwrite(fd, one->data, one->bytes, (off_t)one->at) != (ssize_t)one->bytes)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct ck_native_copy copy;
    if (argc != 3)
        return 2;
    int loader = open(argv[1], O_RDONLY | O_CLOEXEC);
    int r = loader < 0 ? -1 : ck_stub_make(loader, &copy);
    if (r < 0) {
        (void)fprintf(stderr, "no stub for '%s': %s\n", argv[1], loader < 0 ? "it cannot be opened" : strerror(-r));
        return 1;
    }
    int fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    size_t bytes = (size_t)copy.version.size;
    if (fd < 0 || sendfile(fd, loader, NULL, bytes) != (ssize_t)bytes || patch(fd, &copy) < 0) {
        perror(argv[2]);
        return 1;
    }
    return 0;
}
