/* A growing argv. */
#ifndef PEMS_WRAPPERS_ARGS_H
#define PEMS_WRAPPERS_ARGS_H

/* Starts as all zeros. The strings are not owned. */
struct args {
  char **at; /* NULL-terminated, once there is one */
  int n;
};

/* Append. If memory runs out, these and args_join end the process with one
   line. */
void args_add(struct args *a, const char *arg);
void args_add_all(struct args *a, const char *const *list);

/* The three texts in one; the caller frees it. */
char *args_join(const char *a, const char *b, const char *c);

#endif
