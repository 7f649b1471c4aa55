/* Python programs: which interpreter it is, and where its libpython. */
#include "wrappers/interpreter/python.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/failure.h"
#include "wrappers/interpreter/interpreter.h"

/* Two lines: the interpreter, and its library or nothing. */
static const char question[] =
    "import os, sys, sysconfig\n"
    "v = sysconfig.get_config_var\n"
    "name = v('INSTSONAME') or v('LDLIBRARY') or ''\n"
    "dirs = [v('LIBDIR') or '', v('LIBPL') or '',\n"
    "        os.path.join(v('LIBDIR') or '', v('MULTIARCH') or '')]\n"
    "found = [os.path.join(d, name) for d in dirs if '.so' in name]\n"
    "found = [f for f in found if os.path.exists(f)]\n"
    "print(sys.executable)\n"
    "print(found[0] if found else '')\n";

bool python_is_interpreter(const char *path) {
  static const char name[] = "python";
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  if (strncmp(base, name, sizeof(name) - 1) != 0) {
    return false;
  }
  base += sizeof(name) - 1;
  return base[strspn(base, "0123456789.")] == '\0';
}

static int take_answer(struct python *python, const char *path, char *answer,
                       struct pems_error *error) {
  char *library = strchr(answer, '\n');
  char *end = library ? strchr(library + 1, '\n') : NULL;
  if (!end) {
    return failure(error, EINVAL,
                   "cannot run Python: %s: it does not tell where its library "
                   "is: check that %s -c 'import sysconfig' works",
                   path, path);
  }
  *library++ = *end = '\0';
  if (!*library) {
    return failure(error, ENOENT,
                   "no shared libpython: %s: install libpython3-dev, or build "
                   "Python with --enable-shared",
                   path);
  }
  snprintf(python->executable, sizeof(python->executable), "%s", answer);
  snprintf(python->library, sizeof(python->library), "%s", library);
  return 0;
}

int python_find(struct python *python, const char *path,
                struct pems_error *error) {
  char answer[sizeof(python->executable)];
  char *const argv[] = {(char *)path, "-c", (char *)question, NULL};
  if (!interpreter_ask(argv, answer, sizeof(answer))) {
    answer[0] = '\0';
  }
  const int code = take_answer(python, path, answer, error);
  return code ? code
              : interpreter_launcher("pems-python", python->launcher, error);
}
