/*
 * stub_code.S - the code that stub.c puts at the entry of a copy of the ELF loader.
 *
 * The kernel starts a loader in two ways. For a dynamic program it maps the program too, and AT_BASE
 * is the address of the loader. If the loader itself is executed, AT_BASE is 0. The stub walks the
 * stack that the kernel has built: argc, argv, NULL, environment, NULL, auxiliary vector. If AT_BASE
 * is 0 or missing, it exits with 126. Else it jumps to the real entry with the stack unchanged. The
 * registers that it used are 0 again, as the kernel set them.
 *
 * The jump is the last instruction; stub.c writes its distance.
 */
#define AT_BASE 7
#define STATUS 126

    .section .rodata.ck_stub_code, "a"
    .globl ck_stub_code, ck_stub_code_end
    .hidden ck_stub_code, ck_stub_code_end
    .balign 16
ck_stub_code:

#if defined(__x86_64__)
#define EXIT_GROUP 231

    endbr64
    mov (%rsp), %rax
    lea 16(%rsp, %rax, 8), %rsi
.Lenvironment:
    mov (%rsi), %rax
    add $8, %rsi
    test %rax, %rax
    jnz .Lenvironment
.Lauxiliary:
    mov (%rsi), %rax
    mov 8(%rsi), %rcx
    add $16, %rsi
    test %rax, %rax
    jz .Lrefuse
    cmp $AT_BASE, %rax
    jne .Lauxiliary
    test %rcx, %rcx
    jnz .Lstart
.Lrefuse:
    mov $STATUS, %edi
    mov $EXIT_GROUP, %eax
    syscall
    jmp .Lrefuse
.Lstart:
    xor %eax, %eax
    xor %ecx, %ecx
    xor %esi, %esi
    .byte 0xe9
    .long 0

#elif defined(__aarch64__)
#define EXIT_GROUP 94

    hint #34 /* bti c */
    ldr x9, [sp]
    add x10, sp, #16
    add x10, x10, x9, lsl #3
.Lenvironment:
    ldr x9, [x10], #8
    cbnz x9, .Lenvironment
.Lauxiliary:
    ldp x9, x11, [x10], #16
    cbz x9, .Lrefuse
    cmp x9, #AT_BASE
    b.ne .Lauxiliary
    cbnz x11, .Lstart
.Lrefuse:
    mov x0, #STATUS
    mov x8, #EXIT_GROUP
    svc #0
    b .Lrefuse
.Lstart:
    mov x9, #0
    mov x10, #0
    mov x11, #0
    .inst 0x14000000

#endif
ck_stub_code_end:

    .section .note.GNU-stack, "", %progbits
