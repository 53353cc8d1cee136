/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Execs itself as often as argv[1] says, a decimal number of fixed width that
 * is counted down in place; then exits with 0. No libc: what an exec of this
 * costs is the exec. Exit status 1: argv[1] is missing or no such number; 128 +
 * errno, at most 255: the exec failed.
 */
#if defined(__x86_64__)
#define EXECVE 59
#define EXIT_GROUP 231
__asm__(".globl _start\n"
        "_start:\n"
        "\tmovq %rsp, %rdi\n"
        "\tandq $-16, %rsp\n"
        "\tcall run\n");

static long
system_call(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
#define EXECVE 221
#define EXIT_GROUP 94
__asm__(".globl _start\n"
        "_start:\n"
        "\tmov x0, sp\n"
        "\tbl run\n");

static long
system_call(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;

    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2)
                     : "memory");
    return x0;
}
#elif defined(__riscv)
#define EXECVE 221
#define EXIT_GROUP 94
__asm__(".globl _start\n"
        "_start:\n"
        "\tmv a0, sp\n"
        "\tcall run\n");

static long
system_call(long number, long a, long b, long c)
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;

    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2)
                     : "memory");
    return a0;
}
#else
#error "say here how this machine makes a system call"
#endif

static _Noreturn void
leave(long status)
{
    for (;;)
        system_call(EXIT_GROUP, status, 0, 0);
}

/* One less, in place, ASCII. @return 0 when it was zero already, -1 when it
 * is no number. */
static int
count_down(char *text)
{
    char *last = text, *digit;
    int any = 0;

    for (; *last != '\0'; last++) {
        if (*last < '0' || *last > '9')
            return -1;
        any |= *last != '0';
    }
    if (!any)
        return last == text ? -1 : 0;
    for (digit = last - 1; *digit == '0'; digit--)
        *digit = '9';
    --*digit;
    return 1;
}

/* stack: argc, argv[0] ..., NULL, the environment (psABI). */
_Noreturn void run(long *stack);

_Noreturn void
run(long *stack)
{
    static const long none[] = {0};
    long failure;

    if (stack[0] < 2)
        leave(1);
    switch (count_down((char *)stack[2])) {
    case 0:
        leave(0);
    case -1:
        leave(1);
    default:
        break;
    }
    failure = -system_call(EXECVE, stack[1], (long)&stack[1], (long)none);
    leave(failure < 127 ? 128 + failure : 255);
}
