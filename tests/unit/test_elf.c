/* test_elf.c - the dependencies of an ELF file are read from it; a damaged file gives an error and
 * nothing worse. */
#include "sandbox.h"
#include "sys/elf.h"

#include <elf.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LOADER "/lib/loader.so"
#define BASE UINT64_C(0x400000)

/* A small file with a loader, two needed objects and both kinds of path. */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    Elf64_Dyn dynamic[8];
    char loader[sizeof(LOADER)];
    char strings[32];
};

static const char strings[32] = "\0libc.so.6\0libz.so\0/opt\0/run";

static struct image good(void)
{
    struct image image = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_phoff = offsetof(struct image, segments),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 3},
        .segments = {{.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof(image)},
                     {.p_type = PT_INTERP, .p_offset = offsetof(struct image, loader), .p_filesz = sizeof(LOADER)},
                     {.p_type = PT_DYNAMIC,
                      .p_offset = offsetof(struct image, dynamic),
                      .p_filesz = sizeof(image.dynamic)}},
        .dynamic = {{.d_tag = DT_NEEDED, .d_un.d_val = 1},
                    {.d_tag = DT_NEEDED, .d_un.d_val = 11},
                    {.d_tag = DT_RPATH, .d_un.d_val = 19},
                    {.d_tag = DT_RUNPATH, .d_un.d_val = 24},
                    {.d_tag = DT_STRTAB, .d_un.d_val = BASE + offsetof(struct image, strings)},
                    {.d_tag = DT_STRSZ, .d_un.d_val = sizeof(strings)}},
        .loader = LOADER,
    };
    memcpy(image.strings, strings, sizeof(strings));
    return image;
}

static int open_bytes(const struct sandbox *sandbox, const void *bytes, size_t length)
{
    int fd = open(in(sandbox, "elf"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    return fd;
}

/* Both readers must give the same answer about the loader. */
static int read_bytes(const struct sandbox *sandbox, const void *bytes, size_t length)
{
    struct ck_arena arena = {0};
    struct ck_elf elf = {0};
    char loader[PATH_MAX];
    int fd = open_bytes(sandbox, bytes, length);
    int r = ck_elf_read(fd, &arena, &elf);
    int alone = ck_elf_interpreter(fd, loader, sizeof(loader));
    if (r == 0) {
        assert_int_equal(alone, 0);
        assert_string_equal(loader, elf.interpreter ? elf.interpreter : "");
    }
    close(fd);
    ck_arena_done(&arena);
    return r;
}

static int read_image(const struct sandbox *sandbox, const struct image *image)
{
    return read_bytes(sandbox, image, sizeof(*image));
}

static void everything_is_found(void **state)
{
    struct image image = good();
    struct ck_arena arena = {0};
    struct ck_elf elf;
    int fd = open_bytes(*state, &image, sizeof(image));
    assert_int_equal(ck_elf_read(fd, &arena, &elf), 0);
    assert_int_equal(elf.bits, 64);
    assert_int_equal(elf.machine, EM_X86_64);
    assert_string_equal(elf.interpreter, LOADER);
    assert_int_equal(elf.needed_count, 2);
    assert_string_equal(elf.needed[0], "libc.so.6");
    assert_string_equal(elf.needed[1], "libz.so");
    assert_null(elf.needed[2]);
    assert_string_equal(elf.rpath, "/opt");
    assert_string_equal(elf.runpath, "/run");
    ck_arena_done(&arena);
    close(fd);
}

static void a_real_program_names_its_loader_and_libc(void **state)
{
    (void)state;
    struct ck_arena arena = {0};
    struct ck_elf elf;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ck_elf_read(fd, &arena, &elf), 0);
    assert_int_equal(access(elf.interpreter, X_OK), 0);
    bool libc = false;
    for (size_t i = 0; i < elf.needed_count; i++)
        libc = libc || strncmp(elf.needed[i], "libc.", 5) == 0;
    assert_true(libc);
    ck_arena_done(&arena);
    close(fd);
}

static void a_static_file_needs_nothing(void **state)
{
    struct image image = good();
    image.header.e_phnum = 1;
    struct ck_arena arena = {0};
    struct ck_elf elf;
    int fd = open_bytes(*state, &image, sizeof(image));
    assert_int_equal(ck_elf_read(fd, &arena, &elf), 0);
    assert_null(elf.interpreter);
    assert_int_equal(elf.needed_count, 0);
    assert_null(elf.needed[0]);
    ck_arena_done(&arena);
    close(fd);
}

static void the_other_class_is_read_too(void **state)
{
    struct {
        Elf32_Ehdr header;
        Elf32_Phdr segment;
        char loader[sizeof(LOADER)];
    } image = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                   .e_machine = EM_386,
                   .e_phoff = sizeof(Elf32_Ehdr),
                   .e_phentsize = sizeof(Elf32_Phdr),
                   .e_phnum = 1},
        .segment = {.p_type = PT_INTERP,
                    .p_offset = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
                    .p_filesz = sizeof(LOADER)},
        .loader = LOADER,
    };
    char loader[PATH_MAX];
    int fd = open_bytes(*state, &image, sizeof(image));
    assert_int_equal(ck_elf_interpreter(fd, loader, sizeof(loader)), 0);
    assert_string_equal(loader, LOADER);
    assert_int_equal(ck_elf_interpreter(fd, loader, 4), -ENAMETOOLONG);
    close(fd);
    assert_int_equal(read_bytes(*state, &image, sizeof(image)), 0);
}

static void an_invalid_elf_file_is_distinguished(void **state)
{
    assert_int_equal(read_bytes(*state, "", 0), -ENOEXEC);
    assert_int_equal(read_bytes(*state, "\177ELF", 4), -ENOEXEC);
    assert_int_equal(read_bytes(*state, "#!/bin/sh\nexit 0 and more\n", 26), -ENOEXEC);
}

static void mangled_headers_are_refused(void **state)
{
    struct image image = good();
#define MANGLED(field, value) \
    do { \
        image = good(); \
        image.field = (value); \
        assert_int_equal(read_image(*state, &image), -EBADMSG); \
    } while (0)
    MANGLED(header.e_ident[EI_CLASS], 7);
    MANGLED(header.e_ident[EI_DATA], ELFDATA2MSB);
    MANGLED(header.e_phentsize, 1);
    MANGLED(header.e_phentsize, sizeof(Elf64_Phdr) + 1);
    MANGLED(header.e_phnum, 0xffff);
    MANGLED(header.e_phoff, UINT64_MAX);
    MANGLED(header.e_phoff, UINT64_MAX - sizeof(Elf64_Phdr));
    MANGLED(header.e_phoff, INT64_MAX);
    MANGLED(header.e_phoff, sizeof(image));
    MANGLED(segments[1].p_filesz, 1);
    MANGLED(segments[1].p_filesz, UINT64_MAX);
    MANGLED(segments[1].p_filesz, sizeof(LOADER) - 1);
    MANGLED(segments[1].p_offset, UINT64_MAX);
    MANGLED(segments[1].p_offset, sizeof(image) - 2);
    MANGLED(segments[2].p_offset, UINT64_MAX);
    MANGLED(segments[2].p_offset, UINT64_MAX - sizeof(Elf64_Dyn) + 1);
    MANGLED(segments[0].p_offset, UINT64_MAX);
    MANGLED(segments[0].p_vaddr, UINT64_MAX);
    MANGLED(segments[0].p_filesz, 0);
    MANGLED(dynamic[0].d_un.d_val, sizeof(strings));
    MANGLED(dynamic[0].d_un.d_val, UINT64_MAX);
    MANGLED(dynamic[3].d_un.d_val, UINT64_MAX);
    MANGLED(dynamic[4].d_un.d_val, 1);
    MANGLED(dynamic[4].d_un.d_val, 0);
    MANGLED(dynamic[5].d_un.d_val, UINT64_MAX);
    MANGLED(dynamic[5].d_un.d_val, 0);
    MANGLED(dynamic[5].d_un.d_val, 27);
#undef MANGLED
}

/* A list without end: every entry is the same, and the segment claims 2^60 of them. */
static void a_list_without_end_is_left(void **state)
{
    struct image image = good();
    image.segments[2].p_filesz = UINT64_MAX;
    image.segments[2].p_offset = sizeof(image);
    int fd = open_bytes(*state, &image, sizeof(image));
    const Elf64_Dyn entry = {.d_tag = DT_DEBUG};
    for (size_t i = 0; i < 20000; i++)
        assert_int_equal(write(fd, &entry, sizeof(entry)), sizeof(entry));
    struct ck_arena arena = {0};
    struct ck_elf elf;
    assert_int_equal(ck_elf_read(fd, &arena, &elf), -EBADMSG);
    ck_arena_done(&arena);
    close(fd);
}

/* Cut at every length, and with every byte inverted: any answer will do. The sanitizers watch for
 * bad reads. */
static void no_cut_and_no_turned_byte_does_harm(void **state)
{
    struct image image = good();
    unsigned char bytes[sizeof(image)];
    unsigned refused = 0;
    for (size_t i = 0; i < sizeof(image); i++)
        refused += read_bytes(*state, &image, i) < 0;
    assert_int_equal(refused, offsetof(struct image, strings) + 29); /* to the end of the last name */
    for (size_t i = 0; i < sizeof(image); i++) {
        memcpy(bytes, &image, sizeof(image));
        bytes[i] ^= 0xff;
        int r = read_bytes(*state, bytes, sizeof(bytes));
        assert_true(r == 0 || r == -ENOEXEC || r == -EBADMSG);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sandbox_new, sandbox_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(everything_is_found),
        TEST(a_real_program_names_its_loader_and_libc),
        TEST(a_static_file_needs_nothing),
        TEST(the_other_class_is_read_too),
        TEST(an_invalid_elf_file_is_distinguished),
        TEST(mangled_headers_are_refused),
        TEST(a_list_without_end_is_left),
        TEST(no_cut_and_no_turned_byte_does_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
