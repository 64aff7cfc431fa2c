/*
 * fuzz_gather_dockerfile.c - any bytes as a Dockerfile: built only if nothing is fetched. Whatever stands before it, a line
 * that names an image which is not here is seen.
 */
#include "promise.h"

#include "gather/dockerfile.h"

#include <string.h>

#define LAST "\nFROM not.here.example/q9\n"

static bool is_here(void *data, const char *image)
{
    size_t length = strlen(image);
    (void)data;
    require(length > 0 && length < CK_DOCKERFILE_NAME_MAX && strcspn(image, " \t\n$'\"") == length);
    return image[0] == 'a';
}

static bool fetches_nothing(const char *text, size_t length)
{
    char words[CK_DOCKERFILE_NAME_MAX];
    bool nothing = ck_dockerfile_fetches_nothing(text, length, is_here, NULL, words);
    require(memchr(words, '\0', sizeof(words)) != NULL && nothing == (words[0] == '\0'));
    for (const char *at = words; *at != '\0'; at++)
        require(*at >= ' ' && *at < 0x7f);
    return nothing;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + sizeof(LAST));

    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    (void)fetches_nothing(text, size);
    memcpy(text + size, LAST, sizeof(LAST));
    require(!fetches_nothing(text, size + sizeof(LAST) - 1));
    free(text);
    return 0;
}
