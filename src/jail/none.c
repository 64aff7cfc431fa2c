/* none.c - no jail: the tool can do what its user can do, with the one layer that every run has. */
#include "jail/jail.h"

static const char *const layers[] = {"no_new_privs", NULL};

const struct ck_jail ck_jail_none = {.name = "none", .layers = layers};
