/* A growing argv. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/message.h"
#include "wrappers/args.h"

void args_add(struct args *a, const char *arg) {
  char **const more = realloc(a->at, ((size_t)a->n + 2) * sizeof(*more));
  if (!more) {
    msg_fail(MSG_FAILED, "pemsrun: out of memory");
  }
  a->at = more;
  a->at[a->n++] = (char *)arg; /* execvp takes no const */
  a->at[a->n] = NULL;
}

void args_add_all(struct args *a, const char *const *list) {
  for (; *list; list++) {
    args_add(a, *list);
  }
}

char *args_join(const char *a, const char *b, const char *c) {
  char *text;
  if (asprintf(&text, "%s%s%s", a, b, c) < 0) {
    msg_fail(MSG_FAILED, "pemsrun: out of memory");
  }
  return text;
}
