/*
 * stub.c - computes the changes that put a stub at the entry of a loader. See stub.h.
 *
 * The kernel maps whole pages. Where the last page of the loader's code ends with padding, the stub
 * (stub_code.S) takes the place of that. Where it does not, the stub is appended to the file, as one
 * more segment. The program header of that segment replaces PT_GNU_STACK: the kernel reads this one
 * only in the program, and no loader needs its own. Nothing else of the loader moves.
 *
 * A segment of its own works since Linux 6.7 only. An older kernel expects all memory that is not in
 * the file at the end of a loader's last segment: it would not make that of the data, and fail to
 * clear the rest of the stub's page, which may not be written.
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
#define PAGE_BYTES UINT64_C(4096) /* the smallest page that a kernel may have */
#define JUMP_BYTES 4              /* both machines: the distance is in the last four bytes */
#define CODE_ALIGNMENT UINT64_C(16)
#define REACH (INT64_C(1) << 27) /* of a jump on aarch64; x86-64 has more */
#define SEGMENTS_MAX 64
#define LOADER_MAX ((uint64_t)4 << 20)  /* a loader of glibc has 200 KiB, one of musl 700 */
#define ADDRESS_MAX (UINT64_C(1) << 26) /* a loader is small, and begins at 0 */

extern const unsigned char ck_stub_code[], ck_stub_code_end[];

/* What is found in the program headers. */
struct stub_layout {
    size_t stack;     /* the index of PT_GNU_STACK; 0: none, because the first is a PT_LOAD */
    size_t last_load; /* the index of the last PT_LOAD */
    size_t code;      /* the index of the PT_LOAD with the entry */
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

static int note_load(const Elf64_Phdr *segments, size_t i, uint64_t entry, struct stub_layout *layout)
{
    const Elf64_Phdr *segment = &segments[i];
    if (segment->p_vaddr > ADDRESS_MAX || segment->p_memsz > ADDRESS_MAX || !is_power_of_two(segment->p_align) ||
        segment->p_align > ADDRESS_MAX)
        return -ENOTSUP;
    uint64_t end = segment->p_vaddr + segment->p_memsz;
    layout->end = end > layout->end ? end : layout->end;
    layout->alignment = segment->p_align > layout->alignment ? segment->p_align : layout->alignment;
    if ((segment->p_flags & PF_X) != 0 && entry >= segment->p_vaddr && entry < end) {
        layout->entry_found = true;
        layout->code = i;
    }
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
        int r = note_load(segments, i, header->e_entry, layout);
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

/* The stub, with its jump, for its address. Returns its length, or -ENOTSUP. */
static int make_code(uint64_t address, uint64_t entry, unsigned char ret_code[CK_NATIVE_PATCH_BYTES])
{
    size_t bytes = (size_t)(ck_stub_code_end - ck_stub_code);
    if (bytes > CK_NATIVE_PATCH_BYTES)
        return -ENOTSUP;
    memcpy(ret_code, ck_stub_code, bytes);
    int r = set_jump(ret_code + bytes, address + bytes, entry);
    return r < 0 ? r : (int)bytes;
}

static int append_segment(const Elf64_Ehdr *header, const struct stub_layout *layout, struct ck_native_copy *copy)
{
    unsigned char code[CK_NATIVE_PATCH_BYTES];
    uint64_t address = round_up(layout->end, layout->alignment);
    int bytes = make_code(address, header->e_entry, code);
    if (bytes < 0)
        return bytes;
    const Elf64_Phdr segment = {.p_type = PT_LOAD,
                                .p_flags = PF_R | PF_X,
                                .p_offset = round_up((uint64_t)copy->version.size, layout->alignment),
                                .p_vaddr = address,
                                .p_paddr = address,
                                .p_filesz = (uint64_t)bytes,
                                .p_memsz = (uint64_t)bytes,
                                .p_align = layout->alignment};
    add_patch(copy, offsetof(Elf64_Ehdr, e_entry), &segment.p_vaddr, sizeof(segment.p_vaddr));
    add_patch(copy, header->e_phoff + layout->stack * sizeof(segment), &segment, sizeof(segment));
    add_patch(copy, segment.p_offset, code, (size_t)bytes);
    return 0;
}

/* A file that is too short is no loader. */
static int read_at(int fd, void *data, size_t bytes, off_t offset)
{
    ssize_t got = pread(fd, data, bytes, offset);
    if (got < 0)
        return -errno;
    return (size_t)got == bytes ? 0 : -ENOTSUP;
}

/* Whether a segment is elsewhere: in the file, and in memory, where the kernel maps it in whole pages. */
static bool is_elsewhere(const Elf64_Phdr *segment, uint64_t offset, uint64_t address, size_t bytes)
{
    uint64_t page = segment->p_vaddr / segment->p_align * segment->p_align;
    return segment->p_offset < LOADER_MAX && segment->p_filesz < LOADER_MAX &&
           (segment->p_offset >= offset + bytes || segment->p_offset + segment->p_filesz <= offset) &&
           (page >= address + bytes || segment->p_vaddr + segment->p_memsz <= address);
}

/* Whether there is only padding: zeros, in no segment. Returns 1 or 0, or a negative errno. */
static int is_padding(int fd, const Elf64_Phdr *segments, size_t count, const Elf64_Phdr *place)
{
    unsigned char there[CK_NATIVE_PATCH_BYTES];
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_LOAD &&
            !is_elsewhere(&segments[i], place->p_offset, place->p_vaddr, place->p_filesz))
            return 0;
    int r = read_at(fd, there, place->p_filesz, (off_t)place->p_offset);
    for (size_t i = 0; i < place->p_filesz && r == 0; i++)
        r = there[i] == 0 ? 0 : -ENOTSUP;
    return r == -ENOTSUP ? 0 : r < 0 ? r : 1;
}

/* Returns 1 if the stub fits into the last page of the code, 0 if not, or a negative errno. */
static int fill_padding(int fd, const Elf64_Ehdr *header, const Elf64_Phdr *segments, const struct stub_layout *layout,
                        struct ck_native_copy *copy)
{
    unsigned char code[CK_NATIVE_PATCH_BYTES];
    Elf64_Phdr segment = segments[layout->code];
    uint64_t start = round_up(segment.p_filesz, CODE_ALIGNMENT);
    Elf64_Phdr place = {.p_offset = segment.p_offset + start, .p_vaddr = segment.p_vaddr + start};
    int bytes = make_code(place.p_vaddr, header->e_entry, code);
    if (bytes < 0)
        return 0;
    place.p_filesz = (uint64_t)bytes;
    bool fits = segment.p_filesz == segment.p_memsz && segment.p_offset < LOADER_MAX &&
                place.p_vaddr + place.p_filesz <= round_up(segment.p_vaddr + segment.p_filesz, PAGE_BYTES);
    int r = fits ? is_padding(fd, segments, header->e_phnum, &place) : 0;
    if (r <= 0)
        return r;
    segment.p_filesz = segment.p_memsz = start + place.p_filesz;
    add_patch(copy, offsetof(Elf64_Ehdr, e_entry), &place.p_vaddr, sizeof(place.p_vaddr));
    add_patch(copy, header->e_phoff + layout->code * sizeof(segment), &segment, sizeof(segment));
    add_patch(copy, place.p_offset, code, place.p_filesz);
    return 1;
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
    if (r == 0)
        r = fill_padding(fd, &header, segments, &layout, ret_copy);
    return r == 0 ? append_segment(&header, &layout, ret_copy) : r < 0 ? r : 0;
}
