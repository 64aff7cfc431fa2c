/*
 * sarif.c - see sarif.h.
 *
 * A path is a URI relative to the top of the tree. Bytes that a URI cannot contain are written as
 * %XX, so any file name works. That columns count characters must be declared, because the default
 * is UTF-16.
 */
#include "front/sarif.h"

#include "front/jansson.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#define BASE "SRCROOT" /* the name that results use for the top of the tree */

/* Returns object, or NULL if one of its members could not be made. */
static json_t *whole(json_t *object, int bad)
{
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

json_t *ck_sarif_text(const char *text)
{
    json_t *object = json_object();
    return whole(object, json_object_set_new(object, "text", ck_jansson_text(text)));
}

/* suffix is "/" for a directory. */
static json_t *uri(const char *prefix, const char *path, const char *suffix)
{
    /* The unreserved characters of RFC 3986, and the slash that separates the names of a path. */
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    static const char hex[] = "0123456789ABCDEF";
    /* Three bytes for each byte, if all are escaped. */
    char *text = malloc(strlen(prefix) + 3 * strlen(path) + strlen(suffix) + 1);
    if (!text)
        return NULL;

    size_t used = strlen(prefix);
    memcpy(text, prefix, used);
    for (; *path != '\0'; path++) {
        /* *path is not NUL here, which strchr would also find. */
        if (strchr(bare, *path)) {
            text[used++] = *path;
            continue;
        }
        text[used++] = '%';
        text[used++] = hex[(unsigned char)*path >> 4];
        text[used++] = hex[(unsigned char)*path & 15];
    }
    memcpy(text + used, suffix, strlen(suffix) + 1);
    json_t *string = json_string(text);
    free(text);
    return string;
}

json_t *ck_sarif_location(const char *path, json_t *region)
{
    json_t *artifact = json_object();
    json_t *physical = json_object();
    json_t *object = json_object();
    int bad = json_object_set_new(artifact, "uri", uri("", path, ""));

    bad |= json_object_set_new(artifact, "uriBaseId", ck_jansson_text(BASE));
    bad |= json_object_set_new(physical, "artifactLocation", artifact);
    if (region)
        bad |= json_object_set_new(physical, "region", region);
    bad |= json_object_set_new(object, "physicalLocation", physical);
    return whole(object, bad);
}

/* The version in the name changes with the way in which fingerprints are made. */
json_t *ck_sarif_fingerprints(const char *fingerprint)
{
    json_t *object = json_object();
    return whole(object, json_object_set_new(object, "chokepoint/v1", ck_jansson_text(fingerprint)));
}

json_t *ck_sarif_baseline_state(bool known)
{
    return ck_jansson_text(known ? "unchanged" : "new");
}

static json_t *tool_object(const char *name, json_t *rules)
{
    json_t *driver = json_object();
    json_t *object = json_object();
    int bad = json_object_set_new(driver, "name", ck_jansson_text(name));

    bad |= json_object_set_new(driver, "version", ck_jansson_text(choke_version()));
    bad |= json_object_set_new(driver, "rules", rules);
    bad |= json_object_set_new(object, "driver", driver);
    return whole(object, bad);
}

/* The base URI must end in a slash: relative URIs are resolved against it. */
static json_t *bases_object(const char *top)
{
    json_t *base = json_object();
    json_t *object = json_object();
    bool slash = top[0] != '\0' && top[strlen(top) - 1] == '/';
    int bad = json_object_set_new(base, "uri", uri("file://", top, slash ? "" : "/"));

    bad |= json_object_set_new(object, BASE, base);
    return whole(object, bad);
}

json_t *ck_sarif_log(const char *driver, const char *top, json_t *rules, json_t *results)
{
    json_t *run = json_object();
    json_t *runs = json_array();
    json_t *object = json_object();
    int bad = json_object_set_new(run, "tool", tool_object(driver, rules));

    bad |= json_object_set_new(run, "columnKind", ck_jansson_text("unicodeCodePoints"));
    bad |= json_object_set_new(run, "originalUriBaseIds", bases_object(top));
    bad |= json_object_set_new(run, "results", results);
    bad |= json_array_append_new(runs, run);
    bad |= json_object_set_new(object, "$schema", ck_jansson_text(SCHEMA));
    bad |= json_object_set_new(object, "version", ck_jansson_text("2.1.0"));
    bad |= json_object_set_new(object, "runs", runs);
    return whole(object, bad);
}
