/* Conditions that hold at a place of the code whatever the input is: an error
   of pems if not. Configured with --enable-debug, as CI's clang tree is, one
   that does not hold ends the process by SIGABRT, with one line that says where
   it stands and what the values are. Otherwise nothing is evaluated, and
   nothing is left in the program.

   Conditions have no side effects. Both are safe in a signal handler and with
   any lock held. */
#ifndef PEMS_BASE_INVARIANT_H
#define PEMS_BASE_INVARIANT_H

#ifdef PEMS_DEBUG

/* The condition `text` of file:line does not hold; of a comparison, its two
   sides. */
_Noreturn void invariant_fail(const char *file, int line, const char *text);
_Noreturn void invariant_fail_values(const char *file, int line,
                                     const char *text, unsigned long long a,
                                     unsigned long long b);

#define INVARIANT(x) ((x) ? (void)0 : invariant_fail(__FILE__, __LINE__, #x))

/* a, b: integers that are not negative; op: == != < <= > >=. */
#define INVARIANT_IS(a, op, b)                                                 \
  do {                                                                         \
    const unsigned long long a_ = (unsigned long long)(a);                     \
    const unsigned long long b_ = (unsigned long long)(b);                     \
    if (!(a_ op b_)) {                                                         \
      invariant_fail_values(__FILE__, __LINE__, #a " " #op " " #b, a_, b_);    \
    }                                                                          \
  } while (0)

#else

#define INVARIANT(x) ((void)sizeof((x) ? 1 : 0))
#define INVARIANT_IS(a, op, b) ((void)sizeof((a)op(b) ? 1 : 0))

#endif
#endif
