/*
 * standalone.c - drives a fuzz target without a fuzzer: every argument is a file, or a directory of
 * files, each given to it once.
 *
 * The corpus is run this way in every test run, with any compiler. The program prints the number of
 * inputs, and fails if it is 0: a missing corpus must not pass for one that was run.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MAX_BYTES ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static _Noreturn void fail(const char *what, const char *path)
{
    (void)fprintf(stderr, "cannot %s '%s': %s\n", what, path, strerror(errno));
    exit(2);
}

/* The bytes of the file in a block of exactly that size, so that a read beyond the end is seen. */
static uint8_t *read_input(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *whole = malloc(INPUT_MAX_BYTES);
    if (!file || !whole)
        fail("open", path);
    size_t size = fread(whole, 1, INPUT_MAX_BYTES, file);
    if (ferror(file))
        fail("read", path);
    (void)fclose(file);
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    if (!exact)
        fail("hold", path);
    memcpy(exact, whole, size);
    free(whole);
    *ret_size = size;
    return exact;
}

static size_t run_file(const char *path)
{
    size_t size;
    uint8_t *data = read_input(path, &size);
    (void)fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static size_t run_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        fail("open", path);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char file[4096];
        if (entry->d_name[0] == '.')
            continue;
        int length = snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof(file)) {
            errno = ENAMETOOLONG;
            fail("name a file of", path);
        }
        count += run_file(file);
    }
    (void)closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) != 0)
            fail("find", argv[i]);
        count += S_ISDIR(info.st_mode) ? run_directory(argv[i]) : run_file(argv[i]);
    }
    (void)printf("%zu inputs\n", count);
    return count > 0 ? 0 : 1;
}
