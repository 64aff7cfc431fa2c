/*
 * fuzz_elf.c - any bytes as an ELF file: it is read within the promises of the header, or refused
 * with one of its errors.
 */
#include "promise.h"

#include "jail/stub.h"
#include "sys/elf.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check(const struct ck_elf *elf, const char *loader)
{
    require(elf->bits == 32 || elf->bits == 64);
    require(elf->needed_count <= CK_ELF_NEEDED_MAX && !elf->needed[elf->needed_count]);
    for (size_t i = 0; i < elf->needed_count; i++)
        require(strlen(elf->needed[i]) < PATH_MAX);
    require(strcmp(loader, elf->interpreter ? elf->interpreter : "") == 0);
}

/* The changes of a loader are within its headers, or one segment after its end. */
static void check_stub(int fd, size_t size)
{
    struct ck_native_copy copy;
    int r = ck_stub_make(fd, &copy);
    require(r == 0 || r == -ENOTSUP);
    if (r < 0)
        return;
    require(copy.patches_count == CK_NATIVE_PATCHES_MAX);
    for (uint32_t i = 0; i < copy.patches_count; i++)
        require(copy.patches[i].bytes > 0 && copy.patches[i].bytes <= CK_NATIVE_PATCH_BYTES);
    require(copy.patches[1].at + copy.patches[1].bytes <= size && copy.patches[2].at >= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ck_arena arena = {0};
    struct ck_elf elf;
    char loader[PATH_MAX];
    int fd = memfd_create("elf", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    int alone = ck_elf_interpreter(fd, loader, sizeof(loader));
    int r = ck_elf_read(fd, &arena, &elf);
    require(r == 0 || r == -ENOEXEC || r == -EBADMSG);
    require(alone == 0 || alone == r);
    if (r == 0)
        check(&elf, loader);
    check_stub(fd, size);
    ck_arena_done(&arena);
    (void)close(fd);
    return 0;
}
