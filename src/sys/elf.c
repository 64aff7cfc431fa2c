/*
 * elf.c - reads the headers of an untrusted ELF file.
 *
 * Both classes are read into the same small structs. Every offset and size in the file is only a
 * claim: sums are checked for overflow, counts and lengths against a maximum, and a short read is
 * an error.
 */
#include "sys/elf.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 1170 /* the kernel accepts 64 KiB of program headers: 1170 of 56 bytes */
#define DYNAMIC_MAX 16384 /* entries; real files have about thirty */
#define STRINGS_MAX (UINT64_C(64) << 20)

struct segment {
    uint32_t type;
    uint64_t offset;
    uint64_t address;
    uint64_t file_bytes;
};

struct dynamic_entry {
    int64_t tag;
    uint64_t value;
};

/* A piece of the file. Headers and entries are small and stand together: one read has many. */
struct elf_window {
    uint64_t at;
    size_t bytes;
    unsigned char data[1024];
};

struct elf_reader {
    int fd;
    struct elf_window *window;
    bool wide; /* ELFCLASS64 */
    uint16_t machine, type;
    uint64_t segments_at;
    size_t segments_count;
    uint64_t strings_at; /* file offset of the dynamic strings */
    uint64_t strings_bytes;
};

/* Reads all of length or fails: a file that ends early is damaged. */
static int read_at(const struct elf_reader *reader, void *data, size_t length, uint64_t offset)
{
    struct elf_window *window = reader->window;
    /* A read that would end past the largest offset fails as a whole, and the window may be longer
     * than length. */
    const size_t most = length > sizeof(window->data) ? length : sizeof(window->data);
    if (offset > (uint64_t)INT64_MAX - most)
        return -EBADMSG;
    bool held = offset >= window->at && offset - window->at <= window->bytes &&
                length <= window->bytes - (size_t)(offset - window->at);
    if (!held && length <= sizeof(window->data)) {
        ssize_t got = pread(reader->fd, window->data, sizeof(window->data), (off_t)offset);
        if (got < 0)
            return -errno;
        window->at = offset;
        window->bytes = (size_t)got;
        held = length <= window->bytes;
        if (!held)
            return -EBADMSG;
    }
    if (held) {
        memcpy(data, window->data + (offset - window->at), length);
        return 0;
    }
    ssize_t got = pread(reader->fd, data, length, (off_t)offset);
    if (got < 0)
        return -errno;
    return (size_t)got == length ? 0 : -EBADMSG;
}

static int take_header64(struct elf_reader *reader)
{
    Elf64_Ehdr header = {0};
    int r = read_at(reader, &header, sizeof(header), 0);
    if (r < 0)
        return r;
    reader->machine = header.e_machine;
    reader->type = header.e_type;
    reader->segments_at = header.e_phoff;
    reader->segments_count = header.e_phnum;
    return header.e_phnum == 0 || header.e_phentsize == sizeof(Elf64_Phdr) ? 0 : -EBADMSG;
}

static int take_header32(struct elf_reader *reader)
{
    Elf32_Ehdr header = {0};
    int r = read_at(reader, &header, sizeof(header), 0);
    if (r < 0)
        return r;
    reader->machine = header.e_machine;
    reader->type = header.e_type;
    reader->segments_at = header.e_phoff;
    reader->segments_count = header.e_phnum;
    return header.e_phnum == 0 || header.e_phentsize == sizeof(Elf32_Phdr) ? 0 : -EBADMSG;
}

static int take_header(struct elf_reader *reader)
{
    unsigned char ident[EI_NIDENT];
    int r = read_at(reader, ident, sizeof(ident), 0);
    if (r < 0)
        return r == -EBADMSG ? -ENOEXEC : r;
    const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (memcmp(ident, ELFMAG, SELFMAG) != 0)
        return -ENOEXEC;
    if (ident[EI_DATA] != order || (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32))
        return -EBADMSG;
    reader->wide = ident[EI_CLASS] == ELFCLASS64;
    r = reader->wide ? take_header64(reader) : take_header32(reader);
    return r == 0 && reader->segments_count > SEGMENTS_MAX ? -EBADMSG : r;
}

static int take_segment(const struct elf_reader *reader, size_t i, struct segment *ret)
{
    uint64_t at;
    if (reader->wide) {
        Elf64_Phdr header;
        if (__builtin_add_overflow(reader->segments_at, i * sizeof(header), &at))
            return -EBADMSG;
        int r = read_at(reader, &header, sizeof(header), at);
        if (r == 0)
            *ret = (struct segment){header.p_type, header.p_offset, header.p_vaddr, header.p_filesz};
        return r;
    }
    Elf32_Phdr header;
    at = reader->segments_at + i * sizeof(header);
    int r = read_at(reader, &header, sizeof(header), at);
    if (r == 0)
        *ret = (struct segment){header.p_type, header.p_offset, header.p_vaddr, header.p_filesz};
    return r;
}

/* The first segment of a type. Returns 1, 0 without one, or a negative errno. */
static int find_segment(const struct elf_reader *reader, uint32_t type, struct segment *ret)
{
    for (size_t i = 0; i < reader->segments_count; i++) {
        int r = take_segment(reader, i, ret);
        if (r < 0)
            return r;
        if (ret->type == type)
            return 1;
    }
    return 0;
}

/* Same rule as in the kernel: at least two bytes, the last one NUL. */
static int take_interpreter(const struct elf_reader *reader, char *buffer, size_t size)
{
    struct segment segment = {0};
    int r = find_segment(reader, PT_INTERP, &segment);
    buffer[0] = '\0';
    if (r <= 0)
        return r;
    if (segment.file_bytes < 2 || segment.file_bytes > PATH_MAX)
        return -EBADMSG;
    if (segment.file_bytes > size)
        return -ENAMETOOLONG;
    r = read_at(reader, buffer, (size_t)segment.file_bytes, segment.offset);
    if (r == 0 && buffer[segment.file_bytes - 1] != '\0')
        r = -EBADMSG;
    if (r < 0)
        buffer[0] = '\0';
    return r;
}

/* The file offset of an address of the running program. */
static int offset_of(const struct elf_reader *reader, uint64_t address, uint64_t *ret_offset)
{
    for (size_t i = 0; i < reader->segments_count; i++) {
        struct segment segment;
        int r = take_segment(reader, i, &segment);
        if (r < 0)
            return r;
        if (segment.type != PT_LOAD || address < segment.address || address - segment.address >= segment.file_bytes)
            continue;
        return __builtin_add_overflow(segment.offset, address - segment.address, ret_offset) ? -EBADMSG : 0;
    }
    return -EBADMSG;
}

static int take_entry(const struct elf_reader *reader, uint64_t at, struct dynamic_entry *ret)
{
    if (reader->wide) {
        Elf64_Dyn entry;
        int r = read_at(reader, &entry, sizeof(entry), at);
        if (r == 0)
            *ret = (struct dynamic_entry){entry.d_tag, entry.d_un.d_val};
        return r;
    }
    Elf32_Dyn entry;
    int r = read_at(reader, &entry, sizeof(entry), at);
    if (r == 0)
        *ret = (struct dynamic_entry){entry.d_tag, entry.d_un.d_val};
    return r;
}

/* The entry at this index. Returns 1, 0 after the last entry, or a negative errno. */
static int next_entry(const struct elf_reader *reader, const struct segment *dynamic, size_t i,
                      struct dynamic_entry *ret)
{
    uint64_t bytes = reader->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
    uint64_t at;
    if (i >= dynamic->file_bytes / bytes)
        return 0;
    if (i >= DYNAMIC_MAX || __builtin_add_overflow(dynamic->offset, i * bytes, &at))
        return -EBADMSG;
    int r = take_entry(reader, at, ret);
    return r < 0 ? r : ret->tag != DT_NULL;
}

/* First pass: finds the strings, and counts the needed objects. */
static int find_strings(struct elf_reader *reader, const struct segment *dynamic, size_t *ret_needed)
{
    uint64_t address = 0;
    struct dynamic_entry entry = {0};
    int r;
    *ret_needed = 0;
    for (size_t i = 0; (r = next_entry(reader, dynamic, i, &entry)) > 0; i++) {
        if (entry.tag == DT_STRTAB)
            address = entry.value;
        else if (entry.tag == DT_STRSZ)
            reader->strings_bytes = entry.value;
        else if (entry.tag == DT_NEEDED && ++*ret_needed > CK_ELF_NEEDED_MAX)
            return -EBADMSG;
    }
    if (r == 0 && address == 0)
        reader->strings_bytes = 0;
    if (r < 0 || address == 0)
        return r;
    return reader->strings_bytes > STRINGS_MAX ? -EBADMSG : offset_of(reader, address, &reader->strings_at);
}

static int take_string(const struct elf_reader *reader, uint64_t at, struct ck_arena *arena, const char **ret)
{
    char text[PATH_MAX];
    uint64_t offset;
    if (at >= reader->strings_bytes || __builtin_add_overflow(reader->strings_at, at, &offset) ||
        offset > (uint64_t)INT64_MAX - sizeof(text))
        return -EBADMSG;
    uint64_t left = reader->strings_bytes - at;
    ssize_t got = pread(reader->fd, text, left < sizeof(text) ? (size_t)left : sizeof(text), (off_t)offset);
    if (got < 0)
        return -errno;
    size_t length = strnlen(text, (size_t)got);
    /* No NUL within the strings, or within PATH_MAX. */
    if (length == (size_t)got)
        return -EBADMSG;
    *ret = ck_arena_memdup(arena, text, length);
    return !*ret ? -ENOMEM : 0;
}

/* Second pass: reads the strings themselves. */
static int take_names(const struct elf_reader *reader, const struct segment *dynamic, size_t needed,
                      struct ck_arena *arena, struct ck_elf *elf)
{
    struct dynamic_entry entry = {0};
    int r;
    for (size_t i = 0; (r = next_entry(reader, dynamic, i, &entry)) > 0; i++) {
        /* The file may have changed since the first pass, which sized the array. */
        if (entry.tag == DT_NEEDED)
            r = elf->needed_count < needed ? take_string(reader, entry.value, arena, &elf->needed[elf->needed_count++])
                                           : -EBADMSG;
        else if (entry.tag == DT_RPATH)
            r = take_string(reader, entry.value, arena, &elf->rpath);
        else if (entry.tag == DT_RUNPATH)
            r = take_string(reader, entry.value, arena, &elf->runpath);
        else if (entry.tag == DT_SONAME)
            r = take_string(reader, entry.value, arena, &elf->soname);
        else if (entry.tag == DT_FLAGS_1)
            elf->pie = (entry.value & DF_1_PIE) != 0;
        if (r < 0)
            return r;
    }
    return r;
}

static int take_dynamic(struct elf_reader *reader, struct ck_arena *arena, struct ck_elf *elf)
{
    struct segment dynamic = {0};
    size_t needed = 0;
    int found = find_segment(reader, PT_DYNAMIC, &dynamic);
    int r = found <= 0 ? found : find_strings(reader, &dynamic, &needed);
    if (r < 0)
        return r;
    elf->needed = ck_arena_array(arena, needed + 1, sizeof(*elf->needed));
    if (!elf->needed)
        return -ENOMEM;
    return found > 0 ? take_names(reader, &dynamic, needed, arena, elf) : 0;
}

int ck_elf_interpreter(int fd, char *buffer, size_t size)
{
    struct elf_window window = {0};
    struct elf_reader reader = {.fd = fd, .window = &window};
    int r = take_header(&reader);
    return r < 0 ? r : take_interpreter(&reader, buffer, size);
}

int ck_elf_read(int fd, struct ck_arena *arena, struct ck_elf *ret_elf)
{
    struct elf_window window = {0};
    struct elf_reader reader = {.fd = fd, .window = &window};
    struct ck_elf elf = {0};
    char interpreter[PATH_MAX];
    int r = take_header(&reader);
    if (r == 0)
        r = take_interpreter(&reader, interpreter, sizeof(interpreter));
    if (r < 0)
        return r;
    elf.bits = reader.wide ? 64 : 32;
    elf.machine = reader.machine;
    elf.type = reader.type;
    elf.interpreter = interpreter[0] != '\0' ? ck_arena_strdup(arena, interpreter) : NULL;
    if (interpreter[0] != '\0' && !elf.interpreter)
        return -ENOMEM;
    r = take_dynamic(&reader, arena, &elf);
    if (r == 0)
        *ret_elf = elf;
    return r;
}

bool ck_elf_is_library(const struct ck_elf *elf)
{
    return elf->type == ET_DYN && !elf->pie && (!elf->interpreter || elf->soname);
}
