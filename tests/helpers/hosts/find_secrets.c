/*
 * find_secrets.c - which arguments look like a credential, as the judge sees them.
 *
 * A vector is a row of arguments with a US (0x1f) between them and an RS (0x1e) after the last one.
 * For each vector with a credential one line is printed: the number of the vector, the number of
 * the argument, and what it looks like.
 */
#include "policy/secret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 256

static void look(size_t vector, char *text)
{
    const char *argv_words[ARGS_MAX];
    size_t count = 0;
    for (char *at = text; at && count < ARGS_MAX;)
        argv_words[count++] = strsep(&at, "\x1f");
    for (size_t i = 0; i < count; i++) {
        const char *kind = ck_secret_kind_at(argv_words, i);
        if (kind) {
            (void)printf("%zu %zu %s\n", vector, i, kind);
            return;
        }
    }
}

int main(void)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    for (size_t vector = 0; (length = getdelim(&text, &size, '\x1e', stdin)) > 0; vector++) {
        text[length - 1] = '\0';
        look(vector, text);
    }
    free(text);
    return 0;
}
