/* test_stub.c - the changes that make a copy of the loader refuse to be a program. */
#include "jail/stub.h"

#include "base/fd.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif
#define SEGMENTS 4
#define ENTRY 0x1040

/* A small loader: headers, code, and the two program headers that matter. */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segments[SEGMENTS];
    unsigned char rest[0x3000];
};

static void fill(struct image *image)
{
    *image = (struct image){
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = MACHINE,
                   .e_entry = ENTRY,
                   .e_phoff = offsetof(struct image, segments),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = SEGMENTS},
        .segments =
            {{.p_type = PT_LOAD, .p_flags = PF_R, .p_memsz = 0x1000, .p_align = 0x1000},
             {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000, .p_memsz = 0x800, .p_align = 0x1000},
             {.p_type = PT_DYNAMIC},
             {.p_type = PT_GNU_STACK}},
    };
}

static int make(const struct image *image, size_t bytes, struct ck_native_copy *ret_copy)
{
    CK_FD fd = memfd_create("loader", MFD_CLOEXEC);
    assert_int_equal(write(fd, image, bytes), bytes);
    return ck_stub_make(fd, ret_copy);
}

static void stub_is_the_entry_in_a_segment_of_its_own(void **state)
{
    (void)state;
    struct image image;
    struct ck_native_copy copy;
    Elf64_Phdr segment;
    uint64_t entry;
    fill(&image);
    assert_int_equal(make(&image, sizeof(image), &copy), 0);
    assert_int_equal(copy.patches_count, 3);
    assert_int_equal(copy.patches[0].at, offsetof(Elf64_Ehdr, e_entry));
    memcpy(&entry, copy.patches[0].data, sizeof(entry));
    assert_int_equal(copy.patches[1].at, offsetof(struct image, segments[3]));
    memcpy(&segment, copy.patches[1].data, sizeof(segment));
    assert_int_equal(segment.p_type, PT_LOAD);
    assert_int_equal(segment.p_flags, PF_R | PF_X);
    assert_int_equal(segment.p_vaddr, entry);
    assert_true(segment.p_vaddr >= 0x1800 && segment.p_vaddr % segment.p_align == 0);
    assert_true(segment.p_offset >= sizeof(image) && segment.p_offset % segment.p_align == 0);
    assert_int_equal(copy.patches[2].at, segment.p_offset);
    assert_int_equal(copy.patches[2].bytes, segment.p_filesz);
    assert_int_equal(segment.p_filesz, segment.p_memsz);
}

/* The last instruction leads to the entry of the original, from where the kernel maps the stub. */
static void stub_ends_with_a_jump_to_the_real_entry(void **state)
{
    (void)state;
    struct image image;
    struct ck_native_copy copy;
    Elf64_Phdr segment;
    int32_t word;
    fill(&image);
    assert_int_equal(make(&image, sizeof(image), &copy), 0);
    memcpy(&segment, copy.patches[1].data, sizeof(segment));
    memcpy(&word, copy.patches[2].data + copy.patches[2].bytes - sizeof(word), sizeof(word));
    int64_t end = (int64_t)(segment.p_vaddr + segment.p_filesz);
#if defined(__x86_64__)
    assert_int_equal(end + word, ENTRY);
#else
    assert_int_equal((uint32_t)word >> 26, 5);
    assert_int_equal(end - 4 + (int64_t)((int32_t)((uint32_t)word << 6) >> 6) * 4, ENTRY);
#endif
}

/* Code whose last page ends with padding, and data after it. */
static void fill_padded(struct image *image)
{
    fill(image);
    image->segments[1].p_offset = 0x1000;
    image->segments[1].p_filesz = 0x801;
    image->segments[1].p_memsz = 0x801;
    image->segments[2] = (Elf64_Phdr){.p_type = PT_LOAD,
                                      .p_flags = PF_R | PF_W,
                                      .p_offset = 0x2100,
                                      .p_vaddr = 0x3100,
                                      .p_filesz = 0x10,
                                      .p_memsz = 0x2000,
                                      .p_align = 0x1000};
}

/* Nothing but the length of the code's segment changes, so kernels before 6.7 take the loader. */
static void stub_takes_the_place_of_padding(void **state)
{
    (void)state;
    struct image image;
    struct ck_native_copy copy;
    Elf64_Phdr segment;
    uint64_t entry;
    fill_padded(&image);
    assert_int_equal(make(&image, sizeof(image), &copy), 0);
    assert_int_equal(copy.patches_count, 3);
    memcpy(&entry, copy.patches[0].data, sizeof(entry));
    assert_int_equal(entry, 0x1810);
    assert_int_equal(copy.patches[1].at, offsetof(struct image, segments[1]));
    memcpy(&segment, copy.patches[1].data, sizeof(segment));
    assert_int_equal(segment.p_offset, 0x1000);
    assert_int_equal(segment.p_vaddr, 0x1000);
    assert_int_equal(copy.patches[2].at, 0x1810);
    assert_int_equal(segment.p_filesz, 0x810 + copy.patches[2].bytes);
    assert_int_equal(segment.p_memsz, segment.p_filesz);
}

static void use_padding_in_file(struct image *image)
{
    ((unsigned char *)image)[0x1820] = 1;
}

static void follow_at_once_in_file(struct image *image)
{
    image->segments[2].p_offset = 0x1808;
}

static void follow_at_once_in_memory(struct image *image)
{
    image->segments[2].p_vaddr = 0x1f00;
}

static void fill_the_page(struct image *image)
{
    image->segments[1].p_filesz = image->segments[1].p_memsz = 0xff1;
}

static void have_more_memory_than_file(struct image *image)
{
    image->segments[1].p_memsz = 0x900;
}

static void stub_is_appended_if_there_is_no_padding(void **state)
{
    (void)state;
    static void (*const changes[])(struct image *) = {use_padding_in_file, follow_at_once_in_file,
                                                      follow_at_once_in_memory, fill_the_page,
                                                      have_more_memory_than_file};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct image image;
        struct ck_native_copy copy;
        fill_padded(&image);
        changes[i](&image);
        assert_int_equal(make(&image, sizeof(image), &copy), 0);
        assert_int_equal(copy.patches[1].at, offsetof(struct image, segments[3]));
        assert_true(copy.patches[2].at >= sizeof(image));
    }
}

static void spoil_class(struct image *image)
{
    image->header.e_ident[EI_CLASS] = ELFCLASS32;
}

static void spoil_machine(struct image *image)
{
    image->header.e_machine = EM_386;
}

static void spoil_type(struct image *image)
{
    image->header.e_type = ET_EXEC;
}

static void spoil_magic(struct image *image)
{
    image->header.e_ident[0] = '#';
}

static void spoil_count(struct image *image)
{
    image->header.e_phnum = UINT16_MAX;
}

static void spoil_offset(struct image *image)
{
    image->header.e_phoff = UINT64_MAX - 8;
}

static void make_program(struct image *image)
{
    image->segments[2].p_type = PT_INTERP;
}

static void drop_stack(struct image *image)
{
    image->segments[3].p_type = PT_NULL;
}

static void move_stack_forward(struct image *image)
{
    image->segments[3] = image->segments[1];
    image->segments[1] = (Elf64_Phdr){.p_type = PT_GNU_STACK};
}

static void spoil_entry(struct image *image)
{
    image->header.e_entry = 0x10;
}

static void spoil_address(struct image *image)
{
    image->segments[1].p_vaddr = UINT64_MAX - 8;
}

static void spoil_alignment(struct image *image)
{
    image->segments[1].p_align = 3;
}

static void what_is_no_loader_of_this_machine_is_refused(void **state)
{
    (void)state;
    static void (*const faults[])(struct image *) = {
        spoil_class,  spoil_machine, spoil_type,         spoil_magic, spoil_count,   spoil_offset,
        make_program, drop_stack,    move_stack_forward, spoil_entry, spoil_address, spoil_alignment,
    };
    struct ck_native_copy copy;
    struct image image;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        fill(&image);
        faults[i](&image);
        assert_int_equal(make(&image, sizeof(image), &copy), -ENOTSUP);
    }
    fill(&image);
    for (size_t bytes = 0; bytes < offsetof(struct image, rest); bytes += 8)
        assert_int_equal(make(&image, bytes, &copy), -ENOTSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stub_is_the_entry_in_a_segment_of_its_own),
        cmocka_unit_test(stub_takes_the_place_of_padding),
        cmocka_unit_test(stub_is_appended_if_there_is_no_padding),
        cmocka_unit_test(stub_ends_with_a_jump_to_the_real_entry),
        cmocka_unit_test(what_is_no_loader_of_this_machine_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
