/* libpems-mpi: the names MPI_X, of C and of Fortran, each of which goes on to
   PMPI_X in libpems. They are a library of their own so that the linker looks
   for them last: after the tools that the program is linked with, whose MPI_X
   counts then, and before the MPI library. A jump, not a call, for libpems wants
   to know who has called. */
#if defined __CET__
#include <cet.h>
#endif
#ifndef _CET_ENDBR
#define _CET_ENDBR
#endif

#if defined __x86_64__
#define GO_TO(target) _CET_ENDBR; jmp *target@GOTPCREL(%rip)
#elif defined __aarch64__
/* hint 34: bti c */
#define GO_TO(target)                                                          \
  hint 34; adrp x16, :got:target; ldr x16, [x16, :got_lo12:target]; br x16
#endif

#define NAME(name, target)                                                     \
  .balign 16; .globl name; .type name, %function; name: .cfi_startproc;        \
  GO_TO(target); .cfi_endproc; .size name, . - name

  .text
#include "mpi_abi/entry/names.list"

  .section .note.GNU-stack, "", %progbits
