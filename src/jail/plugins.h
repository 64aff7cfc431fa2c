/*
 * plugins.h - the plug-ins of interpreters as code, file by file (R80, docs/adr/0061).
 *
 * For a jail in which the library directories of the system are not code (libraries.h). The plug-ins
 * that an interpreter has by its layout, and the libraries that these need, can be mapped. They are
 * not executed: Landlock allows that for listed files only.
 */
#ifndef CK_JAIL_PLUGINS_H
#define CK_JAIL_PLUGINS_H

#include "jail/native_program.h"
#include "jail/plugins_check.h"
#include "sys/depend.h"
#include "sys/trust.h"

#define CK_PLUGINS_INTERPRETERS_MAX 8

/* Zero-filled but for root and home. The rest is what a jail was made with. */
struct ck_plugins {
    struct ck_identity root; /* of the request: no cache in it is used */
    const char *home;        /* sys/cachedir.h; valid while the plug-ins are searched */
    struct ck_plugins_interpreter interpreters[CK_PLUGINS_INTERPRETERS_MAX];
    size_t interpreters_count;
    struct ck_arena arena;                /* has what follows */
    struct ck_plugins_stamp *directories; /* what was read to find the plug-ins */
    size_t count;
    uint64_t valid_until_ns; /* CLOCK_MONOTONIC; 0: as long as no directory changes */
};

/* Forgets everything but the root and the home. */
void ck_plugins_reset(struct ck_plugins *plugins);
void ck_plugins_done(struct ck_plugins *plugins);

/* Notes an interpreter, if the file is one. real has no symlink in it. plugins may be NULL. */
void ck_plugins_note(struct ck_plugins *plugins, const char *real);

/*
 * Adds the plug-ins of the interpreters that were noted; nothing if library directories are code.
 * plugins may be NULL. Returns 0, or a negative errno for a lack of memory or descriptors.
 */
int ck_plugins_add(struct ck_plugins *plugins, struct ck_native_builder *program, struct ck_depend *depend);

/* Whether a search would find the same: no directory has changed. */
bool ck_plugins_are_current(const struct ck_plugins *plugins);

#endif
