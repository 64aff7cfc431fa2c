/*
 * fuzz_ready.c - any bytes as a lock file, as a cache, as a list of plug-ins and as the loader's cache: accepted, or
 * refused with a clean message. Accepted text is written as text that is accepted again, without a
 * difference.
 */
#include "promise.h"

#include "jail/plugins_cache.h"
#include "ready/cache.h"
#include "ready/lockfile.h"
#include "ready/release.h"
#include "sys/loader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool printable(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return false;
    return true;
}

static void try_lock(const char *text, size_t length)
{
    struct choke_error error = {0};
    struct ck_lockfile lock, again;
    struct ck_arena arena = {0};
    struct choke_drift *drifts;
    size_t count;
    if (ck_lockfile_parse(text, length, &lock, &error) < 0) {
        require(error.outcome == CHOKE_INVALID && error.message[0] != '\0' && printable(error.message));
        ck_lockfile_done(&lock);
        return;
    }
    char *written = ck_lockfile_format(&lock);
    require(written);
    require(ck_lockfile_parse(written, strlen(written), &again, &error) == 0);
    require(ck_lockfile_compare(&lock, &again, &arena, &drifts, &count) == 0 && count == 0);
    free(written);
    ck_lockfile_done(&lock);
    ck_lockfile_done(&again);
    ck_arena_done(&arena);
}

static void try_cache(const char *text, size_t length)
{
    struct ck_cache cache, again;
    const struct ck_cache_policy none = {.sha256 = "0000000000000000000000000000000000000000000000000000000000000000"};
    if (ck_cache_parse(text, length, &cache) < 0)
        require(cache.count == 0);
    char *written = ck_cache_format(&cache, &none);
    require(written);
    require(ck_cache_parse(written, strlen(written), &again) == 0 && again.count >= 1);
    free(written);
    ck_cache_done(&cache);
    ck_cache_done(&again);
}

/* What the library reads has a NUL at its end, and none before. */
static void try_plugins(const char *bytes, size_t length)
{
    struct ck_arena arena = {0};
    struct ck_plugins_list list, again;
    const char *text = ck_arena_memdup(&arena, bytes, length);
    require(text && ck_plugins_list_init(&list, &arena) == 0 && ck_plugins_list_init(&again, &arena) == 0);
    if (ck_plugins_cache_parse(text, "/usr/bin/perl", &arena, &list) == 0) {
        char *written = ck_plugins_cache_format(&list, "/usr/bin/perl");
        require(written || strlen(text) > CK_PLUGINS_CACHE_MAX_BYTES / 2);
        require(!written || ck_plugins_cache_parse(written, "/usr/bin/perl", &arena, &again) == 0);
        require(!written ||
                (list.files_count == again.files_count && list.directories_count == again.directories_count));
        free(written);
    }
    ck_arena_done(&arena);
}

static void try_loader(const char *text, size_t length)
{
    size_t at = 0;
    for (const char *path; (path = ck_loader_cached(text, length, "libc.so.6", &at));)
        require(strlen(path) < length);
}

static void try_release(const char *text, size_t length)
{
    char release[CK_RELEASE_MAX];
    if (ck_release_find(text, length, release))
        require(release[0] != '\0' && strlen(release) < sizeof(release) && printable(release));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    try_lock(text, size);
    try_cache(text, size);
    try_plugins(text, size);
    try_loader(text, size);
    try_release(text, size);
    return 0;
}
