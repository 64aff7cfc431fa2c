/*
 * stub.c - computes the changes that put a stub at the entry of a loader. See stub.h.
 *
 * The stub (stub_code.S) is appended to the file, as one more segment. The program header of that
 * segment replaces PT_GNU_STACK: the kernel reads this one only in the program, and no loader needs
 * its own. Nothing else of the loader moves.
 */
#include "jail/stub.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define ALIGNMENT UINT64_C(4096)
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define ALIGNMENT UINT64_C(65536) /* the largest page that a kernel may have */
#else
#define MACHINE EM_NONE
#define ALIGNMENT UINT64_C(65536)
#endif
#define JUMP_BYTES 4             /* both machines: the distance is in the last four bytes */
#define REACH (INT64_C(1) << 27) /* of a jump on aarch64; x86-64 has more */
#define SEGMENTS_MAX 64
#define LOADER_MAX ((uint64_t)4 << 20)  /* a loader of glibc has 200 KiB, one of musl 700 */
#define ADDRESS_MAX (UINT64_C(1) << 26) /* a loader is small, and begins at 0 */

extern const unsigned char ck_stub_code[], ck_stub_code_end[];

/* What is found in the program headers. */
struct stub_layout {
    size_t stack;     /* the index of PT_GNU_STACK; 0: none, because the first is a PT_LOAD */
    size_t last_load; /* the index of the last PT_LOAD */
    uint64_t end;     /* of all segments, as an address */
    uint64_t alignment;
    bool entry_found;
};

static bool is_power_of_two(uint64_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

static uint64_t round_up(uint64_t number, uint64_t alignment)
{
    return (number + alignment - 1) / alignment * alignment;
}

static int check_header(const Elf64_Ehdr *header)
{
    bool fits = memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
                header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_type == ET_DYN && header->e_machine == MACHINE &&
                MACHINE != EM_NONE && header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum > 0 &&
                header->e_phnum <= SEGMENTS_MAX && header->e_phoff < LOADER_MAX;
    return fits ? 0 : -ENOTSUP;
}

static int note_load(const Elf64_Phdr *segment, uint64_t entry, struct stub_layout *layout)
{
    if (segment->p_vaddr > ADDRESS_MAX || segment->p_memsz > ADDRESS_MAX || !is_power_of_two(segment->p_align) ||
        segment->p_align > ADDRESS_MAX)
        return -ENOTSUP;
    uint64_t end = segment->p_vaddr + segment->p_memsz;
    layout->end = end > layout->end ? end : layout->end;
    layout->alignment = segment->p_align > layout->alignment ? segment->p_align : layout->alignment;
    if ((segment->p_flags & PF_X) != 0 && entry >= segment->p_vaddr && entry < end)
        layout->entry_found = true;
    return 0;
}

/* A file with PT_INTERP is a program, and the kernel would start it with another loader. */
static int read_layout(const Elf64_Phdr *segments, const Elf64_Ehdr *header, struct stub_layout *layout)
{
    for (size_t i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_INTERP)
            return -ENOTSUP;
        if (segments[i].p_type == PT_GNU_STACK)
            layout->stack = i;
        if (segments[i].p_type != PT_LOAD)
            continue;
        layout->last_load = i;
        int r = note_load(&segments[i], header->e_entry, layout);
        if (r < 0)
            return r;
    }
    /* The kernel wants segments in ascending order. */
    return layout->entry_found && layout->stack > layout->last_load ? 0 : -ENOTSUP;
}

/* The jump is relative to its own address on aarch64, and to the next instruction on x86-64. */
static int set_jump(unsigned char *end, uint64_t end_address, uint64_t entry)
{
    int64_t distance = (int64_t)entry - (int64_t)end_address;
#if defined(__aarch64__)
    distance += JUMP_BYTES;
    uint32_t word = UINT32_C(0x14000000) | ((uint32_t)(distance / 4) & UINT32_C(0x03ffffff));
#else
    uint32_t word = (uint32_t)distance;
#endif
    if (distance >= REACH || distance <= -REACH)
        return -ENOTSUP;
    memcpy(end - JUMP_BYTES, &word, sizeof(word));
    return 0;
}

static void add_patch(struct ck_native_copy *copy, uint64_t at, const void *data, size_t bytes)
{
    struct ck_native_patch *patch = &copy->patches[copy->patches_count++];
    patch->at = at;
    patch->bytes = (uint32_t)bytes;
    memcpy(patch->data, data, bytes);
}

static int make_patches(const Elf64_Ehdr *header, const struct stub_layout *layout, struct ck_native_copy *copy)
{
    unsigned char code[CK_NATIVE_PATCH_BYTES];
    size_t bytes = (size_t)(ck_stub_code_end - ck_stub_code);
    const Elf64_Phdr segment = {.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_X,
                                .p_offset = round_up((uint64_t)copy->version.size, layout->alignment),
                                .p_vaddr = round_up(layout->end, layout->alignment),
                                .p_paddr = round_up(layout->end, layout->alignment),
                                .p_filesz = bytes,
                                .p_memsz = bytes,
                                .p_align = layout->alignment};
    if (bytes > sizeof(code))
        return -ENOTSUP;
    memcpy(code, ck_stub_code, bytes);
    add_patch(copy, offsetof(Elf64_Ehdr, e_entry), &segment.p_vaddr, sizeof(segment.p_vaddr));
    add_patch(copy, header->e_phoff + layout->stack * sizeof(segment), &segment, sizeof(segment));
    int r = set_jump(code + bytes, segment.p_vaddr + bytes, header->e_entry);
    add_patch(copy, segment.p_offset, code, bytes);
    return r;
}

/* A file that is too short is no loader. */
static int read_at(int fd, void *data, size_t bytes, off_t offset)
{
    ssize_t got = pread(fd, data, bytes, offset);
    if (got < 0)
        return -errno;
    return (size_t)got == bytes ? 0 : -ENOTSUP;
}

int ck_stub_make(int fd, struct ck_native_copy *ret_copy)
{
    struct stub_layout layout = {.alignment = ALIGNMENT};
    Elf64_Phdr segments[SEGMENTS_MAX];
    Elf64_Ehdr header;
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    int r = (uint64_t)status.st_size > LOADER_MAX ? -ENOTSUP : read_at(fd, &header, sizeof(header), 0);
    if (r == 0)
        r = check_header(&header);
    if (r == 0)
        r = read_at(fd, segments, header.e_phnum * sizeof(segments[0]), (off_t)header.e_phoff);
    if (r < 0)
        return r;
    *ret_copy = (struct ck_native_copy){.version = ck_version_of(&status)};
    r = read_layout(segments, &header, &layout);
    return r < 0 ? r : make_patches(&header, &layout, ret_copy);
}
