#include "config.h"

#include "wrappers/starter.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include "base/failure.h"
#include "context/image/image.h"

char **starter_words(const char *command, struct pems_error *error) {
  wordexp_t words;
  const int wrong = wordexp(command, &words, WRDE_NOCMD | WRDE_UNDEF);
  if (!wrong && words.we_wordc > 0) {
    return words.we_wordv;
  }
  failure(error, wrong == WRDE_NOSPACE ? ENOMEM : EINVAL,
          "%s: %s: quote it as for a shell", *command ? command : "\"\"",
          !wrong                  ? "no command"
          : wrong == WRDE_BADVAL  ? "a variable that is not set"
          : wrong == WRDE_CMDSUB  ? "a command within it"
          : wrong == WRDE_NOSPACE ? "out of memory"
                                  : "not a list of words");
  return NULL;
}

bool starter_is_script(const char *path) {
  char begin[SELFMAG];
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return false;
  }
  const ssize_t n = read(fd, begin, sizeof(begin));
  close(fd);
  return n > 0 && (n < SELFMAG || memcmp(begin, ELFMAG, sizeof(begin)) != 0) &&
         !memchr(begin, '\0', (size_t)n);
}

bool starter_names_program(char *const *arguments) {
  for (; *arguments; arguments++) {
    if (strchr(*arguments, '/') && image_check(*arguments, NULL) == 0) {
      return true;
    }
  }
  return false;
}
