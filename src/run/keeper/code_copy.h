/* code_copy.h - puts a changed copy of a file over that file, inside a jail (CK_NATIVE_OP_COPY_CODE). */
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

#endif
