//: SYS_fork
long f(void) { return syscall(SYS_fork); }  //> c-syscall
//: __NR_fork
long f(void) { return syscall(__NR_fork); }  //> c-syscall
//: SYS_vfork
long f(void) { return syscall(SYS_vfork); }  //> c-syscall
//: SYS_clone
long f(void) { return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }  //> c-syscall
//: SYS_clone3
long f(void *a) { return syscall(SYS_clone3, a, 88); }  //> c-syscall
//: __NR_clone3 in a cast
int f(void *a) { return (int)syscall(__NR_clone3, a, 88); }  //> c-syscall
//: SYS_execve
long f(char **a) { return syscall(SYS_execve, "/bin/ls", a, 0); }  //> c-syscall
//: SYS_execveat
long f(int fd, char **a) { return syscall(SYS_execveat, fd, "", a, 0, 0); }  //> c-syscall
//: number through a constant of the file
static const long number = SYS_execve;
long f(char **a) { return syscall(number, "/bin/ls", a, 0); }  //> c-syscall
//: number through a macro
#define NUMBER __NR_execve
long f(char **a) { return syscall(NUMBER, "/bin/ls", a, 0); }  //> c-syscall
//: number in parentheses and with a cast
long f(char **a) { return syscall((long)(SYS_execve), "/bin/ls", a, 0); }  //> c-syscall
//: syscall through a pointer
long f(void) { long (*call)(long, ...) = syscall; return call(SYS_fork); }  //> c-syscall
//: syscall through a macro
#define CALL syscall
long f(void) { return CALL(SYS_fork); }  //> c-syscall
//: inside a macro
#define SPLIT() syscall(SYS_fork)  //> c-syscall
//: one of two numbers
long f(int x) { return syscall(x ? SYS_fork : SYS_getpid); }  //> c-syscall c-syscall-unknown
//: a number that nobody can tell
long f(long n) { return syscall(n); }  //> c-syscall-unknown
//: a plain number depends on the machine
long f(void) { return syscall(57); }  //> c-syscall-unknown
//: a number that is computed
long f(long n) { return syscall(SYS_getpid + n); }  //> c-syscall-unknown
//: a number from a table
long f(int i) { return syscall(table[i], 0); }  //> c-syscall-unknown
//: another call
long f(void) { return syscall(SYS_gettid); }
//: another call by the other prefix
long f(void) { return syscall(__NR_pidfd_open, 1, 0); }
//: another call through a constant
#define NUMBER SYS_openat2
long f(void) { return syscall(NUMBER, 1, 0); }
//: the number in a table of a filter is no call
static const int denied[] = { SYS_fork, SYS_execve, __NR_clone };
//: the number compared
int f(struct seccomp_data *d) { return d->nr == SYS_execve; }
//: the number handed to another function
void f(void *c) { seccomp_rule_add(c, 0, SCMP_SYS(execve), 0); }
//: the name handed to a macro that makes a number of it
long f(void *a) { return RAW2(clone3, a, 88); }  //> c-fork
//: the name handed to a macro of the file that makes a number of it
#define RAW(name, ...) raw(SYS_ ## name, __VA_ARGS__)
long f(char **a) { return RAW(execve, "/bin/ls", a, 0); }  //> c-exec
//: the number handed to a wrapper of another name
long f(void) { return raw_call(SYS_fork); }  //> c-syscall
//: the number handed to a wrapper with the other prefix
long f(char **a) { return raw3(__NR_execve, "/bin/ls", a, 0); }  //> c-syscall
//: the number in a filter, which comes second
void f(struct ctx *c) { filter_add(c, SYS_execve, 0); }
