//: plain
#include <stdlib.h>
int main(void) {
    return system("ls");  //> c-shell@12
}
//: as a statement
void f(void) { system("ls"); }  //> c-shell
//: in parentheses, which a macro of the name would not catch
int f(void) { return (system)("ls"); }  //> c-shell
//: with an address taken and followed
int f(void) { return (*&system)("ls"); }  //> c-shell
//: popen
#include <stdio.h>
FILE *f(void) { return popen("ls", "r"); }  //> c-shell
//: popen in a condition
void f(void) {
    FILE *p;
    if (!(p = popen("ls", "r")))  //> c-shell
        return;
}
//: wordexp runs command substitutions
int f(wordexp_t *w, const char *s) { return wordexp(s, w, 0); }  //> c-shell
//: through a pointer at the time of declaration
int f(void) {
    int (*run)(const char *) = system;
    return run("ls");  //> c-shell
}
//: through a pointer that is assigned
int (*run)(const char *);
void set(void) { run = system; }
int f(void) { return run("ls"); }  //> c-shell
//: through a pointer with an address taken
int f(void) {
    int (*run)(const char *) = &system;
    return (*run)("ls");  //> c-shell
}
//: through a static pointer of the file
static int (*const run)(const char *) = system;
int f(void) { return run("ls"); }  //> c-shell
//: through a pointer of a pointer's name
int f(void) {
    int (*a)(const char *) = system;
    int (*b)(const char *) = a;
    return b("ls");  //> c-shell
}
//: through a typedef'd pointer
typedef int (*runner)(const char *);
int f(void) {
    runner r = system;
    return r("ls");  //> c-shell
}
//: through typeof
int f(void) {
    __typeof__(system) *r = system;
    return r("ls");  //> c-shell
}
//: through auto type
int f(void) {
    __auto_type r = system;
    return r("ls");  //> c-shell
}
//: with a cast
int f(void) {
    void *p = (void *)system;
    return ((int (*)(const char *))p)("ls");  //> c-shell
}
//: one of two by a condition
int f(int x) {
    int (*r)(const char *) = x ? system : puts;
    return r("ls");  //> c-shell
}
//: chosen where it is called
int f(int x) { return (x ? system : puts)("ls"); }  //> c-shell
//: through a comma
int f(void) { return (0, system)("ls"); }  //> c-shell
//: macro that is another name
#define RUN system
int f(void) { return RUN("ls"); }  //> c-shell
//: macro of a macro
#define RUN_A system
#define RUN_B RUN_A
int f(void) { return RUN_B("ls"); }  //> c-shell
//: macro in parentheses
#define RUN (system)
int f(void) { return RUN("ls"); }  //> c-shell
//: macro that calls it is found where it is written
#define RUN(x) system(x)  //> c-shell
int f(void) { return RUN("ls"); }
//: macro that calls it in the middle
#define RUN(x) do { if (x) system(x); } while (0)  //> c-shell
//: macro over several lines
#define RUN(x) \
    do { \
        system(x); \
    } while (0)
//>^^^ c-shell
//: macro without parameters that calls it
#define LIST() (void)popen("ls", "r")  //> c-shell
//: in an initializer of a table
static int (*const table[])(const char *) = { puts, system };  //> c-shell
//: in a designated initializer
struct ops { int (*run)(const char *); };
static const struct ops ops = { .run = system };  //> c-shell
//: in a compound literal
void f(void) { use(&(struct ops){ .run = &system }); }  //> c-shell
//: assigned to a member
void f(struct ops *o) { o->run = system; }  //> c-shell
//: assigned to an element
void f(int (**t)(const char *)) { t[0] = system; }  //> c-shell
//: handed over
void f(void) { each(names, system); }  //> c-shell
//: returned
runner f(void) { return system; }  //> c-shell
//: declared by hand without a header
extern int system(const char *);
int f(void) { return system("ls"); }  //> c-shell
//: declared inside the function
int f(void) {
    extern int system(const char *command);
    return system("ls");  //> c-shell
}
//: with the prefix of the C library
int f(void) { return __libc_system("ls"); }  //> c-shell
//: looked up by name
void *f(void) { return dlsym(RTLD_DEFAULT, "system"); }  //> c-dlsym
//: in the branch of a conditional
#ifdef HAVE_SYSTEM
int f(void) { return system("ls"); }  //> c-shell
#else
int f(void) { return -1; }
#endif
//: in the else branch
int f(void) {
#if A
    return 0;
#elif B
    return system("a");  //> c-shell
#else
    return system("b");  //> c-shell
#endif
}
//: as an argument of another call
void f(void) { check(system("ls")); }  //> c-shell
//: in a loop's head
void f(void) { for (int i = system("a"); i < 2; i++) {} }  //> c-shell
//: in a statement expression
int f(void) { return ({ int r = system("a"); r; }); }  //> c-shell
//: two on a line
void f(void) { system("a"); system("b"); }  //> c-shell c-shell
//: pointers that are given each other
int (*a)(const char *), (*b)(const char *);
void set(void) { a = b; b = a; b = system; }
int f(void) { return a("x"); }  //> c-shell
int g(void) { return b("y"); }  //> c-shell
//: macros that are each other
#define A B
#define B A
int f(void) { return A("x"); }
int g(void) { return system("y"); }  //> c-shell
//: in a compound condition with a comment between
int f(void) { return /* here */ system /* there */ ("x"); }  //> c-shell
//: after text that is not ASCII
int f(void) { puts("äöü"); return system("ä"); }  //> c-shell@35
