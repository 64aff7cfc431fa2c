/*
 * tracer_code.c - code of an image that gets into the tracer: a library without libc. Its
 * constructor writes a false trace and ends the process.
 *
 * It needs libm.so.6, and so it can replace another library: an attacker puts the real one beside
 * it under that name.
 */
#include <sys/syscall.h>

#define TRACE_FD 3
#define FORGED \
    "=guard 7\n=filter 1\n7 execve(\"/.chokepoint/witness\", [\"w\"], 0x0 /* 0 vars */) = 0\n" \
    "7 execve(\"/forged\", [\"forged\"], 0x0 /* 0 vars */) = 0\n7 +++ exited with 0 +++\n"

static long call(long number, long first, long second, long third)
{
#if defined(__x86_64__)
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(number), "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
    return r;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = first, x1 __asm__("x1") = second,
                     x2 __asm__("x2") = third;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

/* The image's program has no descriptor of the trace, and is not disturbed. */
__attribute__((constructor)) static void forge(void)
{
    static const char text[] = FORGED;
    if (call(SYS_write, TRACE_FD, (long)text, sizeof(text) - 1) > 0)
        (void)call(SYS_exit_group, 0, 0, 0);
}
