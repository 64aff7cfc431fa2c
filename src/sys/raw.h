/*
 * raw.h - system calls without a C library.
 *
 * For code that must not use libc: in the keeper, which has none, and between a clone that shares
 * memory and exec. Nothing here touches errno or thread-local storage. On failure the result is the
 * negative errno of the kernel.
 */
#ifndef CK_SYS_RAW_H
#define CK_SYS_RAW_H

#include <asm/unistd.h>
#include <stdint.h>

#if defined(__x86_64__)

static inline long ck_raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long r;
    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return r;
}

#elif defined(__aarch64__)

static inline long ck_raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

#else
#error "chokepoint does not know the system calls of this machine; add them to raw.h"
#endif

/*
 * A file may define this before it includes raw.h, to see the result of each of its calls. The
 * macro must return that result.
 */
#ifndef CK_RAW_ANSWER
#define CK_RAW_ANSWER(result) (result)
#endif

#define CK_RAW6(name, a, b, c, d, e, f) \
    CK_RAW_ANSWER(ck_raw(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
#define CK_RAW5(name, a, b, c, d, e) CK_RAW6(name, a, b, c, d, e, 0)
#define CK_RAW4(name, a, b, c, d) CK_RAW5(name, a, b, c, d, 0)
#define CK_RAW3(name, a, b, c) CK_RAW5(name, a, b, c, 0, 0)
#define CK_RAW2(name, a, b) CK_RAW5(name, a, b, 0, 0, 0)
#define CK_RAW1(name, a) CK_RAW5(name, a, 0, 0, 0, 0)
#define CK_RAW0(name) CK_RAW5(name, 0, 0, 0, 0, 0)

#endif
