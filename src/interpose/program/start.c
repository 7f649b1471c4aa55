/* libpems_start.a, in every program: it makes the shared object that pemscc
   links an executable too (.interp and an entry point), which runs the
   runtime's pems_main instead of main, and tells the runtime where main is. */
#define _GNU_SOURCE
#include "context/image/program_abi.h"
#include "interpose/program/private.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef PEMS_INTERP
#if defined __x86_64__
#define PEMS_INTERP "/lib64/ld-linux-x86-64.so.2"
#elif defined __aarch64__
#define PEMS_INTERP "/lib/ld-linux-aarch64.so.1"
#endif
#endif

typedef int main_fn(int argc, char **argv, char **envp);

extern main_fn main;
extern main_fn pems_main __attribute__((visibility("default")));
extern void *__dso_handle __attribute__((visibility("hidden")));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

int __libc_start_main(main_fn *main, int argc, char **argv,
                      void (*init)(int, char **, char **), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
    __attribute__((visibility("default")));

void pems_start_c(uintptr_t *stack, void (*rtld_fini)(void))
    __attribute__((visibility("hidden"), noreturn, used));

static const char interpreter[] __attribute__((section(".interp"), used)) =
    PEMS_INTERP;

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* In assembly, because C has no word for the type of a section. */
__asm__(
    ".pushsection .note.pems, \"a\", %note\n"
    ".balign 4\n"
    ".long 1f - 0f, 3f - 2f, " TEXT(
        PEMS_NOTE_TYPE) "\n"
                        "0: .asciz \"" PEMS_NOTE_OWNER "\"\n"
                        "1: .balign 4\n"
                        "2: .long " TEXT(PEMS_PROGRAM_ABI) "\n"
                                                           "3: .popsection\n");

/* The kernel's or ld.so's jump, not a call: the stack holds argc, argv, envp;
   the register of a third (x86-64) or first (aarch64) argument ld.so's fini. */
#if defined __x86_64__
__asm__(".pushsection .text\n"
        ".globl pems_start\n"
        ".type pems_start, @function\n"
        "pems_start:\n"
        ".cfi_startproc\n"
        ".cfi_undefined rip\n"
        "  xor %ebp, %ebp\n"
        "  mov %rsp, %rdi\n"
        "  mov %rdx, %rsi\n"
        "  and $-16, %rsp\n"
        "  call pems_start_c\n"
        "  hlt\n"
        ".cfi_endproc\n"
        ".size pems_start, . - pems_start\n"
        ".popsection\n");
#elif defined __aarch64__
__asm__(".pushsection .text\n"
        ".globl pems_start\n"
        ".type pems_start, %function\n"
        "pems_start:\n"
        ".cfi_startproc\n"
        ".cfi_undefined x30\n"
        "  mov x29, #0\n"
        "  mov x30, #0\n"
        "  mov x1, x0\n"
        "  mov x0, sp\n"
        "  bl pems_start_c\n"
        "  brk #1000\n"
        ".cfi_endproc\n"
        ".size pems_start, . - pems_start\n"
        ".popsection\n");
#else
#error "pems programs start on x86-64 and aarch64 only"
#endif

static void nothing(void) {
}

/* Passed as the program's init function, in place of its constructors: the
   first copy of a program only carries the runtime. ld.so would still run its
   destructors at exit, on objects that were never constructed: take them from
   its sight. */
static void retire(int argc, char **argv, char **envp) {
  (void)argc;
  (void)argv;
  (void)envp;
  ElfW(Dyn) *end = _DYNAMIC;
  while (end->d_tag != DT_NULL) {
    end++;
  }
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t low = (uintptr_t)_DYNAMIC & -page;
  const size_t len = (uintptr_t)end - low;
  if (mprotect((void *)low, len, PROT_READ | PROT_WRITE) != 0) {
    return;
  }
  for (ElfW(Dyn) *d = _DYNAMIC; d != end; d++) {
    if (d->d_tag == DT_FINI_ARRAYSZ) {
      d->d_un.d_val = 0;
    } else if (d->d_tag == DT_FINI) {
      d->d_un.d_ptr = (uintptr_t)nothing - (uintptr_t)__ehdr_start;
    }
  }
  mprotect((void *)low, len, PROT_READ);
}

/* An init function that is not NULL keeps glibc from running the constructors
   of the main object itself. */
/* A debugger finds the list of loaded objects through the program's DT_DEBUG,
   which linkers give to executables only, else through a symbol of this name
   in the program. A copy of ld.so's serves: its head never changes. */
static struct r_debug debugger_list __asm__("_r_debug") __attribute__((used));

static void show_debugger(void) {
  const struct r_debug *list = dlsym(RTLD_DEFAULT, "_r_debug");
  if (list) {
    debugger_list = *list;
  }
}

void pems_start_c(uintptr_t *stack, void (*rtld_fini)(void)) {
  show_debugger();
  __libc_start_main(pems_main, (int)stack[0], (char **)(stack + 1), retire,
                    NULL, rtld_fini, stack);
  __builtin_trap();
}

/* One function of each source: what libraries use of them is not known, for
   they may be opened at run time. */
static const void *const replaced[] __attribute__((used)) = {
    (void *)getenv,  (void *)execv,     (void *)random, (void *)drand48,
    (void *)strtok,  (void *)localtime, (void *)getopt, (void *)hsearch,
    (void *)setvbuf, (void *)&stdout,
};

static void begin(char **envp) {
  if (pems_private_environment_begin) {
    pems_private_environment_begin(envp);
  }
  if (pems_private_stdout_begin) {
    pems_private_stdout_begin();
  }
}

static void flush(void) {
  if (pems_private_stdout_flush) {
    pems_private_stdout_flush();
  }
}

static struct pems_image_state state;

extern const struct pems_image pems_image;
const struct pems_image pems_image __attribute__((visibility("default"))) = {
    .magic = PEMS_IMAGE_MAGIC,
    .abi = PEMS_PROGRAM_ABI,
    .size = sizeof(struct pems_image),
    .main = main,
    .dso_handle = &__dso_handle,
    .state = &state,
    .begin = begin,
    .flush = flush,
    .interpreter = interpreter,
};
