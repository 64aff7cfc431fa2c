/* prepare.c - the table of preparations; see prepare.h. */
#include "gather/prepare.h"

#include <string.h>

static const struct ck_preparation *const preparations[] = {&ck_preparation_grammars, &ck_preparation_trace};

const struct ck_preparation *ck_gather_find_preparation(const char *name)
{
    for (size_t i = 0; i < sizeof(preparations) / sizeof(preparations[0]); i++)
        if (strcmp(preparations[i]->name, name) == 0)
            return preparations[i];
    return NULL;
}
