/*
 * attack.h - the parts of "chokepoint doctor --attack" (docs/adr/0046).
 *
 *   attack_table.c    the attempts, as data
 *   attack_fixture.c  the files and listeners that they attack, and whether any of them was reached
 *   attack.c          makes the attempts in one jail and judges each
 *   attack_report.c   the report, as text and as JSON
 *
 * The attacker is a separate program, chokepoint-attack. It is built from the test victims.
 */
#ifndef CK_CLI_ATTACK_H
#define CK_CLI_ATTACK_H

#include "chokepoint.h"

#include <limits.h>
#include <sys/stat.h>

/* ---- the table ---- */

/* The policy entry that starts the attacker. It is the index into ck_attack_entries. */
enum ck_attack_entry {
    CK_ATTACK_PLAIN = 0,
    CK_ATTACK_WRITES,
    CK_ATTACK_EGRESS,
    CK_ATTACK_LOOPBACK,
    CK_ATTACK_CODE, /* workspace_code */
    CK_ATTACK_ENTRIES
};

/* How a failed attempt is recognized. */
enum ck_attack_check {
    CK_ATTACK_CHECK_REFUSED = 0, /* the attacker reports a refusal, or the filter killed it */
    CK_ATTACK_CHECK_FAILED,      /* it exits with any status but 0: what it started could not be loaded */
    CK_ATTACK_CHECK_FIXTURE      /* only the fixture decides: nothing in it was reached */
};

#define CK_ATTACK_ARGS 6

/*
 * One attempt. An argument "{name}" is replaced by a value of the fixture: secret, inode, port,
 * abstract, pid, marker, number, loader.
 */
struct ck_attack_attempt {
    const char *promise; /* attempts of one promise are adjacent */
    const char *name;
    /* The layer that must hold it; a jail without this layer skips the attempt. */
    const char *layer;
    enum ck_attack_entry entry;
    enum ck_attack_check check;
    /* The set, the attempt, its arguments; ends with NULL. */
    const char *args[CK_ATTACK_ARGS + 1];
    /* A separate run before it, for an attempt that needs two. */
    const char *before[CK_ATTACK_ARGS + 1];
};

extern const struct ck_attack_attempt ck_attack_attempts[]; /* ends with promise NULL */
extern const char *const ck_attack_entries[CK_ATTACK_ENTRIES];

/* ---- the fixture ---- */

/* A temporary directory with a root, files and listeners. ck_attack_fixture_done removes it. */
struct ck_attack_fixture {
    char top[40], root[64], secret[64], policy[64]; /* paths; top "": not made */
    /* Values of placeholders, as text. */
    char port[8], abstract[64], pid[16], inode[24], marker[64], number[16];
    struct stat secret_before, victim_before;       /* to find changes */
    int signal_fd;                                  /* receives the signal that attempts send */
    int inet_fd, path_fd, datagram_fd, abstract_fd; /* -1: could not be made */
};

/*
 * program is the attacker. Returns 0 or a negative errno; call ck_attack_fixture_done in either
 * case.
 */
int ck_attack_fixture_make(struct ck_attack_fixture *fixture, const char *program, struct choke_error *error);
void ck_attack_fixture_done(struct ck_attack_fixture *fixture);

/* Returns the value of a "{name}" argument, or the argument itself. */
const char *ck_attack_fixture_expand(const struct ck_attack_fixture *fixture, const char *token);

/*
 * Returns NULL, or one of a few fixed phrases: what was reached since the last call. It also resets
 * the fixture, so that the next attempt is seen too.
 */
const char *ck_attack_fixture_reached(struct ck_attack_fixture *fixture);

/* ---- the attempts in one jail ---- */

enum ck_attack_state { CK_ATTACK_HELD = 0, CK_ATTACK_NOT_AVAILABLE, CK_ATTACK_BROKEN };

#define CK_ATTACK_DETAIL_MAX 160

struct ck_attack_result {
    enum ck_attack_state state;
    const char *layer;                 /* not available: the missing layer; else NULL */
    char detail[CK_ATTACK_DETAIL_MAX]; /* why; "" if it held */
};

struct ck_attack_jail {
    const char *name;     /* for the report */
    enum choke_jail jail; /* for the request */
    bool available;
    char reason[CHOKE_MESSAGE_MAX];   /* why it is not available */
    const char *const *layers;        /* the layers that held; they belong to first */
    struct ck_attack_result *results; /* one per attempt, in the order of the table */
    struct choke_result *first;       /* of the run that found out the layers; owned */
};

const char *ck_attack_state_name(enum ck_attack_state state);

/* The number of attempts in the table. */
size_t ck_attack_count(void);

/*
 * Returns 0, or a negative errno if the attempts could not be made. deadline_ms is on
 * CLOCK_MONOTONIC.
 */
int ck_attack_jail(struct choke_context *context, struct ck_attack_fixture *fixture, uint64_t deadline_ms,
                   struct ck_attack_jail *jail, struct choke_error *error);
void ck_attack_jail_done(struct ck_attack_jail *jail);

/*
 * Runs all attempts in all jails. Returns the exit status: 0, 1 if a promise is broken, or
 * CK_EXIT_REFUSED.
 */
int ck_attack(bool json);

/* ---- the report ---- */

#define CK_ATTACK_JAILS 2

/* Writes the report to standard output. Returns the exit status. */
int ck_attack_report(const struct ck_attack_jail jails[CK_ATTACK_JAILS], bool json);

#endif
