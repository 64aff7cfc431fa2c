/*
 * readiness.h - the tools of a context on this machine: what doctor reports and lock writes.
 *
 * Each tool is planned as a run of its version_args, by the same judge and the same plan as any
 * other run. The file that the plan opened is the one that is hashed and executed. The judge gets a
 * special policy: that of the context, but every entry allows its version_args and nothing else. So
 * even the helper of a jail can be run for its version here, and nowhere else.
 */
#ifndef CK_API_READINESS_H
#define CK_API_READINESS_H

#include "api/context.h"
#include "ready/cache.h"
#include "ready/release.h"
#include "sys/depend.h"

#define CK_READINESS_READY "ready"
#define CK_READINESS_MISSING "missing"
#define CK_READINESS_REFUSED "refused"
#define CK_READINESS_FAILED "failed"
#define CK_READINESS_IN_ROOT "in_root" /* path: ./REL; only a run has a root */

/* All text belongs to the readiness. */
struct ck_readiness_tool {
    const struct ck_tool *tool; /* of the context's policy */
    const char *install;        /* how to install it; NULL: the entry does not say */
    const char *state;          /* one of the four above */
    const char *path;           /* NULL: not found */
    const char *version;        /* NULL: not asked, or no answer */
    const char *sha256;         /* NULL: it may not be read */
    const char *problem;        /* NULL: none */
    bool cached;                /* version and sha256 are from the cache, and point into it */
    /* the tool and its interpreters; none: do not cache */
    struct ck_version files[CK_CACHE_FILES_MAX];
    size_t files_count;
    const struct ck_part *parts; /* NULL for a tool that was not opened */
    size_t parts_count;
    struct choke_job *job; /* while it runs */
    struct ck_readiness_tool *next_running;
};

struct ck_readiness {
    struct choke_context *context; /* runs the tools */
    const struct ck_cache *cache;  /* NULL: none */
    bool want_parts;               /* list and hash all that runs with a tool */
    const char *const *only;       /* NULL-terminated names of tools; NULL: all */
    bool (*stop)(void *data);      /* NULL: never */
    void *stop_data;
    struct ck_arena arena;              /* of all text here, except cached text */
    struct ck_depend depend;            /* finds interpreters and libraries; owns the parts */
    struct ck_policy policy;            /* allows version_args only */
    char policy_sha256[CK_DIGEST_SIZE]; /* the key in the cache */
    /* in the order of the policy, without those of other platforms */
    struct ck_readiness_tool *tools;
    size_t count;
    struct ck_readiness_tool *running; /* by next_running */
    size_t running_count;              /* of that list */
};

/*
 * The members before arena are set, the rest is zero-filled. Call ck_readiness_done in any case.
 * -ECANCELED if stop returned true.
 */
int ck_readiness_check(struct ck_readiness *readiness, struct choke_error *error);
/* Is the tool among those that are checked? */
bool ck_readiness_wants(const struct ck_readiness *readiness, const char *name);
void ck_readiness_done(struct ck_readiness *readiness);

/* The digest of the context's policy, the key of the cache. */
void ck_readiness_policy_digest(const struct choke_context *context, char ret_hex[CK_DIGEST_SIZE]);

#endif
