/* The same addresses in each run of a program: what ld.so loads, stacks, and
   the numbers by which the C library checks frames and disguises addresses. */
#ifndef PEMS_OS_FIXED_H
#define PEMS_OS_FIXED_H

#include <stdbool.h>
#include <stdint.h>

/* Can it be had on this kind of machine? */
bool fixed_possible(void);
/* Does this process have it? */
bool fixed_is(void);
/* Runs this program anew, where it has it. Where ld.so loads things depends on
   the limit of the stack, too: `stack_limit` bytes, or 0: as it is. Returns an
   errno value if that cannot be. */
int fixed_again(char **argv, char **envp, uint64_t stack_limit);
/* Runs this program anew, as it is otherwise: for another environment. Returns
   an errno value. */
int fixed_once_more(char **argv, char **envp);
/* The limit of the stack. */
uint64_t fixed_stack_limit(void);

/* The C library's two numbers, which are other ones in each process: threads
   get them from the thread that starts them. Who sets them never returns from a
   function that it was called by. */
struct fixed_guards {
  uint64_t stack, pointer;
};
struct fixed_guards fixed_guards(void);
void fixed_set_guards(struct fixed_guards to);

#endif
