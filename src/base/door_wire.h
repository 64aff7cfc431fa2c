/*
 * door_wire.h - the messages between a door and the guard (docs/adr/0100).
 *
 * A door is a small program at the path of a tool in the cage of guard. Executing it hands the call
 * to the guard. The socket of a call is SOCK_SEQPACKET, so a message arrives whole or not at all.
 * Both ends are from one build, so there are no versions. The guard trusts nothing in a message: the
 * tree in the cage may speak these messages without the door.
 *
 *   1. The door makes the system call CK_DOOR_CONNECT(CK_DOOR_MAGIC, again). No kernel has it; the
 *      filter of the cage notifies init, which installs one end of a new socket pair in the door
 *      (close-on-exec, at the lowest free number) and sends the other to the guard. The result is
 *      that number, or one of the errors below. again: 1 after CK_DOOR_BUSY, else 0;
 *      init counts a door when it gets its first connection.
 *        -EAGAIN  no descriptor or memory now: try again after a pause
 *        -EMFILE  the door can have no more descriptors
 *        -EPERM   the caller's program is no door of this cage
 *        -ENOSYS  the program is not in a cage
 *   2. door -> guard  struct ck_door_begin, with the first texts and descriptors; usually all of them
 *   3. door -> guard  struct ck_door_text and its bytes, until text_bytes have been sent
 *      door -> guard  struct ck_door_fds and its descriptors (SCM_RIGHTS), until fd_count have been
 *                     sent; the two kinds in any order
 *   4. guard -> door  CK_DOOR_BUSY  the guard has no place now and closes the socket: from 1., after
 *                                   a pause
 *      guard -> door  CK_DOOR_STARTED  the tool has been running for some milliseconds; not sent if
 *                                      it has ended by then
 *   5. door -> guard  struct ck_door_signal, at any time after step 3
 *   6. guard -> door  struct ck_door_end, once; the guard then closes the socket
 *
 * If the door closes the socket before step 6, by its death too, the tool is killed. If the guard
 * closes it before step 6, the guard is gone: the door ends with CK_DOOR_STATUS_REFUSED.
 */
#ifndef CK_BASE_DOOR_WIRE_H
#define CK_BASE_DOOR_WIRE_H

#include <asm/unistd.h>
#include <stdint.h>

/* Removed from Linux 3.1 on; the number stays reserved on both machines. */
#define CK_DOOR_CONNECT __NR_nfsservctl
#define CK_DOOR_MAGIC UINT64_C(0x646f6f7263616765)

#define CK_DOOR_MESSAGE_MAX 32768              /* one message, with its head */
#define CK_DOOR_TEXT_MAX ((uint32_t)7 << 20)   /* all texts of a call; execve allows 6 MiB */
#define CK_DOOR_STRINGS_MAX ((uint32_t)262144) /* argc + envc */
#define CK_DOOR_FDS_MAX 64                     /* descriptors of a call */
#define CK_DOOR_NUMBERS 512                    /* a tool is given those with a lower number */
#define CK_DOOR_FDS_PER_MESSAGE 16
#define CK_DOOR_RLIMITS 16    /* RLIM_NLIMITS: the index is the number of the resource */
#define CK_DOOR_SAYS_MAX 4096 /* the text of struct ck_door_end */

/* Exit statuses of a door whose tool did not end by itself. */
#define CK_DOOR_STATUS_TIMEOUT 124
#define CK_DOOR_STATUS_REFUSED 126   /* as a shell has it after EACCES */
#define CK_DOOR_STATUS_NOT_FOUND 127 /* the policy allows the tool, but it is not installed */

enum ck_door_kind {
    CK_DOOR_BEGIN = 1,
    CK_DOOR_TEXT,
    CK_DOOR_FDS,
    CK_DOOR_SIGNAL,
    CK_DOOR_BUSY,
    CK_DOOR_STARTED,
    CK_DOOR_END,
};

struct ck_door_simple {
    uint32_t kind;
};

struct ck_door_rlimit {
    uint64_t soft, hard; /* as the kernel has them; UINT64_MAX: none */
};

/*
 * What a process inherits beside descriptors, the sizes of the rest, and the first part of it: the
 * descriptors `numbers`, and the bytes after the struct, which are the first of text_bytes.
 */
struct ck_door_begin {
    uint32_t kind;
    uint32_t text_bytes; /* at most CK_DOOR_TEXT_MAX */
    uint32_t argc, envc;
    uint32_t fd_count;   /* at most CK_DOOR_FDS_MAX */
    uint32_t fds_here;   /* with this message, at most CK_DOOR_FDS_PER_MESSAGE */
    uint32_t umask_bits; /* at most 0777 */
    int32_t nice;        /* -20 to 19 */
    uint64_t ignored;    /* bit i: signal i + 1 is ignored */
    struct ck_door_rlimit rlimits[CK_DOOR_RLIMITS];
    int32_t numbers[CK_DOOR_FDS_PER_MESSAGE]; /* of these descriptors in the door, in their order */
};

/*
 * The texts, each with its NUL, in this order: the working directory (getcwd), the door's own file
 * (as /proc/self/exe has it), the path that was executed (AT_EXECFN), argc arguments, envc variables.
 * A text that cannot be read is empty.
 */
struct ck_door_text {
    uint32_t kind;
    uint32_t bytes; /* that follow, at most CK_DOOR_MESSAGE_MAX - sizeof(struct ck_door_text) */
};

/* numbers: those of the descriptors in the door, in the order of the message. */
struct ck_door_fds {
    uint32_t kind;
    uint32_t count; /* 1 to CK_DOOR_FDS_PER_MESSAGE */
    int32_t numbers[CK_DOOR_FDS_PER_MESSAGE];
};

/*
 * A signal for the tool. The door sends SIGTSTP, SIGTTIN and SIGTTOU before it stops itself, and
 * SIGCONT when it continues, or at once where the kernel did not let it stop. The tool has no terminal
 * of its own, so for these the guard stops its tree with SIGSTOP.
 */
struct ck_door_signal {
    uint32_t kind;
    uint32_t signal; /* 1 to 31 */
};

enum ck_door_how {
    CK_DOOR_EXITED = 1, /* value: exit status; the door exits with it */
    CK_DOOR_SIGNALED,   /* value: signal; the door ends by it, without a core file */
};

/*
 * Followed by says_bytes of text, which the door writes to its descriptor 2 first. So the door keeps
 * that open to the end, and closes the others when it has sent them.
 */
struct ck_door_end {
    uint32_t kind;
    uint32_t how; /* enum ck_door_how */
    uint32_t value;
    uint32_t says_bytes; /* at most CK_DOOR_SAYS_MAX */
};

#endif
