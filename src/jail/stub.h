/*
 * stub.h - the changes that make a copy of the ELF loader refuse to be executed as a program (R80).
 *
 * `ld.so PROGRAM` runs any file that may be mapped as code. Where library directories are code, the
 * loader in the jail is such a copy: it works for the programs that the kernel starts with it, and
 * exits with 126 if it is executed itself. docs/adr/0051 has the reasons.
 */
#ifndef CK_JAIL_STUB_H
#define CK_JAIL_STUB_H

#include "jail/native_ops.h"

/*
 * Reads the headers of a loader, and computes what its copy has in other bytes. Returns 0; -ENOTSUP
 * if this is not a loader for this machine, or has no place for the stub; another negative errno if it
 * cannot be read.
 */
int ck_stub_make(int fd, struct ck_native_copy *ret_copy);

#endif
