/* What is typed, for a command that reads standard input among much else. One
   that reads from the terminal itself waits there for a line once it has been
   in the background (Ctrl-Z), and does nothing else until one comes: mpirun
   does. */
#ifndef PEMS_WRAPPERS_TYPED_H
#define PEMS_WRAPPERS_TYPED_H

/* In a thread: what is typed on standard input while this process is in the
   foreground goes to the pipe `writer`, until the terminal is closed or nobody
   reads; then that is closed. Returns 0 or an errno value. */
int typed_start(int writer);

#endif
