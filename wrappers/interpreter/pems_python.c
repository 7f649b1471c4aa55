/* The program that pemsrun runs for Python: a rank opens the interpreter's own
   libpython, of which it gets a copy, and is Python from then on. The traceback
   of an exception that ends it tells the rank. Arguments: the library, then
   what Python is to be called with. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int python_main(int argc, char **argv);
typedef int hook_fn(const char *event, void *arguments, void *of_hook);
typedef int add_hook_fn(hook_fn *hook, void *of_hook);

/* Of libpems: which interpreter MPI_Comm_spawn may name. */
void pems_api_interpreter(const char *file, const char *library);
/* Each line that the rank writes to stderr begins with its rank from now on. */
void pems_api_tag_errors(void);

/* Python tells it before it prints an exception that nobody has caught. */
static int hear(const char *event, void *arguments, void *of_hook) {
  (void)arguments, (void)of_hook;
  if (strcmp(event, "sys.excepthook") == 0) {
    pems_api_tag_errors();
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "pems: pems-python: it is run by pemsrun: call pemsrun -n "
                    "8 python3 script.py\n");
    return 2;
  }
  pems_api_interpreter(argv[2], argv[1]);
  /* Extension modules find its names without naming it. */
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  python_main *run = NULL;
  add_hook_fn *add_hook = NULL;
  if (library) {
    void *const addresses[] = {dlsym(library, "PySys_AddAuditHook"),
                               dlsym(library, "Py_BytesMain")};
    memcpy(&add_hook, &addresses[0], sizeof(add_hook));
    memcpy(&run, &addresses[1], sizeof(run));
  }
  if (!run) {
    fprintf(stderr, "pems: cannot open libpython: %s: install it again\n",
            dlerror());
    return 2;
  }
  if (add_hook) { /* since 3.8 */
    (void)add_hook(hear, NULL);
  }
  return run(argc - 2, argv + 2);
}
