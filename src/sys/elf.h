/*
 * elf.h - what an ELF file says about the files that it needs.
 *
 * It only reads, from a descriptor, within fixed limits: a file that was made to mislead gives an
 * error, never a crash or a long wait. Files of the other byte order are refused; this machine
 * cannot run them.
 */
#ifndef CK_SYS_ELF_H
#define CK_SYS_ELF_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define CK_ELF_NEEDED_MAX 1024

struct ck_elf {
    unsigned bits;           /* 32 or 64 */
    uint16_t machine;        /* EM_X86_64, ... */
    uint16_t type;           /* ET_DYN, ... */
    bool pie;                /* DF_1_PIE: a program that may be at any address, with a loader or static */
    const char *interpreter; /* the loader, or NULL */
    const char **needed;     /* names of shared objects, NULL-terminated; never NULL */
    size_t needed_count;
    const char *rpath;   /* DT_RPATH, or NULL */
    const char *runpath; /* DT_RUNPATH, or NULL */
    const char *soname;  /* DT_SONAME, or NULL: what a library has, and a loader */
};

/*
 * The loader that the kernel would start. Returns 0, with "" for a file without one; -ENOEXEC: not
 * an ELF file; -EBADMSG: an invalid ELF file; -ENAMETOOLONG: longer than size; else a negative
 * errno.
 */
int ck_elf_interpreter(int fd, char *buffer, size_t size);

/* Everything; the arena owns the memory. Errors as above, and -ENOMEM. */
int ck_elf_read(int fd, struct ck_arena *arena, struct ck_elf *ret_elf);

/*
 * Pure: whether it is a library and not a program. A library with a loader has a name: libc.so.6 and
 * libcap.so.2 can be executed, too.
 */
bool ck_elf_is_library(const struct ck_elf *elf);

#endif
