/*
 * workspace.h - how a tool in a jail sees the repository (R37).
 */
#ifndef CK_BASE_WORKSPACE_H
#define CK_BASE_WORKSPACE_H

/* Zero is the strictest, so that a zero-filled struct gives no write access. */
enum ck_workspace {
    CK_WORKSPACE_RO = 0,  /* read-only */
    CK_WORKSPACE_RW,      /* writes go to the repository itself */
    CK_WORKSPACE_OVERLAY, /* writable; changes go to a separate directory */
};

#endif
