/*
 * banned.h - calls that this project does not make. Every source file gets it on the command line
 * (-include), so a banned name is a compile error that says what to use.
 *
 * strcpy and similar functions write without a limit; atoi hides errors; system, popen, execvp and
 * execlp use a shell or the caller's PATH; mktemp has a race; alloca cannot report failure.
 */
#ifndef CK_BANNED_H
#define CK_BANNED_H

#ifndef __ASSEMBLER__
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Some of them are macros in a hardened build. */
#undef alloca
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat strncpy strncat stpcpy sprintf vsprintf gets strtok atoi atol atoll atof
#pragma GCC poison system popen execvp execlp execvpe mktemp tmpnam tempnam alloca putenv setenv
#endif

#endif
