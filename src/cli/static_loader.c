/*
 * static_loader.c - in the static command, takes the place of the functions of libc that load a shared library.
 *
 * SQLite has references to them, for extensions, which this program never loads. A static program that calls libc's own
 * needs the very libc that it was built with, and loads code by a path of its caller (docs/adr/0135). The linker replaces
 * the names (--wrap), so a reference to dlopen in an archive is one to __wrap_dlopen.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *path, int mode);
void *__wrap_dlsym(void *handle, const char *name);
int __wrap_dlclose(void *handle);
char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *path, int mode)
{
    (void)path;
    (void)mode;
    return NULL;
}

void *__wrap_dlsym(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

int __wrap_dlclose(void *handle)
{
    (void)handle;
    return -1;
}

char *__wrap_dlerror(void)
{
    static char text[] = "a static program loads no library";
    return text;
}
