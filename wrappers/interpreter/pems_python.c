/* The program that pemsrun runs for Python: a rank opens the interpreter's own
   libpython, of which it gets a copy, and is Python from then on. Arguments:
   the library, then what Python is to be called with. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int python_main(int argc, char **argv);

/* Of libpems: which interpreter MPI_Comm_spawn may name. */
void pems_api_interpreter(const char *file, const char *library);

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
  if (library) {
    void *address = dlsym(library, "Py_BytesMain");
    memcpy(&run, &address, sizeof(run));
  }
  if (!run) {
    fprintf(stderr, "pems: cannot open libpython: %s: install it again\n",
            dlerror());
    return 2;
  }
  return run(argc - 2, argv + 2);
}
