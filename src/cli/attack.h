/*
 * attack.h - the parts of "chokepoint doctor --attack" (docs/adr/0046).
 *
 *   attack_table.c   which attempts there are, as data
 *   attack_world.c   what they are made on, and whether anything of it was reached
 *   attack.c         makes them in one jail, and says what held
 *   attack_report.c  the report, for people and as JSON
 *
 * The attacker is a program of its own, chokepoint-attack, built from the victims of the tests.
 */
#ifndef CK_CLI_ATTACK_H
#define CK_CLI_ATTACK_H

#include "chokepoint.h"

#include <limits.h>
#include <sys/stat.h>

/* ---- the table ---- */

/* The entry of the policy by which the attacker is started; its name is the index of ck_attack_entries. */
enum ck_attack_entry { CK_ATTACK_PLAIN = 0, CK_ATTACK_WRITES, CK_ATTACK_EGRESS, CK_ATTACK_ENTRIES };

/* How it is seen that an attempt did not succeed. */
enum ck_attack_check {
    CK_ATTACK_CHECK_REFUSED = 0, /* the attacker says that the system refused it, or was killed by the filter */
    CK_ATTACK_CHECK_FAILED,      /* it ends with any status but 0: what it started could not be loaded */
    CK_ATTACK_CHECK_FIXTURE      /* only what is seen from outside counts */
};

#define CK_ATTACK_ARGS 6

/*
 * One attempt. A word "{name}" stands for something of the world: secret, inode, port, abstract, pid, marker, number,
 * loader.
 */
struct ck_attack_attempt {
    const char *promise; /* attempts of one promise stand together */
    const char *name;
    const char *layer; /* the layer that holds it: where a jail does not have it, the attempt is not made */
    enum ck_attack_entry entry;
    enum ck_attack_check check;
    const char *args[CK_ATTACK_ARGS + 1];   /* the set, its way, arguments; ends with NULL */
    const char *before[CK_ATTACK_ARGS + 1]; /* made first, in a run of its own, where an attempt needs two */
};

extern const struct ck_attack_attempt ck_attack_attempts[]; /* ends where promise is NULL */
extern const char *const ck_attack_entries[CK_ATTACK_ENTRIES];

/* ---- the world ---- */

/* A directory that is removed afterwards, with a root in it, files, and listeners. */
struct ck_attack_fixture {
    char top[40], root[64], secret[64], policy[64];
    char port[8], abstract[64], pid[16], inode[24], marker[64], number[16];
    struct stat secret_before, victim_before;
    int signal_fd;                                  /* of the signal that attempts send */
    int inet_fd, path_fd, datagram_fd, abstract_fd; /* -1: could not be made */
};

/* program: the attacker. 0 or a negative errno; ck_attack_fixture_done in either case. */
int ck_attack_fixture_make(struct ck_attack_fixture *fixture, const char *program, struct choke_error *error);
void ck_attack_fixture_done(struct ck_attack_fixture *fixture);

/* What a word of an attempt stands for. */
const char *ck_attack_fixture_expand(const struct ck_attack_fixture *fixture, const char *token);

/* NULL, or what was reached since the last time: one of a few fixed phrases. Puts it back, so that the next is seen too. */
const char *ck_attack_fixture_reached(struct ck_attack_fixture *fixture);

/* ---- the attempts in one jail ---- */

enum ck_attack_state { CK_ATTACK_HELD = 0, CK_ATTACK_NOT_AVAILABLE, CK_ATTACK_BROKEN };

#define CK_ATTACK_DETAIL_MAX 160

struct ck_attack_result {
    enum ck_attack_state state;
    const char *layer;                 /* not available: the layer that is missing; else NULL */
    char detail[CK_ATTACK_DETAIL_MAX]; /* why; "" where it held */
};

struct ck_attack_jail {
    const char *name;
    enum choke_jail jail;
    bool available;
    char reason[CHOKE_MESSAGE_MAX];   /* where it is not */
    const char *const *layers;        /* those that held; of the result that is kept for them */
    struct ck_attack_result *results; /* one for each attempt of the table, in its order */
    struct choke_result *first;
};

const char *ck_attack_state_name(enum ck_attack_state state);

/* The number of attempts in the table. */
size_t ck_attack_count(void);

/* 0 or a negative errno: nothing can be said then. deadline_ms is of CLOCK_MONOTONIC. */
int ck_attack_jail(struct choke_context *context, struct ck_attack_fixture *fixture, uint64_t deadline_ms,
                   struct ck_attack_jail *jail, struct choke_error *error);
void ck_attack_jail_done(struct ck_attack_jail *jail);

/* All of it. The exit status: 0, 1 where something is broken, CK_EXIT_REFUSED. */
int ck_attack(bool json);

/* ---- the report ---- */

#define CK_ATTACK_JAILS 2

/* Writes it to standard output. The exit status. */
int ck_attack_report(const struct ck_attack_jail jails[CK_ATTACK_JAILS], bool json);

#endif
