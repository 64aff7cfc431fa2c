/*
 * code_copy.h - puts another file over a file inside a jail: a changed copy of it
 * (CK_NATIVE_OP_COPY_CODE), or a door (CK_NATIVE_OP_DOOR).
 */
#ifndef CK_RUN_KEEPER_CODE_COPY_H
#define CK_RUN_KEEPER_CODE_COPY_H

#include "jail/native_ops.h"

struct ck_code_copy_place {
    int from_fd;      /* where the path of the original begins, if it is relative */
    int directory_fd; /* of a tmpfs in this mount namespace; the copy is a file in it */
    int root_fd;      /* the root of the jail: the copy is mounted over the file inside, read-only */
};

/*
 * number: of the operation, also for the name of the copy. from: the original. 0 or a negative
 * errno; -ESTALE if the original has another version than the operation.
 */
long ck_code_copy_place(const struct ck_native_program *program, uint32_t number, const char *from,
                        const struct ck_code_copy_place *place);

/*
 * The same in two steps, for a file with these bytes: writes it into a directory of a tmpfs, and
 * mounts it over a file inside, as often as needed. 0 or a negative errno.
 */
long ck_code_copy_write(int directory_fd, const char *name, const unsigned char *data, size_t bytes);
long ck_code_copy_mount(int directory_fd, const char *name, int root_fd, const char *inside);

#endif
