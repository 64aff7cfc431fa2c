/*
 * workspace.h - how a tool in a jail sees the repository (R37).
 */
#ifndef CK_BASE_WORKSPACE_H
#define CK_BASE_WORKSPACE_H

/* Zero-filled is closed. */
enum ck_workspace {
    CK_WORKSPACE_RO = 0,
    CK_WORKSPACE_RW,
    CK_WORKSPACE_OVERLAY, /* writable, and what is written is kept apart */
};

#endif
