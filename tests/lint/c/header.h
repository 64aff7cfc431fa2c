//: inline function of a header
static inline int run(const char *s) { return system(s); }  //> c-shell
//: macro of a header
#define RUN(s) system(s)  //> c-shell
//: declaration in a header
int system(const char *);
pid_t fork(void);
#define HAVE_FORK 1
//: guarded header for two languages
#ifdef __cplusplus
extern "C" {
#endif
static inline pid_t split(void) { return fork(); }  //> c-fork
#ifdef __cplusplus
}
#endif
