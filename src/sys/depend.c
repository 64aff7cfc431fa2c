/*
 * depend.c - the interpreters, digests and shared objects of a tool.
 *
 * It walks over what each ELF file needs. loader.c looks up a single name.
 */
#include "sys/depend.h"

#include "base/errkind.h"
#include "base/fd.h"
#include "base/file.h"
#include "sys/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 256  /* BINPRM_BUF_SIZE: what the kernel reads of a script's first line */
#define SCRIPTS_MAX 5   /* scripts that interpret each other; the kernel allows five levels */
#define OBJECTS_MAX 512 /* per ELF file */

struct ck_depend_memo {
    struct ck_depend_memo *next;
    struct ck_version version;
    char sha256[CK_DIGEST_SIZE];
};

void ck_depend_done(struct ck_depend *depend)
{
    ck_arena_done(&depend->arena);
    *depend = (struct ck_depend){0};
}

int ck_depend_digest(struct ck_depend *depend, int fd, struct ck_version *ret_version, char ret_hex[CK_DIGEST_SIZE])
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    *ret_version = ck_version_of(&status);
    for (const struct ck_depend_memo *memo = depend->memo; memo; memo = memo->next) {
        if (!ck_version_equal(&memo->version, ret_version))
            continue;
        memcpy(ret_hex, memo->sha256, CK_DIGEST_SIZE);
        return 0;
    }
    int r = ck_digest_interruptible(fd, depend->stop, depend->stop_data, ret_hex);
    if (r < 0)
        return r;
    struct ck_depend_memo *memo = ck_arena_alloc(&depend->arena, sizeof(*memo));
    if (!memo)
        return -ENOMEM;
    *memo = (struct ck_depend_memo){.next = depend->memo, .version = *ret_version};
    memcpy(memo->sha256, ret_hex, CK_DIGEST_SIZE);
    depend->memo = memo;
    return 0;
}

int ck_depend_open(const char *path)
{
    int fd = ck_file_open(AT_FDCWD, path, 0, NULL);
    return fd == -EINVAL ? -ENOEXEC : fd;
}

static bool known(const struct ck_depend *depend, const char *path)
{
    for (size_t i = 0; i < depend->count; i++)
        if (depend->parts[i].path && strcmp(depend->parts[i].path, path) == 0)
            return true;
    return false;
}

/*
 * fd may be a negative errno: the part does not exist, or cannot be read. A shortage says nothing
 * about the part, so it is returned.
 */
static int add(struct ck_depend *depend, enum ck_part_role role, const char *name, const char *path, int fd)
{
    if (fd < 0 && ck_errkind_is_shortage(-fd))
        return fd;
    if (path && known(depend, path))
        return 0;
    if (depend->count == CK_PARTS_MAX)
        return -E2BIG;
    struct ck_part *part = &depend->parts[depend->count];
    *part = (struct ck_part){.role = role, .name = ck_arena_strdup(&depend->arena, name)};
    part->path = path ? ck_arena_strdup(&depend->arena, path) : NULL;
    if (!part->name || (path && !part->path))
        return -ENOMEM;
    depend->count++;
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0)
        part->version = ck_version_of(&status);
    int r = fd >= 0 && !depend->versions_only ? ck_depend_digest(depend, fd, &part->version, part->sha256) : 0;
    if (r < 0)
        part->sha256[0] = '\0';
    return r == -ENOMEM || r == -ECANCELED ? r : 0;
}

/* ---- scripts ---- */

bool ck_depend_shebang_split(char *line, const char **ret_interpreter, const char **ret_argument)
{
    if (line[0] != '#' || line[1] != '!')
        return false;
    line[strcspn(line, "\n")] = '\0';
    char *word = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(word, " \t");
    char *rest = word + length + strspn(word + length, " \t");
    word[length] = '\0';
    for (size_t end = strlen(rest); end > 0 && (rest[end - 1] == ' ' || rest[end - 1] == '\t'); end--)
        rest[end - 1] = '\0';
    *ret_interpreter = word;
    *ret_argument = rest;
    return length > 0;
}

const char *ck_depend_shebang_env_program(char *argument)
{
    char *save = NULL;
    for (char *word = strtok_r(argument, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
        const char *program = strncmp(word, "-S", 2) == 0 ? word + 2 : word; /* "-Snode" is "-S node" */
        if (program[0] != '\0' && program[0] != '-' && !strchr(program, '='))
            return program;
    }
    return NULL;
}

/*
 * The first directory of the search path that has it. Trust does not matter here, only which file
 * it is.
 */
static int find_program(const struct ck_depend *depend, const char *name, char path[PATH_MAX])
{
    for (size_t i = 0; i < depend->search_count; i++) {
        int length = snprintf(path, PATH_MAX, "%s/%s", depend->search[i], name);
        if (length > 0 && length < PATH_MAX && access(path, X_OK) == 0)
            return ck_depend_open(path);
    }
    return -ENOENT;
}

static bool is_env(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, "env") == 0;
}

static int add_script(struct ck_depend *depend, int fd, unsigned depth)
{
    char line[LINE_BYTES + 1] = {0};
    char found[PATH_MAX];
    const char *interpreter, *argument;
    if (pread(fd, line, LINE_BYTES, 0) < 0 || !ck_depend_shebang_split(line, &interpreter, &argument))
        return 0; /* what cannot be read cannot be run as a script */
    if (depth == SCRIPTS_MAX)
        return -ELOOP;
    CK_FD interpreter_fd = ck_depend_open(interpreter);
    int r = add(depend, CK_PART_INTERPRETER, interpreter, interpreter_fd >= 0 ? interpreter : NULL, interpreter_fd);
    if (r == 0 && interpreter_fd >= 0)
        r = add_script(depend, interpreter_fd, depth + 1);
    if (r < 0 || !is_env(interpreter))
        return r;
    size_t before = (size_t)(argument - line);
    const char *program = ck_depend_shebang_env_program(line + before);
    if (!program)
        return 0;
    bool plain = !!strchr(program, '/');
    CK_FD program_fd = plain ? ck_depend_open(program) : find_program(depend, program, found);
    const char *path = program_fd < 0 ? NULL : plain ? program : found;
    r = add(depend, CK_PART_INTERPRETER, program, path, program_fd);
    return r == 0 && program_fd >= 0 ? add_script(depend, program_fd, depth + 1) : r;
}

static int begin(struct ck_depend *depend)
{
    depend->count = 0;
    if (!depend->parts)
        depend->parts = ck_arena_array(&depend->arena, CK_PARTS_MAX, sizeof(*depend->parts));
    return !depend->parts ? -ENOMEM : 0;
}

int ck_depend_interpreters(struct ck_depend *depend, int fd)
{
    int r = begin(depend);
    return r < 0 ? r : add_script(depend, fd, 0);
}

/* ---- shared objects ---- */

struct depend_walk {
    struct ck_depend *depend;
    struct ck_object *objects; /* those that may need more objects */
    size_t count;
    const char **names; /* names already looked up: the loader maps a name once */
    size_t names_count;
};

static bool asked(struct depend_walk *walk, const char *name)
{
    for (size_t i = 0; i < walk->names_count; i++)
        if (strcmp(walk->names[i], name) == 0)
            return true;
    if (walk->names_count < CK_PARTS_MAX)
        walk->names[walk->names_count++] = name;
    return false;
}

static int add_object(struct depend_walk *walk, int fd, const char *path, const struct ck_object *parent)
{
    if (walk->count == OBJECTS_MAX)
        return -E2BIG;
    struct ck_object *object = &walk->objects[walk->count];
    const char *slash = strrchr(path, '/');
    *object = (struct ck_object){.parent = parent};
    object->origin = ck_arena_memdup(&walk->depend->arena, path, slash ? (size_t)(slash - path) : 0);
    int r = !object->origin ? -ENOMEM : ck_elf_read(fd, &walk->depend->arena, &object->elf);
    if (r == 0)
        walk->count++;
    return r;
}

/*
 * One place where a name may be. Accepted if it is an ELF file of the same class and machine, as
 * the loader does.
 */
static int take_candidate(void *data, const char *name, const char *path, const struct ck_object *requester)
{
    struct depend_walk *walk = data;
    CK_FD fd = ck_depend_open(path);
    if (fd < 0)
        return ck_errkind_is_shortage(-fd) ? fd : 0;
    int r = add_object(walk, fd, path, requester);
    if (ck_errkind_is_shortage(-r) || r == -E2BIG)
        return r;
    if (r < 0)
        return 0;
    const struct ck_elf *elf = &walk->objects[walk->count - 1].elf;
    if (elf->bits != requester->elf.bits || elf->machine != requester->elf.machine) {
        walk->count--;
        return 0;
    }
    r = add(walk->depend, CK_PART_LIBRARY, name, path, fd);
    return r < 0 ? r : 1;
}

static int take_needed(struct depend_walk *walk, const struct ck_object *object)
{
    const struct ck_loader_visit visit = {.candidate = take_candidate, .data = walk};
    for (size_t i = 0; i < object->elf.needed_count; i++) {
        const char *name = object->elf.needed[i];
        if (asked(walk, name))
            continue;
        int found = ck_loader_find(walk->depend, object, name, &visit);
        if (found == 0)
            found = add(walk->depend, CK_PART_LIBRARY, name, NULL, -ENOENT);
        if (found < 0)
            return found;
    }
    return 0;
}

/* The loader is mapped first, under its file name; libraries need it by that name. */
static int take_loader(struct depend_walk *walk, const char *interpreter)
{
    if (!interpreter || interpreter[0] == '\0')
        return 0;
    const char *slash = strrchr(interpreter, '/');
    (void)asked(walk, slash ? slash + 1 : interpreter);
    struct ck_depend *depend = walk->depend;
    CK_FD fd = ck_depend_open(interpreter);
    int r = add(depend, CK_PART_INTERPRETER, interpreter, fd >= 0 ? interpreter : NULL, fd);
    /* It may have been there before, for another program or as a script's interpreter. */
    for (size_t i = 0; r == 0 && i < depend->count; i++)
        if (depend->parts[i].path && strcmp(depend->parts[i].path, interpreter) == 0)
            depend->parts[i].loader = true;
    return r;
}

static int real_path(int fd, char ret_target[PATH_MAX])
{
    char place[64];
    (void)snprintf(place, sizeof(place), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(place, ret_target, PATH_MAX - 1);
    if (length < 0)
        return -errno;
    ret_target[length] = '\0';
    return 0;
}

static int take_elf(struct ck_depend *depend, int fd)
{
    char path[PATH_MAX];
    if (!depend->objects)
        depend->objects = ck_arena_array(&depend->arena, OBJECTS_MAX, sizeof(*depend->objects));
    if (!depend->names)
        depend->names = ck_arena_array(&depend->arena, CK_PARTS_MAX, sizeof(*depend->names));
    struct depend_walk walk = {.depend = depend, .objects = depend->objects, .names = depend->names};
    if (!walk.objects || !walk.names)
        return -ENOMEM;
    (void)snprintf(path, sizeof(path), "/");
    (void)real_path(fd, path); /* without /proc only $ORIGIN is lost */
    int r = add_object(&walk, fd, path, NULL);
    if (r < 0)
        return ck_errkind_is_shortage(-r) ? r : 0; /* a script, or a file without parts */
    r = take_loader(&walk, walk.objects[0].elf.interpreter);
    for (size_t i = 0; r == 0 && i < walk.count; i++)
        r = take_needed(&walk, &walk.objects[i]);
    return r;
}

int ck_depend_all(struct ck_depend *depend, int fd)
{
    int r = ck_depend_interpreters(depend, fd);
    if (r == 0)
        r = take_elf(depend, fd);
    /* The bound is fixed before the loop: take_elf appends parts to the list. */
    size_t scripts = depend->count;
    for (size_t i = 0; r == 0 && i < scripts; i++) {
        if (depend->parts[i].role != CK_PART_INTERPRETER || !depend->parts[i].path)
            continue;
        CK_FD interpreter_fd = ck_depend_open(depend->parts[i].path);
        if (interpreter_fd >= 0)
            r = take_elf(depend, interpreter_fd);
        else if (ck_errkind_is_shortage(-interpreter_fd))
            r = interpreter_fd;
    }
    return r;
}
