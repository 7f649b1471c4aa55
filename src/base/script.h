/* The first line of a script: "#!/usr/bin/env python3". */
#ifndef PEMS_BASE_SCRIPT_H
#define PEMS_BASE_SCRIPT_H

#include <stdbool.h>

enum { SCRIPT_WORDS = 15, SCRIPT_LINE = 4096 };

/* The interpreter, as a path or a word to be found in $PATH, and what it is
   called with before the script's own name; NULL behind them. */
struct script {
  char *word[SCRIPT_WORDS + 1];
  char line[SCRIPT_LINE]; /* what they are parts of */
};

/* As the kernel reads it: one argument at most, whatever is in it. What follows
   "/usr/bin/env" is that program's; behind "env -S" words are split. False if
   the file cannot be read or is no such script. */
bool script_read(struct script *script, const char *path);

#endif
