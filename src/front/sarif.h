/*
 * sarif.h - the parts of SARIF 2.1.0, the format of code scanning services, that lint and gather
 * write alike.
 *
 * Constructors return NULL when out of memory, and take the values they are given also then.
 */
#ifndef CK_FRONT_SARIF_H
#define CK_FRONT_SARIF_H

#include <jansson.h>
#include <stdbool.h>

/* SARIF wraps every message in an object with the member "text". */
json_t *ck_sarif_text(const char *text);

/*
 * path is relative to the top of the tree and may be any bytes. region may be NULL: the whole file.
 */
json_t *ck_sarif_location(const char *path, json_t *region);

/* "partialFingerprints" of a result: a service recognises it by them when its line has moved. */
json_t *ck_sarif_fingerprints(const char *fingerprint);

/* "new" or "unchanged" as "baselineState". */
json_t *ck_sarif_baseline_state(bool known);

/*
 * The whole. Columns of the results count characters. top is the absolute path of the tree.
 */
json_t *ck_sarif_log(const char *driver, const char *top, json_t *rules, json_t *results);

#endif
