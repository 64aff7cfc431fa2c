//: in a string
const char *f(void) { return "system(\"ls\") and fork()"; }
//: in a line comment
// system("ls"); fork();
//: in a block comment
/* execve("/bin/ls");
 * fork(); */
//: a character constant and a macro's text in a string
#define TEXT "system(x)"
char c = 'f';
//: a longer name
void f(void) { filesystem("x"); my_system("y"); system_init(); fork_count(); }
//: member of a structure
void f(struct ops *o) { o->system("ls"); o->fork(); }
//: member of a structure by value
void f(struct ops o) { o.exec("ls"); o.execve("x"); }
//: declared as a member
struct ops { int (*system)(const char *); pid_t (*fork)(void); int clone; };
//: member set to something else
struct ops o = { .system = door_run, .fork = NULL };
//: variable of the name
int f(void) { int fork = 3; return fork + 1; }
//: parameter of the name
int f(int (*system)(const char *)) { return system("ls"); }
//: parameter that is a plain value
int f(int clone) { return clone ? 1 : 0; }
//: local pointer of the name to another function
int f(void) { int (*system)(const char *) = puts; return system("ls"); }
//: own function of the name
static int clone(const struct thing *from) { return from->x; }
int f(struct thing *t) { return clone(t); }
//: own function declared ahead
static pid_t fork(void);
int f(void) { return fork() > 0; }
static pid_t fork(void) { return 1; }
//: own function defined below and without static
int f(void) { return popen("x", "r") != 0; }
FILE *popen(const char *name, const char *mode) { return fopen(name, mode); }
//: name redefined to the door
#define system door_system
int f(void) { return system("ls"); }
//: macro that takes the name as parameter
#define CALL(system) system(1)
//: macro that uses a member of the name
#define CALL(o) ((o)->system(1))
//: macro that uses a member by a dot
#define CALL(o) (o).fork()
//: macro with the name in a string
#define CALL(x) log("system(%s)", x)
//: macro that makes a string of its argument
#define NAME(system) #system
//: macro that joins names
#define OP(x) op_ ## x
//: declaration alone
int system(const char *command);
pid_t fork(void);
//: type of the name
typedef struct clone clone_t;
struct clone { int x; };
//: enumerator of the name
enum { fork_ok, exec_ok };
enum kind { FORK, EXEC };
//: label of the name
void f(void) { fork: goto fork; }
//: sizeof and typeof of the function alone
unsigned long f(void) { return sizeof(&system); }
//: compared with nothing
int f(void) { return system == NULL; }
//: pointer to another function
int (*run)(const char *) = puts;
int f(void) { return run("x"); }
//: local of an inner block
int f(void) {
    {
        int (*system)(const char *) = puts;
        system("a");
    }
    return system("b");  //> c-shell
}
//: variable of a loop
void f(void) { for (int fork = 0; fork < 3; fork++) use(fork); }
//: lookup of another name
void *f(void *h) { return dlsym(h, "door_run"); }
//: lookup of a name that is not known
void *f(void *h, const char *n) { return dlsym(h, n); }
//: include
#include "system.h"
#include <sys/wait.h>
//: error directive and pragma
#ifndef HAVE_FORK
#error fork() is needed
#endif
#pragma system("x")
//: attribute
__attribute__((section("fork"))) int x;
//: field of the name, designated deep
struct a x = { .ops.fork = 1, .ops.list[0].exec = 2 };
//: string handed to the door
int f(void) { return door_run((const char *[]){ "git", "status", NULL }); }
//: waiting for a process is none
int f(pid_t p) { int s; return waitpid(p, &s, 0); }
//: kill is none
int f(pid_t p) { return kill(p, 9); }
//: old-style definition with the name as parameter
int f(fork) int (*fork)(); { return fork(); }
//: macro that undefines the name
#define system door_system
#undef system
int f(void) { return system("ls"); }  //> c-shell
//: offset of a member of the name
unsigned long f(void) { return offsetof(struct ops, system); }
//: own macro with parameters of the name
#define system(x) door_system(x)
int f(void) { return system("ls"); }
//: macro whose line comment names it
#define RUN door_run  // instead of system()
int f(void) { return RUN("ls"); }
