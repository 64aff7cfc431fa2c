/* submission.c - see submission.h. */
#include "fleet/submission.h"

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MAX ((size_t)64 << 20)
#define FORMAT 1

static void file_name(char dst[32], unsigned number)
{
    (void)snprintf(dst, 32, "%u.json", number);
}

size_t ck_submission_count(const struct ck_submission *submission)
{
    return json_array_size(json_object_get(submission->value, "names"));
}

const char *ck_submission_name(const struct ck_submission *submission, size_t place)
{
    const char *name = json_string_value(json_array_get(json_object_get(submission->value, "names"), place));
    return name && ck_fleet_name_is_valid(name) ? name : NULL;
}

bool ck_submission_is_gone(const struct ck_submission *submission, const char *holder)
{
    const json_t *gone = json_object_get(submission->value, "gone");

    for (size_t i = 0; i < json_array_size(gone); i++) {
        const char *text = json_string_value(json_array_get(gone, i));
        if (text && strcmp(text, holder) == 0)
            return true;
    }
    return false;
}

/* A link is made only where none is, so of two that submit each gets its own number. */
static int write_next(int slurm_fd, const char *text, unsigned *ret_number)
{
    char temporary[32], name[32];
    int r;

    (void)snprintf(temporary, sizeof(temporary), ".submission-%d", (int)getpid());
    r = ck_atomic_file_write(slurm_fd, temporary, 0600, text, strlen(text));
    for (unsigned number = 1; r == 0 && number <= CK_SUBMISSION_MAX; number++) {
        file_name(name, number);
        if (linkat(slurm_fd, temporary, slurm_fd, name, 0) == 0) {
            *ret_number = number;
            break;
        }
        r = errno == EEXIST ? 0 : -errno;
    }
    (void)unlinkat(slurm_fd, temporary, 0);
    return r;
}

int ck_submission_make(int slurm_fd, size_t chunk, json_t *names, json_t *gone, struct ck_submission *ret_submission)
{
    json_t *value =
        json_pack("{s:i, s:I, s:O, s:O}", "format", FORMAT, "chunk", (json_int_t)chunk, "names", names, "gone", gone);
    CK_HEAP char *text = ck_heap_own(value ? json_dumps(value, JSON_COMPACT) : NULL);

    *ret_submission = (struct ck_submission){.chunk = chunk, .value = value};
    return text ? write_next(slurm_fd, text, &ret_submission->number) : -ENOMEM;
}

int ck_submission_read(int slurm_fd, unsigned number, struct ck_submission *ret_submission)
{
    CK_HEAP char *text = NULL;
    size_t length = 0;
    json_error_t fault;
    char name[32];

    *ret_submission = (struct ck_submission){.number = number};
    file_name(name, number);
    int r = ck_file_read(slurm_fd, name, O_NOFOLLOW, BYTES_MAX, &text, &length);
    if (r < 0)
        return r;
    ret_submission->value = ck_json_is_deep(text, length) ? NULL : json_loadb(text, length, 0, &fault);
    json_int_t chunk = json_integer_value(json_object_get(ret_submission->value, "chunk"));
    ret_submission->chunk = (size_t)chunk;
    return chunk > 0 && chunk <= CK_FLEET_LIST_MAX ? 0 : -EINVAL;
}

void ck_submission_done(struct ck_submission *submission)
{
    json_decref(submission->value);
    *submission = (struct ck_submission){0};
}
