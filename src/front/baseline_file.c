/*
 * baseline_file.c - see baseline_file.h.
 *
 * A value of two bytes, as in "[[],[],...", becomes more than 100 bytes of memory: a file of 240 MB
 * took 11 GB. So values are counted before the parser makes them. The bounds are those of more than
 * 100,000 findings.
 */
#include "front/baseline_file.h"

#include "base/file.h"
#include "base/json.h"
#include "front/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)64 << 20)
#define VALUES_MAX ((size_t)2000000)

int ck_baseline_file_refuse(const char *path, const char *why, struct choke_error *error)
{
    return ck_text_error(error, CHOKE_INVALID, EINVAL, "cannot use baseline '%s': %s", CK_TEXT_SAFE(path), why);
}

static void explain(int negative_errno, char why[CK_TEXT_SAFE_MAX])
{
    if (negative_errno == -EFBIG)
        (void)snprintf(why, CK_TEXT_SAFE_MAX, "it has more than %zu MiB", BYTES_MAX >> 20);
    else
        (void)snprintf(why, CK_TEXT_SAFE_MAX, "%s",
                       negative_errno == -EINVAL ? "it is not a regular file" : strerror(-negative_errno));
}

json_t *ck_baseline_file_load(const char *path, const char *remedy, struct choke_error *error)
{
    char why[CK_TEXT_SAFE_MAX] = "";
    size_t length = 0;
    char *text = NULL;
    json_t *document = NULL;
    int r = ck_file_read(AT_FDCWD, path, 0, BYTES_MAX, &text, &length);

    if (r < 0)
        explain(r, why);
    else if (ck_json_is_deep(text, length))
        (void)snprintf(why, sizeof(why), "it has more than %d levels; %s", CK_JSON_DEPTH_MAX, remedy);
    else if (ck_json_has_more_values(text, length, VALUES_MAX))
        (void)snprintf(why, sizeof(why), "it has more than %zu values; %s", VALUES_MAX, remedy);
    else
        document = json_loadb(text, length, 0, NULL); /* jansson's message is not used: it quotes the file */
    free(text);
    if (!document && why[0] == '\0')
        (void)snprintf(why, sizeof(why), "it is not JSON; %s", remedy);
    if (!document)
        (void)ck_baseline_file_refuse(path, why, error);
    return document;
}
