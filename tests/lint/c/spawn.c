//: posix_spawn
int f(pid_t *p, char **a, char **e) { return posix_spawn(p, "/bin/ls", NULL, NULL, a, e); }  //> c-spawn
//: posix_spawnp
int f(pid_t *p, char **a, char **e) { return posix_spawnp(p, "ls", NULL, NULL, a, e); }  //> c-spawn
//: pidfd_spawn
int f(int *p, char **a, char **e) { return pidfd_spawn(p, "/bin/ls", NULL, NULL, a, e); }  //> c-spawn
//: pidfd_spawnp
int f(int *p, char **a, char **e) { return pidfd_spawnp(p, "ls", NULL, NULL, a, e); }  //> c-spawn
//: in parentheses
int f(pid_t *p, char **a) { return (posix_spawn)(p, "/bin/ls", 0, 0, a, 0); }  //> c-spawn
//: pointer
int f(pid_t *p, char **a) {
    __auto_type go = posix_spawnp;
    return go(p, "ls", 0, 0, a, 0);  //> c-spawn
}
//: pointer with an address taken
int f(pid_t *p, char **a) {
    __typeof__(&posix_spawn) go = &posix_spawn;  //> c-spawn@35
    return (*go)(p, "/bin/ls", 0, 0, a, 0);
}
//: macro
#define GO posix_spawn
int f(pid_t *p, char **a) { return GO(p, "/bin/ls", 0, 0, a, 0); }  //> c-spawn
//: macro with a call
#define GO(p, a) posix_spawnp(p, (a)[0], 0, 0, a, environ)  //> c-spawn
//: member
void f(struct ops *o) { o->spawn = posix_spawn; }  //> c-spawn
//: handed over
void f(void) { hook(&posix_spawn, 0); }  //> c-spawn
//: over lines
int f(pid_t *p, char **a) {
    int r = posix_spawn(  //> c-spawn
        p, "/bin/ls",
        NULL, NULL, a, environ);
    return r;
}
//: looked up by name
void *f(void *h) { return dlsym(h, "posix_spawnp"); }  //> c-dlsym
//: attributes alone create nothing
int f(posix_spawnattr_t *a) { return posix_spawnattr_init(a); }
//: file actions alone create nothing
int f(posix_spawn_file_actions_t *a) { return posix_spawn_file_actions_addclose(a, 3); }
//: a process of glib
int f(char **a) { return g_spawn_sync(NULL, a, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL); }  //> c-spawn
//: a process of glib without waiting
int f(char **a) { return g_spawn_async(NULL, a, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL); }  //> c-spawn
//: glib splits a line into words
int f(const char *line) { return g_spawn_command_line_async(line, NULL); }  //> c-spawn
//: glib splits a line and waits
int f(const char *l) { return g_spawn_command_line_sync(l, NULL, NULL, NULL, NULL); }  //> c-spawn
//: glib with pipes, in brackets
int f(char **a) { return (g_spawn_async_with_pipes)(0, a, 0, 0, 0, 0, 0, 0, 0, 0, 0); }  //> c-spawn
//: glib with descriptors, by a pointer
int f(char **a) { int (*run)(); run = g_spawn_async_with_fds; return run(0, a); }  //> c-spawn
//: glib behind a macro
#define RUN(a) g_spawn_sync(NULL, a, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL)  //> c-spawn
int f(char **a) { return RUN(a); }
//: glib in a table
static const struct { int (*run)(); } table[] = {{g_spawn_command_line_sync}};  //> c-spawn
//: a subprocess object of gio
void f(void) { g_subprocess_new(0, NULL, "ls", NULL); }  //> c-spawn
//: a launcher of gio
void f(void *launcher) { g_subprocess_launcher_spawn(launcher, NULL, "ls", NULL); }  //> c-spawn
//: glib that only looks a program up
char *f(void) { return g_find_program_in_path("ls"); }
//: glib that only ends a process
void f(int pid) { g_spawn_close_pid(pid); }
