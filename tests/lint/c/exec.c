//: execve
int f(char **a, char **e) { return execve("/bin/ls", a, e); }  //> c-exec@36
//: execv
int f(char **a) { return execv("/bin/ls", a); }  //> c-exec
//: execvp
int f(char **a) { return execvp("ls", a); }  //> c-exec
//: execvpe
int f(char **a, char **e) { return execvpe("ls", a, e); }  //> c-exec
//: execl
int f(void) { return execl("/bin/ls", "ls", (char *)NULL); }  //> c-exec
//: execlp
int f(void) { return execlp("ls", "ls", NULL); }  //> c-exec
//: execle
int f(char **e) { return execle("/bin/ls", "ls", NULL, e); }  //> c-exec
//: fexecve
int f(int fd, char **a, char **e) { return fexecve(fd, a, e); }  //> c-exec
//: execveat
int f(int fd, char **a, char **e) { return execveat(fd, "", a, e, 0); }  //> c-exec
//: pointer
int f(char **a) {
    int (*go)(const char *, char *const[]) = execvp;
    return go("ls", a);  //> c-exec
}
//: pointer that is assigned in one function and called in another
static int (*go)(const char *, char *const[]);
static void init(void) { go = &execv; }
int f(char **a) { return go("/bin/ls", a); }  //> c-exec
//: macro
#define EXEC execve
int f(char **a, char **e) { return EXEC("/bin/ls", a, e); }  //> c-exec
//: macro with arguments
#define EXEC(...) execve(__VA_ARGS__)  //> c-exec
//: member
struct ops { int (*exec)(const char *, char *const[]); };
struct ops o = { execv };  //> c-exec
//: in parentheses
int f(char **a) { return (execvp)("ls", a); }  //> c-exec
//: cast to void
void f(char **a) { (void)execvp("ls", a); }  //> c-exec
//: in a condition
void f(char **a) { if (execvp("ls", a) < 0) perror("ls"); }  //> c-exec
//: after a label
void f(char **a) { again: execvp("ls", a); goto again; }  //> c-exec
//: in a case
void f(int x, char **a) { switch (x) { case 1: execv("a", a); break; default: execv("b", a); } }  //> c-exec c-exec
//: looked up by name
void f(void *h) { int (*go)() = (int (*)())dlsym(h, "execve"); go(); }  //> c-dlsym
//: looked up with a version
void *f(void *h) { return dlvsym(h, "execve", "GLIBC_2.2.5"); }  //> c-dlsym
//: Windows names are not for this platform, exec of BSD is
int f(char **a) { return execvP("ls", "/bin", a); }  //> c-exec
//: by the name that the compiler has for it
int f(char **a) { return __builtin_execv("ls", a); }  //> c-exec
