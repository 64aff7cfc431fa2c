//: fork
pid_t f(void) { return fork(); }  //> c-fork
//: vfork
pid_t f(void) { return vfork(); }  //> c-fork
//: clone
int f(void *s) { return clone(child, s, SIGCHLD, NULL); }  //> c-fork
//: clone3 by its own name
int f(struct clone_args *a) { return clone3(a, sizeof *a); }  //> c-fork
//: fork of the newer standard
pid_t f(void) { return _Fork(); }  //> c-fork
//: forkpty
pid_t f(int *m) { return forkpty(m, NULL, NULL, NULL); }  //> c-fork
//: daemon
int f(void) { return daemon(0, 0); }  //> c-fork
//: in a declaration
void f(void) { pid_t pid = fork(); }  //> c-fork
//: in a switch
void f(void) { switch (fork()) { case 0: _exit(0); } }  //> c-fork
//: in a comparison
void f(void) { if (fork() == 0) child(); }  //> c-fork
//: assigned in a condition
void f(pid_t p) { if ((p = fork()) < 0) fail(); }  //> c-fork
//: pointer
pid_t f(void) { pid_t (*split)(void) = fork; return split(); }  //> c-fork
//: pointer of the file
static pid_t (*split)(void) = vfork;
pid_t f(void) { return split(); }  //> c-fork
//: macro
#define SPLIT fork
pid_t f(void) { return SPLIT(); }  //> c-fork
//: macro with a call
#define SPLIT() fork()  //> c-fork
//: in parentheses
pid_t f(void) { return (fork)(); }  //> c-fork
//: prefixed
pid_t f(void) { return __fork(); }  //> c-fork
//: prefixed clone
int f(void *s) { return __clone(child, s, 0, 0); }  //> c-fork
//: handed over
void f(void) { install(fork); }  //> c-fork
//: looked up by name
pid_t f(void) { return ((pid_t (*)(void))dlsym(RTLD_NEXT, "fork"))(); }  //> c-dlsym
//: negated
void f(void) { if (!fork()) child(); }  //> c-fork
//: in a loop
void f(void) { while (1) fork(); }  //> c-fork
//: in a ternary
int f(int x) { return x ? fork() : vfork(); }  //> c-fork c-fork
//: by the name that the compiler has for it
int f(void) { return __builtin_fork(); }  //> c-fork
